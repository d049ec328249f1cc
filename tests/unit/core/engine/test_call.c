#include <stdio.h>

#include "calls.h"
#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "lines.h"
#include "support/stage.h"
#include "support/test.h"

TEST(call, a_pod_is_asked_about_and_goes_where_the_extender_lets_it)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
    EXPECT_INT(engine_stats(s.engine).in_flight, 1);
    EXPECT_INT(engine_next_ms(s.engine, 0), INT64_MAX);
    calls_answer(&s, calls_question(&s, "p", 0), "{'NodeNames':['n2']}");
    EXPECT_INT(engine_next_ms(s.engine, 0), 0);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n2");
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
    EXPECT_INT(s.engine->extender->all.n, 0);
}

TEST(call, others_are_decided_meanwhile)
{
    AUTO(stage) s = {0};
    struct extender x = calls_filter;
    struct str names[] = {STR("example.com/a")};
    x.resources.at = names;
    x.resources.n = 1;
    calls_open(&s, &x, 1);
    stage_put(&s, "node n4 cpu=4 example.com/a=1");
    stage_put(&s, "pod p cpu=1 example.com/a=1 priority=5");
    stage_put(&s, "pod q cpu=1");
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n4");
    EXPECT_INT(stage_effect(&s, "q")->kind, EFFECT_BIND); /* it is none of the extender's */
}

TEST(call, each_filter_gets_what_the_one_before_it_left)
{
    AUTO(stage) s = {0};
    const struct extender two[] = {calls_filter, calls_filter};
    calls_open(&s, two, 2);
    stage_put(&s, "pod p cpu=1");
    stage_run(&s);
    calls_answer_next(&s, "p", "{'NodeNames':['n1','n3']}");
    EXPECT_TEXT(calls_text(&s, "p", 0), "1 filter: n1 n3");
    calls_answer_next(&s, "p", "{'NodeNames':['n1']}");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1");
}

TEST(call, what_they_say_of_nodes_stands_in_the_refusal)
{
    static const char *const cases[][2] = {
        {"{'NodeNames':[],'FailedNodes':{'n1':'busy','n2':'busy','n3':'hot'}}",
         "0/4 nodes are available: 1 Insufficient cpu, 1 hot, 2 busy."},
        {"{'NodeNames':[],'FailedAndUnresolvableNodes':{'n1':'old'},'FailedNodes':{'n1':'busy'}}",
         "0/4 nodes are available: 1 Insufficient cpu, 1 old."},
        {"{'NodeNames':[]}", "0/4 nodes are available: 1 Insufficient cpu."},
        {"{}", "0/4 nodes are available: 1 Insufficient cpu."},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        calls_open(&s, &calls_filter, 1);
        stage_put(&s, "node n4 cpu=1");
        stage_put(&s, "pod p cpu=2");
        stage_run(&s);
        EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
        calls_answer_next(&s, "p", cases[i][0]);
        const struct effect *e = stage_effect(&s, "p");
        EXPECT_INT(e->kind, EFFECT_REFUSE);
        EXPECT(str_starts(e->message, str_of(cases[i][1])));
        EXPECT(e->rejected_by & EXTENDER_BIT);
        EXPECT(stage_counts(&s, engine_metrics, n_engine_metrics,
                            "scheduler_unschedulable_pods{plugin=\"Extender\","
                            "profile=\"default-scheduler\"} 1"));
        EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    }
}

TEST(call, whatever_happens_wakes_who_was_refused_by_an_extender)
{
    static const char *const events[] = {"node n1 cpu=4 label:a=b", "pod q on=n1",
                                         "pod p cpu=1 label:a=b"};
    for (size_t i = 0; i < LEN(events); i++) {
        AUTO(stage) s = {0};
        calls_open(&s, &calls_filter, 1);
        stage_put(&s, "pod p cpu=1");
        stage_run(&s);
        calls_answer_next(&s, "p", "{'NodeNames':[]}");
        EXPECT_TEXT(stage_fate(&s, "p"), "parked");
        s.now_ms = 60000;
        stage_put(&s, "%s", events[i]);
        stage_run(&s);
        EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
    }
}

