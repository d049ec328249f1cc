/* What our own plugins read: labels that say what nodes are made of, labels and annotations that
 * say who and what pods are and where they want to be. Few values, right and wrong ones. */

#include "property/world_nexus.h"

#include <stdio.h>

#include "property/world_gen.h"

struct pick {
    struct str key;
    struct str values[5];
};

#define PICK(r, array) (array)[rng_below((r), LEN(array))]

static const struct pick hardware[] = {
    {STR("hardware.kubenexus.io/tier"),
     {STR("premium"), STR("standard"), STR("economy"), STR("gold"), STR("premium")}},
    {STR("hardware.kubenexus.io/cost-hour"),
     {STR("1"), STR("2.50"), STR("9.80"), STR("free"), STR("2.50")}},
    {STR("gpu.kubenexus.io/model"),
     {STR("H100"), STR("A100-80GB"), STR("T4"), STR("RTX-A1000"), STR("L4")}},
    {STR("nvidia.com/gpu.memory"),
     {STR("81920"), STR("40960"), STR("24576"), STR("x"), STR("40960")}},
    {STR("network.kubenexus.io/fabric-type"),
     {STR("nvswitch"), STR("ib"), STR("ethernet"), STR("roce"), STR("tin")}},
    {STR("gpu.kubenexus.io/topology"),
     {STR("nvlink"), STR("pcie"), STR("nvswitch"), STR("nvlink"), STR("?")}},
    {STR("network.kubenexus.io/rack-id"), {STR("r1"), STR("r2"), STR("r3"), STR("r1"), STR("r2")}},
    {STR("tenant.kubenexus.io/reserved-tier"),
     {STR("gold"), STR("none"), STR("silver"), STR("bronze"), STR("odd")}},
    {STR("topology.kubernetes.io/region"),
     {STR("east"), STR("west"), STR("east"), STR("east"), STR("east")}},
};

/* Two zones, told in full or half. */
static const struct pick zones[] = {
    {STR("numa.kubenexus.io/node-count"), {STR("2"), STR("2"), STR("2"), STR("1"), STR("3")}},
    {STR("numa.kubenexus.io/node-0-cpus"),
     {STR("0-1"), STR("0-3"), STR("0-1"), STR("0"), STR("0-7")}},
    {STR("numa.kubenexus.io/node-0-memory"),
     {STR("2Gi"), STR("4Gi"), STR("1Gi"), STR("2Gi"), STR("8Gi")}},
    {STR("numa.kubenexus.io/node-1-cpus"),
     {STR("2-3"), STR("4_6"), STR("2-3"), STR("2"), STR("8-11")}},
    {STR("numa.kubenexus.io/node-1-memory"),
     {STR("2Gi"), STR("4Gi"), STR("1Gi"), STR("2Gi"), STR("8Gi")}},
    {STR("numa.kubenexus.io/node-0-distance-1"),
     {STR("21"), STR("31"), STR("x"), STR("21"), STR("21")}},
    {STR("numa.kubenexus.io/node-0-bandwidth"),
     {STR("1000"), STR("1000"), STR("x"), STR("1000"), STR("1000")}},
    {STR("gpu.kubenexus.io/numa-node-0"), {STR("0"), STR("1"), STR("0"), STR("5"), STR("x")}},
};

