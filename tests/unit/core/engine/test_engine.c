#include "core/engine/engine.h"

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

TEST(engine, a_pod_that_fits_is_bound_to_the_best_node)
{
    AUTO(stage) s = {.now_ms = 500};
    stage_put(&s, "node small cpu=2 memory=4Gi");
    stage_put(&s, "node big cpu=8 memory=16Gi");
    stage_put(&s, "pod a cpu=1 memory=1Gi uid=u-1");
    s.now_ms = 800;
    EXPECT_INT(stage_run(&s), 1);
    const struct effect *e = stage_effect(&s, "a");
    EXPECT_INT(e->kind, EFFECT_BIND);
    EXPECT_STR(e->namespace, "default");
    EXPECT_STR(e->uid, "u-1");
    EXPECT_STR(e->node, "big");
    EXPECT_INT(e->attempt, 1);
    EXPECT_INT(e->waited_ms, 300);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on big");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), INT64_MAX);
}

TEST(engine, a_pod_that_fits_nowhere_is_refused_in_kube_schedulers_words_and_waits)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "node n2 cpu=8 memory=4Gi cordoned");
    stage_put(&s, "pod a cpu=4");
    EXPECT_INT(stage_run(&s), 1);
    const struct effect *e = stage_effect(&s, "a");
    EXPECT_INT(e->kind, EFFECT_REFUSE);
    EXPECT_STR(e->message, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were "
                           "unschedulable. preemption: 0/2 nodes are available: 2 Preemption is "
                           "not helpful for scheduling.");
    EXPECT_INT(e->rejected_by, 1 << 3 | 1 << 7); /* NodeUnschedulable, NodeResourcesFit */
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    EXPECT_INT(stage_run(&s), 0);
}

TEST(engine, a_pod_refused_for_gpus_is_tried_when_a_gpu_node_comes)
{
    AUTO(stage) s = {0}; /* given */
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a gpu=1");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a")->message,
               "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are "
               "available: 1 Preemption is not helpful for scheduling.");

    s.now_ms = 60000;
    stage_put(&s, "node n2 cpu=8 memory=8Gi"); /* no help */
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");

    stage_put(&s, "node n3 cpu=8 memory=8Gi gpu=4"); /* when */

    EXPECT_TEXT(stage_fate(&s, "a"), "active"); /* then */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n3");
    EXPECT_INT(stage_effect(&s, "a")->attempt, 2);
    EXPECT_INT(stage_effect(&s, "a")->waited_ms, 60000);
}

TEST(engine, placements_count_at_once)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod p%d cpu=1", i);
    EXPECT_INT(stage_run(&s), 3);
    EXPECT_TEXT(stage_fate(&s, "p0"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "p1"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "p2"), "parked");
}

TEST(engine, important_pods_go_first)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod low cpu=1");
    s.now_ms = 10;
    stage_put(&s, "pod high cpu=1 priority=10");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "high"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "low"), "parked");
}

TEST(engine, among_equal_nodes_the_first_in_tie_order_wins)
{
    for (int best = 0; best < 3; best++) {
        AUTO(stage) s = {0};
        for (int i = 0; i < 3; i++)
            stage_put(&s, "node n%d cpu=2 memory=4Gi", i);
        engine_set_tie_order(s.engine, STR("n0"), best == 0 ? 1 : 5);
        engine_set_tie_order(s.engine, STR("n1"), best == 1 ? 1 : 6);
        engine_set_tie_order(s.engine, STR("n2"), best == 2 ? 1 : 7);
        stage_put(&s, "pod a cpu=1");
        stage_run(&s);
        EXPECT_STR(stage_effect(&s, "a")->node, best == 0 ? "n0" : best == 1 ? "n1" : "n2");
    }
}

