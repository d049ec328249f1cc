#include "core/model/hardware.h"

#include "core/model/our_keys.h"

static const struct {
    struct str word;
    int64_t gib;
    enum hardware_tier tier;
} models[] = {
#define MODEL(word, gib, tier) {STR(word), gib, HARDWARE_##tier},
#define PCI(id, product)
#include "core/model/gpu_models.def"
#undef MODEL
#undef PCI
};

static const struct {
    struct str id, product;
} pci_ids[] = {
#define MODEL(word, gib, tier)
#define PCI(id, product) {STR(id), STR(product)},
#include "core/model/gpu_models.def"
#undef MODEL
#undef PCI
};

static const struct str sources[N_VRAM_SOURCES] = {
    [VRAM_UNKNOWN] = STR("unknown"),
    [VRAM_DRA] = STR("DRA"),
    [VRAM_GFD] = STR("GFD"),
    [VRAM_NFD] = STR("NFD"),
    [VRAM_LABEL] = STR("manual_labels"),
    [VRAM_MODEL] = STR("model"),
};

static const struct str tiers[] = {
    [HARDWARE_NONE] = STR("unknown"),
    [HARDWARE_ECONOMY] = STR("economy"),
    [HARDWARE_STANDARD] = STR("standard"),
    [HARDWARE_PREMIUM] = STR("premium"),
};

struct str vram_source_name(enum vram_source source)
{
    return sources[source];
}

struct str hardware_tier_name(enum hardware_tier tier)
{
    return tiers[tier];
}

/* --- what the labels say, by meaning --- */

enum node_meaning {
    NODE_VRAM,
    NODE_MODEL,
    NODE_GPU_COUNT,
    NODE_GPU_LINKS,
    NODE_HAS_NVLINK,
    NODE_TIER,
    NODE_COST,
    NODE_RESERVED,
    NODE_FABRIC,
    NODE_ZONES,
    NODE_GFD_MEMORY,
    NODE_AMD_MEMORY,
    NODE_PRODUCT,
    N_NODE_MEANINGS,
};

/* Of two with one meaning the first one counts. */
static const struct {
    struct str key;
    enum node_meaning meaning;
} keys[] = {
    {STR("gpu.kubenexus.io/vram"), NODE_VRAM},
    {STR("gpu.kubenexus.io/model"), NODE_MODEL},
    {STR("gpu.kubenexus.io/count"), NODE_GPU_COUNT},
    {STR("nvidia.com/gpu.count"), NODE_GPU_COUNT},
    {STR("gpu.kubenexus.io/topology"), NODE_GPU_LINKS},
    {STR("topology.kubenexus.io/gpu"), NODE_GPU_LINKS},
    {STR("nvidia.com/gpu.topology"), NODE_GPU_LINKS},
    {STR("topology.nvidia.com/nvlink"), NODE_HAS_NVLINK},
    {STR("nvidia.com/nvlink"), NODE_HAS_NVLINK},
    {STR("hardware.kubenexus.io/tier"), NODE_TIER},
    {STR("hardware.kubenexus.io/gpu-tier"), NODE_TIER},
    {STR("hardware.kubenexus.io/cost-hour"), NODE_COST},
    {STR("tenant.kubenexus.io/reserved-tier"), NODE_RESERVED},
    {STR("network.kubenexus.io/fabric-type"), NODE_FABRIC},
    {STR("fabric.kubenexus.io/type"), NODE_FABRIC},
    {STR("network.kubenexus.io/fabric"), NODE_FABRIC},
    {STR("numa.kubenexus.io/node-count"), NODE_ZONES},
    {STR("topology.kubenexus.io/numa-nodes"), NODE_ZONES},
    {STR("nvidia.com/gpu.memory"), NODE_GFD_MEMORY},
    {STR("amd.com/gpu.vram"), NODE_AMD_MEMORY},
    {STR("nvidia.com/gpu.product"), NODE_PRODUCT},
    {STR("amd.com/gpu.product-name"), NODE_PRODUCT},
    {STR("hardware.kubenexus.io/gpu-model"), NODE_MODEL},
    {STR("cloud.google.com/gke-accelerator"), NODE_PRODUCT},
};

