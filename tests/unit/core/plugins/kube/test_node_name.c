#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin list[] = {{.plugin = &plugin_node_name, .number = 2}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

TEST(node_name, takes_no_part_in_judging_pods_that_wait)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod a cpu=1");
    EXPECT_TEXT(judge_verdict(&j, "a", "n"), "fits");
    EXPECT_INT(judge_class(&j, "a")->n_parts, 0);
}

TEST(node_name, a_node_that_comes_wakes_and_one_that_changes_does_not)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod a cpu=1");
    EXPECT(judge_wakes(&j, &plugin_node_name, "a", EVENT_NODE, ACTION_ADD, NULL, "node n"));
    EXPECT(!judge_wakes(&j, &plugin_node_name, "a", EVENT_NODE, ACTION_NODE_LABEL, "node n",
                        "node n zone=a"));
}
