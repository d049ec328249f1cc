#include "core/model/gpu_device.h"

#include "core/base/buf.h"
#include "support/objects.h"
#include "support/test.h"

/* The facts of the one device of a slice. */
static bool read(struct arena *mem, const char *device, struct gpu_facts *out)
{
    struct str json = arena_printf(
        mem,
        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{"
        "'driver':'gpu.example.com','nodeName':'n','pool':{'name':'n','resourceSliceCount':1},"
        "'devices':[{'name':'d',%s}]}}",
        device);
    struct object o = object_of_json(mem, json.p);
    return gpu_facts_read(&o.resource_slice->spec.devices.at[0], mem, out);
}

static void add(struct buf *text, const char *what, struct str is)
{
    if (is.n)
        buf_printf(text, " %s " STR_FMT, what, STR_ARG(is));
}

/* What was understood, in words. */
static struct str told(struct arena *mem, const struct gpu_facts *f)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "%ldGi zone %ld", f->vram_bytes >> 30, f->zone);
    add(&text, "product", f->product);
    add(&text, "bus", f->bus);
    add(&text, "root", f->root);
    add(&text, "domain", f->domain);
    add(&text, "peers", f->peers);
    return arena_str(mem, buf_str(&text));
}

TEST(gpu_device, a_thing_has_several_spellings)
{
    static const struct {
        const char *told, *where, *name, *type, *value;
    } cases[] = {
        {"80Gi zone -1", "capacity", "memory", "value", "'80Gi'"},
        {"80Gi zone -1", "capacity", "gpu_memory", "value", "'80Gi'"},
        {"80Gi zone -1", "capacity", "vram", "value", "'80Gi'"},
        {"80Gi zone -1", "capacity", "nvidia.com/memory", "value", "'80Gi'"},
        {"0Gi zone -1", "capacity", "multiprocessors", "value", "'132'"},
        {"80Gi zone -1", "attributes", "vram", "string", "'80Gi'"},
        {"0Gi zone 1", "attributes", "resource.kubernetes.io/numaNode", "int", "1"},
        {"0Gi zone 1", "attributes", "numaNode", "string", "'1'"},
        {"0Gi zone 0", "attributes", "numa_node", "int", "0"},
        {"0Gi zone -1", "attributes", "numaNode", "int", "-1"},
        {"0Gi zone -1", "attributes", "numaNode", "string", "'none'"},
        {"0Gi zone -1 product H100", "attributes", "model", "string", "'H100'"},
        {"0Gi zone -1 product H100", "attributes", "productName", "string", "'H100'"},
        {"0Gi zone -1 bus 0:1.0", "attributes", "resource.kubernetes.io/pciBusID", "string",
         "'0:1.0'"},
        {"0Gi zone -1 bus 0:1.0", "attributes", "pcieBusId", "string", "'0:1.0'"},
        {"0Gi zone -1 root r", "attributes", "resource.kubernetes.io/pcieRoot", "string", "'r'"},
        {"0Gi zone -1 root s", "attributes", "pcieSwitch", "string", "'s'"},
        {"0Gi zone -1 domain 7", "attributes", "nvlinkDomain", "int", "7"},
        {"0Gi zone -1 domain a", "attributes", "nvlink_domain", "string", "'a'"},
        {"0Gi zone -1 peers a,b", "attributes", "nvlinkPeers", "string", "'a,b'"},
        {"0Gi zone -1", "attributes", "index", "int", "3"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct gpu_facts facts;
        test_case("%s", cases[i].name);
        struct str device = arena_printf(&mem, "'%s':{'%s':{'%s':%s}}", cases[i].where,
                                         cases[i].name, cases[i].type, cases[i].value);
        REQUIRE(read(&mem, device.p, &facts));
        EXPECT_STR(told(&mem, &facts), cases[i].told);
    }
}

TEST(gpu_device, a_switch_is_closer_than_a_root)
{
    AUTO(arena) mem = {0};
    struct gpu_facts facts;
    REQUIRE(read(&mem,
                 "'attributes':{'resource.kubernetes.io/pcieRoot':{'string':'root'},"
                 "'pcieSwitch':{'string':'switch'}}",
                 &facts));
    EXPECT_STR(facts.root, "switch");
}

TEST(gpu_device, a_driver_of_gpus_has_other_things_too)
{
    static const struct {
        const char *type;
        bool is_gpu, is_part;
    } cases[] = {
        {"gpu", true, false},
        {"mig", true, true},
        {"vfio", false, false},
        {"channel", false, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct gpu_facts facts;
        test_case("%s", cases[i].type);
        struct str device =
            arena_printf(&mem, "'attributes':{'type':{'string':'%s'}}", cases[i].type);
        EXPECT(read(&mem, device.p, &facts) == cases[i].is_gpu);
        EXPECT(facts.is_part == cases[i].is_part);
    }
    EXPECT(gpu_driver(STR("gpu.nvidia.com")) && gpu_driver(STR("gpu.intel.com")) &&
           gpu_driver(STR("amd.com")) && gpu_driver(STR("accelerator.example.com")));
    EXPECT(!gpu_driver(STR("dra.net")) && !gpu_driver(STR("")));
}

TEST(gpu_device, peers_go_by_name_uuid_or_bus)
{
    struct gpu_facts facts = {.uuid = STR("GPU-1"), .bus = STR("0:1.0")};
    EXPECT(gpu_is_peer(STR("gpu-0, gpu-1"), STR("gpu-1"), &facts));
    EXPECT(gpu_is_peer(STR("GPU-1"), STR("x"), &facts));
    EXPECT(gpu_is_peer(STR("GPU-0,0:1.0"), STR("x"), &facts));
    EXPECT(!gpu_is_peer(STR("gpu-10"), STR("gpu-1"), &facts));
    facts = (struct gpu_facts){0};
    EXPECT(!gpu_is_peer(STR("a,,b"), STR("c"), &facts)); /* nothing is nobody's name */
}
