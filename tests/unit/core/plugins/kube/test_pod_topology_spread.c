#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const spread = &plugin_pod_topology_spread;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_pod_topology_spread, .number = 8, .weight = 2}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char skewed[] =
    "U PodTopologySpread: node(s) didn't match pod topology spread constraints";
static const char no_label[] = "UU PodTopologySpread: node(s) didn't match pod topology spread "
                               "constraints (missing required label)";

/* Zone a with nodes a1 and a2, zone b with b1, and a node without a zone. */
static void add_nodes(struct ground *g)
{
    ground_add(g, "node a1 zone=a label:disk=ssd");
    ground_add(g, "node a2 zone=a label:disk=ssd");
    ground_add(g, "node b1 zone=b taint:t=v:NoSchedule");
    ground_add(g, "node lost host=");
}

/* --- hard constraints --- */

TEST(spread, a_domain_may_run_ahead_by_max_skew)
{
    static const struct {
        const char *there; /* pods on a1 */
        const char *constraint;
        const char *a, *b; /* verdicts of a2 and b1 */
    } cases[] = {
        {"", "spread:zone:1:hard:app=web", "fits", "fits"},
        {"web", "spread:zone:1:hard:app=web", skewed, "fits"},
        {"web", "spread:zone:2:hard:app=web", "fits", "fits"},
        {"web web", "spread:zone:2:hard:app=web", skewed, "fits"},
        {"web", "spread:host:1:hard:app=web", "fits", "fits"},
        {"db db", "spread:zone:1:hard:app=web", "fits", "fits"},
        {"db db", "spread:zone:1:hard:app=db", skewed, "fits"}, /* no self: 2-0 */
        {"db", "spread:zone:1:hard:app=db", "fits", "fits"},
        {"web web web", "spread:zone:1:hard:-", "fits", "fits"}, /* nothing */
        {"web web web", "spread:zone:1:hard:*", "fits", "fits"}, /* counts 0 */
        {"", "spread:zone:1:hard:app=web:min=3", "fits", "fits"},
        {"web", "spread:zone:1:hard:app=web:min=2", skewed, "fits"},
        {"web web", "spread:zone:1:hard:app=web spread:host:9:hard:app=web", skewed, "fits"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].there, cases[i].constraint);
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j.ground);
        char app[8];
        int n = 0;
        for (const char *p = cases[i].there; *p; n++) {
            size_t length = strcspn(p, " ");
            memcpy(app, p, length);
            app[length] = 0;
            ground_add(&j.ground, "pod there%d label:app=%s on=a1", n, app);
            p += length + (p[length] == ' ');
        }
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].constraint);
        EXPECT_TEXT(judge_verdict(&j, "p", "a2"), cases[i].a);
        EXPECT_TEXT(judge_verdict(&j, "p", "b1"), cases[i].b);
        EXPECT_TEXT(judge_verdict(&j, "p", "lost"), no_label);
    }
}

TEST(spread, too_few_domains_make_the_least_0)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod x label:app=web on=a1");
    ground_add(&j.ground, "pod y label:app=web on=b1");
    ground_add(&j.ground, "pod two label:app=web spread:zone:1:hard:app=web:min=2");
    ground_add(&j.ground, "pod three label:app=web spread:zone:1:hard:app=web:min=3");
    EXPECT_TEXT(judge_verdict(&j, "two", "a1"), "fits");   /* 1 + 1 - 1 */
    EXPECT_TEXT(judge_verdict(&j, "three", "a1"), skewed); /* 1 + 1 - 0 */
    EXPECT_TEXT(judge_verdict(&j, "three", "b1"), skewed);
}

TEST(spread, only_pods_that_stay_in_the_namespace_count)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod x label:app=web on=a1 deleting");
    ground_add(&j.ground, "pod y label:app=web on=a1 namespace=other");
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:hard:app=web");
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), "fits");
    ground_add(&j.ground, "pod z label:app=web on=a2");
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), skewed);
}

