#include "core/model/hardware.h"

#include "core/base/rng.h"
#include "support/objects.h"
#include "support/test.h"

static const struct hardware *read(struct arena *mem, const char *words, uint32_t misreads)
{
    struct hardware_room *room = arena_array(mem, struct hardware_room, 1);
    struct misreads misread = {0};
    const struct node *node = object_of(mem, arena_printf(mem, "node n %s", words).p).node;
    const struct hardware *h = hardware_read(node, room, &misread);
    test_case("%s", words);
    EXPECT_INT(misread.n, misreads);
    vec_done(&misread);
    return h;
}

TEST(hardware, of_an_ordinary_node_is_nothing)
{
    static const struct hardware none;
    AUTO(arena) mem = {0};
    const struct hardware *h =
        read(&mem, "gpu=8 zone=a label:node.kubernetes.io/instance-type=m5.large", 0);
    EXPECT_INT(hardware_bytes(h), sizeof(none));
    EXPECT(memcmp(h, &none, sizeof(none)) == 0);
}

TEST(hardware, gpu_memory_comes_from_the_best_source)
{
    static const struct {
        const char *words;
        int64_t gib;
        enum vram_source source;
    } cases[] = {
        {"label:nvidia.com/gpu.memory=81920 label:gpu.kubenexus.io/vram=40Gi", 80, VRAM_GFD},
        {"label:amd.com/gpu.vram=192G", 192, VRAM_GFD},
        {"label:feature.node.kubernetes.io/pci-0302_10de_2330.present=true", 80, VRAM_NFD},
        {"label:feature.node.kubernetes.io/pci-10de_20b2.present=true", 80, VRAM_NFD},
        {"label:feature.node.kubernetes.io/pci-0302_10de_2330.present=true "
         "label:gpu.kubenexus.io/vram=40Gi",
         80, VRAM_NFD},
        {"label:feature.node.kubernetes.io/pci-0302_10de.present=true "
         "label:gpu.kubenexus.io/vram=40Gi",
         40, VRAM_LABEL},
        {"label:gpu.kubenexus.io/vram=48Gi label:gpu.kubenexus.io/model=H100", 48, VRAM_LABEL},
        {"label:gpu.kubenexus.io/model=A100-80GB", 80, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB", 80, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB", 40, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 5, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-H200", 141, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-B200", 180, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=NVIDIA-A10G", 24, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=Tesla-T4-SHARED", 16, VRAM_MODEL},
        {"label:nvidia.com/gpu.product=Tesla-V100-SXM2-32GB", 32, VRAM_MODEL},
        {"label:gpu.kubenexus.io/model=RTX-A1000", 0, VRAM_UNKNOWN},
        {"label:nvidia.com/gpu.product=Quadro-X", 0, VRAM_UNKNOWN},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        const struct hardware *h = read(&mem, cases[i].words, 0);
        EXPECT_INT(h->vram_bytes, cases[i].gib << 30);
        EXPECT_INT(h->vram_source, cases[i].source);
    }
}

