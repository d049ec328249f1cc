#include "core/engine/explain.h"
#include "support/stage.h"
#include "support/test.h"

/* "n1(b a) n2(c)": nodes with the pods that would go. */
static struct str candidates(struct explanation *x)
{
    struct str text = STR("");
    for (uint32_t i = 0; i < x->preemption->n_candidates; i++) {
        const struct explained_candidate *c = &x->preemption->candidates[i];
        text = arena_printf(&x->mem, STR_FMT "%s" STR_FMT "(", STR_ARG(text), i ? " " : "",
                            STR_ARG(c->node));
        for (uint32_t v = 0; v < c->n_victims; v++)
            text = arena_printf(&x->mem, STR_FMT "%s" STR_FMT, STR_ARG(text), v ? " " : "",
                                STR_ARG(c->victims[v]));
        text = arena_printf(&x->mem, STR_FMT ")", STR_ARG(text));
    }
    return text;
}

TEST(explain_preempt, all_candidates_by_name_and_all_equals)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node c cpu=2");
    stage_put(&s, "node a cpu=2");
    stage_put(&s, "node b cpu=2");
    stage_put(&s, "node full cpu=2");
    stage_put(&s, "pod z cpu=1 on=c started=1");
    stage_put(&s, "pod y cpu=1 on=c started=1");
    stage_put(&s, "pod x cpu=2 on=a started=1");
    stage_put(&s, "pod w cpu=2 on=b started=1");
    stage_put(&s, "pod v cpu=2 on=full priority=9");
    stage_put(&s, "pod p cpu=2 priority=5");
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("p"), &x) && x.preemption);
    EXPECT_STR(candidates(&x), "a(default/x) b(default/w) c(default/y default/z)");
    EXPECT_INT(x.preemption->n_ties, 2);
    EXPECT_STR(x.preemption->ties[0], "a");
    EXPECT_STR(x.preemption->ties[1], "b");
    EXPECT_STR(x.preemption->best->node, "a");
    EXPECT_STR(x.preemption->message, "preemption: found a potential placement for pod on node a, "
                                      "preempting 1 victims");
    EXPECT_STR(x.filter_summary, "0/4 nodes are available: 4 Insufficient cpu.");
    EXPECT_STR(x.summary, "0/4 nodes are available: 4 Insufficient cpu. preemption: found a "
                          "potential placement for pod on node a, preempting 1 victims");
}

TEST(explain_preempt, where_nothing_helps_there_is_no_candidate)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=2");
    stage_put(&s, "pod x cpu=2 on=a priority=9");
    stage_put(&s, "pod p cpu=2 priority=5");
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("p"), &x) && x.preemption);
    EXPECT(!x.preemption->best);
    EXPECT_INT(x.preemption->n_candidates + x.preemption->n_ties, 0);
}