TEST(spread, match_label_keys_compare_with_the_pods_own_values)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod old label:app=web label:v=1 on=a1");
    ground_add(&j.ground,
               "pod new label:app=web label:v=2 spread:zone:1:hard:app=web:keys=v|unknown");
    ground_add(&j.ground, "pod same label:app=web label:v=1 spread:zone:1:hard:app=web:keys=v");
    EXPECT_TEXT(judge_verdict(&j, "new", "a1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "same", "a1"), skewed);
    EXPECT(judge_class(&j, "new") != judge_class(&j, "same"));
}

TEST(spread, policies_say_which_nodes_make_domains)
{
    static const struct {
        const char *pod;
        const char *a; /* a1, which has one pod while b1 has none */
    } cases[] = {
        {"spread:zone:1:hard:app=web", skewed},
        {"spread:zone:1:hard:app=web select:disk=ssd", "fits"}, /* b is out: 1 + 1 - 1 */
        {"spread:zone:1:hard:app=web:affinity=Ignore select:disk=ssd", skewed},
        {"spread:zone:1:hard:app=web:taints=Honor", "fits"}, /* b is out */
        {"spread:zone:1:hard:app=web:taints=Honor tolerate:t:Exists::", skewed},
        {"spread:zone:1:hard:app=web:taints=Honor:min=2", skewed}, /* one domain, so 0 */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j.ground);
        ground_add(&j.ground, "pod x label:app=web on=a2");
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "a1"), cases[i].a);
    }
}

TEST(spread, a_node_that_the_policies_leave_out_is_judged_by_an_empty_domain)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    for (int i = 0; i < 3; i++)
        ground_add(&j.ground, "pod x%d label:app=web on=b1", i);
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:hard:app=web:taints=Honor");
    EXPECT_TEXT(judge_verdict(&j, "p", "b1"), "fits"); /* of its pods none counts */
}

TEST(spread, a_node_without_one_of_the_keys_makes_no_domain_of_the_others)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1 zone=a label:rack=1");
    ground_add(&j.ground, "node n2 zone=b");
    ground_add(&j.ground, "pod x label:app=web on=n1");
    ground_add(&j.ground, "pod one label:app=web spread:zone:1:hard:app=web");
    ground_add(&j.ground,
               "pod two label:app=web spread:zone:1:hard:app=web spread:rack:5:hard:app=web");
    EXPECT_TEXT(judge_verdict(&j, "one", "n1"), skewed);
    EXPECT_TEXT(judge_verdict(&j, "two", "n1"), "fits"); /* b does not exist for it */
    EXPECT_TEXT(judge_verdict(&j, "two", "n2"), no_label);
}

TEST(spread, more_constraints_than_keys_is_an_error)
{
    AUTO(judge) j = {.profile = &profile};
    char line[2048] = "pod p";
    for (int i = 0; i < PLUGIN_MOST_KEYS; i++)
        memcpy(line + strlen(line), " spread:zone:1:soft:-", sizeof(" spread:zone:1:soft:-"));
    ground_add(&j.ground, "node n zone=a");
    ground_add(&j.ground, "%s", line);
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    ground_add(&j.ground, "pod q%s spread:host:1:soft:-", line + 5);
    EXPECT_TEXT(judge_verdict(&j, "q", "n"),
                "error: 65 topology spread constraints, of which a pod may have 64");
}

/* --- soft constraints --- */

static void expect_score(struct judge *j, const char *pod, const char *node, int64_t raw,
                         int64_t normal)
{
    test_case("%s on %s", pod, node);
    struct judge_score s = judge_score(j, spread, pod, node);
    EXPECT(s.takes_part);
    EXPECT_INT(s.raw, raw);
    EXPECT_INT(s.normal, normal);
}

