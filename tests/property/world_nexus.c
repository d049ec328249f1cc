/* What our own plugins read: labels that say what nodes are made of, labels and annotations that
 * say who and what pods are and where they want to be. Few values, right and wrong ones. */

#include "property/world_nexus.h"

struct pick {
    struct str key;
    struct str values[5];
};

#define PICK(r, array) (array)[rng_below((r), LEN(array))]

static const struct pick hardware[] = {
    {STR("hardware.kubenexus.io/tier"),
     {STR("premium"), STR("standard"), STR("economy"), STR("gold"), STR("premium")}                   },
    {STR("hardware.kubenexus.io/cost-hour"),
     {STR("1"), STR("2.50"), STR("9.80"), STR("free"), STR("2.50")}                                   },
    {STR("gpu.kubenexus.io/model"),
     {STR("H100"), STR("A100-80GB"), STR("T4"), STR("RTX-A1000"), STR("L4")}                          },
    {STR("nvidia.com/gpu.memory"),
     {STR("81920"), STR("40960"), STR("24576"), STR("x"), STR("40960")}                               },
    {STR("network.kubenexus.io/fabric-type"),
     {STR("nvswitch"), STR("ib"), STR("ethernet"), STR("roce"), STR("tin")}                           },
    {STR("gpu.kubenexus.io/topology"),
     {STR("nvlink"), STR("pcie"), STR("nvswitch"), STR("nvlink"), STR("?")}                           },
    {STR("network.kubenexus.io/rack-id"),      {STR("r1"), STR("r2"), STR("r3"), STR("r1"), STR("r2")}},
    {STR("tenant.kubenexus.io/reserved-tier"),
     {STR("gold"), STR("none"), STR("silver"), STR("bronze"), STR("odd")}                             },
    {STR("topology.kubernetes.io/region"),
     {STR("east"), STR("west"), STR("east"), STR("east"), STR("east")}                                },
};

/* Two zones, told in full or half. */
static const struct pick zones[] = {
    {STR("numa.kubenexus.io/node-count"),        {STR("2"), STR("2"), STR("2"), STR("1"), STR("3")}},
    {STR("numa.kubenexus.io/node-0-cpus"),
     {STR("0-1"), STR("0-3"), STR("0-1"), STR("0"), STR("0-7")}                                    },
    {STR("numa.kubenexus.io/node-0-memory"),
     {STR("2Gi"), STR("4Gi"), STR("1Gi"), STR("2Gi"), STR("8Gi")}                                  },
    {STR("numa.kubenexus.io/node-1-cpus"),
     {STR("2-3"), STR("4_6"), STR("2-3"), STR("2"), STR("8-11")}                                   },
    {STR("numa.kubenexus.io/node-1-memory"),
     {STR("2Gi"), STR("4Gi"), STR("1Gi"), STR("2Gi"), STR("8Gi")}                                  },
    {STR("numa.kubenexus.io/node-0-distance-1"),
     {STR("21"), STR("31"), STR("x"), STR("21"), STR("21")}                                        },
    {STR("numa.kubenexus.io/node-0-bandwidth"),
     {STR("1000"), STR("1000"), STR("x"), STR("1000"), STR("1000")}                                },
    {STR("gpu.kubenexus.io/numa-node-0"),        {STR("0"), STR("1"), STR("0"), STR("5"), STR("x")}},
};

static const struct pick words[] = {
    {STR("workload.kubenexus.io/type"),
     {STR("training"), STR("batch"), STR("service"), STR("inference"), STR("odd")}                },
    {STR("tenant.kubenexus.io/tier"),
     {STR("gold"), STR("silver"), STR("bronze"), STR("bronze"), STR("odd")}                       },
    {STR("topology.kubenexus.io/spread-zones"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}                            },
    {STR("scheduling.kubenexus.io/vram-request"),
     {STR("20Gi"), STR("70Gi"), STR("total=30Gi"), STR("10Gi*2"), STR("odd")}                     },
    {STR("scheduling.kubenexus.io/min-fabric-tier"),
     {STR("ethernet"), STR("roce"), STR("ib"), STR("nvlink"), STR("odd")}                         },
    {STR("scheduling.kubenexus.io/numa-policy"),
     {STR("single-numa-node"), STR("best-effort"), STR("restricted"), STR("isolated"), STR("odd")}},
    {STR("scheduling.kubenexus.io/numa-affinity-node-id"),
     {STR("0"), STR("1"), STR("0,1"), STR("7"), STR("odd")}                                       },
    {STR("scheduling.kubenexus.io/numa-anti-affinity-node-id"),
     {STR("0"), STR("1"), STR("9"), STR("7"), STR("odd")}                                         },
    {STR("scheduling.kubenexus.io/memory-intensive"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}                            },
    {STR("scheduling.kubenexus.io/network-sensitive"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}                            },
};

