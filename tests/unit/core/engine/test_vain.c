#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define NEXUS "scheduler=kubenexus-scheduler"

/* Decisions that looked at nodes. */
static uint64_t searches(const struct stage *s)
{
    struct engine_stats stats = engine_stats(s->engine);
    return stats.decisions - stats.repeated;
}

static uint32_t binds(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

enum { NODES = 20, HOPELESS = 10000, KINDS = 500, ENDS = 50 };

/* Full nodes, and pods that none of them could ever hold. */
static void fill(struct stage *s)
{
    for (int i = 0; i < NODES; i++) {
        stage_put(s, "node n%d cpu=8 memory=8Gi", i);
        stage_put(s, "pod full-%d cpu=8 on=n%d", i, i);
    }
    for (int i = 0; i < HOPELESS; i++)
        stage_put(s, "pod h%d cpu=%d created=1 " NEXUS, i, 9 + i % KINDS);
    stage_run(s);
}

TEST(vain, hopeless_pods_are_not_searched_for_however_many_events_there_are)
{
    AUTO(stage) s = {0};
    fill(&s);
    uint64_t before = searches(&s);
    for (int i = 0; i < ENDS; i++) { /* a pod ends, another one takes its room */
        s.now_ms += 100;
        stage_remove(&s, "pod full-%d", i % NODES);
        EXPECT_INT(stage_run(&s), 0);
        stage_put(&s, "pod full-%d cpu=8 on=n%d", i % NODES, i % NODES);
        EXPECT_INT(stage_run(&s), 0);
    }
    EXPECT_INT(searches(&s), before);
    EXPECT_INT(engine_stats(s.engine).parked, HOPELESS);
}

/* With a step for each event, those who come later get their turn. */
TEST(vain, hopeless_pods_hold_up_nobody)
{
    AUTO(stage) s = {0};
    fill(&s);
    uint64_t before = searches(&s);
    stage_put(&s, "node free cpu=1000 memory=8Gi taint:a=b:NoSchedule");
    stage_run(&s);
    EXPECT_INT(searches(&s), before + KINDS); /* each kind hears of the taint, once */
    before = searches(&s);
    for (int i = 0; i < ENDS; i++) {
        s.now_ms += 100;
        stage_put(&s, "pod small-%d cpu=1 created=2 tolerate:a:Exists:: " NEXUS, i);
        stage_remove(&s, "pod full-%d", i % NODES);
        effects_clear(&s.effects);
        EXPECT(engine_step(s.engine, s.now_ms, &s.effects));
        stage_put(&s, "pod full-%d cpu=8 on=n%d", i % NODES, i % NODES);
        EXPECT_INT(binds(&s), 1);
    }
    EXPECT_INT(searches(&s), before + ENDS);
}

/* All could have it; the first takes it, and nobody else is searched for. */
TEST(vain, of_many_who_wait_for_a_node_one_is_searched_for)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod w100 cpu=8 on=n1");
    for (int i = 0; i < 100; i++)
        stage_put(&s,
                  "pod w%d cpu=5 created=1 label:a=%d select:kubernetes.io/hostname=n1 " NEXUS
                  " port:%d",
                  i, i, 1000 + i);
    stage_run(&s);
    stage_remove(&s, "pod w100");
    for (int i = 0; i < 5; i++) {
        uint64_t before = searches(&s);
        s.now_ms += 100;
        stage_run(&s);
        EXPECT_INT(binds(&s), 1);
        EXPECT_INT(searches(&s), before + 1);
        stage_remove(&s, "pod " STR_FMT, STR_ARG(s.effects.list.at[0].pod));
    }
}
