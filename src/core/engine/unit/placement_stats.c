#include "core/engine/placement_stats.h"

#include "core/engine/unit/unit.h"
#include "core/plugins/plugins.h"

static const double quality_list[] = {0, 25, 50, 75, 90, 95, 100},
                    fragment_list[] = {0, 10, 20, 30, 50, 75, 90, 100},
                    island_list[] = {30, 50, 80, 100},
                    vram_list[] = {8e9, 16e9, 24e9, 40e9, 48e9, 80e9, 160e9, 320e9};
static const struct bounds quality_bounds = {.n = LEN(quality_list), .list = quality_list},
                           fragment_bounds = {.n = LEN(fragment_list), .list = fragment_list},
                           island_bounds = {.n = LEN(island_list), .list = island_list},
                           vram_bounds = {.n = LEN(vram_list), .list = vram_list};

/* --- counting --- */

/* Labels are mostly the same text at the same place. */
static bool is_same(struct str a, struct str b)
{
    return a.p == b.p ? a.n == b.n : str_equal(a, b);
}

static void add(label_counts *c, struct str a, struct str b, struct str d)
{
    vec_each(c, row)
        if (is_same(row->labels[0], a) && is_same(row->labels[1], b) &&
            is_same(row->labels[2], d)) {
            row->n++;
            return;
        }
    vec_push(c, ((struct label_count){{a, b, d}, 1}));
}

static void note(label_histograms *of, const struct bounds *bounds, struct str label, double value)
{
    vec_each(of, row)
        if (is_same(row->label, label)) {
            histogram_add(&row->h, bounds, value);
            return;
        }
    vec_push(of, (struct label_histogram){.label = label});
    histogram_add(&vec_last(of).h, bounds, value);
}

static struct str yes_or_no(bool is_so)
{
    return is_so ? STR("true") : STR("false");
}

/* So many or fewer. */
static struct str size_label(uint32_t n)
{
    static const struct {
        uint32_t most;
        struct str label;
    } sizes[] = {{1, STR("1")}, {2, STR("2")},   {4, STR("4")},
                 {8, STR("8")}, {16, STR("16")}, {32, STR("32")}};
    for (size_t i = 0; i < LEN(sizes); i++)
        if (n <= sizes[i].most)
            return sizes[i].label;
    return STR("32+");
}

static struct str workload_text(const struct spec *spec)
{
    return workload_name(spec->class.workload);
}

static struct str links_of(const struct hardware *h, const struct node_gpus *g)
{
    return h->links         ? fabric_name(h->links)
           : !g             ? STR("unknown")
           : !g->are_joined ? STR("pcie")
                            : STR("unknown");
}

/* --- GPUs --- */

static struct str source_of(const struct hardware *h)
{
    static const struct str names[N_VRAM_SOURCES] = {
        [VRAM_UNKNOWN] = STR("none"),
        [VRAM_DRA] = STR("DRA"),
        [VRAM_GFD] = STR("GFD"),
        [VRAM_NFD] = STR("NFD"),
        [VRAM_LABEL] = STR("manual_labels"),
        [VRAM_MODEL] = STR("model"),
    };
    return names[h->vram_source];
}

/* A namespace's own series, while there are few; else those of "other". */
static sym shown_namespace(struct engine *k, sym namespace)
{
    struct placement_counts *c = &k->figures->placements;
    struct names *names = &k->cluster->names;
    vec_each(&c->namespaces, shown)
        if (*shown == namespace)
            return namespace;
    if (c->namespaces.n == PLACEMENT_NAMESPACES)
        return SYM_NONE;
    intern_hold(&names->text, namespace);
    vec_push(&c->namespaces, namespace);
    return namespace;
}

