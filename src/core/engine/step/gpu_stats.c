#include "core/engine/gpu_stats.h"

#include <stdlib.h>

#include "core/engine/step/step.h"
#include "core/model/topology.h"

enum island_state { ISLAND_WHOLE, ISLAND_STARTED, ISLAND_FULL, N_ISLAND_STATES };

static const struct str state_names[N_GPU_STATES] = {
    [GPU_IDLE_WHOLE] = STR("whole"),  [GPU_FRAGMENT] = STR("fragment"), [GPU_USED] = STR("used"),
    [GPU_RESERVED] = STR("reserved"), [GPU_HELD] = STR("held"),
};
static const struct str island_names[N_ISLAND_STATES] = {STR("whole"), STR("started"), STR("full")};

/* What is counted for one model, rack or tenant. */
struct heap_of_gpus {
    struct str name;
    double gpus[N_GPU_STATES], all;
    double islands[N_ISLAND_STATES];
};

struct census {
    const struct engine *k;
    VEC(struct heap_of_gpus) of;
    struct map by_sym; /* → its place + 1 */
};

/* Of those that name none the name is empty, and so the label is left out. */
static struct heap_of_gpus *heap_of(struct census *s, sym key)
{
    uint32_t at = map_find(&s->by_sym, key);
    if (at == MAP_NONE) {
        at = s->of.n;
        map_put(&s->by_sym, key, at);
        struct str name = key == SYM_NONE ? STR("") : names_text(&s->k->cluster->names, key);
        vec_push(&s->of, (struct heap_of_gpus){.name = name});
    }
    return &s->of.at[at];
}

static void add_gpus(struct heap_of_gpus *h, enum gpu_state state, double n)
{
    h->gpus[state] += n;
    h->all += n;
}

/* --- who has them --- */

/* Of one node: which of its GPUs somebody has, or how many where they cannot be told apart. */
struct use {
    gpu_mask pods, reserved, held;
    double pods_n, reserved_n, held_n;
};

static void add_use(const struct engine *k, const struct pod_row *row, struct use *at)
{
    uint32_t pod = (uint32_t)(row - k->cluster->pods.rows.at);
    const struct reservation_info *b = engine_reservation_of_slot(k, pod);
    double n = engine_gpus_in_row(k->cluster, row);
    if (!b) {
        at->pods |= row->gpus;
        at->pods_n += n;
    } else if (reservation_is_own(b)) {
        at->held |= row->gpus;
        at->held_n += n;
    } else {
        at->reserved |= row->gpus;
        at->reserved_n += n;
    }
}

/* By node; to be freed. */
static struct use *look_at_pods(const struct engine *k)
{
    const struct cluster *c = k->cluster;
    struct use *uses = mem_alloc((c->nodes.n + 1) * sizeof(*uses));
    vec_each(&c->pods.rows, row)
        if (row->text && row->node != ID_NONE &&
            (row->gpus || specs_at(&c->specs, c->pods.shapes.at[row->shape].spec)->gpus.count))
            add_use(k, row, &uses[row->node]);
    return uses;
}

/* --- by state --- */

/* GPUs that cannot be told apart. */
static double counted_gpus(const struct cluster *c, node_id node)
{
    const struct cells *cells = c->nodes.room[node.i].cells;
    double n = 0;
    for (uint32_t i = 0; cells && i < cells->n; i++)
        if (cells->at[i].alloc > 0 &&
            c->specs.resources.are_accelerators.at[cells->at[i].resource] &&
            gpus_is_resource(
                names_text(&c->names, c->specs.resources.names.at[cells->at[i].resource])))
            n += (double)cells->at[i].alloc;
    return n;
}

static void add_counted(struct heap_of_gpus *h, double all, const struct use *use)
{
    double pods = MIN(use->pods_n, all), reserved = MIN(use->reserved_n, all - pods),
           held = MIN(use->held_n, all - pods - reserved), idle = all - pods - reserved - held;
    add_gpus(h, GPU_USED, pods);
    add_gpus(h, GPU_RESERVED, reserved);
    add_gpus(h, GPU_HELD, held);
    add_gpus(h, idle == all ? GPU_IDLE_WHOLE : GPU_FRAGMENT, idle);
    h->islands[idle == all ? ISLAND_WHOLE : idle > 0 ? ISLAND_STARTED : ISLAND_FULL] += 1;
}

