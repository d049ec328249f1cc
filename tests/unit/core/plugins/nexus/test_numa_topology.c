#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

#define PLUGIN        &plugin_numa_topology
#define NOTE          "note:scheduling.kubenexus.io/"
#define STRICT        NOTE "numa-policy=single-numa-node "
#define SOFT          NOTE "numa-policy=best-effort "
#define ZONE(i, what) " label:numa.kubenexus.io/node-" #i "-" what

static const struct numa_args at_60 = {.aims_at_60 = true};
static const struct profile_plugin list[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = PLUGIN, .number = 2, .weight = 3},
};
static const struct profile_plugin list_60[] = {
    {.plugin = PLUGIN, .number = 2, .weight = 3, .args = &at_60},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const struct profile profile_60 = {STR("default-scheduler"), list_60, LEN(list_60)};

/* Two NUMA nodes of 16 cores and 64 GiB. */
#define HOST                                                                                       \
    "cpu=32 memory=128Gi label:numa.kubenexus.io/node-count=2" ZONE(0, "cpus=0-15")                \
        ZONE(0, "memory=64Gi") ZONE(1, "cpus=16-31") ZONE(1, "memory=64Gi")

static int64_t score(const struct profile *p, const char *node, const char *pod)
{
    AUTO(judge) j = {.profile = p};
    ground_add(&j.ground, "node n %s", node);
    ground_add(&j.ground, "pod p %s", pod);
    test_case("%s on %s", pod, node);
    struct judge_score s = judge_score(&j, PLUGIN, "p", "n");
    EXPECT(s.takes_part);
    return s.normal;
}

/* fit 75, bandwidth 50, distance 50, gang 50: 30 + 12.5 + 10 + 7.5 = 60. */
TEST(numa_topology, four_parts_of_40_25_20_and_15_percent)
{
#define POD SOFT "cpu=4 memory=16Gi "
    static const struct {
        const char *node, *pod;
        int64_t score;
    } cases[] = {
        {HOST, POD, 60},
        {HOST, POD NOTE "numa-affinity-node-id=1", 66},                      /* fit 90 */
        {HOST, SOFT "cpu=1 memory=1Gi " NOTE "numa-affinity-node-id=0", 70}, /* fit at most 100 */
        {HOST, POD NOTE "numa-affinity-node-id=4,5", 60},                    /* unknown ids */
        {HOST, POD NOTE "numa-anti-affinity-node-id=0,1", 25},               /* nowhere */
        {HOST, SOFT "cpu=20", 25},
        {HOST ZONE(0, "distance-1=21") ZONE(1, "distance-0=21"), POD, 59}, /* distance 45 */
        {HOST ZONE(0, "distance-1=21") ZONE(1, "distance-0=21"), POD NOTE "numa-distance-weight=80",
         52}, /* 100 - 88 */
        {HOST ZONE(0, "distance-1=21") ZONE(1, "distance-0=21"), POD NOTE "numa-distance-weight=0",
         70},
        {"cpu=16 memory=64Gi label:numa.kubenexus.io/node-count=1" ZONE(0, "cpus=0-15")
             ZONE(0, "memory=64Gi"),
         POD, 70},                                                             /* no others: 100 */
        {"cpu=32 memory=128Gi", POD, 50},                                      /* no data */
        {HOST " label:gpu.kubenexus.io/numa-node-0=1 gpu=1", POD "gpu=1", 75}, /* + 15 */
        {HOST " label:gpu.kubenexus.io/numa-node-0=1 gpu=2", POD "gpu=2", 35}, /* - 25 */
        {HOST " gpu=2", POD "gpu=2", 60},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(score(&profile, cases[i].node, cases[i].pod), cases[i].score);
}

TEST(numa_topology, the_fit_may_aim_at_60_percent)
{
    EXPECT_INT(score(&profile_60, HOST, SOFT "cpu=4 memory=16Gi"), 56);  /* 25 % full: 65 */
    EXPECT_INT(score(&profile_60, HOST, SOFT "cpu=12 memory=24Gi"), 70); /* 45 + 15 = 60 %: 100 */
    EXPECT_INT(score(&profile_60, HOST, SOFT "cpu=16 memory=64Gi"), 54); /* full: 60 */
}

TEST(numa_topology, intensive_pods_prefer_idle_bandwidth)
{
#define WIDE                                                                                       \
    "cpu=32 memory=256Gi label:numa.kubenexus.io/node-count=2" ZONE(0, "cpus=0-15")                \
        ZONE(0, "memory=128Gi") ZONE(0, "bandwidth=200000") ZONE(1, "cpus=16-31")                  \
            ZONE(1, "memory=128Gi") ZONE(1, "bandwidth=200000")
    /* fit 25, bandwidth 100 - 75: 10 + 6.25 + 10 + 7.5 */
    EXPECT_INT(score(&profile, WIDE, SOFT "cpu=12 memory=96Gi"), 33);
    /* a word against it: bandwidth 50 */
    EXPECT_INT(score(&profile, WIDE, SOFT "cpu=12 memory=96Gi " NOTE "memory-intensive=false"), 40);
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node busy " WIDE);
    ground_add(&j.ground, "node idle " WIDE);
    ground_add(&j.ground, "pod a cpu=2 memory=20Gi on=busy " STRICT);
    ground_add(&j.ground, "pod b cpu=2 memory=20Gi on=busy " STRICT NOTE "numa-affinity-node-id=1");
    ground_add(&j.ground, "pod c cpu=2 memory=20Gi on=idle " STRICT NOTE "memory-intensive=false");
    ground_add(&j.ground, "pod d cpu=2 memory=20Gi on=idle " STRICT NOTE
                          "memory-intensive=false " NOTE "numa-affinity-node-id=1");
    ground_add(&j.ground, "pod p cpu=12 memory=96Gi " SOFT);
    EXPECT(judge_score(&j, PLUGIN, "p", "idle").normal >
           judge_score(&j, PLUGIN, "p", "busy").normal);
}

/* Four sockets in a row: the two in the middle are closer to the others. */
TEST(numa_topology, the_central_zone_is_the_best)
{
#define FOUR                                                                                       \
    "cpu=64 memory=64Gi label:numa.kubenexus.io/node-count=4" ZONE(0, "cpus=0-15")                 \
        ZONE(0, "memory=16Gi") ZONE(1, "cpus=16-31") ZONE(1, "memory=16Gi") ZONE(2, "cpus=32-47")  \
            ZONE(2, "memory=16Gi") ZONE(3, "cpus=48-63") ZONE(3, "memory=16Gi")                    \
                ZONE(0, "distance-1=21") ZONE(0, "distance-2=31") ZONE(0, "distance-3=31")         \
                    ZONE(1, "distance-0=16") ZONE(1, "distance-2=16") ZONE(1, "distance-3=16")     \
                        ZONE(2, "distance-0=31") ZONE(2, "distance-1=21") ZONE(2, "distance-3=31") \
                            ZONE(3, "distance-0=31") ZONE(3, "distance-1=31")                      \
                                ZONE(3, "distance-2=31")
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n " FOUR);
    ground_add(&j.ground, "pod any cpu=1 " SOFT);
    ground_add(&j.ground, "pod edge cpu=1 " SOFT NOTE "numa-anti-affinity-node-id=1");
    /* fit 96.25: 38.5; distance 100 - 6 × 5 = 70: 14; else 12.5 + 7.5 */
    EXPECT_INT(judge_score(&j, PLUGIN, "any", "n").normal, 72);
    /* without zone 1 the best is a mean of 27.7: 100 - 88.3 = 11.7 */
    EXPECT_INT(judge_score(&j, PLUGIN, "edge", "n").normal, 60);
}

TEST(numa_topology, strict_pods_are_refused_where_they_fit_no_single_zone)
{
#define NO_ROOM "U NUMATopology: node(s) had no room on one NUMA node"
#define TOO_BIG "UU NUMATopology: node(s) had NUMA nodes that are too small"
#define POLICY  "note:numa.scheduling.kubenexus.io/policy="
    static const struct {
        const char *pod, *there, *verdict;
    } cases[] = {
        {"cpu=20 " STRICT, "cpu=1", TOO_BIG},
        {"cpu=20 " SOFT, "cpu=1", "fits"},
        {"cpu=20", "cpu=1", "fits"},
        {"cpu=16 " STRICT, "cpu=1 " STRICT, "fits"}, /* the other one is empty */
        {"cpu=16 " STRICT, "cpu=1", NO_ROOM},        /* half a core on each */
        {"memory=65Gi " STRICT, "cpu=1", TOO_BIG},
        {"memory=65Gi " STRICT "note:numa.scheduling.kubenexus.io/resources=cpu", "cpu=1", "fits"},
        {"cpu=20 " POLICY "restricted", "cpu=1", "fits"},  /* two are the fewest */
        {"cpu=8 " POLICY "restricted", "cpu=20", NO_ROOM}, /* 6 left on each */
        {"cpu=33 " POLICY "restricted", "cpu=1", TOO_BIG},
        {"cpu=1 " POLICY "isolated", "cpu=1 " STRICT, "fits"},
        {"cpu=1 " STRICT NOTE "numa-anti-affinity-node-id=0,1", "cpu=1", TOO_BIG},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n " HOST);
        ground_add(&j.ground, "node plain cpu=32 memory=128Gi");
        ground_add(&j.ground, "pod there on=n %s", cases[i].there);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        test_case("%s beside %s", cases[i].pod, cases[i].there);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
        EXPECT_TEXT(judge_verdict(&j, "p", "plain"), "fits"); /* who says nothing is not refused */
    }
}

/* Both NUMA nodes have 12 of 16 cores in use. */
TEST(numa_topology, what_is_in_use_counts)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n " HOST);
    ground_add(&j.ground, "pod a cpu=12 on=n " STRICT);
    ground_add(&j.ground, "pod b cpu=12 on=n " STRICT);
    ground_add(&j.ground, "pod strict cpu=6 " STRICT);
    ground_add(&j.ground, "pod soft cpu=6 " SOFT);
    ground_add(&j.ground, "pod small cpu=4 " STRICT);
    EXPECT_TEXT(judge_verdict(&j, "strict", "n"), NO_ROOM);
    EXPECT_TEXT(judge_verdict(&j, "soft", "n"), "fits");
    EXPECT_INT(judge_score(&j, PLUGIN, "soft", "n").normal, 25);
    EXPECT_TEXT(judge_verdict(&j, "small", "n"), "fits");
    EXPECT(
        judge_wakes(&j, PLUGIN, "strict", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod a on=n", NULL));
    EXPECT_TEXT(judge_view(&j, "strict"), "");
    cluster_take(j.ground.cluster, ground_pod(&j.ground, "a"));
    EXPECT_TEXT(judge_view(&j, "strict"), "n");
}

TEST(numa_topology, gangs_lie_as_they_ask)
{
#define GANG                                                                                       \
    STRICT "label:pod-group.scheduling.kubenexus.io/name=g "                                       \
           "label:pod-group.scheduling.kubenexus.io/min-available=2 cpu=4 memory=16Gi "
    static const struct {
        const char *spread;
        int64_t first, second; /* scores of the first and of the second member */
    } cases[] = {
        {"packed", 60, 57},   /* fit 50, gang 100: 20 + 12.5 + 10 + 15 = 57.5; or fit 75, gang 20 */
        {"balanced", 60, 67}, /* the other zone: fit 75, gang 100 */
        {"isolated", 60, 67},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        test_case("%s", cases[i].spread);
        ground_add(&j.ground, "node n " HOST);
        ground_add(&j.ground, "pod p " GANG NOTE "gang-numa-spread=%s", cases[i].spread);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "n").normal, cases[i].first);
        ground_add(&j.ground, "pod q on=n " GANG NOTE "gang-numa-spread=%s", cases[i].spread);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "n").normal, cases[i].second);
    }
}

