/* Which node's GPUs, and which of them, should a pod get?
 *
 * The filter is the books of GPUs (cluster/gpus.h): so many with so much left. The score is one of
 * several policies, each a row of a table; a policy also chooses among a node's GPUs for a pod that
 * takes a share of one. Five of them are published: fragmentation gradient descent, and the
 * policies that it was compared with (Weng et al., USENIX ATC 2023), number by number as there.
 *
 * Our own, SnugFGD, descends the same gradient and among nodes where that comes to much the same
 * takes the fuller one. So an exact fit is better than a small rest, a small rest better than a
 * large one, a node in use better than an idle one, and ties are few: it does not need a fixed
 * order of nodes to do well, as FGD does. */

#include "core/base/real.h"
#include "core/cluster/gpu_sets.h"
#include "core/framework/plugin.h"
#include "core/plugins/nexus/fragmentation.h"

const char *const gpu_policy_names[N_GPU_POLICIES] = {
    [GPU_SNUG] = "SnugFGD",       [GPU_FGD] = "FGD",
    [GPU_BEST_FIT] = "BestFit",   [GPU_DOT_PROD] = "DotProd",
    [GPU_PACKING] = "GpuPacking", [GPU_CLUSTERING] = "GpuClustering",
};

struct gpu_class {
    const struct policy *policy;
    struct fragmentation *measure;
    struct gpu_ask ask;
    int64_t cpu_milli;
    bool sees_cliques;
    uint32_t wanted; /* GPUs of pods that will come and want more than it; 0: none */
    reason_id none, few, small, taken;
};

/* --- the published policies --- */

/* What the largest node of the published cluster has. */
enum { CPU_MOST = 128000, GPU_MOST = 8000 };

/* What nobody has. Scores of it are the same; what is worked out with it stays in range. */
#define CPU_SANE ((int64_t)1 << 50)

static int64_t sane_cpu(int64_t milli)
{
    return MIN(MAX(milli, -CPU_SANE), CPU_SANE);
}

static int64_t idle_cpu(const struct cluster *c, node_id node)
{
    return sane_cpu(wrap_sub(c->nodes.room[node.i].cpu_alloc, c->nodes.room[node.i].cpu_used));
}

static int64_t idle_gpu(const struct node_gpus *g)
{
    int64_t idle = 0;
    for (uint32_t i = 0; g && i < g->n; i++)
        idle += gpus_left(g, i);
    return idle;
}

static int64_t asked_gpu(const struct gpu_class *k)
{
    return (int64_t)k->ask.count * k->ask.milli;
}

static int64_t within(__int128 score)
{
    return score < 0 ? 0 : score > 100 ? 100 : (int64_t)score;
}

/* How little CPU and GPU would be left: `of` · (1 − ½ · CPU left / 128 − ½ · GPU left / 8). */
static __int128 snugness(const struct cluster *c, const struct gpu_class *k, node_id node,
                         int64_t of)
{
    int64_t cpu = idle_cpu(c, node) - k->cpu_milli;
    int64_t gpu = idle_gpu(c->nodes.gpus[node.i]) - asked_gpu(k);
    int64_t most = 2 * CPU_MOST;
    return (__int128)of * (most - cpu - CPU_MOST / GPU_MOST * gpu) / most;
}

static int64_t best_fit(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    return within(snugness(c, k, node, 100));
}

/* 100 · (1 − ½ · (CPU idle · asked / 128² + GPU idle · asked / 8²)) */
static int64_t dot_prod(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    __int128 cpu = (__int128)idle_cpu(c, node) * k->cpu_milli;
    __int128 gpu = (__int128)idle_gpu(c->nodes.gpus[node.i]) * asked_gpu(k);
    int64_t square = (int64_t)CPU_MOST * CPU_MOST, ratio = CPU_MOST / GPU_MOST;
    return within((100 * square - 50 * cpu - 50 * ratio * ratio * gpu) / square);
}