TEST(call, an_extender_that_fails_fails_the_pod_unless_it_may)
{
    static const struct {
        const char *answer, *error;
    } cases[] = {
        {"!no route", "no route"},
        {"{'Error':'out of order','NodeNames':['n1']}", "out of order"},
        {"{'NodeNames':['n1','n9']}", "extender \"http://f\" claims a filtered node \"n9\" which "
                                      "is not found in the input node list"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (int is_ignorable = 0; is_ignorable < 2; is_ignorable++) {
            AUTO(stage) s = {0};
            struct extender x = calls_filter;
            x.is_ignorable = is_ignorable;
            calls_open(&s, &x, 1);
            stage_put(&s, "pod p cpu=1");
            stage_run(&s);
            calls_answer_next(&s, "p", cases[i].answer);
            const struct effect *e = stage_effect(&s, "p");
            EXPECT_INT(e->kind, is_ignorable ? EFFECT_BIND : EFFECT_FAIL);
            if (!is_ignorable)
                EXPECT_STR(e->message, cases[i].error);
            EXPECT_TEXT(stage_fate(&s, "p"), is_ignorable ? "assumed on n3" : "backing off");
        }
}

TEST(call, nodes_may_come_back_as_objects)
{
    AUTO(stage) s = {0};
    struct extender x = calls_filter;
    x.knows_nodes = false;
    calls_open(&s, &x, 1);
    stage_put(&s, "pod p cpu=1");
    stage_run(&s);
    calls_answer_next(&s, "p",
                      "{'NodeNames':['n1'],'Nodes':{'items':[{'metadata':{'name':'n2'}}]}}");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n2");
}

TEST(call, scores_count_ten_times_their_weight)
{
    static const struct {
        int n1;
        const char *node;
    } cases[] = {
        {0, "assumed on n3"},
        {1, "assumed on n3"}, /* 20 more are not enough */
        {9, "assumed on n1"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        calls_open(&s, &calls_scorer, 1);
        stage_put(&s, "pod p cpu=3"); /* least allocated: 25 against 81, twice with balance */
        stage_run(&s);
        EXPECT_TEXT(calls_text(&s, "p", 0), "0 prioritize: n1 n2 n3");
        char text[100];
        snprintf(text, sizeof(text), "[{'Host':'n1','Score':%d},{'Host':'n9','Score':10}]",
                 cases[i].n1);
        calls_answer_next(&s, "p", text);
        EXPECT_TEXT(stage_fate(&s, "p"), cases[i].node);
    }
}

TEST(call, all_scorers_are_asked_at_once_and_who_fails_gives_none)
{
    AUTO(stage) s = {0};
    const struct extender two[] = {calls_scorer, calls_filter, calls_scorer};
    calls_open(&s, two, 3);
    stage_put(&s, "pod p cpu=1");
    stage_run(&s);
    calls_answer_next(&s, "p", "{'NodeNames':['n1','n2']}");
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 prioritize: n1 n2");
    EXPECT_TEXT(calls_text(&s, "p", 1), "2 prioritize: n1 n2");
    calls_answer(&s, calls_question(&s, "p", 1), "[{'Host':'n1','Score':10}]");
    EXPECT_INT(engine_next_ms(s.engine, 0), INT64_MAX);
    calls_answer(&s, calls_question(&s, "p", 0), "!late");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1");
}

TEST(call, one_node_needs_no_score)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_scorer, 1);
    stage_put(&s, "pod p cpu=10");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n3");
}

TEST(call, a_node_that_was_filled_meanwhile_is_out)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=3");
    stage_run(&s);
    const struct effect e = *calls_question(&s, "p", 0);
    stage_put(&s, "pod q cpu=16 on=n3");
    calls_answer(&s, &e, "{'NodeNames':['n2','n3']}");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n2");
}

