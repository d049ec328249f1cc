#include "core/plugins/args.h"
#include "read.h"

/* Reads the arguments of one of our plugins, which is enabled; the line of `args` is 9. */
static const void *args_of(struct scheduler_config *c, const char *plugin, const char *args,
                           const char **errors)
{
    AUTO(buf) text = {0};
    buf_printf(&text,
               "profiles:\n- plugins:\n    multiPoint: {enabled: [{name: %s}]}\n  pluginConfig:\n"
               "  - name: %s\n    args:\n      %s",
               plugin, plugin, args);
    *errors = config_errors(c, text.p);
    for (uint32_t i = 0; c->n_profiles && i < c->profiles[0].n; i++)
        if (strcmp(c->profiles[0].plugins[i].plugin->name, plugin) == 0)
            return c->profiles[0].plugins[i].args;
    return NULL;
}

TEST(args_nexus, of_the_classifier)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct identity_rules *a =
        args_of(&c, "ProfileClassifier", "{allowPodTier: true, defaultTier: Bronze}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a);
    EXPECT(a->lets_pods_rise);
    EXPECT_INT(a->default_tier, TIER_BRONZE);
}

TEST(args_nexus, of_workload_aware_scoring)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct workload_args *a = args_of(&c, "WorkloadAwareScoring", "{gpuWeight: 60}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a);
    EXPECT_INT(a->cpu_weight, 35);
    EXPECT_INT(a->memory_weight, 35);
    EXPECT_INT(a->gpu_weight, 60);
}

TEST(args_nexus, of_the_line)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct line_args *a = args_of(&c, "LinePolicy", "{policy: sjf, patience: 0}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->policy == LINE_SJF);
    EXPECT_INT(a->patience, 0);
    AUTO(scheduler_config) other = {0};
    a = args_of(&other, "LinePolicy", "{policy: fifo}", &errors);
    REQUIRE(a && a->policy == LINE_FIFO);
    EXPECT_INT(a->patience, 2);
}

TEST(args_nexus, of_fair_queues)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct fair_queues_args *a = args_of(&c, "FairQueues", "{heads: 1}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a);
    EXPECT(!a->shares_namespaces && a->reclaim == RECLAIM_GUARANTEE && a->heads == 1);
    EXPECT_INT(a->reclaim_delay_ms + a->half_life_ms, 0);
    AUTO(scheduler_config) all = {0};
    a = args_of(&all, "FairQueues",
                "{namespaceFairness: true, reclaim: FairShare, reclaimDelaySeconds: 5, "
                "usageHalfLife: 7d}",
                &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->shares_namespaces && a->reclaim == RECLAIM_FAIR_SHARE && a->heads == 4);
    EXPECT_INT(a->reclaim_delay_ms, 5000);
    EXPECT_INT(a->half_life_ms, 7 * 24 * 3600 * 1000);
    AUTO(scheduler_config) never = {0};
    a = args_of(&never, "FairQueues", "{reclaim: Never, usageHalfLife: 10m}", &errors);
    REQUIRE(a && a->reclaim == RECLAIM_NEVER);
    EXPECT_INT(a->half_life_ms, 600000);
}

TEST(args_nexus, of_topology)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct topology_args *a =
        args_of(&c, "TopologyScoring", "{levels: [zone, example.com/rack]}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->levels.n == 2);
    EXPECT_STR(a->levels.at[1], "example.com/rack");
    EXPECT(!args_of(&c, "TopologyScoring", "{levels: []}", &errors));
}

TEST(args_nexus, of_fabric)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct fabric_args *a =
        args_of(&c, "NetworkFabricScore", "{levels: [example.com/rack, zone]}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->levels.n == 2);
    EXPECT_STR(a->levels.at[0], "example.com/rack");
    EXPECT(!args_of(&c, "NetworkFabricScore", "{}", &errors));
}

TEST(args_nexus, of_numa)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct numa_args *a = args_of(&c, "NUMATopology", "{numaFit: target60}", &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a);
    EXPECT(a->aims_at_60);
    a = args_of(&c, "NUMATopology", "{numaFit: mostFree}", &errors);
    EXPECT(a && !a->aims_at_60);
}

TEST(args_nexus, of_tenants_and_hardware)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct tenant_args *a =
        args_of(&c, "TenantHardwareAffinityScore",
                "{allowedTiers: [{tier: bronze, hardware: [economy, standard]}, {tenant: t, "
                "hardware: []}], scores: {gold: {premium: 9, standard: 8, economy: 7}, silver: "
                "{premium: 6, standard: 5, economy: 4}, bronze: {premium: 3, standard: 2, economy: "
                "1}}}",
                &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->allowed.n == 2 && a->has_scores);
    EXPECT_INT(a->allowed.at[0].tier, TIER_BRONZE);
    EXPECT_INT(a->allowed.at[0].hardware, 1 << HARDWARE_ECONOMY | 1 << HARDWARE_STANDARD);
    EXPECT_STR(a->allowed.at[1].tenant, "t");
    EXPECT_INT(a->allowed.at[1].hardware, 0);
    EXPECT_INT(a->scores[TIER_GOLD][HARDWARE_PREMIUM], 9);
    EXPECT_INT(a->scores[TIER_BRONZE][HARDWARE_ECONOMY], 1);
}

