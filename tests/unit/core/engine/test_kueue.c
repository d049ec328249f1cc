#include <stdio.h>

#include "core/engine/explain.h"
#include "core/engine/step/step.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

#define KUEUE   "'apiVersion':'kueue.x-k8s.io/v1beta1'"
#define TIER(t) "'labels':{'tenant.kubenexus.io/tier':'" t "'}"

static void put_queues(struct stage *s, const char *of_cluster, const char *of_local)
{
    stage_put(s, "{" KUEUE ",'kind':'ClusterQueue','metadata':{'name':'shared',%s}}", of_cluster);
    stage_put(s,
              "{" KUEUE ",'kind':'LocalQueue','metadata':{'name':'team','namespace':'default',%s},"
              "'spec':{'clusterQueue':'shared'}}",
              of_local);
}

static struct identity who(struct stage *s, const char *pod)
{
    struct cluster *c = s->engine->cluster;
    pod_id id = pods_find(&c->pods, names_find(&c->names, STR("default")), str_of(pod));
    return identity_of(c, pods_shape(&c->pods, id), NULL);
}

TEST(kueue, a_tier_is_the_local_queues_then_the_cluster_queues_then_the_namespaces)
{
    AUTO(stage) s = {0};
    stage_put(&s, "namespace default label:tenant.kubenexus.io/tier=bronze");
    stage_put(&s, "pod a gpu=1 label:kueue.x-k8s.io/queue-name=team scheduler=kubenexus-scheduler");
    stage_put(&s, "pod b gpu=1 scheduler=kubenexus-scheduler");
    EXPECT_INT(who(&s, "a").tier, TIER_BRONZE);
    put_queues(&s, TIER("silver"), "'labels':{}");
    EXPECT_INT(who(&s, "a").tier, TIER_SILVER);
    EXPECT_INT(who(&s, "a").tier_source, TIER_OF_KUEUE);
    EXPECT_INT(who(&s, "b").tier, TIER_BRONZE);
    put_queues(&s, TIER("silver"), TIER("gold"));
    EXPECT_INT(who(&s, "a").tier, TIER_GOLD);
    stage_put(&s, "pod c gpu=1 label:kueue.x-k8s.io/cluster-queue-name=shared "
                  "scheduler=kubenexus-scheduler");
    EXPECT_INT(who(&s, "c").tier, TIER_SILVER);
    stage_remove(&s, "{" KUEUE
                     ",'kind':'LocalQueue','metadata':{'name':'team','namespace':'default'}}");
    EXPECT_INT(who(&s, "a").tier, TIER_BRONZE);
    stage_remove(&s, "{" KUEUE ",'kind':'ClusterQueue','metadata':{'name':'shared'}}");
    EXPECT_INT(who(&s, "c").tier, TIER_BRONZE);
    EXPECT_INT(s.engine->cluster->kueue.rows.n, 0);
    EXPECT_INT(s.engine->cluster->kueue.links.n, 0);
}

TEST(kueue, of_other_namespaces_lend_a_pod_no_tier)
{
    static const char *const keys[] = {"queue-name", "local-queue-name", "cluster-queue-name"};
    AUTO(stage) s = {0};
    stage_put(&s, "namespace default label:tenant.kubenexus.io/tier=bronze");
    stage_put(&s,
              "{" KUEUE ",'kind':'ClusterQueue','metadata':{'name':'shared'," TIER("gold") "}}");
    stage_put(&s, "{" KUEUE ",'kind':'LocalQueue','metadata':{'name':'theirs','namespace':'b'},"
                  "'spec':{'clusterQueue':'shared'}}");
    for (size_t i = 0; i < LEN(keys); i++)
        for (int is_local = 0; is_local < 2; is_local++) {
            stage_put(&s, "pod a%zu%d label:kueue.x-k8s.io/%s=%s scheduler=kubenexus-scheduler", i,
                      is_local, keys[i], is_local ? "theirs" : "shared");
            char name[16];
            snprintf(name, sizeof(name), "a%zu%d", i, is_local);
            EXPECT_INT(who(&s, name).tier, TIER_BRONZE);
        }
}

TEST(kueue, the_next_decision_follows_a_queue_that_changes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node p cpu=8 memory=8Gi gpu=8 label:hardware.kubenexus.io/tier=premium");
    stage_put(&s, "node e cpu=8 memory=8Gi gpu=8 label:hardware.kubenexus.io/tier=economy");
    put_queues(&s, TIER("gold"), "'labels':{}");
#define POD " gpu=1 label:kueue.x-k8s.io/queue-name=team scheduler=kubenexus-scheduler"
    stage_put(&s, "pod a" POD);
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a")->node, "p");
    put_queues(&s, TIER("bronze"), "'labels':{}"); /* when */
    stage_put(&s, "pod b" POD);
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "b")->node, "e"); /* then */
#undef POD
}

static void put_workload(struct stage *s, int gpus, const char *status)
{
    stage_put(s,
              "{" KUEUE ",'kind':'Workload','metadata':{'name':'big','namespace':'default'},"
              "'spec':{'queueName':'team','podSets':[{'name':'main','count':1,'template':{'spec':{"
              "'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'%d'}}}]}}}]},"
              "'status':{'conditions':[%s]}}",
              gpus, status);
}

