/* The longest step of the engine under loads that are as large as they come, by the thread's own
 * processor time: who else uses the machine does not count. docs/results/bounds.md has what it
 * printed. */

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core/engine/engine.h"
#include "core/plugins/plugins.h"
#include "steps.h"
#include "support/test.h"

static double worked_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void steps_say(const struct clock *c)
{
    printf("| %-58s | %9lu | %8.2f | %8.2f | %8.2f |\n", c->load, (unsigned long)c->steps,
           c->longest_step_s * 1e3, c->longest_apply_s * 1e3, c->other_s * 1e3);
    fflush(stdout);
}

/* Everything that is decided comes true at once. */
static void obey(struct stage *s)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT)
            engine_settle(s->engine, s->now_ms, e->id, NULL);
    effects_clear(&s->effects);
}

void steps_run(struct stage *s, struct clock *c)
{
    for (bool goes_on = true; goes_on; c->steps++) {
        double before = worked_s();
        goes_on = engine_step(s->engine, s->now_ms, &s->effects);
        double took = worked_s() - before;
        c->longest_step_s = MAX(c->longest_step_s, took);
        if (getenv("STEPS_SHOW") && took > 0.02)
            printf("# %.1f ms: %u effects\n", took * 1e3, s->effects.list.n);
        obey(s);
    }
}

void steps_put_object(struct stage *s, struct clock *c, struct object object)
{
    struct change change = {CHANGE_PUT, object};
    if (!s->engine)
        stage_put(s, "node first cpu=1");
    double before = worked_s();
    engine_apply(s->engine, s->now_ms, &change);
    c->longest_apply_s = MAX(c->longest_apply_s, worked_s() - before);
}

