#include "core/model/wishes.h"

#include "support/objects.h"
#include "support/test.h"

static struct wishes wishes(const char *words, uint32_t misreads)
{
    AUTO(arena) mem = {0};
    struct misreads misread = {0};
    struct pod_said said;
    pod_said_read(object_of(&mem, arena_printf(&mem, "pod p %s", words).p).pod, &said);
    struct wishes w = pod_wishes(&said, &misread);
    test_case("%s", words);
    EXPECT_INT(misread.n, misreads);
    vec_done(&misread);
    return w;
}

TEST(wishes, a_plain_pod_has_none)
{
    static const struct wishes none;
    struct wishes w = wishes("label:app=web note:example.com/vram-request=1", 0);
    EXPECT(memcmp(&w, &none, sizeof(w)) == 0);
}

TEST(wishes, numa_policies_in_both_families)
{
    static const struct {
        const char *words;
        enum numa_policy policy;
        uint32_t misread;
    } cases[] = {
        {"note:scheduling.kubenexus.io/numa-policy=single-numa-node", NUMA_SINGLE, 0},
        {"note:scheduling.kubenexus.io/numa-policy=best-effort", NUMA_BEST_EFFORT, 0},
        {"note:scheduling.kubenexus.io/numa-policy=none", NUMA_NONE, 0},
        {"label:scheduling.kubenexus.io/numa-policy=None", NUMA_NONE, 0},
        {"note:numa.scheduling.kubenexus.io/policy=single-numa", NUMA_SINGLE, 0},
        {"note:numa.scheduling.kubenexus.io/policy=restricted", NUMA_RESTRICTED, 0},
        {"note:numa.scheduling.kubenexus.io/policy=isolated", NUMA_ISOLATED, 0},
        {"note:numa.scheduling.kubenexus.io/policy=strict", NUMA_BEST_EFFORT, 1},
        {"note:numa.scheduling.kubenexus.io/policy=unsaid", NUMA_BEST_EFFORT, 1},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(wishes(cases[i].words, cases[i].misread).numa_policy, cases[i].policy);
}

TEST(wishes, numa_ids_and_resources_are_lists)
{
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-affinity-node-id=0,2", 0).numa_ids, 5);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-affinity-node-id=200", 0).numa_ids, 0);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-anti-affinity-node-id=1", 0).numa_anti_ids,
               2);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-affinity-node-id=0,x", 1).numa_ids, 0);
    EXPECT_INT(
        wishes("note:numa.scheduling.kubenexus.io/resources=cpu,nvidia.com/gpu", 0).numa_resources,
        NUMA_CPU | NUMA_GPU);
    EXPECT_INT(wishes("note:numa.scheduling.kubenexus.io/resources=cpu,disk", 1).numa_resources, 0);
}

TEST(wishes, gpu_memory_is_per_gpu_unless_it_is_a_total)
{
    static const struct {
        const char *value;
        int64_t each_gi, total_gi;
        uint32_t misread;
    } cases[] = {
        {"80Gi", 80, 0, 0},  {"80Gi*8", 0, 640, 0}, {"total=640Gi", 0, 640, 0}, {"0", 0, 0, 1},
        {"-1Gi", 0, 0, 1},   {"80GiB", 0, 0, 1},    {"80Gi*0", 0, 0, 1},        {"80Gi*x", 0, 0, 1},
        {"total=", 0, 0, 1}, {"7Ei*9", 0, 0, 1}, /* more than there are bytes */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct wishes w = wishes(
            arena_printf(&mem, "note:scheduling.kubenexus.io/vram-request=%s", cases[i].value).p,
            cases[i].misread);
        EXPECT_INT(w.vram_each_bytes, cases[i].each_gi << 30);
        EXPECT_INT(w.vram_total_bytes, cases[i].total_gi << 30);
    }
    EXPECT_INT(wishes("label:vram.scheduling.kubenexus.io/required=1Gi", 0).vram_each_bytes,
               1 << 30);
}

TEST(wishes, the_rest)
{
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/min-fabric-tier=ib", 0).min_fabric,
               FABRIC_INFINIBAND);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/min-fabric-tier=fast", 1).min_fabric,
               FABRIC_UNKNOWN);
    EXPECT_INT(wishes("note:topology.kubenexus.io/spread-zones=false", 0).spread_zones, WISH_NO);
    EXPECT_INT(wishes("note:topology.kubenexus.io/spread-zones=yes", 1).spread_zones, WISH_NONE);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/network-sensitive=true", 0).network_sensitive,
               WISH_YES);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/memory-intensive=true", 0).memory_intensive,
               WISH_YES);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-distance-weight=0", 0).numa_distance, 1);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/numa-distance-weight=101", 1).numa_distance, 0);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/gang-numa-spread=balanced", 0).numa_spread,
               NUMA_SPREAD_BALANCED);
    EXPECT_INT(wishes("note:scheduling.kubenexus.io/gang-numa-spread=x", 1).numa_spread,
               NUMA_SPREAD_PACKED);
}

TEST(wishes, fabrics_have_their_names)
{
    for (uint32_t i = FABRIC_ETHERNET; i < N_FABRICS; i++)
        EXPECT_INT(fabric_of(fabric_name(i)), i);
    EXPECT_INT(fabric_of(STR("rdma")), FABRIC_ROCE);
    EXPECT_INT(fabric_of(STR("ETH")), FABRIC_ETHERNET);
}
