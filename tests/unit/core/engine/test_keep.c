#include "core/engine/inside.h"
#include "support/stage.h"
#include "support/test.h"

static uint32_t binds(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

/* A gang of three fills the node, and somebody waits for its room. */
static void fill(struct stage *s)
{
    stage_put(s, "node n1 cpu=3 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(s, "pod a-%d cpu=1 gang=a:3 on=n1 phase=Running", i);
    stage_put(s, "pod x cpu=1 scheduler=kubenexus-scheduler priority=100 preempts=Never");
    stage_run(s);
    EXPECT_TEXT(stage_fate(s, "x"), "parked");
}

TEST(keep, the_room_of_a_lost_member_is_its_replacements)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 on=n1 phase=Running deleting");
    stage_remove(&s, "pod a-1");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0); /* x is more important, and yet it waits */
    s.now_ms = 40000;
    stage_put(&s, "pod a-3 cpu=1 gang=a:3");
    stage_run(&s);
    EXPECT_INT(binds(&s), 1);
    EXPECT_TEXT(stage_fate(&s, "a-3"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "x"), "parked");
}

TEST(keep, the_room_of_a_lost_member_is_free_after_a_while)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 on=n1 phase=Running deleting");
    stage_remove(&s, "pod a-1");
    stage_run(&s);
    EXPECT(engine_next_ms(s.engine, s.now_ms) <= 50000);
    s.now_ms = 49000;
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    s.now_ms = 62000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "x"), "assumed on n1");
}

TEST(keep, nothing_is_kept_for_a_gang_that_ends_or_goes)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 on=n1 phase=Succeeded");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "x"), "assumed on n1");

    stage_put(&s, "pod y cpu=2 scheduler=kubenexus-scheduler preempts=Never");
    stage_run(&s);
    s.now_ms = 40000;
    for (int i = 0; i < 3; i += 2) /* all are deleted, and go one after the other */
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 on=n1 phase=Running deleting", i);
    for (int i = 0; i < 3; i += 2) {
        stage_remove(&s, "pod a-%d", i);
        stage_run(&s);
    }
    EXPECT_TEXT(stage_fate(&s, "y"), "assumed on n1");
}

static void lose(struct stage *s, int member)
{
    stage_put(s, "pod a-%d cpu=1 gang=a:3 on=n1 phase=Running deleting", member);
    stage_remove(s, "pod a-%d", member);
}

TEST(keep, nothing_is_kept_for_a_gang_of_which_nobody_is_left)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    lose(&s, 0); /* each was missed by those behind it */
    lose(&s, 1);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "x"), "parked");
    stage_put(&s, "pod a-2 cpu=1 gang=a:3 on=n1 phase=Running deleting"); /* takes its time */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "x"), "assumed on n1");
    EXPECT_INT(s.engine->holds.of_pod.n, 0);
}

TEST(keep, replacements_that_wait_are_somebody)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod b-0 cpu=1 gang=a:3");
    for (int i = 0; i < 3; i++)
        lose(&s, i);
    EXPECT_INT(s.engine->holds.of_pod.n, 3);
    stage_put(&s, "pod b-0 cpu=1 gang=another:3");
    EXPECT_INT(s.engine->holds.of_pod.n, 0);
}

#define JOB(more)                                                                                  \
    "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','namespace':'default'" more      \
    "},'spec':{'parallelism':2,'template':{'metadata':{'annotations':"                             \
    "{'kubenexus.io/gang':'auto'}}}}}"

/* A gang of two whose Job is there, and which is lost but for a slot. */
static void lose_job(struct stage *s)
{
    stage_put(s, "node n1 cpu=2 memory=8Gi");
    stage_put(s, JOB(""));
    for (int pod = 0; pod < 2; pod++)
        stage_put(s,
                  "pod j-%d cpu=1 on=n1 scheduler=kubenexus-scheduler owner:Job=j "
                  "note:kubenexus.io/gang=auto",
                  pod);
    for (int pod = 0; pod < 2; pod++) {
        stage_put(s,
                  "pod j-%d cpu=1 on=n1 scheduler=kubenexus-scheduler owner:Job=j deleting "
                  "note:kubenexus.io/gang=auto",
                  pod);
        stage_remove(s, "pod j-%d", pod);
    }
    EXPECT_INT(s->engine->holds.of_pod.n, 1);
}

TEST(keep, an_owner_that_is_there_makes_others_until_it_goes)
{
    AUTO(stage) s = {0};
    lose_job(&s);
    stage_put(&s, JOB(",'deletionTimestamp':'2026-01-01T00:00:00Z'"));
    EXPECT_INT(s.engine->holds.of_pod.n, 0);
}

