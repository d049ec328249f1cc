/* What pods take, in the tree's numbers. Amounts are worked out from the row at the moment at which
 * it comes or goes; whatever they rest on changes only while the pod is off its node. */

#include "core/base/hash.h"
#include <stdlib.h>

#include "core/engine/fair/shares.h"
#include "core/engine/gang/gang.h"
#include "core/model/resources.h"

/* --- resources --- */

static bool is_vram(struct str name)
{
    return str_equal(name, STR("vram"));
}

/* The number of a resource, its kind aside. */
static uint32_t add_resource(struct engine *k, struct str name)
{
    struct shares *s = k->shares;
    uint32_t were = fair_n_resources(s->tree), number = fair_resource(s->tree, name);
    if (number < were)
        return number;
    vec_resize(&s->is_fine, number + 1);
    vec_resize(&s->capacity, number + 1);
    struct str base = queue_resource(name);
    s->is_fine.at[number] = str_equal(base, STR("cpu")) || resource_is_accelerator(base);
    if (is_vram(name))
        s->vram = number + 1;
    s->is_capacity_stale = true;
    return number;
}

/* The node's label, or the GPU model, by which a kind is counted. */
static void note_kind(struct engine *k, struct str name, uint32_t number)
{
    struct names *names = &k->cluster->names;
    struct str base = queue_resource(name);
    struct str value = str_part(name, base.n + 1, name.n);
    if (base.n == name.n)
        return;
    struct kind_of kind = {.resource = number, .key = SYM_NONE};
    if (str_find(value, '=') < value.n) {
        kind.key = names_get(names, str_take(&value, '='));
        intern_hold(&names->text, kind.key);
    }
    kind.value = names_get(names, value);
    intern_hold(&names->text, kind.value);
    kind.base = add_resource(k, base);
    vec_push(&k->shares->kinds, kind);
}

uint32_t engine_resource_number(struct engine *k, struct str name)
{
    uint32_t were = fair_n_resources(k->shares->tree), number = add_resource(k, name);
    if (number >= were)
        note_kind(k, name, number);
    return number;
}

bool engine_knows_resource(const struct engine *k, struct str name)
{
    return fair_find_resource(k->shares->tree, name) != FAIR_NONE;
}

bool engine_counts_resource(struct engine *k, struct str name)
{
    const struct resources *r = &k->cluster->specs.resources;
    resource_id id = resources_find(r, name);
    bool is_counted = engine_knows_resource(k, name) || resource_is_well_known(name) ||
                      is_vram(name) || (id != ID_NONE && r->are_offered.at[id]);
    k->shares->leaves_out |= !is_counted;
    return is_counted;
}

/* It is held, so that its number stays its own. */
static uint32_t number_of(struct engine *k, resource_id resource)
{
    struct shares *s = k->shares;
    const struct cluster *c = k->cluster;
    if (resource >= s->numbers.n)
        vec_resize(&s->numbers, resource + 1);
    if (!s->numbers.at[resource]) {
        struct str name = names_text(&c->names, c->specs.resources.names.at[resource]);
        resources_keep(&k->cluster->specs.resources, &k->cluster->names, name);
        s->numbers.at[resource] = engine_resource_number(k, name) + 1;
    }
    return s->numbers.at[resource] - 1;
}

/* Of what a pod asks for; FAIR_NONE: it is left out. */
static uint32_t asked_number(struct engine *k, resource_id resource)
{
    const struct shares *s = k->shares;
    if (LIKELY(resource < s->numbers.n && s->numbers.at[resource]))
        return s->numbers.at[resource] - 1;
    const struct cluster *c = k->cluster;
    struct str name = names_text(&c->names, c->specs.resources.names.at[resource]);
    return engine_counts_resource(k, name) ? number_of(k, resource) : FAIR_NONE;
}

/* --- what a pod asks for --- */

