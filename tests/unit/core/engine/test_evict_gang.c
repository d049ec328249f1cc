/* A gang that has evicted: what it waits for, and how long. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

TEST(evict_gang, a_preemption_wait_is_looked_at_again_at_the_first_of_its_times)
{
    static const struct {
        int64_t next_try_ms, holds_ms, next_ms;
    } cases[] = {
        {0, 0, INT64_MAX}, /* it has none */
        {5, 0, 5},         {0, 7, 7}, {5, 7, 5}, {7, 5, 5},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct preemption_wait p = {.next_try_ms = cases[i].next_try_ms,
                                    .holds_ms = cases[i].holds_ms};
        test_case("case %zu", i);
        EXPECT_INT(preemption_wait_next_ms(p), cases[i].next_ms);
    }
}

static uint32_t count(const struct stage *s, enum effect_kind kind)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == kind;
    return n;
}

/* A scheduler that starts anew finds members that have nominated nodes, and victims on their
 * way. */
TEST(evict_gang, a_nomination_from_before_a_restart_is_waited_for)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "node n2 cpu=4 memory=8Gi");
    stage_put(&s, "pod a cpu=4 on=n1 preempted");
    stage_put(&s, "pod b cpu=4 on=n2");
    stage_put(&s, "pod g-0 cpu=2 gang=g:2 priority=9 nominated=n1");
    stage_put(&s, "pod g-1 cpu=2 gang=g:2 priority=9 nominated=n1");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_EVICT), 0); /* b would do as well, and stays */
    stage_remove(&s, "pod a");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n1");
}

/* Three pods, a minimum of two, and room for two. */
TEST(evict_gang, only_those_with_a_place_in_the_plan_are_nominated)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod a cpu=4 on=n1");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod g-%d cpu=2 gang=g:2 priority=9", i);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_EVICT), 1);
    EXPECT_INT(count(&s, EFFECT_NOMINATE), 2);
}
