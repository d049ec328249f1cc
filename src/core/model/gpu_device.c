#include "core/model/gpu_device.h"

#include "core/model/pod_keys.h"

enum meaning {
    GPU_TYPE,
    GPU_PRODUCT,
    GPU_UUID,
    GPU_ZONE,
    GPU_BUS,
    GPU_ROOT,
    GPU_DOMAIN,
    GPU_PEERS,
    GPU_MEMORY,
    N_GPU_MEANINGS
};

/* Of two with one meaning the first one counts. */
static const struct {
    struct str letters;
    enum meaning meaning;
} names[] = {
    {STR("type"), GPU_TYPE},           {STR("productname"), GPU_PRODUCT},
    {STR("model"), GPU_PRODUCT},       {STR("product"), GPU_PRODUCT},
    {STR("uuid"), GPU_UUID},           {STR("numanode"), GPU_ZONE},
    {STR("numa"), GPU_ZONE},           {STR("pcibusid"), GPU_BUS},
    {STR("pciebusid"), GPU_BUS},       {STR("pcieswitch"), GPU_ROOT},
    {STR("pcieswitchid"), GPU_ROOT},   {STR("pcieroot"), GPU_ROOT},
    {STR("nvlinkdomain"), GPU_DOMAIN}, {STR("nvlinkdomainid"), GPU_DOMAIN},
    {STR("nvlinkpeers"), GPU_PEERS},   {STR("memory"), GPU_MEMORY},
    {STR("gpumemory"), GPU_MEMORY},    {STR("vram"), GPU_MEMORY},
};

/* Does the name, without its domain, have these letters? They are small ones. */
static bool is_spelled(struct str name, struct str letters)
{
    size_t slash = str_find(name, '/'), at = 0;
    for (size_t i = slash < name.n ? slash + 1 : 0; i < name.n; i++) {
        char x = name.p[i];
        if (x == '-' || x == '_' || x == '.')
            continue;
        x = (char)(x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x);
        if (at == letters.n || x != letters.p[at++])
            return false;
    }
    return at == letters.n;
}

static bool has_part(struct str text, struct str part)
{
    for (size_t i = 0; i + part.n <= text.n; i++)
        if (str_equal(str_part(text, i, i + part.n), part))
            return true;
    return false;
}

bool gpu_driver(struct str driver)
{
    static const struct str parts[] = {STR("gpu"), STR("nvidia"), STR("amd"), STR("accelerator"),
                                       STR("gaudi")};
    for (size_t i = 0; i < LEN(parts); i++)
        if (has_part(driver, parts[i]))
            return true;
    return false;
}

/* The value as text; empty if it is of no use. */
static struct str text_of(const struct device_attribute *a, struct arena *mem)
{
    if (attribute_type(a) == ATTRIBUTE_INT)
        return arena_printf(mem, "%lld", (long long)a->int_value);
    return attribute_type(a) == ATTRIBUTE_STRING ? a->string : (struct str){0};
}

static int64_t bytes_of(struct str amount)
{
    struct quantity q;
    return quantity_parse(amount, &q) && q.nano > 0 ? quantity_value(q) : 0;
}

static void hear(struct str name, struct str value, uint32_t *precedence, struct str *said)
{
    for (uint32_t i = 0; value.n && i < LEN(names); i++)
        if (i < precedence[names[i].meaning] && is_spelled(name, names[i].letters)) {
            precedence[names[i].meaning] = i;
            said[names[i].meaning] = value;
        }
}

bool gpu_facts_read(const struct device *device, struct arena *mem, struct gpu_facts *out)
{
    static const struct str types[] = {STR("gpu"), STR("mig")};
    struct str said[N_GPU_MEANINGS] = {0};
    uint32_t precedence[N_GPU_MEANINGS], memory = LEN(names);
    for (uint32_t i = 0; i < N_GPU_MEANINGS; i++)
        precedence[i] = LEN(names);
    list_each(&device->attributes, a)
        hear(a->name, text_of(a, mem), precedence, said);
    *out = (struct gpu_facts){
        .vram_bytes = bytes_of(said[GPU_MEMORY]),
        .zone = -1,
        .product = said[GPU_PRODUCT],
        .uuid = said[GPU_UUID],
        .bus = said[GPU_BUS],
        .root = said[GPU_ROOT],
        .domain = said[GPU_DOMAIN],
        .peers = said[GPU_PEERS],
    };
    list_each(&device->capacity, capacity)
        for (uint32_t i = 0; i < memory; i++)
            if (names[i].meaning == GPU_MEMORY && is_spelled(capacity->name, names[i].letters)) {
                memory = i;
                out->vram_bytes = quantity_value(capacity->value);
            }
    if (!str_int(said[GPU_ZONE], &out->zone) || out->zone < 0)
        out->zone = -1;
    uint32_t type = said[GPU_TYPE].n ? word_find(said[GPU_TYPE], types, LEN(types)) : 0;
    out->is_part = type == 1;
    return type < LEN(types);
}

bool gpu_is_peer(struct str peers, struct str name, const struct gpu_facts *facts)
{
    while (peers.n) {
        struct str peer = str_take(&peers, ',');
        while (peer.n && peer.p[0] == ' ')
            peer = str_part(peer, 1, peer.n);
        if (peer.n &&
            (str_equal(peer, name) || str_equal(peer, facts->uuid) || str_equal(peer, facts->bus)))
            return true;
    }
    return false;
}