TEST(engine, a_tie_order_given_late_counts_in_views_too)
{
    static const struct {
        const char *node;
        uint64_t rank;
    } story[] = {
        {"n2", 30},
        {"n1", 20},
        {"n0", 10},
        {"n2", 5},
    };
    AUTO(stage) s = {.config = {.checks_views = true}};
    for (int i = 0; i < 3; i++)
        stage_put(&s, "node n%d cpu=8 memory=8Gi", i);
    for (size_t i = 0; i < LEN(story); i++) { /* pods that ask for nothing: all nodes stay equal */
        engine_set_tie_order(s.engine, str_of(story[i].node), story[i].rank);
        stage_put(&s, "pod p%zu cpu=0 memory=0", i);
        stage_run(&s);
        EXPECT_STR(s.effects.list.at[0].node, story[i].node);
    }
    EXPECT(engine_stats(s.engine).by_view > 0);
}

/* --- settling --- */

TEST(engine, no_more_bindings_than_may_be_unsettled)
{
    AUTO(stage) s = {.config = {.max_unsettled = 2}};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod p%d cpu=1", i);
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(engine_next_ms(s.engine, 0), INT64_MAX); /* nothing to do but settle */
    stage_settle(&s, "p0", NULL);
    EXPECT_INT(engine_next_ms(s.engine, 0), 0);
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_TEXT(stage_fate(&s, "p2"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "p3"), "active");
}

TEST(engine, a_binding_that_fails_frees_its_room_at_once_and_is_tried_after_a_while)
{
    AUTO(stage) s = {.now_ms = 100};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_put(&s, "pod b cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "b"), "parked");

    stage_settle(&s, "a", "somebody wrote first");

    EXPECT_TEXT(stage_fate(&s, "a"), "backing off");
    EXPECT_TEXT(stage_fate(&s, "b"), "backing off"); /* woken by the room */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1"); /* ahead of time: nobody else is ready */
    EXPECT_TEXT(stage_fate(&s, "a"), "backing off");   /* an error waits out its time */
    stage_remove(&s, "pod b");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 2000);
    s.now_ms = 1999;
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms = 2000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_INT(stage_effect(&s, "a")->attempt, 2);
}

TEST(engine, failures_in_a_row_double_the_wait)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    static const int64_t next_ms[] = {2000, 5000, 10000, 19000, 30000, 41000};
    for (size_t i = 0; i < LEN(next_ms); i++) { /* 1, 2, 4, 8, 10, 10 seconds, and up to one more */
        test_case("%zu", i);
        stage_settle(&s, "a", "no");
        EXPECT_INT(engine_next_ms(s.engine, s.now_ms), next_ms[i]);
        s.now_ms = next_ms[i];
        EXPECT_INT(stage_run(&s), 1);
    }
}

TEST(engine, what_the_api_confirms_is_bound_and_a_late_failure_does_not_undo_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    stage_put(&s, "pod a cpu=1 on=n1");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
    stage_settle(&s, "a", "timed out");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
    EXPECT_INT(s.engine->unsettled.n, 0);
}

TEST(engine, a_settled_pod_stays_assumed_until_the_api_says_where_it_is)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    stage_settle(&s, "a", NULL);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    stage_put(&s, "pod a cpu=1"); /* an old copy */
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod a cpu=1 on=n1");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
}

TEST(engine, a_pod_deleted_while_assumed_frees_its_room_and_its_effect_is_nobodys)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    effect_id effect = stage_effect(&s, "a")->id;
    stage_remove(&s, "pod a");
    stage_put(&s, "pod b cpu=1"); /* takes its number and its room */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
    struct error e = {0};
    error_set(&e, ERROR_GONE, "no such pod");
    engine_settle(s.engine, 0, effect, &e);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
}

TEST(engine, the_binding_of_a_deleted_pod_is_unsettled_until_it_ends)
{
    AUTO(stage) s = {.config = {.max_unsettled = 1}};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    effect_id effect = stage_effect(&s, "a")->id;
    stage_remove(&s, "pod a");
    stage_put(&s, "pod b cpu=1");
    EXPECT_INT(stage_run(&s), 0);
    engine_settle(s.engine, 0, effect, NULL);
    EXPECT_INT(stage_run(&s), 1);
}