static void add(struct shares *s, uint32_t number, int64_t amount)
{
    uint32_t i = s->ask.n;
    if (amount <= 0)
        return;
    while (i > 0 && s->ask.at[i - 1].resource > number)
        i--;
    if (i > 0 && s->ask.at[i - 1].resource == number)
        s->ask.at[i - 1].amount = capped_add(s->ask.at[i - 1].amount, amount);
    else
        vec_insert(&s->ask, i, (struct fair_amount){number, amount});
}

static bool is_gpu(const struct cluster *c, resource_id resource)
{
    return gpus_is_resource(names_text(&c->names, c->specs.resources.names.at[resource]));
}

/* A share of a GPU is counted as such, whole GPUs as what they are asked for. */
static void add_gpu_share(struct engine *k, const struct spec *spec, const struct pod_row *row)
{
    const struct cluster *c = k->cluster;
    resource_id resource = ID_NONE;
    for (uint32_t i = 0; i < spec->hold.n_others && resource == ID_NONE; i++)
        if (is_gpu(c, spec->hold.others[i].resource))
            resource = spec->hold.others[i].resource;
    uint32_t number = resource == ID_NONE ? engine_resource_number(k, STR("nvidia.com/gpu"))
                                          : asked_number(k, resource);
    uint32_t milli = spec->gpus.milli ? spec->gpus.milli : GPU_WHOLE;
    int64_t asks = (int64_t)spec->gpus.count * milli;
    int64_t has = (int64_t)__builtin_popcount(row->gpus) * row->gpu_milli;
    add(k->shares, number, row->node != ID_NONE && row->gpus ? has : asks);
}

static void add_vram(struct shares *s, const struct spec *spec)
{
    const struct wishes *w = &spec->wishes;
    int64_t each = w->vram_each_bytes ? w->vram_each_bytes : (int64_t)spec->gpus.share_mib << 20;
    add(s, s->vram - 1,
        w->vram_total_bytes ? w->vram_total_bytes : capped_mul(each, spec->gpus.count));
}

static bool is_of_kind(const struct cluster *c, const struct kind_of *kind, node_id node)
{
    if (kind->key != SYM_NONE)
        return cluster_label(c, node, kind->key) == kind->value;
    const struct node_gpus *gpus = c->nodes.gpus[node.i];
    return gpus && gpus->model == kind->value;
}

static void add_kinds(struct engine *k, node_id node)
{
    struct shares *s = k->shares;
    vec_each(&s->kinds, kind)
        for (uint32_t i = 0; i < s->ask.n; i++)
            if (s->ask.at[i].resource == kind->base && is_of_kind(k->cluster, kind, node)) {
                add(s, kind->resource, s->ask.at[i].amount);
                break;
            }
}

/* Can the pod go to nodes of the kind alone, whatever is on them? Kept until a node changes. */
static bool is_pinned(struct engine *k, const struct spec *spec, sym pin, uint32_t kind)
{
    struct shares *s = k->shares;
    const struct cluster *c = k->cluster;
    uint64_t key = hash_pair(hash_pair(spec->rules, spec->tolerations), (uint64_t)pin << 8 | kind);
    uint32_t known = map_find(&s->pinned, key);
    if (known != MAP_NONE)
        return known;
    bool is_any = false, are_all = true;
    for (uint32_t i = 0; i < c->nodes.n && are_all; i++) {
        node_id node = {i};
        if (!nodes_is_present(&c->nodes, node) || (pin != SYM_NONE && c->nodes.name[i] != pin) ||
            !cluster_rules_allow(c, spec->rules, node, pin) ||
            !cluster_taints_tolerated(c, spec->tolerations, node))
            continue;
        is_any = true;
        are_all = is_of_kind(c, &s->kinds.at[kind], node);
    }
    map_put(&s->pinned, key, is_any && are_all);
    return is_any && are_all;
}

/* Of one that waits: a limit or a guarantee by kind holds for those that can have no other. */
static void add_pinned_kinds(struct engine *k, const struct spec *spec, sym pin)
{
    struct shares *s = k->shares;
    for (uint32_t kind = 0; kind < s->kinds.n; kind++)
        for (uint32_t i = 0; i < s->ask.n; i++)
            if (s->ask.at[i].resource == s->kinds.at[kind].base && is_pinned(k, spec, pin, kind)) {
                add(s, s->kinds.at[kind].resource, s->ask.at[i].amount);
                break;
            }
}

