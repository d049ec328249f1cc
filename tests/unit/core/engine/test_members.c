#include "core/engine/step/step.h"
#include "lines.h"
#include "support/stage.h"
#include "support/test.h"

/* Where a pod waits when what it says of itself changes. */

/* A gang of two that we have started. */
static void run_gang(struct stage *s)
{
    stage_put(s, "node n1 cpu=8 memory=8Gi");
    stage_put(s, "pod g-0 cpu=1 gang=g:2");
    stage_put(s, "pod g-1 cpu=1 gang=g:2");
    EXPECT_INT(stage_run(s), 2);
    stage_settle(s, "g-0", NULL);
    stage_settle(s, "g-1", NULL);
    stage_put(s, "pod g-0 cpu=1 gang=g:2 on=n1");
    stage_put(s, "pod g-1 cpu=1 gang=g:2 on=n1");
}

TEST(members, a_pod_that_joins_a_gang_stops_waiting_by_itself)
{
    AUTO(stage) s = {0};
    run_gang(&s);
    stage_put(&s, "pod g-2 cpu=1 scheduler=kubenexus-scheduler gate:queue");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-2"), "gated");
    stage_put(&s, "pod g-2 cpu=1 gang=g:2 gate:queue");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-2"), "gated");
    stage_put(&s, "pod g-2 cpu=1 gang=g:2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-2"), "assumed on n1");
    EXPECT_INT(engine_stats(s.engine).active + engine_stats(s.engine).parked, 0);
}

TEST(members, a_pod_may_join_and_lose_its_gate_at_once)
{
    AUTO(stage) s = {0};
    run_gang(&s);
    stage_put(&s, "pod g-2 cpu=1 scheduler=kubenexus-scheduler gate:queue");
    stage_run(&s);
    stage_put(&s, "pod g-2 cpu=1 gang=g:2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-2"), "assumed on n1");
    EXPECT_INT(engine_stats(s.engine).active + engine_stats(s.engine).parked, 0);
}

TEST(members, a_pod_that_is_refused_by_itself_waits_with_the_gang_that_it_joins)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_put(&s, "pod big cpu=1 on=n1");
    stage_put(&s, "pod g-0 cpu=2 gang=g:2");
    stage_put(&s, "pod g-1 cpu=2 scheduler=kubenexus-scheduler");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-1"), "parked");
    stage_put(&s, "pod g-1 cpu=2 gang=g:2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-1"), "nowhere"); /* its gang is where its leader is */
    EXPECT_INT(queue_count(s.engine->queue, QUEUE_PARKED), 1);
}

TEST(members, one_that_runs_and_joins_leaves_fewer_to_find_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod runs cpu=1 on=n1");
    stage_put(&s, "pod g-0 cpu=1 gang=g:2");
    stage_put(&s, "pod g-1 cpu=3 gang=g:2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "parked");
    stage_put(&s, "pod runs cpu=1 gang=g:2 on=n1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n1");
}

TEST(members, who_runs_when_it_is_first_seen_leads_no_gang)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 on=n1");
    EXPECT_TEXT(stage_fate(&s, "g-0"), "bound to n1");
    EXPECT_INT(engine_stats(s.engine).parked, 0);
    EXPECT_INT(s.engine->timers.heap.n, 0);
}

/* An API server lets nobody change it; a backup that is put back does. */
TEST(members, a_pod_may_come_back_under_another_scheduler)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 on=n1");
    stage_put(&s, "pod g-1 cpu=1 gang=g:2 on=n1");
    stage_put(&s, "pod g-2 cpu=9 gang=g:2 scheduler=default-scheduler");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-2"), "parked");
    stage_put(&s, "pod g-2 cpu=9 gang=g:2");
    stage_run(&s);
    EXPECT_INT(queue_count(s.engine->queue, QUEUE_PARKED), 1);
    stage_put(&s, "pod g-2 cpu=9 gang=g:2 scheduler=default-scheduler");
    stage_run(&s);
    EXPECT_INT(queue_count(s.engine->queue, QUEUE_PARKED), 1);
    EXPECT(!engine_gang_led_by(s.engine, 2));
}

TEST(members, a_leader_that_leaves_its_gang_stands_in_line_beside_it)
{
    AUTO(stage) s = {0};
    struct lines_setup lines;
    lines_setup(&lines, &s, LINE_EASY, 0);
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_put(&s, "pod big cpu=2 on=n1");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod g-%d cpu=2 created=1 gang=g:2", i);
    stage_run(&s);
    stage_put(&s, "pod g-0 cpu=2 created=1 scheduler=kubenexus-scheduler");
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->order.n, 2);
    stage_remove(&s, "pod g-1"); /* which leads the gang now */
    stage_remove(&s, "pod g-0");
    stage_remove(&s, "pod g-2");
    EXPECT_INT(lines_of(&s)->order.n, 0);
}

TEST(members, a_gang_is_as_large_as_its_members_say_now)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod g-0 cpu=1 gang=g:3");
    stage_put(&s, "pod g-1 cpu=1 gang=g:3");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod g-0 cpu=1 gang=g:2");
    EXPECT_INT(stage_run(&s), 0); /* the largest counts */
    stage_put(&s, "pod g-1 cpu=1 gang=g:2");
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n1");
}
