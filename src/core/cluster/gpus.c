#include "core/cluster/gpus.h"

#include "core/base/mem.h"

bool gpus_is_resource(struct str name)
{
    static const struct str names[] = {STR("nvidia.com/gpu"), STR("amd.com/gpu"),
                                       STR("gpu.intel.com/i915"), STR("gpu.intel.com/xe"),
                                       STR("habana.ai/gaudi")};
    for (size_t i = 0; i < LEN(names); i++)
        if (str_equal(name, names[i]))
            return true;
    return false;
}

uint32_t gpus_fitting(const struct node_gpus *g, uint32_t milli)
{
    uint32_t fitting = 0;
    for (uint32_t i = 0; g && i < g->n; i++)
        fitting += gpus_left(g, i) >= (int32_t)milli;
    return fitting;
}

/* Is GPU `a` to be taken before GPU `b`? Of those with room the fullest, of the others the
 * emptiest.
 */
static bool goes_before(const struct node_gpus *g, uint32_t milli, uint32_t a, uint32_t b)
{
    int32_t ask = (int32_t)milli, x = GPU_WHOLE - g->used[a], y = GPU_WHOLE - g->used[b];
    if ((x >= ask) != (y >= ask))
        return x >= ask;
    return x >= ask ? x < y : x > y;
}

gpu_mask gpus_pick(const struct node_gpus *g, struct gpu_ask ask)
{
    static const struct node_gpus none = {0};
    gpu_mask picked = 0;
    if (!g)
        g = &none;
    uint32_t there = g->n ? g->n : (uint32_t)GPUS_MOST;
    for (uint32_t k = MIN(ask.count, there); k > 0; k--) {
        uint32_t best = GPUS_MOST;
        for (uint32_t i = 0; i < there; i++)
            if (!(picked >> i & 1) && (best == GPUS_MOST || goes_before(g, ask.milli, i, best)))
                best = i;
        picked |= (gpu_mask)1 << best;
    }
    return picked;
}

static void drop_empty(struct node_gpus **g)
{
    if ((*g)->n)
        return;
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if ((*g)->used[i])
            return;
    mem_free(*g);
    *g = NULL;
}

static void make(struct node_gpus **g)
{
    if (*g)
        return;
    *g = mem_alloc(sizeof(**g));
    (*g)->model = SYM_NONE;
}

void gpus_charge(struct node_gpus **g, gpu_mask which, uint32_t milli, int sign)
{
    if (which == 0)
        return;
    make(g);
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if (which >> i & 1)
            (*g)->used[i] += sign * (int32_t)milli;
    drop_empty(g);
}

void gpus_put(struct node_gpus **g, uint32_t n, sym model)
{
    assert(n <= GPUS_MOST);
    if (!*g && n == 0)
        return;
    make(g);
    (*g)->n = n;
    (*g)->model = model;
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        (*g)->island[i] = i < n ? UINT32_MAX >> (GPUS_MOST - n) : 0;
    drop_empty(g);
}

void gpus_divide(struct node_gpus *g, const uint32_t *zone)
{
    for (uint32_t i = 0; i < g->n; i++) {
        g->island[i] = 0;
        for (uint32_t k = 0; k < g->n; k++)
            g->island[i] |= (gpu_mask)(zone[k] == zone[i]) << k;
    }
}
