#include "core/cluster/kueue.h"

static uint64_t key_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

static enum tier tier_said(const struct meta *meta)
{
    static const struct str keys[] = {STR("tenant.kubenexus.io/tier"),
                                      STR("scheduling.kubenexus.io/tier")};
    const pair_list *both[] = {&meta->labels, &meta->annotations};
    for (size_t k = 0; k < LEN(keys); k++)
        for (size_t i = 0; i < LEN(both); i++)
            list_each(both[i], pair) {
                enum tier tier = str_equal(pair->key, keys[k]) ? tier_of(pair->value) : N_TIERS;
                if (tier < N_TIERS)
                    return tier;
            }
    return TIER_NONE;
}

static void hold(struct names *names, sym s)
{
    if (s != SYM_NONE)
        intern_hold(&names->text, s);
}

static void drop(struct names *names, sym s)
{
    if (s != SYM_NONE)
        intern_drop(&names->text, s);
}

/* The namespace has one LocalQueue more, or less, of the ClusterQueue. */
static void link(struct kueue *q, const struct kueue_queue *row, int32_t more)
{
    if (row->namespace != SYM_NONE && row->cluster_queue != SYM_NONE)
        map_add(&q->links, key_of(row->namespace, row->cluster_queue), more);
}

/* The row under this key is `row` from now on; true if that says something else. */
static bool put_row(struct kueue *q, struct names *names, struct map *map, uint64_t key,
                    const struct kueue_queue *row)
{
    uint32_t at = map_find(map, key);
    if (at == MAP_NONE) {
        at = q->rows.n;
        vec_push(&q->rows, (struct kueue_queue){SYM_NONE, SYM_NONE, SYM_NONE, TIER_NONE});
        map_put(map, key, at);
    }
    struct kueue_queue was = q->rows.at[at];
    link(q, row, +1);
    link(q, &was, -1);
    hold(names, row->namespace);
    hold(names, row->name);
    hold(names, row->cluster_queue);
    drop(names, was.namespace);
    drop(names, was.name);
    drop(names, was.cluster_queue);
    q->rows.at[at] = *row;
    bool differs = was.tier != row->tier || was.cluster_queue != row->cluster_queue;
    q->generation += differs;
    return differs;
}

/* Another row takes its place. */
static bool remove_row(struct kueue *q, struct names *names, struct map *map, uint64_t key)
{
    uint32_t at = map_remove(map, key);
    if (at == MAP_NONE)
        return false;
    struct kueue_queue was = q->rows.at[at], last = vec_pop(&q->rows);
    if (at < q->rows.n) {
        q->rows.at[at] = last;
        bool is_local = last.namespace != SYM_NONE;
        map_put(is_local ? &q->local : &q->cluster,
                is_local ? key_of(last.namespace, last.name) : last.name, at);
    }
    link(q, &was, -1);
    drop(names, was.namespace);
    drop(names, was.name);
    drop(names, was.cluster_queue);
    q->generation++;
    return true;
}

bool kueue_put_local(struct kueue *q, struct names *names, const struct meta *meta,
                     const struct local_queue *from)
{
    sym namespace = names_get(names, meta->namespace), name = names_get(names, meta->name);
    if (!from)
        return remove_row(q, names, &q->local, key_of(namespace, name));
    struct kueue_queue row = {namespace, name, names_get(names, from->cluster_queue),
                              tier_said(meta)};
    return put_row(q, names, &q->local, key_of(namespace, name), &row);
}

bool kueue_put_cluster(struct kueue *q, struct names *names, const struct meta *meta,
                       const struct cluster_queue *from)
{
    sym name = names_get(names, meta->name);
    if (!from)
        return remove_row(q, names, &q->cluster, name);
    struct kueue_queue row = {SYM_NONE, name, SYM_NONE, tier_said(meta)};
    return put_row(q, names, &q->cluster, name, &row);
}

/* --- what waits --- */

static int64_t gpus_of(const struct resource_requirements *r)
{
    int64_t n = 0;
    list_each(&r->requests, amount)
        n += gpus_is_resource(amount->name) ? quantity_value(amount->quantity) : 0;
    if (n)
        return n;
    list_each(&r->limits, amount) /* which stand for requests */
        n += gpus_is_resource(amount->name) ? quantity_value(amount->quantity) : 0;
    return n;
}

/* GPUs of the largest of its pods, as far as they are told apart. */
static uint32_t largest(const struct kueue_workload *w)
{
    int64_t most = 0;
    list_each(&w->pod_sets, set) {
        int64_t gpus = 0;
        if (!set->template || set->count < 1)
            continue;
        list_each(&set->template->spec.containers, container)
            gpus += gpus_of(&container->resources);
        most = MAX(most, gpus);
    }
    return (uint32_t)MIN(most, (int64_t)GPUS_MOST);
}

void kueue_put_workload(struct kueue *q, struct names *names, const struct meta *meta,
                        const struct kueue_workload *from)
{
    sym namespace = names_get(names, meta->namespace), name = names_get(names, meta->name);
    uint64_t key = key_of(namespace, name);
    uint32_t was = map_find(&q->waiting, key);
    uint32_t size = from && kueue_workload_waits(from) ? largest(from) : 0;
    if (was == size || (was == MAP_NONE && size == 0))
        return;
    if (was != MAP_NONE) {
        q->generation += --q->sizes[was] == 0;
        map_remove(&q->waiting, key);
        drop(names, namespace);
        drop(names, name);
    }
    if (size == 0)
        return;
    q->generation += q->sizes[size]++ == 0;
    hold(names, namespace);
    hold(names, name);
    map_put(&q->waiting, key, size);
}

/* --- answers --- */

enum tier kueue_tier(const struct kueue *q, sym namespace, sym queue)
{
    uint32_t at = map_find(&q->local, key_of(namespace, queue));
    if (at != MAP_NONE && q->rows.at[at].tier != TIER_NONE)
        return q->rows.at[at].tier;
    if (at == MAP_NONE && map_find(&q->links, key_of(namespace, queue)) == MAP_NONE)
        return TIER_NONE;
    sym name = at != MAP_NONE ? q->rows.at[at].cluster_queue : queue;
    at = map_find(&q->cluster, name);
    return at == MAP_NONE ? TIER_NONE : q->rows.at[at].tier;
}

sym queues_leads_to(const struct kueue *q, sym namespace, sym queue)
{
    uint32_t at = queue == SYM_NONE ? MAP_NONE : map_find(&q->local, key_of(namespace, queue));
    return at == MAP_NONE ? SYM_NONE : q->rows.at[at].cluster_queue;
}

uint32_t kueue_wanted(const struct kueue *q, uint32_t more_than)
{
    for (uint32_t i = more_than + 1; i <= GPUS_MOST; i++)
        if (q->sizes[i])
            return i;
    return 0;
}

void kueue_done(struct kueue *q)
{
    vec_done(&q->rows);
    map_done(&q->local);
    map_done(&q->links);
    map_done(&q->cluster);
    map_done(&q->waiting);
}
