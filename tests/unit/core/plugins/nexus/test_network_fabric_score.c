#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

#define PLUGIN &plugin_network_fabric_score
#define TYPE   "label:workload.kubenexus.io/type="
#define NOTE   "note:scheduling.kubenexus.io/"

static const struct profile_plugin list[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = PLUGIN, .number = 2, .weight = 2},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char *const fabrics[] = {"unknown",    "ethernet", "roce",
                                      "infiniband", "nvlink",   "nvswitch"};

static void add_nodes(struct judge *j)
{
    ground_add(&j->ground, "node unknown gpu=8");
    for (size_t i = 1; i < LEN(fabrics); i++)
        ground_add(&j->ground, "node %s gpu=8 label:network.kubenexus.io/fabric-type=%s",
                   fabrics[i], fabrics[i]);
}

TEST(network_fabric, scores_by_fabric_and_kind_of_work)
{
    static const struct {
        const char *pod;
        int64_t scores[6]; /* as `fabrics` */
    } cases[] = {
        {"gpu=1 " TYPE "training", {50, 20, 40, 90, 90, 100}},
        {"gpu=1 " TYPE "batch", {50, 20, 40, 90, 90, 100}},
        {"gpu=1 " TYPE "inference", {50, 70, 50, 20, 10, 0}},
        {"gpu=1 " TYPE "service", {50, 70, 50, 20, 10, 0}},
        {NOTE "network-sensitive=true", {25, 0, 10, 85, 85, 100}},
        {"gpu=1 " TYPE "training " NOTE "network-sensitive=true", {25, 0, 10, 85, 85, 100}},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        for (size_t f = 0; f < LEN(fabrics); f++) {
            test_case("%s on %s", cases[i].pod, fabrics[f]);
            EXPECT_INT(judge_score(&j, PLUGIN, "p", fabrics[f]).normal, cases[i].scores[f]);
        }
    }
}

TEST(network_fabric, leaves_alone_whom_it_does_not_concern)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j);
    ground_add(&j.ground, "pod web");
    ground_add(&j.ground, "pod plain gpu=8");
    ground_add(&j.ground, "pod job owner:Job=j");
    ground_add(&j.ground, "pod deaf gpu=1 " TYPE "training " NOTE "network-sensitive=false");
    EXPECT(!judge_score(&j, PLUGIN, "web", "nvswitch").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "plain", "nvswitch").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "job", "nvswitch").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "deaf", "nvswitch").takes_part);
}

TEST(network_fabric, the_least_fabric_is_a_filter_for_every_pod)
{
    static const struct {
        const char *least;
        const char *loosest; /* that fits */
    } cases[] = {
        {"ethernet", "ethernet"},     {"roce", "roce"},     {"ib", "infiniband"},
        {"infiniband", "infiniband"}, {"nvlink", "nvlink"}, {"nvswitch", "nvswitch"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j);
        ground_add(&j.ground, "pod p " NOTE "min-fabric-tier=%s", cases[i].least);
        bool fits = false;
        for (size_t f = 0; f < LEN(fabrics); f++) {
            test_case("%s on %s", cases[i].least, fabrics[f]);
            fits |= strcmp(fabrics[f], cases[i].loosest) == 0;
            EXPECT_TEXT(judge_verdict(&j, "p", fabrics[f]),
                        fits ? "fits"
                             : "UU NetworkFabricScore: node(s) had no network fabric of the tier "
                               "asked for");
        }
    }
}

TEST(network_fabric, training_goes_to_infiniband_and_inference_to_ethernet)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node eth gpu=8 label:network.kubenexus.io/fabric-type=ethernet");
    ground_add(&j.ground, "node ib gpu=8 label:network.kubenexus.io/fabric-type=infiniband");
    ground_add(&j.ground, "pod t gpu=1 owner:PyTorchJob=j");
    ground_add(&j.ground, "pod i gpu=1 label:serving.kserve.io/inferenceservice=i");
    EXPECT_TEXT(judge_scan(&j, "t"), "ib");
    EXPECT_TEXT(judge_scan(&j, "i"), "eth");
}

TEST(network_fabric, labels_of_gpu_links_tell_nodes_apart)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node pcie gpu=8 label:nvidia.com/gpu.topology=pcie");
    ground_add(&j.ground, "node link gpu=8 label:nvidia.com/nvlink=true");
    ground_add(&j.ground, "node switch gpu=8 label:nvidia.com/gpu.topology=nvswitch");
    ground_add(&j.ground, "pod p gpu=4 owner:PyTorchJob=j");
    int64_t pcie = judge_score(&j, PLUGIN, "p", "pcie").normal;
    int64_t link = judge_score(&j, PLUGIN, "p", "link").normal;
    int64_t sw = judge_score(&j, PLUGIN, "p", "switch").normal;
    EXPECT(sw > link && link > pcie);
}