static pair_list with_room(struct arena *mem, pair_list old, uint32_t more)
{
    struct pair *at = arena_array(mem, struct pair, old.n + more);
    for (uint32_t i = 0; i < old.n; i++)
        at[i] = old.at[i];
    return (pair_list){at, old.n};
}

/* Some of the picks, each once. */
static void add_some(struct arena *mem, struct rng *r, const struct pick *all, uint32_t n,
                     uint32_t of_three, pair_list *to)
{
    *to = with_room(mem, *to, n);
    for (uint32_t i = 0; i < n; i++)
        if (rng_below(r, 3) < of_three || rng_below(r, 16) == 0)
            to->at[to->n++] = (struct pair){all[i].key, PICK(r, all[i].values)};
}

void gen_hardware(struct arena *mem, uint64_t seed, struct node *out)
{
    struct rng r = rng_seeded(seed ^ 0x6e65787573);
    if (rng_below(&r, 2))
        add_some(mem, &r, hardware, LEN(hardware), 1, &out->meta.labels);
    if (rng_below(&r, 2))
        add_some(mem, &r, zones, LEN(zones), 3, &out->meta.labels);
}

void gen_wishes(struct arena *mem, struct rng *r, struct pod *out)
{
    if (rng_below(r, 2))
        return;
    add_some(mem, r, words, LEN(words), 1,
             rng_below(r, 2) ? &out->meta.labels : &out->meta.annotations);
    if (rng_below(r, 3) == 0)
        out->spec.priority_class_name =
            rng_below(r, 2) ? STR("high-priority") : STR("low-priority");
}

static struct device_attribute text(struct str name, struct str value)
{
    return (struct device_attribute){.name = name, .has_string = true, .string = value};
}

static void gen_gpu(struct arena *mem, struct rng *r, uint32_t number, struct device *out)
{
    static const struct str few[] = {STR("0"), STR("1"), STR("2")};
    static const struct str sizes[] = {STR("40Gi"), STR("80Gi")};
    *out = (struct device){.name = arena_printf(mem, "gpu-%u", number)};
    out->capacity.n = rng_below(r, 8) ? 1 : 0;
    out->capacity.at = arena_array(mem, struct device_capacity, 1);
    out->capacity.at[0].name = STR("memory");
    if (!quantity_parse(PICK(r, sizes), &out->capacity.at[0].value))
        abort();
    out->attributes.at = arena_array(mem, struct device_attribute, 3);
    if (rng_below(r, 4))
        out->attributes.at[out->attributes.n++] = text(STR("numaNode"), PICK(r, few));
    if (rng_below(r, 2))
        out->attributes.at[out->attributes.n++] = text(STR("nvlinkDomain"), PICK(r, few));
    if (rng_below(r, 2))
        out->attributes.at[out->attributes.n++] = text(STR("pcieRoot"), PICK(r, few));
}

struct object gen_gpu_slice(struct arena *mem, struct rng *r, struct str node)
{
    struct object o = {.kind = KIND_RESOURCE_SLICE,
                       .meta = arena_alloc(mem, kind_info_get(KIND_RESOURCE_SLICE)->size)};
    struct resource_slice *s = o.resource_slice;
    s->meta.name = node;
    s->meta.deleted_ms = TIME_NONE;
    s->spec.driver = STR("gpu.nvidia.com");
    s->spec.pool.name = s->spec.node_name = node;
    s->spec.pool.slices = rng_below(r, 8) ? 1 : 2; /* one may be missing */
    s->spec.devices.n = 1 + (uint32_t)rng_below(r, 8);
    s->spec.devices.at = arena_array(mem, struct device, s->spec.devices.n);
    for (uint32_t i = 0; i < s->spec.devices.n; i++)
        gen_gpu(mem, r, i + (uint32_t)rng_below(r, 2) * 8, &s->spec.devices.at[i]);
    return o;
}
