/* Does the memory of the node's GPUs suffice, and is it well used?
 *
 * A pod says how much it needs of each GPU, or of all its GPUs together. GPUs that are too small
 * are refused for good: no eviction makes them bigger; those that others have, for now. Among those
 * that will do, the ones that are filled best are preferred; what counts as filled depends on the
 * tenant's tier. Several that are joined well add to it. A node with GPUs that nobody knows the
 * memory of is neither refused nor preferred. */

#include "core/cluster/gpu_sets.h"
#include "core/framework/plugin.h"

enum { NO_OPINION = 50, HIGH_END = 10, STRANDED = 20, SAME_NUMA = 15, LINKED = 25, SAME_PCIE = 10 };

/* From which share of a GPU's memory on (percent) a step's score is due. */
static const struct step {
    uint8_t gold, silver, bronze;
    uint8_t score;
} steps[] = {
    {98, 95, 90, 100},
    {85, 70, 60, 80},
    {70, 50, 40, 60},
    {50, 30, 20, 30},
};

struct memory {
    int64_t each, total; /* bytes; one of them is 0 */
    int64_t gpus;        /* that the pod asks for; at least 1 */
    struct gpu_ask ask;  /* of the node's books; none: it has claims, or nothing */
    enum tier tier;
    reason_id has_none, too_small, taken;
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
        .ask = l->spec->gpus,
        .tier = l->identity->tier,
        .has_none = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had no GPU"),
        .too_small =
            learning_reason(l, CODE_UNRESOLVABLE, "node(s) had GPUs with too little memory"),
        .taken = learning_reason(l, CODE_UNSCHEDULABLE,
                                 "node(s) had too few free GPUs with as much memory"),
    };
    l->filters = l->scores = true;
}

static bool has_gpu(const struct cluster *c, node_id node)
{
    const struct cells *cells = c->nodes.room[node.i].cells;
    for (uint32_t i = 0; cells && i < cells->n; i++)
        if (cells->at[i].alloc > 0 && c->specs.resources.are_accelerators.at[cells->at[i].resource])
            return true;
    return c->nodes.gpus[node.i] && c->nodes.gpus[node.i]->n;
}

/* The GPUs of the node one by one, if they are told apart and their memory is known. */
static const struct node_gpus *books(const struct cluster *c, node_id node)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    for (uint32_t i = 0; g && i < g->n; i++)
        if (g->there >> i & 1 && !g->vram_mib[i])
            return NULL;
    return g && g->n ? g : NULL;
}

/* --- filter --- */

/* The memory of the `k` largest of them together. */
static int64_t most_of(const struct node_gpus *g, gpu_mask from, uint32_t k)
{
    int64_t sum = 0;
    for (; k > 0 && from; k--) {
        uint32_t largest = (uint32_t)__builtin_ctz(from);
        for (uint32_t i = largest; i < g->n; i++)
            if (from >> i & 1 && g->vram_mib[i] > g->vram_mib[largest])
                largest = i;
        from &= ~((gpu_mask)1 << largest);
        sum += g->vram_mib[largest];
    }
    return sum;
}

/* Do as many of these GPUs as the pod asks for, or as there are, have the memory it needs? */
static bool suffice(const struct memory *m, const struct node_gpus *g, gpu_mask from)
{
    uint32_t k = (uint32_t)MIN(m->gpus, (int64_t)__builtin_popcount(g->there)), fitting = 0;
    if (m->total)
        return most_of(g, from, k) << 20 >= m->total;
    for (uint32_t i = 0; i < g->n; i++)
        fitting += from >> i & 1 && (int64_t)g->vram_mib[i] << 20 >= m->each;
    return fitting >= k;
}

/* What the pod needs of all GPUs that it gets, as a share of their memory, where all are alike. */
static double share(const struct memory *m, const struct hardware *h)
{
    double whole = (double)h->vram_bytes;
    return m->each ? (double)m->each / whole : (double)m->total / (whole * (double)m->gpus);
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct memory *m = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    const struct node_gpus *g = books(c, node);
    if (g && !suffice(m, g, g->there))
        return m->too_small;
    if (g)
        return m->ask.count == 0 || suffice(m, g, gpus_with(g, m->ask)) ? 0 : m->taken;
    if (h->vram_bytes == 0)
        return has_gpu(c, node) ? 0 : m->has_none;
    return share(m, h) > 1 ? m->too_small : 0;
}

/* --- score --- */

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

/* What the GPUs of a set are to each other. */
static int64_t closeness(const struct node_gpus *g, gpu_mask set)
{
    uint32_t first = (uint32_t)__builtin_ctz(set);
    bool is_one_zone = g->zone[first], is_one_root = g->root[first], is_linked = false;
    for (uint32_t i = first; i < g->n; i++) {
        if (!(set >> i & 1))
            continue;
        is_one_zone &= g->zone[i] == g->zone[first];
        is_one_root &= g->root[i] == g->root[first];
        is_linked |= (set & ~g->peers[i]) == (gpu_mask)1 << i;
    }
    return (is_one_zone ? SAME_NUMA : 0) + (is_linked ? LINKED : 0) + (is_one_root ? SAME_PCIE : 0);
}

/* The GPUs that the pod would get; those it could have if it were alone, where it gets none. */
static gpu_mask set_for(const struct memory *m, const struct node_gpus *g)
{
    gpu_mask with = m->ask.count ? gpus_with(g, m->ask) : g->there & ~g->claimed;
    gpu_mask set = gpu_sets_best(g, with ? with : g->there, (uint32_t)m->gpus);
    return set;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct memory *m = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    const struct node_gpus *g = books(c, node);
    if (h->vram_bytes == 0 && !g)
        return NO_OPINION;
    gpu_mask set = g ? set_for(m, g) : 0;
    int64_t memory = g ? most_of(g, set, GPUS_MOST) << 20 : 0;
    int64_t asked = m->total ? m->total : m->each * __builtin_popcount(set);
    double filled = g ? (double)asked / (double)memory : share(m, h);
    int64_t score = step_score(m->tier, filled);
    if (h->is_high_end && filled >= 0.70)
        score += HIGH_END;
    if (filled < 0.30)
        score -= STRANDED;
    if (m->gpus > 1 && g)
        score += closeness(g, set);
    return MIN(MAX(score, 0), 100);
}

static const struct wake wakes[] = {
    {EVENT_RESOURCE_SLICE, ACTION_ADD | ACTION_DELETE | ACTION_UPDATE, NULL},
    {EVENT_RESOURCE_CLAIM, ACTION_DELETE | ACTION_CLAIM_FREED, NULL},
    {EVENT_ASSIGNED_POD, ACTION_DELETE | ACTION_POD_SCALE_DOWN, NULL},
    {EVENT_NODE,
     ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_DECLARED_FEATURE | ACTION_NODE_ALLOCATABLE, NULL},
    {0},
};

const struct plugin plugin_vram_scheduler = {
    .name = "VRAMScheduler",
    .about = ABOUT_GPU_MEMORY,
    .row_columns = COLUMN_FEATURES | COLUMN_ALLOC | COLUMN_USED,
    .class_size = sizeof(struct memory),
    .suits = true,
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .wakes = wakes,
};
