#include "core/engine/explain.h"

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

static bool explain(struct stage *s, const char *pod, struct explanation *x)
{
    return engine_explain(s->engine, STR("default"), str_of(pod), x);
}

static const struct explained_node *node_of(const struct explanation *x, const char *name)
{
    for (uint32_t i = 0; i < x->n_nodes; i++)
        if (str_equal(x->nodes[i].name, str_of(name)))
            return &x->nodes[i];
    return NULL;
}

static const struct explained_score *score_of(const struct explained_node *node, const char *plugin)
{
    for (uint32_t i = 0; i < node->n_scores; i++)
        if (strcmp(node->scores[i].plugin, plugin) == 0)
            return &node->scores[i];
    return NULL;
}

TEST(explain, every_node_by_name_with_its_verdict)
{
    AUTO(stage) s = {.config = {.keeps_pins = true}};
    stage_put(&s, "node c cpu=8 memory=8Gi");
    stage_put(&s, "node a cpu=1 memory=8Gi");
    stage_put(&s, "node b cpu=8 memory=8Gi taint:t=v:NoSchedule");
    stage_put(&s, "pod p cpu=2 memory=1Gi");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT_STR(x.pod, "default/p");
    EXPECT_STR(x.profile, "default-scheduler");
    EXPECT_INT(x.n_nodes, 3);
    EXPECT_STR(x.nodes[0].name, "a");
    EXPECT_STR(x.nodes[0].rejected_by, "NodeResourcesFit");
    EXPECT_TEXT(x.nodes[0].code, "UnschedulableAndUnresolvable");
    EXPECT_STR(x.nodes[0].reasons[0], "Insufficient cpu");
    EXPECT_INT(x.nodes[0].n_scores, 0);
    EXPECT_STR(x.nodes[1].rejected_by, "TaintToleration");
    EXPECT(x.nodes[2].is_feasible && !x.nodes[1].is_feasible);
    EXPECT_TEXT(x.nodes[2].code, "Success");
    EXPECT_STR(x.nodes[2].rejected_by, "");
    EXPECT_INT(x.n_would_choose, 1);
    EXPECT_STR(x.would_choose[0], "c");
    EXPECT_STR(x.summary, "");
}

TEST(explain, scores_with_their_parts_add_up_to_the_total)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi label:disk=ssd");
    stage_put(&s, "node n2 cpu=4 memory=8Gi taint:t=v:PreferNoSchedule");
    stage_put(&s, "pod there cpu=1 memory=2Gi on=n1");
    stage_put(&s, "pod p cpu=100m memory=128Mi prefer:50:disk:In:ssd");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    const struct explained_node *n1 = node_of(&x, "n1"), *n2 = node_of(&x, "n2");
    EXPECT_INT(score_of(n1, "NodeResourcesFit")->raw, 72);
    EXPECT_INT(score_of(n1, "NodeResourcesBalancedAllocation")->weighted, 74);
    EXPECT_INT(score_of(n1, "NodeAffinity")->raw, 50);
    EXPECT_INT(score_of(n1, "NodeAffinity")->normalized, 100);
    EXPECT_INT(score_of(n1, "NodeAffinity")->weighted, 200);
    EXPECT_INT(score_of(n1, "TaintToleration")->weighted, 300);
    EXPECT_INT(score_of(n2, "TaintToleration")->raw, 1);
    EXPECT_INT(score_of(n2, "TaintToleration")->weighted, 0);
    EXPECT(score_of(n1, "PodTopologySpread") == NULL); /* it skipped */
    EXPECT_INT(n1->total, 72 + 74 + 200 + 300);
    for (uint32_t i = 0; i < x.n_nodes; i++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < x.nodes[i].n_scores; k++)
            sum += x.nodes[i].scores[k].weighted;
        EXPECT_INT(x.nodes[i].total, sum);
    }
}

TEST(explain, a_lone_fitting_node_is_scored_too)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod p cpu=1");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT_INT(score_of(&x.nodes[0], "TaintToleration")->weighted, 300);
}

TEST(explain, all_who_share_the_best_total_would_be_chosen)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node c cpu=4 memory=8Gi");
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "node b cpu=2 memory=2Gi");
    stage_put(&s, "pod p cpu=1 memory=1Gi");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT_INT(x.n_would_choose, 2);
    EXPECT_STR(x.would_choose[0], "a");
    EXPECT_STR(x.would_choose[1], "c");
}

TEST(explain, a_nominated_node_that_fits_is_the_only_choice)
{
    static const struct {
        const char *pod, *choice;
    } cases[] = {
        {"pod p cpu=1 memory=1Gi", "a"},
        {"pod p cpu=1 memory=1Gi nominated=b", "b"},
        {"pod p cpu=3 memory=1Gi nominated=b", "a"}, /* too big for it */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(stage) s = {0};
        stage_put(&s, "node a cpu=4 memory=8Gi");
        stage_put(&s, "node b cpu=2 memory=2Gi");
        stage_put(&s, "%s", cases[i].pod);
        AUTO(explanation) x = {0};
        EXPECT(explain(&s, "p", &x));
        EXPECT_INT(x.n_would_choose, 1);
        EXPECT_STR(x.would_choose[0], cases[i].choice);
    }
}

TEST(explain, when_nothing_fits_the_summary_says_why)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "node b cpu=2 memory=2Gi");
    stage_put(&s, "pod p cpu=9 memory=9Gi");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT_INT(x.n_would_choose, 0);
    EXPECT_STR(x.summary, "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory. "
                          "preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
                          "scheduling.");
    EXPECT_STR(x.filter_summary, "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient "
                                 "memory.");
    EXPECT_INT(x.nodes[1].n_reasons, 2);
}

