#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

#define PLUGIN &plugin_vram_scheduler
#define NEED   "note:scheduling.kubenexus.io/vram-request="
#define VRAM   "label:gpu.kubenexus.io/vram="

static const struct profile_plugin list[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = PLUGIN, .number = 2, .weight = 3},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

static int64_t score(const char *pod, const char *node)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n %s", node);
    ground_add(&j.ground, "pod p %s", pod);
    test_case("%s on %s", pod, node);
    struct judge_score s = judge_score(&j, PLUGIN, "p", "n");
    EXPECT(s.takes_part);
    return s.normal;
}

TEST(vram, the_share_that_is_filled_counts_by_tier)
{
    static const struct {
        const char *need; /* of 100 Gi */
        int64_t gold, silver, bronze;
    } cases[] = {
        {"98Gi", 100, 100, 100}, {"97Gi", 80, 100, 100}, {"95Gi", 80, 100, 100},
        {"94Gi", 80, 80, 100},   {"90Gi", 80, 80, 100},  {"89Gi", 80, 80, 80},
        {"85Gi", 80, 80, 80},    {"84Gi", 60, 80, 80},   {"70Gi", 60, 80, 80},
        {"69Gi", 30, 60, 80},    {"60Gi", 30, 60, 80},   {"59Gi", 30, 60, 60},
        {"50Gi", 30, 60, 60},    {"49Gi", 0, 30, 60},    {"40Gi", 0, 30, 60},
        {"39Gi", 0, 30, 30},     {"30Gi", 0, 30, 30},    {"29Gi", 0, 0, 10}, /* 30 - 20: stranded */
        {"19Gi", 0, 0, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
#define POD(class) arena_printf(&mem, "gpu=1 class=%s " NEED "%s", class, cases[i].need).p
        EXPECT_INT(score(POD("high-priority"), "gpu=1 " VRAM "100Gi"), cases[i].gold);
        EXPECT_INT(score(POD("medium-priority"), "gpu=1 " VRAM "100Gi"), cases[i].silver);
        EXPECT_INT(score(POD("low-priority"), "gpu=1 " VRAM "100Gi"), cases[i].bronze);
        EXPECT_INT(score(POD("other"), "gpu=1 " VRAM "100Gi"), cases[i].silver);
#undef POD
    }
}

TEST(vram, good_cards_and_gpus_that_are_close_to_each_other_add_to_it)
{
#define LINKS "label:gpu.kubenexus.io/topology="
    static const struct {
        const char *pod, *node;
        int64_t score;
    } cases[] = {
        {"gpu=1 " NEED "60Gi", "gpu=8 label:gpu.kubenexus.io/model=H100", 90}, /* 80 + 10 */
        {"gpu=1 " NEED "40Gi", "gpu=8 label:gpu.kubenexus.io/model=H100", 60}, /* under 0.7 */
        {"gpu=4 " NEED "50Gi", "gpu=8 " LINKS "nvlink " VRAM "100Gi", 85},     /* 60 + 25 */
        {"gpu=4 " NEED "50Gi", "gpu=8 " LINKS "nvswitch " VRAM "100Gi", 85},
        {"gpu=4 " NEED "50Gi", "gpu=8 " LINKS "pcie " VRAM "100Gi", 60},
        {"gpu=1 " NEED "50Gi", "gpu=8 " LINKS "nvlink " VRAM "100Gi",
         60}, /* one GPU is no topology */
        {"gpu=2 " NEED "50Gi",
         "gpu=2 " VRAM "100Gi label:numa.kubenexus.io/node-count=1 "
         "label:numa.kubenexus.io/node-0-cpus=0-7 label:numa.kubenexus.io/node-0-memory=1Gi "
         "label:gpu.kubenexus.io/numa-node-0=0 label:gpu.kubenexus.io/numa-node-1=0",
         75}, /* 60 + 15 */
        {"gpu=4 " NEED "total=280Gi", "gpu=8 " LINKS "nvlink label:gpu.kubenexus.io/model=H100",
         100}, /* 0.875: 80 + 10 + 25 */
        {"gpu=8 " NEED "70Gi*8", "gpu=8 label:gpu.kubenexus.io/model=H100", 90},
        {"gpu=1 " NEED "70Gi", "gpu=8", 50}, /* nobody knows */
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(score(cases[i].pod, cases[i].node), cases[i].score);
}

TEST(vram, a_gpu_that_is_too_small_is_refused_for_good)
{
    static const struct {
        const char *pod, *node, *verdict;
    } cases[] = {
        {"gpu=1 " NEED "70Gi", "gpu=1 " VRAM "40Gi",
         "UU VRAMScheduler: node(s) had GPUs with too little memory"},
        {"gpu=1 " NEED "70Gi", "gpu=1 " VRAM "80Gi", "fits"},
        {"gpu=1 " NEED "80Gi", "gpu=1 " VRAM "80Gi", "fits"},
        {"gpu=2 " NEED "70Gi", "gpu=2 " VRAM "40Gi",
         "UU VRAMScheduler: node(s) had GPUs with too little memory"},
        {"gpu=2 " NEED "total=80Gi", "gpu=2 " VRAM "40Gi", "fits"},
        {"gpu=2 " NEED "total=81Gi", "gpu=2 " VRAM "40Gi",
         "UU VRAMScheduler: node(s) had GPUs with too little memory"},
        {NEED "70Gi", "cpu=8", "UU VRAMScheduler: node(s) had no GPU"},
        {NEED "70Gi", "gpu=1", "fits"}, /* unknown is no opinion */
        {"gpu=1 " NEED "70Gi", "gpu=1 label:nvidia.com/gpu.memory=40960",
         "UU VRAMScheduler: node(s) had GPUs with too little memory"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        test_case("%s on %s", cases[i].pod, cases[i].node);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(vram, the_card_that_is_filled_best_is_chosen)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a40 gpu=8 " VRAM "48Gi");
    ground_add(&j.ground, "node h100 gpu=8 " VRAM "80Gi");
    ground_add(&j.ground, "node h200 gpu=8 " VRAM "141Gi");
    ground_add(&j.ground, "pod big gpu=1 " NEED "70Gi");
    ground_add(&j.ground, "pod small gpu=1 " NEED "40Gi");
    ground_add(&j.ground, "pod plain gpu=1");
    EXPECT_TEXT(judge_scan(&j, "big"), "h100");
    EXPECT_TEXT(judge_scan(&j, "small"), "a40");
    EXPECT(!judge_score(&j, PLUGIN, "plain", "h100").takes_part);
}

TEST(vram, a_node_whose_labels_change_is_judged_anew)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n gpu=1 label:nvidia.com/gpu.memory=40960");
    ground_add(&j.ground, "pod p gpu=1 " NEED "70Gi");
    EXPECT_TEXT(judge_view(&j, "p"), "");
    ground_add(&j.ground, "node n gpu=1 label:nvidia.com/gpu.memory=81920");
    EXPECT_TEXT(judge_view(&j, "p"), "n");
    ground_add(&j.ground,
               "node n gpu=1 " VRAM "40Gi"); /* discovery is gone: our own label counts */
    EXPECT_TEXT(judge_view(&j, "p"), "");
}

/* --- by what drivers say --- */

#define GPU(name, gib, rest)                                                                       \
    "{'name':'" name "','capacity':{'memory':{'value':'" gib "Gi'}},'attributes':{" rest "}}"

TEST(vram, a_slice_that_changes_changes_the_next_decision)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n gpu=1 label:nvidia.com/gpu.memory=81920");
    ground_add(&j.ground, "pod p gpu=1 " NEED "70Gi");
    EXPECT_TEXT(judge_view(&j, "p"), "n");
    ground_put_gpus(&j.ground, "n", GPU("gpu-0", "40", ""));
    EXPECT_TEXT(judge_view(&j, "p"), ""); /* the driver knows better */
    ground_put_gpus(&j.ground, "n", GPU("gpu-0", "80", ""));
    EXPECT_TEXT(judge_view(&j, "p"), "n");
    EXPECT(judge_wakes(&j, PLUGIN, "p", EVENT_RESOURCE_SLICE, ACTION_OTHER, NULL, NULL));
}

TEST(vram, of_unlike_gpus_those_that_are_large_and_free_count)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n gpu=3");
    ground_put_gpus(&j.ground, "n",
                    GPU("gpu-0", "40", "") "," GPU("gpu-1", "80", "") "," GPU("gpu-2", "80", ""));
    ground_add(&j.ground, "pod two gpu=2 " NEED "70Gi");
    ground_add(&j.ground, "pod three gpu=3 " NEED "70Gi");
    ground_add(&j.ground, "pod all gpu=3 " NEED "total=200Gi");
    ground_add(&j.ground, "pod more gpu=3 " NEED "total=201Gi");
    EXPECT_TEXT(judge_verdict(&j, "two", "n"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "three", "n"),
                "UU VRAMScheduler: node(s) had GPUs with too little memory");
    EXPECT_TEXT(judge_verdict(&j, "all", "n"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "more", "n"),
                "UU VRAMScheduler: node(s) had GPUs with too little memory");
    ground_add(&j.ground, "pod busy gpu=1 " NEED "70Gi on=n"); /* takes a large one */
    EXPECT_TEXT(judge_verdict(&j, "two", "n"),
                "U VRAMScheduler: node(s) had too few free GPUs with as much memory");
    EXPECT_TEXT(judge_verdict(&j, "all", "n"),
                "U VRAMScheduler: node(s) had too few free GPUs with as much memory");
}

TEST(vram, what_joins_the_gpus_that_the_pod_would_get_adds_to_it)
{
#define AT(name, zone, root, domain)                                                               \
    GPU(name, "100",                                                                               \
        "'numaNode':{'int':" zone "},'pcieRoot':{'string':'" root                                  \
        "'},'nvlinkDomain':{'string':'" domain "'}")
#define WITH(zone, root, domain) AT("gpu-0", "0", "a", "x") "," AT("gpu-1", zone, root, domain)
#define NOTHING                  WITH("1", "b", "y")
#define ONE_ZONE                 WITH("0", "b", "y")
#define ONE_SWITCH               WITH("1", "a", "y")
#define ONE_LINK                 WITH("1", "b", "x")
#define ALL_OF_IT                WITH("0", "a", "x")
#define PEERS                    GPU("gpu-0", "100", "'nvlinkPeers':{'string':'gpu-1'}") "," GPU("gpu-1", "100", "")
    static const struct {
        const char *rule, *devices;
        int64_t score; /* 60, and */
    } cases[] = {
        {"nothing", NOTHING, 60}, {"a NUMA node", ONE_ZONE, 75}, {"a switch", ONE_SWITCH, 70},
        {"NVLink", ONE_LINK, 85}, {"all of it", ALL_OF_IT, 100}, {"peers", PEERS, 85},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        test_case("%s", cases[i].rule);
        ground_add(&j.ground, "node n gpu=2");
        ground_put_gpus(&j.ground, "n", cases[i].devices);
        ground_add(&j.ground, "pod p gpu=2 " NEED "50Gi");
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "n").normal, cases[i].score);
    }
}
