/* A search for devices that takes long is put down, and others are decided meanwhile. */

#include "core/cluster/allocate.h"
#include "core/engine/step/step.h"
#include "core/plugins/args.h"
#include "support/stage.h"
#include "support/test.h"

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"

/* A node with devices no two of which are alike, and a claim for eight of them: seven that differ,
 * and an eighth that is like the seventh. Nothing can be left out, and there are millions of ways.
 */
static void put_puzzle(struct stage *s, const char *node, int devices)
{
    AUTO(buf) json = {0};
    stage_put(s, "node %s cpu=8", node);
    buf_printf(&json,
               "{" RESOURCE "'ResourceSlice','metadata':{'name':'s-%s'},'spec':{'driver':'d',"
               "'nodeName':'%s','pool':{'name':'%s','generation':1,'resourceSliceCount':1},"
               "'devices':[",
               node, node, node);
    for (int i = 0; i < devices; i++)
        buf_printf(&json, "%s{'name':'d%d','attributes':{'m':{'int':%d}}}", i ? "," : "", i, i);
    buf_printf(&json, "]}}%c", 0);
    stage_put(s, "%s", json.p);
}

static void put_claim(struct stage *s, const char *name)
{
    AUTO(buf) json = {0};
    buf_printf(&json,
               "{" RESOURCE "'ResourceClaim','metadata':{'name':'%s','namespace':'default','uid':"
               "'u-%s','resourceVersion':'7'},'spec':{'devices':{'requests':[",
               name, name);
    for (int i = 0; i < 8; i++)
        buf_printf(&json, "%s{'name':'r%d','exactly':{'deviceClassName':'gpu','count':1}}",
                   i ? "," : "", i);
    buf_printf(&json,
               "],'constraints':[{'requests':['r0','r1','r2','r3','r4','r5','r6'],"
               "'distinctAttribute':'d/m'},{'requests':['r6','r7'],'matchAttribute':'d/m'}]}}}%c",
               0);
    stage_put(s, "%s", json.p);
}

static void open(struct stage *s, const char *more)
{
    put_puzzle(s, "n", 40);
    stage_put(s, "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}");
    put_claim(s, "c");
    stage_put(s, "pod puzzle device:c cpu=1 priority=9%s", more);
}

static uint64_t spent(const struct stage *s)
{
    return s->engine->stepping->pauses.all.n ? s->engine->stepping->pauses.all.at[0].spent : 0;
}

TEST(pause, a_search_that_takes_long_goes_on_between_others)
{
    AUTO(stage) s = {0};
    struct effects effects = {0};
    open(&s, "");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod p%d cpu=1", i);
    for (int i = 0; i < 4; i++)
        EXPECT(engine_step(s.engine, 0, &effects));
    EXPECT_INT(s.engine->stepping->pauses.all.n, 1);
    EXPECT_TEXT(stage_fate(&s, "puzzle"), "parked"); /* it was first, by its priority */
    for (int i = 0; i < 3; i++)
        EXPECT_TEXT(stage_fate(&s, arena_printf(&s.mem, "p%d", i).p), "assumed on n");
    EXPECT_INT(engine_next_ms(s.engine, 0), 0);
    for (uint32_t steps = 0; steps < 20; steps++) { /* nobody else waits: it goes on at once */
        uint64_t before = spent(&s);
        EXPECT(engine_step(s.engine, 0, &effects));
        EXPECT(spent(&s) > before);
        EXPECT(spent(&s) - before <= STEPS_A_GO / STEPS_HARD + 200);
    }
    effects_done(&effects);
}

TEST(pause, sixty_four_others_are_decided_between_two_goes)
{
    AUTO(stage) s = {0};
    struct effects effects = {0};
    uint64_t first;
    open(&s, "");
    for (int i = 0; i < 100; i++)
        stage_put(&s, "pod p%d cpu=100", i);
    engine_step(s.engine, 0, &effects);
    first = spent(&s);
    EXPECT(first > 0);
    for (int i = 0; i < 64; i++)
        engine_step(s.engine, 0, &effects);
    EXPECT_INT(s.engine->figures->stats.refused, 64);
    EXPECT_INT(spent(&s), first);
    engine_step(s.engine, 0, &effects);
    EXPECT_INT(s.engine->figures->stats.refused, 64);
    EXPECT(spent(&s) > first);
    effects_done(&effects);
}

