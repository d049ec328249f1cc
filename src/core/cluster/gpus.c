#include "core/cluster/gpus.h"

#include "core/base/mem.h"
#include "core/cluster/gpu_sets.h"

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

uint32_t gpus_price(const struct node_gpus *g, uint32_t i, struct gpu_ask ask)
{
    enum { UNKNOWN = 2 * GPU_WHOLE };
    if (LIKELY(ask.share_mib == 0))
        return ask.milli;
    if (!g || g->vram_mib[i] < ask.share_mib)
        return UNKNOWN;
    uint64_t milli = ((uint64_t)ask.share_mib * GPU_WHOLE + g->vram_mib[i] - 1) / g->vram_mib[i];
    return MAX(ask.milli, (uint32_t)milli);
}

uint32_t gpus_price_of(const struct node_gpus *g, gpu_mask which, struct gpu_ask ask)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if (which >> i & 1)
            most = MAX(most, MIN(gpus_price(g, i, ask), (uint32_t)GPU_WHOLE));
    return most;
}

/* Has it room for the pod, and the memory that it asks for, unless nobody knows? */
static bool suits(const struct node_gpus *g, uint32_t i, struct gpu_ask ask)
{
    return gpus_left(g, i) >= (int32_t)gpus_price(g, i, ask) &&
           (g->vram_mib[i] == 0 || g->vram_mib[i] >= ask.vram_mib);
}

gpu_mask gpus_with(const struct node_gpus *g, struct gpu_ask ask)
{
    gpu_mask with = 0;
    uint32_t n = g ? g->n : 0;
    if (LIKELY(ask.milli && !ask.share_mib && !ask.vram_mib)) { /* what they are does not matter */
        for (uint32_t i = 0; i < n; i++)
            with |= (gpu_mask)(GPU_WHOLE - g->used[i] >= (int32_t)ask.milli) << i;
        return n ? with & g->there & ~g->claimed : 0;
    }
    for (uint32_t i = 0; i < n; i++)
        with |= (gpu_mask)suits(g, i, ask) << i;
    return with;
}

/* Is GPU `a` to be taken before GPU `b`? Of those with room the fullest, of the others the
 * emptiest. */
static bool goes_before(const struct node_gpus *g, gpu_mask with, uint32_t a, uint32_t b)
{
    bool has_room = with >> a & 1;
    int32_t x = GPU_WHOLE - g->used[a], y = GPU_WHOLE - g->used[b];
    if (has_room != (with >> b & 1))
        return has_room;
    gpu_mask free = g->n ? g->there & ~g->claimed : UINT32_MAX;
    if ((free >> a & 1) != (free >> b & 1))
        return free >> a & 1;
    return has_room ? x < y : x > y;
}

/* GPUs that nobody told us of have room, too. */
static gpu_mask imagined_with(const struct node_gpus *g, uint32_t milli)
{
    gpu_mask with = 0;
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        with |= (gpu_mask)(GPU_WHOLE - g->used[i] >= (int32_t)milli) << i;
    return with;
}

gpu_mask gpus_pick(const struct node_gpus *g, struct gpu_ask ask)
{
    static const struct node_gpus none = {0};
    gpu_mask picked = 0;
    if (!g)
        g = &none;
    bool is_whole = gpu_ask_is_whole(ask);
    gpu_mask with = g->n ? gpus_with(g, ask) : imagined_with(g, ask.milli);
    uint32_t there = g->n ? g->n : (uint32_t)GPUS_MOST;
    if (g->n && !g->is_counted && is_whole)
        return 0;
    if (g->n && is_whole && (uint32_t)__builtin_popcount(with) >= ask.count)
        return gpu_sets_best(g, with, ask.count);
    for (uint32_t k = MIN(ask.count, there); k > 0; k--) {
        uint32_t best = GPUS_MOST;
        for (uint32_t i = 0; i < there; i++)
            if (!(picked >> i & 1) && (best == GPUS_MOST || goes_before(g, with, i, best)))
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
    (*g)->are_joined = true;
}

void gpus_charge(struct node_gpus **g, gpu_mask which, uint32_t milli, int sign)
{
    if (which == 0)
        return;
    make(g);
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if (which >> i & 1) {
            (*g)->used[i] += sign * (int32_t)milli;
            assert((*g)->used[i] >= 0);
        }
    drop_empty(g);
}

/* --- islands --- */

/* All that can be reached from GPU `i` over NVLink. */
static gpu_mask linked_with(const struct gpus_facts *told, uint32_t i)
{
    gpu_mask all = (gpu_mask)1 << i, before = 0;
    while (all != before) {
        before = all;
        for (uint32_t k = 0; k < told->n; k++)
            if (before >> k & 1)
                all |= told->peers[k];
    }
    return all & told->there;
}

/* Those with the same number; 0 if some GPU has none. */
static gpu_mask alike(const struct gpus_facts *told, const uint8_t *numbers, uint32_t i)
{
    gpu_mask same = 0;
    for (uint32_t k = 0; k < told->n; k++) {
        if (told->there >> k & 1 && numbers[k] == 0)
            return 0;
        same |= (gpu_mask)(numbers[k] == numbers[i]) << k;
    }
    return same & told->there;
}

static gpu_mask island_of(const struct gpus_facts *told, uint32_t i)
{
    bool is_linked = false;
    if (i >= told->n || !(told->there >> i & 1))
        return 0;
    for (uint32_t k = 0; k < told->n; k++)
        is_linked |= told->peers[k] != 0;
    if (is_linked)
        return linked_with(told, i);
    gpu_mask same = told->has_only_pcie ? alike(told, told->root, i) : 0;
    if (told->has_only_pcie && !same)
        same = alike(told, told->zone, i);
    return same ? same : told->there;
}

/* --- what is told --- */

/* Does nothing that is told tell one from another? Then any set is as good as any other. */
static bool are_alike(const struct gpus_facts *told)
{
    for (uint32_t i = 0; i < told->n; i++)
        if (told->peers[i] || told->root[i] || told->zone[i] ||
            told->vram_mib[i] != told->vram_mib[0])
            return false;
    return true;
}

static bool is_one_island(const gpu_mask *island, uint32_t n)
{
    return n == 0 || island[0] == UINT32_MAX >> (GPUS_MOST - n);
}

bool gpus_put(struct node_gpus **g, const struct gpus_facts *told)
{
    assert(told->n <= GPUS_MOST);
    if (!*g && told->n == 0)
        return false;
    make(g);
    struct node_gpus was = **g, *is = *g;
    is->n = told->n;
    is->there = told->there;
    is->is_counted = told->is_counted;
    is->are_alike = are_alike(told);
    is->model = told->model;
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        is->island[i] = island_of(told, i);
    is->are_joined = is_one_island(is->island, is->n);
    memcpy(is->peers, told->peers, sizeof(is->peers));
    memcpy(is->root, told->root, sizeof(is->root));
    memcpy(is->zone, told->zone, sizeof(is->zone));
    memcpy(is->vram_mib, told->vram_mib, sizeof(is->vram_mib));
    bool differs = memcmp(&was, is, sizeof(was)) != 0;
    drop_empty(g);
    return differs;
}