struct fair_ask engine_ask_of(struct engine *k, pod_id pod)
{
    struct shares *s = k->shares;
    const struct cluster *c = k->cluster;
    const struct spec *spec = cluster_spec(c, pod);
    const struct pod_row *row = pods_at(&c->pods, pod);
    bool is_share = spec->gpus.count && !gpu_ask_is_whole(spec->gpus);
    vec_clear(&s->ask);
    add(s, number_of(k, RESOURCE_CPU), spec->hold.cpu_milli);
    add(s, number_of(k, RESOURCE_MEMORY), spec->hold.memory);
    add(s, number_of(k, RESOURCE_PODS), 1);
    for (uint32_t i = 0; i < spec->hold.n_others; i++) {
        struct need need = spec->hold.others[i];
        uint32_t number = asked_number(k, need.resource);
        if (number != FAIR_NONE && (!is_share || !is_gpu(c, need.resource)))
            add(s, number, capped_mul(need.amount, s->is_fine.at[number] ? 1000 : 1));
    }
    if (UNLIKELY(is_share))
        add_gpu_share(k, spec, row);
    if (UNLIKELY(s->vram))
        add_vram(s, spec);
    if (UNLIKELY(s->kinds.n) && row->node != ID_NONE)
        add_kinds(k, (node_id){row->node});
    else if (UNLIKELY(s->kinds.n))
        add_pinned_kinds(k, spec, row->pin);
    return (struct fair_ask){s->ask.at, s->ask.n};
}

/* --- jobs --- */

/* The gang, else who made the pod, else the pod. */
uint64_t engine_job_of(const struct engine *k, pod_id pod, uint32_t queue)
{
    static const struct str keys[] = {STR("batch.kubernetes.io/controller-uid"),
                                      STR("batch.kubernetes.io/job-name")};
    const struct cluster *c = k->cluster;
    const struct shape *shape = pods_shape(&c->pods, pod);
    uint32_t gang = engine_gang_of(k, pod);
    uint64_t job = hash_pair(1, pod.i);
    if (gang != ID_NONE) {
        job = hash_pair(2, gang);
    } else if (shape->owner != SYM_NONE) {
        job = hash_pair(hash_pair(shape->owner_kind + 8, shape->namespace), shape->owner);
    } else {
        for (uint32_t i = 0; i < LEN(keys); i++) {
            sym key = names_find(&c->names, keys[i]);
            sym value = key == SYM_NONE ? SYM_NONE : names_label(&c->names, shape->labels, key);
            if (value == SYM_NONE)
                continue;
            job = hash_pair(hash_pair(4, shape->namespace), value);
            break;
        }
    }
    return hash_pair(job, queue) | 1;
}

static void count_job(struct engine *k, pod_id pod, uint32_t queue, int sign)
{
    struct shares *s = k->shares;
    if (sign > 0)
        s->charged.at[pod.i].job = engine_job_of(k, pod, queue);
    uint64_t job = s->charged.at[pod.i].job;
    bool was_there = map_find(&s->jobs, job) != MAP_NONE;
    map_add(&s->jobs, job, sign);
    bool is_there = map_find(&s->jobs, job) != MAP_NONE;
    if (was_there != is_there)
        fair_count_job(s->tree, queue, sign);
}

/* --- the tap --- */

uint32_t engine_limit_of(const struct engine *k, pod_id pod)
{
    const struct shares *s = k->shares;
    uint32_t limit = s->limits.n
                         ? map_find(&s->limits, pods_shape(&k->cluster->pods, pod)->namespace)
                         : MAP_NONE;
    return limit == MAP_NONE ? FAIR_NONE : limit;
}

