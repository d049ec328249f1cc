#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const affinity = &plugin_inter_pod_affinity;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_inter_pod_affinity, .number = 9, .weight = 2}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char not_near[] = "UU InterPodAffinity: node(s) didn't match pod affinity rules";
static const char not_apart[] = "U InterPodAffinity: node(s) didn't match pod anti-affinity rules";
static const char not_others[] =
    "U InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules";

/* Zone a with nodes a1 and a2, zone b with b1, and a node without labels. */
static void add_nodes(struct ground *g)
{
    ground_add(g, "node a1 zone=a");
    ground_add(g, "node a2 zone=a");
    ground_add(g, "node b1 zone=b");
    ground_add(g, "node lost host=");
}

struct story {
    const char *there; /* on a1 */
    const char *pod;
    const char *a1, *a2, *b1, *lost;
};

static void check_verdicts(const struct story *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        test_case("%s / %s", cases[i].there, cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j.ground);
        if (*cases[i].there)
            ground_add(&j.ground, "pod there on=a1 %s", cases[i].there);
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "a1"), cases[i].a1);
        EXPECT_TEXT(judge_verdict(&j, "p", "a2"), cases[i].a2);
        EXPECT_TEXT(judge_verdict(&j, "p", "b1"), cases[i].b1);
        EXPECT_TEXT(judge_verdict(&j, "p", "lost"), cases[i].lost);
    }
}

TEST(company, a_pod_goes_where_all_its_terms_mean_one_pod)
{
    static const struct story cases[] = {
        {"label:app=db", "near:zone:app=db", "fits", "fits", not_near, not_near},
        {"label:app=db", "near:host:app=db", "fits", not_near, not_near, not_near},
        {"label:app=db", "near:zone:app=db near:host:app=db", "fits", not_near, not_near, not_near},
        {"label:app=db", "near:zone:app=db near:zone:app=x", not_near, not_near, not_near,
         not_near},
        {"label:app=db", "near:zone:*", "fits", "fits", not_near, not_near},
        {"label:app=db", "near:zone:-", not_near, not_near, not_near, not_near},
        {"label:app=db deleting", "near:zone:app=db", "fits", "fits", not_near, not_near},
        {"label:app=db namespace=ns", "near:zone:app=db", not_near, not_near, not_near, not_near},
        {"label:app=db namespace=ns", "near:zone:app=db:in=ns", "fits", "fits", not_near, not_near},
        {"label:app=db", "near:zone:app=db:in=ns", not_near, not_near, not_near, not_near},
    };
    check_verdicts(cases, LEN(cases));
}

TEST(company, the_first_of_its_kind_may_start_where_it_has_all_labels)
{
    static const struct story cases[] = {
        {"", "near:zone:app=web", "fits", "fits", "fits", not_near},
        {"", "near:zone:app=db", not_near, not_near, not_near, not_near},
        {"", "near:zone:app=web near:zone:app=db", not_near, not_near, not_near, not_near},
        {"label:app=web", "near:zone:app=web", "fits", "fits", not_near, not_near},
        {"label:app=web namespace=ns", "near:zone:app=web", "fits", "fits", "fits", not_near},
        {"label:app=web", "near:no-such-label:app=web", not_near, not_near, not_near, not_near},
    };
    check_verdicts(cases, LEN(cases));
}

TEST(company, a_pod_stays_away_from_whom_its_terms_mean_and_who_means_it)
{
    static const struct story cases[] = {
        {"label:app=db", "apart:zone:app=db", not_apart, not_apart, "fits", "fits"},
        {"label:app=db", "apart:host:app=db", not_apart, "fits", "fits", "fits"},
        {"label:app=db", "apart:none:app=db", "fits", "fits", "fits", "fits"},
        {"apart:zone:app=web", "", not_others, not_others, "fits", "fits"},
        {"apart:host:app=web", "", not_others, "fits", "fits", "fits"},
        {"apart:host:app=db", "", "fits", "fits", "fits", "fits"},
        {"apart:host:app=web:in=ns", "", "fits", "fits", "fits", "fits"},
        {"apart:host:app=web:weight=1", "", "fits", "fits", "fits", "fits"},
        {"apart:zone:app=web namespace=ns", "", "fits", "fits", "fits", "fits"},
        {"apart:zone:app=web:like=* namespace=ns", "", not_others, not_others, "fits", "fits"},
        {"label:app=db apart:host:app=web", "apart:zone:app=db", not_apart, not_apart, "fits",
         "fits"},
        {"label:app=db", "apart:zone:app=db near:zone:app=db", not_apart, not_apart, not_near,
         not_near},
    };
    check_verdicts(cases, LEN(cases));
}

