#include "core/model/wishes.h"

static const struct str policies[] = {
    [NUMA_UNSAID] = STR("unsaid"),           [NUMA_NONE] = STR("none"),
    [NUMA_BEST_EFFORT] = STR("best-effort"), [NUMA_RESTRICTED] = STR("restricted"),
    [NUMA_SINGLE] = STR("single-numa-node"), [NUMA_ISOLATED] = STR("isolated"),
};

static const struct {
    struct str name;
    enum fabric fabric;
} fabrics[] = {
    {STR("ethernet"), FABRIC_ETHERNET},
    {STR("roce"), FABRIC_ROCE},
    {STR("infiniband"), FABRIC_INFINIBAND},
    {STR("nvlink"), FABRIC_NVLINK},
    {STR("nvswitch"), FABRIC_NVSWITCH},
    {STR("eth"), FABRIC_ETHERNET},
    {STR("rdma"), FABRIC_ROCE},
    {STR("ib"), FABRIC_INFINIBAND},
};

enum fabric fabric_of(struct str name)
{
    for (size_t i = 0; i < LEN(fabrics); i++)
        if (word_find(name, &fabrics[i].name, 1) == 0)
            return fabrics[i].fabric;
    return FABRIC_UNKNOWN;
}

struct str fabric_name(enum fabric fabric)
{
    return fabric == FABRIC_UNKNOWN ? STR("unknown") : fabrics[fabric - FABRIC_ETHERNET].name;
}

struct str numa_policy_name(enum numa_policy policy)
{
    return policies[policy];
}

/* A policy that nobody knows is taken for best effort, and told. */
static bool read_policy(struct str value, struct wishes *out)
{
    static const struct str older = STR("single-numa");
    uint32_t policy =
        word_find(value, &older, 1) == 0 ? NUMA_SINGLE : word_find(value, policies, LEN(policies));
    bool is_known = policy != NUMA_UNSAID && policy < LEN(policies);
    out->numa_policy = (uint8_t)(is_known ? policy : NUMA_BEST_EFFORT);
    return is_known;
}

/* The next piece of a list with commas, without blanks around it. */
static struct str next_item(struct str *rest)
{
    struct str item = str_take(rest, ',');
    while (item.n && item.p[0] == ' ')
        item = str_part(item, 1, item.n);
    while (item.n && item.p[item.n - 1] == ' ')
        item.n--;
    return item;
}

static bool read_resources(struct str value, struct wishes *out)
{
    static const struct str names[] = {STR("cpu"), STR("memory")};
    uint8_t all = 0;
    while (value.n) {
        struct str item = next_item(&value);
        uint32_t which = word_find(item, names, LEN(names));
        bool is_device = str_find(item, '/') < item.n;
        if (which == LEN(names) && !is_device)
            return false;
        all |= (uint8_t)(is_device ? NUMA_GPU : which ? NUMA_MEMORY : NUMA_CPU);
    }
    out->numa_resources = all;
    return all != 0;
}

static bool read_ids(struct str value, uint64_t *out)
{
    uint64_t ids = 0;
    while (value.n) {
        int64_t id;
        if (!str_int(next_item(&value), &id) || id < 0)
            return false;
        if (id < 64) /* ids that no host has are ignored, as those that this host has not */
            ids |= (uint64_t)1 << id;
    }
    *out = ids;
    return true;
}

static bool read_numa_spread(struct str value, struct wishes *out)
{
    static const struct str names[] = {[NUMA_SPREAD_PACKED] = STR("packed"),
                                       [NUMA_SPREAD_BALANCED] = STR("balanced"),
                                       [NUMA_SPREAD_ISOLATED] = STR("isolated")};
    uint32_t which = word_find(value, names, LEN(names));
    out->numa_spread = (uint8_t)(which < LEN(names) ? which : NUMA_SPREAD_PACKED);
    return which < LEN(names);
}