TEST(pause, ends_like_upstreams_when_its_time_is_over)
{
    AUTO(stage) s = {0};
    open(&s, "");
    stage_run(&s);
    EXPECT_INT(s.engine->stepping->pauses.all.n, 0);
    EXPECT_TEXT(stage_fate(&s, "puzzle"), "backing off");
    EXPECT_STR(stage_effect(&s, "puzzle")->message,
               "running \"DynamicResources\" filter plugin: node n: timed out trying to allocate "
               "devices");
    s.now_ms += 20000;
    EXPECT_INT(stage_run(&s), 1); /* the same claims, the same answer, for nothing */
    EXPECT_INT(s.engine->cluster->effort.spent, 0);
}

TEST(pause, finds_what_is_to_be_found)
{
    AUTO(stage) s = {0};
    put_puzzle(&s, "a", 14); /* what there is to try is tried */
    put_puzzle(&s, "b", 14);
    stage_put(&s, "node c cpu=8");
    stage_put(&s, "{" RESOURCE "'ResourceSlice','metadata':{'name':'s-c'},'spec':{'driver':'d',"
                  "'nodeName':'c','pool':{'name':'c','generation':1,'resourceSliceCount':1},"
                  "'devices':["
                  "{'name':'d0','attributes':{'m':{'int':0}}},{'name':'d1','attributes':{'m':{"
                  "'int':1}}},{'name':'d2','attributes':{'m':{'int':2}}},{'name':'d3','attributes':"
                  "{'m':{'int':3}}},{'name':'d4','attributes':{'m':{'int':4}}},{'name':'d5',"
                  "'attributes':{'m':{'int':5}}},{'name':'d6','attributes':{'m':{'int':6}}},{"
                  "'name':'d7','attributes':{'m':{'int':6}}}]}}");
    stage_put(&s, "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}");
    put_claim(&s, "c");
    stage_put(&s, "pod puzzle device:c cpu=1");
    struct effects effects = {0};
    EXPECT(engine_step(s.engine, 0, &effects));
    EXPECT_INT(s.engine->stepping->pauses.all.n, 1);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "puzzle"), "assumed on c");
    effects_done(&effects);
}

TEST(pause, begins_anew_after_another_configuration_and_ends_with_the_pod)
{
    AUTO(stage) s = {0};
    struct effects effects = {0};
    open(&s, "");
    engine_step(s.engine, 0, &effects);
    EXPECT_INT(s.engine->stepping->pauses.all.n, 1);
    engine_configure(s.engine, 0, &s.config.rules);
    EXPECT_INT(s.engine->stepping->pauses.all.n, 0);
    EXPECT_TEXT(stage_fate(&s, "puzzle"), "active");
    engine_step(s.engine, 0, &effects);
    EXPECT_INT(s.engine->stepping->pauses.all.n, 1);
    stage_remove(&s, "pod puzzle");
    EXPECT(!engine_step(s.engine, 0, &effects));
    EXPECT_INT(s.engine->stepping->pauses.all.n, 0);
    effects_done(&effects);
}

TEST(pause, in_a_gang_a_search_that_takes_too_long_ends_the_attempt)
{
    AUTO(stage) s = {0};
    struct effects effects = {0};
    open(&s, " gang=g:2");
    put_claim(&s, "e");
    stage_put(&s, "pod other device:e cpu=1 gang=g:2");
    stage_run(&s);
    EXPECT_INT(s.engine->stepping->pauses.all.n, 0);
    REQUIRE(stage_effect(&s, "puzzle"));
    EXPECT_STR(stage_effect(&s, "puzzle")->message,
               "gang g needs 2 x (1 cpu) at once: running \"DynamicResources\" filter "
               "plugin: node n: timed out trying to allocate devices");
    EXPECT_TEXT(stage_fate(&s, "puzzle"), "parked");
    effects_done(&effects);
}

/* On many nodes the last of many devices is looked for: each pod that gets one lets the others
 * begin anew, and so it goes on before they do. */