/* First GPUs in use, then idle ones of a node in use, then idle nodes. */
static int64_t packing(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    if (k->ask.count == 0 || !g)
        return 0;
    uint32_t n = g->n, idle = (uint32_t)__builtin_popcount(gpus_idle(g));
    if (idle == n)
        return n > 33 ? n : MAX(33 - n, n);
    int32_t left = GPU_WHOLE;
    gpu_mask with = gpus_with(g, k->ask);
    for (uint32_t i = 0; i < n; i++)
        if (with >> i & 1)
            left = MIN(left, gpus_left(g, i));
    if (left < GPU_WHOLE)
        return MAX(100 - left / 10 / 10, 50);
    return MAX(50 - (int64_t)k->ask.count, (int64_t)33);
}

static bool is_of_kind(struct gpu_ask a, struct gpu_ask b)
{
    bool is_share = a.milli < GPU_WHOLE;
    return is_share == (b.milli < GPU_WHOLE) && (is_share || a.count == b.count);
}

/* Pods of one kind together: shares, or the same number of GPUs. */
static int64_t clustering(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    bool has_same = false, has_other = false;
    if (k->ask.count == 0)
        return 0;
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after) {
        struct gpu_ask ask = cluster_spec(c, (pod_id){i})->gpus;
        bool is_same = ask.count && is_of_kind(ask, k->ask);
        has_same |= is_same;
        has_other |= ask.count && !is_same;
    }
    int64_t company = has_same ? has_other ? 50 : 75 : has_other ? 0 : 25;
    int64_t taken = MAX(GPU_MOST - idle_gpu(c->nodes.gpus[node.i]), (int64_t)0);
    return 25 * taken / GPU_MOST + company;
}

/* --- fragmentation --- */

/* What happens to the fragmentation if the pod comes: how much less it is then. */
static double gain_on(const struct gpu_class *k, const struct fragmentation_state *before,
                      double amount, gpu_mask gpus)
{
    struct fragmentation_state after = *before;
    int32_t price = (int32_t)gpus_price_of(before->gpus, gpus, k->ask);
    after.cpu_milli = wrap_sub(before->cpu_milli, k->cpu_milli);
    for (uint32_t i = 0; i < after.n; i++)
        if (gpus >> i & 1)
            after.left[i] = MAX(after.left[i] - price, 0);
    return amount - fragmentation_of(k->measure, &after);
}

static int64_t level(double gain)
{
    return trunc_i64(1 / (1 + real_exp(-gain / 1000)) * 100);
}

/* The same, where nodes are asked about in a row: many gain as much as the one before. */
static int64_t level_again(struct fragmentation *f, double gain)
{
    if (f->last_gain != gain || !f->has_level) {
        f->last_gain = gain;
        f->last_level = level(gain);
        f->has_level = true;
    }
    return f->last_level;
}

/* Has a GPU before it in its island as much left, and is it of its kind? Then both are equally
 * good. */
static bool is_same_as_before(const struct fragmentation_state *s, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (s->left[k] == s->left[i] && s->island[i] >> k & 1 &&
            s->gpus->vram_mib[k] == s->gpus->vram_mib[i])
            return true;
    return false;
}

/* A pod that no island can hold gains nothing anywhere. */
#define NO_GAIN -1e9

struct place {
    gpu_mask gpus; /* 0: there is none */
    double gain;
};

/* A share of one GPU goes where the gain is largest, as its level or to the last bit; among equals
 * to the first. */
static struct place place_share(const struct gpu_class *k, const struct fragmentation_state *s,
                                double amount, bool by_level)
{
    struct place best = {0, NO_GAIN};
    gpu_mask with = gpus_with(s->gpus, k->ask);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!(with >> i & 1) || is_same_as_before(s, i))
            continue;
        gpu_mask gpus = (gpu_mask)1 << i;
        double gain = gain_on(k, s, amount, gpus);
        bool is_better = by_level ? level(gain) > level(best.gain) : gain > best.gain;
        if (!best.gpus || is_better)
            best = (struct place){gpus, gain};
    }
    return best;
}

