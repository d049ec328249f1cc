/* Each operation is its own inverse's mirror: place and take, a row and the row before it. The
 * journal keeps the neighbours of a pod that is taken off a list, so putting it back finds its old
 * place: undo runs backwards, hence the neighbours are neighbours again by then. Sums are restored
 * by the opposite sum, which is exact in wrapping integers. */

#include "core/cluster/txn.h"

#include "core/base/hash.h"
#include "core/cluster/gpu_facts.h"

static void note(struct cluster *c, struct undo undo)
{
    if (c->depth)
        vec_push(&c->journal, undo);
}

/* --- pods on nodes --- */

static void link_pod(struct cluster *c, uint32_t pod, uint32_t node, uint32_t before,
                     uint32_t after)
{
    struct pod_row *rows = c->pods.rows.at;
    assert(after == ID_NONE || rows[after].before == before);
    rows[pod].before = before;
    rows[pod].after = after;
    if (before == ID_NONE)
        c->nodes.first_pod[node] = pod;
    else
        rows[before].after = pod;
    if (after != ID_NONE)
        rows[after].before = pod;
}

static void unlink_pod(struct cluster *c, uint32_t pod, uint32_t node)
{
    struct pod_row *rows = c->pods.rows.at;
    uint32_t before = rows[pod].before, after = rows[pod].after;
    assert((before == ID_NONE ? c->nodes.first_pod[node] : rows[before].after) == pod);
    if (before == ID_NONE)
        c->nodes.first_pod[node] = after;
    else
        rows[before].after = after;
    if (after != ID_NONE)
        rows[after].before = before;
}

static void count_priority(struct cluster *c, int32_t priority, int sign)
{
    uint32_t i = 0;
    while (i < c->priorities.n && c->priorities.at[i].priority < priority)
        i++;
    bool is_known = i < c->priorities.n && c->priorities.at[i].priority == priority;
    assert(is_known || sign > 0);
    if (!is_known)
        vec_insert(&c->priorities, i, (struct priority_count){priority, 0});
    c->priorities.at[i].pods += (uint32_t)sign;
    if (c->priorities.at[i].pods == 0)
        vec_remove(&c->priorities, i);
}

/* The sums, counts and log for a pod that comes (+1) or goes (-1). */
static void account(struct cluster *c, pod_id pod, node_id node, int sign)
{
    const struct spec *spec = cluster_spec(c, pod);
    nodes_charge(&c->nodes, node, spec, sign);
    const struct pod_row *row = pods_at(&c->pods, pod);
    gpus_charge(&c->nodes.gpus[node.i], row->gpus, row->gpu_milli, sign);
    if (UNLIKELY(c->cliques.nodes && row->gpus))
        cliques_use(c, node);
    count_priority(c, spec->priority, sign);
    uint32_t columns = COLUMN_USED;
    if (spec->n_ports)
        columns |= COLUMN_PORTS;
    if (UNLIKELY(spec->n_volumes) && nodes_is_present(&c->nodes, node))
        volumes_use(c, pod, sign);
    columns |= counts_pod(c, pod, node, sign);
    change_log_add(&c->log, node, columns);
    cluster_tell(c, pod, sign);
}

/* What a pod has of a node. */
struct allotment {
    gpu_mask gpus;
    uint32_t gpu_milli, zone;
};

static void put_on(struct cluster *c, pod_id pod, node_id node, struct allotment allotment,
                   uint32_t before, uint32_t after)
{
    struct pod_row *row = pods_at(&c->pods, pod);
    assert(row->text && row->node == ID_NONE && c->nodes.flags[node.i] & NODE_CLAIMED);
    row->node = node.i;
    row->gpus = allotment.gpus;
    row->gpu_milli = allotment.gpu_milli;
    row->zone = (uint8_t)allotment.zone;
    link_pod(c, pod.i, node.i, before, after);
    account(c, pod, node, +1);
}

static void take_off(struct cluster *c, pod_id pod)
{
    struct pod_row *row = pods_at(&c->pods, pod);
    assert(row->node != ID_NONE);
    node_id node = {row->node};
    account(c, pod, node, -1);
    unlink_pod(c, pod.i, node.i);
    row->node = ID_NONE;
    row->gpus = 0;
    row->gpu_milli = 0;
    row->zone = 0;
}

static void place(struct cluster *c, pod_id pod, node_id node, gpu_mask gpus, bool is_told)
{
    struct gpu_ask ask = cluster_spec(c, pod)->gpus;
    if (gpus == 0 && ask.count)
        gpus = gpus_pick(c->nodes.gpus[node.i], ask);
    struct allotment allotment = {.gpus = gpus};
    if (c->nodes.hardware[node.i])
        allotment.zone = numa_zone_of(c, pods_shape(&c->pods, pod), node, gpus);
    if (allotment.zone && !is_told)
        allotment.gpus = numa_move_gpus(c, node, allotment.zone, gpus, ask);
    if (gpus)
        allotment.gpu_milli = gpus_price_of(c->nodes.gpus[node.i], allotment.gpus, ask);
    put_on(c, pod, node, allotment, ID_NONE, c->nodes.first_pod[node.i]);
    note(c, (struct undo){.kind = UNDO_PLACE, .pod = pod.i, .node = node.i});
}

