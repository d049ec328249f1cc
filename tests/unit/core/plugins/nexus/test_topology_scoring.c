#include <stdlib.h>

#include "core/base/rng.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/stage.h"
#include "support/test.h"

#define PLUGIN &plugin_topology_scoring
#define TYPE   "label:workload.kubenexus.io/type="
#define ZONES  "note:topology.kubenexus.io/spread-zones="
#define RACK   "label:network.kubenexus.io/rack-id="

static const struct str pools[] = {STR("pool")};
static const struct topology_args by_pool = {.levels = {pools, 1}};
static const struct profile_plugin list[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = PLUGIN, .number = 2, .weight = 5},
    {.plugin = &plugin_pod_topology_spread, .number = 3, .weight = 2},
};
static const struct profile_plugin list_pool[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = PLUGIN, .number = 2, .weight = 5, .args = &by_pool},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const struct profile profile_pool = {STR("default-scheduler"), list_pool, LEN(list_pool)};

static int64_t raw(struct judge *j, const char *pod, const char *node)
{
    return judge_score(j, PLUGIN, pod, node).raw;
}

static int64_t normal(struct judge *j, const char *pod, const char *node)
{
    return judge_score(j, PLUGIN, pod, node).normal;
}

/* Three pods in zone a, one in b. */
TEST(topology_scoring, the_raw_score_is_the_share_of_pods_in_other_zones)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a zone=a");
    ground_add(&j.ground, "node b zone=b");
    ground_add(&j.ground, "node c zone=c");
    ground_add(&j.ground, "node nowhere");
    ground_add(&j.ground, "pod p label:app=web " TYPE "service");
    EXPECT_INT(raw(&j, "p", "a"), 100); /* nothing is counted yet */
    for (uint32_t i = 0; i < 3; i++)
        ground_add(&j.ground, "pod a%u label:app=web on=a", i);
    ground_add(&j.ground, "pod b0 label:app=web on=b");
    ground_add(&j.ground, "pod other label:app=db on=c");
    EXPECT_INT(raw(&j, "p", "a"), 25);
    EXPECT_INT(raw(&j, "p", "b"), 75);
    EXPECT_INT(raw(&j, "p", "c"), 100);
    EXPECT_INT(raw(&j, "p", "nowhere"), 50);
}

/* A level's badness is 0, 2/3, 3/4, … of its weight; the zones weigh 66.7 (all are of
 * one region), racks 22.2, hosts 7.4. */
TEST(topology_scoring, each_level_weighs_more_than_all_behind_it)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a1 zone=a " RACK "r1");
    ground_add(&j.ground, "node a2 zone=a " RACK "r1");
    ground_add(&j.ground, "node a3 zone=a " RACK "r2");
    ground_add(&j.ground, "node b1 zone=b " RACK "r3");
    ground_add(&j.ground, "pod p label:app=web " TYPE "service");
    EXPECT_INT(normal(&j, "p", "b1"), 100);
    ground_add(&j.ground, "pod q label:app=web on=a1");
    EXPECT_INT(normal(&j, "p", "b1"), 100);
    EXPECT_INT(normal(&j, "p", "a3"), 55); /* 44.4: the zone */
    EXPECT_INT(normal(&j, "p", "a2"), 40); /* 14.8: the rack */
    EXPECT_INT(normal(&j, "p", "a1"), 35); /* 4.9: the host */
    for (uint32_t i = 0; i < 9; i++)
        ground_add(&j.ground, "pod a2-%u label:app=web on=a2", i);
    ground_add(&j.ground, "pod b1-0 label:app=web on=b1");
    EXPECT(normal(&j, "p", "b1") > normal(&j, "p", "a3"));
    EXPECT(normal(&j, "p", "a3") > normal(&j, "p", "a1"));
    EXPECT(normal(&j, "p", "a1") > normal(&j, "p", "a2"));
}