static const struct pick words[] = {
    {STR("kueue.x-k8s.io/queue-name"), {STR("q0"), STR("q1"), STR("q0"), STR("q2"), STR("q0")}},
    {STR("workload.kubenexus.io/type"),
     {STR("training"), STR("batch"), STR("service"), STR("inference"), STR("odd")}},
    {STR("tenant.kubenexus.io/tier"),
     {STR("gold"), STR("silver"), STR("bronze"), STR("bronze"), STR("odd")}},
    {STR("topology.kubenexus.io/spread-zones"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}},
    {STR("scheduling.kubenexus.io/vram-request"),
     {STR("20Gi"), STR("70Gi"), STR("total=30Gi"), STR("10Gi*2"), STR("odd")}},
    {STR("scheduling.kubenexus.io/min-fabric-tier"),
     {STR("ethernet"), STR("roce"), STR("ib"), STR("nvlink"), STR("odd")}},
    {STR("scheduling.kubenexus.io/numa-policy"),
     {STR("single-numa-node"), STR("best-effort"), STR("restricted"), STR("isolated"), STR("odd")}},
    {STR("scheduling.kubenexus.io/numa-affinity-node-id"),
     {STR("0"), STR("1"), STR("0,1"), STR("7"), STR("odd")}},
    {STR("scheduling.kubenexus.io/numa-anti-affinity-node-id"),
     {STR("0"), STR("1"), STR("9"), STR("7"), STR("odd")}},
    {STR("scheduling.kubenexus.io/memory-intensive"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}},
    {STR("scheduling.kubenexus.io/network-sensitive"),
     {STR("true"), STR("false"), STR("true"), STR("true"), STR("odd")}},
};

