#include "core/engine/fair/shares.h"

#include "core/fair/fair.h"
#include "support/stage.h"
#include "support/test.h"

/* Queues through the whole engine: who starts, in which order, and who is told what. */

#define OURS "scheduler=kubenexus-scheduler"
#define IN   "label:scheduling.kubenexus.io/queue="

static void queue(struct stage *s, const char *name, const char *spec)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s'},'spec':{'namespaces':{'selector':{}}%s%s}}",
              name, *spec ? "," : "", spec);
}

static void drop_queue(struct stage *s, const char *name)
{
    stage_remove(s,
                 "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{"
                 "'name':'%s'},'spec':{}}",
                 name);
}

/* Who had a turn in the last run: "a b a b". */
static struct str turns(struct stage *s)
{
    buf_clear(&s->text);
    vec_each(&s->effects.turns, turn) {
        buf_add(&s->text, s->text.n ? STR(" ") : STR(""));
        buf_add(&s->text, turn->queue);
    }
    return buf_str(&s->text);
}

static uint32_t run(struct stage *s)
{
    uint32_t n = stage_run(s);
    if (s->engine->shares->tree)
        fair_check(s->engine->shares->tree);
    return n;
}

static int64_t used(struct stage *s, const char *queue, const char *resource)
{
    struct fair *tree = s->engine->shares->tree;
    return fair_used(tree, fair_find(tree, str_of(queue)), fair_resource(tree, str_of(resource)));
}

static void jobs(struct stage *s, const char *queue, uint32_t n, const char *words)
{
    static uint32_t made;
    for (uint32_t i = 0; i < n; i++, made++)
        stage_put(s, "pod %s-%u created=%u %s " IN "%s %s", queue, made, made, words, queue, OURS);
}

TEST(fair, without_a_queue_nothing_is_kept)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=2");
    stage_put(&s, "pod a gpu=1 " OURS);
    stage_run(&s);
    EXPECT(!s.engine->shares->tree && !s.engine->cluster->tap);
    EXPECT_INT(s.effects.turns.n, 0);
}

/* The DRF paper's example (example 1 of the contract). */
TEST(fair, two_queues_share_by_the_dominant_resource)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    queue(&s, "b", "");
    stage_put(&s, "node n cpu=9 memory=18Gi");
    jobs(&s, "a", 6, "cpu=1 memory=4Gi");
    jobs(&s, "b", 6, "cpu=3 memory=1Gi");
    run(&s);
    EXPECT_STR(turns(&s), "a b a b a");
    EXPECT_INT(used(&s, "a", "cpu"), 3000);
    EXPECT_INT(used(&s, "b", "cpu"), 6000);
}

/* Example 3. */
TEST(fair, weights_divide_what_nobody_is_guaranteed)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'weight':3");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=16");
    for (uint32_t i = 0; i < 20; i++) {
        jobs(&s, "a", 1, "gpu=1");
        jobs(&s, "b", 1, "gpu=1");
    }
    run(&s);
    EXPECT_INT(used(&s, "a", "nvidia.com/gpu"), 12000);
    EXPECT_INT(used(&s, "b", "nvidia.com/gpu"), 4000);
    EXPECT_STR(str_part(turns(&s), 0, 15), "a b a a b a a a");
}

/* Example 4. */
TEST(fair, guarantees_come_first_and_the_rest_goes_by_weight)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':'40'}");
    queue(&s, "b", "'weight':3,'guaranteed':{'nvidia.com/gpu':'20'}");
    queue(&s, "c", "");
    for (uint32_t i = 0; i < 10; i++)
        stage_put(&s, "node n%u gpu=10", i);
    jobs(&s, "c", 100, "gpu=1");
    jobs(&s, "b", 100, "gpu=1");
    jobs(&s, "a", 100, "gpu=1");
    run(&s);
    EXPECT_INT(used(&s, "a", "nvidia.com/gpu"), 48000);
    EXPECT_INT(used(&s, "b", "nvidia.com/gpu"), 44000);
    EXPECT_INT(used(&s, "c", "nvidia.com/gpu"), 8000);
}

/* Example 9, as far as nobody is evicted. */
TEST(fair, what_is_kept_is_left_alone)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':'8'},'lend':{'nvidia.com/gpu':'2'}");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=16");
    jobs(&s, "b", 20, "gpu=1");
    run(&s);
    EXPECT_INT(used(&s, "b", "nvidia.com/gpu"), 10000);
    bool is_told = false;
    vec_each(&s.effects.list, e)
        if (e->kind == EFFECT_REFUSE) {
            is_told = true;
            EXPECT_STR(e->message, "6 nvidia.com/gpu are kept for queue a, which lends 2 of 8");
            EXPECT(e->is_queued);
        }
    EXPECT(is_told);
    EXPECT_INT(run(&s), 0); /* told once */
}