TEST(spread, default_constraints_as_upstream_counts_them)
{
    AUTO(judge) j = {.profile = &profile};
    for (int i = 0; i < 10; i++) /* 3 zones, 10 candidates: ln 5 and ln 12 */
        ground_add(&j.ground, "node n%d zone=%c", i, 'a' + i % 3);
    ground_add(&j.ground, "service web app=web");
    ground_add(&j.ground, "pod x label:app=web on=n0");
    ground_add(&j.ground, "pod y label:app=web on=n3");
    ground_add(&j.ground, "pod p label:app=web");
    expect_score(&j, "p", "n0", 12, 50); /* zone 2, host 1: 2·ln 5 + 4 + ln 12 + 2 = 11.70 */
    expect_score(&j, "p", "n6", 9, 75);  /* zone 2, host 0: 9.22 */
    expect_score(&j, "p", "n1", 6, 100); /* nothing: 4 + 2 */
}

TEST(spread, defaults_need_a_selector_from_somewhere)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n zone=a");
    ground_add(&j.ground, "replicaset r app=web");
    ground_add(&j.ground, "pod none label:app=web");
    ground_add(&j.ground, "pod owned label:app=web owner:ReplicaSet=r");
    ground_add(&j.ground, "pod job label:app=web owner:Job=r");
    EXPECT(!judge_score(&j, spread, "none", "n").takes_part);
    EXPECT(judge_score(&j, spread, "owned", "n").takes_part);
    EXPECT(!judge_score(&j, spread, "job", "n").takes_part);
    ground_add(&j.ground, "service web app=web"); /* splits the class by itself */
    EXPECT(judge_score(&j, spread, "none", "n").takes_part);
}

TEST(spread, the_systems_defaults_do_without_labels_that_a_node_lacks)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node zoned zone=a");
    ground_add(&j.ground, "node lost");
    ground_add(&j.ground, "service web app=web");
    ground_add(&j.ground, "pod p label:app=web");
    expect_score(&j, "p", "zoned", 6, 33); /* 100 · (6 + 2 - 6) / 6 */
    expect_score(&j, "p", "lost", 2, 100); /* its host alone */
}

TEST(spread, own_soft_constraints_leave_out_nodes_without_their_labels)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    for (int i = 0; i < 2; i++)
        ground_add(&j.ground, "pod x%d label:app=web on=a1", i);
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:soft:app=web");
    expect_score(&j, "p", "a1", 3, 0); /* 2 · ln 4 = 2.77 */
    expect_score(&j, "p", "a2", 3, 0);
    expect_score(&j, "p", "b1", 0, 100);
    expect_score(&j, "p", "lost", 0, 0); /* left out, last of all */
}

TEST(spread, where_nothing_differs_everybody_gets_100)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:soft:app=web");
    expect_score(&j, "p", "a1", 0, 100);
    expect_score(&j, "p", "b1", 0, 100);
}

TEST(spread, configured_defaults_take_the_place_of_the_systems)
{
    static const struct spread_default zones[] = {{STR("topology.kubernetes.io/zone"), 1, true}};
    static const struct spread_args args = {.is_list = true, .defaults = {zones, 1}};
    static const struct spread_args none = {.is_list = true};
    struct profile_plugin one = {
        .plugin = &plugin_pod_topology_spread, .number = 8, .weight = 2, .args = &args};
    struct profile p = {STR("default-scheduler"), &one, 1};
    AUTO(judge) j = {.profile = &p};
    add_nodes(&j.ground);
    ground_add(&j.ground, "service web app=web");
    ground_add(&j.ground, "pod x label:app=web on=a1");
    ground_add(&j.ground, "pod p label:app=web");
    EXPECT_TEXT(judge_verdict(&j, "p", "a2"), skewed);
    EXPECT_TEXT(judge_verdict(&j, "p", "lost"), no_label);

    struct profile_plugin other = {
        .plugin = &plugin_pod_topology_spread, .number = 8, .weight = 2, .args = &none};
    struct profile q = {STR("default-scheduler"), &other, 1};
    AUTO(judge) k = {.profile = &q};
    add_nodes(&k.ground);
    ground_add(&k.ground, "service web app=web");
    ground_add(&k.ground, "pod p label:app=web");
    EXPECT_INT(judge_class(&k, "p")->n_parts, 0);
}