/* What a value of each meaning may be. */
static const struct str expected[N_NODE_MEANINGS] = {
    [NODE_VRAM] = STR("an amount of memory, such as 80Gi"),
    [NODE_GPU_COUNT] = STR("a number from 0 to 1024"),
    [NODE_GPU_LINKS] = STR("nvswitch, nvlink or pcie"),
    [NODE_HAS_NVLINK] = STR("true or false"),
    [NODE_TIER] = STR("premium, standard or economy"),
    [NODE_COST] = STR("a price, such as 9.80"),
    [NODE_RESERVED] = STR("gold, silver, bronze or none"),
    [NODE_FABRIC] = STR("nvswitch, nvlink, infiniband, roce or ethernet"),
    [NODE_ZONES] = STR("a number from 1 to 8"),
    [NODE_GFD_MEMORY] = STR("a number of MiB"),
    [NODE_AMD_MEMORY] = STR("an amount of memory, such as 192G"),
};

struct node_said {
    struct str value;
    uint32_t key; /* LEN(keys): nothing was said */
};

struct reading {
    struct hardware *out;
    struct misreads *misread;
    struct node_said by[N_NODE_MEANINGS];
    struct str pci;        /* the product of a PCI id that node feature discovery saw */
    uint64_t gpus_counted; /* which GPUs' places are told already */
    struct zone_told {
        bool has_cpus, has_memory;
    } told[MOST_ZONES];
};

static void misread(struct reading *r, struct str key, struct str value, struct str expects)
{
    vec_push(r->misread, (struct misread){key, value, expects});
}

static bool says(const struct reading *r, enum node_meaning meaning)
{
    return r->by[meaning].key < LEN(keys);
}

static void misread_meaning(struct reading *r, enum node_meaning meaning)
{
    misread(r, keys[r->by[meaning].key].key, r->by[meaning].value, expected[meaning]);
}

static void hear(struct reading *r, const struct pair *pair)
{
    for (uint32_t i = 0; i < LEN(keys); i++)
        if (str_equal(pair->key, keys[i].key)) {
            struct node_said *said = &r->by[keys[i].meaning];
            if (i < said->key)
                *said = (struct node_said){pair->value, i};
            return;
        }
}

/* --- NUMA nodes --- */

/* "0-15,32-47" or, as a label may have it, "0-15_32-47": how many are named; 0 if it is no list. */
static int64_t cpus_listed(struct str list)
{
    int64_t n = 0;
    while (list.n) {
        size_t end = 0;
        while (end < list.n && list.p[end] != ',' && list.p[end] != '_' && list.p[end] != '.')
            end++;
        struct str range = str_part(list, 0, end), first = str_take(&range, '-');
        bool has_end = first.n < end;
        list = str_part(list, end + 1, list.n);
        int64_t from, to;
        if (!str_int(first, &from) || from < 0 || from > 65535)
            return 0;
        to = from;
        if (has_end && (!str_int(range, &to) || to < from || to > 65535))
            return 0;
        n += to - from + 1;
    }
    return n;
}

/* A quantity, or plain bytes, which are one. */
static bool read_amount(struct str value, int64_t *out)
{
    struct quantity q;
    if (!quantity_parse(value, &q) || q.nano <= 0)
        return false;
    *out = quantity_value(q);
    return *out > 0;
}

/* "node-3-" taken off the text, 3 given; MOST_ZONES if it does not begin so. */
static uint32_t take_zone(struct str *rest)
{
    static const struct str prefix = STR("node-");
    int64_t id;
    if (!str_starts(*rest, prefix))
        return MOST_ZONES;
    *rest = str_part(*rest, prefix.n, rest->n);
    struct str number = str_take(rest, '-');
    return str_int(number, &id) && id >= 0 && id < MOST_ZONES ? (uint32_t)id : MOST_ZONES;
}

