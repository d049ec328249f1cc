/* Prefers nodes whose resources the pod would bring into balance: how even the used shares are with
 * the pod, against how even they are without it. Floating point in upstream's order of operations.
 */

#include <math.h>

#include "core/base/pair.h"
#include "core/framework/plugin.h"
#include "core/plugins/args.h"

enum { MOST_RESOURCES = 64 };

struct balanced {
    bool is_usual; /* cpu and memory, in this order */
    uint32_t n;
    struct balanced_resource {
        resource_id resource;
        int64_t amount; /* the pod's */
    } * at;
};

static void learn(struct learning *l, void *cls)
{
    static const struct resource_weight defaults[] = {
        {STR("cpu"), 1},
        {STR("memory"), 1},
    };
    struct balanced *b = cls;
    const struct balanced_args *args = l->args;
    bool is_listed = args && args->resources.n;
    const struct resource_weight *list = is_listed ? args->resources.at : defaults;
    uint32_t n = is_listed ? MIN(args->resources.n, (uint32_t)MOST_RESOURCES) : LEN(defaults);
    b->at = arena_array(l->mem, struct balanced_resource, n);
    for (uint32_t i = 0; i < n; i++) {
        resource_id r =
            resources_keep(&l->cluster->specs.resources, &l->cluster->names, list[i].name);
        int64_t amount = r == RESOURCE_CPU      ? l->spec->balance_cpu_milli
                         : r == RESOURCE_MEMORY ? l->spec->balance_memory
                                                : request_amount(&l->spec->hold, r);
        l->scores |= amount != 0;
        if (amount ||
            r < RESOURCE_FIRST_SCALAR) /* a scalar that the pod does not ask for is left out */
            b->at[b->n++] = (struct balanced_resource){r, amount};
    }
    b->is_usual =
        b->n == 2 && b->at[0].resource == RESOURCE_CPU && b->at[1].resource == RESOURCE_MEMORY;
}

static void amounts(const struct cluster *c, node_id node, resource_id resource, int64_t *cap,
                    int64_t *used)
{
    const struct room *room = &c->nodes.room[node.i];
    if (resource == RESOURCE_CPU) {
        *cap = room->cpu_alloc;
        *used = room->cpu_used;
    } else if (resource == RESOURCE_MEMORY) {
        *cap = room->memory_alloc;
        *used = room->memory_used;
    } else {
        const struct cell *cell = nodes_cell(&c->nodes, node, resource);
        *cap = cell ? cell->alloc : 0;
        *used = cell ? cell->used : 0;
    }
}

static double share(int64_t used, int64_t cap)
{
    double fraction = (double)used / (double)cap;
    return fraction > 1 ? 1 : fraction;
}

static int64_t evenness_of_two(double a, double b)
{
    return trunc_i64((1 - fabs((a - b) / 2)) * 100);
}

/* 100 when all shares are equal, less the further they are apart. */
static int64_t evenness(const double *shares, uint32_t n)
{
    double deviation = 0;
    if (n == 2)
        return evenness_of_two(shares[0], shares[1]);
    if (n > 2) {
        double total = 0, sum = 0;
        for (uint32_t i = 0; i < n; i++)
            total += shares[i];
        double mean = total / (double)n;
        for (uint32_t i = 0; i < n; i++)
            sum = sum + (shares[i] - mean) * (shares[i] - mean);
        deviation = sqrt(sum / (double)n);
    }
    return trunc_i64((1 - deviation) * 100);
}

/* Of a node that has less than nothing it may be any number: as Go's. */
static int64_t better(int64_t with, int64_t without)
{
    return wrap_add(50, wrap_sub(wrap_add(50, with), without) / 2);
}

/* What the general case below comes to for cpu and memory on a node that has both. */
static int64_t score_usual(const struct room *room, const struct balanced *b)
{
    double cpu = (double)room->cpu_alloc, memory = (double)room->memory_alloc;
    double cpu_with = (double)wrap_add(room->cpu_used, b->at[0].amount) / cpu;
    double memory_with = (double)wrap_add(room->memory_used, b->at[1].amount) / memory;
    double cpu_without = (double)room->cpu_used / cpu;
    double memory_without = (double)room->memory_used / memory;
    int64_t with = evenness_of_two(cpu_with > 1 ? 1 : cpu_with, memory_with > 1 ? 1 : memory_with);
    int64_t without =
        evenness_of_two(cpu_without > 1 ? 1 : cpu_without, memory_without > 1 ? 1 : memory_without);
    return better(with, without);
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct balanced *b = cls;
    const struct room *room = &c->nodes.room[node.i];
    if (LIKELY(b->is_usual && room->cpu_alloc && room->memory_alloc))
        return score_usual(room, b);
    double with[MOST_RESOURCES], without[MOST_RESOURCES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t cap, used;
        amounts(c, node, b->at[i].resource, &cap, &used);
        if (cap == 0)
            continue;
        with[n] = share(wrap_add(used, b->at[i].amount), cap);
        without[n++] = share(used, cap);
    }
    return better(evenness(with, n), evenness(without, n));
}

static void score_rows(const struct cluster *c, const void *cls, const uint32_t *nodes, uint32_t n,
                       int32_t *out)
{
    const struct balanced *b = cls;
    const real_pair one = {1, 1};
    pair amount = {0}, seen = {0};
    if (b->is_usual)
        amount = pair_of(b->at[0].amount, b->at[1].amount);
    for (uint32_t i = 0; i < n; i++) {
        const struct room *room = &c->nodes.room[nodes[i]];
        pair alloc = pair_at(&room->cpu_alloc), used = pair_at(&room->cpu_used);
        real_pair cap = real_pair_of(alloc);
        real_pair with = real_pair_from_0(real_pair_min(real_pair_of(used + amount) / cap, one));
        real_pair without = real_pair_from_0(real_pair_min(real_pair_of(used) / cap, one));
        real_pair cpu = {with[0], without[0]}, memory = {with[1], without[1]};
        real_pair even = (1 - real_pair_abs((cpu - memory) / 2)) * 100;
        out[i] = 50 + (50 + (int32_t)even[0] - (int32_t)even[1]) / 2;
        seen |= alloc | (alloc - 1) | used | (used + amount);
    }
    for (uint32_t i = 0; UNLIKELY(!b->is_usual || !pair_is_small(seen)) && i < n; i++)
        out[i] = plugin_score(row_score(c, cls, (node_id){nodes[i]}));
}

const struct plugin plugin_node_resources_balanced_allocation = {
    .name = "NodeResourcesBalancedAllocation",
    .row_columns = COLUMN_ALLOC | COLUMN_USED,
    .class_size = sizeof(struct balanced),
    .subjects = SUBJECT_FULLNESS,
    .learn = learn,
    .row_score = row_score,
    .score_rows = score_rows,
};