TEST(engine, a_pod_marked_for_deletion_while_assumed_frees_its_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_put(&s, "pod b cpu=1");
    stage_run(&s);
    stage_put(&s, "pod a cpu=1 deleting");
    EXPECT_TEXT(stage_fate(&s, "a"), "nowhere");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
    stage_put(&s, "pod a cpu=1 deleting on=n1"); /* the binding came through */
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
}

TEST(engine, a_pod_that_is_going_away_is_not_decided)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod a cpu=1 deleting");
    EXPECT_INT(stage_run(&s), 0);
    EXPECT_TEXT(stage_fate(&s, "a"), "nowhere");
}

/* --- failures --- */

TEST(engine, without_nodes_a_pod_is_nobodys_refusal_and_backs_off)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "a")->kind, EFFECT_REFUSE);
    EXPECT_STR(stage_effect(&s, "a")->message, "no nodes available to schedule pods");
    EXPECT_INT(stage_effect(&s, "a")->rejected_by, 0);
    EXPECT_TEXT(stage_fate(&s, "a"), "backing off");
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    EXPECT_INT(stage_run(&s), 0); /* an error waits out its time */
    s.now_ms = engine_next_ms(s.engine, 0);
    EXPECT_INT(s.now_ms, 2000);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(engine, a_pod_that_asks_for_more_than_can_be_judged_waits_for_its_own_change_alone)
{
    AUTO(stage) s = {0};
    AUTO(buf) line = {0};
    buf_printf(&line, "pod a cpu=1");
    for (int i = 0; i < 61; i++)
        buf_printf(&line, " e/%d=1", i);
    buf_add_char(&line, 0);
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "%s", line.p);
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "a")->kind, EFFECT_FAIL);
    EXPECT_STR(stage_effect(&s, "a")->message,
               "asks for 63 kinds of resources; at most 62 are supported");
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    s.now_ms = 20000;
    stage_put(&s, "node n2 cpu=4 memory=4Gi");
    stage_put(&s, "pod gone cpu=1 on=n1");
    stage_remove(&s, "pod gone");
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    stage_put(&s, "pod a cpu=1");
    EXPECT_TEXT(stage_fate(&s, "a"), "active");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "a")->kind, EFFECT_BIND);
}

TEST(engine, nodes_that_cannot_be_compared_are_an_error_only_if_there_is_a_choice)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1 prefer:1:gen:Gt:new");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    stage_put(&s, "node n2 cpu=4 memory=4Gi");
    stage_put(&s, "pod b cpu=1 prefer:1:gen:Gt:new");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "b")->kind, EFFECT_FAIL);
    EXPECT(str_starts(stage_effect(&s, "b")->message, STR("running PreScore plugin")));
    EXPECT_TEXT(stage_fate(&s, "b"), "backing off");
}

/* --- the same calls, the same effects --- */

static void run_story(struct stage *s, struct buf *out)
{
    for (int i = 0; i < 20; i++)
        stage_put(s, "node n%d cpu=%d memory=32Gi zone=%c", i, 4 + i % 3, 'a' + i % 3);
    stage_put(s, "service web app=web");
    for (int i = 0; i < 120; i++) {
        s->now_ms += 100;
        stage_put(s, "pod p%d cpu=%dm %s", i, 250 * (1 + i % 5), i % 2 ? "label:app=web" : "");
        if (i % 10 == 9)
            stage_remove(s, "pod p%d", i - 7);
        stage_run(s);
        vec_each(&s->effects.list, e)
            buf_printf(out, STR_FMT " %d " STR_FMT " " STR_FMT "\n", STR_ARG(e->pod), e->kind,
                       STR_ARG(e->node), STR_ARG(e->message));
    }
}