void steps_put(struct stage *s, struct clock *c, const char *fmt, ...)
{
    char line[8000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    struct arena mem = {0};
    steps_put_object(s, c, object_of(&mem, line));
    arena_done(&mem);
}

static void put_nodes(struct stage *s, struct clock *c, int n)
{
    for (int i = 0; i < n; i++)
        steps_put(s, c,
                  "node n%d cpu=64 memory=256Gi gpu=8 label:topology.kubernetes.io/zone=z%d "
                  "label:topology.kubernetes.io/rack=r%d",
                  i, i % 3, i / 16);
}

TEST(steps, gang)
{
    static const int sizes[] = {1000, 5000, 10000, 30000};
    for (size_t k = 0; k < LEN(sizes); k++) {
        char load[80];
        snprintf(load, sizeof(load), "one gang of %d pods, 5,000 nodes in racks", sizes[k]);
        struct clock c = {.load = load};
        AUTO(stage) s = {0};
        put_nodes(&s, &c, 5000);
        for (int i = 0; i < sizes[k]; i++)
            steps_put(&s, &c, "pod p%d cpu=1 gpu=1 gang=g:%d", i, sizes[k]);
        steps_run(&s, &c);
        steps_say(&c);
    }
}

TEST(steps, gangs_woken)
{
    struct clock c = {.load = "5,000 gangs of 8 parked; a node comes"};
    AUTO(stage) s = {0};
    put_nodes(&s, &c, 100);
    for (int i = 0; i < 100; i++)
        steps_put(&s, &c, "pod full%d cpu=1 gpu=8 on=n%d", i, i);
    for (int i = 0; i < 40000; i++)
        steps_put(&s, &c, "pod p%d cpu=1 gpu=1 gang=g%d:8", i, i / 8);
    steps_run(&s, &c);
    steps_put(&s, &c, "node late cpu=64 memory=256Gi gpu=8");
    steps_run(&s, &c);
    steps_say(&c);
}

TEST(steps, pods_woken)
{
    struct clock c = {.load = "100,000 pods parked; a node comes"};
    AUTO(stage) s = {0};
    put_nodes(&s, &c, 100);
    for (int i = 0; i < 100; i++)
        steps_put(&s, &c, "pod full%d cpu=1 gpu=8 on=n%d", i, i);
    for (int i = 0; i < 100000; i++)
        steps_put(&s, &c, "pod p%d cpu=1 gpu=1", i);
    steps_run(&s, &c);
    steps_say(&c);
    c = (struct clock){.load = "… the node"};
    steps_put(&s, &c, "node late cpu=64 memory=256Gi gpu=8");
    steps_run(&s, &c);
    s.now_ms += 70000;
    steps_run(&s, &c);
    steps_say(&c);
    c = (struct clock){.load = "… another configuration (last column)"};
    double before = worked_s();
    engine_configure(s.engine, s.now_ms, &s.config.rules);
    c.other_s = worked_s() - before;
    steps_run(&s, &c);
    steps_say(&c);
    c = (struct clock){.load = "… all starve at once"};
    s.now_ms += 10 * 60 * 1000;
    steps_run(&s, &c);
    steps_say(&c);
    c = (struct clock){.load = "… all are deleted, and swept"};
    for (int i = 0; i < 100000; i++) {
        char line[64];
        struct arena mem = {0};
        snprintf(line, sizeof(line), "pod p%d", i);
        struct change change = {CHANGE_REMOVE, object_of(&mem, line)};
        before = worked_s();
        engine_apply(s.engine, s.now_ms, &change);
        c.longest_apply_s = MAX(c.longest_apply_s, worked_s() - before);
        arena_done(&mem);
    }
    steps_run(&s, &c);
    steps_say(&c);
}

TEST(steps, preemption)
{
    struct clock c = {.load = "20,000 nodes full of 160,000 pods; 20 pods may evict"};
    AUTO(stage) s = {0};
    put_nodes(&s, &c, 20000);
    for (int i = 0; i < 160000; i++)
        steps_put(&s, &c, "pod full%d cpu=1 gpu=1 on=n%d priority=%d", i, i / 8, i % 7);
    for (int i = 0; i < 20; i++)
        steps_put(&s, &c, "pod p%d cpu=1 gpu=4 priority=100 scheduler=default-scheduler", i);
    steps_run(&s, &c);
    steps_say(&c);
}

TEST(steps, gang_preemption)
{
    static const int sizes[] = {1000, 5000, 20000};
    for (size_t k = 0; k < LEN(sizes); k++)
        for (int gang = 1; gang <= 1000; gang *= 1000) {
            char load[80];
            snprintf(load, sizeof(load), "%d nodes full of pods; %d may evict by our rules",
                     sizes[k], gang);
            struct clock c = {.load = load};
            AUTO(stage) s = {0};
            put_nodes(&s, &c, sizes[k]);
            for (int i = 0; i < 8 * sizes[k]; i++)
                steps_put(&s, &c, "pod full%d cpu=1 gpu=1 on=n%d priority=%d", i, i / 8, i % 7);
            for (int i = 0; i < gang; i++)
                steps_put(&s, &c, "pod p%d cpu=1 gpu=4 priority=100 gang=g:%d", i, gang);
            steps_run(&s, &c);
            steps_say(&c);
        }
}

TEST(steps, shown)
{
    struct clock c = {.load = "10,000 PodGroups change at once, and are shown"};
    AUTO(stage) s = {.config = {.publishes = true}};
    put_nodes(&s, &c, 10);
    for (int i = 0; i < 10000; i++)
        steps_put(
            &s, &c,
            "{'apiVersion':'scheduling.x-k8s.io/"
            "v1alpha1','kind':'PodGroup','metadata':{'name':'g%d',"
            "'namespace':'default','uid':'u%d','resourceVersion':'7'},'spec':{'minMember':2}}",
            i, i);
    for (int i = 0; i < 20000; i++)
        steps_put(&s, &c, "pod p%d cpu=1 gpu=1 label:scheduling.x-k8s.io/pod-group=g%d", i, i / 2);
    steps_run(&s, &c);
    s.now_ms += 11000;
    steps_run(&s, &c);
    s.now_ms += 300;
    steps_run(&s, &c);
    steps_say(&c);
}

TEST(steps, claims)
{
    struct clock c = {.load = "5,000 nodes of 8 devices; 20 pods with claims"};
    AUTO(stage) s = {0};
    put_nodes(&s, &c, 5000);
    steps_put(&s, &c,
              "{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'gpu'}}");
    for (int i = 0; i < 5000; i++)
        steps_put(
            &s, &c,
            "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s%d'},"
            "'spec':{'driver':'d','nodeName':'n%d','pool':{'name':'n%d','generation':1,"
            "'resourceSliceCount':1},'devices':[{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'"
            "},{'name':'e'},{'name':'f'},{'name':'g'},{'name':'h'}]}}",
            i, i, i);
    for (int i = 0; i < 20; i++) {
        steps_put(
            &s, &c,
            "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c%d',"
            "'namespace':'default','uid':'u%d','resourceVersion':'7'},'spec':{'devices':{"
            "'requests':[{'name':'r','exactly':{'deviceClassName':'gpu','count':4}}]}}}",
            i, i);
        steps_put(&s, &c, "pod p%d cpu=1 device:c%d", i, i);
    }
    steps_run(&s, &c);
    steps_say(&c);
}
