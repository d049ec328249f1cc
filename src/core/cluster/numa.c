#include "core/cluster/numa.h"

#include "core/cluster/cluster.h"
#include "core/cluster/gpu_sets.h"
#include "core/cluster/kubelet.h"

static const int64_t gibibyte = 1LL << 30;

/* Sums of absurd requests must not leave the range. */
static int64_t sane(int64_t amount)
{
    return MIN(MAX(amount, 0), 1LL << 50);
}

/* By its word, or more than 16 GiB at more than 4 GiB a core. */
static bool is_intensive(const struct spec *spec)
{
    if (spec->wishes.memory_intensive != WISH_NONE)
        return spec->wishes.memory_intensive == WISH_YES;
    int64_t memory = spec->ask.memory;
    return memory > 16 * gibibyte &&
           (double)memory * 1000 > 4.0 * (double)gibibyte * (double)spec->ask.cpu_milli;
}

/* Training and batch work that uses GPUs or much memory gains from one zone, but can do without. */
static enum numa_policy policy_of(const struct spec *spec, bool intensive)
{
    bool gains =
        (spec->class.workload == WORKLOAD_BATCH || spec->class.workload == WORKLOAD_TRAINING) &&
        (spec->accelerators || intensive);
    if (spec->wishes.numa_policy != NUMA_UNSAID)
        return spec->wishes.numa_policy;
    return gains ? NUMA_BEST_EFFORT : NUMA_NONE;
}

struct numa_need numa_need_of(const struct spec *spec, sym namespace)
{
    bool intensive = is_intensive(spec);
    uint8_t resources = spec->wishes.numa_resources ? spec->wishes.numa_resources : NUMA_ALL;
    return (struct numa_need){
        .cpu_milli = (sane(spec->ask.cpu_milli) + 999) / 1000 * 1000,
        .memory = sane(spec->ask.memory),
        .gpus = sane(spec->accelerators),
        .ids = spec->wishes.numa_ids,
        .anti_ids = spec->wishes.numa_anti_ids,
        .policy = policy_of(spec, intensive),
        .resources = resources,
        .is_intensive = intensive,
        .spread = spec->wishes.numa_spread,
        .gang = spec->numa_gang,
        .namespace = namespace,
    };
}

/* --- what is in use --- */

static void use_zone(struct numa_use *use, const struct numa_need *by, const struct numa_need *who)
{
    use->cpu_milli += by->cpu_milli;
    use->memory += by->memory;
    use->gpus += by->gpus;
    use->intensive_memory += by->is_intensive ? by->memory : 0;
    use->pods++;
    use->mates += by->gang != SYM_NONE && by->gang == who->gang && by->namespace == who->namespace;
    use->is_closed |= by->policy == NUMA_ISOLATED;
}

/* A part of `whole` of `all`, in proportion. */
static int64_t part(int64_t amount, int64_t of, int64_t all)
{
    return all > 0 ? (int64_t)((__int128)amount * of / all) : 0;
}

static void use_all(const struct hardware *h, struct numa_use *uses, const struct spec *spec,
                    bool knows_gpus)
{
    int64_t cpus = 0, memory = 0, gpus = 0;
    for (uint32_t i = 0; i < h->n_zones; i++) {
        cpus += h->zones[i].cpu_milli;
        memory += h->zones[i].memory;
        gpus += h->zones[i].gpus;
    }
    for (uint32_t i = 0; i < h->n_zones; i++) {
        uses[i].cpu_milli += part(sane(spec->hold.cpu_milli), h->zones[i].cpu_milli, cpus);
        uses[i].memory += part(sane(spec->hold.memory), h->zones[i].memory, memory);
        uses[i].gpus += knows_gpus ? 0 : part(sane(spec->accelerators), h->zones[i].gpus, gpus);
    }
}

