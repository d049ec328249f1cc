#include "core/engine/step/step.h"
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
    stage_put(s, "pod x cpu=1 scheduler=kubenexus-scheduler preempts=Never");
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
    EXPECT_INT(binds(&s), 0); /* x came first, and yet it waits */
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 0);
}

TEST(keep, replacements_that_wait_are_somebody)
{
    AUTO(stage) s = {0};
    fill(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod b-0 cpu=1 gang=a:3");
    for (int i = 0; i < 3; i++)
        lose(&s, i);
    EXPECT_INT(s.engine->reservations->of_pod.n, 3);
    stage_put(&s, "pod b-0 cpu=1 gang=another:3");
    EXPECT_INT(s.engine->reservations->of_pod.n, 0);
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
    EXPECT_INT(s->engine->reservations->of_pod.n, 1);
}

TEST(keep, an_owner_that_is_there_makes_others_until_it_goes)
{
    AUTO(stage) s = {0};
    lose_job(&s);
    stage_put(&s, JOB(",'deletionTimestamp':'2026-01-01T00:00:00Z'"));
    EXPECT_INT(s.engine->reservations->of_pod.n, 0);
}

TEST(keep, an_owner_that_is_gone_makes_nobody)
{
    AUTO(stage) s = {0};
    lose_job(&s);
    stage_remove(&s, JOB(""));
    EXPECT_INT(s.engine->reservations->of_pod.n, 0);
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 0); /* and nothing is left of it */
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 4);
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 4);
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 2);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod full-%d cpu=1 on=n1 phase=Succeeded", i);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a-1"), "assumed on n1");
    s.now_ms += 1000;
    stage_run(&s);
    EXPECT_INT(s.engine->reservations->of_pod.n, 2); /* for b, though nothing has happened */
    stage_put(&s, "pod full-2 cpu=1 on=n1 phase=Succeeded");
    stage_put(&s, "pod small cpu=1 scheduler=kubenexus-scheduler created=60 preempts=Never");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
}

/* --- where more than amounts matters --- */

/* There is always a small pod that could have what becomes free. */
static void small_comes(struct stage *s, const char *how)
{
    static int made;
    stage_put(s, "pod small-%d %s scheduler=kubenexus-scheduler created=%d", made++, how,
              (int)(s->now_ms / 1000));
}

/* So many effects bind pods with this prefix. */
static uint32_t binds_of(const struct stage *s, struct str prefix)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND && str_starts(e->pod, prefix);
    return n;
}

/* What fills a node ends: the next small pod is there first. */
static void end(struct stage *s, const char *pod, const char *how)
{
    s->now_ms += 3000;
    small_comes(s, how);
    stage_run(s);
    stage_put(s, "pod %s phase=Succeeded", pod);
    stage_run(s);
}

/* Two racks of four nodes; of the one that the gang's members must be in, one node after the other
 * becomes free. What becomes free in the other rack is for anybody. */
TEST(keep, a_gang_that_must_be_in_one_rack_keeps_whole_nodes_there)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 8; i++) {
        stage_put(&s, "node n%d cpu=64 memory=64Gi gpu=8 label:rack=r%d", i, i / 4);
        stage_put(&s, "pod full-%d gpu=8 on=n%d phase=Running", i, i);
    }
    for (int i = 0; i < 4; i++)
        stage_put(&s,
                  "pod a-%d gpu=8 gang=a:4 created=0 "
                  "note:scheduling.kubenexus.io/required-topology=rack",
                  i);
    stage_run(&s);
    s.now_ms = 60001;
    stage_run(&s);
    end(&s, "full-0 gpu=8 on=n0", "gpu=1 preempts=Never");
    EXPECT_INT(binds(&s), 0);
    end(&s, "full-7 gpu=8 on=n7", "gpu=1 preempts=Never");
    EXPECT_INT(binds_of(&s, STR("small-")), 2);
    end(&s, "full-1 gpu=8 on=n1", "gpu=8 preempts=Never");
    end(&s, "full-2 gpu=8 on=n2", "gpu=8 preempts=Never");
    EXPECT_INT(binds(&s), 0);
    end(&s, "full-3 gpu=8 on=n3", "gpu=8 preempts=Never");
    EXPECT_INT(binds_of(&s, STR("a-")), 4);
    EXPECT_TEXT(stage_fate(&s, "a-3"), "assumed on n3");
}

