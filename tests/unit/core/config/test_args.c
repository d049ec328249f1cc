#include "core/plugins/args.h"

#include "read.h"

/* Reads one plugin's arguments; the line of `args` is 7. */
static bool args_of(struct scheduler_config *c, const char *plugin, const char *args)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "profiles:\n- pluginConfig:\n  - name: %s\n    args:\n      %s", plugin,
               args);
    return config_of(c, text.p);
}

static const void *find(const struct scheduler_config *c, const char *name)
{
    const struct profile *p = &c->profiles[0];
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->plugins[i].plugin->name, name) == 0)
            return p->plugins[i].args;
    return NULL;
}

TEST(args, of_fit)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(args_of(&c, "NodeResourcesFit",
                    "{kind: NodeResourcesFitArgs, apiVersion: kubescheduler.config.k8s.io/v1, "
                    "ignoredResources: [a.b/c], ignoredResourceGroups: [nvidia.com], "
                    "scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu}, "
                    "{name: a.b/c, weight: 9}], requestedToCapacityRatio: {shape: [{utilization: "
                    "0, score: 10}, {utilization: 100, score: 0}]}}}"));
    const struct fit_args *a = find(&c, "NodeResourcesFit");
    REQUIRE(a);
    EXPECT_INT(a->strategy, FIT_REQUESTED_TO_CAPACITY);
    EXPECT_INT(a->resources.n, 2);
    EXPECT_STR(a->resources.at[0].name, "cpu");
    EXPECT_INT(a->resources.at[0].weight, 1);
    EXPECT_INT(a->resources.at[1].weight, 9);
    EXPECT_INT(a->shape.n, 2);
    EXPECT_INT(a->shape.at[1].utilization, 100);
    EXPECT_INT(a->shape.at[0].score, 10);
    EXPECT_STR(a->ignored_resources.at[0], "a.b/c");
    EXPECT_STR(a->ignored_groups.at[0], "nvidia.com");
}

TEST(args, that_are_absent_or_empty_mean_the_defaults)
{
    AUTO(scheduler_config) c = {0};
    EXPECT(args_of(&c, "NodeResourcesFit", "null"));
    EXPECT(!find(&c, "NodeResourcesFit"));
    REQUIRE(args_of(&c, "NodeResourcesFit", "{}"));
    const struct fit_args *a = find(&c, "NodeResourcesFit");
    EXPECT(a && a->strategy == FIT_LEAST_ALLOCATED && a->resources.n == 0);
}

TEST(args, of_balanced_allocation)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(args_of(&c, "NodeResourcesBalancedAllocation",
                    "{resources: [{name: cpu, weight: 1}, {name: nvidia.com/gpu}]}"));
    const struct balanced_args *a = find(&c, "NodeResourcesBalancedAllocation");
    REQUIRE(a && a->resources.n == 2);
    EXPECT_STR(a->resources.at[1].name, "nvidia.com/gpu");
    EXPECT_INT(a->resources.at[1].weight, 1);
}

TEST(args, of_topology_spread)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(args_of(&c, "PodTopologySpread",
                    "{defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: zone, "
                    "whenUnsatisfiable: DoNotSchedule}, {maxSkew: 1, topologyKey: zone, "
                    "whenUnsatisfiable: ScheduleAnyway}]}"));
    const struct spread_args *a = find(&c, "PodTopologySpread");
    REQUIRE(a && a->is_list && a->defaults.n == 2);
    EXPECT_STR(a->defaults.at[0].topology_key, "zone");
    EXPECT_INT(a->defaults.at[0].max_skew, 2);
    EXPECT(a->defaults.at[0].is_hard && !a->defaults.at[1].is_hard);
}

TEST(args, of_plugins_to_come_are_accepted)
{
    static const char *const cases[][2] = {
        {"DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}"},
        {"InterPodAffinity",
         "{hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}"},
        {"DynamicResources", "{filterTimeout: 0s, bindingTimeout: 1s}"},
        {"VolumeBinding", "{bindTimeoutSeconds: 5, shape: [{utilization: 3, score: 1}]}"},
        {"Coscheduling", "{permitWaitingTimeSeconds: 10}"},
        {"Coscheduling", "{gangMetrics: perGroup}"},
        {"Coscheduling", "{gangMetrics: perNamespace}"},
        {"NodeAffinity", "{addedAffinity: null}"},
        {"NodeName", "{}"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i][0]);
        EXPECT(args_of(&c, cases[i][0], cases[i][1]));
    }
}

