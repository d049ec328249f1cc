/* How much room pods may have held: what a namespace holds for those that its drivers and gangs say
 * are to come is bounded, since nothing else bounds what pods say. By what its ResourceQuotas
 * leave, of what they speak of; of all else by a share of the cluster, or what its largest node has
 * if that is more; only where the configuration lets it. What is beyond is not held: the driver has
 * started, and those who come are pods like others.
 *
 * The slots of lost members are counted with it: who has a pod deleted and made again elsewhere,
 * and so on, would hold what no quota counts. Only the share bounds them, since the quotas have
 * counted who was lost, and may still. */

#include "core/engine/reservation/reservation.h"

/* --- what a namespace holds --- */

static struct tenure *tenure_of(struct reservations *h, sym namespace)
{
    uint32_t at = map_find(&h->of_namespace, namespace);
    return at == MAP_NONE ? NULL : &h->tenures.at[at];
}

static struct tenure *tenure_get(struct engine *k, sym namespace)
{
    struct reservations *h = k->reservations;
    struct tenure *known = tenure_of(h, namespace);
    if (known)
        return known;
    uint32_t at = h->free_tenures.n ? vec_pop(&h->free_tenures) : h->tenures.n;
    if (at == h->tenures.n)
        vec_push(&h->tenures, (struct tenure){0});
    map_put(&h->of_namespace, namespace, at);
    intern_hold(&k->cluster->names.text, namespace);
    h->tenures.at[at] = (struct tenure){.namespace = namespace};
    return &h->tenures.at[at];
}

static int64_t *sum_of(struct tenure *t, resource_id resource)
{
    vec_each(&t->sums, sum)
        if (sum->resource == resource)
            return &sum->amount;
    vec_push(&t->sums, ((struct need){.resource = resource}));
    return &vec_last(&t->sums).amount;
}

/* What asks for less than nothing takes nothing. */
static void add(struct tenure *t, resource_id resource, int64_t amount, bool is_more)
{
    int64_t *sum = sum_of(t, resource);
    amount = MAX(amount, (int64_t)0);
    *sum = is_more ? wrap_add(*sum, amount) : wrap_sub(*sum, amount);
}

static void count(struct tenure *t, const struct pod_request *each, bool is_more)
{
    add(t, RESOURCE_PODS, 1, is_more);
    add(t, RESOURCE_CPU, each->cpu_milli, is_more);
    add(t, RESOURCE_MEMORY, each->memory, is_more);
    for (uint32_t i = 0; i < each->n_others; i++)
        add(t, each->others[i].resource, each->others[i].amount, is_more);
}

static const struct pod_request *amounts_of(const struct engine *k, const struct slot *slot)
{
    return &cluster_spec(k->cluster, (pod_id){slot->pod})->hold;
}

static void drop_if_empty(struct engine *k, struct tenure *t)
{
    if (*sum_of(t, RESOURCE_PODS))
        return;
    map_remove(&k->reservations->of_namespace, t->namespace);
    intern_drop(&k->cluster->names.text, t->namespace);
    vec_done(&t->sums);
    vec_push(&k->reservations->free_tenures, (uint32_t)(t - k->reservations->tenures.at));
}

void engine_uncount_slot(struct engine *k, struct reservation_info *b, struct slot *slot)
{
    if (!slot->is_counted)
        return;
    struct tenure *t = tenure_of(k->reservations, b->namespace);
    slot->is_counted = false;
    b->counted--;
    count(t, amounts_of(k, slot), false);
    drop_if_empty(k, t);
}

/* --- what it may hold --- */

static bool is_let(const struct coscheduling_args *args, struct str namespace)
{
    bool is_named = !args->names_holders;
    list_each(&args->holders, holder)
        is_named |= str_equal(*holder, namespace);
    return is_named;
}

/* Of the resource, how much the node has. */
static int64_t amount_on(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct cell *cell;
    if (!nodes_is_present(&c->nodes, node))
        return 0;
    switch (resource) {
    case RESOURCE_PODS:
        return room->pods_alloc;
    case RESOURCE_CPU:
        return room->cpu_alloc;
    case RESOURCE_MEMORY:
        return room->memory_alloc;
    default:
        cell = nodes_cell(&c->nodes, node, resource);
        return cell ? cell->alloc : 0;
    }
}

static int64_t share_of(const struct cluster *c, resource_id resource, int64_t percent)
{
    __int128 all = 0;
    int64_t largest = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        int64_t here = amount_on(c, (node_id){i}, resource);
        all += here;
        largest = MAX(largest, here);
    }
    all = all * percent / 100;
    return percent == 0 ? 0 : all > INT64_MAX ? INT64_MAX : MAX((int64_t)all, largest);
}