/* A rack that is too small for it is not kept, though there is most room. */
TEST(keep, nothing_is_kept_in_a_rack_that_could_never_hold_the_gang)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n0 cpu=8 memory=8Gi gpu=2 label:rack=small");
    stage_put(&s, "node n1 cpu=8 memory=8Gi gpu=4 label:rack=large");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod full-%d gpu=1 on=n1 phase=Running", i);
    for (int i = 0; i < 4; i++)
        stage_put(&s,
                  "pod a-%d gpu=1 gang=a:4 created=0 "
                  "note:scheduling.kubenexus.io/required-topology=rack",
                  i);
    s.now_ms = 60001;
    stage_run(&s);
    for (int i = 0; i < 3; i++)
        small_comes(&s, "gpu=1 preempts=Never");
    stage_run(&s);
    EXPECT_INT(binds_of(&s, STR("small-")), 2);
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod full-%d gpu=1 on=n1 phase=Succeeded", i);
    stage_run(&s);
    EXPECT_INT(binds_of(&s, STR("a-")), 4);
}

TEST(keep, a_gang_whose_pods_need_a_port_keeps_a_node_for_each)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "node n%d cpu=8 memory=8Gi gpu=2", i);
        stage_put(&s, "pod full-%d gpu=2 on=n%d phase=Running", i, i);
        stage_put(&s, "pod a-%d gpu=1 port:8080 gang=a:3 created=0", i);
    }
    s.now_ms = 60001;
    stage_run(&s);
    end(&s, "full-0 gpu=2 on=n0", "gpu=2 preempts=Never");
    end(&s, "full-1 gpu=2 on=n1", "gpu=2 preempts=Never");
    EXPECT_INT(binds(&s), 0);
    end(&s, "full-2 gpu=2 on=n2", "gpu=2 preempts=Never");
    EXPECT_INT(binds_of(&s, STR("a-")), 3);
}

TEST(keep, a_gang_that_spreads_keeps_room_in_each_zone)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "node n%d cpu=8 memory=8Gi gpu=4 zone=z%d", i, i);
        stage_put(&s, "pod full-%d gpu=4 on=n%d phase=Running", i, i);
        stage_put(&s, "pod a-%d gpu=2 label:app=a spread:zone:1:hard:app=a gang=a:2 created=0", i);
    }
    s.now_ms = 60001;
    stage_run(&s);
    small_comes(&s, "gpu=2 preempts=Never");
    end(&s, "full-0 gpu=4 on=n0", "gpu=2 preempts=Never"); /* there is room for two of them */
    EXPECT_INT(binds_of(&s, STR("small-")), 1);
    end(&s, "full-1 gpu=4 on=n1", "gpu=4 preempts=Never");
    EXPECT_INT(binds_of(&s, STR("a-")), 2);
}

/* Each node is full of pods that end one after the other: no moment at which all of it is free. */
TEST(keep, a_node_whose_pods_end_one_by_one_is_kept_as_well)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "node n%d cpu=64 memory=64Gi gpu=4", i);
        for (int p = 0; p < 4; p++)
            stage_put(&s, "pod full-%d-%d gpu=1 on=n%d phase=Running", i, p, i);
        stage_put(&s, "pod a-%d gpu=4 gang=a:2 created=0", i);
    }
    s.now_ms = 60001;
    stage_run(&s);
    for (int p = 0; p < 4; p++) {
        AUTO(buf) pod = {0};
        buf_printf(&pod, "full-0-%d gpu=1 on=n0%c", p, 0);
        end(&s, pod.p, "gpu=1 preempts=Never");
        EXPECT_INT(binds(&s), 0);
    }
    end(&s, "full-1-0 gpu=1 on=n1", "gpu=1 preempts=Never");
    EXPECT_INT(binds(&s), 0);
    for (int p = 1; p < 4; p++) {
        AUTO(buf) pod = {0};
        buf_printf(&pod, "full-1-%d gpu=1 on=n1%c", p, 0);
        end(&s, pod.p, "gpu=1 preempts=Never");
    }
    EXPECT_INT(binds_of(&s, STR("a-")), 2);
}
