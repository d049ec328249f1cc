#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

static uint32_t binds(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

TEST(place_gang, three_gpus_or_none)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi gpu=2");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d gpu=1 gang=a:3", i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    for (int64_t t = 0; t <= 60000; t += 1000) { /* nothing changes: nothing is bound, ever */
        s.now_ms = t;
        stage_run(&s);
        EXPECT_INT(binds(&s), 0);
    }
    stage_put(&s, "node n2 cpu=8 memory=8Gi gpu=1"); /* when */
    effects_clear(&s.effects);
    EXPECT(engine_step(s.engine, s.now_ms, &s.effects)); /* then, in one step */
    EXPECT_INT(binds(&s), 3);
}

TEST(place_gang, two_gangs_that_fit_one_at_a_time_run_one_after_the_other)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi gpu=4");
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "pod a-%d gpu=1 gang=a:3 created=1", i);
        stage_put(&s, "pod b-%d gpu=1 gang=b:3 created=2", i);
    }
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    for (int i = 0; i < 3; i++)
        EXPECT_INT(stage_effect(&s, (const char *[]){"a-0", "a-1", "a-2"}[i])->kind, EFFECT_BIND);
    EXPECT_INT(stage_effect(&s, "b-0")->kind, EFFECT_REFUSE);
    s.now_ms = 20000;
    for (int i = 0; i < 3; i++) { /* the first runs and ends, pod by pod */
        stage_put(&s, "pod a-%d gpu=1 gang=a:3 on=n1 created=1 phase=Running", i);
        stage_run(&s);
        EXPECT_INT(binds(&s), 0);
    }
    uint32_t bound = 0;
    for (int i = 0; i < 3; i++) {
        stage_remove(&s, "pod a-%d", i);
        stage_run(&s);
        EXPECT(binds(&s) == 0 || binds(&s) == 3);
        bound += binds(&s);
    }
    EXPECT_INT(bound, 3);
}

TEST(place_gang, members_beyond_the_minimum_follow)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    for (int i = 0; i < 12; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:8", i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 8);
    s.now_ms = 20000;
    stage_put(&s, "node n2 cpu=3 memory=8Gi"); /* room for three of the other four */
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    s.now_ms = 40000;
    stage_put(&s, "node n3 cpu=3 memory=8Gi");
    stage_run(&s);
    EXPECT_INT(binds(&s), 1);
    EXPECT_INT(engine_stats(s.engine).parked, 0);
}

TEST(place_gang, what_was_tried_leaves_no_trace)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_put(&s, "node n2 cpu=3 memory=8Gi");
    stage_put(&s, "pod x cpu=1");
    for (int i = 0; i < 3; i++) /* apart: the room is there, and yet only two of three fit */
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 label:app=a apart:host:app=a", i);
    stage_run(&s);
    AUTO(buf) before = {0}, after = {0};
    cluster_dump(s.engine->cluster, &before);
    uint64_t decisions = engine_stats(s.engine).decisions;
    s.now_ms = 600000;
    stage_run(&s); /* once more, for it has waited long enough */
    EXPECT_INT(binds(&s), 0);
    EXPECT_INT(engine_stats(s.engine).decisions, decisions + 3);
    cluster_dump(s.engine->cluster, &after);
    EXPECT_STR(buf_str(&after), before.p);
}

TEST(place_gang, the_largest_pods_sit_down_first)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "node n2 cpu=2 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3"); /* would take a part of n1, were it first */
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    stage_put(&s, "pod a-2 cpu=4 gang=a:3");
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    EXPECT_STR(stage_effect(&s, "a-2")->node, "n1");
}

TEST(place_gang, a_minimum_of_small_pods_does_not_fail_for_a_large_one)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=4 gang=a:2");
    stage_put(&s, "pod a-1 cpu=2 gang=a:2");
    stage_put(&s, "pod a-2 cpu=2 gang=a:2");
    stage_run(&s);
    EXPECT_INT(binds(&s), 2);
    EXPECT_INT(stage_effect(&s, "a-0")->kind, EFFECT_REFUSE);
}

TEST(place_gang, a_required_topology_holds_all_of_them)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 6; i++)
        stage_put(&s, "node n%d cpu=%d memory=8Gi label:rack=r%d", i, i < 4 ? 2 : 1, i / 2);
    for (int i = 0; i < 3; i++)
        stage_put(&s,
                  "pod a-%d cpu=1 gang=a:3 "
                  "note:scheduling.kubenexus.io/required-topology=rack",
                  i);
    for (int i = 0; i < 7; i++)
        stage_put(&s,
                  "pod b-%d cpu=1 gang=b:7 "
                  "note:scheduling.kubenexus.io/required-topology=rack",
                  i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    char rack = 0;
    for (int i = 0; i < 3; i++) {
        const struct effect *e = stage_effect(&s, (const char *[]){"a-0", "a-1", "a-2"}[i]);
        EXPECT_INT(e->kind, EFFECT_BIND);
        char here = (char)((e->node.p[1] - '0') / 2);
        EXPECT(rack == 0 || rack == here + 'A');
        rack = (char)(here + 'A');
    }
    EXPECT_INT(stage_effect(&s, "b-0")->kind, EFFECT_REFUSE); /* no rack has room for seven */
}

