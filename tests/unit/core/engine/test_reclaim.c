#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* Whose room a queue takes back, and whose it does not (rules R2 and R4 of docs/guide/queues.md). */

#define OURS "scheduler=kubenexus-scheduler"
#define IN   "label:scheduling.kubenexus.io/queue="

static void queue(struct stage *s, const char *name, const char *spec)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s'},'spec':{'namespaces':{'selector':{}}%s%s}}",
              name, *spec ? "," : "", spec);
}

/* Two GPUs are in use by one who borrows them, and somebody comes to whom they are guaranteed. Is
 * the borrower, of whom this is said, evicted? */
static bool is_taken(const char *words)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':2}");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=2");
    stage_put(&s, "pod borrower gpu=2 on=n started=1 %s", words);
    stage_put(&s, "pod owner gpu=2 " IN "a " OURS);
    stage_run(&s);
    const struct effect *e = stage_effect(&s, "borrower");
    return e && e->kind == EFFECT_EVICT;
}

TEST(reclaim, takes_what_is_borrowed_and_leaves_some_alone)
{
    static const struct {
        const char *words;
        bool is_taken;
    } cases[] = {
        {IN "b " OURS, true},
        {IN "b priority=1000 " OURS, true}, /* priorities act inside a queue */
        {IN "b priority=1000000000 " OURS, false},
        {IN "b label:workload.kubenexus.io/preemptible=false " OURS, false},
        {IN "b label:kueue.x-k8s.io/managed=true " OURS, false},
        {IN "b namespace=kube-system " OURS, false},
        {IN "b", false},             /* an outsider */
        {IN "a " OURS, false},       /* covered by the guarantee */
        {IN "default " OURS, false}, /* never given a queue: a service */
        {IN "default label:workload.kubenexus.io/type=batch " OURS, true},
        {IN "default label:workload.kubenexus.io/preemptible=true " OURS, true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].words);
        EXPECT_INT(is_taken(cases[i].words), cases[i].is_taken);
    }
}

TEST(reclaim, takes_no_more_than_the_cluster_backs)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':2}");
    queue(&s, "b", "'guaranteed':{'nvidia.com/gpu':2}");
    stage_put(&s, "node n gpu=2");
    stage_put(&s, "pod backed gpu=1 on=n started=1 " IN "b " OURS); /* 1 of 2 is backed */
    stage_put(&s, "pod beyond gpu=1 on=n started=2 " IN "b " OURS);
    stage_put(&s, "pod owner gpu=1 " IN "a " OURS);
    stage_run(&s);
    const struct effect *e = stage_effect(&s, "backed");
    EXPECT(!e || e->kind != EFFECT_EVICT);
    e = stage_effect(&s, "beyond");
    EXPECT(e && e->kind == EFFECT_EVICT);
}