TEST(engine, effects_do_not_depend_on_how_decisions_are_made)
{
    static const struct engine_config configs[] = {
        {.seed = 3},
        {.seed = 3, .no_views = true},
        {.seed = 3, .view_count = 1},
        {.seed = 3, .view_bytes = 1},
        {.seed = 3, .checks_views = true},
    };
    AUTO(buf) first = {0};
    for (size_t i = 0; i < LEN(configs); i++) {
        test_case("%zu", i);
        AUTO(stage) s = {.config = configs[i]};
        AUTO(buf) text = {0};
        run_story(&s, &text);
        if (i == 0)
            buf_add(&first, buf_str(&text));
        EXPECT(text.n > 1000 && str_equal(buf_str(&text), buf_str(&first)));
        struct engine_stats stats = engine_stats(s.engine);
        EXPECT_INT(stats.by_view > 0, i != 1 && i != 3);
        EXPECT_INT(stats.bound + stats.refused, stats.decisions);
    }
    AUTO(stage) other = {.config = {.seed = 4}};
    AUTO(buf) text = {0};
    run_story(&other, &text);
    EXPECT(!str_equal(buf_str(&text), buf_str(&first))); /* the seed decides ties */
}

TEST(engine, stats_say_where_everybody_is)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_put(&s, "pod big cpu=9");
    stage_put(&s, "pod held gate:x");
    stage_put(&s, "pod pinned require:@metadata.name:In:n1");
    stage_run(&s);
    stage_put(&s, "pod next cpu=1");
    struct engine_stats stats = engine_stats(s.engine);
    EXPECT_INT(stats.nodes, 1);
    EXPECT_INT(stats.pods, 5);
    EXPECT_INT(stats.decisions, 3);
    EXPECT_INT(stats.bound, 2);
    EXPECT_INT(stats.refused, 1);
    EXPECT_INT(stats.by_pin, 1);
    EXPECT_INT(stats.active, 1);
    EXPECT_INT(stats.parked, 2);
    EXPECT_INT(stats.in_flight, 0);
    EXPECT_INT(stats.classes, 3);
}

TEST(engine, the_room_of_pods_that_are_gone_is_given_back)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 pods=20000");
    for (int i = 0; i < 6000; i++)
        stage_put(&s, "pod p%d cpu=1", i);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p3"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "p5999"), "parked");
    for (int i = 10; i < 6000; i++)
        stage_remove(&s, "pod p%d", i);
    stage_put(&s, "pod p9 cpu=1"); /* before the next thing is read */
    const struct pods *pods = &s.engine->cluster->pods;
    EXPECT(pods->rows.cap < 5000 && s.engine->units.cap < 5000);
    EXPECT_INT(pods->n, 10);
    EXPECT_TEXT(stage_fate(&s, "p3"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "p9"), "parked");
    stage_put(&s, "node n2 cpu=4");
    for (int i = 0; i < 20; i++)
        stage_put(&s, "pod q%d cpu=1", i);
    s.now_ms = 20000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p9"), "parked");
    EXPECT_TEXT(stage_fate(&s, "p7"), "assumed on n2");
    EXPECT_INT(pods->n, 30);
}

static const struct effect *warning(const struct stage *s)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_WARN)
            return e;
    return NULL;
}

TEST(engine, what_a_pod_says_that_means_nothing_is_told_once)
{
    AUTO(stage) s = {0};
#define ODD "note:scheduling.kubenexus.io/vram-request=much"
    stage_put(&s, "pod p cpu=1 scheduler=kubenexus-scheduler " ODD);
    stage_put(&s, "pod kube cpu=1 " ODD); /* kube-scheduler's profile does not read it */
    EXPECT_INT(stage_run(&s), 3);
    const struct effect *first = warning(&s);
    REQUIRE(first);
    EXPECT_STR(first->pod, "p");
    EXPECT_STR(first->message, "scheduling.kubenexus.io/vram-request: \"much\" means nothing");
    s.now_ms += 100000;
    stage_put(&s, "node n cpu=8 memory=8Gi");
    EXPECT_INT(stage_run(&s), 2);
    EXPECT(!warning(&s));
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}
