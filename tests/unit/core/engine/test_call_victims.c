#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

static const struct extender filter = {
    .url = STR("http://f"), .verbs = {[EXTENDER_FILTER] = STR("filter")}, .knows_nodes = true};
static const struct extender preemption_search = {
    .url = STR("http://e"), .verbs = {[EXTENDER_PREEMPT] = STR("evict")}, .knows_nodes = true};

/* Two nodes that are full: a and b (less important) on n1, c (more) on n2; and p, who wants in. */
static void open(struct stage *s, const struct extender *extenders, uint32_t n)
{
    s->config.rules.extenders = extenders;
    s->config.rules.n_extenders = n;
    stage_put(s, "node n1 cpu=4");
    stage_put(s, "node n2 cpu=4");
    stage_put(s, "pod a cpu=2 on=n1 priority=1 started=1");
    stage_put(s, "pod b cpu=2 on=n1 priority=1 started=2");
    stage_put(s, "pod c cpu=4 on=n2 priority=3");
    stage_put(s, "pod p cpu=2 priority=9");
    stage_run(s);
}

/* "0: n1 b/0 n2 c/0": whom the last run asks, and for which nodes; lives in the stage. */
static const char *asked(struct stage *s)
{
    const struct effect *e = stage_effect(s, "p");
    if (!e || e->kind != EFFECT_ASK || e->ask->verb != EXTENDER_PREEMPT)
        return "";
    struct str text = arena_printf(&s->mem, "%u:", e->ask->extender);
    list_each(&e->ask->victims, v) {
        text = arena_printf(&s->mem, STR_FMT " " STR_FMT, STR_ARG(text), STR_ARG(v->node));
        list_each(&v->uids, uid)
            text = arena_printf(&s->mem, STR_FMT " " STR_FMT, STR_ARG(text), STR_ARG(*uid));
        text = arena_printf(&s->mem, STR_FMT "/%lld", STR_ARG(text), (long long)v->violations);
    }
    return text.p;
}

static void answer(struct stage *s, const char *text)
{
    const struct effect e = *stage_effect(s, "p");
    REQUIRE(e.kind == EFFECT_ASK);
    struct extender_answer a = {.error = str_of(text[0] ? text + 1 : "")};
    struct error why = {0};
    bool is_filter = e.ask->verb == EXTENDER_FILTER;
    struct str json = arena_printf(&s->mem, "%s%s%s", is_filter ? "" : "{'NodeNameToMetaVictims':{",
                                   text, is_filter ? "" : "}}");
    for (size_t i = 0; i < json.n; i++)
        if (json.p[i] == '\'')
            ((char *)(uintptr_t)json.p)[i] = '"';
    if (text[0] != '!')
        REQUIRE(extender_read(e.ask->verb, json, &s->mem, &a, &why));
    engine_answer(s->engine, s->now_ms, e.id, &a);
    stage_run(s);
}

/* "evict b c | 0/2 nodes are available: …" of the last run. */
static const char *outcome(struct stage *s)
{
    struct str text = STR("evict"), why = {0};
    vec_each(&s->effects.list, e) {
        if (e->kind == EFFECT_EVICT)
            text = arena_printf(&s->mem, STR_FMT " " STR_FMT, STR_ARG(text), STR_ARG(e->pod));
        if (e->kind == EFFECT_REFUSE || e->kind == EFFECT_FAIL)
            why = e->message;
    }
    size_t at = str_find(why, '.');
    return arena_printf(&s->mem, STR_FMT " |" STR_FMT, STR_ARG(text),
                        STR_ARG(str_part(why, at + 1, why.n)))
        .p;
}

/* Answers are the entries of NodeNameToMetaVictims. */

TEST(call_victims, extenders_are_shown_whom_each_node_would_cost_the_best_first)
{
    AUTO(stage) s = {0};
    open(&s, &preemption_search, 1);
    EXPECT_TEXT(asked(&s), "0: n1 b/0 n2 c/0");
    EXPECT_INT(engine_stats(s.engine).in_flight, 1);
}