static void count_vram(struct engine *k, sym namespace, const struct spec *spec,
                       const struct hardware *h)
{
    struct placement_counts *c = &k->figures->placements;
    double each = (double)spec->wishes.vram_each_bytes * (double)MAX(spec->accelerators, 1);
    double asked = spec->wishes.vram_total_bytes ? (double)spec->wishes.vram_total_bytes : each;
    add(&c->vram, STR("placed"), workload_text(spec), source_of(h));
    sym shown = shown_namespace(k, namespace);
    vec_each(&c->vram_asked, row)
        if (row->namespace == shown && str_equal(row->workload, workload_text(spec))) {
            histogram_add(&row->h, &vram_bounds, asked);
            return;
        }
    vec_push(&c->vram_asked,
             ((struct vram_row){.namespace = shown, .workload = workload_text(spec)}));
    histogram_add(&vec_last(&c->vram_asked).h, &vram_bounds, asked);
}

/* An island, as it was before the pod came and as it is now. */
struct before_and_after {
    gpu_mask all, before, after; /* of its GPUs those that are there, and those that are idle */
    uint32_t taken;              /* idle ones that the pod took */
};

static struct before_and_after look_at_island(const struct node_gpus *g, const struct pod_row *row,
                                              uint32_t first)
{
    gpu_mask island = g->island[first] & g->there, were_idle = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (row->gpus >> i & 1 && g->used[i] == (int32_t)row->gpu_milli)
            were_idle |= (gpu_mask)1 << i;
    struct before_and_after b = {.all = island, .after = gpus_idle(g) & island};
    b.before = b.after | (were_idle & island);
    b.taken = (uint32_t)__builtin_popcount(were_idle & island);
    return b;
}

static void count_island(struct engine *k, const struct node_gpus *g, const struct pod_row *row,
                         struct str links)
{
    struct placement_counts *c = &k->figures->placements;
    struct before_and_after b = look_at_island(g, row, (uint32_t)__builtin_ctz(row->gpus));
    uint32_t size = (uint32_t)__builtin_popcount(b.all);
    bool was_whole = b.before == b.all;
    struct str prevented = yes_or_no(!was_whole);
    if (was_whole ? b.after != 0 : true) { /* it is smaller than the island */
        add(&c->fragmented, STR("island_broken"), prevented, STR(""));
        add(&c->protected, STR("pristine_island"), prevented, STR(""));
        if (size >= 8)
            add(&c->protected, STR("large_island"), prevented, STR(""));
    }
    if (b.taken && b.after == 0)
        add(&c->perfect, size_label(size), links, STR(""));
    if (b.taken && b.after == 0 && !was_whole)
        add(&c->completed, size_label(size), links, STR(""));
}

/* Of the node's GPUs those that are idle on islands that are not. */
static double fragments_of(const struct node_gpus *g)
{
    gpu_mask idle = gpus_idle(g), whole = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (idle >> i & 1 && !(g->island[i] & g->there & ~idle))
            whole |= (gpu_mask)1 << i;
    return 100.0 * __builtin_popcount(idle & ~whole) / __builtin_popcount(g->there);
}

/* How many of the pairs are on one island, in percent. */
static double pairs_joined(const struct node_gpus *g, gpu_mask set)
{
    uint32_t joined = 0, n = (uint32_t)__builtin_popcount(set);
    for (uint32_t i = 0; i < g->n; i++)
        if (set >> i & 1)
            joined += (uint32_t)__builtin_popcount(g->island[i] & set) - 1;
    return 100.0 * joined / (n * (n - 1));
}

static void count_gpus(struct engine *k, const struct pod_row *row, const struct spec *spec,
                       const struct hardware *h)
{
    static const double worth[N_FABRICS] = {30, 30, 30, 30, 80, 100};
    struct placement_counts *c = &k->figures->placements;
    const struct node_gpus *g = k->cluster->nodes.gpus[row->node];
    struct str links = links_of(h, g);
    add(&c->gpu_sources, source_of(h), STR(""), STR(""));
    add(&c->allocated, workload_text(spec), size_label(spec->gpus.count),
        yes_or_no(g && row->gpus));
    if (!g || !(row->gpus & g->there))
        return;
    count_island(k, g, row, links);
    note(&c->fragments, &fragment_bounds, STR("gpu"), fragments_of(g));
    note(&c->island_quality, &island_bounds, links, g->are_joined ? worth[h->links] : 50);
    if (__builtin_popcount(row->gpus) < 2)
        return;
    double quality = pairs_joined(g, row->gpus);
    add(&c->topology, links, yes_or_no(quality >= 100), STR("preferred"));
    note(&c->quality, &quality_bounds, links, quality);
}