/* "distance-2" of zone `id`; how far it is to itself says nothing. */
static bool read_distance(struct numa_zone *zone, uint32_t id, struct str what, struct str value)
{
    int64_t to, distance;
    (void)str_take(&what, '-');
    if (!str_int(what, &to) || to < 0 || !str_int(value, &distance) || distance < 1 ||
        distance > 255)
        return false;
    if (to != (int64_t)id) {
        zone->distance_sum += (uint32_t)distance;
        zone->distances++;
    }
    return true;
}

static void hear_zone(struct reading *r, const struct pair *pair)
{
    static const struct str prefix = STR("numa.kubenexus.io/");
    struct str what = str_part(pair->key, prefix.n, pair->key.n);
    uint32_t id = str_starts(pair->key, prefix) ? take_zone(&what) : MOST_ZONES;
    if (id == MOST_ZONES)
        return;
    struct numa_zone *zone = &r->out->zones[id];
    struct zone_told *told = &r->told[id];
    struct str expects = STR("an amount of memory, such as 64Gi");
    bool is_good = true;
    if (str_equal(what, STR("cpus"))) {
        expects = STR("a list of CPUs, such as 0-15_32-47");
        if (!told->has_cpus)
            zone->cpu_milli = 1000 * cpus_listed(pair->value);
        is_good = told->has_cpus = zone->cpu_milli > 0;
    } else if (str_equal(what, STR("memory"))) {
        if (!told->has_memory)
            is_good = told->has_memory = read_amount(pair->value, &zone->memory);
    } else if (str_equal(what, STR("bandwidth"))) {
        expects = STR("a number of MB/s");
        is_good = zone->bandwidth || read_amount(pair->value, &zone->bandwidth);
    } else if (str_starts(what, STR("distance-"))) {
        expects = STR("a number from 1 to 255, behind the number of a NUMA node");
        is_good = read_distance(zone, id, what, pair->value);
    }
    if (!is_good)
        misread(r, pair->key, pair->value, expects);
}

/* gpu.kubenexus.io/numa-node-3 or gpu.kubenexus.io/gpu3-numa: where GPU 3 sits. */
static void hear_gpu_zone(struct reading *r, const struct pair *pair)
{
    static const struct str prefix = STR("gpu.kubenexus.io/");
    struct str what = str_part(pair->key, prefix.n, pair->key.n);
    int64_t gpu, zone;
    if (!str_starts(pair->key, prefix))
        return;
    if (str_starts(what, STR("numa-node-")))
        what = str_part(what, sizeof("numa-node-") - 1, what.n);
    else if (str_starts(what, STR("gpu")) && str_ends(what, STR("-numa")))
        what = str_part(what, 3, what.n - 5);
    else
        return;
    bool is_good = str_int(what, &gpu) && gpu >= 0 && gpu < 64 && str_int(pair->value, &zone) &&
                   zone >= 0 && zone < MOST_ZONES;
    if (!is_good) {
        misread(r, pair->key, pair->value,
                STR("a NUMA node from 0 to 7, behind the number of a GPU"));
        return;
    }
    uint64_t bit = (uint64_t)1 << (gpu & 63); /* both spellings may be there */
    r->out->zones[zone].gpus += !(r->gpus_counted & bit);
    if (gpu < MOST_GPUS && !(r->gpus_counted & bit))
        r->out->zone_of[gpu] = (uint8_t)(zone + 1);
    r->gpus_counted |= bit;
    r->out->knows_gpu_zones = true;
}

/* All that was said of zones, if it makes a whole: as many as were counted, each with its CPUs and
 * memory. Half a picture would be a wrong one. */
static void settle_zones(struct reading *r)
{
    struct hardware *h = r->out;
    int64_t n = 0;
    if (says(r, NODE_ZONES) && (!str_int(r->by[NODE_ZONES].value, &n) || n < 1 || n > MOST_ZONES)) {
        misread_meaning(r, NODE_ZONES);
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        h->zones[i].id = i;
        if (!r->told[i].has_cpus || !r->told[i].has_memory) {
            misread(r, keys[r->by[NODE_ZONES].key].key, r->by[NODE_ZONES].value,
                    STR("as many NUMA nodes as have CPUs and memory"));
            n = 0;
        }
    }
    h->n_zones = (uint32_t)n;
    if (n == 0)
        h->knows_gpu_zones = false;
}