/* Parts of GPUs by memory, and of several; they may contradict each other. */
static const struct pick shares[] = {
    {STR("gpu-memory"), {STR("20000"), STR("10000"), STR("40960"), STR("90000"), STR("odd")}},
    {STR("scheduling.kubenexus.io/gpu-memory"),
     {STR("20Gi"), STR("10Gi"), STR("40Gi"), STR("70Gi"), STR("odd")}},
    {STR("gpu-fraction-num-devices"), {STR("1"), STR("2"), STR("2"), STR("3"), STR("odd")}},
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
    if (rng_below(r, 4) == 0)
        add_some(mem, r, shares, LEN(shares), 1, &out->meta.annotations);
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

/* --- NUMA nodes, as nodes report them --- */

static struct zone_resource resource(struct rng *r, struct str name, uint32_t most)
{
    char text[16];
    struct zone_resource out = {.name = name};
    uint64_t has = rng_below(r, most + 1), left = rng_below(r, has + 1);
    bool is_memory = str_equal(name, STR("memory"));
    snprintf(text, sizeof(text), "%lu%s", has, is_memory ? "Gi" : "");
    bool is_read = quantity_parse(str_of(text), &out.allocatable);
    snprintf(text, sizeof(text), "%lu%s", left, is_memory ? "Gi" : "");
    is_read &= quantity_parse(str_of(text), &out.available);
    assert(is_read);
    return out;
}

static void gen_zone(struct arena *mem, struct rng *r, uint32_t id, struct topology_zone *out)
{
    out->name = arena_printf(mem, "node-%u", id);
    out->type = STR("Node");
    out->resources.at = arena_array(mem, struct zone_resource, 3);
    out->resources.at[out->resources.n++] = resource(r, STR("cpu"), 8);
    out->resources.at[out->resources.n++] = resource(r, STR("memory"), 8);
    if (rng_below(r, 2))
        out->resources.at[out->resources.n++] = resource(r, STR("nvidia.com/gpu"), 4);
}

static struct object new_object(struct arena *mem, enum kind kind, struct str namespace,
                                struct str name)
{
    struct object o = {.kind = kind, .meta = arena_alloc(mem, kind_info_get(kind)->size)};
    o.meta->namespace = namespace;
    o.meta->name = name;
    o.meta->created_ms = o.meta->deleted_ms = TIME_NONE;
    return o;
}

static struct object gen_report(struct arena *mem, struct rng *r, uint32_t node)
{
    static const struct pick attributes[] = {
        {STR("topologyManagerPolicy"),
         {STR("single-numa-node"), STR("restricted"), STR("single-numa-node"), STR("best-effort"),
          STR("odd")}},
        {STR("topologyManagerScope"),
         {STR("pod"), STR("container"), STR("pod"), STR("container"), STR("odd")}},
        {STR("nodeTopologyPodsFingerprintMethod"),
         {STR("all"), STR("with-exclusive-resources"), STR("all"), STR("with-exclusive-resources"),
          STR("odd")}},
    };
    struct object o =
        new_object(mem, KIND_NODE_TOPOLOGY, (struct str){0}, gen_node_name(mem, node));
    struct node_topology *t = o.node_topology;
    t->zones.n = 1 + (uint32_t)rng_below(r, 3);
    t->zones.at = arena_array(mem, struct topology_zone, t->zones.n);
    for (uint32_t i = 0; i < t->zones.n; i++)
        gen_zone(mem, r, i, &t->zones.at[i]);
    t->attributes.at = arena_array(mem, struct topology_attribute, LEN(attributes) + 1);
    for (size_t i = 0; i < LEN(attributes); i++)
        if (rng_below(r, 3))
            t->attributes.at[t->attributes.n++] =
                (struct topology_attribute){attributes[i].key, PICK(r, attributes[i].values)};
    return o;
}

void gen_print(struct arena *mem, uint64_t print, struct object *report)
{
    struct node_topology *t = report->node_topology;
    t->attributes.at[t->attributes.n++] =
        (struct topology_attribute){STR("nodeTopologyPodsFingerprint"),
                                    arena_printf(mem, "pfp0v001%016lx", (unsigned long)print)};
}

/* --- what Kueue and claims say --- */

static struct object gen_queue(struct arena *mem, struct rng *r, uint32_t number)
{
    bool is_local = number < 3;
    struct object o = is_local ? new_object(mem, KIND_LOCAL_QUEUE, gen_namespace_name(number),
                                            rng_below(r, 2) ? STR("q0") : STR("q1"))
                               : new_object(mem, KIND_CLUSTER_QUEUE, (struct str){0}, STR("q0"));
    if (is_local)
        o.local_queue->cluster_queue = STR("q0");
    add_some(mem, r, &words[2], 1, 2, &o.meta->labels);
    return o;
}

static struct object gen_workload(struct arena *mem, struct rng *r, uint32_t number)
{
    static const struct str gpus[] = {STR("1"), STR("2"), STR("4"), STR("8")};
    struct object o = new_object(mem, KIND_KUEUE_WORKLOAD, gen_namespace_name(0),
                                 arena_printf(mem, "w%u", number));
    struct kueue_workload *w = o.kueue_workload;
    struct pod *pod = arena_array(mem, struct pod, 1);
    struct container *c = arena_array(mem, struct container, 1);
    c->resources.requests.at = arena_array(mem, struct amount, 1);
    c->resources.requests.n = 1;
    c->resources.requests.at[0].name = STR("nvidia.com/gpu");
    bool is_read = quantity_parse(PICK(r, gpus), &c->resources.requests.at[0].quantity);
    assert(is_read);
    pod->spec.containers.at = c;
    pod->spec.containers.n = 1;
    w->pod_sets.at = arena_array(mem, struct kueue_pods, 1);
    w->pod_sets.n = 1;
    w->pod_sets.at[0] = (struct kueue_pods){1, pod};
    return o;
}

/* It has a GPU of some node, by whomever. */
static struct object gen_given(struct arena *mem, struct rng *r, uint32_t number)
{
    struct object o = new_object(mem, KIND_RESOURCE_CLAIM, gen_namespace_name(0),
                                 arena_printf(mem, "given%u", number));
    struct device_allocation *a = arena_array(mem, struct device_allocation, 1);
    a->results.at = arena_array(mem, struct device_result, 1);
    a->results.n = 1;
    a->results.at[0] =
        (struct device_result){.request = STR("r"),
                               .driver = STR("gpu.nvidia.com"),
                               .pool = gen_node_name(mem, (uint32_t)rng_below(r, 6)),
                               .device = arena_printf(mem, "gpu-%u", (uint32_t)rng_below(r, 8))};
    o.resource_claim->status.allocation = a;
    return o;
}

struct object gen_nexus(struct arena *mem, struct rng *r, uint32_t number)
{
    if (number < 10)
        return gen_report(mem, r, number);
    if (number < 14)
        return gen_queue(mem, r, number - 10);
    return number < 17 ? gen_workload(mem, r, number) : gen_given(mem, r, number);
}
