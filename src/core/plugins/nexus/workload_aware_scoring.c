/* Packs batch and training work on nodes that are in use, spreads services over those that are not.
 *
 * A node's utilisation is a weighted mean of cpu, memory and accelerators as it would be with the
 * pod on it, over the resources that the node has: a full node without GPUs is full. For pods whose
 * kind of work somebody said (a label, an operator, an owner) this replaces what NodeResourcesFit
 * and NodeResourcesBalancedAllocation score; other pods are left to those. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

enum { CPU, MEMORY, GPU, N_PARTS };

struct packing {
    int64_t cpu_milli, memory, accelerators; /* the pod's */
    int64_t weights[N_PARTS];
    bool packs;
};

static void learn(struct learning *l, void *cls)
{
    struct packing *p = cls;
    const struct workload_args *args = l->args;
    const struct classified *is = &l->identity->is;
    if (is->workload == WORKLOAD_UNKNOWN || is->is_assumed)
        return;
    *p = (struct packing){
        .cpu_milli = l->spec->ask.cpu_milli,
        .memory = l->spec->ask.memory,
        .accelerators = l->spec->accelerators,
        .weights = {args ? args->cpu_weight : 35, args ? args->memory_weight : 35,
                    args ? args->gpu_weight : 30},
        .packs = is->workload == WORKLOAD_BATCH || is->workload == WORKLOAD_TRAINING,
    };
    l->scores = true;
    l->takes_over = SUBJECT_FULLNESS;
}

/* Adds a resource's part to the mean. */
static void add(double *sum, int64_t *weights, int64_t weight, int64_t used, int64_t alloc)
{
    if (alloc <= 0)
        return;
    double share = (double)used / (double)alloc;
    *sum += (double)weight * 100 * (share > 1 ? 1 : share < 0 ? 0 : share);
    *weights += weight;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct packing *p = cls;
    const struct room *room = &c->nodes.room[node.i];
    double sum = 0;
    int64_t weights = 0, gpu_alloc = 0, gpu_used = p->accelerators;
    for (uint32_t i = 0; room->cells && i < room->cells->n; i++)
        if (c->specs.resources.are_accelerators.at[room->cells->at[i].resource]) {
            gpu_alloc = wrap_add(gpu_alloc, room->cells->at[i].alloc);
            gpu_used = wrap_add(gpu_used, room->cells->at[i].used);
        }
    add(&sum, &weights, p->weights[CPU], wrap_add(room->cpu_used, p->cpu_milli), room->cpu_alloc);
    add(&sum, &weights, p->weights[MEMORY], wrap_add(room->memory_used, p->memory),
        room->memory_alloc);
    add(&sum, &weights, p->weights[GPU], gpu_used, gpu_alloc);
    double full = weights ? sum / (double)weights : 0;
    return trunc_i64(p->packs ? full : 100 - full);
}

const struct plugin plugin_workload_aware_scoring = {
    .name = "WorkloadAwareScoring",
    .row_columns = COLUMN_ALLOC | COLUMN_USED,
    .class_size = sizeof(struct packing),
    .subjects = SUBJECT_FULLNESS,
    .learn = learn,
    .row_score = row_score,
};
