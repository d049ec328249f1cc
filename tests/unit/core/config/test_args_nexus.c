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

TEST(args_nexus, that_make_no_sense_are_refused_by_name)
{
    static const struct {
        const char *plugin, *args, *error;
    } cases[] = {
        {"ProfileClassifier",    "{defaultTier: platinum}",
         "9 profiles[0].pluginConfig[0].args.defaultTier: \"platinum\" is none of gold, silver, "
         "bronze"                                                                             },
        {"ProfileClassifier",    "{tier: gold}",
         "9 profiles[0].pluginConfig[0].args.tier: there is no such field"                    },
        {"WorkloadAwareScoring", "{cpuWeight: 101}",
         "9 profiles[0].pluginConfig[0].args.cpuWeight: 101: not in valid range [0, 100]"     },
        {"WorkloadAwareScoring", "{cpuWeight: 0, memoryWeight: 0, gpuWeight: 0}",
         "9 profiles[0].pluginConfig[0].args: cpuWeight, memoryWeight and gpuWeight are all 0"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        const char *errors;
        test_case("%s %s", cases[i].plugin, cases[i].args);
        args_of(&c, cases[i].plugin, cases[i].args, &errors);
        EXPECT_TEXT(errors, cases[i].error);
    }
}