TEST(topology_scoring, concerns_those_who_are_called_services_and_those_who_ask)
{
    static const struct {
        const char *pod;
        bool takes_part;
    } cases[] = {
        {"label:app=web", false}, /* plain: PodTopologySpread's */
        {"label:app=web " TYPE "service", true},
        {"label:app=web " TYPE "inference", true},
        {"label:app=web " TYPE "batch", false},
        {"label:app=web " TYPE "batch " ZONES "true", true},
        {"label:app=web " TYPE "service " ZONES "false", false},
        {"label:app=web " ZONES "true", true},
        {"owner:Job=j label:job-name=j " ZONES "true", true},
        {TYPE "service", false}, /* nobody belongs to it */
        {"label:app=web owner:ReplicaSet=web", true},
        {"label:app=db owner:StatefulSet=db", true},
        {"label:app=api", true}, /* a Service's */
        {"label:app=web owner:ReplicaSet=gone", false},
        {"label:app=web owner:ReplicaSet=web spread:zone:1:soft:app=web", false},
        {"label:app=web owner:ReplicaSet=web " ZONES "false", false},
        {"label:app=api owner:Job=j", false},
        {"label:app=web " TYPE "service spread:zone:1:soft:app=web", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = &profile};
        test_case("%s", cases[i].pod);
        ground_add(&j.ground, "replicaset web app=web");
        ground_add(&j.ground, "statefulset db app=db");
        ground_add(&j.ground, "service api app=api");
        ground_add(&j.ground, "node n zone=a");
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_INT(judge_score(&j, PLUGIN, "p", "n").takes_part, cases[i].takes_part);
    }
}

TEST(topology_scoring, takes_the_place_of_default_spreading_only)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n zone=a");
    ground_add(&j.ground, "pod own label:app=web " TYPE "service spread:zone:1:soft:app=web");
    ground_add(&j.ground, "pod called label:app=web " TYPE "service");
    EXPECT(judge_score(&j, &plugin_pod_topology_spread, "own", "n").takes_part);
    EXPECT(!judge_score(&j, &plugin_pod_topology_spread, "called", "n").takes_part);
}

TEST(topology_scoring, the_levels_are_configurable)
{
    AUTO(judge) j = {.profile = &profile_pool};
    ground_add(&j.ground, "node a label:pool=a");
    ground_add(&j.ground, "node b label:pool=b");
    ground_add(&j.ground, "pod p label:app=web " TYPE "service");
    ground_add(&j.ground, "pod q label:app=web on=a");
    EXPECT_INT(normal(&j, "p", "a"), 55); /* 66.7 × 2/3 */
    EXPECT_INT(normal(&j, "p", "b"), 100);
    EXPECT_INT(raw(&j, "p", "a"), 0);
}

static uint32_t bound_in(const struct stage *s, char zone)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND && e->node.p[0] == zone;
    return n;
}

TEST(topology_scoring, nine_replicas_on_unequal_zones_are_three_each)
{
    AUTO(stage) s = {0};
    static const uint32_t sizes[] = {10, 5, 1};
    for (uint32_t z = 0; z < 3; z++)
        for (uint32_t i = 0; i < sizes[z]; i++)
            stage_put(&s, "node %c%u zone=%c cpu=8 memory=32Gi", 'a' + (int)z, i, 'a' + (int)z);
    for (uint32_t i = 0; i < 9; i++)
        stage_put(&s,
                  "pod p%u scheduler=kubenexus-scheduler cpu=2 memory=4Gi label:app=web " TYPE
                  "service",
                  i);
    EXPECT_INT(stage_run(&s), 9);
    EXPECT_INT(bound_in(&s, 'a'), 3);
    EXPECT_INT(bound_in(&s, 'b'), 3);
    EXPECT_INT(bound_in(&s, 'c'), 3);
}

TEST(topology_scoring, services_are_kept_apart_by_rack)
{
    AUTO(stage) s = {0};
    for (uint32_t i = 0; i < 4; i++)
        stage_put(&s, "node %c%u zone=z cpu=8 memory=32Gi " RACK "%c", 'a' + (int)(i / 2), i,
                  'a' + (int)(i / 2));
    for (uint32_t i = 0; i < 2; i++)
        stage_put(
            &s, "pod p%u scheduler=kubenexus-scheduler cpu=100m label:app=web " TYPE "service", i);
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(bound_in(&s, 'a'), 1);
    EXPECT_INT(bound_in(&s, 'b'), 1);
}

/* --- many worlds --- */

enum { NODES_MOST = 64, DOMAINS_MOST = 32 };

/* A workload that a ReplicaSet makes, whose pods say nothing of themselves, on domains of any size,
 * each with some smaller ones, of nodes of any size, among pods of others. */
struct spreading {
    struct stage stage;
    struct rng rng;
    const char *outer, *inner; /* labels; NULL: there are no smaller domains */
    uint32_t nodes;
    uint32_t outer_of[NODES_MOST], inner_of[NODES_MOST], cores[NODES_MOST]; /* that are free */
    uint32_t in_outer[DOMAINS_MOST], in_inner[DOMAINS_MOST];                /* replicas there */
};