/* Several, or whole ones, are those that go best together. */
static struct place place_set(const struct gpu_class *k, const struct fragmentation_state *s,
                              double amount)
{
    gpu_mask with = gpus_with(s->gpus, k->ask);
    if ((uint32_t)__builtin_popcount(with) < k->ask.count)
        return (struct place){0, NO_GAIN};
    gpu_mask set = gpu_sets_best(s->gpus, with, k->ask.count);
    gpu_mask island = s->island[__builtin_ctz(set)];
    return (struct place){set, set & ~island ? NO_GAIN : gain_on(k, s, amount, set)};
}

static struct place place(const struct gpu_class *k, const struct fragmentation_state *s,
                          double amount, bool by_level)
{
    if (!s->gpus)
        return (struct place){0, NO_GAIN};
    return k->ask.count == 1 && !gpu_ask_is_whole(k->ask) ? place_share(k, s, amount, by_level)
                                                          : place_set(k, s, amount);
}

/* The largest gain among the places on the node. */
static double best_gain(const struct gpu_class *k, const struct fragmentation_state *s)
{
    double amount = fragmentation_of(k->measure, s);
    return k->ask.count == 0 ? gain_on(k, s, amount, 0) : place(k, s, amount, false).gain;
}

/* What the node is worth to the pod, with so much added to the gain. */
static int64_t descend(const struct cluster *c, const struct gpu_class *k, node_id node,
                       double bonus)
{
    double *known = fragmentation_gain(k->measure, c, node, k->cpu_milli, k->ask);
    if (known && LIKELY(*known != NOT_KNOWN))
        return level_again(k->measure, *known + bonus);
    struct fragmentation_state s = fragmentation_state(c, node);
    double gain = best_gain(k, &s);
    if (known)
        *known = gain;
    return level_again(k->measure, gain + bonus);
}

static int64_t fgd(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    return descend(c, k, node, 0);
}

/* The first place whose score is the best. */
static gpu_mask pick_fgd(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    struct fragmentation_state s = fragmentation_state(c, node);
    return place(k, &s, fragmentation_of(k->measure, &s), true).gpus;
}

/* What a node that would be full is worth, in thousandths of a GPU. */
enum { SNUG_BONUS = 100 };

static int64_t snug(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    return descend(c, k, node, (double)snugness(c, k, node, SNUG_BONUS * 1000) / 1000);
}

/* --- the plugin --- */

static const struct policy {
    int64_t (*score)(const struct cluster *, const struct gpu_class *, node_id);
    gpu_mask (*pick)(const struct cluster *, const struct gpu_class *, node_id); /* NULL: usual */
} policies[N_GPU_POLICIES] = {
    [GPU_SNUG] = {snug, pick_fgd},     [GPU_FGD] = {fgd, pick_fgd},
    [GPU_BEST_FIT] = {best_fit, NULL}, [GPU_DOT_PROD] = {dot_prod, NULL},
    [GPU_PACKING] = {packing, NULL},   [GPU_CLUSTERING] = {clustering, NULL},
};

/* Where nobody says what is asked for: any number of GPUs as often as any other. Of all mixes this
 * one makes the gain fall evenly with what is left, without a step at some number. */
#define SIZE(n)                                                                                    \
    {                                                                                              \
        .count = n, .milli = GPU_WHOLE, .share = 1.0 / 16                                          \
    }
static const struct gpu_demand any_size[] = {
    SIZE(1), SIZE(2),  SIZE(3),  SIZE(4),  SIZE(5),  SIZE(6),  SIZE(7),  SIZE(8),
    SIZE(9), SIZE(10), SIZE(11), SIZE(12), SIZE(13), SIZE(14), SIZE(15), SIZE(16)};