/* --- GPUs --- */

/* "…-80GB…": the last such word of a product's name, in GiB as the vendors count; 0: none. */
static int64_t memory_in_name(struct str name)
{
    int64_t found = 0;
    while (name.n) {
        size_t end = 0;
        while (end < name.n && name.p[end] != '-' && name.p[end] != '.' && name.p[end] != '_' &&
               name.p[end] != ' ')
            end++;
        struct str word = str_part(name, 0, end);
        name = str_part(name, end + 1, name.n);
        int64_t gb;
        if ((str_ends(word, STR("GB")) || str_ends(word, STR("gb"))) &&
            str_int(str_part(word, 0, word.n - 2), &gb) && gb > 0 && gb < 4096)
            found = gb;
    }
    return found;
}

/* What a product's name tells; false if we do not know it. */
static bool read_product(struct str product, int64_t *gib, enum hardware_tier *tier)
{
    for (size_t i = 0; i < LEN(models); i++) {
        if (!text_has_word(product, models[i].word))
            continue;
        int64_t named = memory_in_name(product);
        *gib = named ? named : models[i].gib;
        bool is_big = str_equal(models[i].word, STR("A100")) && *gib >= 80;
        *tier = is_big ? HARDWARE_PREMIUM : models[i].tier;
        return true;
    }
    return false;
}

/* feature.node.kubernetes.io/pci-0302_10de_2330.present: class, vendor, device. */
static void hear_pci(struct reading *r, const struct pair *pair)
{
    static const struct str prefix = STR("feature.node.kubernetes.io/pci-"), end = STR(".present");
    if (!str_starts(pair->key, prefix) || !str_ends(pair->key, end))
        return;
    struct str id = str_part(pair->key, prefix.n, pair->key.n - end.n);
    size_t first = str_find(id, '_');
    if (str_find(str_part(id, first + 1, id.n), '_') + first + 1 < id.n)
        id = str_part(id, first + 1, id.n); /* the class is left out where it is not asked for */
    for (size_t i = 0; i < LEN(pci_ids); i++)
        if (str_equal(id, pci_ids[i].id))
            r->pci = pci_ids[i].product;
}

/* Sets the memory if nobody better has. */
static void set_vram(struct reading *r, int64_t bytes, enum vram_source source)
{
    if (r->out->vram_bytes || bytes <= 0)
        return;
    r->out->vram_bytes = bytes;
    r->out->vram_source = (uint8_t)source;
}

static void read_gfd(struct reading *r)
{
    int64_t mib, bytes;
    if (says(r, NODE_GFD_MEMORY)) {
        if (str_int(r->by[NODE_GFD_MEMORY].value, &mib) && mib > 0 && mib < 1 << 30)
            set_vram(r, mib << 20, VRAM_GFD);
        else
            misread_meaning(r, NODE_GFD_MEMORY);
    }
    if (says(r, NODE_AMD_MEMORY)) { /* "192G", which are binary ones */
        struct str value = r->by[NODE_AMD_MEMORY].value;
        int64_t gib;
        if (str_ends(value, STR("G")) && str_int(str_part(value, 0, value.n - 1), &gib) &&
            gib > 0 && gib < 1 << 20)
            set_vram(r, gib << 30, VRAM_GFD);
        else if (read_amount(value, &bytes))
            set_vram(r, bytes, VRAM_GFD);
        else
            misread_meaning(r, NODE_AMD_MEMORY);
    }
}

static void settle_product(struct reading *r, struct str product, enum vram_source source)
{
    int64_t gib;
    enum hardware_tier tier;
    if (!product.n || !read_product(product, &gib, &tier))
        return;
    set_vram(r, gib << 30, source);
    r->out->is_high_end |= tier == HARDWARE_PREMIUM;
    if (r->out->tier == HARDWARE_NONE)
        r->out->tier = (uint8_t)tier;
}

