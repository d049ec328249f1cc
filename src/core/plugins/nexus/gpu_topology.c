/* How well are the GPUs joined that the pod would get on the node?
 *
 * A pod that asks for several whole GPUs talks between them. The node is judged by the set that it
 * would give now (cluster/gpu_sets.h), not by what it has: GPUs that others have do not count. The
 * score is the mean over all pairs of the set, by what joins each. */

#include "core/cluster/gpu_sets.h"
#include "core/framework/plugin.h"

/* What a pair is worth; of one that nobody tells anything of, a little more than of two that are
 * known to be far from each other. */
enum { NVLINK = 100, PCIE_SWITCH = 60, NUMA_NODE = 40, UNKNOWN = 30, FAR = 20 };

static void learn(struct learning *l, void *cls)
{
    struct gpu_ask *ask = cls;
    *ask = l->spec->gpus;
    l->scores = ask->count > 1 && gpu_ask_is_whole(*ask);
}

static int64_t pair(const struct node_gpus *g, uint32_t a, uint32_t b)
{
    if (g->peers[a] >> b & 1)
        return NVLINK;
    if (g->root[a] && g->root[a] == g->root[b])
        return PCIE_SWITCH;
    if (g->zone[a] && g->zone[a] == g->zone[b])
        return NUMA_NODE;
    bool is_told = g->peers[a] || g->peers[b] || (g->zone[a] && g->zone[b]);
    return is_told ? FAR : UNKNOWN;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct gpu_ask *ask = cls;
    const struct node_gpus *g = c->nodes.gpus[node.i];
    int64_t sum = 0, pairs = 0;
    gpu_mask with = gpus_with(g, *ask);
    if ((uint32_t)__builtin_popcount(with) < ask->count)
        return UNKNOWN;
    gpu_mask set = gpu_sets_best(g, with, ask->count);
    for (uint32_t a = 0; a < g->n; a++)
        for (uint32_t b = a + 1; b < g->n; b++)
            if (set >> a & set >> b & 1) {
                sum += pair(g, a, b);
                pairs++;
            }
    return sum / MAX(pairs, (int64_t)1);
}

const struct plugin plugin_gpu_topology = {
    .name = "GPUTopology",
    .row_columns = COLUMN_ALLOC | COLUMN_USED | COLUMN_FEATURES | COLUMN_LABELS,
    .class_size = sizeof(struct gpu_ask),
    .learn = learn,
    .row_score = row_score,
};