/* --- NUMA nodes --- */

static struct str distance_label(const struct numa_zone *zone)
{
    double mean = (double)zone->distance_sum / (double)zone->distances;
    return mean <= 12 ? STR("local") : mean <= 21 ? STR("near") : STR("far");
}

static struct str zone_label(uint32_t id)
{
    static const struct str ids[] = {STR("0"), STR("1"), STR("2"), STR("3"),
                                     STR("4"), STR("5"), STR("6"), STR("7")};
    return id < LEN(ids) ? ids[id] : STR("other");
}

/* The pod lies on one NUMA node, whose use it is a part of. */
static void count_zone(struct placement_counts *c, const struct numa_zone *zone,
                       const struct numa_use *use, const struct numa_need *need)
{
    struct str policy = numa_policy_name(need->policy);
    double filled = zone->cpu_milli ? 100 * (double)use->cpu_milli / (double)zone->cpu_milli : 0;
    note(&c->numa_fit, &quality_bounds, policy, filled);
    if (zone->distances)
        add(&c->distances, distance_label(zone), STR(""), STR(""));
    if (need->gang != SYM_NONE && need->spread == NUMA_SPREAD_PACKED && use->mates > 1)
        add(&c->mates, STR("packed"), zone_label(zone->id), STR(""));
    if (need->gang != SYM_NONE && need->spread == NUMA_SPREAD_ISOLATED && use->pods == 1)
        add(&c->mates, STR("isolated"), zone_label(zone->id), STR(""));
}

static void count_numa(struct engine *k, const struct pod_row *row, const struct spec *spec,
                       const struct hardware *h)
{
    struct placement_counts *c = &k->figures->placements;
    struct numa_need need = numa_need_of(spec, k->cluster->pods.shapes.at[row->shape].namespace);
    if (need.policy <= NUMA_NONE)
        return;
    struct str policy = numa_policy_name(need.policy);
    bool is_one = row->zone && row->zone <= h->n_zones;
    add(&c->numa, policy,
        h->n_zones == 0 ? STR("no_numa_info")
        : is_one        ? STR("single_numa")
                        : STR("cross_numa"),
        workload_text(spec));
    if (h->n_zones == 0)
        return;
    add(&c->topology, STR("numa"), yes_or_no(is_one),
        need.policy >= NUMA_RESTRICTED ? STR("required") : STR("preferred"));
    if (!is_one)
        return;
    struct numa_use used[MOST_ZONES];
    numa_used(k->cluster, (node_id){row->node}, &need, used);
    count_zone(c, &h->zones[row->zone - 1], &used[row->zone - 1], &need);
}

/* --- the face --- */

void engine_count_placed(struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    const struct spec *spec = cluster_spec(k->cluster, pod);
    const struct hardware *h = nodes_hardware(&k->cluster->nodes, (node_id){row->node});
    k->figures->placements.scheduled++;
    if (UNLIKELY(spec->gpus.count))
        count_gpus(k, row, spec, h);
    if (UNLIKELY(spec->wishes.vram_each_bytes || spec->wishes.vram_total_bytes))
        count_vram(k, pods_shape(&k->cluster->pods, pod)->namespace, spec, h);
    if (UNLIKELY(spec->wishes.numa_policy > NUMA_NONE || h->n_zones))
        count_numa(k, row, spec, h);
}