static void settle_gpus(struct reading *r)
{
    int64_t bytes, count;
    read_gfd(r);
    settle_product(r, r->pci, VRAM_NFD);
    if (says(r, NODE_VRAM)) {
        if (read_amount(r->by[NODE_VRAM].value, &bytes))
            set_vram(r, bytes, VRAM_LABEL);
        else
            misread_meaning(r, NODE_VRAM);
    }
    settle_product(r, r->by[NODE_MODEL].value, VRAM_MODEL);
    settle_product(r, r->by[NODE_PRODUCT].value, VRAM_MODEL);
    if (says(r, NODE_GPU_COUNT)) {
        if (str_int(r->by[NODE_GPU_COUNT].value, &count) && count >= 0 && count <= 1024)
            r->out->gpus = (uint32_t)count;
        else
            misread_meaning(r, NODE_GPU_COUNT);
    }
}

/* --- tier, cost, network --- */

/* "9.80" in thousandths; false if it is no such number. */
static bool read_cost(struct str value, uint32_t *out)
{
    struct quantity q;
    if (!quantity_parse(value, &q) || q.nano < 0 || q.nano > (__int128)1000000 * 1000000000)
        return false;
    *out = (uint32_t)quantity_milli(q) + 1;
    return true;
}

/* For whom its GPUs are; "none" is what a node without the label says. */
static void settle_reserved(struct reading *r)
{
    static const struct str none = STR("none");
    struct str value = r->by[NODE_RESERVED].value;
    if (!says(r, NODE_RESERVED) || word_find(value, &none, 1) == 0)
        return;
    if (tier_of(value) < N_TIERS)
        r->out->reserved = (uint8_t)tier_of(value);
    else
        misread_meaning(r, NODE_RESERVED);
}

static void settle_tier(struct reading *r)
{
    if (says(r, NODE_TIER)) {
        uint32_t tier = word_find(r->by[NODE_TIER].value, tiers, LEN(tiers));
        if (tier != HARDWARE_NONE && tier < LEN(tiers))
            r->out->tier = (uint8_t)tier;
        else
            misread_meaning(r, NODE_TIER);
    }
    if (says(r, NODE_COST) && !read_cost(r->by[NODE_COST].value, &r->out->cost))
        misread_meaning(r, NODE_COST);
}

/* How the GPUs are linked. */
static void settle_links(struct reading *r)
{
    static const struct str pcie = STR("pcie");
    struct str links = r->by[NODE_GPU_LINKS].value;
    bool has_nvlink;
    if (says(r, NODE_GPU_LINKS)) {
        r->out->links = (uint8_t)fabric_of(links);
        r->out->has_only_pcie = word_find(links, &pcie, 1) == 0;
        if (!r->out->links && !r->out->has_only_pcie)
            misread_meaning(r, NODE_GPU_LINKS);
    } else if (says(r, NODE_HAS_NVLINK)) {
        if (!text_bool(r->by[NODE_HAS_NVLINK].value, &has_nvlink))
            misread_meaning(r, NODE_HAS_NVLINK);
        else if (has_nvlink)
            r->out->links = FABRIC_NVLINK;
    }
}

/* A node that says nothing of its network may still say how its GPUs are linked. */
static void settle_fabric(struct reading *r)
{
    settle_links(r);
    r->out->fabric = r->out->links;
    if (!says(r, NODE_FABRIC))
        return;
    r->out->fabric = (uint8_t)fabric_of(r->by[NODE_FABRIC].value);
    if (!r->out->fabric)
        misread_meaning(r, NODE_FABRIC);
}

