#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const taints = &plugin_taint_toleration;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_taint_toleration, .number = 4, .weight = 3}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char refused[] = "UU TaintToleration: node(s) had untolerated taint(s)";

TEST(taint_toleration, hard_effects_refuse_and_soft_ones_do_not)
{
    static const struct {
        const char *node, *pod, *verdict;
    } cases[] = {
        {"", "", "fits"},
        {"taint:a=1:NoSchedule", "", refused},
        {"taint:a=1:NoExecute", "", refused},
        {"taint:a=1:PreferNoSchedule", "", "fits"},
        {"taint:a=1:NoSchedule", "tolerate:a:Equal:1:NoSchedule", "fits"},
        {"taint:a=1:NoSchedule", "tolerate:a:Equal:2:NoSchedule", refused},
        {"taint:a=1:NoExecute", "tolerate:a:Exists::NoSchedule", refused},
        {"taint:a=1:NoSchedule", "tolerate:a:Exists::", "fits"},
        {"taint:a=1:NoSchedule", "tolerate::Exists::", "fits"},
        {"taint:a=5:NoSchedule", "tolerate:a:Gt:4:NoSchedule", refused},
        {"taint:a=5:NoSchedule", "tolerate:a:Lt:6:NoSchedule", refused},
        {"taint:a=1:NoSchedule taint:b=1:NoSchedule", "tolerate:a:Exists::", refused},
        {"cordoned", "", "fits"}, /* another's */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].node, cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(taint_toleration, numbers_are_compared_where_the_gate_is_on)
{
    static const struct {
        const char *taint, *toleration, *verdict;
    } cases[] = {
        {"a=5:NoSchedule", "a:Gt:4:NoSchedule", "fits"},
        {"a=4:NoSchedule", "a:Gt:4:NoSchedule", refused},
        {"a=-5:NoSchedule", "a:Lt:-4:NoSchedule", "fits"},
        {"a=4:NoSchedule", "a:Lt:4:", refused},
        {"a=05:NoSchedule", "a:Gt:4:", refused},
        {"a=x:NoSchedule", "a:Gt:4:", refused},
        {"a=5:NoSchedule", "a:Gt:y:", refused},
        {"b=5:NoSchedule", "a:Gt:4:", refused},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].taint, cases[i].toleration);
        AUTO(judge) j = {.profile = &profile};
        ground_cluster(&j.ground)->compares_tolerations = true;
        ground_add(&j.ground, "node n taint:%s", cases[i].taint);
        ground_add(&j.ground, "pod p tolerate:%s", cases[i].toleration);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

static void add_nodes(struct ground *g)
{
    ground_add(g, "node none");
    ground_add(g, "node one taint:a=1:PreferNoSchedule");
    ground_add(g, "node three taint:a=1:PreferNoSchedule taint:b=1:PreferNoSchedule "
                  "taint:c=1:PreferNoSchedule");
}

TEST(taint_toleration, fewer_soft_taints_score_higher)
{
    static const struct {
        const char *node;
        int64_t raw, normal;
    } cases[] = {
        {"none", 0, 100},
        {"one", 1, 67}, /* 100 - 100/3 */
        {"three", 3, 0},
    };
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "node shut taint:x=1:NoSchedule taint:a=1:PreferNoSchedule "
                          "taint:b=1:PreferNoSchedule taint:c=1:PreferNoSchedule "
                          "taint:d=1:PreferNoSchedule"); /* does not fit: does not count */
    ground_add(&j.ground, "pod p");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].node);
        struct judge_score s = judge_score(&j, taints, "p", cases[i].node);
        EXPECT_INT(s.raw, cases[i].raw);
        EXPECT_INT(s.normal, cases[i].normal);
    }
}

TEST(taint_toleration, only_tolerations_for_soft_taints_soften_them)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod any tolerate:a:Exists:: tolerate:b:Exists::PreferNoSchedule "
                          "tolerate:c:Exists::NoSchedule");
    EXPECT_INT(judge_score(&j, taints, "any", "three").raw, 1);
    EXPECT_INT(judge_score(&j, taints, "any", "one").raw, 0);
}

TEST(taint_toleration, where_nobody_has_soft_taints_all_get_100)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1");
    ground_add(&j.ground, "node n2");
    ground_add(&j.ground, "pod p");
    EXPECT_INT(judge_score(&j, taints, "p", "n1").normal, 100);
    EXPECT_INT(judge_score(&j, taints, "p", "n2").normal, 100);
}

TEST(taint_toleration, a_node_that_becomes_tolerable_wakes)
{
    static const struct {
        enum event_resource resource;
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {EVENT_NODE, ACTION_ADD, NULL, "node n", true},
        {EVENT_NODE, ACTION_ADD, NULL, "node n taint:a=1:NoSchedule", false},
        {EVENT_NODE, ACTION_NODE_TAINT, "node n taint:a=1:NoSchedule", "node n", true},
        {EVENT_NODE, ACTION_NODE_TAINT, "node n taint:a=1:NoSchedule",
         "node n taint:ok=1:NoSchedule", true},
        {EVENT_NODE, ACTION_NODE_TAINT, "node n taint:a=1:NoSchedule",
         "node n taint:b=1:NoSchedule", false},
        {EVENT_NODE, ACTION_NODE_TAINT, "node n", "node n taint:ok=1:NoSchedule", false},
        {EVENT_NODE, ACTION_NODE_LABEL, "node n taint:a=1:NoSchedule", "node n", false},
        {EVENT_NODE, ACTION_DELETE, "node n", NULL, false},
        {EVENT_TARGET_POD, ACTION_POD_TOLERATION, "pod p", "pod p tolerate:x:Exists::", true},
        {EVENT_TARGET_POD, ACTION_POD_LABEL, "pod p", "pod p label:x=1", false},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p tolerate:ok:Exists::");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        EXPECT_INT(judge_wakes(&j, taints, "p", cases[i].resource, cases[i].action, cases[i].was,
                               cases[i].is),
                   cases[i].wakes);
    }
}
