#include "core/engine/step/step.h"

#include "core/fair/past.h"
#include "support/stage.h"
#include "support/test.h"

#include <stdio.h>
#include <time.h>

/* What Queues say of themselves, and what a restart begins with. */

#define OURS "scheduler=kubenexus-scheduler"
#define IN   "label:scheduling.kubenexus.io/queue="

static struct engine_config publication(void)
{
    return (struct engine_config){.publishes = true};
}

static void queue(struct stage *s, const char *name, int generation, const char *spec,
                  const char *status)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s','uid':'u-%s','generation':%d},'spec':{'namespaces':{'selector':{}}%s%s}%s%s}",
              name, name, generation, *spec ? "," : "", spec, *status ? ",'status':" : "", status);
}

/* What was written of the queue in the last run; empty: nothing. */
static struct str written(struct stage *s, const char *name)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_PUBLISH && e->write.kind == KIND_QUEUE &&
            str_equal(e->write.name, str_of(name)))
            return e->write.patches[0].body;
    return (struct str){0};
}

static bool has(struct str text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.n; i++)
        if (!memcmp(text.p + i, part, n))
            return true;
    EXPECT_STR(text, part); /* shows both */
    return false;
}

static void pass(struct stage *s, int64_t ms)
{
    s->now_ms += ms;
    stage_run(s);
}

TEST(publish_queue, says_what_it_has_and_who_waits)
{
    AUTO(stage) s = {.config = publication()};
    queue(&s, "a", 1, "'guaranteed':{'nvidia.com/gpu':2},'max':{'nvidia.com/gpu':3}", "");
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=2 " IN "a " OURS);
    stage_put(&s, "pod q gpu=2 " IN "a " OURS);
    stage_run(&s);
    pass(&s, 5000);
    struct str text = written(&s, "a");
    EXPECT(has(text, "\"observedGeneration\":1,"));
    EXPECT(has(text, "\"summary\":\"2/2/3\",\"share\":\"0.000000000\""));
    EXPECT(has(text, "\"jobs\":{\"running\":1,\"waiting\":1,\"blocked\":1}"));
    EXPECT(has(text, "{\"name\":\"nvidia.com/gpu\",\"guaranteed\":\"2\",\"entitled\":\"3\",\"max\":"
                     "\"3\",\"used\":\"2\",\"borrowed\":\"0\",\"lent\":\"0\",\"waiting\":\"2\"}"));
    EXPECT(has(text, "{\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Open\""));
    EXPECT(has(text, "{\"type\":\"Backed\",\"status\":\"True\",\"reason\":\"Backed\""));

    pass(&s, 5000); /* nothing is new */
    EXPECT_STR(written(&s, "a"), "");
    stage_remove(&s, "pod p " IN "a " OURS);
    stage_run(&s);
    EXPECT_STR(written(&s, "a"), ""); /* no sooner than after five seconds */
    pass(&s, 5000);
    EXPECT(has(written(&s, "a"), "\"running\":1,\"waiting\":0,\"blocked\":0}"));
}

TEST(publish_queue, says_why_it_is_not_active_or_not_backed)
{
    AUTO(stage) s = {.config = publication()};
    queue(&s, "a", 1, "'guaranteed':{'nvidia.com/gpu':12}", "");
    queue(&s, "b", 1, "'guaranteed':{'nvidia.com/gpu':6},'stop':'Hold'", "");
    queue(&s, "c", 1, "'parent':'nobody'", "");
    stage_put(&s, "node n gpu=9");
    stage_run(&s);
    pass(&s, 5000);
    EXPECT(has(written(&s, "a"),
               "{\"type\":\"Backed\",\"status\":\"False\",\"reason\":\"CapacityShort\",\"message\":"
               "\"guarantees of 18 nvidia.com/gpu, 9 are there: backed as 6 of 12\""));
    EXPECT(has(written(&s, "b"), "{\"type\":\"Active\",\"status\":\"False\",\"reason\":\"Held\""));
    EXPECT(has(written(&s, "c"),
               "{\"type\":\"Active\",\"status\":\"False\",\"reason\":\"ParentMissing\",\"message\":"
               "\"parent nobody does not exist\""));
}