static bool takes_pods(const struct cluster *c, node_id node)
{
    static const struct str keys[] = {STR("node.kubernetes.io/not-ready"),
                                      STR("node.kubernetes.io/unreachable")};
    if (!nodes_is_present(&c->nodes, node) || c->nodes.flags[node.i] & NODE_CORDONED)
        return false;
    uint32_t n;
    const struct taint_sym *taints =
        lists_at(&c->names.taint_sets, c->nodes.taints[node.i], sizeof(struct taint_sym), &n);
    for (uint32_t i = 0; i < LEN(keys) && n; i++) {
        sym key = names_find(&c->names, keys[i]);
        for (uint32_t t = 0; t < n; t++)
            if (key != SYM_NONE && taints[t].key == key)
                return false;
    }
    return true;
}

/* Room that others have is no room of the queues. */
static void count_outsider(struct engine *k, struct fair_ask ask, int sign)
{
    struct shares *s = k->shares;
    for (uint32_t i = 0; i < ask.n; i++) {
        int64_t *capacity = &s->capacity.at[ask.at[i].resource];
        *capacity -= sign * ask.at[i].amount;
        fair_set_capacity(s->tree, ask.at[i].resource, MAX(*capacity, (int64_t)0));
    }
}

static void count(struct engine *k, pod_id pod, int sign)
{
    struct shares *s = k->shares;
    uint32_t queue = engine_queue_of_pod(k, pod);
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    struct fair_ask ask = engine_ask_of(k, pod);
    if (queue != NOBODYS) {
        fair_count(s->tree, queue, ask, sign);
        uint32_t limit = engine_limit_of(k, pod);
        if (UNLIKELY(limit != FAIR_NONE))
            fair_count(s->tree, limit, ask, sign);
        if (!engine_is_slot(k, pod.i)) /* which stands for one of a job that counts by itself */
            count_job(k, pod, queue, sign);
    } else if (row->node != ID_NONE && takes_pods(k->cluster, (node_id){row->node})) {
        count_outsider(k, ask, sign);
    }
}

void engine_count_moved(void *ctx, pod_id pod, int sign)
{
    count(ctx, pod, sign);
}

void engine_count_nominated(void *ctx, pod_id pod, int sign)
{
    struct engine *k = ctx;
    if (pods_at(&k->cluster->pods, pod)->node == ID_NONE)
        count(k, pod, sign);
}

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct engine *k = ctx;
    const struct pods *pods = &k->cluster->pods;
    pod_id x = *(const pod_id *)a, y = *(const pod_id *)b;
    int order = str_compare(names_text(&k->cluster->names, pods_shape(pods, x)->namespace),
                            names_text(&k->cluster->names, pods_shape(pods, y)->namespace));
    return order ? order : str_compare(pod_name(pods_at(pods, x)), pod_name(pods_at(pods, y)));
}

/* Those that are there were placed in the order of their names, for all that we know. */
static void note_placed(struct engine *k)
{
    VEC(pod_id) there = {0};
    for (uint32_t i = 0; i < k->cluster->pods.rows.n; i++)
        if (k->cluster->pods.rows.at[i].text && k->cluster->pods.rows.at[i].node != ID_NONE)
            vec_push(&there, (pod_id){i});
    if (there.n)
        qsort_r(there.at, there.n, sizeof(*there.at), by_name, k);
    vec_each(&there, pod)
        engine_note_placed(k, *pod);
    vec_done(&there);
}

static bool is_counted(const struct pod_row *row)
{
    return row->text && (row->node != ID_NONE || row->nominated != SYM_NONE);
}

void engine_charge_all(struct engine *k)
{
    const struct pods *pods = &k->cluster->pods;
    for (uint32_t i = 0; i < pods->rows.n; i++)
        if (is_counted(&pods->rows.at[i]))
            count(k, (pod_id){i}, +1);
    note_placed(k);
}

void engine_charge_namespace(struct engine *k, sym namespace, uint32_t limit)
{
    const struct pods *pods = &k->cluster->pods;
    for (uint32_t i = 0; i < pods->rows.n; i++) {
        pod_id pod = {i};
        if (is_counted(&pods->rows.at[i]) && pods_shape(pods, pod)->namespace == namespace &&
            engine_queue_of_pod(k, pod) != NOBODYS)
            fair_count(k->shares->tree, limit, engine_ask_of(k, pod), +1);
    }
}

