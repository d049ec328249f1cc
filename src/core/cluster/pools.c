#include "core/cluster/pools.h"

#include <stdlib.h>

/* A slice while pools are made of them. */
struct piece {
    const struct kept_object *kept;
    const struct resource_slice *slice;
};

VEC_TYPE(pieces, struct piece);

/* --- which slices --- */

static bool is_here(const struct cluster *c, sym name, bool all_nodes, bool has_rules,
                    rules_id rules, node_id node)
{
    if (name != SYM_NONE)
        return name == c->nodes.name[node.i];
    return all_nodes || (has_rules && cluster_rules_allow(c, rules, node, SYM_NONE));
}

static bool device_is_here(const struct cluster *c, const struct device *device,
                           const struct device_index *x, node_id node)
{
    return is_here(c, x->node, device->all_nodes, device->node_selector, x->rules, node);
}

bool pools_device_is_here(const struct cluster *c, const struct candidate *x, node_id node)
{
    return !x->slice->spec.per_device || device_is_here(c, x->device, x->index, node);
}

static bool slice_is_here(const struct cluster *c, const struct kept_object *k, node_id node)
{
    const struct resource_slice *slice = k->object.resource_slice;
    const struct slice_index *x = k->slice;
    if (!x->counts)
        return false;
    if (x->node != SYM_NONE || slice->spec.all_nodes || slice->spec.node_selector)
        return is_here(c, x->node, slice->spec.all_nodes, slice->spec.node_selector, x->rules,
                       node);
    for (uint32_t i = 0; slice->spec.per_device && i < slice->spec.devices.n; i++)
        if (device_is_here(c, &slice->spec.devices.at[i], &x->devices[i], node))
            return true;
    return false;
}

/* By driver, pool, newest generation, name. */
static int by_place(const void *a, const void *b)
{
    const struct resource_slice *x = ((const struct piece *)a)->slice,
                                *y = ((const struct piece *)b)->slice;
    int order = str_compare(x->spec.driver, y->spec.driver);
    order = order ? order : str_compare(x->spec.pool.name, y->spec.pool.name);
    if (order == 0 && x->spec.pool.generation != y->spec.pool.generation)
        order = x->spec.pool.generation > y->spec.pool.generation ? -1 : 1;
    return order ? order : str_compare(x->meta.name, y->meta.name);
}

static void list_slices(const struct cluster *c, node_id node, struct pieces *out)
{
    const struct devices *d = &c->devices;
    const struct kept_object *slices = d->of[KEPT_SLICE].at.at;
    for (uint32_t i = devices_first(d, OF_NODE, c->nodes.name[node.i]); i != ID_NONE;
         i = slices[i].slice->next[OF_NODE])
        if (slice_is_here(c, &slices[i], node))
            vec_push(out, (struct piece){&slices[i], slices[i].object.resource_slice});
    vec_each(&d->elsewhere, i)
        if (slice_is_here(c, &slices[*i], node))
            vec_push(out, (struct piece){&slices[*i], slices[*i].object.resource_slice});
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_place);
}

static bool is_one_pool(const struct piece *a, const struct piece *b)
{
    return a->kept->slice->driver == b->kept->slice->driver &&
           a->kept->slice->pool == b->kept->slice->pool;
}

/* All slices of the pool's generation, wherever they can be reached from. False if there is a newer
 * generation: then this one is being replaced. */
static bool list_pool(const struct cluster *c, const struct piece *of, struct pieces *out)
{
    const struct devices *d = &c->devices;
    const struct kept_object *slices = d->of[KEPT_SLICE].at.at;
    for (uint32_t i = devices_first(d, OF_POOL, devices_pool_key(of->kept->slice)); i != ID_NONE;
         i = slices[i].slice->next[OF_POOL]) {
        const struct resource_slice *slice = slices[i].object.resource_slice;
        if (slice->spec.pool.generation > of->slice->spec.pool.generation)
            return false;
        if (slice->spec.pool.generation == of->slice->spec.pool.generation &&
            slices[i].slice->counts)
            vec_push(out, (struct piece){&slices[i], slice});
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_place);
    return true;
}

/* --- counters --- */

static bool add_counters(struct pool *pool, const struct pieces *all, struct arena *mem)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n; i++)
        list_each(&all->at[i].slice->spec.counters, set)
            n += set->counters.n + 1;
    if (n == 0)
        return true;
    pool->counters = arena_array(mem, struct counter, n);
    for (uint32_t i = 0; i < all->n; i++)
        list_each(&all->at[i].slice->spec.counters, set) {
            for (uint32_t k = 0; k < pool->n_counters; k++)
                if (str_equal(pool->counters[k].set, set->name))
                    return false;
            list_each(&set->counters, counter)
                pool->counters[pool->n_counters++] =
                    (struct counter){set->name, counter->name, counter->quantity.nano, 0};
            if (set->counters.n == 0) /* its name is taken all the same */
                pool->counters[pool->n_counters++] = (struct counter){.set = set->name};
        }
    return true;
}

static struct counter *find_counter(const struct pool *pool, struct str set, struct str name)
{
    for (uint32_t i = 0; i < pool->n_counters; i++)
        if (str_equal(pool->counters[i].set, set) && str_equal(pool->counters[i].name, name))
            return &pool->counters[i];
    return NULL;
}

static bool has_set(const struct pool *pool, struct str set)
{
    for (uint32_t i = 0; i < pool->n_counters; i++)
        if (str_equal(pool->counters[i].set, set))
            return true;
    return false;
}

