/* Does the memory of the node's GPUs suffice, and is it well used?
 *
 * A pod says how much it needs of each GPU, or of all its GPUs together. A GPU that is too small is
 * refused for good: no eviction makes it bigger. Among those that will do, the one that is filled
 * best is preferred; what counts as filled depends on the tenant's tier. A node with GPUs that
 * nobody knows the memory of is neither refused nor preferred. */

#include "core/framework/plugin.h"

enum { NO_OPINION = 50, HIGH_END = 10, STRANDED = 20, SAME_NUMA = 15, LINKED = 25 };

/* From which share of a GPU's memory on (percent) a step's score is due. */
static const struct step {
    uint8_t gold, silver, bronze;
    uint8_t score;
} steps[] = {
    {98, 95, 90, 100},
    {85, 70, 60, 80 },
    {70, 50, 40, 60 },
    {50, 30, 20, 30 },
};

struct memory {
    int64_t each, total; /* bytes; one of them is 0 */
    int64_t gpus;        /* that the pod asks for; at least 1 */
    enum tier tier;
    reason_id has_none, too_small;
};

static void learn(struct learning *l, void *cls)
{
    struct memory *m = cls;
    const struct wishes *w = &l->spec->wishes;
    if (!w->vram_each_bytes && !w->vram_total_bytes)
        return;
    *m = (struct memory){
        .each = w->vram_each_bytes,
        .total = w->vram_total_bytes,
        .gpus = MAX(l->spec->accelerators, 1),
        .tier = l->identity->tier,
        .has_none = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had no GPU"),
        .too_small =
            learning_reason(l, CODE_UNRESOLVABLE, "node(s) had GPUs with too little memory"),
    };
    l->filters = l->scores = true;
}

static bool has_gpu(const struct cluster *c, node_id node)
{
    const struct cells *cells = c->nodes.room[node.i].cells;
    for (uint32_t i = 0; cells && i < cells->n; i++)
        if (cells->at[i].alloc > 0 && c->specs.resources.are_accelerators.at[cells->at[i].resource])
            return true;
    return false;
}

/* What the pod needs of one GPU of the node's, as a share of its memory. */
static double share(const struct memory *m, const struct hardware *h)
{
    double whole = (double)h->vram_bytes;
    return m->each ? (double)m->each / whole : (double)m->total / (whole * (double)m->gpus);
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct memory *m = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    if (h->vram_bytes == 0)
        return has_gpu(c, node) ? 0 : m->has_none;
    return share(m, h) > 1 ? m->too_small : 0;
}

static int64_t step_score(enum tier tier, double filled)
{
    for (size_t i = 0; i < LEN(steps); i++) {
        uint8_t from = tier == TIER_GOLD     ? steps[i].gold
                       : tier == TIER_BRONZE ? steps[i].bronze
                                             : steps[i].silver;
        if (filled * 100 >= from)
            return steps[i].score;
    }
    return 0;
}

/* What several GPUs of the node are to each other. */
static int64_t closeness(const struct memory *m, const struct hardware *h)
{
    int64_t score = 0;
    for (uint32_t i = 0; h->knows_gpu_zones && i < h->n_zones && !score; i++)
        score = h->zones[i].gpus >= m->gpus ? SAME_NUMA : 0;
    return score + (h->links >= FABRIC_NVLINK ? LINKED : 0);
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct memory *m = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    if (h->vram_bytes == 0)
        return NO_OPINION;
    double filled = share(m, h);
    int64_t score = step_score(m->tier, filled);
    if (h->is_high_end && filled >= 0.70)
        score += HIGH_END;
    if (filled < 0.30)
        score -= STRANDED;
    if (m->gpus > 1)
        score += closeness(m, h);
    return MIN(MAX(score, 0), 100);
}

static const struct wake wakes[] = {
    {EVENT_NODE,
     ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_DECLARED_FEATURE | ACTION_NODE_ALLOCATABLE, NULL},
    {0     },
};

const struct plugin plugin_vram_scheduler = {
    .name = "VRAMScheduler",
    .summary = "Needs GPUs with enough memory, and prefers those that the pod fills best.",
    .row_columns = COLUMN_FEATURES | COLUMN_ALLOC,
    .class_size = sizeof(struct memory),
    .suits = true,
    .weight = 3,
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .wakes = wakes,
};