TEST(numa_topology, what_a_node_reports_as_available_counts)
{
#define NRT(available)                                                                             \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology','metadata':{"     \
    "'name':'n'},'zones':[" REPORTED("0", available) "," REPORTED("1", "4") "]}"
#define REPORTED(id, available)                                                                    \
    "{'name':'node-" id "','type':'Node','resources':[{'name':'cpu','capacity':'16',"              \
    "'allocatable':'16','available':'" available "'},{'name':'memory','capacity':'16Gi',"          \
    "'allocatable':'16Gi','available':'16Gi'}]}"
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=32 memory=32Gi");
    ground_add(&j.ground, "pod p cpu=6 memory=1Gi note:scheduling.kubenexus.io/numa-policy="
                          "single-numa-node");
    EXPECT_TEXT(judge_view(&j, "p"), "n");
    struct object full = object_of_json(&j.ground.mem, NRT("4"));
    struct object free = object_of_json(&j.ground.mem, NRT("6"));
    numa_reports_put(j.ground.cluster, STR("n"), full.node_topology);
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "U NUMATopology: node(s) had no room on one NUMA node");
    EXPECT_TEXT(judge_view(&j, "p"), "");
    numa_reports_put(j.ground.cluster, STR("n"), free.node_topology);
    EXPECT_TEXT(judge_view(&j, "p"), "n");
}

