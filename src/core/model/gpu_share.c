#include "core/model/gpu_share.h"

enum { COUNT_MOST = 32 };

static struct str wrong(struct arena *mem, const char *where, struct str key, struct str value,
                        const char *what)
{
    return arena_printf(mem, "%s " STR_FMT ": \"" STR_FMT "\" %s", where, STR_ARG(key),
                        STR_ARG(str_part(value, 0, 40)), what);
}

/* --- annotations --- */

/* The first of the annotations that the pod has; {0} if it has none. */
static struct pair annotation(const struct pod *pod, const struct str *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        list_each(&pod->meta.annotations, pair)
            if (str_equal(pair->key, keys[i]))
                return *pair;
    return (struct pair){0};
}

/* MiB: KAI means them by a plain number, we a quantity of bytes. 0: neither. */
static uint32_t memory_of(struct pair said)
{
    struct quantity q;
    int64_t mib;
    if (str_equal(said.key, STR("gpu-memory")) && str_int(said.value, &mib))
        return mib > 0 && mib <= UINT32_MAX ? (uint32_t)mib : 0;
    if (!quantity_parse(said.value, &q) || q.nano <= 0)
        return 0;
    int64_t bytes = quantity_value(q);
    return (uint32_t)MIN(bytes / (1 << 20) + (bytes % (1 << 20) > 0), (int64_t)UINT32_MAX);
}

/* As KAI has it: 0 < fraction < 1, or memory. */
static struct gpu_share read_notes(const struct pod *pod, uint32_t whole, struct arena *mem)
{
    static const struct str fractions[] = {STR("scheduling.kubenexus.io/gpu-fraction"),
                                           STR("gpu-fraction")};
    static const struct str memories[] = {STR("scheduling.kubenexus.io/gpu-memory"),
                                          STR("gpu-memory")};
    static const struct str counts[] = {STR("gpu-fraction-num-devices")};
    struct pair fraction = annotation(pod, fractions, LEN(fractions));
    struct pair memory = annotation(pod, memories, LEN(memories));
    struct pair count = annotation(pod, counts, LEN(counts));
    struct pair at = fraction.key.n ? fraction : memory;
    struct gpu_share out = {0};
    struct quantity q;
    int64_t devices = 1;
#define WRONG(pair, what) wrong(mem, "annotation", (pair).key, (pair).value, what)
    if (!at.key.n)
        return out;
    if (fraction.key.n && (!quantity_parse(fraction.value, &q) || q.nano <= 0 ||
                           quantity_milli(q) >= GPU_SHARE_WHOLE))
        out.error = WRONG(fraction, "is not a number above 0 and below 1");
    else if (memory.key.n && !memory_of(memory))
        out.error = WRONG(memory, "is not an amount of memory");
    else if (count.key.n &&
             (!str_int(count.value, &devices) || devices < 1 || devices > COUNT_MOST))
        out.error = WRONG(count, "is not a number of GPUs");
    else if (whole)
        out.error = WRONG(at, "stands beside a request for whole GPUs");
    else
        out = (struct gpu_share){.count = (uint32_t)devices,
                                 .milli = fraction.key.n ? (uint32_t)quantity_milli(q) : 0,
                                 .mib = memory.key.n ? memory_of(memory) : 0};
#undef WRONG
    return out;
}

/* --- resources --- */

enum part { PART_COUNT, PART_MEMORY, PART_MEMORY_PERCENT, PART_CORES, N_PARTS };

static const struct {
    struct str name;
    enum part part;
} resources[] = {
    {STR("nvidia.com/gpumem"), PART_MEMORY},
    {STR("nvidia.com/gpumem-percentage"), PART_MEMORY_PERCENT},
    {STR("nvidia.com/gpucores"), PART_CORES},
    {STR("volcano.sh/vgpu-number"), PART_COUNT},
    {STR("volcano.sh/vgpu-memory"), PART_MEMORY},
    {STR("volcano.sh/vgpu-memory-percentage"), PART_MEMORY_PERCENT},
    {STR("volcano.sh/vgpu-cores"), PART_CORES},
    {STR("volcano.sh/gpu-number"), PART_COUNT},
    {STR("volcano.sh/gpu-memory"), PART_MEMORY},
};

/* GPUs of all containers; of what holds for each GPU, the most that one of them asks for. */
static bool add_up(const amount_list *from, int64_t *parts)
{
    bool has_any = false;
    list_each(from, amount)
        for (size_t i = 0; i < LEN(resources); i++) {
            if (!str_equal(amount->name, resources[i].name))
                continue;
            int64_t n = MIN(MAX(quantity_value(amount->quantity), (int64_t)0), (int64_t)UINT32_MAX);
            int64_t *part = &parts[resources[i].part];
            *part = resources[i].part == PART_COUNT ? *part + n : MAX(*part, n);
            has_any |= n > 0;
        }
    return has_any;
}

/* As HAMi and Volcano have it. */
static struct gpu_share read_resources(const struct pod *pod, uint32_t whole)
{
    int64_t parts[N_PARTS] = {0};
    bool has_any = false;
    list_each(&pod->spec.containers, container)
        has_any |= add_up(container->resources.limits.n ? &container->resources.limits
                                                        : &container->resources.requests,
                          parts);
    if (LIKELY(!has_any))
        return (struct gpu_share){0};
    int64_t percent = MIN(MAX(parts[PART_MEMORY_PERCENT], parts[PART_CORES]), (int64_t)100);
    int64_t count = parts[PART_COUNT] ? parts[PART_COUNT] : whole ? whole : 1;
    bool is_whole = !percent && !parts[PART_MEMORY];
    return (struct gpu_share){.count = (uint32_t)MIN(count, (int64_t)UINT32_MAX),
                              .milli = is_whole ? GPU_SHARE_WHOLE : (uint32_t)percent * 10,
                              .mib = (uint32_t)parts[PART_MEMORY]};
}

struct gpu_share gpu_share_read(const struct pod *pod, uint32_t whole, struct arena *mem)
{
    struct gpu_share noted =
        pod->meta.annotations.n ? read_notes(pod, whole, mem) : (struct gpu_share){0};
    return noted.count || noted.error.n ? noted : read_resources(pod, whole);
}
