#include "core/cluster/kubelet.h"

#include "core/cluster/spec.h"

static const uint8_t kinds[] = {NUMA_CPU, NUMA_MEMORY, NUMA_GPU};

enum { MOST_SETS = 1 << MOST_ZONES };

static int64_t wanted(const struct pinned_ask *ask, uint8_t kind)
{
    return kind == NUMA_CPU ? ask->cpu_milli : kind == NUMA_MEMORY ? ask->memory : ask->gpus;
}

/* What the zones have of it together; with `used` NULL, on an empty host. */
static int64_t room(const struct hardware *h, const struct numa_use *used, uint32_t set,
                    uint8_t kind)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < h->n_zones; i++) {
        const struct numa_zone *has = &h->zones[i];
        if (!(set >> i & 1))
            continue;
        sum += kind == NUMA_CPU ? has->cpu_milli : kind == NUMA_MEMORY ? has->memory : has->gpus;
        if (used)
            sum -= kind == NUMA_CPU      ? used[i].cpu_milli
                   : kind == NUMA_MEMORY ? used[i].memory
                                         : used[i].gpus;
    }
    return sum;
}

static uint32_t width_of(uint32_t set)
{
    return (uint32_t)__builtin_popcount(set);
}

/* How many zones an empty host needs for it; more than there are: all do not suffice. */
static uint32_t least_width(const struct hardware *h, uint8_t kind, int64_t amount)
{
    uint32_t least = MOST_ZONES + 1;
    for (uint32_t set = 1; set < 1u << h->n_zones; set++)
        if (width_of(set) < least && room(h, NULL, set, kind) >= amount)
            least = width_of(set);
    return least;
}

/* What a set that could hold this kind has in common with what was reached so far. */
static void merge(const struct hardware *h, const struct numa_use *used, uint32_t closed,
                  const struct pinned_ask *ask, uint8_t kind, bool *reached)
{
    bool next[MOST_SETS] = {0};
    uint32_t least = least_width(h, kind, wanted(ask, kind));
    uint32_t width = h->kubelet_policy == NUMA_SINGLE ? 1 : least;
    for (uint32_t set = 1; set < 1u << h->n_zones; set++) {
        if (width_of(set) != width || set & closed || room(h, used, set, kind) < wanted(ask, kind))
            continue;
        for (uint32_t old = 1; old < 1u << h->n_zones; old++)
            next[old & set] |= reached[old];
    }
    next[0] = false;
    memcpy(reached, next, sizeof(next));
}

static bool is_pinned(const struct hardware *h, const struct pinned_ask *ask, uint8_t kind)
{
    return ask->resources & kind && wanted(ask, kind) > 0 &&
           (kind != NUMA_GPU || h->knows_gpu_zones);
}

uint32_t kubelet_align(const struct hardware *h, const struct numa_use *used,
                       const struct pinned_ask *ask)
{
    bool reached[MOST_SETS] = {0};
    uint32_t all = (1u << h->n_zones) - 1, closed = 0, best = 0;
    for (uint32_t i = 0; i < h->n_zones; i++)
        closed |= (uint32_t)used[i].is_closed << i;
    reached[all] = true;
    for (size_t i = 0; i < LEN(kinds); i++)
        if (is_pinned(h, ask, kinds[i]))
            merge(h, used, closed, ask, kinds[i], reached);
    for (uint32_t set = all; set > 0; set--)
        if (reached[set] && (!best || width_of(set) <= width_of(best)))
            best = set;
    return best;
}

/* From the zones that it is aligned to first, then from the others. */
static void charge(const struct hardware *h, struct numa_use *used, uint32_t set,
                   const struct pinned_ask *ask)
{
    int64_t cpu = ask->cpu_milli, memory = ask->memory, gpus = ask->gpus;
    for (uint32_t i = 0; i < 2 * h->n_zones; i++) {
        uint32_t zone = i % h->n_zones;
        if ((set >> zone & 1) != (i < h->n_zones))
            continue;
        const struct numa_zone *has = &h->zones[zone];
        struct numa_use *use = &used[zone];
        int64_t part = MIN(cpu, MAX(has->cpu_milli - use->cpu_milli, (int64_t)0));
        use->cpu_milli += part;
        cpu -= part;
        part = MIN(memory, MAX(has->memory - use->memory, (int64_t)0));
        use->memory += part;
        memory -= part;
        part = MIN(gpus, MAX(has->gpus - use->gpus, (int64_t)0));
        use->gpus += part;
        gpus -= part;
    }
}

/* All containers as one: those that stay, or one that comes before them beside its sidecars. */
static struct pinned_ask whole_pod(const struct spec *spec)
{
    struct pinned_ask sum = {0}, most = {0};
    for (uint32_t i = 0; i < spec->n_pinned; i++) {
        const struct pinned_ask *ask = &spec->pinned[i];
        most.cpu_milli = MAX(most.cpu_milli, sum.cpu_milli + ask->cpu_milli);
        most.memory = MAX(most.memory, sum.memory + ask->memory);
        most.gpus = MAX(most.gpus, sum.gpus + ask->gpus);
        most.resources |= ask->resources;
        if (ask->is_short_lived)
            continue;
        sum.cpu_milli += ask->cpu_milli;
        sum.memory += ask->memory;
        sum.gpus += ask->gpus;
    }
    return most;
}

/* Aligns one after the other; `zones` receives what they were aligned to, together. */
static bool align_all(const struct hardware *h, const struct spec *spec,
                      const struct numa_use *used, uint32_t *zones)
{
    struct numa_use now[MOST_ZONES];
    struct pinned_ask whole = whole_pod(spec);
    uint32_t n = h->kubelet_sees_pods ? 1 : spec->n_pinned;
    memcpy(now, used, h->n_zones * sizeof(*now));
    *zones = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct pinned_ask *ask = h->kubelet_sees_pods ? &whole : &spec->pinned[i];
        uint32_t set = kubelet_align(h, now, ask);
        if (!set)
            return false;
        if (ask->is_short_lived)
            continue;
        charge(h, now, set, ask);
        *zones |= set;
    }
    return true;
}

enum kubelet_verdict kubelet_judge(const struct hardware *h, const struct spec *spec,
                                   const struct numa_use *used)
{
    static const struct numa_use empty[MOST_ZONES];
    uint32_t zones;
    if (h->kubelet_policy < NUMA_RESTRICTED || spec->n_pinned == 0 || h->n_zones < 2 ||
        align_all(h, spec, used, &zones))
        return KUBELET_ADMITS;
    return align_all(h, spec, empty, &zones) ? KUBELET_IS_FULL : KUBELET_IS_TOO_SMALL;
}

uint32_t kubelet_zone_of(const struct hardware *h, const struct spec *spec,
                         const struct numa_use *used)
{
    uint32_t zones;
    if (h->kubelet_policy < NUMA_BEST_EFFORT || spec->n_pinned == 0 || h->n_zones == 0 ||
        !align_all(h, spec, used, &zones) || width_of(zones) != 1)
        return 0;
    return (uint32_t)__builtin_ctz(zones) + 1;
}
