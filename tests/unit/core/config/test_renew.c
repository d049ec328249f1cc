/* An engine that is given another file while it runs. */

#include "core/base/rng.h"
#include "core/engine/queues.h"
#include "core/engine/step/step.h"
#include "read.h"
#include "support/stage.h"

/* The old file goes: whoever still looks at it is found by the sanitizer. */
static bool renew(struct stage *s, struct scheduler_config *c, const char *text)
{
    struct scheduler_config next = {0};
    if (!EXPECT(config_of(&next, text)))
        return false;
    struct engine_config config = config_engine(&next);
    engine_configure(s->engine, s->now_ms, &config.rules);
    scheduler_config_done(c);
    *c = next;
    return true;
}

#define PACKING                                                                                    \
    "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "          \
    "MostAllocated}}}]}]"

TEST(renew, the_new_arguments_decide)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, ""));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node empty cpu=8 memory=8Gi");
    stage_put(&s, "node half cpu=8 memory=8Gi");
    stage_put(&s, "pod old cpu=4 memory=4Gi on=half");
    stage_put(&s, "pod a cpu=1 memory=1Gi");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on empty");

    REQUIRE(renew(&s, &c, PACKING)); /* when */

    stage_put(&s, "pod b cpu=1 memory=1Gi");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on half");
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on empty");
}

TEST(renew, what_was_said_of_queues_before_counts)
{
    AUTO(scheduler_config) c = {0};
    AUTO(arena) mem = {0};
    struct queue_standing at = {0};
    REQUIRE(config_of(&c, "profiles: [{schedulerName: one}]"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{"
                  "'name':'a'},'spec':{'namespaces':{'selector':{}}}}");
    stage_put(&s, "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{"
                  "'name':'b'},'spec':{'namespaces':{'selector':{}}}}");
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=1 scheduler=kubenexus-scheduler "
                  "note:scheduling.kubenexus.io/queue=a");

    REQUIRE(renew(&s, &c,
                  "profiles: [{schedulerName: kubenexus-scheduler, plugins: {multiPoint: {enabled: "
                  "[{name: FairQueues}]}}}]"));

    stage_run(&s);
    EXPECT(engine_queue_of(s.engine, STR("default"), STR("p"), &mem, &at));
    EXPECT_STR(at.queue, "a");
}

TEST(renew, pods_come_and_go_with_their_profile)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles: [{schedulerName: one}, {schedulerName: two}]"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=4");
    stage_put(&s, "pod x1 scheduler=one cpu=8");
    stage_put(&s, "pod y1 scheduler=two cpu=8");
    stage_put(&s, "pod z1 scheduler=three cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "z1"), "nowhere");

    REQUIRE(renew(&s, &c, "profiles: [{schedulerName: two}, {schedulerName: three}]"));

    EXPECT_TEXT(stage_fate(&s, "x1"), "nowhere");
    EXPECT_TEXT(stage_fate(&s, "y1"), "backing off"); /* its attempt counts */
    EXPECT_TEXT(stage_fate(&s, "z1"), "active");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "y1"), "parked");
    EXPECT_TEXT(stage_fate(&s, "z1"), "assumed on n1");
    REQUIRE(renew(&s, &c, "profiles: [{schedulerName: one}]"));
    EXPECT_TEXT(stage_fate(&s, "x1"), "active");
    EXPECT_TEXT(stage_fate(&s, "y1"), "nowhere");
}

TEST(renew, a_binding_may_end_after_its_profile)
{
    static const char *const errors[] = {NULL, "no"};
    for (size_t i = 0; i < LEN(errors); i++) {
        AUTO(scheduler_config) c = {0};
        REQUIRE(config_of(&c, "profiles: [{schedulerName: one}, {schedulerName: two}]"));
        AUTO(stage) s = {.config = config_engine(&c)};
        stage_put(&s, "node n1 cpu=4");
        stage_put(&s, "pod a scheduler=two cpu=1");
        stage_run(&s);
        REQUIRE(renew(&s, &c, "profiles: [{schedulerName: one}]"));
        EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
        stage_settle(&s, "a", errors[i]);
        EXPECT_TEXT(stage_fate(&s, "a"), errors[i] ? "nowhere" : "assumed on n1");
        REQUIRE(renew(&s, &c, "profiles: [{schedulerName: one}, {schedulerName: two}]"));
        EXPECT_TEXT(stage_fate(&s, "a"), errors[i] ? "active" : "assumed on n1");
    }
}