static void add_islands(struct heap_of_gpus *h, const struct node_gpus *g, const struct use *use)
{
    gpu_mask used = use->pods | g->claimed, taken = used | use->reserved | use->held, seen = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        gpu_mask bit = (gpu_mask)1 << i, island = g->island[i] & g->there;
        if (!(g->there & bit))
            continue;
        bool is_whole = !(island & taken);
        add_gpus(h,
                 used & bit            ? GPU_USED
                 : use->reserved & bit ? GPU_RESERVED
                 : use->held & bit     ? GPU_HELD
                 : is_whole            ? GPU_IDLE_WHOLE
                                       : GPU_FRAGMENT,
                 1);
        if (!(seen & bit))
            h->islands[is_whole          ? ISLAND_WHOLE
                       : island & ~taken ? ISLAND_STARTED
                                         : ISLAND_FULL] += 1;
        seen |= island;
    }
}

static sym rack_of(const struct cluster *c, node_id node, const sym *keys, uint32_t n)
{
    sym value = SYM_NONE;
    for (uint32_t i = 0; i < n && value == SYM_NONE; i++)
        value = cluster_label(c, node, keys[i]);
    return value;
}

/* The labels that name racks, as far as anybody has them. */
static uint32_t rack_keys(const struct cluster *c, sym *out, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_topology_keys && n < most; i++) {
        sym key = topology_keys[i].kind == TOPOLOGY_RACK
                      ? names_find(&c->names, topology_keys[i].key)
                      : SYM_NONE;
        if (key != SYM_NONE)
            out[n++] = key;
    }
    return n;
}

enum dimension { BY_MODEL, BY_RACK };

static void look_at_nodes(struct census *s, enum dimension by)
{
    const struct cluster *c = s->k->cluster;
    struct use *uses = look_at_pods(s->k);
    sym keys[16];
    uint32_t n_keys = rack_keys(c, keys, LEN(keys));
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        const struct node_gpus *g = c->nodes.gpus[i];
        bool has_books = g && g->there;
        double counted = has_books || !nodes_is_present(&c->nodes, (node_id){i})
                             ? 0
                             : counted_gpus(c, (node_id){i});
        if (!nodes_is_present(&c->nodes, (node_id){i}) || (!has_books && counted == 0))
            continue;
        sym key = by == BY_RACK ? rack_of(c, (node_id){i}, keys, n_keys) : g ? g->model : SYM_NONE;
        struct heap_of_gpus *h = heap_of(s, key);
        if (has_books)
            add_islands(h, g, &uses[i]);
        else
            add_counted(h, counted, &uses[i]);
    }
    mem_free(uses);
}

static void look_at_tenants(struct census *s)
{
    struct cluster *c = s->k->cluster;
    struct map tenant_of = {0}; /* by shape */
    vec_each(&c->pods.rows, row) {
        if (!row->text || row->node == ID_NONE)
            continue;
        const struct shape *shape = &c->pods.shapes.at[row->shape];
        uint32_t pod = (uint32_t)(row - c->pods.rows.at);
        if (!specs_at(&c->specs, shape->spec)->gpus.count || engine_is_slot(s->k, pod))
            continue;
        sym tenant = map_find(&tenant_of, row->shape);
        if (tenant == MAP_NONE) {
            tenant = identity_of(c, shape, NULL).tenant;
            map_put(&tenant_of, row->shape, tenant);
        }
        add_gpus(heap_of(s, tenant), GPU_USED, engine_gpus_in_row(c, row));
    }
    map_done(&tenant_of);
}

/* --- not too many --- */

static int by_size(const void *a, const void *b)
{
    const struct heap_of_gpus *x = a, *y = b;
    return x->all != y->all ? (x->all < y->all) - (x->all > y->all) : str_compare(x->name, y->name);
}

