#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const features = &plugin_node_declared_features;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_node_declared_features, .number = 14}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char missing[] =
    "UU NodeDeclaredFeatures: node(s) didn't match Pod's required features";

#define NODE(declared)                                                                             \
    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'status':{'declaredFeatures':"       \
    "[" declared "]}}"
#define POD(spec) "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{" spec "}}"
#define RESTART                                                                                    \
    "'containers':[{'name':'c','restartPolicyRules':[{'action':'RestartAllContainers'}]}]"

TEST(node_declared_features, a_pod_needs_what_it_uses)
{
    static const struct {
        const char *pod, *node, *verdict;
    } cases[] = {
        {POD(RESTART), NODE(""), missing},
        {POD(RESTART), NODE("'RestartAllContainersOnContainerExits'"), "fits"},
        {POD(RESTART),
         NODE("'RestartAllContainersOnContainerExits',"
              "'Other'"),
         "fits"},
        {POD("'hostNetwork':true,'hostUsers':false"), NODE("'Other'"), missing},
        {POD("'hostNetwork':true,'hostUsers':false"), NODE("'UserNamespacesHostNetworkSupport'"),
         "fits"},
        {POD("'hostNetwork':true"), NODE(""), "fits"},
        {POD("'hostUsers':false"), NODE(""), "fits"},
        {POD("'initContainers':[{'name':'i','volumeMounts':[{'name':'v','bindMountOptions':['a']}]}"
             "]"),
         NODE("'RestartAllContainersOnContainerExits'"), missing},
        {POD(RESTART ",'hostNetwork':true,'hostUsers':false"),
         NODE("'UserNamespacesHostNetworkSupport'"), missing},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].pod, cases[i].node);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "%s", cases[i].node);
        ground_add(&j.ground, "%s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(node_declared_features, another_declaration_is_another_row)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, NODE("'A','B'"));
    EXPECT_INT(ground_add(&j.ground, NODE("'B','A','A'")), 0);
    EXPECT_INT(ground_add(&j.ground, NODE("'A'")), COLUMN_FEATURES);
    ground_add(&j.ground, POD(RESTART));
    EXPECT(judge_wakes(&j, features, "p", EVENT_NODE, ACTION_NODE_DECLARED_FEATURE, "node n",
                       "node n"));
    EXPECT(!judge_wakes(&j, features, "p", EVENT_NODE, ACTION_NODE_LABEL, "node n", "node n"));
}