TEST(company, namespaces_are_selected_by_labels_as_they_are_now)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod mine on=a1 namespace=ns label:app=db");
    ground_add(&j.ground, "pod theirs on=b1 namespace=ns apart:host:app=web:like=team=a");
    ground_add(&j.ground, "pod p label:app=web apart:host:app=db:like=team=a");
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), "fits"); /* nobody told of the namespaces yet */
    EXPECT_TEXT(judge_verdict(&j, "p", "b1"), "fits");
    ground_add(&j.ground, "namespace ns label:team=a");
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), not_apart);
    EXPECT_TEXT(judge_verdict(&j, "p", "b1"), "fits");
    ground_add(&j.ground, "namespace default label:team=a");
    EXPECT_TEXT(judge_verdict(&j, "p", "b1"), not_others);
    ground_add(&j.ground, "namespace ns label:team=b");
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "b1"), not_others);
}

TEST(company, a_new_term_splits_classes)
{
    AUTO(judge) j = {.profile = &profile};
    add_nodes(&j.ground);
    ground_add(&j.ground, "pod p label:app=web");
    ground_add(&j.ground, "pod q label:app=db");
    EXPECT(judge_class(&j, "p") == judge_class(&j, "q"));
    ground_add(&j.ground, "pod x on=a1 apart:host:app=web");
    EXPECT(judge_class(&j, "p") != judge_class(&j, "q"));
    EXPECT_TEXT(judge_verdict(&j, "p", "a1"), not_others);
    EXPECT_TEXT(judge_verdict(&j, "q", "a1"), "fits");
}

TEST(company, preferences_of_both_sides_add_up)
{
    static const struct {
        const char *there; /* on a1 */
        const char *pod;
        int64_t a1, a2, b1;                      /* raw */
        int64_t a1_normal, a2_normal, b1_normal; /* -1: it has nothing to say */
    } cases[] = {
        {"label:app=db", "near:zone:app=db:weight=10", 10, 10, 0, 100, 100, 0},
        {"label:app=db", "apart:zone:app=db:weight=10", -10, -10, 0, 0, 0, 100},
        {"label:app=db", "near:zone:app=db:weight=3 near:host:app=db:weight=4", 7, 3, 0, 100, 42,
         0},
        {"label:app=db", "near:zone:app=db:weight=5 apart:host:app=db:weight=10", -5, 5, 0, 0, 100,
         50},
        {"near:zone:app=web:weight=8", "", 8, 8, 0, 100, 100, 0},
        {"apart:host:app=web:weight=8", "", -8, 0, 0, 0, 100, 100},
        {"near:host:app=web", "", 1, 0, 0, 100, 0, 0},
        {"near:host:app=web near:host:app=web", "", 2, 0, 0, 100, 0, 0},
        {"label:app=x", "near:zone:app=db:weight=10", 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].there, cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j.ground);
        ground_add(&j.ground, "pod there on=a1 %s", cases[i].there);
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].pod);
        EXPECT_INT(judge_score(&j, affinity, "p", "a1").raw, cases[i].a1);
        EXPECT_INT(judge_score(&j, affinity, "p", "a2").raw, cases[i].a2);
        EXPECT_INT(judge_score(&j, affinity, "p", "b1").raw, cases[i].b1);
        EXPECT_INT(judge_score(&j, affinity, "p", "a1").normal, cases[i].a1_normal);
        EXPECT_INT(judge_score(&j, affinity, "p", "a2").normal, cases[i].a2_normal);
        EXPECT_INT(judge_score(&j, affinity, "p", "b1").normal, cases[i].b1_normal);
    }
}