TEST(spread, pods_it_can_tell_apart_are_of_different_classes)
{
    static const struct {
        const char *one, *other;
        bool is_same;
    } cases[] = {
        {"cpu=1", "cpu=1 label:x=1", true}, /* no constraint: labels do not matter */
        {"label:app=web spread:zone:1:hard:app=web",
         "label:app=web label:x=1 spread:zone:1:hard:app=web", true},
        {"label:app=web spread:zone:1:hard:app=web", "label:app=db spread:zone:1:hard:app=web",
         false}, /* matches itself or not */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].one, cases[i].other);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "pod a %s", cases[i].one);
        ground_add(&j.ground, "pod b %s", cases[i].other);
        EXPECT_INT(judge_class(&j, "a") == judge_class(&j, "b"), cases[i].is_same);
    }
}

/* --- hints --- */

TEST(spread, what_changes_the_counts_or_the_domains_wakes)
{
    static const struct {
        enum event_resource resource;
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod q label:app=web on=n", true},
        {EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod q label:app=db on=n", false},
        {EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod q label:app=web", false},
        {EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod q label:app=web on=n namespace=other", false},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q label:app=web on=n", NULL, true},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q label:app=web nominated=n", NULL, true},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q label:app=db on=n", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod q label:app=db on=n",
         "pod q label:app=web on=n", true},
        {EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod q label:app=web on=n",
         "pod q label:app=db on=n", true},
        {EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod q label:app=web on=n",
         "pod q label:app=web label:x=1 on=n", false},
        {EVENT_ASSIGNED_POD, ACTION_POD_SCALE_DOWN, "pod q label:app=web cpu=2 on=n",
         "pod q label:app=web cpu=1 on=n", false},
        {EVENT_TARGET_POD, ACTION_POD_LABEL, "pod p label:app=web", "pod p label:app=db", true},
        {EVENT_TARGET_POD, ACTION_POD_LABEL, "pod p label:app=web", "pod p label:app=web label:x=1",
         false},
        {EVENT_TARGET_POD, ACTION_POD_TOLERATION, "pod p", "pod p tolerate:a:Exists::", false},
        {EVENT_NODE, ACTION_ADD, NULL, "node m zone=c", true},
        {EVENT_NODE, ACTION_ADD, NULL, "node m", false},
        {EVENT_NODE, ACTION_DELETE, "node m zone=c", NULL, true},
        {EVENT_NODE, ACTION_DELETE, "node m", NULL, false},
        {EVENT_NODE, ACTION_NODE_LABEL, "node m", "node m zone=c", true},
        {EVENT_NODE, ACTION_NODE_LABEL, "node m zone=c", "node m", true},
        {EVENT_NODE, ACTION_NODE_LABEL, "node m zone=c", "node m zone=d", true},
        {EVENT_NODE, ACTION_NODE_LABEL, "node m zone=c", "node m zone=c label:x=1", false},
        {EVENT_NODE, ACTION_NODE_LABEL, "node m", "node m label:x=1", false},
        {EVENT_NODE, ACTION_NODE_TAINT, "node m zone=c", "node m zone=c taint:a=b:NoSchedule",
         true},
        {EVENT_NODE, ACTION_NODE_TAINT, "node m", "node m taint:a=b:NoSchedule", false},
        {EVENT_NODE, ACTION_NODE_ALLOCATABLE, "node m zone=c", "node m zone=c cpu=9", false},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:hard:app=web");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s → %s", cases[i].was ? cases[i].was : "-", cases[i].is ? cases[i].is : "-");
        EXPECT_INT(judge_wakes(&j, spread, "p", cases[i].resource, cases[i].action, cases[i].was,
                               cases[i].is),
                   cases[i].wakes);
    }
}

TEST(spread, a_new_toleration_wakes_where_taints_are_honoured)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p label:app=web spread:zone:1:hard:app=web:taints=Honor");
    EXPECT(judge_wakes(&j, spread, "p", EVENT_TARGET_POD, ACTION_POD_TOLERATION, "pod p",
                       "pod p tolerate:a:Exists::"));
    EXPECT(!judge_wakes(&j, spread, "p", EVENT_TARGET_POD, ACTION_POD_LABEL, "pod p label:app=web",
                        "pod p label:app=web label:x=1"));
}
