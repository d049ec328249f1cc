/* Does the pod fit into one NUMA node of the host, and how well?
 *
 * A strict pod is refused where it fits into no single NUMA node (or, restricted, onto no set as
 * small as an empty host would allow). The score is that of the best NUMA node: four parts of 40,
 * 25, 20 and 15 percent (room left, memory bandwidth, distance to the others, the pod's gang), and
 * whether its GPUs sit there. A host that says nothing of its NUMA nodes is never refused and gets
 * 50; one where the pod would have to straddle gets 25. Pods that do not care are not scored.
 *
 * Whether they care or not: where a host's kubelet says that it turns away what it cannot align,
 * they are refused before it does. */

#include "core/cluster/kubelet.h"
#include "core/framework/plugin.h"
#include "core/plugins/args.h"

enum { NO_OPINION = 50, STRADDLES = 25, MIDDLING = 50 };

struct numa {
    struct numa_need need;
    double distance_weight; /* 1 is the usual */
    bool aims_at_60;
    spec_id spec;
    reason_id no_room, too_big, unaligned, unalignable;
};

/* Is there a kubelet that may turn such a pod away? */
static bool heeds_kubelets(const struct cluster *c, const struct spec *spec)
{
    return spec->n_pinned > 0 && c->numa_reports.strict > 0;
}

static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    (void)args;
    vec_push(out, heeds_kubelets(c, specs_at(&c->specs, shape->spec)));
}

static void learn(struct learning *l, void *cls)
{
    struct numa *n = cls;
    const struct numa_args *args = l->args;
    n->need = numa_need_of(l->spec, l->shape->namespace);
    n->spec = l->shape->spec;
    n->unaligned =
        learning_reason(l, CODE_UNSCHEDULABLE, "node(s) had a kubelet that could not align it");
    n->unalignable =
        learning_reason(l, CODE_UNRESOLVABLE, "node(s) had a kubelet that could never align it");
    l->filters = heeds_kubelets(l->cluster, l->spec);
    if (n->need.policy <= NUMA_NONE)
        return;
    uint8_t distance = l->spec->wishes.numa_distance;
    n->distance_weight = distance ? (double)(distance - 1) / 50 : 1;
    n->aims_at_60 = args && args->aims_at_60;
    n->no_room = learning_reason(l, CODE_UNSCHEDULABLE, "node(s) had no room on one NUMA node");
    n->too_big = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had NUMA nodes that are too small");
    l->filters |= n->need.policy >= NUMA_RESTRICTED;
    l->scores = true;
}

/* --- filter --- */

static bool fits_some(const struct hardware *h, const struct numa_use *used,
                      const struct numa_need *need)
{
    for (uint32_t i = 0; i < h->n_zones; i++)
        if (numa_fits(h, i, used, need))
            return true;
    return false;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    static const struct numa_use empty[MOST_ZONES];
    const struct numa *n = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    struct numa_use used[MOST_ZONES];
    if (h->n_zones < 2 || (n->need.policy < NUMA_RESTRICTED && h->kubelet_policy < NUMA_RESTRICTED))
        return 0;
    numa_used(c, node, &n->need, used);
    enum kubelet_verdict kubelet = kubelet_judge(h, specs_at(&c->specs, n->spec), used);
    if (kubelet != KUBELET_ADMITS)
        return kubelet == KUBELET_IS_FULL ? n->unaligned : n->unalignable;
    if (n->need.policy < NUMA_RESTRICTED)
        return 0;
    if (n->need.policy == NUMA_RESTRICTED) {
        uint32_t width = numa_width(h, used, &n->need), least = numa_width(h, NULL, &n->need);
        return least == 0 ? n->too_big : width == least ? 0 : n->no_room;
    }
    if (fits_some(h, used, &n->need))
        return 0;
    return fits_some(h, empty, &n->need) ? n->no_room : n->too_big;
}

/* --- score --- */

static double clamp(double score)
{
    return score < 0 ? 0 : score > 100 ? 100 : score;
}