TEST(args_nexus, that_make_no_sense_are_refused_by_name)
{
    static const struct {
        const char *plugin, *args, *error;
    } cases[] = {
        {"ProfileClassifier", "{defaultTier: platinum}",
         "9 profiles[0].pluginConfig[0].args.defaultTier: \"platinum\" is none of gold, silver, "
         "bronze"},
        {"ProfileClassifier", "{tier: gold}",
         "9 profiles[0].pluginConfig[0].args.tier: there is no such field"},
        {"WorkloadAwareScoring", "{cpuWeight: 101}",
         "9 profiles[0].pluginConfig[0].args.cpuWeight: 101: not in valid range [0, 100]"},
        {"WorkloadAwareScoring", "{cpuWeight: 0, memoryWeight: 0, gpuWeight: 0}",
         "9 profiles[0].pluginConfig[0].args: cpuWeight, memoryWeight and gpuWeight are all 0"},
        {"NUMATopology", "{numaFit: snug}",
         "9 profiles[0].pluginConfig[0].args.numaFit: \"snug\" is none of mostFree, target60"},
        {"TopologyScoring", "{levels: [a b]}",
         "9 profiles[0].pluginConfig[0].args.levels[0]: \"a b\" is not a name ([prefix/]name)"},
        {"TenantHardwareAffinityScore", "{allowedTiers: [{hardware: [premium]}]}",
         "9 profiles[0].pluginConfig[0].args.allowedTiers[0]: needs a tenant or a tier"},
        {"TenantHardwareAffinityScore", "{allowedTiers: [{tier: gold, hardware: [best]}]}",
         "9 profiles[0].pluginConfig[0].args.allowedTiers[0].hardware[0]: \"best\" is none of "
         "premium, standard, economy"},
        {"TenantHardwareAffinityScore", "{scores: {gold: {premium: 101}, silver: {}}}",
         "9 profiles[0].pluginConfig[0].args.scores.bronze: missing\n9 "
         "profiles[0].pluginConfig[0].args.scores.gold.premium: 101: not in valid range [0, 100]"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        const char *errors;
        test_case("%s %s", cases[i].plugin, cases[i].args);
        args_of(&c, cases[i].plugin, cases[i].args, &errors);
        EXPECT_TEXT(errors, cases[i].error);
    }
}

TEST(args_nexus, of_fragmentation)
{
    AUTO(scheduler_config) c = {0};
    const char *errors;
    const struct fragmentation_args *a =
        args_of(&c, "ResourceFragmentationScore",
                "{policy: FGD, allPods: true, demand: [{gpus: 1, gpuMilli: 500, cpuMilli: 4000, "
                "weight: 3}, {gpus: 8, models: [H100, H200]}]}",
                &errors);
    EXPECT_TEXT(errors, "");
    REQUIRE(a && a->demand.n == 2);
    EXPECT_INT(a->policy, GPU_FGD);
    EXPECT(a->all_pods && a->demand.at[0].share == 0.75 && a->demand.at[1].share == 0.25);
    EXPECT_INT(a->demand.at[0].milli, 500);
    EXPECT_INT(a->demand.at[0].cpu_milli, 4000);
    EXPECT_INT(a->demand.at[1].milli, 1000);
    EXPECT_STR(a->demand.at[1].models.at[1], "H200");
}

TEST(args_nexus, demand_is_observed_only_if_asked_for)
{
    AUTO(scheduler_config) c = {0}, d = {0};
    const char *errors;
    const struct fragmentation_args *a =
        args_of(&c, "ResourceFragmentationScore", "{observeDemand: true}", &errors);
    EXPECT_TEXT(errors, "");
    EXPECT(a && a->observes_demand && a->demand.n == 0);
    a = args_of(&d, "ResourceFragmentationScore", "{policy: FGD}", &errors);
    EXPECT(a && !a->observes_demand);
}

TEST(args_nexus, of_fragmentation_that_make_no_sense)
{
    static const struct {
        const char *args, *error;
    } cases[] = {
        {"{policy: Best}", "args.policy: \"Best\" is no policy"},
        {"{demand: [{gpus: 33}]}", "args.demand[0].gpus: "},
        {"{demand: [{gpus: 1}, {gpuMilli: 0}]}", "args.demand[1].gpuMilli: "},
        {"{demand: [{gpus: 1, weight: 0}]}", "args.demand[0].weight: "},
        {"{demand: [{gpus: 1}], observeDemand: true}", "args.observeDemand: demand is told, too"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].args);
        AUTO(scheduler_config) c = {0};
        const char *errors;
        args_of(&c, "ResourceFragmentationScore", cases[i].args, &errors);
        EXPECT(strstr(errors, cases[i].error));
    }
}
