#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

#define PLUGIN &plugin_gpu_topology

static const struct profile_plugin list[] = {
    {.plugin = PLUGIN, .number = 1, .weight = 1},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

#define GPU(name, what, value)                                                                     \
    "{'name':'" name "','attributes':{'" what "':{'string':'" value "'}}}"

TEST(gpu_topology, a_pair_is_worth_what_joins_it)
{
    static const struct {
        const char *rule, *what, *one, *other;
        int64_t score;
    } cases[] = {
        {"NVLink", "nvlinkDomain", "x", "x", 100},      {"a switch", "pcieSwitch", "x", "x", 60},
        {"a NUMA node", "numaNode", "0", "0", 40},      {"nobody knows", "index", "0", "0", 30},
        {"other NUMA nodes", "numaNode", "0", "1", 20},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        test_case("%s", cases[i].rule);
        ground_add(&j.ground, "node n gpu=2");
        ground_add(&j.ground, "pod p gpu=2");
        struct str devices =
            arena_printf(&j.ground.mem, GPU("gpu-0", "%s", "%s") "," GPU("gpu-1", "%s", "%s"),
                         cases[i].what, cases[i].one, cases[i].what, cases[i].other);
        ground_put_gpus(&j.ground, "n", devices.p);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "n").normal, cases[i].score);
    }
}

TEST(gpu_topology, one_gpu_is_no_topology)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n gpu=8");
    ground_add(&j.ground, "pod one gpu=1");
    ground_add(&j.ground, "pod share note:gpu-fraction=0.5");
    ground_add(&j.ground, "pod plain cpu=1");
    EXPECT(!judge_score(&j, PLUGIN, "one", "n").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "share", "n").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "plain", "n").takes_part);
}

#define FOUR(a, b, c, d, domain)                                                                   \
    GPU(a, "nvlinkDomain", domain)                                                                 \
    "," GPU(b, "nvlinkDomain", domain) "," GPU(c, "nvlinkDomain",                                  \
                                               domain) "," GPU(d, "nvlinkDomain", domain)

TEST(gpu_topology, four_gpus_go_to_an_NVLink_island_of_four)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node pairs gpu=4");
    ground_add(&j.ground, "node island gpu=4");
    ground_add(&j.ground, "node unknown gpu=8");
    ground_add(&j.ground, "pod p gpu=4");
    ground_put_gpus(&j.ground, "pairs",
                    GPU("gpu-0", "nvlinkDomain", "a") "," GPU("gpu-1", "nvlinkDomain", "a") "," GPU(
                        "gpu-2", "nvlinkDomain", "b") "," GPU("gpu-3", "nvlinkDomain", "b"));
    ground_put_gpus(&j.ground, "island", FOUR("gpu-0", "gpu-1", "gpu-2", "gpu-3", "a"));
    EXPECT_TEXT(judge_scan(&j, "p"), "island");
    EXPECT_TEXT(judge_view(&j, "p"), "island");
}

TEST(gpu_topology, gpus_that_others_have_do_not_count)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node busy gpu=8");
    ground_add(&j.ground, "node free gpu=8");
    ground_add(&j.ground, "pod p gpu=4");
    ground_put_gpus(&j.ground, "busy",
                    FOUR("gpu-0", "gpu-1", "gpu-2", "gpu-3", "a") "," FOUR("gpu-4", "gpu-5",
                                                                           "gpu-6", "gpu-7", "b"));
    ground_add(&j.ground, "node free gpu=8 label:gpu.kubenexus.io/topology=nvlink");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "busy").normal, 100);
    ground_add(&j.ground, "pod a gpu=1 on=busy");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "busy").normal, 100); /* one island is left */
    ground_add(&j.ground, "pod b gpu=3 on=busy");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "busy").normal, 100); /* which took the same one */
    ground_add(&j.ground, "pod c gpu=1 on=busy");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "free").normal, 100);
    EXPECT_TEXT(judge_view(&j, "p"), "free");
}

TEST(gpu_topology, links_of_a_graph_count_not_their_number)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node chain gpu=6");
    ground_add(&j.ground, "node triangles gpu=6");
    ground_add(&j.ground, "pod p gpu=3");
    ground_put_gpus(
        &j.ground, "chain",
        GPU("gpu-0", "nvlinkPeers", "gpu-1") "," GPU("gpu-1", "nvlinkPeers", "gpu-2") "," GPU(
            "gpu-2", "nvlinkPeers", "gpu-3") "," GPU("gpu-3", "nvlinkPeers", "gpu-4") "," //
        GPU("gpu-4", "nvlinkPeers", "gpu-5") "," GPU("gpu-5", "nvlinkPeers", "gpu-0"));
    ground_put_gpus(&j.ground, "triangles",
                    GPU("gpu-0", "nvlinkPeers", "gpu-2,gpu-4") "," GPU(
                        "gpu-1", "nvlinkPeers", "gpu-3,gpu-5") "," GPU("gpu-2", "nvlinkPeers",
                                                                       "gpu-4") "," //
                    GPU("gpu-3", "nvlinkPeers", "gpu-5") "," GPU(
                        "gpu-4", "nvlinkPeers", "") "," GPU("gpu-5", "nvlinkPeers", ""));
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "chain").normal, 73); /* two links and none */
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "triangles").normal, 100);
    EXPECT_TEXT(judge_scan(&j, "p"), "triangles");
}