/* What bounds a reservation. */
struct bound {
    const struct cluster *c;
    struct tenure *t;
    int64_t percent;
    bool is_slot;
};

/* In all. */
static int64_t bound_of(const struct bound *b, resource_id resource)
{
    sym name = b->c->specs.resources.names.at[resource];
    int64_t left = b->is_slot ? INT64_MAX : quotas_left(&b->c->quotas, b->t->namespace, name);
    return left < INT64_MAX ? left : share_of(b->c, resource, b->percent);
}

/* For how many that ask for so much each there is room left. */
static uint64_t times(const struct bound *b, resource_id resource, int64_t each)
{
    int64_t left = each > 0 ? wrap_sub(bound_of(b, resource), *sum_of(b->t, resource)) : 0;
    return each <= 0 ? UINT64_MAX : left <= 0 ? 0 : (uint64_t)(left / each);
}

/* Slots are nobody's word, so they are held where announcements are not: on one node's worth. */
static struct bound bound_for(const struct engine *k, const struct reservation_info *b,
                              struct tenure *t)
{
    if (b->lost_percent)
        return (struct bound){k->cluster, t, b->lost_percent, true};
    struct coscheduling_args args = engine_gang_args(k, (pod_id){b->driver});
    bool may = is_let(&args, names_text(&k->cluster->names, b->namespace));
    return (struct bound){k->cluster, t, may ? args.held_percent : 0, false};
}

static uint64_t most_of(struct engine *k, const struct reservation_info *reservation,
                        struct tenure *t, const struct pod_request *each)
{
    struct bound b = bound_for(k, reservation, t);
    uint64_t n = b.percent == 0 ? 0 : times(&b, RESOURCE_PODS, 1);
    n = n ? MIN(n, times(&b, RESOURCE_CPU, each->cpu_milli)) : 0;
    n = n ? MIN(n, times(&b, RESOURCE_MEMORY, each->memory)) : 0;
    for (uint32_t i = 0; i < each->n_others && n; i++)
        n = MIN(n, times(&b, each->others[i].resource, each->others[i].amount));
    return n;
}

/* So many may; the slot is one of them, or it is none. */
static uint64_t bound(struct engine *k, struct reservation_info *b, struct tenure *t,
                      struct slot *slot, uint64_t most)
{
    if (most == 0) {
        engine_lose_slot(k, (pod_id){slot->pod});
        return 0;
    }
    slot->is_counted = true;
    b->counted++;
    count(t, amounts_of(k, slot), true);
    return most - 1;
}

/* Is what it holds summed up, and does it hold now? */
static bool is_bounded(const struct engine *k, const struct reservation_info *b)
{
    return b->lost_percent || (b->driver != ID_NONE && !reservation_is_early(k, b));
}

void engine_bound_slot(struct engine *k, struct reservation_info *b, struct slot *slot)
{
    if (!k->reservations->has_stepped || !is_bounded(k, b))
        return;
    struct tenure *t = tenure_get(k, b->namespace);
    bound(k, b, t, slot, most_of(k, b, t, amounts_of(k, slot)));
    drop_if_empty(k, t);
}

void engine_bound_slots(struct engine *k, struct reservation_info *b)
{
    if (!k->reservations->has_stepped || b->left == b->counted || !is_bounded(k, b))
        return;
    struct tenure *t = tenure_get(k, b->namespace);
    uint64_t most = UINT64_MAX;
    for (uint32_t i = b->first_left; i < b->slots.n; i++) {
        struct slot *slot = &b->slots.at[i];
        if (!slot_is_left(slot) || slot->is_counted)
            continue;
        if (most == UINT64_MAX) /* all of them ask for the same */
            most = most_of(k, b, t, amounts_of(k, slot));
        most = bound(k, b, t, slot, most);
    }
    drop_if_empty(k, t);
}

void engine_begin_to_bound(struct engine *k)
{
    if (LIKELY(k->reservations->has_stepped))
        return;
    k->reservations->has_stepped = true;
    vec_each(&k->reservations->all, b)
        if (b->name != SYM_NONE)
            engine_bound_slots(k, b);
}

void engine_bound_anew(struct engine *k, sym namespace)
{
    if (k->reservations->has_begun || !tenure_of(k->reservations, namespace))
        return;
    for (uint32_t pass = 0; pass < 2; pass++)
        vec_each(&k->reservations->all, b) {
            if (b->name == SYM_NONE || b->namespace != namespace)
                continue;
            if (pass)
                engine_bound_slots(k, b);
            else
                vec_each(&b->slots, slot)
                    engine_uncount_slot(k, b, slot);
        }
}

void tenures_done(struct reservations *h)
{
    vec_each(&h->tenures, t)
        vec_done(&t->sums);
    vec_done(&h->tenures);
    vec_done(&h->free_tenures);
    map_done(&h->of_namespace);
}