static void spreading_done(struct spreading *s)
{
    stage_done(&s->stage);
}

static void add_node(struct spreading *s, uint32_t outer, uint32_t inner)
{
    uint32_t i = s->nodes++;
    char more[80] = "";
    s->outer_of[i] = outer;
    s->inner_of[i] = inner;
    s->cores[i] = 1 + (uint32_t)rng_below(&s->rng, 16);
    if (s->inner)
        snprintf(more, sizeof(more), "label:%s=i%u", s->inner, inner);
    stage_put(&s->stage, "node n%u cpu=%u memory=%uGi label:%s=o%u %s", i, s->cores[i],
              4 + (uint32_t)rng_below(&s->rng, 60), s->outer, outer, more);
}

static void add_nodes(struct spreading *s)
{
    uint32_t inner = 0;
    for (uint64_t outer = 2 + rng_below(&s->rng, 5); outer > 0; outer--)
        for (uint64_t parts = 1 + rng_below(&s->rng, 4); parts > 0; parts--, inner++)
            for (uint64_t n = 1 + rng_below(&s->rng, 4); n > 0 && s->nodes < NODES_MOST; n--)
                add_node(s, (uint32_t)outer, inner);
}

static void add_others(struct spreading *s)
{
    for (uint32_t i = 0; i < s->nodes; i++)
        for (uint64_t n = rng_below(&s->rng, s->cores[i] + 1); n > 0; n--, s->cores[i]--)
            stage_put(&s->stage, "pod other-%u-%u cpu=1 memory=%uMi on=n%u", i, (uint32_t)n,
                      (uint32_t)rng_below(&s->rng, 200), i);
}

/* The fewest replicas in a domain where there is room for another one, within one of the outer
 * domains or all (0); UINT32_MAX: nowhere. */
static uint32_t fewest(const struct spreading *s, const uint32_t *domain_of, const uint32_t *in,
                       uint32_t outer)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < s->nodes; i++)
        if (s->cores[i] && (outer == 0 || s->outer_of[i] == outer))
            least = MIN(least, in[domain_of[i]]);
    return least;
}

static void check_place(struct spreading *s, uint32_t node)
{
    uint32_t *outer = &s->in_outer[s->outer_of[node]], *inner = &s->in_inner[s->inner_of[node]];
    EXPECT_INT(*outer, fewest(s, s->outer_of, s->in_outer, 0));
    if (s->inner)
        EXPECT_INT(*inner, fewest(s, s->inner_of, s->in_inner, s->outer_of[node]));
    ++*outer;
    ++*inner;
    s->cores[node]--;
}

/* False: there was no room, and it was not placed. */
static bool place(struct spreading *s, uint32_t number)
{
    char name[16];
    bool has_room = fewest(s, s->outer_of, s->in_outer, 0) != UINT32_MAX;
    snprintf(name, sizeof(name), "web-%u", number);
    stage_put(&s->stage,
              "pod %s scheduler=kubenexus-scheduler cpu=1 memory=1Mi label:app=web "
              "owner:ReplicaSet=web",
              name);
    stage_run(&s->stage);
    const struct effect *e = stage_effect(&s->stage, name);
    bool is_placed = e && e->kind == EFFECT_BIND;
    EXPECT_INT(is_placed, has_room);
    int64_t node;
    if (is_placed && EXPECT(str_int(str_part(e->node, 1, e->node.n), &node)))
        check_place(s, (uint32_t)node);
    return is_placed;
}

TEST(topology_scoring, replicas_go_where_the_fewest_are_while_there_is_room)
{
    static const char zone[] = "topology.kubernetes.io/zone",
                      rack[] = "network.kubenexus.io/rack-id";
    static const char *const labels[][2] = {
        {"topology.kubernetes.io/region", NULL}, {zone, NULL}, {rack, NULL}, {zone, rack}};
    for (uint64_t world = 0; world < 400; world++) {
        AUTO(spreading)
        s = {.rng = rng_seeded(test_seed() * 1000 + world),
             .outer = labels[world % LEN(labels)][0],
             .inner = labels[world % LEN(labels)][1]};
        test_case("world %llu of seed %llu", (unsigned long long)world,
                  (unsigned long long)test_seed());
        stage_put(&s.stage, "replicaset web app=web");
        add_nodes(&s);
        add_others(&s);
        uint32_t replicas = 1 + (uint32_t)rng_below(&s.rng, 40), placed = 0;
        while (placed < replicas && place(&s, placed))
            placed++;
    }
}