/* Subtracts what devices that are taken use; false if a device uses what is not there. */
static bool charge_counters(const struct cluster *c, struct pool *pool, const struct piece *piece)
{
    for (uint32_t i = 0; i < piece->slice->spec.devices.n; i++) {
        const struct device *device = &piece->slice->spec.devices.at[i];
        sym id = piece->kept->slice->devices[i].id;
        bool is_taken = device->consumes.n &&
                        (devices_is_taken(&c->devices, id) || devices_is_shared(&c->devices, id));
        list_each(&device->consumes, set) {
            if (!has_set(pool, set->name))
                return false;
            list_each(&set->counters, amount) {
                struct counter *counter = find_counter(pool, set->name, amount->name);
                if (!counter)
                    return false;
                counter->left -= is_taken ? amount->quantity.nano : 0;
            }
        }
    }
    return true;
}

bool pools_count(const struct candidate *x, int sign)
{
    struct pool *pool = x->pool;
    bool is_enough = true;
    list_each(&x->device->consumes, set)
        list_each(&set->counters, amount)
            find_counter(pool, set->name, amount->name)->asked += sign * amount->quantity.nano;
    for (uint32_t i = 0; sign > 0 && i < pool->n_counters; i++)
        is_enough &= pool->counters[i].left >= pool->counters[i].asked;
    if (!is_enough)
        pools_count(x, -1);
    return is_enough;
}

/* --- pools --- */

static bool holds_counters(const struct piece *piece)
{
    return piece->slice->spec.counters.n > 0;
}

static bool names_differ(const struct piece *pieces, uint32_t n)
{
    struct map seen = {0};
    bool differ = true;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; !holds_counters(&pieces[i]) && k < pieces[i].slice->spec.devices.n;
             k++) {
            sym id = pieces[i].kept->slice->devices[k].id;
            differ &= map_find(&seen, id) == MAP_NONE;
            map_put(&seen, id, 1);
        }
    map_done(&seen);
    return differ;
}

/* Makes a pool of `n` slices that the node reaches; `all` are all of its slices. */
static void check_pool(const struct cluster *c, struct pool *pool, const struct piece *here,
                       uint32_t n, const struct pieces *all, struct arena *mem)
{
    pool->is_invalid = !names_differ(here, n) || !add_counters(pool, all, mem);
    for (uint32_t i = 0; !pool->is_invalid && i < all->n; i++)
        if (!holds_counters(&all->at[i]))
            pool->is_invalid = !charge_counters(c, pool, &all->at[i]);
    for (uint32_t i = 0; i < n; i++)
        list_each(&here[i].slice->spec.devices, device)
            pool->has_conditions |= device->binding_conditions.n > 0 && !holds_counters(&here[i]);
    pool->has_conditions &= !pool->is_invalid;
}

struct made {
    struct pool pool;
    uint32_t first, n; /* its slices */
};

/* False if the pool is being replaced. */
static bool make_pool(const struct cluster *c, struct made *made, const struct piece *here,
                      struct arena *mem)
{
    struct pieces all = {0};
    uint64_t wanted = (uint64_t)here->slice->spec.pool.slices;
    made->pool =
        (struct pool){.driver = here->slice->spec.driver, .name = here->slice->spec.pool.name};
    bool is_current = true, is_complete = made->n == wanted;
    if (is_complete)
        for (uint32_t i = 0; i < made->n; i++)
            vec_push(&all, here[i]);
    else
        is_current = list_pool(c, here, &all);
    made->pool.is_incomplete = all.n != wanted;
    if (is_current && !made->pool.is_incomplete)
        check_pool(c, &made->pool, here, made->n, &all, mem);
    vec_done(&all);
    return is_current;
}

static void add_candidates(struct pools *p, struct pool *pool, const struct piece *piece)
{
    for (uint32_t i = 0; !holds_counters(piece) && i < piece->slice->spec.devices.n; i++)
        p->candidates[p->n_candidates++] = (struct candidate){
            .pool = pool,
            .slice = piece->slice,
            .device = &piece->slice->spec.devices.at[i],
            .index = &piece->kept->slice->devices[i],
        };
}

struct pools pools_gather(const struct cluster *c, node_id node, struct arena *mem)
{
    struct pools p = {0};
    struct pieces pieces = {0};
    list_slices(c, node, &pieces);
    struct made *made = arena_array(mem, struct made, pieces.n);
    uint32_t n = 0, devices = 0;
    for (uint32_t i = 0, next; i < pieces.n; i = next) {
        uint32_t count = 0;
        for (next = i; next < pieces.n && is_one_pool(&pieces.at[i], &pieces.at[next]); next++)
            count += pieces.at[next].slice->spec.pool.generation ==
                     pieces.at[i].slice->spec.pool.generation;
        made[n] = (struct made){.first = i, .n = count};
        n += make_pool(c, &made[n], &pieces.at[i], mem);
    }
    vec_each(&pieces, piece)
        devices += piece->slice->spec.devices.n;
    p.at = arena_array(mem, struct pool, n);
    p.candidates = arena_array(mem, struct candidate, devices);
    for (int pass = 0; pass < 2; pass++) /* devices that must be bound first come last */
        for (uint32_t i = 0; i < n; i++) {
            if (made[i].pool.has_conditions != (pass == 1))
                continue;
            struct pool *pool = &p.at[p.n++];
            *pool = made[i].pool;
            for (uint32_t k = 0; !pool->is_incomplete && !pool->is_invalid && k < made[i].n; k++)
                add_candidates(&p, pool, &pieces.at[made[i].first + k]);
        }
    vec_done(&pieces);
    return p;
}
