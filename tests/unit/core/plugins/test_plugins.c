#include "core/plugins/plugins.h"

#include "support/test.h"

TEST(plugins, the_default_profile_is_kube_schedulers_in_order_and_weight)
{
    static const struct {
        const char *name;
        int64_t weight;
    } expected[] = {
        {"SchedulingGates", 0},
        {"PrioritySort", 0},
        {"NodeName", 0},
        {"NodeUnschedulable", 0},
        {"TaintToleration", 3},
        {"NodeAffinity", 2},
        {"NodePorts", 0},
        {"NodeResourcesFit", 1},
        {"VolumeRestrictions", 0},
        {"NodeVolumeLimits", 0},
        {"VolumeBinding", 1},
        {"VolumeZone", 0},
        {"PodTopologySpread", 2},
        {"InterPodAffinity", 2},
        {"DynamicResources", 2},
        {"DefaultPreemption", 0},
        {"NodeResourcesBalancedAllocation", 1},
        {"ImageLocality", 1},
        {"NodeDeclaredFeatures", 0},
    };
    const struct profile *p = &built_in_profiles[0];
    EXPECT_STR(p->name, "default-scheduler");
    EXPECT_INT(p->n, LEN(expected));
    for (uint32_t i = 0; i < LEN(expected); i++) {
        EXPECT_TEXT(p->plugins[i].plugin->name, expected[i].name);
        EXPECT_INT(p->plugins[i].weight, expected[i].weight);
        EXPECT(p->plugins[i].args == NULL);
    }
}

TEST(plugins, a_plugins_number_is_its_place_in_the_table)
{
    for (uint32_t p = 0; p < n_built_in_profiles; p++)
        for (uint32_t i = 0; i < built_in_profiles[p].n; i++) {
            const struct profile_plugin *plugin = &built_in_profiles[p].plugins[i];
            EXPECT(plugin->number < n_plugins && plugins[plugin->number] == plugin->plugin);
        }
}