static bool watches_demand(const void *args)
{
    const struct fragmentation_args *a = args;
    return a && a->observes_demand;
}

static void begin(struct cluster *c, const void *args, void *shared)
{
    const struct fragmentation_args *a = args;
    bool is_said = a && a->demand.n;
    if (watches_demand(args))
        fragmentation_observe(shared, c);
    else
        fragmentation_init(shared, c, is_said ? a->demand.at : any_size,
                           is_said ? a->demand.n : LEN(any_size));
}

static void end(struct cluster *c, void *shared)
{
    fragmentation_done(shared, c);
}

/* What is asked for is another mix now. Whoever was learned with the old one is not asked again. */
static void observe_again(struct cluster *c, struct fragmentation *f)
{
    fragmentation_done(f, c);
    fragmentation_observe(f, c);
}

static void learn(struct learning *l, void *cls)
{
    struct gpu_class *k = cls;
    const struct fragmentation_args *args = l->args;
    if (l->spec->gpu_error != SYM_NONE)
        l->error = names_text(&l->cluster->names, l->spec->gpu_error);
    k->policy = &policies[args ? args->policy : GPU_SNUG];
    k->measure = l->shared;
    if (watches_demand(args) && k->measure->generation != l->cluster->demand.generation)
        observe_again(l->cluster, k->measure);
    k->wanted = l->spec->gpus.count ? kueue_wanted(&l->cluster->kueue, l->spec->gpus.count) : 0;
    k->ask = l->spec->gpus;
    k->cpu_milli = sane_cpu(l->spec->ask.cpu_milli);
    l->filters = k->ask.count > 0;
    l->scores = k->ask.count > 0 || (args && args->all_pods);
    k->sees_cliques = k->ask.count && k->policy == &policies[GPU_SNUG] && l->cluster->cliques.nodes;
    l->n_keys = k->sees_cliques ? 2 : 0;
    const struct classified *is = &l->identity->is;
    if (is->workload == WORKLOAD_UNKNOWN || is->is_assumed) /* else WorkloadAwareScoring does */
        l->takes_over = SUBJECT_FULLNESS;
    k->none = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had no GPU to share");
    k->few = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had too few GPUs");
    k->small = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had no GPUs of as much memory");
    k->taken = learning_reason(l, CODE_UNSCHEDULABLE, "node(s) had too little left of their GPUs");
}

/* Could it ever be there, if nobody else were? */
static bool is_big_enough(const struct node_gpus *g, struct gpu_ask ask)
{
    uint32_t fitting = 0;
    uint32_t need = MAX(ask.share_mib, ask.vram_mib);
    for (uint32_t i = 0; i < g->n; i++)
        fitting +=
            g->there >> i & 1 && ((!g->vram_mib[i] && !ask.share_mib) || g->vram_mib[i] >= need);
    return fitting >= ask.count;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct gpu_class *k = cls;
    const struct node_gpus *g = c->nodes.gpus[node.i];
    if (!g ||
        g->n == 0) /* whole GPUs that cannot be told apart are for NodeResourcesFit to count */
        return gpu_ask_is_whole(k->ask) ? 0 : k->none;
    if (gpus_fit(g, k->ask))
        return 0;
    if ((uint32_t)__builtin_popcount(g->there) < k->ask.count)
        return k->few;
    return is_big_enough(g, k->ask) ? k->taken : k->small;
}

/* How much of the score cliques are, where there are some. */
enum { CLIQUE_PART = 25 };

/* Would the pod break what larger ones, which are to come, could have used? */
static bool spoils(const struct cluster *c, const struct gpu_class *k, node_id node)
{
    static const struct gpu_ask one = {.count = 1, .milli = GPU_WHOLE};
    uint32_t idle = gpus_fitting(c->nodes.gpus[node.i], one), takes = k->ask.count;
    if (!gpu_ask_is_whole(k->ask) && gpus_fitting(c->nodes.gpus[node.i], k->ask) > idle)
        takes = 0; /* it shares one that is in use */
    return idle >= k->wanted && idle < k->wanted + takes;
}

