#include "core/engine/backfill/line.h"

#include "lines.h"
#include "support/test.h"

#define OURS "scheduler=kubenexus-scheduler"
#define RUNS "note:scheduling.kubenexus.io/expected-duration="

/* A node with 8 GPUs, 6 of them busy for another hour, and a job that needs 4. */
static void block(struct stage *s)
{
    stage_put(s, "node n gpu=8");
    stage_put(s, "pod busy gpu=6 on=n " RUNS "1h " OURS);
    stage_put(s, "pod head gpu=4 created=1 " RUNS "1h " OURS);
    stage_run(s);
    EXPECT_TEXT(stage_fate(s, "head"), "parked");
}

TEST(line, under_fifo_nobody_passes_the_head)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    block(&s);
    stage_put(&s, "pod small gpu=1 created=2 " RUNS "1m " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "small"), "parked");
    EXPECT_STR(stage_effect(&s, "small")->message,
               "waits in line: behind default/head, which is expected to start within 1h00m");
    EXPECT_INT(stage_run(&s), 0); /* told once */

    stage_remove(&s, "pod busy");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "head"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "small"), "assumed on n");
}

TEST(line, under_easy_those_pass_who_do_not_delay_the_head)
{
    static const struct {
        const char *pod, *fate;
    } cases[] = {
        {"gpu=2 " RUNS "1h", "assumed on n"},  /* ends in time */
        {"gpu=2 " RUNS "61m", "assumed on n"}, /* late, but 8 - 2 is enough for the head */
        {"gpu=2", "assumed on n"},             /* nobody knows, and the same */
        {"gpu=3 " RUNS "1m", "parked"},        /* no room */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        struct lines_setup l;
        AUTO(stage) s = {0};
        lines_setup(&l, &s, LINE_EASY, 0);
        block(&s);
        stage_put(&s, "pod p created=2 " OURS " %s", cases[i].pod);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), cases[i].fate);
    }
}

TEST(line, under_easy_those_wait_who_would_delay_the_head)
{
    static const struct {
        const char *pod, *fate;
    } cases[] = {
        {"gpu=2 " RUNS "60m", "assumed on n"},
        {"gpu=2 " RUNS "61m", "parked"},
        {"gpu=2", "parked"},                   /* nobody knows when it ends */
        {"gpu=2 priority=-1", "assumed on n"}, /* the head may take its place */
        {"gpu=2 label:scheduling.kubenexus.io/backfill=true", "parked"}, /* but not of an equal */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        struct lines_setup l;
        AUTO(stage) s = {0};
        lines_setup(&l, &s, LINE_EASY, 0);
        stage_put(&s, "node n gpu=8");
        stage_put(&s, "pod busy gpu=6 on=n " RUNS "1h " OURS);
        stage_put(&s, "pod head gpu=8 created=1 " RUNS "1h " OURS);
        stage_run(&s);
        stage_put(&s, "pod p created=2 " OURS " %s", cases[i].pod);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), cases[i].fate);
    }
}

TEST(line, the_one_who_waits_hears_whom_it_would_delay)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod busy gpu=6 on=n " RUNS "90m " OURS);
    stage_put(&s, "pod head gpu=8 created=1 " OURS);
    stage_put(&s, "pod p gpu=2 created=2 " OURS);
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "p")->message, "waits in line: would delay default/head, which is "
                                               "expected to start within 1h30m");
    EXPECT(stage_effect(&s, "p")->rejected_by == lines_of(&s)->bit);
}

TEST(line, pods_of_other_namespaces_do_not_hear_the_name_of_the_head)
{
    static const struct {
        enum line_policy policy;
        const char *head, *text;
    } cases[] = {
        {LINE_EASY, "pod head gpu=8 created=1 " OURS,
         "waits in line: would delay a pod of another namespace, which is expected to start within "
         "1h30m"},
        {LINE_FIFO, "pod head gpu=8 created=1 gang=secret:1",
         "waits in line: behind a pod of another namespace, which is expected to start within "
         "1h30m"},
        {LINE_FIFO, "pod head gpu=4 created=1 gang=secret:2",
         "waits in line: behind a gang of another namespace, which is expected to start within "
         "1h30m"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct lines_setup l;
        AUTO(stage) s = {0};
        test_case("%s", cases[i].head);
        lines_setup(&l, &s, cases[i].policy, 0);
        stage_put(&s, "node n gpu=8");
        stage_put(&s, "pod busy gpu=6 on=n " RUNS "90m " OURS);
        stage_put(&s, "%s", cases[i].head);
        if (i == 2)
            stage_put(&s, "pod second gpu=4 created=1 gang=secret:2");
        stage_run(&s);
        stage_put(&s, "pod p namespace=b gpu=2 created=2 " OURS);
        stage_run(&s);
        REQUIRE(stage_effect(&s, "p"));
        EXPECT_STR(stage_effect(&s, "p")->message, cases[i].text);
    }
}

TEST(line, under_first_fit_whoever_fits_may_go)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIRST_FIT, 0);
    block(&s);
    stage_put(&s, "pod p gpu=2 created=2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

/* Who of two gets the room for one that comes free. */
static const char *first_of(enum line_policy policy, int64_t patience, const char *a, const char *b)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, policy, patience);
    stage_put(&s, "node n gpu=1");
    stage_put(&s, "pod busy gpu=1 on=n " OURS);
    s.now_ms = 1000000;
    stage_put(&s, "pod a gpu=1 " OURS " %s", a);
    stage_put(&s, "pod b gpu=1 " OURS " %s", b);
    stage_run(&s);
    stage_remove(&s, "pod busy");
    stage_run(&s);
    return strcmp(stage_fate(&s, "a"), "parked") != 0 ? "a" : "b";
}