/* --- capacity --- */

static void offer(struct shares *s, uint32_t number, int64_t amount)
{
    s->capacity.at[number] += amount * (s->is_fine.at[number] ? 1000 : 1);
}

static void offer_kinds(struct engine *k, node_id node)
{
    struct shares *s = k->shares;
    const struct cluster *c = k->cluster;
    vec_each(&s->kinds, kind) {
        if (!is_of_kind(c, kind, node))
            continue;
        struct str name = fair_resource_name(s->tree, kind->base);
        resource_id resource = resources_find(&c->specs.resources, name);
        bool is_cpu = resource == RESOURCE_CPU; /* thousandths already */
        int64_t amount = resource == ID_NONE ? 0 : engine_offered(c, node, resource);
        s->capacity.at[kind->resource] +=
            amount * (s->is_fine.at[kind->base] && !is_cpu ? 1000 : 1);
    }
}

static void offer_vram(struct shares *s, const struct node_gpus *gpus)
{
    for (uint32_t i = 0; gpus && i < GPUS_MOST; i++)
        if (gpus->there >> i & 1)
            s->capacity.at[s->vram - 1] += (int64_t)gpus->vram_mib[i] << 20;
}

static void offer_node(struct engine *k, node_id node)
{
    struct shares *s = k->shares;
    const struct nodes *nodes = &k->cluster->nodes;
    const struct room *room = &nodes->room[node.i];
    uint32_t cpu = number_of(k, RESOURCE_CPU), memory = number_of(k, RESOURCE_MEMORY);
    uint32_t pods = number_of(k, RESOURCE_PODS);
    s->capacity.at[cpu] += room->cpu_alloc; /* thousandths already */
    s->capacity.at[memory] += room->memory_alloc;
    s->capacity.at[pods] += room->pods_alloc;
    for (uint32_t i = 0; room->cells && i < room->cells->n; i++) {
        uint32_t number = number_of(k, room->cells->at[i].resource);
        offer(s, number, room->cells->at[i].alloc);
    }
    offer_kinds(k, node);
    if (UNLIKELY(s->vram))
        offer_vram(s, nodes->gpus[node.i]);
}

/* What outsiders have on the node is not there for the queues. */
static void take_outsiders(struct engine *k, node_id node)
{
    const struct cluster *c = k->cluster;
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after) {
        if (engine_queue_of_pod(k, (pod_id){i}) != NOBODYS)
            continue;
        struct fair_ask ask = engine_ask_of(k, (pod_id){i});
        for (uint32_t a = 0; a < ask.n; a++)
            k->shares->capacity.at[ask.at[a].resource] -= ask.at[a].amount;
    }
}

void engine_sum_capacity(struct engine *k)
{
    struct shares *s = k->shares;
    for (uint32_t i = 0; i < s->capacity.n; i++)
        s->capacity.at[i] = 0;
    for (uint32_t i = 0; i < k->cluster->nodes.n; i++) {
        if (!takes_pods(k->cluster, (node_id){i}))
            continue;
        offer_node(k, (node_id){i});
        take_outsiders(k, (node_id){i});
    }
    for (uint32_t i = 0; i < s->capacity.n; i++)
        fair_set_capacity(s->tree, i, MAX(s->capacity.at[i], (int64_t)0));
    s->is_capacity_stale = false;
}

/* Amounts by what the node is rest on its labels and GPUs: then all is counted anew. */
void engine_see_capacity(struct engine *k, uint32_t columns)
{
    struct shares *s = k->shares;
    if (!s->tree || !columns)
        return;
    s->is_capacity_stale = true;
    map_clear(&s->pinned);
    s->must_begin |= s->kinds.n && columns & (COLUMN_LABELS | COLUMN_FEATURES | COLUMN_PRESENCE);
}