TEST(publish_queue, that_a_status_came_back_is_no_news)
{
    AUTO(stage) s = {.config = publication()};
    queue(&s, "a", 1, "'max':{'nvidia.com/gpu':1}", "");
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=2 " IN "a " OURS);
    stage_run(&s);
    uint64_t before = engine_stats(s.engine).decisions + engine_stats(s.engine).refused;
    queue(&s, "a", 1, "'max':{'nvidia.com/gpu':1}", "{'conditions':[]}");
    EXPECT_INT(stage_run(&s), 0);
    EXPECT_INT(engine_stats(s.engine).decisions + engine_stats(s.engine).refused, before);
    queue(&s, "a", 2, "'max':{'nvidia.com/gpu':2}", "{'conditions':[]}");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(publish_queue, a_condition_holds_since_it_began_to)
{
    AUTO(stage) s = {.config = publication()};
    queue(&s, "a", 1, "",
          "{'conditions':[{'type':'Active','status':'True','reason':'Open',"
          "'lastTransitionTime':'2001-01-01T00:00:00Z'}]}");
    stage_put(&s, "node n gpu=4");
    stage_run(&s);
    pass(&s, 5000);
    EXPECT(has(written(&s, "a"), "\"lastTransitionTime\":\"2001-01-01T00:00:00Z\""));
}

TEST(publish_queue, twenty_are_written_at_once_and_the_rest_a_second_later)
{
    AUTO(stage) s = {.config = publication()};
    stage_put(&s, "node n gpu=4");
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof(name), "q%02d", i);
        queue(&s, name, 1, "", "");
    }
    const uint32_t wanted[] = {20, 20, 10, 0};
    stage_run(&s);
    s.now_ms += 5000;
    for (size_t i = 0; i < LEN(wanted); i++) {
        uint32_t n = 0;
        stage_run(&s);
        vec_each(&s.effects.list, e)
            n += e->kind == EFFECT_PUBLISH;
        EXPECT_INT(n, wanted[i]);
        s.now_ms += 1000;
    }
}

#define BUDGET "'budgets':[{'resource':'nvidia.com/gpu','hours':1,'window':'Day','action':'Hard'}]"

TEST(publish_queue, what_was_spent_outlives_a_restart)
{
    AUTO(stage) s = {.config = publication()};
    s.now_ms = (int64_t)86400000 * 20000; /* midnight */
    queue(&s, "a", 1, BUDGET, "");
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=2 " IN "a " OURS);
    stage_run(&s);
    pass(&s, 600000); /* 2 GPUs for 10 minutes are 1,200,000 GPU-seconds in thousandths × ms */
    struct str text = written(&s, "a");
    EXPECT(has(text, "\"spent\":\"1200000000\",\"hours\":1"));
    EXPECT(has(text, "{\"type\":\"BudgetSpent\",\"status\":\"False\",\"reason\":\"Within\""));
    pass(&s, 59000);
    EXPECT_STR(written(&s, "a"), "");
    pass(&s, 6000); /* what goes on by itself is written every minute */
    EXPECT(has(written(&s, "a"), "\"spent\":\"1330000000\""));

    AUTO(stage) next = {.config = publication()};
    next.now_ms = s.now_ms + 60000;
    queue(&next, "a", 1, BUDGET,
          "{'asOf':'2024-10-04T00:11:05Z','budgets':[{'resource':'nvidia.com/gpu','window':'Day',"
          "'spent':'1330000000'}]}");
    stage_put(&next, "node n gpu=4");
    stage_put(&next, "pod p gpu=2 on=n " IN "a " OURS);
    stage_run(&next);
    struct shares *shares = next.engine->shares;
    struct fair_account a = fair_account(shares->tree, fair_find(shares->tree, STR("a")), 0);
    EXPECT_INT((int64_t)a.spent, 1330000000 + 2000 * 60000); /* and what it used since */
}

TEST(publish_queue, guarantees_that_no_integer_holds_are_the_largest_together)
{
    AUTO(stage) s = {.config = publication()};
    queue(&s, "a", 1, "'guaranteed':{'memory':'7Ei'}", "");
    queue(&s, "b", 1, "'guaranteed':{'memory':'7Ei'}", "");
    stage_put(&s, "node n cpu=8 memory=8Gi");
    stage_run(&s);
    pass(&s, 5000);
    EXPECT(has(written(&s, "b"), "guarantees of 9223372036854775807 memory, 8589934592 are there"));
}

static clock_t report(struct stage *s, uint32_t times)
{
    clock_t began = clock();
    for (uint32_t i = 0; i < times; i++) {
        AUTO(arena) mem = {0};
        struct queue_reports all;
        engine_queue_reports(s->engine, s->now_ms, &mem, &all);
        EXPECT(str_compare(all.at.at[0].name, all.at.at[all.at.n - 1].name) < 0);
    }
    return clock() - began;
}

/* The least of some tries: of the processor's time some is always somebody else's. */
static clock_t least_report(struct stage *s, uint32_t times)
{
    clock_t least = report(s, times);
    for (uint32_t i = 0; i < 4; i++)
        least = MIN(least, report(s, times));
    return least;
}

/* Siblings that came in the order of their names the wrong way round: sixteen times as many cost no
 * more than four times what as many cost in sixteen reports. */
TEST(publish_queue, what_siblings_cost_is_not_the_square_of_their_number)
{
    enum { FEW = 400, MANY = 16 * FEW };
    AUTO(stage) s = {0};
    char name[16];
    clock_t few = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "q%05u", MANY - i);
        queue(&s, name, 1, "", "");
        if (i == 0 || i + 1 == FEW)
            stage_run(&s); /* the tree begins with the first */
        if (i + 1 == FEW)
            few = least_report(&s, 16);
    }
    stage_run(&s);
    EXPECT(least_report(&s, 1) < 4 * few);
}