/* Plugins that a configuration brought along may go with it, and their names with them. */
static struct str first_of(uint64_t bits)
{
    uint32_t number = bits ? (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
    return !bits                       ? STR("")
           : number < n_plugins        ? str_of(plugins[number]->name)
           : number == EXTENDER_PLUGIN ? STR("Extender")
                                       : STR("guest");
}

void engine_count_refused(struct engine *k, pod_id pod, uint64_t rejected_by)
{
    struct placement_counts *c = &k->figures->placements;
    const struct spec *spec = cluster_spec(k->cluster, pod);
    struct str plugin = first_of(rejected_by);
    add(&c->attempts, rejected_by ? STR("unschedulable") : STR("error"), plugin, STR(""));
    if (spec->gpus.count)
        add(&c->not_allocated, plugin.n ? plugin : STR("error"), workload_text(spec), STR(""));
    if (spec->wishes.vram_each_bytes || spec->wishes.vram_total_bytes)
        add(&c->vram, STR("refused"), workload_text(spec), STR(""));
}

/* --- the rows --- */

static void put_counts(const label_counts *of, const struct metric_sink *out)
{
    vec_each(of, row)
        metric_put(out, row->labels, (double)row->n);
}

static void put_histograms(const label_histograms *of, const struct metric_sink *out)
{
    vec_each(of, row)
        metric_put_histogram(out, &row->label, &row->h);
}

/* A row that reads one of the counts. */
#define READS(name, put)                                                                           \
    static void read_##name(const void *source, const struct metric_sink *out)                     \
    {                                                                                              \
        const struct engine *k = source;                                                           \
        put(&k->figures->placements.name, out);                                                    \
    }

READS(gpu_sources, put_counts)
READS(allocated, put_counts)
READS(not_allocated, put_counts)
READS(topology, put_counts)
READS(fragmented, put_counts)
READS(protected, put_counts)
READS(perfect, put_counts)
READS(completed, put_counts)
READS(vram, put_counts)
READS(numa, put_counts)
READS(distances, put_counts)
READS(mates, put_counts)
READS(quality, put_histograms)
READS(fragments, put_histograms)
READS(island_quality, put_histograms)
READS(numa_fit, put_histograms)

static void read_attempts(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put(out, (struct str[]){STR("scheduled"), STR("")},
               (double)k->figures->placements.scheduled);
    put_counts(&k->figures->placements.attempts, out);
}

static void read_vram_asked(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->figures->placements.vram_asked, row) {
        struct str namespace = row->namespace == SYM_NONE
                                   ? STR("other")
                                   : names_text(&k->cluster->names, row->namespace);
        metric_put_histogram(out, (struct str[]){namespace, row->workload}, &row->h);
    }
}

void placement_counts_done(struct placement_counts *c)
{
    label_counts *const counts[] = {
        &c->attempts,   &c->gpu_sources, &c->allocated, &c->not_allocated, &c->topology,
        &c->fragmented, &c->protected,   &c->perfect,   &c->completed,     &c->vram,
        &c->numa,       &c->distances,   &c->mates};
    label_histograms *const histograms[] = {&c->quality, &c->fragments, &c->island_quality,
                                            &c->numa_fit};
    for (size_t i = 0; i < LEN(counts); i++)
        vec_done(counts[i]);
    for (size_t i = 0; i < LEN(histograms); i++)
        vec_done(histograms[i]);
    vec_done(&c->vram_asked);
    vec_done(&c->namespaces);
}