/* The GPUs that a pod has are where they sit, wherever its zone is. False: nobody tells. */
static bool use_gpus(const struct cluster *c, node_id node, const struct pod_row *row,
                     struct numa_use *uses)
{
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    const struct node_gpus *g = c->nodes.gpus[node.i];
    if (!g || !h->knows_gpu_zones || row->gpus & ~g->there)
        return false;
    for (uint32_t i = 0; i < g->n; i++)
        if (row->gpus >> i & 1 && g->zone[i] && g->zone[i] <= h->n_zones)
            uses[g->zone[i] - 1].gpus++;
    return row->gpus;
}

/* What the node reports counts if it speaks of the pods that are there; else it is the least. */
static void reconcile(const struct cluster *c, node_id node, const struct numa_report *report,
                      struct numa_use *uses)
{
    bool is_exact =
        report->has_fingerprint && report->fingerprint == numa_reports_fingerprint(c, node, report);
    for (uint32_t i = 0; i < report->n_zones; i++) {
        const struct zone_report *zone = &report->zones[i];
        struct numa_use *use = &uses[i];
        use->cpu_milli = is_exact ? zone->cpu_used : MAX(use->cpu_milli, zone->cpu_used);
        use->memory = is_exact ? zone->memory_used : MAX(use->memory, zone->memory_used);
        if (report->knows_gpus)
            use->gpus = is_exact ? zone->gpus_used : MAX(use->gpus, zone->gpus_used);
    }
}

void numa_used(const struct cluster *c, node_id node, const struct numa_need *need,
               struct numa_use *out)
{
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    memset(out, 0, h->n_zones * sizeof(*out));
    for (uint32_t p = c->nodes.first_pod[node.i]; p != ID_NONE; p = c->pods.rows.at[p].after) {
        const struct pod_row *row = &c->pods.rows.at[p];
        const struct shape *shape = &c->pods.shapes.at[row->shape];
        const struct spec *spec = specs_at(&c->specs, shape->spec);
        struct numa_need by = numa_need_of(spec, shape->namespace);
        bool knows_gpus = use_gpus(c, node, row, out);
        by.gpus = knows_gpus ? 0 : by.gpus;
        if (row->zone && row->zone <= h->n_zones)
            use_zone(&out[row->zone - 1], &by, need);
        else
            use_all(h, out, spec, knows_gpus);
    }
    const struct numa_report *report = numa_reports_find(c, node);
    if (report && report->n_zones == h->n_zones)
        reconcile(c, node, report, out);
}

/* --- what fits --- */

static bool has_room(const struct numa_zone *has, const struct numa_use *used, bool counts_gpus,
                     const struct numa_need *need)
{
    uint8_t asks = need->resources;
    return (!(asks & NUMA_CPU) || need->cpu_milli <= has->cpu_milli - used->cpu_milli) &&
           (!(asks & NUMA_MEMORY) || need->memory <= has->memory - used->memory) &&
           (!(asks & NUMA_GPU) || !counts_gpus || need->gpus <= has->gpus - used->gpus);
}

static bool is_barred(const struct numa_need *need, uint32_t zone)
{
    return need->anti_ids >> zone & 1;
}

bool numa_fits(const struct hardware *h, uint32_t zone, const struct numa_use *used,
               const struct numa_need *need)
{
    if (is_barred(need, zone) || used[zone].is_closed ||
        (need->policy == NUMA_ISOLATED && used[zone].pods))
        return false;
    return has_room(&h->zones[zone], &used[zone], h->knows_gpu_zones, need);
}

/* The zones of a set taken together. */
static void add_up(const struct hardware *h, const struct numa_use *used, uint32_t set,
                   struct numa_zone *has, struct numa_use *sum)
{
    *has = (struct numa_zone){0};
    *sum = (struct numa_use){0};
    for (uint32_t i = 0; i < h->n_zones; i++) {
        if (!(set >> i & 1))
            continue;
        has->cpu_milli += h->zones[i].cpu_milli;
        has->memory += h->zones[i].memory;
        has->gpus += h->zones[i].gpus;
        sum->cpu_milli += used ? used[i].cpu_milli : 0;
        sum->memory += used ? used[i].memory : 0;
        sum->gpus += used ? used[i].gpus : 0;
    }
}

