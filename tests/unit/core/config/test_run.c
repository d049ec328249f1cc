/* An engine that runs with what a file says. */

#include "read.h"
#include "support/stage.h"

TEST(run, each_profile_judges_its_own_pods_and_nobody_others)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles:\n- schedulerName: tight\n"
                          "- schedulerName: loose\n"
                          "  plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}\n"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "pod a scheduler=tight cpu=2");
    stage_put(&s, "pod b scheduler=loose cpu=2");
    stage_put(&s, "pod c scheduler=default-scheduler");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "c"), "nowhere");
}

TEST(run, strategy_and_weights_decide)
{
    static const struct {
        const char *config, *node;
    } cases[] = {
        {"", "assumed on empty"},
        {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
         "MostAllocated}}}]}]",
         "assumed on half"},
        /* without the fit's score, the smallest weight of another decides */
        {"profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: "
         "TaintToleration}]}}}]",
         "assumed on half"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        test_case("%s", cases[i].config);
        REQUIRE(config_of(&c, cases[i].config));
        AUTO(stage) s = {.config = config_engine(&c)};
        stage_put(&s, "node empty cpu=8 memory=8Gi%s", i == 2 ? " taint:a=b:PreferNoSchedule" : "");
        stage_put(&s, "node half cpu=8 memory=8Gi");
        stage_put(&s, "pod old cpu=4 memory=4Gi on=half");
        stage_put(&s, "pod a cpu=1 memory=1Gi");
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "a"), cases[i].node);
    }
}

TEST(run, a_gate_that_is_off_holds_nobody)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles: [{plugins: {preEnqueue: {disabled: [{name: "
                          "SchedulingGates}]}}}]"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "pod a gate:x");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(run, a_constraint_that_nobody_filters_by_leaves_no_trace)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(
        config_of(&c, "profiles: [{plugins: {filter: {disabled: [{name: PodTopologySpread}]}}}]"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 zone=a");
    stage_put(&s, "node n2 zone=b");
    stage_put(&s, "pod x label:app=w on=n1");
    for (int i = 0; i < 4; i++) {
        stage_put(
            &s, "pod p%d label:app=w spread:zone:1:hard:app=w select:topology.kubernetes.io/zone=a",
            i);
        stage_run(&s);
    }
    EXPECT_TEXT(stage_fate(&s, "p3"), "assumed on n1");
}

TEST(run, backoff_is_the_files)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 4\n"));
    AUTO(stage) s = {.config = config_engine(&c)};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    stage_settle(&s, "a", "no");
    EXPECT_TEXT(stage_fate(&s, "a"), "backing off");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 4000); /* 3 s, up to the second */
    s.now_ms = 4000;
    REQUIRE(stage_run(&s) == 1);
    stage_settle(&s, "a", "no");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 9000); /* 6 s would be more than 4 s */
}