TEST(explain, a_gate_and_a_refusal_stand_on_every_node)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "node b cpu=2 memory=2Gi");
    stage_put(&s, "pod gated gate:x");
    stage_put(&s, "pod torn require:@metadata.name:In:a&@metadata.name:In:b");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "gated", &x));
    EXPECT_STR(x.gated, "SchedulingGates");
    EXPECT_STR(x.summary, "waiting for scheduling gates: [x]");
    AUTO(explanation) y = {0};
    EXPECT(explain(&s, "torn", &y));
    EXPECT_STR(y.summary, "0/2 nodes are available: pod affinity terms conflict. not found");
    for (int i = 0; i < 2; i++) {
        EXPECT_STR(x.nodes[i].rejected_by, "SchedulingGates");
        EXPECT_TEXT(x.nodes[i].code, "UnschedulableAndUnresolvable");
        EXPECT_STR(x.nodes[i].reasons[0], "waiting for scheduling gates: [x]");
        EXPECT_STR(y.nodes[i].rejected_by, "NodeAffinity");
        EXPECT_STR(y.nodes[i].reasons[0], "pod affinity terms conflict");
    }
}

TEST(explain, nodes_that_a_pod_does_not_name_are_told_by_whom)
{
    AUTO(stage) s = {.config = {.keeps_pins = true}};
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "node b cpu=2 memory=2Gi");
    stage_put(&s, "pod p cpu=1 require:@metadata.name:In:b");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT_STR(x.nodes[0].rejected_by, "NodeAffinity");
    EXPECT_STR(x.nodes[0].reasons[0], "node(s) didn't satisfy plugin(s) [NodeAffinity]");
    EXPECT(x.nodes[1].is_feasible);
}

TEST(explain, what_cannot_be_judged_has_an_error_and_no_nodes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "pod p prefer:1:gen:Gt:new");
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    EXPECT(str_starts(x.error, STR("running PreScore plugin")));
    EXPECT_INT(x.n_nodes, 0);
    EXPECT_INT(x.n_would_choose, 0);
}

TEST(explain, only_waiting_pods_that_a_profile_serves_are_explained)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=4 memory=8Gi");
    stage_put(&s, "pod bound cpu=1 on=a");
    stage_put(&s, "pod foreign cpu=1 scheduler=someone");
    AUTO(explanation) x = {0};
    EXPECT(!explain(&s, "bound", &x));
    EXPECT(!explain(&s, "foreign", &x));
    EXPECT(!explain(&s, "unknown", &x));
}

TEST(explain, explaining_changes_nothing)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=4 memory=8Gi zone=a");
    stage_put(&s, "pod there cpu=1 label:app=w on=a");
    stage_put(&s, "pod near cpu=3 nominated=a");
    stage_put(&s, "pod p cpu=1 label:app=w spread:zone:9:hard:app=w");
    AUTO(explanation) first = {0};
    EXPECT(explain(&s, "p", &first)); /* makes what its class counts with */
    AUTO(buf) before = {0}, after = {0};
    cluster_dump(s.engine->cluster, &before);
    uint64_t log = s.engine->cluster->log.end;
    AUTO(explanation) x = {0};
    EXPECT(explain(&s, "p", &x));
    cluster_dump(s.engine->cluster, &after);
    EXPECT(str_equal(buf_str(&before), buf_str(&after)));
    EXPECT_INT(s.engine->cluster->log.end, log);
    EXPECT_TEXT(stage_fate(&s, "p"), "active");
    EXPECT_STR(first.filter_summary, "0/1 nodes are available: 1 Insufficient cpu.");
    EXPECT(str_equal(first.summary, x.summary));
}

/* What a decision rests on, as text. */
static void dump(struct stage *s, struct buf *out)
{
    const struct engine *k = s->engine;
    cluster_dump(k->cluster, out);
    buf_printf(out, "natures %llu\n", (unsigned long long)k->cluster->log.natures);
    for (uint32_t unit = 0; unit < k->units.n; unit++)
        buf_printf(out, "unit %u is in place %d, attempts %u\n", unit, queue_where(k->queue, unit),
                   k->units.at[unit].attempts);
    buf_printf(out, "decisions %llu\n", (unsigned long long)engine_stats(k).decisions);
}

TEST(explain, room_that_is_to_be_held_is_tried_and_leaves_no_trace)
{
    static const char reservation[] =
        "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"
        "{'name':'r','namespace':'default','creationTimestamp':'1970-01-01T00:00:00Z'},"
        "'spec':{'podGroupName':'g','duration':'10m','reservations':{'a':{'node':'n','cpu':'3'}}}}";
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=4");
    stage_put(&s, "pod p cpu=2 priority=5");
    stage_put(&s, reservation); /* its slot waits for its turn */
    AUTO(buf) before = {0}, after = {0};
    dump(&s, &before);
    for (int twice = 0; twice < 2; twice++) {
        AUTO(explanation) x = {0};
        EXPECT(explain(&s, "p", &x));
        EXPECT_STR(x.filter_summary, "0/1 nodes are available: 1 Insufficient cpu.");
        EXPECT(engine_explain_eviction(s.engine, s.now_ms, STR("default"), STR("p"), &x));
    }
    dump(&s, &after);
    EXPECT(str_equal(buf_str(&before), buf_str(&after)));
    stage_remove(&s, reservation); /* what was true in the trial is not remembered */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}