TEST(call, if_none_is_left_the_pod_is_decided_anew)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=3");
    stage_run(&s);
    struct effect e = *calls_question(&s, "p", 0);
    stage_put(&s, "pod q cpu=16 on=n3");
    calls_answer(&s, &e, "{'NodeNames':['n3']}");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2");
    calls_answer_next(&s, "p", "{'NodeNames':['n1']}");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1");
}

TEST(call, a_node_that_is_gone_meanwhile_is_out)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=3");
    stage_run(&s);
    const struct effect e = *calls_question(&s, "p", 0);
    stage_remove(&s, "node n3");
    calls_answer(&s, &e, "{'NodeNames':['n2','n3']}");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n2");
}

TEST(call, a_pod_that_is_another_meanwhile_is_asked_about_again)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=3");
    stage_run(&s);
    struct effect e = *calls_question(&s, "p", 0);
    stage_put(&s, "pod p cpu=3 label:a=b");
    calls_answer(&s, &e, "{'NodeNames':['n1']}");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
}

TEST(call, a_pod_that_is_gone_or_bound_needs_no_answer)
{
    static const char *const cases[] = {"", "pod p on=n1"};
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        calls_open(&s, &calls_filter, 1);
        stage_put(&s, "pod p cpu=3");
        stage_run(&s);
        const struct effect e = *calls_question(&s, "p", 0);
        if (i == 0)
            stage_remove(&s, "pod p");
        else
            stage_put(&s, "%s", cases[i]);
        calls_answer(&s, &e, "{'NodeNames':['n1']}");
        EXPECT_INT(stage_run(&s), 0);
        EXPECT_INT(s.engine->extender->all.n, 0);
    }
}

TEST(call, the_nominated_node_is_asked_about_first_and_alone)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1 nominated=n1");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1");
    calls_answer_next(&s, "p", "!whatever");
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
    calls_answer_next(&s, "p", "{'NodeNames':['n2']}");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n2");
}

TEST(call, a_pod_that_names_its_node_is_asked_about_there)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1 require:@metadata.name:In:n2");
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n2");
    calls_answer_next(&s, "p", "{'FailedNodes':{'n2':'no'}}");
    EXPECT(str_starts(stage_effect(&s, "p")->message,
                      STR("0/3 nodes are available: 1 no, 2 node(s) didn't satisfy plugin(s) "
                          "[NodeAffinity].")));
}

TEST(call, the_extender_that_binds_is_told_with_the_binding)
{
    AUTO(stage) s = {0};
    struct extender x = {.url = STR("http://b"), .verbs = {[EXTENDER_BIND] = STR("bind")}};
    const struct extender two[] = {calls_scorer, x};
    calls_open(&s, two, 2);
    stage_put(&s, "pod p cpu=10");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
    EXPECT_INT(stage_effect(&s, "p")->binder, 2);
}

TEST(call, other_extenders_are_asked_from_the_beginning)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1");
    stage_run(&s);
    const struct effect e = *calls_question(&s, "p", 0);
    s.config.rules.extenders = &calls_scorer;
    engine_configure(s.engine, 0, &s.config.rules);
    calls_answer(&s, &e, "{'NodeNames':['n1']}"); /* it comes too late */
    stage_run(&s);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 prioritize: n1 n2 n3");
    calls_answer_next(&s, "p", "[]");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n3");
}

TEST(call, what_extenders_say_does_not_fill_the_memory)
{
    AUTO(stage) s = {0};
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1");
    for (uint32_t i = 0; i < 5000; i++) {
        s.now_ms += 60000;
        stage_put(&s, "node n1 cpu=4 label:a=b%u", i % 2);
        stage_run(&s);
        char text[100];
        snprintf(text, sizeof(text), "{'FailedNodes':{'n1':'at %u'}}", i);
        calls_answer_next(&s, "p", text);
    }
    EXPECT_INT(s.engine->extender->n_reasons, 4097);
    EXPECT(str_starts(stage_effect(&s, "p")->message,
                      STR("0/3 nodes are available: 1 node(s) were refused by an extender.")));
}

