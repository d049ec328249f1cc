#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin list[] = {
    {.plugin = &plugin_node_name, .number = 1},
    {.plugin = &plugin_profile_classifier, .number = 2},
};
static const struct profile with = {STR("default-scheduler"), list, 2};
static const struct profile without = {STR("default-scheduler"), list, 1};

static void name_tier(struct judge *j, const char *tier)
{
    struct cluster *c = ground_cluster(&j->ground);
    struct pair_sym pair = {ground_sym(&j->ground, "tenant.kubenexus.io/tier"),
                            ground_sym(&j->ground, tier)};
    cluster_put_namespace(c, ground_sym(&j->ground, "default"),
                          names_label_set(&c->names, &pair, 1));
}

TEST(profile_classifier, says_who_and_what_pods_are_to_all_plugins)
{
    AUTO(judge) j = {.profile = &with};
    ground_add(&j.ground, "pod p owner:Job=j");
    EXPECT_INT(judge_class(&j, "p")->identity.is.workload, WORKLOAD_BATCH);
    EXPECT_INT(judge_class(&j, "p")->identity.tier, TIER_SILVER);
    AUTO(judge) k = {.profile = &without};
    ground_add(&k.ground, "pod p owner:Job=j");
    EXPECT_INT(judge_class(&k, "p")->identity.is.workload, WORKLOAD_UNKNOWN);
    EXPECT_INT(judge_class(&k, "p")->identity.tier, TIER_NONE);
}

TEST(profile_classifier, a_namespace_that_gets_a_tier_gives_its_pods_another_class)
{
    AUTO(judge) j = {.profile = &with};
    ground_add(&j.ground, "pod p cpu=1");
    const struct class *before = judge_class(&j, "p");
    EXPECT(judge_class(&j, "p") == before);
    name_tier(&j, "gold");
    EXPECT(judge_class(&j, "p") != before);
    EXPECT_INT(judge_class(&j, "p")->identity.tier, TIER_GOLD);
    name_tier(&j, "bronze");
    EXPECT_INT(judge_class(&j, "p")->identity.tier, TIER_BRONZE);
}