TEST(keep, an_owner_that_is_gone_makes_nobody)
{
    AUTO(stage) s = {0};
    lose_job(&s);
    stage_remove(&s, JOB(""));
    EXPECT_INT(s.engine->holds.of_pod.n, 0);
}

TEST(keep, a_gang_that_starves_keeps_what_becomes_free)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod old-%d cpu=1 on=n1 phase=Running", i);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:4 created=0", i);
    uint32_t small = 0, gang = 0;
    for (int i = 0; i < 120 && gang == 0; i++) { /* whenever one ends, the next small one comes */
        s.now_ms += 5000;
        stage_put(&s, "pod small-%d cpu=1 scheduler=kubenexus-scheduler created=%d preempts=Never",
                  i, (int)(s.now_ms / 1000));
        if (i < 4)
            stage_put(&s, "pod old-%d cpu=1 on=n1 phase=Succeeded", i);
        else if (i % 3 == 0)
            stage_put(&s, "pod small-%d cpu=1 scheduler=kubenexus-scheduler on=n1 phase=Succeeded",
                      (int)small);
        stage_run(&s);
        vec_each(&s.effects.list, e)
            gang += e->kind == EFFECT_BIND && str_starts(e->pod, STR("a-"));
        small += i >= 4 && i % 3 == 0;
    }
    EXPECT_INT(gang, 4);
    s.now_ms += 1000;
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 0); /* and nothing is left of it */
}

TEST(keep, one_gang_at_a_time_keeps_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod old cpu=1 on=n1 phase=Running");
    for (int i = 0; i < 4; i++) {
        stage_put(&s, "pod a-%d cpu=1 gang=a:4 created=0", i);
        stage_put(&s, "pod b-%d cpu=1 gang=b:4 created=0", i);
    }
    s.now_ms = 400000;
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 4);
    stage_put(&s, "pod old cpu=1 on=n1 phase=Succeeded");
    stage_run(&s);
    EXPECT_INT(binds(&s), 4);
}

/* The room is on a node of a pool, behind a taint; one device becomes free after the other, and
 * there is always a small pod that could have it. */
TEST(keep, a_gang_keeps_each_device_from_the_moment_on_at_which_it_starves)
{
    static const char where[] = "gpu=1 select:pool=a tolerate:gpu:Exists::";
    AUTO(stage) s = {0};
    stage_put(&s, "node other cpu=8 memory=8Gi gpu=4");
    stage_put(&s, "node n1 cpu=8 memory=8Gi gpu=4 label:pool=a taint:gpu=yes:NoSchedule");
    for (int i = 0; i < 4; i++) {
        stage_put(&s, "pod full-%d gpu=1 on=n1 phase=Running", i);
        stage_put(&s, "pod there-%d gpu=1 on=other phase=Running", i);
        stage_put(&s, "pod a-%d %s gang=a:4 created=0", i, where);
    }
    stage_run(&s);
    s.now_ms = 60001;
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 4);
    stage_put(&s, "pod there-0 gpu=1 on=other phase=Succeeded"); /* not where they may go */
    for (int i = 0; i < 4; i++) {
        s.now_ms += 3000;
        stage_put(&s, "pod small-%d %s scheduler=kubenexus-scheduler created=60", i, where);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "a-0"), "parked");
        stage_put(&s, "pod full-%d gpu=1 on=n1 phase=Succeeded", i);
        stage_run(&s);
        EXPECT_INT(binds(&s), i == 3 ? 4 : 0);
    }
    EXPECT_TEXT(stage_fate(&s, "a-0"), "assumed on n1");
}

TEST(keep, when_a_gang_has_its_room_the_next_one_that_starves_keeps_some)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod full-%d cpu=1 on=n1 phase=Running", i);
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "pod a-%d cpu=1 gang=a:2 created=0", i);
        stage_put(&s, "pod b-%d cpu=1 gang=b:2 created=1", i);
    }
    stage_run(&s);
    s.now_ms = 62000;
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 2);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod full-%d cpu=1 on=n1 phase=Succeeded", i);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a-1"), "assumed on n1");
    s.now_ms += 1000;
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 2); /* for b, though nothing has happened */
    stage_put(&s, "pod full-2 cpu=1 on=n1 phase=Succeeded");
    stage_put(&s, "pod small cpu=1 scheduler=kubenexus-scheduler created=60 preempts=Never");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
}