TEST(call_victims, the_choice_is_among_what_they_leave)
{
    /* clang-format off */
    static const struct {
        const char *said, *outcome;
    } cases[] = {
        {"'n1':{'Pods':[{'UID':'b'}]},'n2':{'Pods':[{'UID':'c'}]}",
         "evict b | preemption: found a potential placement for pod on node n1, preempting 1 victims"},
        {"'n2':{'Pods':[{'UID':'c'}]}",
         "evict c | preemption: found a potential placement for pod on node n2, preempting 1 victims"},
        {"'n1':{'Pods':[{'UID':'a'},{'UID':'b'}]}",
         "evict a b | preemption: found a potential placement for pod on node n1, preempting 2 "
         "victims"},
        {"'n1':{'Pods':[{'UID':'b'}],'NumPDBViolations':1},'n2':{'Pods':[{'UID':'c'}]}",
         "evict c | preemption: found a potential placement for pod on node n2, preempting 1 victims"},
        {"",                                                                       "evict | preemption: no candidate node for preemption"},
        {"!no route",                                                                   "evict | preemption: no route"},
        {"'n1':{}",
         "evict | preemption: expected at least one victim pod on node \"n1\""},
        {"'n9':{'Pods':[{'UID':'b'}]}",
         "evict | preemption: nodeinfo not found for node name \"n9\""},
        {"'n2':{'Pods':[{'UID':'b'}]}",
         "evict | preemption: extender: http://e claims to preempt pod (UID: &{b}) on node: n2, but "
         "the pod is not found on that node"},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].said);
        AUTO(stage) s = {0};
        open(&s, &preemption_search, 1);
        answer(&s, cases[i].said);
        EXPECT_TEXT(outcome(&s), cases[i].outcome);
        EXPECT_INT(s.engine->extender->all.n, 0);
    }
}

TEST(call_victims, who_may_fail_takes_nothing_away_by_it)
{
    /* clang-format off */
    static const struct {
        const char *said, *outcome;
    } cases[] = {
        {"!no route",
         "evict b | preemption: found a potential placement for pod on node n1, preempting 1 victims"},
        {"'n2':{'Pods':[{'UID':'b'}]}",
         "evict b | preemption: found a potential placement for pod on node n1, preempting 1 victims"},
        {"'n1':{},'n2':{'Pods':[{'UID':'c'}]}",
         "evict c | preemption: found a potential placement for pod on node n2, preempting 1 victims"},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        struct extender x = preemption_search;
        x.is_ignorable = true;
        open(&s, &x, 1);
        answer(&s, cases[i].said);
        EXPECT_TEXT(outcome(&s), cases[i].outcome);
    }
}

TEST(call_victims, each_is_told_what_the_one_before_it_left)
{
    AUTO(stage) s = {0};
    const struct extender three[] = {preemption_search, filter, preemption_search};
    open(&s, three, 3);
    answer(&s, "'n1':{'Pods':[{'UID':'a'}]}");
    EXPECT_TEXT(asked(&s), "2: n1 a/0");
    answer(&s, "'n1':{'Pods':[{'UID':'a'}]}");
    EXPECT_TEXT(outcome(&s),
                "evict a | preemption: found a potential placement for pod on node n1, preempting "
                "1 victims");
}

TEST(call_victims, who_is_gone_meanwhile_need_not_go)
{
    AUTO(stage) s = {0};
    open(&s, &preemption_search, 1);
    const struct effect e = *stage_effect(&s, "p");
    struct extender_answer a = {0};
    struct error why;
    struct str said = STR("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"b\"}]}}}");
    REQUIRE(extender_read(EXTENDER_PREEMPT, said, &s.mem, &a, &why));
    engine_answer(s.engine, 0, e.id, &a);
    stage_remove(&s, "pod b");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1"); /* there is room by now */
}

TEST(call_victims, nobody_is_asked_where_nobody_could_go)
{
    AUTO(stage) s = {0};
    s.config.rules.extenders = &preemption_search;
    s.config.rules.n_extenders = 1;
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "pod p cpu=2");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_REFUSE);
}

TEST(call_victims, a_node_that_an_extender_refuses_for_now_may_be_made_room_on)
{
    /* clang-format off */
    static const struct {
        const char *said, *outcome;
    } cases[] = {
        {"{'FailedNodes':{'n3':'busy'}}",
         "evict | preemption: expected at least one victim pod on node \"n3\""},
        {"{'FailedAndUnresolvableNodes':{'n3':'old'}}",
         "evict | preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        s.config.rules.extenders = &filter;
        s.config.rules.n_extenders = 1;
        stage_put(&s, "node n3 cpu=4");
        stage_put(&s, "pod d cpu=1 on=n3");
        stage_put(&s, "pod p cpu=2 priority=9");
        stage_run(&s);
        answer(&s, cases[i].said);
        EXPECT_TEXT(outcome(&s), cases[i].outcome);
    }
}
