#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const gates = &plugin_scheduling_gates;
static const struct profile_plugin list[] = {{.plugin = &plugin_scheduling_gates, .number = 0}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

/* What holds the pod back; NULL: nothing. */
static const char *held_by(struct judge *j, const char *pod)
{
    struct str why;
    const struct shape *shape = pods_shape(&j->ground.cluster->pods, ground_pod(&j->ground, pod));
    return gates->gate(j->ground.cluster, shape, &j->ground.mem, &why) ? why.p : NULL;
}

TEST(scheduling_gates, a_pod_is_held_back_by_all_gates_it_names_in_order)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod free cpu=1");
    ground_add(&j.ground, "pod one gate:example.com/quota");
    ground_add(&j.ground, "pod two gate:b gate:a");
    EXPECT_TEXT(held_by(&j, "free"), NULL);
    EXPECT_TEXT(held_by(&j, "one"), "waiting for scheduling gates: [example.com/quota]");
    EXPECT_TEXT(held_by(&j, "two"), "waiting for scheduling gates: [b a]");
}

TEST(scheduling_gates, only_the_end_of_its_gates_wakes_a_pod)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod a gate:x");
    EXPECT(judge_wakes(&j, gates, "a", EVENT_TARGET_POD, ACTION_POD_GATES_GONE, "pod a gate:x",
                       "pod a"));
    EXPECT(!judge_wakes(&j, gates, "a", EVENT_TARGET_POD, ACTION_POD_LABEL, "pod a gate:x",
                        "pod a gate:x label:l=1"));
    EXPECT(!judge_wakes(&j, gates, "a", EVENT_NODE, ACTION_ADD, NULL, "node n cpu=8"));
}
