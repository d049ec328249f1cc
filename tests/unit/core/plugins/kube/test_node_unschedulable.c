#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const cordon = &plugin_node_unschedulable;
static const struct profile_plugin list[] = {{.plugin = &plugin_node_unschedulable, .number = 3}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char refused[] = "UU NodeUnschedulable: node(s) were unschedulable";

TEST(node_unschedulable, a_cordoned_node_takes_only_pods_that_tolerate_the_cordons_taint)
{
    static const struct {
        const char *pod, *verdict;
    } cases[] = {
        {"", refused},
        {"tolerate:node.kubernetes.io/unschedulable:Exists::NoSchedule", "fits"},
        {"tolerate:node.kubernetes.io/unschedulable:Exists::", "fits"},
        {"tolerate:node.kubernetes.io/unschedulable:Equal::NoSchedule", "fits"},
        {"tolerate::Exists::", "fits"},
        {"tolerate:node.kubernetes.io/unschedulable:Equal:true:NoSchedule", refused},
        {"tolerate:node.kubernetes.io/unschedulable:Exists::NoExecute", refused},
        {"tolerate:node.kubernetes.io/not-ready:Exists::", refused},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node open");
        ground_add(&j.ground, "node shut cordoned");
        ground_add(&j.ground, "pod a %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "a", "open"), "fits");
        EXPECT_TEXT(judge_verdict(&j, "a", "shut"), cases[i].verdict);
    }
}

TEST(node_unschedulable, the_cordon_is_told_before_the_taint_that_comes_with_it)
{
    AUTO(judge) j = {.profile = &built_in_profiles[0]};
    ground_add(
        &j.ground,
        "node n cpu=8 memory=8Gi cordoned taint:node.kubernetes.io/unschedulable=:NoSchedule");
    ground_add(&j.ground, "pod a cpu=1");
    EXPECT_TEXT(judge_verdict(&j, "a", "n"), refused);
    ground_add(&j.ground, "node n cpu=8 taint:node.kubernetes.io/unschedulable=:NoSchedule");
    EXPECT_TEXT(judge_verdict(&j, "a", "n"),
                "UU TaintToleration: node(s) had untolerated taint(s)");
}

TEST(node_unschedulable, a_node_that_opens_wakes)
{
    static const struct {
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {ACTION_ADD, NULL, "node n", true},
        {ACTION_ADD, NULL, "node n cordoned", false},
        {ACTION_NODE_TAINT, "node n cordoned", "node n", true},
        {ACTION_NODE_TAINT, "node n", "node n cordoned", false},
        {ACTION_NODE_TAINT, "node n", "node n taint:a=b:NoSchedule", false},
        {ACTION_NODE_LABEL, "node n cordoned", "node n", false}, /* unheard */
        {ACTION_DELETE, "node n cordoned", NULL, false},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod a cpu=1");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        EXPECT_INT(
            judge_wakes(&j, cordon, "a", EVENT_NODE, cases[i].action, cases[i].was, cases[i].is),
            cases[i].wakes);
    }
}

TEST(node_unschedulable, a_new_toleration_wakes_if_it_is_the_one)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod good tolerate:node.kubernetes.io/unschedulable:Exists::NoSchedule");
    ground_add(&j.ground, "pod bad tolerate:other:Exists::NoSchedule");
    EXPECT(judge_wakes(&j, cordon, "good", EVENT_TARGET_POD, ACTION_POD_TOLERATION, "pod good",
                       "pod good tolerate:node.kubernetes.io/unschedulable:Exists::NoSchedule"));
    EXPECT(!judge_wakes(&j, cordon, "bad", EVENT_TARGET_POD, ACTION_POD_TOLERATION, "pod bad",
                        "pod bad tolerate:other:Exists::NoSchedule"));
}