TEST(call, nobody_passes_the_one_in_line_who_is_asked_about)
{
    AUTO(stage) s = {0};
    struct lines_setup setup;
    lines_setup(&setup, &s, LINE_FIFO, 0);
    calls_open(&s, &calls_filter, 1);
    stage_put(&s, "pod p cpu=1 scheduler=kubenexus-scheduler");
    stage_put(&s, "pod q cpu=1 scheduler=kubenexus-scheduler");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_TEXT(calls_text(&s, "p", 0), "0 filter: n1 n2 n3");
    EXPECT(engine_next_ms(s.engine, 0) > 1000); /* but for those who starve */
    calls_answer_next(&s, "p", "{'NodeNames':['n1']}");
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1");
    EXPECT_TEXT(calls_text(&s, "q", 0), "0 filter: n1 n2 n3");
}

/* --- whatever happens --- */

/* Some of the nodes that were asked about, all, or a failure. */
static void answer_anyhow(struct stage *s, const struct extender_ask *ask, effect_id id,
                          struct rng *rng)
{
    struct extender_answer a = {.has_names = true};
    a.names.at = arena_array(&s->mem, struct str, ask->nodes.n);
    a.scores.at = arena_array(&s->mem, struct extender_score, ask->nodes.n);
    for (uint32_t i = 0; i < ask->nodes.n; i++) {
        if (rng_below(rng, 3) == 0)
            continue;
        a.names.at[a.names.n++] = ask->nodes.at[i];
        a.scores.at[a.scores.n++] =
            (struct extender_score){ask->nodes.at[i], (int64_t)rng_below(rng, 11)};
    }
    a.victims.at = ask->victims.at;
    a.victims.n = ask->victims.n ? (uint32_t)rng_below(rng, ask->victims.n + 1) : 0;
    if (rng_below(rng, 10) == 0)
        a.error = STR("no");
    engine_answer(s->engine, s->now_ms, id, &a);
}

/* A question that has not been answered, with texts of its own. */
struct open_question {
    effect_id id;
    struct extender_ask ask;
};

VEC_TYPE(open_questions, struct open_question);

static struct extender_ask copy(const struct extender_ask *from, struct arena *mem)
{
    struct extender_ask to = *from;
    to.nodes.at = arena_array(mem, struct str, from->nodes.n);
    for (uint32_t i = 0; i < from->nodes.n; i++)
        to.nodes.at[i] = arena_str(mem, from->nodes.at[i]);
    to.victims.at = arena_array(mem, struct extender_victims, from->victims.n);
    for (uint32_t i = 0; i < from->victims.n; i++) {
        const struct extender_victims *v = &from->victims.at[i];
        to.victims.at[i] = (struct extender_victims){.node = arena_str(mem, v->node)};
        to.victims.at[i].uids.at = arena_array(mem, struct str, v->uids.n);
        to.victims.at[i].uids.n = v->uids.n;
        for (uint32_t j = 0; j < v->uids.n; j++)
            to.victims.at[i].uids.at[j] = arena_str(mem, v->uids.at[j]);
    }
    return to;
}

static void take_effects(struct stage *s, struct open_questions *open, struct arena *mem)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_ASK)
            vec_push(open, (struct open_question){e->id, copy(e->ask, mem)});
        else if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT)
            engine_settle(s->engine, s->now_ms, e->id, NULL);
}

enum { GANG_PODS = 3 };

static void put_gang(struct stage *s, unsigned gang, int uid, bool is_there)
{
    for (unsigned i = 0; i < GANG_PODS; i++)
        if (is_there)
            stage_put(s, "pod g%u-%u cpu=%u gang=g%u:%d uid=u%d-%u tolerate:gangs::yes:", gang, i,
                      1 + gang % 2, gang, GANG_PODS, uid, i);
        else
            stage_remove(s, "pod g%u-%u", gang, i);
}