TEST(hardware, a_tier_is_said_or_follows_from_the_model)
{
    static const struct {
        const char *words;
        enum hardware_tier tier;
        bool is_high_end;
    } cases[] = {
        {"label:hardware.kubenexus.io/tier=premium", HARDWARE_PREMIUM, false},
        {"label:hardware.kubenexus.io/tier=Economy label:gpu.kubenexus.io/model=H100",
         HARDWARE_ECONOMY, true},
        {"label:gpu.kubenexus.io/model=H100", HARDWARE_PREMIUM, true},
        {"label:gpu.kubenexus.io/model=H200", HARDWARE_PREMIUM, true},
        {"label:gpu.kubenexus.io/model=A100-80GB", HARDWARE_PREMIUM, true},
        {"label:gpu.kubenexus.io/model=MI300X", HARDWARE_PREMIUM, true},
        {"label:gpu.kubenexus.io/model=A100", HARDWARE_STANDARD, false},
        {"label:gpu.kubenexus.io/model=A40", HARDWARE_STANDARD, false},
        {"label:gpu.kubenexus.io/model=RTX-A6000", HARDWARE_STANDARD, false},
        {"label:gpu.kubenexus.io/model=MI250", HARDWARE_STANDARD, false},
        {"label:gpu.kubenexus.io/model=L40S", HARDWARE_ECONOMY, false},
        {"label:gpu.kubenexus.io/model=L4", HARDWARE_ECONOMY, false},
        {"label:gpu.kubenexus.io/model=T4", HARDWARE_ECONOMY, false},
        {"label:gpu.kubenexus.io/model=A10", HARDWARE_ECONOMY, false},
        {"label:gpu.kubenexus.io/model=A16", HARDWARE_ECONOMY, false},
        {"label:gpu.kubenexus.io/model=RTX-A4000", HARDWARE_NONE, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        const struct hardware *h = read(&mem, cases[i].words, 0);
        EXPECT_INT(h->tier, cases[i].tier);
        EXPECT_INT(h->is_high_end, cases[i].is_high_end);
    }
}

TEST(hardware, a_fabric_has_several_spellings)
{
    static const struct {
        const char *words;
        enum fabric fabric;
    } cases[] = {
        {"label:network.kubenexus.io/fabric-type=nvswitch", FABRIC_NVSWITCH},
        {"label:network.kubenexus.io/fabric-type=IB", FABRIC_INFINIBAND},
        {"label:fabric.kubenexus.io/type=roce", FABRIC_ROCE},
        {"label:network.kubenexus.io/fabric=ethernet", FABRIC_ETHERNET},
        {"label:nvidia.com/nvlink=true", FABRIC_NVLINK},
        {"label:nvidia.com/nvlink=false", FABRIC_UNKNOWN},
        {"label:nvidia.com/gpu.topology=nvswitch", FABRIC_NVSWITCH},
        {"label:gpu.kubenexus.io/topology=nvlink", FABRIC_NVLINK},
        {"label:gpu.kubenexus.io/topology=pcie", FABRIC_UNKNOWN},
        {"label:gpu.kubenexus.io/topology=nvlink label:network.kubenexus.io/fabric-type=roce",
         FABRIC_ROCE},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        EXPECT_INT(read(&mem, cases[i].words, 0)->fabric, cases[i].fabric);
    }
}

TEST(hardware, numa_labels)
{
    AUTO(arena) mem = {0};
    const struct hardware *h = read(
        &mem,
        "label:numa.kubenexus.io/node-count=2 label:numa.kubenexus.io/node-0-cpus=0-15_32-47 "
        "label:numa.kubenexus.io/node-0-memory=64Gi "
        "label:numa.kubenexus.io/node-0-bandwidth=200000 "
        "label:numa.kubenexus.io/node-0-distance-0=10 label:numa.kubenexus.io/node-0-distance-1=21 "
        "note:numa.kubenexus.io/node-1-cpus=16-31,48 "
        "label:numa.kubenexus.io/node-1-memory=68719476736 "
        "label:gpu.kubenexus.io/numa-node-0=0 label:gpu.kubenexus.io/gpu0-numa=0 "
        "label:gpu.kubenexus.io/gpu1-numa=1 label:gpu.kubenexus.io/gpu2-numa=1",
        0);
    EXPECT_INT(h->n_zones, 2);
    EXPECT_INT(h->zones[0].cpu_milli, 32000);
    EXPECT_INT(h->zones[1].cpu_milli, 17000);
    EXPECT_INT(h->zones[0].memory, (int64_t)64 << 30);
    EXPECT_INT(h->zones[1].memory, (int64_t)64 << 30);
    EXPECT_INT(h->zones[0].bandwidth, 200000);
    EXPECT_INT(h->zones[0].distance_sum, 21);
    EXPECT_INT(h->zones[0].distances, 1);
    EXPECT(h->knows_gpu_zones);
    EXPECT_INT(h->zones[0].gpus, 1); /* both spellings of one GPU are one GPU */
    EXPECT_INT(h->zones[1].gpus, 2);
    EXPECT_INT(hardware_bytes(h), sizeof(*h) + 2 * sizeof(h->zones[0]));
}

/* A row: what is wrong, and what would be right. The key is that of the first word. */
TEST(hardware, a_half_told_or_malformed_value_is_told_and_left_out)
{
    static const struct {
        const char *words, *expects;
    } cases[] = {
        {"label:numa.kubenexus.io/node-count=2 label:numa.kubenexus.io/node-0-cpus=0-15 "
         "label:numa.kubenexus.io/node-0-memory=1Gi",
         "as many NUMA nodes as have CPUs"},
        {"label:numa.kubenexus.io/node-count=0", "a number from 1 to 8"},
        {"label:numa.kubenexus.io/node-count=many", "a number from 1 to 8"},
        {"label:numa.kubenexus.io/node-count=99", "a number from 1 to 8"},
        {"label:topology.kubenexus.io/numa-nodes=-1", "a number from 1 to 8"},
        {"label:numa.kubenexus.io/node-0-cpus=7-3", "a list of CPUs"},
        {"label:numa.kubenexus.io/node-0-cpus=all", "a list of CPUs"},
        {"label:numa.kubenexus.io/node-0-cpus=0-99999", "a list of CPUs"},
        {"note:numa.kubenexus.io/node-3-cpus=0-", "a list of CPUs"},
        {"label:numa.kubenexus.io/node-0-memory=lots", "an amount of memory"},
        {"label:numa.kubenexus.io/node-7-memory=-1Gi", "an amount of memory"},
        {"label:numa.kubenexus.io/node-0-bandwidth=fast", "a number of MB/s"},
        {"label:numa.kubenexus.io/node-0-bandwidth=0", "a number of MB/s"},
        {"label:numa.kubenexus.io/node-0-distance-1=far", "a number from 1 to 255"},
        {"label:numa.kubenexus.io/node-0-distance-1=0", "a number from 1 to 255"},
        {"label:numa.kubenexus.io/node-0-distance-1=256", "a number from 1 to 255"},
        {"label:numa.kubenexus.io/node-0-distance-x=20", "behind the number of a NUMA node"},
        {"label:gpu.kubenexus.io/numa-node-0=left", "a NUMA node from 0 to 7"},
        {"label:gpu.kubenexus.io/numa-node-0=8", "a NUMA node from 0 to 7"},
        {"label:gpu.kubenexus.io/numa-node-x=0", "behind the number of a GPU"},
        {"label:gpu.kubenexus.io/gpu99-numa=0", "behind the number of a GPU"},
        {"label:gpu.kubenexus.io/vram=much", "an amount of memory, such as 80Gi"},
        {"label:gpu.kubenexus.io/vram=0", "an amount of memory, such as 80Gi"},
        {"label:gpu.kubenexus.io/vram=-80Gi", "an amount of memory, such as 80Gi"},
        {"label:nvidia.com/gpu.memory=-1", "a number of MiB"},
        {"label:nvidia.com/gpu.memory=80Gi", "a number of MiB"},
        {"label:amd.com/gpu.vram=G", "an amount of memory, such as 192G"},
        {"label:hardware.kubenexus.io/tier=platinum", "premium, standard or economy"},
        {"label:hardware.kubenexus.io/tier=unknown", "premium, standard or economy"},
        {"label:hardware.kubenexus.io/cost-hour=cheap", "a price, such as 9.80"},
        {"label:hardware.kubenexus.io/cost-hour=-1", "a price, such as 9.80"},
        {"label:network.kubenexus.io/fabric-type=string", "infiniband, roce or ethernet"},
        {"label:network.kubenexus.io/fabric=", "infiniband, roce or ethernet"},
        {"label:fabric.kubenexus.io/type=wool", "infiniband, roce or ethernet"},
        {"label:gpu.kubenexus.io/topology=star", "nvswitch, nvlink or pcie"},
        {"label:nvidia.com/nvlink=perhaps", "true or false"},
        {"label:nvidia.com/gpu.count=-4", "a number from 0 to 1024"},
        {"label:gpu.kubenexus.io/count=eight", "a number from 0 to 1024"},
        {"label:tenant.kubenexus.io/reserved-tier=platinum", "gold, silver, bronze or none"},
    };
    static const struct hardware none;
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct hardware_room room;
        struct misreads misread = {0};
        const struct node *node =
            object_of(&mem, arena_printf(&mem, "node n %s", cases[i].words).p).node;
        const struct hardware *h = hardware_read(node, &room, &misread);
        test_case("%s", cases[i].words);
        EXPECT(memcmp(h, &none, sizeof(none)) == 0);
        REQUIRE(misread.n == 1);
        struct str word = str_of(strchr(cases[i].words, ':') + 1), key = str_take(&word, '=');
        struct str value = str_take(&word, ' ');
        EXPECT(str_equal(misread.at[0].key, key));
        EXPECT(str_equal(misread.at[0].value, value));
        EXPECT(memmem(misread.at[0].expects.p, misread.at[0].expects.n, cases[i].expects,
                      strlen(cases[i].expects)));
        vec_done(&misread);
    }
}

TEST(hardware, may_be_reserved_for_a_tier)
{
#define RESERVED "label:tenant.kubenexus.io/reserved-tier="
    AUTO(arena) mem = {0};
    EXPECT_INT(read(&mem, RESERVED "gold", 0)->reserved, TIER_GOLD);
    EXPECT_INT(read(&mem, RESERVED "Bronze", 0)->reserved, TIER_BRONZE);
    EXPECT_INT(read(&mem, RESERVED "none", 0)->reserved, TIER_NONE);
}

TEST(hardware, a_cost_is_kept_in_thousandths)
{
    AUTO(arena) mem = {0};
    EXPECT_INT(read(&mem, "label:hardware.kubenexus.io/cost-hour=9.80", 0)->cost, 9801);
    EXPECT_INT(read(&mem, "label:hardware.kubenexus.io/cost-hour=0", 0)->cost, 1);
}