TEST(line, turns_come_by_priority_then_age_or_by_run_time)
{
    EXPECT_TEXT(first_of(LINE_EASY, 0, "created=20 " RUNS "1s", "created=10 " RUNS "1h"), "b");
    EXPECT_TEXT(first_of(LINE_EASY, 0, "created=20 priority=5", "created=10"), "a");
    EXPECT_TEXT(first_of(LINE_EASY, 0, "created=10", "created=10"), "a"); /* it came first */
    EXPECT_TEXT(first_of(LINE_SJF, 0, "created=20 " RUNS "1m", "created=10 " RUNS "1h"), "a");
    EXPECT_TEXT(first_of(LINE_SJF, 0, "created=20 " RUNS "2h", "created=10 " RUNS "1h"), "b");
    EXPECT_TEXT(first_of(LINE_SJF, 0, "created=20 priority=1 " RUNS "2h", "created=10 " RUNS "1h"),
                "a");
}

TEST(line, patience_bounds_how_often_a_long_one_is_passed)
{
    /* b wants its turn by 10 + 2 · 100 s, a by 20 + 2 · 5 s; later by 201 + 2 · 5 s. */
    EXPECT_TEXT(first_of(LINE_SJF, 2, "created=20 " RUNS "5s", "created=10 " RUNS "100s"), "a");
    EXPECT_TEXT(first_of(LINE_SJF, 2, "created=201 " RUNS "5s", "created=10 " RUNS "100s"), "b");
    EXPECT_TEXT(first_of(LINE_SJF, 0, "created=201 " RUNS "5s", "created=10 " RUNS "100s"), "a");
}

TEST(line, a_head_that_goes_away_holds_up_nobody)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    block(&s);
    stage_put(&s, "pod p gpu=1 created=2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    stage_remove(&s, "pod head");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), s.now_ms);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(line, a_head_that_shrinks_is_tried_again)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    block(&s);
    stage_put(&s, "pod head gpu=2 created=1 " RUNS "1h " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "head"), "assumed on n");
}

TEST(line, one_that_could_never_start_holds_up_nobody)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod busy gpu=6 on=n " OURS);
    stage_put(&s, "pod huge gpu=9 created=1 " OURS);
    stage_put(&s, "pod lost gpu=1 created=1 select:disk=ssd " OURS);
    stage_put(&s, "pod p gpu=1 created=2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "huge"), "parked");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");

    stage_put(&s, "node m gpu=16"); /* now it can */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "huge"), "assumed on m");
}

TEST(line, a_binding_that_fails_loses_no_turn)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    stage_put(&s, "node n gpu=1");
    stage_put(&s, "pod a gpu=1 created=1 " OURS);
    stage_put(&s, "pod b gpu=1 created=2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n");
    stage_settle(&s, "a", "no");
    s.now_ms = 20000; /* after its wait */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "b"), "parked");
}

TEST(line, other_profiles_know_nothing_of_it)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    block(&s);
    stage_put(&s, "pod p gpu=1"); /* of default-scheduler */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(line, the_policy_may_change_while_they_wait)
{
    struct lines_setup l, other;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_FIFO, 0);
    block(&s);
    stage_put(&s, "pod p gpu=1 created=2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    lines_setup(&other, &s, LINE_FIRST_FIT, 0);
    engine_configure(s.engine, s.now_ms, &s.config.rules);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    s.config.rules.profiles = NULL; /* no line at all */
    engine_configure(s.engine, s.now_ms, &s.config.rules);
    stage_put(&s, "pod q gpu=1 created=3 " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "head"), "parked");
}