/* If one of a gang is to be bound, all have their nodes. Returns how many are. */
static uint32_t check_gangs(struct stage *s)
{
    uint32_t bound = 0;
    vec_each(&s->effects.list, e) {
        if (e->kind != EFFECT_BIND || !str_starts(e->pod, STR("g")))
            continue;
        bound++;
        for (unsigned i = 0; i < GANG_PODS; i++) {
            char name[16];
            snprintf(name, sizeof(name), "g%c-%u", e->pod.p[1], i);
            EXPECT(strstr(stage_fate(s, name), "assumed on") != NULL);
        }
    }
    return bound;
}

static void check_room(const struct stage *s)
{
    const struct cluster *c = s->engine->cluster;
    for (uint32_t n = 0; n < c->nodes.n; n++) {
        int64_t used = 0;
        for (uint32_t i = c->nodes.first_pod[n]; i != ID_NONE; i = c->pods.rows.at[i].after)
            used += cluster_spec(c, (pod_id){i})->hold.cpu_milli;
        EXPECT(!nodes_is_present(&c->nodes, (node_id){n}) || used <= 4000);
    }
    struct engine_stats stats = engine_stats(s->engine);
    EXPECT(stats.in_flight <= s->engine->extender->all.n);
}

TEST(call, whatever_they_answer_and_when_no_node_is_overfull_and_nobody_is_lost)
{
    AUTO(stage) s = {0};
    struct rng rng = rng_seeded(test_seed());
    struct open_questions open = {0};
    struct arena mem = {0};
    uint32_t bound = 0;
    struct extender preemption_search = {.url = STR("http://e"),
                                         .verbs = {[EXTENDER_PREEMPT] = STR("evict")},
                                         .knows_nodes = true,
                                         .is_ignorable = true};
    struct extender soft = calls_filter;
    soft.is_ignorable = true;
    const struct extender four[] = {calls_filter, calls_scorer, soft, preemption_search};
    s.config.rules.extenders = four;
    s.config.rules.n_extenders = 4;
    for (int i = 0; i < 4; i++) /* of which others do not take all */
        stage_put(&s, "node m%d cpu=4 taint:gangs=yes:NoSchedule", i);
    for (int i = 0; i < 3000; i++) {
        s.now_ms += (int64_t)rng_below(&rng, 3000);
        unsigned pod = (unsigned)rng_below(&rng, 40), node = (unsigned)rng_below(&rng, 6);
        switch (rng_below(&rng, 9)) {
        case 8:
            if (rng_below(&rng, 5) == 0)
                put_gang(&s, pod % 6, i, rng_below(&rng, 3));
            break;
        case 0:
            stage_put(&s, "node n%u cpu=4 label:a=%u", node, (unsigned)rng_below(&rng, 2));
            break;
        case 1:
            if (rng_below(&rng, 8) == 0)
                stage_remove(&s, "pod p%u", pod);
            break;
        case 2:
            if (s.engine && rng_below(&rng, 50) == 0)
                engine_configure(s.engine, s.now_ms, &s.config.rules);
            break;
        case 3:
        case 4:
            stage_put(&s, "pod p%u cpu=%u priority=%u uid=u%d", pod, 1 + pod % 3, pod % 4, i);
            break;
        default:
            for (int n = 0; n < 4 && open.n; n++) {
                uint32_t at = (uint32_t)rng_below(&rng, open.n);
                answer_anyhow(&s, &open.at[at].ask, open.at[at].id, &rng);
                vec_remove(&open, at);
            }
        }
        stage_run(&s);
        bound += check_gangs(&s);
        take_effects(&s, &open, &mem);
        check_room(&s);
    }
    for (int i = 0; i < 10000 && open.n; i++) {
        answer_anyhow(&s, &open.at[0].ask, open.at[0].id, &rng);
        vec_remove(&open, 0);
        stage_run(&s);
        take_effects(&s, &open, &mem);
    }
    EXPECT_INT(s.engine->extender->all.n, 0);
    EXPECT_INT(engine_stats(s.engine).in_flight, 0);
    EXPECT(bound > 0);
    vec_done(&open);
    arena_done(&mem);
}