void cluster_place(struct cluster *c, pod_id pod, node_id node)
{
    place(c, pod, node, 0, false);
}

void cluster_place_near(struct cluster *c, pod_id pod, node_id node, gpu_mask gpus)
{
    place(c, pod, node, gpus, false);
}

void cluster_place_on_gpus(struct cluster *c, pod_id pod, node_id node, gpu_mask gpus)
{
    place(c, pod, node, gpus, gpus != 0);
}

void cluster_set_zone(struct cluster *c, pod_id pod, uint32_t zone)
{
    struct pod_row *row = pods_at(&c->pods, pod);
    assert(c->depth == 0);
    row->flags |= POD_ZONE_TOLD;
    if (row->node == ID_NONE || row->zone == zone)
        return;
    row->zone = (uint8_t)zone;
    change_log_add(&c->log, (node_id){row->node}, COLUMN_USED);
}

void cluster_take(struct cluster *c, pod_id pod)
{
    const struct pod_row *row = pods_at(&c->pods, pod);
    note(c, (struct undo){.kind = UNDO_TAKE,
                          .pod = pod.i,
                          .node = row->node,
                          .gpus = row->gpus,
                          .gpu_milli = row->gpu_milli,
                          .before = row->before,
                          .after = row->after,
                          .zone = row->zone});
    take_off(c, pod);
}

/* --- nodes --- */

/* What pods do on a node that is not there, uses no claims. */
static void use_volumes(struct cluster *c, node_id node, int sign)
{
    for (uint32_t pod = c->nodes.first_pod[node.i]; pod != ID_NONE;
         pod = c->pods.rows.at[pod].after)
        volumes_use(c, (pod_id){pod}, sign);
}

static uint32_t put_node(struct cluster *c, node_id node, const struct node_row *row)
{
    counts_node(c, node, -1);
    uint32_t columns = nodes_put(&c->nodes, &c->names, &c->specs.resources.table, node, row);
    counts_node(c, node, +1);
    uint32_t told = 0;
    if (columns & (COLUMN_PRESENCE | COLUMN_ALLOC | COLUMN_LABELS | COLUMN_FEATURES))
        told = gpu_facts_put(c, node);
    if (columns & COLUMN_PRESENCE)
        use_volumes(c, node, row->is_present ? +1 : -1);
    if (columns)
        change_log_add(&c->log, node, columns & COLUMN_PRESENCE ? COLUMN_ALL : columns | told);
    return columns;
}

uint32_t cluster_put_node(struct cluster *c, node_id node, const struct node_row *row)
{
    if (c->depth) {
        struct node_row *before = arena_alloc(&c->journal_mem, sizeof(*before));
        *before = nodes_get(&c->nodes, node, &c->journal_mem);
        note(c, (struct undo){.kind = UNDO_NODE, .node = node.i, .row = before});
    }
    uint32_t columns = put_node(c, node, row);
    if (columns && c->depth == 0) /* what is only tried moves nobody */
        gpu_facts_price_all(c, node);
    if (columns & COLUMN_FEATURES && c->depth == 0)
        numa_zone_all(c, node);
    return columns;
}

/* --- nominations --- */

struct nominations cluster_nominated(const struct cluster *c, sym node)
{
    uint32_t from = 0, to = c->nominations.n, n = 0;
    if (to == 0)
        return (struct nominations){0};
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (c->nominations.at[middle].node < node)
            from = middle + 1;
        else
            to = middle;
    }
    while (from + n < c->nominations.n && c->nominations.at[from + n].node == node)
        n++;
    return (struct nominations){c->nominations.at + from, n};
}

static void mark_nominated(struct cluster *c, node_id node)
{
    if (cluster_nominated(c, c->nodes.name[node.i]).n)
        c->nodes.flags[node.i] |= NODE_NOMINATED;
    else
        c->nodes.flags[node.i] &= (uint8_t)~NODE_NOMINATED;
}

node_id cluster_claim(struct cluster *c, sym name)
{
    node_id node = nodes_find(&c->nodes, name);
    if (node.i != ID_NONE)
        return node;
    uint64_t tie_order = hash_pair(c->seed, str_hash(names_text(&c->names, name)));
    uint32_t were = c->nodes.n;
    node = nodes_claim(&c->nodes, &c->names, name, tie_order);
    change_log_grow(&c->log, c->nodes.cap);
    note(c, (struct undo){.kind = UNDO_CLAIM, .node = node.i, .at = were});
    mark_nominated(c, node);
    return node;
}