TEST(place_gang, a_preferred_topology_gives_way)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 4; i++)
        stage_put(&s, "node n%d cpu=2 memory=8Gi label:rack=r%d zone=z", i, i / 2);
    for (int i = 0; i < 4; i++)
        stage_put(&s,
                  "pod a-%d cpu=1 gang=a:4 "
                  "note:scheduling.kubenexus.io/preferred-topology=rack,"
                  "topology.kubernetes.io/zone",
                  i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 4);
    bool is_high = stage_effect(&s, "a-0")->node.p[1] >= '2';
    for (int i = 0; i < 4; i++) {
        const char *names[] = {"a-0", "a-1", "a-2", "a-3"};
        EXPECT_INT(stage_effect(&s, names[i])->node.p[1] >= '2', is_high);
    }
    for (int i = 0; i < 4; i++) { /* one rack is full: 3 of these go to one rack, 1 to none */
        stage_put(&s, "node m%d cpu=1 memory=8Gi label:rack=r%d zone=z", i, i);
        stage_put(&s,
                  "pod b-%d cpu=2 gang=b:2 "
                  "note:scheduling.kubenexus.io/preferred-topology=rack",
                  i);
    }
    stage_run(&s);
    EXPECT_INT(binds(&s), 2);
}

TEST(place_gang, those_who_come_later_stay_where_the_gang_is)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi label:rack=r1");
    stage_put(&s, "node n2 cpu=8 memory=8Gi label:rack=r2");
    for (int i = 0; i < 2; i++)
        stage_put(&s,
                  "pod a-%d cpu=1 gang=a:2 "
                  "note:scheduling.kubenexus.io/required-topology=rack on=n1",
                  i);
    stage_put(&s, "pod a-2 cpu=1 gang=a:2 note:scheduling.kubenexus.io/required-topology=rack");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "a-2")->kind, EFFECT_REFUSE);
}

TEST(place_gang, identical_hopeless_gangs_cost_no_search)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 20; i++)
        stage_put(&s, "node n%d cpu=1 memory=8Gi", i);
    for (int g = 0; g < 10; g++)
        for (int i = 0; i < 30; i++)
            stage_put(&s, "pod g%d-%d cpu=1 gang=g%d:30", g, i, g);
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    struct engine_stats stats = engine_stats(s.engine);
    EXPECT_INT(stats.decisions, 0);
    EXPECT_INT(stats.rows_caught_up, 0);
    EXPECT_INT(stats.parked, 10);
    s.now_ms = 60000;
    stage_put(&s, "node other cpu=0 memory=8Gi"); /* helps nobody: wakes nobody */
    EXPECT_INT(stage_run(&s), 0);
}

static void put_volume(struct stage *s, int i)
{
    stage_put(s,
              "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v%d',"
              "'resourceVersion':'%d'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':["
              "'ReadWriteOnce'],'storageClassName':'s'},'status':{'phase':'Available'}}",
              i, i + 1);
}

static uint32_t writes(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_WRITE;
    return n;
}

TEST(place_gang, members_get_a_volume_each_or_none_gets_one)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"
                  "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':"
                  "'WaitForFirstConsumer'}");
    put_volume(&s, 0);
    put_volume(&s, 1);
    for (int i = 0; i < 3; i++) {
        stage_put(&s,
                  "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c%d',"
                  "'namespace':'default','uid':'u%d'},'spec':{'accessModes':['ReadWriteOnce'],"
                  "'storageClassName':'s','resources':{'requests':{'storage':'1Gi'}}}}",
                  i, i);
        stage_put(&s, "pod a-%d cpu=1 claim:c%d gang=a:3", i, i);
    }
    stage_run(&s);
    EXPECT_INT(writes(&s), 0);
    EXPECT_INT(s.engine->prebind->all.n, 0);
    vec_each(&s.engine->cluster->volumes.of[THING_VOLUME].at, thing)
        EXPECT_INT(thing->assumed, ID_NONE);
    s.now_ms = 20000;
    put_volume(&s, 2); /* when */
    stage_run(&s);
    EXPECT_INT(writes(&s), 3); /* then */
    EXPECT_INT(binds(&s), 0);
    vec_each(&s.engine->cluster->volumes.of[THING_VOLUME].at, thing)
        EXPECT(thing->assumed != ID_NONE);
}
