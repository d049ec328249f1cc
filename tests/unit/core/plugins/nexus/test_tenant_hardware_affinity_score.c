#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

#define PLUGIN &plugin_tenant_hardware_affinity_score

static const struct allowed_tiers allowed[] = {
    {.tier = TIER_BRONZE, .hardware = 1 << HARDWARE_ECONOMY},
    {.tenant = STR("default"), .hardware = 1 << HARDWARE_STANDARD},
};
static const struct tenant_args by_tier = {.allowed = {allowed, 1}};
static const struct tenant_args by_tenant = {.allowed = {allowed, 2}};
static const struct tenant_args other_scores = {.has_scores = true,
                                                .scores = {[TIER_GOLD] = {0, 1, 2, 3}}};

/* With ProfileClassifier, and these arguments. */
#define PROFILE(name, arguments)                                                                   \
    static const struct profile_plugin name##_list[] = {                                           \
        {.plugin = &plugin_profile_classifier, .number = 1},                                       \
        {.plugin = PLUGIN, .number = 2, .weight = 3, .args = arguments},                           \
    };                                                                                             \
    static const struct profile name = {STR("default-scheduler"), name##_list, 2}
PROFILE(plain, NULL);
PROFILE(tier_list, &by_tier);
PROFILE(tenant_list, &by_tenant);
PROFILE(scores, &other_scores);

#define TIER(name) "node " name " gpu=8 label:hardware.kubenexus.io/tier=" name

static void add_nodes(struct judge *j)
{
    ground_add(&j->ground, TIER("premium"));
    ground_add(&j->ground, TIER("standard"));
    ground_add(&j->ground, TIER("economy"));
    ground_add(&j->ground, "node none gpu=8");
}

TEST(tenant_hardware, three_by_three_and_no_information)
{
    static const struct {
        const char *class;
        int64_t premium, standard, economy, none;
    } cases[] = {
        {"high-priority", 100, 70, 60, 50},
        {"medium-priority", 20, 100, 70, 50},
        {"low-priority", 20, 20, 100, 50},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &plain};
        test_case("%s", cases[i].class);
        add_nodes(&j);
        ground_add(&j.ground, "pod p gpu=1 class=%s", cases[i].class);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "premium").normal, cases[i].premium);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "standard").normal, cases[i].standard);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "economy").normal, cases[i].economy);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "none").normal, cases[i].none);
    }
}

TEST(tenant_hardware, leaves_pods_without_accelerators_or_tier_alone)
{
    AUTO(judge) j = {.profile = &plain};
    add_nodes(&j);
    ground_add(&j.ground, "pod web class=high-priority");
    ground_add(&j.ground, "pod plain gpu=1");
    EXPECT(!judge_score(&j, PLUGIN, "web", "premium").takes_part);
    EXPECT(!judge_score(&j, PLUGIN, "plain", "premium").takes_part);
}

TEST(tenant_hardware, cost_breaks_ties_and_nothing_else)
{
    AUTO(judge) j = {.profile = &plain};
    static const char *const costs[] = {"2", "6", "10"};
    for (size_t i = 0; i < LEN(costs); i++)
        ground_add(&j.ground,
                   "node c%s gpu=1 label:hardware.kubenexus.io/tier=premium "
                   "label:hardware.kubenexus.io/cost-hour=%s",
                   costs[i], costs[i]);
    ground_add(&j.ground, "node silent gpu=1 label:hardware.kubenexus.io/tier=premium");
    ground_add(&j.ground, "node cheap gpu=1 label:hardware.kubenexus.io/tier=standard "
                          "label:hardware.kubenexus.io/cost-hour=2");
    ground_add(&j.ground, "pod p gpu=1 class=high-priority");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "c2").normal, 100);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "c6").normal, 96); /* 9 × 4/8, rounded down */
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "c10").normal, 91);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "c10").raw, 100);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "silent").normal, 91);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "cheap").normal, 70);
    EXPECT_TEXT(judge_scan(&j, "p"), "c2");
}

TEST(tenant_hardware, a_tier_that_is_not_allowed_is_refused)
{
    static const char *const refused = "UU TenantHardwareAffinityScore: node(s) had hardware of a "
                                       "tier that the tenant may not use";
    AUTO(judge) j = {.profile = &tier_list};
    add_nodes(&j);
    ground_add(&j.ground, "pod low gpu=1 class=low-priority");
    ground_add(&j.ground, "pod high gpu=1 class=high-priority");
    EXPECT_TEXT(judge_verdict(&j, "low", "premium"), refused);
    EXPECT_TEXT(judge_verdict(&j, "low", "standard"), refused);
    EXPECT_TEXT(judge_verdict(&j, "low", "economy"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "low", "none"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "high", "premium"), "fits");
    EXPECT(judge_wakes(&j, PLUGIN, "low", EVENT_NODE, ACTION_NODE_LABEL, TIER("premium"),
                       "node premium gpu=8 label:hardware.kubenexus.io/tier=economy"));
    AUTO(judge) k = {.profile = &tenant_list};
    add_nodes(&k);
    ground_add(&k.ground, "pod p gpu=1");
    EXPECT_TEXT(judge_verdict(&k, "p", "premium"), refused);
    EXPECT_TEXT(judge_verdict(&k, "p", "standard"), "fits");
}

TEST(tenant_hardware, a_node_that_is_reserved_for_a_higher_tier_is_refused)
{
    static const struct {
        const char *pod;
        enum tier highest; /* that the node may be reserved for */
    } cases[] = {
        {"gpu=1 class=high-priority", TIER_GOLD},
        {"gpu=1 class=medium-priority", TIER_SILVER},
        {"gpu=1 class=low-priority", TIER_BRONZE},
        {"gpu=1", TIER_BRONZE}, /* nobody said what it is */
        {"cpu=1", TIER_GOLD},   /* it is about GPUs */
    };
    AUTO(judge) j = {.profile = &plain};
    for (enum tier t = TIER_NONE; t < N_TIERS; t++)
        ground_add(&j.ground, "node n%u gpu=8 label:tenant.kubenexus.io/reserved-tier=%s", t,
                   t ? tier_name(t).p : "none");
    for (size_t i = 0; i < LEN(cases); i++) {
        char pod[] = {'p', (char)('0' + i), '\0'};
        ground_add(&j.ground, "pod %s %s", pod, cases[i].pod);
        for (enum tier t = TIER_NONE; t < N_TIERS; t++) {
            char node[] = {'n', (char)('0' + t), '\0'};
            test_case("%s on a node for %s", cases[i].pod, tier_name(t).p);
            EXPECT_TEXT(judge_verdict(&j, pod, node),
                        t <= cases[i].highest ? "fits"
                                              : "UU TenantHardwareAffinityScore: node(s) were "
                                                "reserved for a higher tier");
        }
    }
    EXPECT(judge_wakes(&j, PLUGIN, "p3", EVENT_NODE, ACTION_NODE_LABEL,
                       "node n3 gpu=8 label:tenant.kubenexus.io/reserved-tier=gold",
                       "node n3 gpu=8"));
}

TEST(tenant_hardware, the_table_is_configurable)
{
    AUTO(judge) j = {.profile = &scores};
    add_nodes(&j);
    ground_add(&j.ground, "pod p gpu=1 class=high-priority");
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "economy").normal, 1);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "premium").normal, 3);
    EXPECT_INT(judge_score(&j, PLUGIN, "p", "none").normal, 50);
}