TEST(company, arguments_weigh_required_terms_and_silence_preferences)
{
    static const struct pod_affinity_args none = {.hard_weight = 0}, heavy = {.hard_weight = 40},
                                          deaf = {.hard_weight = 1, .ignores_preferences = true};
    static const struct {
        const struct pod_affinity_args *args;
        const char *pod;
        int64_t raw; /* on a1; -1: takes no part */
    } cases[] = {
        {NULL, "", 1 + 8},
        {&none, "", 8},
        {&heavy, "", 40 + 8},
        {&deaf, "", -1},
        {&deaf, "near:zone:app=db:weight=1", 1 + 8},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        struct profile_plugin configured = list[0];
        configured.args = cases[i].args;
        struct profile p = {STR("default-scheduler"), &configured, 1};
        AUTO(judge) j = {.profile = &p};
        add_nodes(&j.ground);
        ground_add(&j.ground, "pod there on=a1 near:zone:app=web near:zone:app=web:weight=8");
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].pod);
        struct judge_score score = judge_score(&j, affinity, "p", "a1");
        EXPECT_INT(score.takes_part ? score.raw : -1, cases[i].raw);
    }
}

TEST(company, views_follow_pods_that_come)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a1 zone=a");
    ground_add(&j.ground, "node a2 zone=a");
    ground_add(&j.ground, "node b1 zone=b");
    ground_add(&j.ground, "pod p label:app=web apart:host:app=web near:zone:app=web:weight=1");
    static const char *const expected[] = {NULL, "a", "b", ""}; /* the zone of each choice */
    for (size_t i = 0; i < LEN(expected); i++) {
        char chosen[16];
        snprintf(chosen, sizeof(chosen), "%s", judge_scan(&j, "p"));
        EXPECT_TEXT(judge_view(&j, "p"), chosen);
        if (i == 0)
            snprintf(chosen, sizeof(chosen), "a2"); /* whatever the ranks say: begin in zone a */
        else
            EXPECT_INT(chosen[0], expected[i][0]);
        if (*chosen)
            ground_add(&j.ground, "pod x%zu label:app=web on=%s", i, chosen);
    }
}

TEST(company, hints_wake_whom_an_event_may_help)
{
    static const struct {
        const char *pod;
        enum event_resource resource;
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod x on=a1 label:app=db",
         true},
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod x on=a1 label:app=x",
         false},
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod x label:app=db", false},
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod x on=a1 label:app=x",
         "pod x on=a1 label:app=db", true},
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod x on=a1 label:app=db",
         "pod x on=a1 label:app=x", false},
        {"near:zone:app=db", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod x on=a1 label:app=db", NULL,
         false},
        {"apart:zone:app=db", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod x on=a1 label:app=db", NULL,
         true},
        {"apart:zone:app=db", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod x on=a1 label:app=x", NULL,
         false},
        {"apart:zone:app=db", EVENT_ASSIGNED_POD, ACTION_POD_LABEL, "pod x on=a1 label:app=db",
         "pod x on=a1 label:app=x", true},
        {"", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod x on=a1 apart:zone:app=web", NULL, true},
        {"", EVENT_ASSIGNED_POD, ACTION_DELETE, "pod x on=a1 apart:zone:app=web:like=team=a", NULL,
         false},
        {"near:zone:app=db", EVENT_NODE, ACTION_ADD, NULL, "node n zone=c", true},
        {"near:zone:app=db", EVENT_NODE, ACTION_ADD, NULL, "node n", false},
        {"apart:zone:app=db", EVENT_NODE, ACTION_ADD, NULL, "node n", true},
        {"near:zone:app=db", EVENT_NODE, ACTION_NODE_LABEL, "node n", "node n zone=c", true},
        {"near:zone:app=db", EVENT_NODE, ACTION_NODE_LABEL, "node n zone=c", "node n", false},
        {"near:zone:app=db", EVENT_NODE, ACTION_NODE_LABEL, "node n zone=c", "node n zone=d", true},
        {"apart:zone:app=db", EVENT_NODE, ACTION_NODE_LABEL, "node n zone=c", "node n", true},
        {"apart:zone:app=db", EVENT_NODE, ACTION_NODE_LABEL, "node n", "node n zone=c", false},
        {"apart:zone:app=db:weight=1", EVENT_NODE, ACTION_ADD, NULL, "node n", false},
        {"near:zone:app=db", EVENT_NODE, ACTION_NODE_TAINT, "node n zone=c", "node n zone=d",
         false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu: %s", i, cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        add_nodes(&j.ground);
        ground_add(&j.ground, "pod p label:app=web %s", cases[i].pod);
        EXPECT_INT(judge_wakes(&j, affinity, "p", cases[i].resource, cases[i].action, cases[i].was,
                               cases[i].is),
                   cases[i].wakes);
    }
}