static void add_all(struct heap_of_gpus *to, const struct heap_of_gpus *from)
{
    for (int state = 0; state < N_GPU_STATES; state++)
        to->gpus[state] += from->gpus[state];
    for (int state = 0; state < N_ISLAND_STATES; state++)
        to->islands[state] += from->islands[state];
}

/* The largest stay; what the rest has is "other"'s, and so is what is called that. */
static void limit(struct census *s, uint32_t most)
{
    struct heap_of_gpus other = {.name = STR("other")};
    uint32_t kept = 0;
    bool has_other = false;
    if (s->of.n > 1)
        qsort(s->of.at, s->of.n, sizeof(*s->of.at), by_size);
    for (uint32_t i = 0; i < s->of.n; i++) {
        bool stays = kept < most && !str_equal(s->of.at[i].name, other.name);
        has_other |= !stays;
        if (stays)
            s->of.at[kept++] = s->of.at[i];
        else
            add_all(&other, &s->of.at[i]);
    }
    s->of.n = kept;
    if (has_other)
        vec_push(&s->of, other);
}

static void census_done(struct census *s)
{
    vec_done(&s->of);
    map_done(&s->by_sym);
}

/* --- the rows --- */

static void put_states(struct census *s, const struct metric_sink *out)
{
    vec_each(&s->of, h)
        for (int state = 0; state < N_GPU_STATES; state++)
            metric_put(out, (struct str[]){state_names[state], h->name}, h->gpus[state]);
}

static void read_by_model(const void *source, const struct metric_sink *out)
{
    AUTO(census) s = {.k = source};
    look_at_nodes(&s, BY_MODEL);
    limit(&s, MODELS_SHOWN);
    put_states(&s, out);
}

static void read_by_rack(const void *source, const struct metric_sink *out)
{
    AUTO(census) s = {.k = source};
    look_at_nodes(&s, BY_RACK);
    limit(&s, RACKS_SHOWN);
    put_states(&s, out);
}

static void read_by_tenant(const void *source, const struct metric_sink *out)
{
    AUTO(census) s = {.k = source};
    look_at_tenants(&s);
    limit(&s, TENANTS_SHOWN);
    vec_each(&s.of, h)
        metric_put(out, &h->name, h->gpus[GPU_USED]);
}

static void read_islands(const void *source, const struct metric_sink *out)
{
    AUTO(census) s = {.k = source};
    look_at_nodes(&s, BY_MODEL);
    limit(&s, MODELS_SHOWN);
    vec_each(&s.of, h)
        for (int state = 0; state < N_ISLAND_STATES; state++)
            metric_put(out, (struct str[]){island_names[state], h->name}, h->islands[state]);
}

static void read_evicted(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put(out, NULL, k->figures->counts.evicted_gpu_seconds);
}

const struct metric gpu_metrics[] = {
    METRIC(
        "kubenexus_gpus", GAUGE, "state,model", NULL, read_by_model,
        "GPUs by what they are: whole (idle, as is all of the island), fragment (idle on an "
        "island that is not), used (by pods or claims), reserved (by ResourceReservations), held "
        "(by the scheduler for pods to come). The 8 models with the most, and other."),
    METRIC(
        "kubenexus_gpus_by_rack", GAUGE, "state,rack", NULL, read_by_rack,
        "The same by rack: the 32 with the most, and other; without a rack: nodes that name none."),
    METRIC("kubenexus_gpus_by_tenant", GAUGE, "tenant", NULL, read_by_tenant,
           "GPUs that the tenant's pods have, parts of shared ones included, those of claims not. "
           "The 16 with the most, and other."),
    METRIC("kubenexus_gpu_islands", GAUGE, "state,model", NULL, read_islands,
           "Islands (GPUs of one node that talk to each other fast): whole (all idle), started "
           "(some), full (none)."),
    METRIC("kubenexus_gpu_evicted_seconds_total", COUNTER, NULL, NULL, read_evicted,
           "GPU-seconds that pods evicted by us had run: work that may be lost."),
};
const uint32_t n_gpu_metrics = LEN(gpu_metrics);
