#include <stdio.h>

#include "core/base/rng.h"
#include "lines.h"
#include "support/test.h"

#define OURS "scheduler=kubenexus-scheduler"
#define RUNS "note:scheduling.kubenexus.io/expected-duration="

TEST(head_start, the_head_starts_when_enough_have_ended_somewhere)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node a gpu=4");
    stage_put(&s, "node b gpu=4");
    stage_put(&s, "pod a1 gpu=2 on=a " RUNS "10m " OURS);
    stage_put(&s, "pod b1 gpu=1 on=b " RUNS "20m " OURS);
    stage_put(&s, "pod a2 gpu=2 on=a " RUNS "50m " OURS);
    stage_put(&s, "pod b2 gpu=3 on=b " RUNS "30m " OURS);
    stage_put(&s, "pod head gpu=4 created=1 " OURS);
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 1800000); /* on b; what ends on a does not help */
    EXPECT_INT(lines_of(&s)->ends.n, 3);
}

TEST(head_start, one_that_outlives_what_it_said_is_expected_to_run_as_long_again)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node n gpu=2");
    stage_put(&s, "pod busy gpu=1 on=n " RUNS "10m " OURS);
    stage_put(&s, "pod head gpu=2 created=1 " OURS);
    stage_put(&s, "pod p gpu=1 created=2 " RUNS "15m " OURS);
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 600000);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    EXPECT_INT(engine_lines_next_ms(s.engine, s.now_ms), 600000);
    s.now_ms = 600000;
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 1200000);
    s.now_ms = 1200000;
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 2400000);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n"); /* 15 minutes are in time by now */
}

/* Promise 79: what was learned changes who may pass. */
TEST(head_start, run_times_are_learned_from_those_who_ended)
{
    for (int knows = 0; knows < 2; knows++) {
        struct lines_setup l;
        AUTO(stage) s = {0};
        lines_setup(&l, &s, LINE_EASY, 0);
        stage_put(&s, "node n gpu=8");
        for (int i = 0; i < (knows ? 5 : 4); i++) {
            stage_put(&s, "pod train-%d gpu=1 created=1 " OURS, i);
            stage_run(&s);
            char name[32];
            snprintf(name, sizeof(name), "train-%d", i);
            stage_settle(&s, name, NULL);
            stage_put(&s, "pod train-%d gpu=1 on=n " OURS, i);
            s.now_ms += 60000;
            stage_put(&s, "pod train-%d gpu=1 on=n phase=Succeeded " OURS, i);
        }
        stage_put(&s, "pod busy gpu=7 on=n " RUNS "2m " OURS);
        stage_put(&s, "pod head gpu=8 created=500 " OURS);
        stage_put(&s, "pod train-9 gpu=1 created=501 " OURS);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "train-9"), knows ? "assumed on n" : "parked");
    }
}

TEST(head_start, nothing_is_learned_from_those_who_were_sent_away)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node n gpu=8");
    for (int way = 0; way < 3; way++) {
        stage_put(&s, "pod a gpu=1 on=n " OURS);
        s.now_ms += 60000;
        if (way == 0)
            stage_put(&s, "pod a gpu=1 on=n deleting " OURS);
        if (way == 2)
            stage_put(&s, "pod a gpu=1 on=n phase=Failed " OURS); /* that is an end, too */
        stage_remove(&s, "pod a");
        EXPECT_INT(s.engine->lines->runtimes.notes, way * RUNTIME_LEVELS);
    }
}

TEST(head_start, a_gang_is_a_head_and_is_passed_as_one)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node a gpu=2");
    stage_put(&s, "node b gpu=2");
    stage_put(&s, "pod a1 gpu=1 on=a " RUNS "10m " OURS);
    stage_put(&s, "pod b1 gpu=1 on=b " RUNS "20m " OURS);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod g.%d gpu=1 gang=g:4 created=1", i);
    stage_put(&s, "pod late gpu=1 created=2 " RUNS "21m " OURS);
    stage_put(&s, "pod early gpu=1 created=3 " RUNS "20m " OURS);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod h.%d gpu=1 gang=h:2 created=4 " RUNS "10m", i);
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 1200000);
    EXPECT_TEXT(stage_fate(&s, "late"), "parked");
    EXPECT_STR(stage_effect(&s, "late")->message,
               "waits in line: would delay default/g, which is expected to start within 20m");
    EXPECT(strncmp(stage_fate(&s, "early"), "assumed", 7) == 0);
    EXPECT_STR(stage_effect(&s, "h.1")->message, /* one GPU is free */
               "gang h needs 2 x (1 nvidia.com/gpu); 1 fit now; short of 1 nvidia.com/gpu");

    s.now_ms = 600000; /* a1 ends: there is room for h, and it ends in time */
    stage_remove(&s, "pod a1");
    stage_run(&s);
    EXPECT(strncmp(stage_fate(&s, "h.0"), "assumed", 7) == 0);
    EXPECT(strncmp(stage_fate(&s, "h.1"), "assumed", 7) == 0);
    s.now_ms = 1200000;
    stage_remove(&s, "pod b1");
    stage_remove(&s, "pod early");
    stage_remove(&s, "pod h.0");
    stage_remove(&s, "pod h.1");
    stage_run(&s);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof(name), "g.%d", i);
        EXPECT(strncmp(stage_fate(&s, name), "assumed", 7) == 0);
    }
}