/* A node's score where cliques have a say, too: the ends of the scale make room for theirs. In the
 * middle, where the scores of small pods are, a point stays a point: else what spreads pods, which
 * is no smaller, would break nodes that they keep whole. */
static int64_t beside_cliques(int64_t score)
{
    return score < 40 ? score / 2 : score < 80 ? score - 20 : 60 + (score - 80) * 3 / 4;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct gpu_class *k = cls;
    if (UNLIKELY(k->wanted) && spoils(c, k, node))
        return 0;
    int64_t score = k->policy->score(c, k, node);
    return UNLIKELY(k->sees_cliques) ? beside_cliques(score) : score;
}

/* --- cliques --- */

/* Where some nodes are parts of a larger island, how many of its GPUs are idle counts beside how
 * many of the node's own: a node that is in no clique is an island by itself. */
static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    (void)cls;
    out[0] = cliques_value(&c->cliques, node);
    out[1] = out[0] == SYM_NONE && g ? (uint32_t)__builtin_popcount(gpus_idle(g)) : 0;
}

/* If any number of GPUs up to the largest clique's is asked for as often as any other, m idle ones
 * of n lose m (n − m) / n, and a pod that takes k of them gains k (n − 2 m + k) / n: for each GPU
 * between 1 and −1, evenly, the less the more of them are idle. */
static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    const struct gpu_class *k = cls;
    int64_t largest = MAX(c->cliques.most, (uint32_t)LEN(any_size));
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t *of = feasible_key(f, i);
        const struct clique *clique = of[0] == SYM_NONE ? NULL : cliques_find(&c->cliques, of[0]);
        int64_t idle = MIN(clique ? (int64_t)clique->idle : (int64_t)of[1], largest);
        int64_t gain = 2 * largest - 2 * idle + k->ask.count; /* 0: nothing is worse */
        raw[i] = normal[i] = MIN(CLIQUE_PART * gain / (2 * largest), (int64_t)CLIQUE_PART);
    }
}

/* What waits in Kueue's queues tells classes apart, whether there are cliques, and what is asked
 * for if that is observed. */
static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    uint32_t count = specs_at(&c->specs, shape->spec)->gpus.count;
    if (watches_demand(args)) /* pods without GPUs may be scored, too */
        vec_push(out, (uint32_t)c->demand.generation);
    if (!count)
        return;
    vec_push(out, kueue_wanted(&c->kueue, count));
    vec_push(out, c->cliques.nodes > 0);
}

static gpu_mask pick(const struct cluster *c, const void *cls, node_id node)
{
    const struct gpu_class *k = cls;
    return k->ask.count && k->policy->pick ? k->policy->pick(c, k, node) : 0;
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE | ACTION_UPDATE, NULL},
    {EVENT_TARGET_POD, ACTION_UPDATE, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_ALLOCATABLE | ACTION_NODE_LABEL, NULL},
    {EVENT_RESOURCE_SLICE, ACTION_ADD | ACTION_DELETE | ACTION_UPDATE, NULL},
    {EVENT_RESOURCE_CLAIM, ACTION_DELETE | ACTION_CLAIM_FREED, NULL},
    {0},
};

const struct plugin plugin_resource_fragmentation_score = {
    .name = "ResourceFragmentationScore",
    .row_columns = COLUMN_ALLOC | COLUMN_USED | COLUMN_LABELS,
    .key_columns = COLUMN_ALLOC | COLUMN_USED | COLUMN_LABELS,
    .class_size = sizeof(struct gpu_class),
    .shared_size = sizeof(struct fragmentation),
    .is_costly = true,
    .begin = begin,
    .watches_demand = watches_demand,
    .end = end,
    .sign = sign,
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .key = key,
    .key_score = key_score,
    .pick = pick,
    .wakes = wakes,
};
