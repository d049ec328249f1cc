#include "calls.h"
#include "core/engine/step/step.h"
#include "support/test.h"

/* Two pods that fill a node of 4 CPUs each, on n1, n2 and n3, where 4, 8 and 16 are. */
static void open_with_gang(struct stage *s, const struct extender *extenders, uint32_t n)
{
    calls_open(s, extenders, n);
    stage_put(s, "pod on-2 cpu=4 on=n2 priority=9");
    stage_put(s, "pod on-3 cpu=12 on=n3 priority=9");
    stage_put(s, "pod g-0 cpu=4 gang=g:2");
    stage_put(s, "pod g-1 cpu=4 gang=g:2");
    stage_run(s);
}

static void answer_both(struct stage *s, const char *first, const char *second)
{
    const struct effect *a = calls_question(s, "g-0", 0), *b = calls_question(s, "g-1", 0);
    REQUIRE(a && b);
    calls_answer(s, a, first);
    calls_answer(s, b, second);
}

static uint32_t binds(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

TEST(call_gang, each_member_is_asked_about_and_all_go_where_they_may)
{
    AUTO(stage) s = {0};
    open_with_gang(&s, &calls_filter, 1);
    EXPECT_TEXT(calls_text(&s, "g-0", 0), "0 filter: n1 n2 n3");
    EXPECT_TEXT(calls_text(&s, "g-1", 0), "0 filter: n1 n2 n3");
    EXPECT_INT(engine_stats(s.engine).in_flight, 1);
    calls_answer(&s, calls_question(&s, "g-0", 0), "{'NodeNames':['n2','n3']}");
    EXPECT(engine_next_ms(s.engine, 0) > 0); /* half of what there is to know */
    calls_answer(&s, calls_question(&s, "g-1", 0), "{'NodeNames':['n3']}");
    EXPECT_INT(engine_next_ms(s.engine, 0), 0);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n2"); /* leaves the other its only node */
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n3");
    EXPECT_INT(s.engine->extender->all.n, 0);
}

TEST(call_gang, filters_are_asked_in_turn_then_scores)
{
    AUTO(stage) s = {0};
    const struct extender both[] = {calls_filter, calls_scorer};
    open_with_gang(&s, both, 2);
    answer_both(&s, "{'NodeNames':['n1','n2']}", "{'NodeNames':['n1','n2']}");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "g-0", 0), "1 prioritize: n1 n2");
    EXPECT_TEXT(calls_text(&s, "g-1", 0), "1 prioritize: n1 n2");
    answer_both(&s, "[{'Host':'n2','Score':10}]", "[{'Host':'n1','Score':10}]");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n2");
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n1");
}

TEST(call_gang, if_one_of_them_may_go_nowhere_nobody_goes)
{
    AUTO(stage) s = {0};
    open_with_gang(&s, &calls_filter, 1);
    answer_both(&s, "{'NodeNames':['n1','n2']}",
                "{'NodeNames':[],'FailedNodes':{'n1':'not mine','n2':'not mine','n3':'not mine'}}");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "parked");
    EXPECT(memmem(stage_effect(&s, "g-0")->message.p, stage_effect(&s, "g-0")->message.n,
                  "3 not mine", 10));
    EXPECT_INT(s.engine->extender->all.n, 0);
    stage_put(&s, "node n4 cpu=4"); /* whatever happens may change its mind */
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "g-1", 0), "0 filter: n1 n2 n3 n4");
}

TEST(call_gang, room_that_is_gone_by_then_is_not_given_twice)
{
    AUTO(stage) s = {0};
    open_with_gang(&s, &calls_filter, 1);
    stage_put(&s, "pod thief cpu=4 on=n1");
    answer_both(&s, "{'NodeNames':['n1']}", "{'NodeNames':['n2']}");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    EXPECT_TEXT(calls_text(&s, "g-0", 0), "0 filter: n2 n3"); /* something has happened since */
}

TEST(call_gang, who_comes_meanwhile_is_asked_about_first)
{
    AUTO(stage) s = {0};
    open_with_gang(&s, &calls_filter, 1);
    stage_put(&s, "pod g-2 cpu=4 gang=g:2");
    answer_both(&s, "{'NodeNames':['n1']}", "{'NodeNames':['n2']}");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "g-2", 0), "0 filter: n1 n2 n3");
    EXPECT_INT(binds(&s), 0);
    calls_answer_next(&s, "g-2", "{'NodeNames':['n3']}");
    EXPECT_INT(binds(&s), 3);
}

TEST(call_gang, a_gang_goes_on_without_who_leaves)
{
    AUTO(stage) s = {0};
    open_with_gang(&s, &calls_filter, 1);
    stage_put(&s, "pod g-2 cpu=4 gang=g:2");
    effect_id b = calls_question(&s, "g-1", 0)->id;
    stage_remove(&s, "pod g-0"); /* its leader */
    struct extender_answer a = {.has_names = true};
    a.names.at = (struct str[]){STR("n2")};
    a.names.n = 1;
    engine_answer(s.engine, s.now_ms, b, &a);
    stage_run(&s);
    calls_answer_next(&s, "g-2", "{'NodeNames':['n1']}");
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n2");
    EXPECT_TEXT(stage_fate(&s, "g-2"), "assumed on n1");
}

TEST(call_gang, an_extender_that_fails_fails_the_gang_unless_it_may)
{
    for (int may = 0; may < 2; may++) {
        AUTO(stage) s = {0};
        struct extender x = calls_filter;
        x.is_ignorable = may;
        open_with_gang(&s, &x, 1);
        answer_both(&s, "!it is down", "{'NodeNames':['n2']}");
        stage_run(&s);
        EXPECT_INT(binds(&s), may ? 2 : 0);
        EXPECT_INT(s.engine->extender->all.n, 0);
        if (may)
            continue;
        EXPECT_INT(stage_effect(&s, "g-1")->kind, EFFECT_FAIL);
        EXPECT_STR(stage_effect(&s, "g-1")->message, "it is down");
        EXPECT_TEXT(stage_fate(&s, "g-0"), "backing off");
    }
}

TEST(call_gang, it_evicts_nobody)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod low-1 cpu=4 on=n1");
    stage_put(&s, "pod low-2 cpu=8 on=n2");
    stage_put(&s, "pod low-3 cpu=16 on=n3");
    stage_put(&s, "pod g-0 cpu=4 gang=g:2 priority=9");
    stage_put(&s, "pod g-1 cpu=4 gang=g:2 priority=9");
    stage_run(&s);
    vec_each(&s.effects.list, e)
        EXPECT(e->kind == EFFECT_REFUSE);
}

TEST(call_gang, extenders_that_only_bind_or_do_not_mind_are_not_asked)
{
    struct str resources[] = {STR("example.com/a")};
    struct extender two[] = {calls_filter,
                             {.url = STR("http://b"), .verbs = {[EXTENDER_BIND] = STR("bind")}}};
    two[0].resources.at = resources;
    two[0].resources.n = 1;
    AUTO(stage) s = {0};
    open_with_gang(&s, two, 2);
    EXPECT_INT(binds(&s), 2);
    EXPECT_INT(stage_effect(&s, "g-0")->binder, 2);
}