static double fit_part(const struct numa *n, const struct numa_zone *zone,
                       const struct numa_use *used)
{
    double cpu = (double)(zone->cpu_milli - used->cpu_milli - n->need.cpu_milli);
    double memory = (double)(zone->memory - used->memory - n->need.memory);
    double left = 100 * (0.6 * cpu / (double)zone->cpu_milli + 0.4 * memory / (double)zone->memory);
    double score = n->aims_at_60 ? 100 - __builtin_fabs(100 - left - 60) : left;
    return clamp(n->need.ids >> zone->id & 1 ? score * 1.2 : score);
}

/* What intensive pods there leave of the bandwidth; a pod's part is that of its memory. */
static double bandwidth_part(const struct numa *n, const struct numa_zone *zone,
                             const struct numa_use *used)
{
    if (!n->need.is_intensive || !zone->bandwidth)
        return MIDDLING;
    int64_t memory = used->intensive_memory + n->need.memory;
    return clamp(100 - 100 * (double)memory / (double)zone->memory);
}

static double distance_part(const struct numa *n, const struct hardware *h,
                            const struct numa_zone *zone)
{
    if (h->n_zones == 1)
        return 100;
    if (zone->distances == 0)
        return MIDDLING;
    double mean = (double)zone->distance_sum / (double)zone->distances;
    return clamp(100 - (mean - 10) * 5 * n->distance_weight);
}

static double gang_part(const struct numa *n, const struct numa_use *used, uint32_t mates)
{
    if (n->need.gang == SYM_NONE || mates == 0)
        return MIDDLING;
    switch (n->need.spread) {
    case NUMA_SPREAD_PACKED:
        return used->mates ? 100 : 20;
    case NUMA_SPREAD_BALANCED:
        return clamp(100 - 20 * (double)used->mates);
    case NUMA_SPREAD_ISOLATED:
        return used->pods ? 0 : 100;
    }
    return MIDDLING;
}

static double gpu_part(const struct numa *n, const struct hardware *h, const struct numa_zone *zone,
                       const struct numa_use *used)
{
    if (n->need.gpus == 0 || !h->knows_gpu_zones)
        return 0;
    return n->need.gpus <= zone->gpus - used->gpus ? 15 : -25;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct numa *n = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    struct numa_use used[MOST_ZONES];
    struct numa_need without_gpus = n->need; /* where they sit is a part of the score */
    uint32_t mates = 0;
    double best = -1;
    if (h->n_zones == 0)
        return NO_OPINION;
    numa_used(c, node, &n->need, used);
    without_gpus.resources &= (uint8_t)~NUMA_GPU;
    for (uint32_t i = 0; i < h->n_zones; i++)
        mates += used[i].mates;
    for (uint32_t i = 0; i < h->n_zones; i++) {
        const struct numa_zone *zone = &h->zones[i];
        if (!numa_fits(h, i, used, &without_gpus))
            continue;
        double score =
            clamp(0.40 * fit_part(n, zone, &used[i]) + 0.25 * bandwidth_part(n, zone, &used[i]) +
                  0.20 * distance_part(n, h, zone) + 0.15 * gang_part(n, &used[i], mates) +
                  gpu_part(n, h, zone, &used[i]));
        best = MAX(best, score);
    }
    return best < 0 ? STRADDLES : trunc_i64(best + 1e-9); /* 0.4 + 0.6 is not quite 1 */
}

/* --- hints --- */

static bool hint_gone(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)c, (void)shape;
    return e->pod_node != SYM_NONE;
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE | ACTION_POD_SCALE_DOWN, hint_gone},
    {EVENT_TARGET_POD, ACTION_POD_SCALE_DOWN, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_DECLARED_FEATURE, NULL},
    {0},
};

const struct plugin plugin_numa_topology = {
    .name = "NUMATopology",
    .row_columns = COLUMN_FEATURES | COLUMN_USED,
    .class_size = sizeof(struct numa),
    .sign = sign,
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .wakes = wakes,
};
