#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const affinity = &plugin_node_affinity;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_node_affinity, .number = 5, .weight = 2}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char refused[] = "UU NodeAffinity: node(s) didn't match Pod's node affinity/selector";
static const char absent[] = "UU -: node(s) didn't satisfy plugin(s) [NodeAffinity]";

TEST(node_affinity, required_rules_refuse)
{
    static const struct {
        const char *pod, *verdict; /* of node n with disk=ssd */
    } cases[] = {
        {"", "fits"},
        {"select:disk=ssd", "fits"},
        {"select:disk=hdd", refused},
        {"require:disk:In:ssd", "fits"},
        {"require:disk:NotIn:ssd", refused},
        {"require:disk:In:ssd select:zone=z", refused},
        {"require", refused},
        {"require:", refused},
        {"require:disk:Gt:x", refused},
        {"require:@metadata.name:NotIn:n", refused},
        {"require:@metadata.name:NotIn:m", "fits"},
        {"prefer:5:disk:In:hdd", "fits"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n label:disk=ssd");
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(node_affinity, a_pod_whose_terms_name_nodes_can_go_to_those_alone)
{
    AUTO(judge) j = {.profile = &profile};
    ground_cluster(&j.ground)->keeps_pins = true;
    for (int i = 1; i <= 3; i++)
        ground_add(&j.ground, "node n%d label:disk=%s", i, i == 2 ? "hdd" : "ssd");
    ground_add(&j.ground, "pod p require:@metadata.name:In:n1&disk:In:ssd "
                          "require:@metadata.name:In:n2&disk:In:ssd");
    EXPECT_TEXT(judge_verdict(&j, "p", "n1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "n2"), refused);
    EXPECT_TEXT(judge_verdict(&j, "p", "n3"), absent);
    ground_add(&j.ground, "pod one require:@metadata.name:In:n3");
    EXPECT_TEXT(judge_verdict(&j, "one", "n3"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "one", "n1"), absent);
    ground_add(&j.ground, "pod lost require:@metadata.name:In:nobody");
    EXPECT_TEXT(judge_verdict(&j, "lost", "n1"), absent);
}

TEST(node_affinity, names_that_exclude_each_other_refuse_the_pod)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1");
    ground_add(&j.ground, "pod p require:@metadata.name:In:n1&@metadata.name:In:n2");
    EXPECT_TEXT(judge_verdict(&j, "p", "n1"),
                "refused: UU NodeAffinity: pod affinity terms conflict");
}

TEST(node_affinity, a_pinned_pods_class_is_shared_and_marked)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1");
    ground_add(&j.ground, "pod a require:@metadata.name:In:n1");
    ground_add(&j.ground, "pod b require:@metadata.name:In:n2");
    EXPECT(judge_class(&j, "a") == judge_class(&j, "b"));
    EXPECT(judge_class(&j, "a")->is_pinned);
    EXPECT_INT(judge_class(&j, "a")->restricted_by, 1 << 5);
}

TEST(node_affinity, preferences_add_up_and_the_best_gets_100)
{
    static const struct {
        const char *node;
        int64_t raw, normal;
    } cases[] = {
        {"both", 30, 100},
        {"big", 20, 66},
        {"small", 10, 33},
        {"none", 0, 0},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node both label:a=1 label:b=1");
    ground_add(&j.ground, "node big label:a=1");
    ground_add(&j.ground, "node small label:b=1");
    ground_add(&j.ground, "node none");
    ground_add(&j.ground, "pod p prefer:20:a:Exists prefer:10:b:Exists prefer:99:c:Exists "
                          "prefer:0:a:Exists prefer:50:");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].node);
        struct judge_score s = judge_score(&j, affinity, "p", cases[i].node);
        EXPECT_INT(s.raw, cases[i].raw);
        EXPECT_INT(s.normal, cases[i].normal);
    }
}

TEST(node_affinity, without_preferences_it_does_not_score_and_zeros_stay)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n label:a=1");
    ground_add(&j.ground, "pod none select:a=1");
    ground_add(&j.ground, "pod unmet prefer:10:z:Exists");
    EXPECT(!judge_score(&j, affinity, "none", "n").takes_part);
    EXPECT(judge_score(&j, affinity, "unmet", "n").takes_part);
    EXPECT_INT(judge_score(&j, affinity, "unmet", "n").normal, 0);
}

TEST(node_affinity, a_preference_that_cannot_be_read_is_an_error_of_scoring)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p prefer:10:gen:Gt:new");
    EXPECT_STR(judge_class(&j, "p")->score_error,
               "running PreScore plugin \"NodeAffinity\": [0].matchExpressions[0].values[0]: "
               "Invalid value: \"new\": for 'Gt', 'Lt' operators, the value must be an integer");
}

TEST(node_affinity, a_node_that_begins_to_match_wakes)
{
    static const struct {
        enum event_resource resource;
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {EVENT_NODE, ACTION_ADD, NULL, "node n label:disk=ssd", true},
        {EVENT_NODE, ACTION_ADD, NULL, "node n label:disk=hdd", false},
        {EVENT_NODE, ACTION_NODE_LABEL, "node n", "node n label:disk=ssd", true},
        {EVENT_NODE, ACTION_NODE_LABEL, "node n label:disk=ssd", "node n label:disk=ssd zone=a",
         false}, /* it did before */
        {EVENT_NODE, ACTION_NODE_LABEL, "node n label:disk=ssd", "node n", false},
        {EVENT_NODE, ACTION_NODE_ALLOCATABLE, "node n", "node n label:disk=ssd", false},
        {EVENT_NODE, ACTION_DELETE, "node n label:disk=ssd", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q on=n", NULL, false},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod p select:disk=ssd");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        EXPECT_INT(judge_wakes(&j, affinity, "p", cases[i].resource, cases[i].action, cases[i].was,
                               cases[i].is),
                   cases[i].wakes);
    }
}

TEST(node_affinity, a_pinned_pod_is_woken_by_its_node_alone)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p require:@metadata.name:In:n1");
    EXPECT(judge_wakes(&j, affinity, "p", EVENT_NODE, ACTION_ADD, NULL, "node n1"));
    EXPECT(!judge_wakes(&j, affinity, "p", EVENT_NODE, ACTION_ADD, NULL, "node n2"));
}

TEST(node_affinity, a_pod_that_names_nodes_is_woken_by_those_alone)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p require:@metadata.name:In:n1 require:@metadata.name:In:n2");
    EXPECT(judge_wakes(&j, affinity, "p", EVENT_NODE, ACTION_ADD, NULL, "node n2"));
    EXPECT(!judge_wakes(&j, affinity, "p", EVENT_NODE, ACTION_ADD, NULL, "node n3"));
}
