#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* The message of the last refusal. */
static struct str refusal(const struct stage *s, const char *pod)
{
    const struct effect *e = stage_effect(s, pod);
    return e && e->kind == EFFECT_REFUSE ? e->message : STR("not refused");
}

TEST(decide, a_pinned_pod_goes_to_its_node_alone)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "node n2 cpu=8 memory=8Gi");
    stage_put(&s, "pod a cpu=1 require:@metadata.name:In:n1");
    stage_put(&s, "pod b cpu=2 require:@metadata.name:In:n1");
    stage_put(&s, "pod c cpu=1 require:@metadata.name:In:n9");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_STR(refusal(&s, "b"), "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't "
                                 "satisfy plugin(s) [NodeAffinity]. preemption: 0/2 nodes are "
                                 "available: 1 No preemption victims found for incoming pod, 1 "
                                 "Preemption is not helpful for scheduling.");
    EXPECT_STR(refusal(&s, "c"),
               "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
               "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.");
    EXPECT_INT(engine_stats(s.engine).by_pin, 3);
    EXPECT_INT(engine_stats(s.engine).classes, 2); /* the node is not part of the class */
    EXPECT_INT(stage_effect(&s, "c")->rejected_by, 1 << 5);
}

TEST(decide, a_pod_that_names_several_nodes_takes_the_best_of_them)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "node n2 cpu=4 memory=8Gi");
    stage_put(&s, "node n3 cpu=9 memory=9Gi");
    stage_put(&s, "pod a cpu=1 memory=1Gi require:@metadata.name:In:n1 "
                  "require:@metadata.name:In:n2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n2");
}

TEST(decide, a_class_that_is_refused_needs_no_look_at_nodes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod a require:@metadata.name:In:n1&@metadata.name:In:n2");
    stage_run(&s);
    EXPECT_STR(refusal(&s, "a"), "0/1 nodes are available: pod affinity terms conflict. not found");
    EXPECT_INT(stage_effect(&s, "a")->rejected_by, 1 << 5);
}

TEST(decide, a_nominated_node_that_fits_is_taken_though_it_is_not_the_best)
{
    static const struct {
        const char *pod, *fate;
    } cases[] = {
        {"pod a cpu=1", "assumed on big"},
        {"pod a cpu=1 nominated=small", "assumed on small"},
        {"pod a cpu=9 nominated=small", "assumed on big"}, /* does not fit there */
        {"pod a cpu=1 nominated=nowhere", "assumed on big"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(stage) s = {0};
        stage_put(&s, "node small cpu=2 memory=4Gi");
        stage_put(&s, "node big cpu=9 memory=9Gi");
        stage_put(&s, "%s", cases[i].pod);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "a"), cases[i].fate);
        EXPECT_INT(s.engine->cluster->nominations.n, 0); /* placed pods have none */
    }
}

TEST(decide, a_pin_goes_before_a_nominated_node)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "node n2 cpu=2 memory=4Gi");
    stage_put(&s, "pod a cpu=1 require:@metadata.name:In:n1 nominated=n2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(decide, nominated_room_of_important_pods_is_left_to_them)
{
    static const struct {
        int priority;
        const char *fate;
    } cases[] = {
        {4, "parked"},
        {5, "parked"},
        {6, "assumed on n1"}, /* more important than the one who waits for it */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("priority %d", cases[i].priority);
        AUTO(stage) s = {0};
        stage_put(&s, "node n1 cpu=4 memory=4Gi");
        stage_put(&s, "pod there cpu=2 on=n1");
        stage_put(&s, "pod waits cpu=3 priority=5 nominated=n1");
        stage_run(&s); /* it does not fit yet */
        EXPECT_TEXT(stage_fate(&s, "waits"), "parked");
        stage_put(&s, "pod a cpu=2 priority=%d", cases[i].priority);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "a"), cases[i].fate);
    }
}

TEST(decide, nominations_and_filters_on_keys_together_are_scanned)
{
    AUTO(stage) s = {.config = {.checks_views = true}};
    for (int i = 0; i < 4; i++)
        stage_put(&s, "node n%d cpu=4 memory=8Gi zone=%c", i, 'a' + i % 2);
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "pod p%d cpu=1 label:app=web spread:zone:1:hard:app=web", i);
        stage_run(&s);
    }
    uint64_t scans = engine_stats(s.engine).by_scan;
    stage_put(&s, "pod big cpu=9 nominated=n0 preempts=Never");
    stage_run(&s);
    stage_put(&s, "pod p4 cpu=1 label:app=web spread:zone:1:hard:app=web");
    stage_run(&s);
    EXPECT_INT(engine_stats(s.engine).by_scan, scans + 2); /* big's own look, and p4 */
    EXPECT_INT(stage_effect(&s, "p4")->kind, EFFECT_BIND);
}

TEST(decide, views_say_why_nothing_fits_as_scans_do)
{
    for (int no_views = 0; no_views < 2; no_views++) {
        AUTO(stage)
        s = {.config = {.checks_views = true, .no_views = no_views}};
        stage_put(&s, "node n1 cpu=1 memory=4Gi");
        stage_put(&s, "node n2 cpu=9 memory=4Gi taint:a=b:NoSchedule");
        stage_put(&s, "node n3 cpu=9 memory=4Gi cordoned");
        for (int i = 0; i < 3; i++) {
            stage_put(&s, "pod p%d cpu=2", i);
            stage_run(&s);
        }
        EXPECT_STR(refusal(&s, "p2"),
                   "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated "
                   "taint(s), 1 node(s) were unschedulable. preemption: 0/3 nodes are available: "
                   "3 Preemption is not helpful for scheduling.");
        EXPECT_INT(engine_stats(s.engine).by_view > 0, !no_views);
    }
}

TEST(decide, a_lone_pod_of_its_class_gives_the_same_as_the_tenth)
{
    AUTO(stage) s = {.config = {.checks_views = true}};
    for (int i = 0; i < 8; i++)
        stage_put(&s, "node n%d cpu=16 memory=64Gi zone=%c image:app:1=%dMi", i, 'a' + i % 3,
                  200 + 100 * (i % 4));
    stage_put(&s, "service web app=web");
    for (int i = 0; i < 40; i++)
        stage_put(&s, "pod p%d cpu=1 memory=1Gi image:app:1 label:app=web", i);
    EXPECT_INT(stage_run(&s), 40); /* each compared with a scan */
    struct engine_stats stats = engine_stats(s.engine);
    EXPECT_INT(stats.bound, 40);
    EXPECT(stats.by_view >= 38);
}