TEST(pause, who_searches_many_nodes_is_done_before_the_next_begins)
{
    enum { PODS = 5 };
    AUTO(stage) s = {0};
    AUTO(buf) json = {0};
    uint32_t steps = 0;
    for (int i = 0; i < 60; i++)
        buf_printf(&json, "%s{'name':'d%d','attributes':{'m':{'int':%d}}}", i ? "," : "", i, i);
    buf_add_char(&json, 0);
    for (int i = 0; i < 1000; i++) {
        stage_put(&s, "node n%d cpu=8", i);
        stage_put(&s,
                  "{" RESOURCE "'ResourceSlice','metadata':{'name':'s-%d'},'spec':{'driver':'d',"
                  "'nodeName':'n%d','pool':{'name':'n%d','generation':1,'resourceSliceCount':1},"
                  "'devices':[%s]}}",
                  i, i, i, json.p);
    }
    stage_put(&s,
              "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'},'spec':{'selectors':[{'cel':{"
              "'expression':'device.attributes[\\'d\\'].m == 59'}}]}}");
    for (int i = 0; i < PODS; i++) {
        stage_put(&s,
                  "{" RESOURCE "'ResourceClaim','metadata':{'name':'c%d','namespace':'default',"
                  "'uid':'u%d','resourceVersion':'7'},'spec':{'devices':{'requests':[{'name':'r',"
                  "'exactly':{'deviceClassName':'gpu','count':1}}]}}}",
                  i, i);
        stage_put(&s, "pod p%d cpu=1 device:c%d", i, i);
    }
    struct effects effects = {0};
    while (engine_step(s.engine, 0, &effects))
        steps++;
    EXPECT(steps > PODS); /* one go is not enough */
    EXPECT(steps < 6 * PODS);
    for (int i = 0; i < PODS; i++)
        EXPECT(strncmp(stage_fate(&s, arena_printf(&s.config_mem, "p%d", i).p), "assumed", 7) == 0);
    effects_done(&effects);
}

static void put_full_nodes(struct stage *s, int nodes)
{
    for (int i = 0; i < nodes; i++) {
        stage_put(s, "node n%d cpu=2 zone=a", i);
        stage_put(s, "pod a%d cpu=1 on=n%d priority=%d", i, i, 3 + i * 7 % 11);
        stage_put(s, "pod b%d cpu=1 on=n%d priority=%d", i, i, i * 5 % 13);
    }
}

static struct str nominated_of(const struct stage *s, const char *pod)
{
    const struct cluster *c = s->engine->cluster;
    pod_id id = pods_find(&c->pods, names_find(&c->names, STR("default")), str_of(pod));
    sym node = pods_at(&c->pods, id)->nominated;
    return node == SYM_NONE ? STR("") : names_text(&c->names, node);
}

/* The pod whose decision was put down goes on in the next step, before all others; whom it evicts
 * is who would have had to go anyway. */
static void expect_same_evictions(const char *words, uint32_t least)
{
    AUTO(stage) whole = {0}, halting = {0};
    struct stage *stages[] = {&whole, &halting};
    uint32_t steps[2] = {0};
    test_case("%s", words);
    for (int i = 0; i < 2; i++) {
        struct stage *s = stages[i];
        put_full_nodes(s, 60);
        if (i)
            s->engine->stepping->pauses.prices_a_go = 10;
        stage_put(s, "pod p cpu=2 priority=100 %s", words);
        stage_put(s, "pod q cpu=1 priority=50 %s", words);
        while (s->engine->figures->stats.refused == 0) {
            EXPECT(engine_step(s->engine, 0, &s->effects));
            EXPECT(s->engine->figures->stats.refused || s->engine->stepping->pauses.all.n == 1);
            steps[i]++;
        }
        EXPECT(s->engine->figures->stats.decisions == 1);
        stage_run(s);
    }
    EXPECT_INT(steps[0], 1);
    EXPECT(steps[1] >= least);
    EXPECT(nominated_of(&whole, "p").n > 0);
    EXPECT(str_equal(nominated_of(&halting, "p"), nominated_of(&whole, "p")));
    EXPECT(str_equal(nominated_of(&halting, "q"), nominated_of(&whole, "q")));
}

TEST(pause, what_evictions_cost_is_found_out_in_several_goes)
{
    /* three a node, of which four make a go */
    expect_same_evictions("scheduler=default-scheduler", 15);
    expect_same_evictions("scheduler=kubenexus-scheduler", 15);
    /* prices that hold for this pod alone, the cheapest first until none can be better */
    expect_same_evictions("scheduler=default-scheduler label:app=a spread:zone:100:hard:app=a", 3);
}