const struct metric placement_metrics[] = {
    METRIC("kubenexus_scheduling_attempts_total", COUNTER, "result,plugin", NULL, read_attempts,
           "Decisions about pods: scheduled, unschedulable, error; plugin: the first of those that "
           "refused it, in the order of `kubenexus plugins`."),
    METRIC("kubenexus_vram_placement_decisions_total", COUNTER, "outcome,workload_type,data_source",
           NULL, read_vram,
           "Decisions about pods that ask for GPU memory: placed, refused; data_source: who told "
           "the memory of the node's GPUs."),
    METRIC("kubenexus_vram_requested_bytes", HISTOGRAM, "namespace,workload_type", &vram_bounds,
           read_vram_asked,
           "GPU memory that pods which were placed ask for, of all their GPUs. The first 8 "
           "namespaces, and other."),
    METRIC("kubenexus_topology_decisions_total", COUNTER, "topology_type,success,constraint_type",
           NULL, read_topology,
           "Placements of pods with several GPUs, by what joins the node's GPUs, and of pods that "
           "care about NUMA (numa); success: all of it is on one island, on one NUMA node."),
    METRIC("kubenexus_topology_quality_score", HISTOGRAM, "topology_type", &quality_bounds,
           read_quality, "Of the pairs of a pod's GPUs those on one island, in percent."),
    METRIC("kubenexus_gpu_data_source_usage_total", COUNTER, "source", NULL, read_gpu_sources,
           "Pods with GPUs that were placed, by who told what the node's GPUs are: DRA, GFD, NFD, "
           "manual_labels, model (its name alone), none."),
    METRIC("kubenexus_gpu_allocation_success_total", COUNTER,
           "workload_type,gpu_count,topology_aware", NULL, read_allocated,
           "Pods with GPUs that were placed; gpu_count: at most so many; topology_aware: the GPUs "
           "were chosen one by one."),
    METRIC(
        "kubenexus_gpu_allocation_failures_total", COUNTER, "reason,workload_type", NULL,
        read_not_allocated,
        "Decisions about pods with GPUs that ended without a node; reason: the first plugin that "
        "refused, or error."),
    METRIC("kubenexus_fragmentation_events_total", COUNTER, "event_type,prevented", NULL,
           read_fragmented,
           "Placements on a part of an island (island_broken): it was whole before (prevented "
           "false), or had been started (true)."),
    METRIC(
        "kubenexus_fragmentation_score", HISTOGRAM, "resource_type", &fragment_bounds,
        read_fragments,
        "When a pod with GPUs was placed: the node's GPUs that are idle on islands that are not, "
        "in percent."),
    METRIC("kubenexus_island_protection_events_total", COUNTER, "protection_type,prevented", NULL,
           read_protected,
           "The same as events, of all islands (pristine_island) and of those of 8 GPUs and more "
           "(large_island)."),
    METRIC("kubenexus_perfect_fit_placements_total", COUNTER, "island_size,topology_type", NULL,
           read_perfect,
           "Placements that took all that was idle of an island, by its size: at most "
           "so many GPUs."),
    METRIC("kubenexus_island_completions_total", COUNTER, "island_size,topology_quality", NULL,
           read_completed, "Those of them whose island had been started."),
    METRIC("kubenexus_island_quality_score", HISTOGRAM, "topology_type", &island_bounds,
           read_island_quality,
           "When a pod with GPUs was placed: how its island is joined: 100 NVSwitch, 80 NVLink, 50 "
           "PCIe alone, 30 nobody tells."),
    METRIC("kubenexus_numa_placement_decisions_total", COUNTER, "policy,outcome,workload_type",
           NULL, read_numa,
           "Placements of pods that care about NUMA: single_numa, cross_numa, no_numa_info."),
    METRIC(
        "kubenexus_numa_fit_quality_score", HISTOGRAM, "policy", &quality_bounds, read_numa_fit,
        "When a pod was placed on one NUMA node: how much of its CPU is in use then, in percent."),
    METRIC("kubenexus_numa_distance_penalty_total", COUNTER, "distance_level", NULL, read_distances,
           "Placements on one NUMA node, by its mean distance to the others: local (to 12), near "
           "(to 21), far."),
    METRIC("kubenexus_numa_gang_affinity_success_total", COUNTER, "gang_policy,numa_id", NULL,
           read_mates,
           "Members of gangs that lie on a NUMA node as they asked: packed with another one, or "
           "isolated."),
};
const uint32_t n_placement_metrics = LEN(placement_metrics);
