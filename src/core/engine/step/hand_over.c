/* What was planned for a pod on its node is told to it with its binding: the API server puts the
 * annotations of a Binding on the pod in the same write. Whoever starts the pod can read them, and
 * so can we when we start anew: then the books are what they were. */

#include "core/cluster/gpu_facts.h"
#include "core/engine/step/step.h"

static const struct str gpus_key = STR("kubenexus.io/gpus");
static const struct str uuids_key = STR("kubenexus.io/gpu-uuids");
static const struct str zone_key = STR("kubenexus.io/numa");
static const struct str rank_key = STR("kubenexus.io/rank");
static const struct str domain_key = STR("kubenexus.io/domain");
static const struct str charged_key = STR("scheduling.kubenexus.io/charged-to");

static void add(pair_list *out, struct str key, struct str value)
{
    if (value.n)
        out->at[out->n++] = (struct pair){key, value};
}

/* A comma before whatever follows something. */
static void part(struct buf *text)
{
    if (text->n)
        buf_add_char(text, ',');
}

static struct str number(uint32_t i, struct arena *mem)
{
    AUTO(buf) text = {0};
    buf_add_number(&text, i, 10);
    return arena_str(mem, buf_str(&text));
}

/* "0,3": by our numbers. */
static struct str numbers(gpu_mask gpus, struct arena *mem)
{
    AUTO(buf) text = {0};
    for (uint32_t i = 0; i < GPUS_MOST; i++) {
        if (!(gpus >> i & 1))
            continue;
        part(&text);
        buf_add_number(&text, i, 10);
    }
    return arena_str(mem, buf_str(&text));
}

/* The same as the driver calls them; empty if it names not all of them. */
static struct str uuids(const struct cluster *c, node_id node, gpu_mask gpus, struct arena *mem)
{
    struct gpu_facts_list told;
    AUTO(buf) text = {0};
    gpu_facts_list_read(c, node, mem, &told);
    for (uint32_t i = 0; i < GPUS_MOST; i++) {
        if (!(gpus >> i & 1))
            continue;
        if (!(told.there >> i & 1) || !told.at[i].is.uuid.n)
            return (struct str){0};
        part(&text);
        buf_add(&text, told.at[i].is.uuid);
    }
    return arena_str(mem, buf_str(&text));
}

/* The labels of the node by which the gang was placed, the widest first: a selector of the nodes
 * next to it. */
static struct str domain(const struct engine *k, pod_id pod, node_id node, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    uint32_t group = groups_of(&c->groups, pod);
    const struct gang *gang = engine_gang_at(k, group);
    struct str keys = gang ? buf_str(&gang->tree) : (struct str){0};
    AUTO(buf) text = {0};
    while (keys.n) {
        struct str key = str_take(&keys, ',');
        sym s = names_find(&c->names, key);
        sym value = s == SYM_NONE ? SYM_NONE : cluster_label(c, node, s);
        if (value == SYM_NONE)
            continue;
        part(&text);
        buf_add(&text, key);
        buf_add_char(&text, '=');
        buf_add(&text, names_text(&c->names, value));
    }
    return arena_str(mem, buf_str(&text));
}

void engine_hand_over(struct engine *k, pod_id pod, struct arena *mem, struct effect *effect)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    pair_list *out = &effect->annotations;
    uint32_t queue = engine_shares(k) ? engine_queue_of_pod(k, pod) : NOBODYS;
    if (LIKELY(!row->gpus && !row->zone && !row->rank && queue == NOBODYS))
        return;
    out->at = arena_array(mem, struct pair, 6);
    if (queue != NOBODYS)
        add(out, charged_key, arena_str(mem, engine_leaf_name(k, queue)));
    uint32_t charged = out->n;
    const struct class *class = classes_of(&k->classes, row->shape);
    if (!class || (!class->picker && class->identity.is.workload == WORKLOAD_UNKNOWN))
        return; /* its profile is kube-scheduler's, which says nothing of it */
    node_id node = {row->node};
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    if (row->gpus) {
        add(out, uuids_key, uuids(c, node, row->gpus, mem));
        add(out, gpus_key, numbers(row->gpus, mem));
    }
    if (row->zone && row->zone <= h->n_zones) {
        add(out, zone_key, number(h->zones[row->zone - 1].id, mem));
        row->flags |= POD_ZONE_TOLD;
    }
    effect->is_exact = out->n > charged;
    if (row->rank) {
        add(out, rank_key, number(row->rank - 1, mem));
        add(out, domain_key, domain(k, pod, node, mem));
    }
}

/* --- what a pod was told --- */

static struct str told(const struct pod *from, struct str key)
{
    list_each(&from->meta.annotations, pair)
        if (str_equal(pair->key, key))
            return pair->value;
    return (struct str){0};
}

/* 0: it was told none, or not as many as it asks for. */
static gpu_mask gpus_facts(const struct pod *from, struct gpu_ask ask)
{
    struct str list = ask.count ? told(from, gpus_key) : (struct str){0};
    gpu_mask gpus = 0;
    while (list.n) {
        int64_t number;
        if (!str_int(str_take(&list, ','), &number) || number < 0 || number >= GPUS_MOST)
            return 0;
        gpus |= (gpu_mask)1 << number;
    }
    return (uint32_t)__builtin_popcount(gpus) == ask.count ? gpus : 0;
}

void engine_place_as_told(struct engine *k, pod_id pod, node_id node, const struct pod *from)
{
    struct cluster *c = k->cluster;
    int64_t zone, rank;
    cluster_place_on_gpus(c, pod, node, gpus_facts(from, cluster_spec(c, pod)->gpus));
    struct str said = told(from, zone_key);
    if (said.n && str_int(said, &zone) && zone >= 0 && zone < MOST_ZONES)
        cluster_set_zone(c, pod, (uint32_t)zone + 1);
    said = told(from, rank_key);
    if (said.n && str_int(said, &rank) && rank >= 0 && rank < MOST_RANKS)
        pods_at(&c->pods, pod)->rank = (uint32_t)(rank + 1) & MOST_RANKS;
}