TEST(fair, who_is_refused_hears_which_rule_it_is)
{
    AUTO(stage) s = {0};
    queue(&s, "full", "'max':{'nvidia.com/gpu':'1'}");
    queue(&s, "one", "'maxJobs':1");
    queue(&s, "held", "'stop':'Hold'");
    queue(&s, "inner", "");
    queue(&s, "leaf", "'parent':'inner','guaranteed':{'nvidia.com/gpu':'1'}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod full-0 gpu=1 created=1 " IN "full " OURS);
    stage_put(&s, "pod full-1 gpu=1 created=2 " IN "full " OURS);
    stage_put(&s, "pod one-0 gpu=1 created=1 " IN "one " OURS);
    stage_put(&s, "pod one-1 gpu=1 created=2 " IN "one " OURS);
    stage_put(&s, "pod held-0 gpu=1 " IN "held " OURS);
    stage_put(&s, "pod inner-0 gpu=1 " IN "inner " OURS);
    stage_put(&s, "pod none-0 gpu=1 " IN "none " OURS);
    stage_put(&s,
              "pod kept-0 gpu=2 label:workload.kubenexus.io/preemptible=false " IN "leaf " OURS);
    run(&s);
    EXPECT_STR(stage_effect(&s, "full-1")->message,
               "queue full may use 1 nvidia.com/gpu: 1 used, 1 wanted");
    EXPECT_STR(stage_effect(&s, "one-1")->message, "queue one runs 1 jobs, its most");
    EXPECT_STR(stage_effect(&s, "held-0")->message, "queue held is held");
    EXPECT_STR(stage_effect(&s, "inner-0")->message,
               "queue inner has children: name one of its leaves");
    EXPECT_STR(stage_effect(&s, "none-0")->message, "queue none does not exist");
    EXPECT_STR(
        stage_effect(&s, "kept-0")->message,
        "may not be evicted, so it may not borrow: queue leaf has 1 of 1 nvidia.com/gpu left "
        "of its guarantee");

    queue(&s, "none", ""); /* it comes: the pod need not wait for anything else */
    queue(&s, "held", "");
    stage_remove(&s, "pod full-0");
    stage_remove(&s, "pod one-0");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "none-0"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "held-0"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "full-1"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "one-1"), "assumed on n");
}

TEST(fair, a_queue_takes_its_namespaces_alone)
{
    AUTO(stage) s = {0};
    stage_put(
        &s,
        "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
        "'team'},'spec':{'namespaces':{'names':['mine']},'guaranteed':{'nvidia.com/gpu':'1'}}}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod a gpu=1 " IN "team " OURS);
    stage_put(&s, "pod b gpu=1 namespace=mine " OURS); /* without a word */
    stage_put(&s, "pod c gpu=1 " OURS);
    run(&s);
    EXPECT_STR(stage_effect(&s, "a")->message, "queue team does not take namespace default");
    EXPECT_TEXT(stage_fate(&s, "c"), "assumed on n");
    EXPECT_INT(used(&s, "team", "nvidia.com/gpu"), 1000);
    EXPECT_INT(used(&s, "default", "nvidia.com/gpu"), 1000);
}

TEST(fair, room_that_others_use_is_no_room_of_the_queues)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':'12'}");
    queue(&s, "b", "'guaranteed':{'nvidia.com/gpu':'6'}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "node m gpu=8 cordoned");
    stage_put(&s, "node o gpu=4");
    stage_put(&s, "pod other gpu=3 on=n scheduler=somebody");
    jobs(&s, "b", 9, "gpu=1");
    jobs(&s, "a", 9, "gpu=1");
    run(&s);
    EXPECT_INT(used(&s, "a", "nvidia.com/gpu"), 6000); /* example 10: 9 GPUs are left */
    EXPECT_INT(used(&s, "b", "nvidia.com/gpu"), 3000);
}

TEST(fair, a_gang_beyond_its_minimum_takes_turns_with_others)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=8");
    for (uint32_t i = 0; i < 8; i++)
        stage_put(&s, "pod g-%u gpu=1 created=1 " IN "a gang=g:2", i);
    jobs(&s, "b", 8, "gpu=1");
    run(&s);
    EXPECT_STR(turns(&s), "a b b b a b a");
    EXPECT_INT(used(&s, "a", "nvidia.com/gpu"), 4000);
    EXPECT_INT(used(&s, "b", "nvidia.com/gpu"), 4000);
    EXPECT(!s.effects.turns.at[0].is_beyond && s.effects.turns.at[4].is_beyond);
}

TEST(fair, within_a_queue_the_most_important_goes_first)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    stage_put(&s, "node n gpu=1");
    stage_put(&s, "pod low gpu=1 created=1 " IN "a " OURS);
    stage_put(&s, "pod high gpu=1 created=2 priority=5 " IN "a " OURS);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "high"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "low"), "parked");
}

TEST(fair, who_is_bound_is_told_its_queue_and_counts_there_after_a_restart)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':'1'}");
    queue(&s, "b", "'guaranteed':{'nvidia.com/gpu':'1'}");
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "pod p cpu=1 " IN "a " OURS);
    run(&s);
    const struct effect *bind = stage_effect(&s, "p");
    EXPECT_INT(bind->annotations.n, 1);
    EXPECT_STR(bind->annotations.at[0].key, "scheduling.kubenexus.io/charged-to");
    EXPECT_STR(bind->annotations.at[0].value, "a");
    EXPECT(!bind->is_exact);

    AUTO(stage) next = {0};
    queue(&next, "a", "'guaranteed':{'nvidia.com/gpu':'1'}");
    queue(&next, "b", "'guaranteed':{'nvidia.com/gpu':'1'}");
    stage_put(&next, "node n gpu=8");
    stage_put(&next, "pod p gpu=1 on=n " IN "b note:scheduling.kubenexus.io/charged-to=a " OURS);
    run(&next);
    EXPECT_INT(used(&next, "a", "nvidia.com/gpu"), 1000);
    EXPECT_INT(used(&next, "b", "nvidia.com/gpu"), 0);
}

TEST(fair, the_last_queue_takes_everything_with_it)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'maxJobs':0");
    stage_put(&s, "node n gpu=1");
    stage_put(&s, "pod p gpu=1 " IN "a " OURS);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    drop_queue(&s, "a");
    run(&s);
    EXPECT(!s.engine->shares->tree);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}