static const struct {
    const char *plugin, *args, *path, *error;
} senseless[] = {
    {"NodeResourcesFit", "7", "", "7 is not an object"},
    {"NodeResourcesFit", "{kind: VolumeBindingArgs}", ".kind",
     "\"VolumeBindingArgs\" is not NodeResourcesFitArgs"},
    {"NodeResourcesFit", "{apiVersion: v1}", ".apiVersion",
     "\"v1\" is not kubescheduler.config.k8s.io/v1"},
    {"NodeResourcesFit", "{scoringStrategy: {type: Best}}", ".scoringStrategy.type",
     "\"Best\" is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio"},
    {"NodeResourcesFit", "{scoringStrategy: {}}", ".scoringStrategy.type",
     "\"\" is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio"},
    {"NodeResourcesFit",
     "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}}",
     ".scoringStrategy.resources[0].weight",
     "101: resource weight of cpu not in valid range (0, 100]"},
    {"NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, resources: [{weight: 1}]}}",
     ".scoringStrategy.resources[0].name", "missing"},
    {"NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}",
     ".scoringStrategy.requestedToCapacityRatio",
     "must be specified when type is RequestedToCapacityRatio"},
    {"NodeResourcesFit",
     "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}}",
     ".scoringStrategy.requestedToCapacityRatio.shape", "at least one point must be specified"},
    {"NodeResourcesFit", "{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}",
     ".scoringStrategy.requestedToCapacityRatio",
     "must be nil when type is not RequestedToCapacityRatio"},
    {"NodeResourcesFit",
     "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
     "[{utilization: 5, score: 1}, {utilization: 5, score: 2}]}}}",
     ".scoringStrategy.requestedToCapacityRatio.shape[1].utilization",
     "5: values must be sorted in increasing order"},
    {"NodeResourcesFit",
     "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
     "[{utilization: 5, score: 11}]}}}",
     ".scoringStrategy.requestedToCapacityRatio.shape[0].score", "11: not in valid range [0, 10]"},
    {"NodeResourcesFit", "{ignoredResources: ['a b']}", ".ignoredResources[0]",
     "\"a b\" is not a name ([prefix/]name)"},
    {"NodeResourcesFit", "{ignoredResources: ['/b']}", ".ignoredResources[0]",
     "\"/b\" is not a name ([prefix/]name)"},
    {"NodeResourcesFit", "{ignoredResourceGroups: [a/b]}", ".ignoredResourceGroups[0]",
     "\"a/b\": resource group name can't contain '/'"},
    {"NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}",
     ".resources[0].weight", "2: must be 1"},
    {"NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: cpu}]}",
     ".resources[1].name", "\"cpu\" is there twice"},
    {"PodTopologySpread", "{defaultingType: Some}", ".defaultingType",
     "\"Some\" is neither System nor List"},
    {"PodTopologySpread",
     "{defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}",
     ".defaultingType", "System, when defaultConstraints are not empty: List is wanted"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{topologyKey: a, whenUnsatisfiable: "
     "ScheduleAnyway}]}",
     ".defaultConstraints[0].maxSkew", "0: not in valid range (0, inf)"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{maxSkew: 1, whenUnsatisfiable: "
     "ScheduleAnyway}]}",
     ".defaultConstraints[0].topologyKey", "can not be empty"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a}]}",
     ".defaultConstraints[0].whenUnsatisfiable",
     "\"\" is neither DoNotSchedule nor ScheduleAnyway"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, "
     "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}",
     ".defaultConstraints[0].labelSelector",
     "must not be set: the selector of a default comes from each pod's owners"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, "
     "whenUnsatisfiable: DoNotSchedule, minDomains: 2}]}",
     ".defaultConstraints[0].minDomains", "not supported yet in a default constraint"},
    {"PodTopologySpread",
     "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, "
     "whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: "
     "DoNotSchedule}]}",
     ".defaultConstraints[1]", "{a, DoNotSchedule} is there twice"},
    {"NodeAffinity", "{addedAffinity: {}}", ".addedAffinity", "not supported yet"},
    {"NodeName", "{a: 1}", ".a", "there is no such field"},
    {"DefaultPreemption", "{minCandidateNodesPercentage: 101}", ".minCandidateNodesPercentage",
     "101: not in valid range [0, 100]"},
    {"DefaultPreemption", "{minCandidateNodesAbsolute: -1}", ".minCandidateNodesAbsolute",
     "-1: not in valid range [0, inf)"},
    {"DefaultPreemption", "{minCandidateNodesAbsolute: 0, minCandidateNodesPercentage: 0}",
     ".minCandidateNodesPercentage",
     "cannot be zero at the same time as minCandidateNodesAbsolute"},
    {"InterPodAffinity", "{hardPodAffinityWeight: 101}", ".hardPodAffinityWeight",
     "101: not in valid range [0, 100]"},
    {"DynamicResources", "{filterTimeout: -1s}", ".filterTimeout", "must be zero or positive"},
    {"DynamicResources", "{bindingTimeout: 999ms}", ".bindingTimeout", "must be at least 1 second"},
    {"VolumeBinding", "{bindTimeoutSeconds: -1}", ".bindTimeoutSeconds",
     "-1: should not be a negative value"},
    {"Coscheduling", "{gangMetrics: perPod}", ".gangMetrics",
     "\"perPod\" is neither perNamespace nor perGroup"},
    {"Coscheduling", "{permitWaitingTimeSeconds: -1}", ".permitWaitingTimeSeconds",
     "-1: not in valid range [0, 1000000000]"},
    {"FairQueues", "{reclaim: Always}", ".reclaim",
     "\"Always\" is none of Guarantee, FairShare, Never"},
    {"FairQueues", "{heads: 17}", ".heads", "17: not in valid range [1, 16]"},
    {"FairQueues", "{heads: 0}", ".heads", "0: not in valid range [1, 16]"},
    {"FairQueues", "{reclaimDelaySeconds: -1}", ".reclaimDelaySeconds",
     "-1: not in valid range [0, 1000000000]"},
    {"FairQueues", "{usageHalfLife: 9m59s}", ".usageHalfLife",
     "\"9m59s\" is no duration from 10m to 90d"},
    {"FairQueues", "{usageHalfLife: 91d}", ".usageHalfLife",
     "\"91d\" is no duration from 10m to 90d"},
    {"FairQueues", "{usageHalfLife: long}", ".usageHalfLife",
     "\"long\" is no duration from 10m to 90d"},
    {"GangPreemption", "{maxVictims: -1}", ".maxVictims", "-1: not in valid range [0, 10000]"},
    {"GangPreemption", "{budgets: sometimes}", ".budgets", "\"sometimes\" is none of last, never"},
    {"GangPreemption", "{victimOrder: [tier, age]}", ".victimOrder[1]",
     "\"age\" is none of tier, priority, workload, lostWork, start"},
    {"GangPreemption", "{victimOrder: [tier, tier]}", ".victimOrder[1]", "\"tier\" is there twice"},
};

TEST(args, that_make_no_sense_are_refused)
{
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(senseless); i++) {
        AUTO(buf) path = {0};
        test_case("%s %s", senseless[i].plugin, senseless[i].args);
        EXPECT(!args_of(&c, senseless[i].plugin, senseless[i].args));
        if (!EXPECT_INT(c.errors.n, 1))
            continue;
        buf_printf(&path, "profiles[0].pluginConfig[0].args%s", senseless[i].path);
        EXPECT_STR(c.errors.at[0].path, path.p);
        EXPECT_STR(c.errors.at[0].text, senseless[i].error);
    }
}

TEST(args, of_unknown_plugins_and_twice_are_refused)
{
    AUTO(scheduler_config) c = {0};
    EXPECT_TEXT(config_errors(&c, "profiles:\n- pluginConfig:\n  - name: Nope\n    args: {a: 1}"),
                "5 profiles[0].pluginConfig[0].name: plugin \"Nope\" does not exist");
    EXPECT_TEXT(
        config_errors(&c, "profiles:\n- pluginConfig:\n  - name: NUMA\n  - name: NUMATopology"),
        "6 profiles[0].pluginConfig[1]: \"NUMATopology\" is there twice");
}