/* --- kubelets that turn pods away --- */

#define AMOUNT(name, has, left) "{'name':'" name "','allocatable':'" has "','available':'" left "'}"
#define ALIGNED(id, cpu)                                                                           \
    "{'name':'node-" id "','type':'Node','resources':[" AMOUNT("cpu", "8", cpu) "," AMOUNT(        \
        "memory", "16Gi", "16Gi") "]}"
#define KUBELET(policy, cpu)                                                                       \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology','metadata':{"     \
    "'name':'n'},'topologyPolicies':['" policy                                                     \
    "'],'zones':[" ALIGNED("0", cpu) "," ALIGNED("1", cpu) "]}"

static void report(struct judge *j, const char *json)
{
    struct object o = object_of_json(&j->ground.mem, json);
    numa_reports_put(ground_cluster(&j->ground), o.meta->name, o.node_topology);
}

TEST(numa_topology, keeps_pods_off_hosts_whose_kubelet_would_turn_them_away)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=16 memory=32Gi");
    ground_add(&j.ground, "node other cpu=16 memory=32Gi");
    ground_add(&j.ground, "pod plain guaranteed cpu=6 memory=1Gi");
    ground_add(&j.ground, "pod large guaranteed cpu=9 memory=1Gi");
    ground_add(&j.ground, "pod burstable cpu=9 memory=1Gi");
    EXPECT_TEXT(judge_verdict(&j, "plain", "n"), "fits"); /* nobody says anything */
    report(&j, KUBELET("SingleNUMANodePodLevel", "5"));
    EXPECT_TEXT(judge_verdict(&j, "plain", "n"),
                "U NUMATopology: node(s) had a kubelet that could not align it");
    EXPECT_TEXT(judge_verdict(&j, "large", "n"),
                "UU NUMATopology: node(s) had a kubelet that could never align it");
    EXPECT_TEXT(judge_verdict(&j, "burstable", "n"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "large", "other"), "fits");
    EXPECT(!judge_score(&j, PLUGIN, "plain", "other").takes_part); /* as kube-scheduler scores it */
    EXPECT_TEXT(judge_scan(&j, "plain"), "other");
    EXPECT_TEXT(judge_view(&j, "plain"), "other");
    report(&j, KUBELET("SingleNUMANodePodLevel", "6"));
    EXPECT_TEXT(judge_verdict(&j, "plain", "n"), "fits");
    report(&j, KUBELET("BestEffortPodLevel", "1"));
    EXPECT_TEXT(judge_verdict(&j, "large", "n"), "fits");
}