static void note_nominated(struct cluster *c, sym name)
{
    node_id node = nodes_find(&c->nodes, name);
    if (name == SYM_NONE || node.i == ID_NONE)
        return;
    mark_nominated(c, node);
    change_log_add(&c->log, node, COLUMN_NOMINATED);
}

/* Takes the pod's nomination out of the list; returns the place it had. */
static uint32_t drop_nomination(struct cluster *c, pod_id pod, sym node)
{
    struct nominations all = cluster_nominated(c, node);
    for (uint32_t i = 0; node != SYM_NONE && i < all.n; i++)
        if (all.at[i].pod.i == pod.i) {
            uint32_t had = (uint32_t)(all.at + i - c->nominations.at);
            vec_remove(&c->nominations, had);
            return had;
        }
    return ID_NONE;
}

/* Puts it at a place in the list; ID_NONE: behind the node's others. */
static void add_nomination(struct cluster *c, pod_id pod, sym node, uint32_t at)
{
    struct nominations all = cluster_nominated(c, node);
    if (at == ID_NONE)
        at = c->nominations.n ? (uint32_t)(all.at + all.n - c->nominations.at) : 0;
    vec_insert(&c->nominations, at, (struct nomination){pod, node});
}

/* Sets the pod's nomination at a place in the list; returns the place it had. */
static uint32_t set_nomination(struct cluster *c, pod_id pod, sym node, uint32_t at)
{
    sym was = pods_at(&c->pods, pod)->nominated;
    uint32_t had = drop_nomination(c, pod, was);
    if (node != SYM_NONE)
        add_nomination(c, pod, node, at);
    if (node != SYM_NONE)
        intern_hold(&c->names.text, node);
    if (UNLIKELY(c->tap) && was != SYM_NONE)
        c->tap->nominated(c->tap->ctx, pod, -1);
    if (was != SYM_NONE)
        intern_drop(&c->names.text, was);
    pods_at(&c->pods, pod)->nominated = node;
    if (UNLIKELY(c->tap) && node != SYM_NONE)
        c->tap->nominated(c->tap->ctx, pod, +1);
    note_nominated(c, was);
    note_nominated(c, node);
    return had;
}

void cluster_nominate(struct cluster *c, pod_id pod, sym node)
{
    sym was = pods_at(&c->pods, pod)->nominated;
    if (was == node)
        return;
    uint32_t had = set_nomination(c, pod, node, ID_NONE);
    note(c, (struct undo){.kind = UNDO_NOMINATE, .pod = pod.i, .was = was, .at = had});
}

/* --- volumes and claims --- */

void cluster_assume(struct cluster *c, enum thing_kind kind, uint32_t thing, uint32_t facts)
{
    uint32_t was = volumes_set_assumed(&c->volumes, kind, thing, facts);
    note(c, (struct undo){.kind = UNDO_ASSUME, .thing = kind, .at = thing, .was = was});
}

/* --- devices --- */

void cluster_promise(struct cluster *c, struct promise promise)
{
    devices_give(c, promise);
    note(c, (struct undo){.kind = UNDO_PROMISE});
}

/* --- begin, commit, undo --- */

struct txn txn_begin(struct cluster *c)
{
    return (struct txn){c->journal.n, c->log.end, c->depth++};
}

void txn_commit(struct cluster *c, struct txn t)
{
    assert(c->depth == t.depth + 1 && t.journal <= c->journal.n); /* the last that began */
    if (--c->depth == 0) {
        vec_clear(&c->journal);
        arena_reset(&c->journal_mem);
    }
}

static void undo_one(struct cluster *c, struct undo u)
{
    switch (u.kind) {
    case UNDO_PLACE:
        take_off(c, (pod_id){u.pod});
        break;
    case UNDO_TAKE:
        put_on(c, (pod_id){u.pod}, (node_id){u.node},
               (struct allotment){u.gpus, u.gpu_milli, u.zone}, u.before, u.after);
        break;
    case UNDO_NODE:
        put_node(c, (node_id){u.node}, u.row);
        break;
    case UNDO_CLAIM:
        c->nodes.flags[u.node] = NODE_CLAIMED;
        nodes_release(&c->nodes, &c->names, (node_id){u.node});
        if (u.node == u.at) { /* it was a new one: no number to use again */
            c->nodes.free.n--;
            c->nodes.n = u.at;
        }
        break;
    case UNDO_PROMISE:
        devices_take_back(c);
        break;
    case UNDO_NOMINATE:
        set_nomination(c, (pod_id){u.pod}, u.was, u.at);
        break;
    case UNDO_ASSUME:
        volumes_set_assumed(&c->volumes, u.thing, u.at, u.was);
        break;
    }
}

void txn_undo(struct cluster *c, struct txn t)
{
    assert(c->depth == t.depth + 1 && t.journal <= c->journal.n); /* the last that began */
    while (c->journal.n > t.journal)
        undo_one(c, vec_pop(&c->journal));
    change_log_cut(&c->log, t.log);
    if (--c->depth == 0)
        arena_reset(&c->journal_mem);
}