uint32_t numa_width(const struct hardware *h, const struct numa_use *used,
                    const struct numa_need *need)
{
    uint32_t least = 0, closed = 0;
    for (uint32_t i = 0; i < h->n_zones; i++)
        closed |= (uint32_t)(is_barred(need, i) || (used && used[i].is_closed)) << i;
    for (uint32_t set = 1; set < 1u << h->n_zones; set++) {
        uint32_t width = (uint32_t)__builtin_popcount(set);
        struct numa_zone has;
        struct numa_use sum;
        if (set & closed || (least && width >= least))
            continue;
        add_up(h, used, set, &has, &sum);
        if (has_room(&has, &sum, h->knows_gpu_zones, need))
            least = width;
    }
    return least;
}

/* --- which zone a pod gets --- */

/* How much a pod would like the zone beside its number: what it asks for, then its gang. */
static int64_t liking(const struct numa_need *need, uint32_t zone, const struct numa_use *used,
                      bool has_gpus)
{
    int64_t mates = need->spread == NUMA_SPREAD_PACKED ? used->mates : -(int64_t)used->mates;
    return ((int64_t)(need->ids >> zone & 1) << 32) + 2 * mates + has_gpus;
}

/* The GPUs that sit there, where that is told. */
static gpu_mask gpus_of(const struct cluster *c, node_id node, uint32_t zone)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    gpu_mask there = 0;
    for (uint32_t i = 0; g && i < g->n; i++)
        there |= (gpu_mask)(g->zone[i] == zone + 1) << i;
    return there;
}

gpu_mask numa_move_gpus(const struct cluster *c, node_id node, uint32_t zone, gpu_mask gpus,
                        struct gpu_ask ask)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    if (!zone || !gpus || !g)
        return gpus;
    gpu_mask there = gpus_of(c, node, zone - 1), with = gpus_with(g, ask) & there;
    if (!(gpus & ~there) || (uint32_t)__builtin_popcount(with) < ask.count)
        return gpus;
    return gpu_sets_best(g, with, ask.count);
}

uint32_t numa_zone_of(const struct cluster *c, const struct shape *shape, node_id node,
                      gpu_mask gpus)
{
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    if (h->n_zones == 0)
        return 0;
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    struct numa_need need = numa_need_of(spec, shape->namespace);
    if (need.policy <= NUMA_NONE && (h->kubelet_policy <= NUMA_NONE || spec->n_pinned == 0))
        return 0;
    struct numa_use used[MOST_ZONES];
    numa_used(c, node, &need, used);
    if (need.policy <= NUMA_NONE)
        return kubelet_zone_of(h, spec, used);
    uint32_t best = MOST_ZONES;
    int64_t most = INT64_MIN;
    for (uint32_t i = 0; i < h->n_zones; i++) {
        bool has_gpus = gpus && !(gpus & ~gpus_of(c, node, i));
        int64_t likes = liking(&need, i, &used[i], has_gpus);
        if (numa_fits(h, i, used, &need) && likes > most) {
            best = i;
            most = likes;
        }
    }
    return best == MOST_ZONES ? 0 : best + 1;
}

/* The newest pod is the first of the list: back from its end. */
void numa_zone_all(struct cluster *c, node_id node)
{
    struct pod_row *rows = c->pods.rows.at;
    uint32_t last = ID_NONE;
    for (uint32_t p = c->nodes.first_pod[node.i]; p != ID_NONE; p = rows[p].after) {
        if (!(rows[p].flags & POD_ZONE_TOLD))
            rows[p].zone = 0;
        last = p;
    }
    uint32_t first = c->nodes.first_pod[node.i];
    for (uint32_t p = last; p != ID_NONE; p = rows[p].before) {
        c->nodes.first_pod[node.i] = rows[p].after; /* those who came before it are there */
        if (!(rows[p].flags & POD_ZONE_TOLD))
            rows[p].zone =
                (uint8_t)numa_zone_of(c, &c->pods.shapes.at[rows[p].shape], node, rows[p].gpus);
    }
    c->nodes.first_pod[node.i] = first;
}