/* Services are spread over zones: without regard to what is to come, to the one without replicas.
 */
static const char *next_replica(struct stage *s, int i)
{
    stage_put(s,
              "pod web-%d gpu=1 label:app=web label:workload.kubenexus.io/type=inference "
              "scheduler=kubenexus-scheduler",
              i);
    stage_run(s);
    char name[16];
    snprintf(name, sizeof(name), "web-%d", i);
    const struct effect *e = stage_effect(s, name);
    return e && e->kind == EFFECT_BIND ? arena_printf(&s->mem, STR_FMT, STR_ARG(e->node)).p : "-";
}

TEST(kueue, a_workload_that_waits_keeps_the_last_clean_island_clean)
{
    static const struct {
        int gpus;
        const char *status, *expect;
    } cases[] = {
        {8, "", "started"},
        {8, "{'type':'QuotaReserved','status':'False'}", "started"},
        {8, "{'type':'Admitted','status':'True'}", "clean"},
        {1, "", "clean"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "service web app=web");
        stage_put(&s, "node started cpu=64 memory=64Gi gpu=8 zone=a");
        stage_put(&s, "node clean cpu=64 memory=64Gi gpu=8 zone=b");
        for (int p = 0; p < 2; p++)
            stage_put(&s, "pod old-%d gpu=1 label:app=web on=started phase=Running", p);
        put_workload(&s, cases[i].gpus, cases[i].status);
        EXPECT_TEXT(next_replica(&s, 0), cases[i].expect);
    }
}

TEST(kueue, whoever_has_no_other_room_still_gets_the_clean_island)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node clean cpu=64 memory=64Gi gpu=8");
    put_workload(&s, 8, "");
    EXPECT_TEXT(next_replica(&s, 0), "clean");
    stage_remove(&s,
                 "{" KUEUE ",'kind':'Workload','metadata':{'name':'big','namespace':'default'}}");
    EXPECT_INT(kueue_wanted(&s.engine->cluster->kueue, 1), 0);
}

/* --- what is asked for --- */

static const struct fragmentation_args observing = {.observes_demand = true};

static struct engine_config watching(struct profile_plugin *list, struct profile *profile)
{
    const struct profile *from = built_in_profiles;
    while (!str_equal(from->name, STR("kubenexus-scheduler")))
        from++;
    for (uint32_t i = 0; i < from->n; i++) {
        list[i] = from->plugins[i];
        if (list[i].plugin == &plugin_resource_fragmentation_score)
            list[i].args = &observing;
    }
    *profile = (struct profile){from->name, list, from->n};
    return (struct engine_config){.rules = {.profiles = profile, .n_profiles = 1},
                                  .checks_views = true};
}

TEST(kueue, demand_is_observed_of_who_waits_and_who_was_bound)
{
    struct profile_plugin list[64];
    struct profile profile;
    AUTO(stage) s = {.config = watching(list, &profile)};
    stage_put(&s, "node a cpu=64 memory=64Gi gpu=8");
    stage_put(&s, "node b cpu=64 memory=64Gi gpu=8");
    const struct demand *d = &s.engine->cluster->demand;
    REQUIRE(d->is_watched);
    put_workload(&s, 6, "");
    stage_put(&s, "pod one gpu=1 scheduler=kubenexus-scheduler");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod eight-%d gpu=8 scheduler=kubenexus-scheduler", i);
    stage_run(&s);
    uint64_t generation = d->generation;
    double all = DEMAND_FIRST * GPU_SIZES_USUAL + 1 + 24 + 6;
    EXPECT_INT(d->mix.largest, 8);
    EXPECT(d->mix.of[8] > (9 * DEMAND_FIRST + 24) / all - 1e-6 &&
           d->mix.of[8] < (9 * DEMAND_FIRST + 24) / all + 1e-6);
    EXPECT(d->mix.of[6] > d->mix.of[5]);
    double bound[2] = {0}; /* not all of them have room */
    vec_each(&s.effects.list, e)
        if (e->kind == EFFECT_BIND)
            bound[!str_equal(e->pod, STR("one"))] += GPU_WHOLE;
    EXPECT(bound[1] > 0 && d->recent[8] == 8 * bound[1] && d->recent[1] == bound[0]);
    for (int i = 0; i < 20; i++)
        stage_put(&s, "pod more-%d gpu=8 scheduler=kubenexus-scheduler", i);
    stage_run(&s);
    EXPECT_INT(d->generation, generation); /* it is too soon */
    s.now_ms += DEMAND_REVIEW_MS;
    stage_run(&s);
    EXPECT_INT(d->generation, generation + 1);
}

TEST(kueue, demand_is_not_counted_where_nobody_observes_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a cpu=64 memory=64Gi gpu=8");
    stage_put(&s, "pod one gpu=1 scheduler=kubenexus-scheduler");
    stage_run(&s);
    EXPECT_INT(s.engine->cluster->demand.generation, 0);
    EXPECT(s.engine->cluster->demand.recent[1] == 0);
}