TEST(renew, gates_and_waits_are_the_new_files)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "podInitialBackoffSeconds: 3"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=4");
    stage_put(&s, "pod gated gate:x");
    stage_put(&s, "pod failed cpu=1");
    stage_run(&s);
    stage_settle(&s, "failed", "no");
    EXPECT_TEXT(stage_fate(&s, "gated"), "gated");

    REQUIRE(renew(&s, &c,
                  "podInitialBackoffSeconds: 7\n"
                  "profiles: [{plugins: {preEnqueue: {disabled: [{name: SchedulingGates}]}}}]"));

    EXPECT_TEXT(stage_fate(&s, "gated"), "active");
    EXPECT_TEXT(stage_fate(&s, "failed"), "backing off");
    stage_run(&s);
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 4000); /* a wait that has begun stays */
    s.now_ms = 4000;
    REQUIRE(stage_run(&s) == 1);
    stage_settle(&s, "failed", "no");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 15000); /* 10 s at most, up to the second */
}

TEST(renew, what_is_counted_of_a_name_goes_on)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles: [{schedulerName: one}, {schedulerName: two}]"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=4");
    stage_put(&s, "pod a scheduler=two cpu=1");
    stage_put(&s, "pod b scheduler=two cpu=1");
    stage_run(&s);
    stage_settle(&s, "a", NULL);
    REQUIRE(renew(&s, &c, "profiles: [{schedulerName: three}, {schedulerName: one}]"));
    stage_settle(&s, "b", NULL);
    REQUIRE(renew(&s, &c, "profiles: [{schedulerName: two}]"));
    stage_put(&s, "pod c scheduler=two cpu=1");
    stage_run(&s);
    stage_settle(&s, "c", NULL);
    vec_each(&s.engine->figures->counts.profiles, counts) {
        test_case(STR_FMT, STR_ARG(counts->name));
        EXPECT_INT(counts->scheduled, str_equal(counts->name, STR("two")) ? 3 : 0);
    }
    EXPECT_INT(s.engine->figures->counts.profiles.n, 3);
}

/* One renewed engine and one that never knew another file see the same clusters. */
static void put_both(struct stage *a, struct stage *b, const char *line)
{
    stage_put(a, "%s", line);
    stage_put(b, "%s", line);
}

TEST(renew, decides_as_one_that_began_with_the_file)
{
    AUTO(scheduler_config) first = {0}, second = {0};
    REQUIRE(config_of(&first, "") && config_of(&second, PACKING));
    AUTO(stage)
    renewed = {.config = config_engine(&first)}, fresh = {.config = config_engine(&second)};
    struct rng rng = rng_seeded(test_seed());
    char line[200];
    for (int i = 0; i < 20; i++) {
        int cpu = 4 + (int)rng_below(&rng, 8), memory = 4 + (int)rng_below(&rng, 8);
        snprintf(line, sizeof(line), "node n%d cpu=%d memory=%dGi zone=%d%s", i, cpu, memory, i % 3,
                 i % 4 ? "" : " taint:a=b:PreferNoSchedule");
        put_both(&renewed, &fresh, line);
    }
    for (int i = 0; i < 20; i++) {
        int memory = 1 + (int)rng_below(&rng, 2), node = (int)rng_below(&rng, 20);
        snprintf(line, sizeof(line), "pod p%d cpu=1 memory=%dGi label:app=w on=n%d", i, memory,
                 node);
        put_both(&renewed, &fresh, line);
    }
    stage_put(&renewed, "pod before cpu=1 label:app=w spread:zone:1:soft:app=w");
    stage_run(&renewed); /* so that it has learned something */
    stage_remove(&renewed, "pod before");
    REQUIRE(renew(&renewed, &first, PACKING));
    for (int i = 0; i < 60; i++) {
        snprintf(line, sizeof(line), "pod q%d cpu=%d memory=1Gi label:app=w%s", i,
                 1 + (int)rng_below(&rng, 3), i % 2 ? " spread:zone:1:soft:app=w" : "");
        put_both(&renewed, &fresh, line);
        stage_run(&renewed);
        stage_run(&fresh);
        snprintf(line, sizeof(line), "q%d", i);
        char fate[100];
        snprintf(fate, sizeof(fate), "%s", stage_fate(&fresh, line));
        test_case("%s", line);
        EXPECT_TEXT(stage_fate(&renewed, line), fate);
    }
}