const struct hardware *hardware_read(const struct node *node, struct hardware_room *room,
                                     struct misreads *misreads)
{
    memset(room, 0, sizeof(*room));
    struct reading r = {.out = (struct hardware *)room->bytes, .misread = misreads};
    for (uint32_t i = 0; i < N_NODE_MEANINGS; i++)
        r.by[i].key = LEN(keys);
    const pair_list *both[] = {&node->meta.labels, &node->meta.annotations};
    for (size_t i = 0; i < LEN(both); i++)
        list_each(both[i], pair) {
            hear(&r, pair);
            hear_zone(&r, pair);
            hear_gpu_zone(&r, pair);
            hear_pci(&r, pair);
        }
    for (size_t i = 0; i < LEN(both); i++)
        our_keys_check(both[i], ON_NODE, misreads);
    settle_tier(&r);
    settle_reserved(&r);
    settle_gpus(&r);
    settle_fabric(&r);
    settle_zones(&r);
    for (uint32_t i = r.out->n_zones; i < MOST_ZONES; i++)
        memset(&r.out->zones[i], 0, sizeof(r.out->zones[i]));
    return r.out;
}

static void join_zones(struct hardware *h, const struct gpu_sum *drivers)
{
    memcpy(h->zone_of, drivers->zone_of, sizeof(h->zone_of));
    h->knows_gpu_zones = h->n_zones > 0;
    for (uint32_t i = 0; i < h->n_zones; i++)
        h->zones[i].gpus = 0;
    for (uint32_t i = 0; i < MOST_GPUS; i++)
        if (h->zone_of[i] && h->zone_of[i] <= h->n_zones)
            h->zones[h->zone_of[i] - 1].gpus++;
}

const struct hardware *hardware_join(const struct hardware *labels, const struct gpu_sum *drivers,
                                     struct hardware_room *room)
{
    memset(room, 0, sizeof(*room));
    struct hardware *h = (struct hardware *)room->bytes;
    memcpy(h, labels, hardware_bytes(labels));
    struct reading r = {.out = h};
    if (drivers->vram_bytes) {
        h->vram_bytes = drivers->vram_bytes;
        h->vram_source = VRAM_DRA;
    }
    settle_product(&r, drivers->product, VRAM_MODEL);
    h->gpus = drivers->gpus;
    if (drivers->knows_zones)
        join_zones(h, drivers);
    if (drivers->are_linked && h->links < FABRIC_NVLINK) {
        h->links = FABRIC_NVLINK;
        h->has_only_pcie = false;
        h->fabric = h->fabric ? h->fabric : FABRIC_NVLINK;
    }
    return h;
}

/* --- the kubelet --- */

/* As the attribute spells it, which is how pods do; there is nothing stricter than single. */
static enum numa_policy policy_of(struct str text)
{
    for (enum numa_policy p = NUMA_NONE; p <= NUMA_SINGLE; p++)
        if (str_equal(numa_policy_name(p), text))
            return p;
    return NUMA_UNSAID;
}

/* SingleNUMANodePodLevel, RestrictedContainerLevel, …; what is none of them says nothing. */
static struct kubelet_config old_way(struct str text)
{
    static const struct {
        struct str starts;
        enum numa_policy is;
    } names[] = {
        {STR("SingleNUMANode"), NUMA_SINGLE},
        {STR("Restricted"), NUMA_RESTRICTED},
        {STR("BestEffort"), NUMA_BEST_EFFORT},
    };
    for (size_t i = 0; i < LEN(names); i++) {
        if (!str_starts(text, names[i].starts))
            continue;
        struct str level = str_part(text, names[i].starts.n, text.n);
        bool is_pod = str_equal(level, STR("PodLevel"));
        if (is_pod || str_equal(level, STR("ContainerLevel")))
            return (struct kubelet_config){names[i].is, is_pod};
    }
    return (struct kubelet_config){str_equal(text, STR("None")) ? NUMA_NONE : NUMA_UNSAID, false};
}

struct kubelet_config hardware_kubelet(const struct node_topology *t)
{
    struct kubelet_config is = {0};
    if (t->policies.n)
        is = old_way(t->policies.at[0]);
    enum numa_policy policy = policy_of(node_topology_attribute(t, STR("topologyManagerPolicy")));
    struct str scope = node_topology_attribute(t, STR("topologyManagerScope"));
    if (policy != NUMA_UNSAID)
        is.policy = policy;
    if (str_equal(scope, STR("pod")) || str_equal(scope, STR("container")))
        is.sees_pods = str_equal(scope, STR("pod"));
    return is;
}