TEST(head_start, a_gang_waits_that_would_delay_another)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node a gpu=2");
    stage_put(&s, "node b gpu=2");
    stage_put(&s, "pod a1 gpu=1 on=a " RUNS "10m " OURS);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod g.%d gpu=1 gang=g:4 created=1", i);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod h.%d gpu=1 gang=h:2 created=4 " RUNS "11m", i);
    stage_run(&s);
    for (int i = 0; i < 2; i++)
        EXPECT_STR(stage_effect(&s, i ? "h.1" : "h.0")->message,
                   "waits in line: would delay default/g, which is expected to start within 10m");
    EXPECT_TEXT(stage_fate(&s, "a1"), "bound to a");
}

TEST(head_start, nobody_waits_for_a_gang_that_has_lost_a_member_meanwhile)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    lines_setup(&l, &s, LINE_EASY, 0);
    stage_put(&s, "node a gpu=4");
    stage_put(&s, "pod a1 gpu=2 on=a " RUNS "10m " OURS);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod g.%d gpu=2 gang=g:2 created=1", i);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g.0"), "parked");
    stage_remove(&s, "pod g.1");
    stage_put(&s, "pod late gpu=2 created=2 " RUNS "11m " OURS);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "late"), "assumed on a");
}

static void draw(struct rng *r, struct task *jobs, uint32_t n, int most)
{
    int64_t at_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        at_s += (int64_t)rng_below(r, 20);
        jobs[i] = (struct task){.submit_s = at_s,
                                .run_s = 1 + (int64_t)rng_below(r, 100),
                                .gpus = 1 + (int)rng_below(r, (uint64_t)most)};
    }
}

/* The law of EASY: with true run times the head starts no later than it was promised, however many
 * pass it. */
TEST(head_start, no_head_starts_later_than_its_head_start)
{
    uint32_t heads = 0, passed = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (enum line_policy policy = LINE_EASY; policy <= LINE_SJF; policy++) {
            if (policy == LINE_FIRST_FIT || policy == LINE_FIFO)
                continue;
            struct lines_setup l;
            AUTO(stage) s = {0};
            struct task jobs[60];
            struct rng rng = rng_seeded(seed);
            lines_setup(&l, &s, policy, 2);
            for (int i = 0; i < 3; i++)
                stage_put(&s, "node n%d gpu=8", i);
            draw(&rng, jobs, LEN(jobs), 8);
            lines_run(&s, jobs, LEN(jobs));
            for (uint32_t i = 0; i < LEN(jobs); i++) {
                EXPECT(jobs[i].start_s >= jobs[i].submit_s);
                for (uint32_t k = 0; k < i; k++)
                    passed += jobs[k].start_s > jobs[i].start_s;
                if (jobs[i].promised_s < 0 || policy == LINE_SJF)
                    continue;
                heads++;
                EXPECT(jobs[i].start_s <= jobs[i].promised_s);
            }
        }
    }
    EXPECT(heads > 100 && passed > 100); /* it was put to the test */
}

/* Promise 91: pods that are made to be evicted use what is idle, and nobody else starts later for
 * it. Regular jobs take whole nodes, so that which node they get does not matter. */
TEST(head_start, regular_jobs_start_at_the_same_times_with_and_without_backfill)
{
    enum { REGULAR = 40, EXTRA = 60 };
    int64_t idle_s = 0, used_s = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct task jobs[REGULAR + EXTRA], alone[REGULAR];
        struct rng rng = rng_seeded(seed);
        draw(&rng, alone, REGULAR, 1);
        for (uint32_t i = 0; i < REGULAR; i++)
            alone[i].gpus = 8;
        memcpy(jobs, alone, sizeof(alone));
        draw(&rng, jobs + REGULAR, EXTRA, 3);
        for (uint32_t i = REGULAR; i < LEN(jobs); i++) {
            jobs[i].priority = -10;
            jobs[i].is_silent = i % 2;
        }
        for (int with = 0; with < 2; with++) {
            struct lines_setup l;
            AUTO(stage) s = {0};
            lines_setup(&l, &s, LINE_EASY, 0);
            for (int i = 0; i < 3; i++)
                stage_put(&s, "node n%d gpu=8", i);
            lines_run(&s, with ? jobs : alone, with ? LEN(jobs) : REGULAR);
        }
        for (uint32_t i = 0; i < REGULAR; i++) {
            EXPECT_INT(jobs[i].start_s, alone[i].start_s);
            idle_s += jobs[i].run_s;
        }
        for (uint32_t i = REGULAR; i < LEN(jobs); i++)
            used_s += jobs[i].start_s < 0 ? 0 : jobs[i].run_s;
    }
    EXPECT(idle_s > 0 && used_s > 1000); /* and they did run */
}