static bool read_distance(struct str value, struct wishes *out)
{
    int64_t weight;
    if (!str_int(value, &weight) || weight < 0 || weight > 100)
        return false;
    out->numa_distance = (uint8_t)(weight + 1);
    return true;
}

static bool read_yes(struct str value, uint8_t *out)
{
    bool is_yes;
    if (!text_bool(value, &is_yes))
        return false;
    *out = is_yes ? WISH_YES : WISH_NO;
    return true;
}

static bool read_bytes(struct str value, int64_t *out)
{
    struct quantity q;
    if (!quantity_parse(value, &q) || q.nano <= 0)
        return false;
    *out = quantity_value(q);
    return *out > 0;
}

/* "80Gi": of each GPU. "total=640Gi", "80Gi*8": of all together. */
static bool read_vram(struct str value, struct wishes *out)
{
    static const struct str total = STR("total=");
    size_t star = str_find(value, '*');
    int64_t each, count;
    if (str_starts(value, total))
        return read_bytes(str_part(value, total.n, value.n), &out->vram_total_bytes);
    if (star == value.n)
        return read_bytes(value, &out->vram_each_bytes);
    if (!read_bytes(str_part(value, 0, star), &each) ||
        !str_int(str_part(value, star + 1, value.n), &count) || count < 1 ||
        __builtin_mul_overflow(each, count, &each))
        return false;
    out->vram_total_bytes = each;
    return true;
}

static bool read_fabric(struct str value, struct wishes *out)
{
    out->min_fabric = (uint8_t)fabric_of(value);
    return out->min_fabric != FABRIC_UNKNOWN;
}

static bool read_co_locate(struct str value, struct wishes *out)
{
    static const struct str words[] = {STR("none"), STR("preferred"), STR("strict")};
    uint32_t which = word_find(value, words, LEN(words));
    if (which == LEN(words))
        return false;
    out->co_locate = (uint8_t)MAX(out->co_locate, CO_LOCATE_NONE + which);
    return true;
}

static bool read_clique(struct str value, struct wishes *out)
{
    bool is_required;
    if (!text_bool(value, &is_required))
        return false;
    if (is_required)
        out->co_locate = CO_LOCATE_CLIQUE;
    return true;
}

static bool read_one(enum pod_meaning meaning, struct str value, struct wishes *out)
{
    switch (meaning) {
    case MEANS_SPREAD_ZONES:
        return read_yes(value, &out->spread_zones);
    case MEANS_NUMA_POLICY:
        return read_policy(value, out);
    case MEANS_NUMA_RESOURCES:
        return read_resources(value, out);
    case MEANS_NUMA_IDS:
        return read_ids(value, &out->numa_ids);
    case MEANS_NUMA_ANTI_IDS:
        return read_ids(value, &out->numa_anti_ids);
    case MEANS_NUMA_SPREAD:
        return read_numa_spread(value, out);
    case MEANS_NUMA_DISTANCE:
        return read_distance(value, out);
    case MEANS_MEMORY_INTENSIVE:
        return read_yes(value, &out->memory_intensive);
    case MEANS_VRAM:
        return read_vram(value, out);
    case MEANS_MIN_FABRIC:
        return read_fabric(value, out);
    case MEANS_NETWORK_SENSITIVE:
        return read_yes(value, &out->network_sensitive);
    case MEANS_CO_LOCATE:
        return read_co_locate(value, out);
    case MEANS_REQUIRE_CLIQUE:
        return read_clique(value, out);
    default: /* who and what: not ours */
        return true;
    }
}

struct wishes pod_wishes(const struct pod_said *said, struct misreads *misread)
{
    struct wishes out = {0};
    for (uint32_t i = MEANS_SPREAD_ZONES; i < N_MEANINGS; i++)
        if (pod_says(said, i) && !read_one(i, said->by[i].value, &out))
            misread_add(misread, &said->by[i]);
    return out;
}
