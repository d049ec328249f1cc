#include "core/plugins/plugins.h"

#include "core/base/rng.h"
#include "core/framework/row.h"
#include "core/plugins/args.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const plugin = &plugin_resource_fragmentation_score;

static const struct gpu_demand demand[] = {
    {.cpu_milli = 1000, .count = 1, .milli = 500, .share = 0.5},
    {.cpu_milli = 1000, .count = 1, .milli = 1000, .share = 0.3},
    {.cpu_milli = 1000, .count = 4, .milli = 1000, .share = 0.2},
};

/* A profile of the one plugin under a policy. */
struct setting {
    struct fragmentation_args args;
    struct profile_plugin list[1];
    struct profile profile;
};

static const struct profile *set(struct setting *s, enum gpu_policy policy)
{
    *s = (struct setting){
        .args = {.policy = policy, .all_pods = true, .demand = {demand, LEN(demand)}}};
    s->list[0] = (struct profile_plugin){plugin, 18, 1, &s->args, 0};
    s->profile = (struct profile){STR("default-scheduler"), s->list, 1};
    return &s->profile;
}

TEST(resource_fragmentation_score, needs_room_on_single_GPUs)
{
    static const struct {
        const char *node, *there, *pod, *verdict;
    } cases[] = {
        {"gpu=2", "note:gpu-fraction=0.6", "note:gpu-fraction=0.5", "fits"},
        {"gpu=1", "note:gpu-fraction=0.5", "note:gpu-fraction=0.5", "fits"},
        {"gpu=1", "note:gpu-fraction=0.6", "note:gpu-fraction=0.5",
         "U ResourceFragmentationScore: node(s) had too little left of their GPUs"},
        {"gpu=2", "note:gpu-fraction=0.1", "gpu=1", "fits"},
        {"gpu=2", "note:gpu-fraction=0.1", "gpu=2",
         "U ResourceFragmentationScore: node(s) had too little left of their GPUs"},
        {"gpu=2", "cpu=0", "gpu=4", "UU ResourceFragmentationScore: node(s) had too few GPUs"},
        {"cpu=1", "cpu=0", "note:gpu-fraction=0.5",
         "UU ResourceFragmentationScore: node(s) had no GPU to share"},
        {"gpu=8 label:nvidia.com/gpu.replicas=4", "cpu=0", "note:gpu-fraction=0.5",
         "UU ResourceFragmentationScore: node(s) had no GPU to share"},
        {"gpu=8 label:nvidia.com/gpu.replicas=4", "cpu=0", "gpu=1", "fits"},
        {"gpu=1", "gpu=1", "cpu=1", "fits"},
        {"gpu=1", "cpu=0", "note:gpu-fraction=2",
         "error: annotation gpu-fraction: \"2\" is not a number above 0 and below 1"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s / %s", cases[i].node, cases[i].there, cases[i].pod);
        struct setting s;
        AUTO(judge) j = {.profile = set(&s, GPU_FGD)};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "pod there %s on=n", cases[i].there);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

/* Worked out by hand from the published formulas. */
TEST(resource_fragmentation_score, scores_as_published)
{
    static const struct {
        enum gpu_policy policy;
        const char *node, *there, *pod;
        int64_t score;
    } cases[] = {
        /* 100 · (1 − ½ · (32 − 4) / 128 − ½ · (4 − 1) / 8) = 70.3 */
        {GPU_BEST_FIT, "cpu=32 gpu=4", "cpu=0", "cpu=4 gpu=1", 70},
        {GPU_BEST_FIT, "cpu=32 gpu=4", "cpu=28 gpu=3", "cpu=4 gpu=1", 100},
        {GPU_BEST_FIT, "cpu=128 gpu=8", "cpu=0", "cpu=0", 0},
        /* 100 · (1 − ½ · (32 · 4 / 128² + 4 · 1 / 8²)) = 96.5 */
        {GPU_DOT_PROD, "cpu=32 gpu=4", "cpu=0", "cpu=4 gpu=1", 96},
        {GPU_DOT_PROD, "cpu=32 gpu=4", "cpu=32 gpu=4", "cpu=0", 100},
        {GPU_PACKING, "cpu=32 gpu=4", "cpu=0", "cpu=4 gpu=1", 29},
        {GPU_PACKING, "cpu=32 gpu=8", "cpu=0", "cpu=4 gpu=1", 25},
        {GPU_PACKING, "cpu=32 gpu=8", "gpu=1", "cpu=4 gpu=1", 49},
        {GPU_PACKING, "cpu=32 gpu=8", "gpu=1", "cpu=4 gpu=4", 46},
        {GPU_PACKING, "cpu=32 gpu=8", "note:gpu-fraction=0.3", "cpu=4 note:gpu-fraction=0.5", 93},
        {GPU_PACKING, "cpu=32 gpu=8", "note:gpu-fraction=0.6", "cpu=4 note:gpu-fraction=0.5", 49},
        {GPU_PACKING, "cpu=32 gpu=8", "gpu=1", "cpu=4", 0},
        /* 25 · (8 − idle) / 8, and 75, 50, 25 or 0 for the company */
        {GPU_CLUSTERING, "cpu=32 gpu=4", "cpu=0", "gpu=1", 37},
        {GPU_CLUSTERING, "cpu=32 gpu=4", "gpu=1", "gpu=1", 90},
        {GPU_CLUSTERING, "cpu=32 gpu=4", "gpu=2", "gpu=1", 18},
        {GPU_CLUSTERING, "cpu=32 gpu=4", "note:gpu-fraction=0.5", "note:gpu-fraction=0.2", 89},
        {GPU_CLUSTERING, "cpu=32 gpu=4", "gpu=1", "cpu=1", 0},
        /* the fragments before are those of a whole, 4 GPUs idle: 0; after, 0.2 · 3000 for the
  * pods that want four: 100 / (1 + e^0.6) = 35.4 */
        {GPU_FGD, "cpu=32 gpu=4", "cpu=0", "gpu=1", 35},
        /* 3000 idle, 0.2 of it a fragment, 600; after 0.2 · 2000: 100 / (1 + e^-0.2) = 54.98 */
        {GPU_FGD, "cpu=32 gpu=4", "gpu=1", "gpu=1", 54},
        /* half a GPU beside half: before 0.3 · 500 + 0.2 · 500, after none: 100 / (1 + e^-0.25) */
        {GPU_FGD, "cpu=32 gpu=1", "note:gpu-fraction=0.5", "note:gpu-fraction=0.5", 56},
        {GPU_FGD, "cpu=32 gpu=4", "cpu=0", "cpu=1", 50},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s: %s / %s / %s", gpu_policy_names[cases[i].policy], cases[i].node,
                  cases[i].there, cases[i].pod);
        struct setting s;
        AUTO(judge) j = {.profile = set(&s, cases[i].policy)};
        ground_add(&j.ground, "node n memory=1Gi %s", cases[i].node);
        ground_add(&j.ground, "pod there %s on=n", cases[i].there);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_INT(judge_score(&j, plugin, "p", "n").raw, cases[i].score);
    }
}

/* The kinds of pods on a node, for the policy that looks at them. */
TEST(resource_fragmentation_score, some_of_ones_kind_are_better_company_than_none)
{
    struct setting s;
    AUTO(judge) j = {.profile = set(&s, GPU_CLUSTERING)};
    ground_add(&j.ground, "node n gpu=8");
    ground_add(&j.ground, "pod a gpu=1 on=n");
    ground_add(&j.ground, "pod b gpu=2 on=n");
    ground_add(&j.ground, "pod p gpu=2");
    EXPECT_INT(judge_score(&j, plugin, "p", "n").raw, 25 * 3 / 8 + 50);
}

static gpu_mask picked(struct judge *j, const char *pod)
{
    const struct class *class = judge_class(j, pod);
    struct cluster *c = j->ground.cluster;
    struct txn t = txn_begin(c);
    row_place(c, class, ground_pod(&j->ground, pod), ground_node(&j->ground, "n"));
    gpu_mask gpus = pods_at(&c->pods, ground_pod(&j->ground, pod))->gpus;
    txn_undo(c, t);
    return gpus;
}

TEST(resource_fragmentation_score, a_policy_chooses_among_a_nodes_GPUs)
{
    static const struct {
        enum gpu_policy policy;
        const char *pod;
        gpu_mask gpus;
    } cases[] = {
        {GPU_BEST_FIT, "note:gpu-fraction=0.3", 1 << 1}, /* least is left */
        {GPU_FGD, "note:gpu-fraction=0.3", 1 << 1},
        {GPU_FGD, "note:gpu-fraction=0.1", 1 << 1},
        {GPU_FGD, "note:gpu-fraction=0.5", 1 << 0}, /* it leaves no fragment there */
        {GPU_BEST_FIT, "gpu=1", 1 << 2},
        {GPU_FGD, "gpu=2", 1 << 2 | 1 << 3},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s: %s", gpu_policy_names[cases[i].policy], cases[i].pod);
        struct setting s;
        AUTO(judge) j = {.profile = set(&s, cases[i].policy)};
        ground_add(&j.ground, "node n cpu=32 gpu=4");
        ground_add(&j.ground, "pod a note:gpu-fraction=0.5 on=n");
        ground_add(&j.ground, "pod b note:gpu-fraction=0.6 on=n");
        ground_add(&j.ground, "pod p cpu=1 %s", cases[i].pod);
        EXPECT_INT(picked(&j, "p"), cases[i].gpus);
    }
}

TEST(resource_fragmentation_score, a_view_says_what_a_scan_says)
{
    static const char *const asks[] = {"gpu=1",
                                       "gpu=2",
                                       "gpu=4",
                                       "cpu=2",
                                       "cpu=1 note:gpu-fraction=0.3",
                                       "cpu=3 note:gpu-fraction=0.5",
                                       "note:gpu-fraction=0.7"};
    for (enum gpu_policy policy = 0; policy < N_GPU_POLICIES; policy++) {
        struct setting s;
        AUTO(judge) j = {.profile = set(&s, policy)};
        struct rng r = {policy + 1};
        for (uint32_t i = 0; i < 12; i++)
            ground_add(&j.ground, "node n%u cpu=%u gpu=%u", i, 8 + 8 * (i % 3), 1u << i % 4);
        for (uint32_t i = 0; i < 120; i++) {
            test_case("%s: pod %u", gpu_policy_names[policy], i);
            char name[16];
            snprintf(name, sizeof(name), "p%u", i);
            ground_add(&j.ground, "pod %s %s", name, asks[rng_below(&r, LEN(asks))]);
            const char *scanned = judge_scan(&j, name), *viewed = judge_view(&j, name);
            if (viewed)
                EXPECT_TEXT(viewed, scanned);
            if (scanned[0])
                row_place(j.ground.cluster, judge_class(&j, name), ground_pod(&j.ground, name),
                          ground_node(&j.ground, scanned));
        }
    }
}

/* --- our own policy, and where nobody says what is asked for --- */

static const struct profile_plugin alone[] = {
    {&plugin_resource_fragmentation_score, 18, 5, NULL, 0}};
static const struct profile by_default = {STR("default-scheduler"), alone, LEN(alone)};

/* What a pod that asks for `ask` GPUs makes of a node with `idle` of `all` idle. */
static int64_t worth(uint32_t ask, uint32_t idle, uint32_t all)
{
    AUTO(judge) j = {.profile = &by_default};
    ground_add(&j.ground, "node n cpu=64 gpu=%u", all);
    for (uint32_t i = 0; i < all - idle; i++)
        ground_add(&j.ground, "pod there%u gpu=1 on=n", i);
    ground_add(&j.ground, "pod p gpu=%u", ask);
    return judge_score(&j, plugin, "p", "n").raw;
}

TEST(resource_fragmentation_score, less_left_is_better_without_a_step)
{
    for (uint32_t ask = 1; ask <= 16; ask++)
        for (uint32_t idle = ask + 1; idle <= 16; idle++) {
            test_case("%u of %u", ask, idle);
            int64_t fewer = worth(ask, idle - 1, 16), more = worth(ask, idle, 16);
            EXPECT(fewer > more || (fewer == more && fewer >= 97)); /* the scale ends there */
            EXPECT(fewer - more <= 4 * (int64_t)ask + 1);           /* as much as what it takes */
        }
}

TEST(resource_fragmentation_score, small_pods_keep_off_clean_islands)
{
    for (uint32_t ask = 1; ask <= 2; ask++) {
        EXPECT(worth(ask, ask, 8) > worth(ask, 4, 8)); /* exact fit, a started island, … */
        EXPECT(worth(ask, 4, 8) > worth(ask, 7, 8));
        EXPECT(worth(ask, 7, 8) > worth(ask, 8, 8)); /* … a clean one */
        EXPECT(worth(ask, 4, 4) > worth(ask, 8, 8)); /* a small one, a large one */
        EXPECT(worth(ask, 8, 8) > worth(ask, 16, 16));
    }
}

TEST(resource_fragmentation_score, what_completes_an_island_goes_there)
{
    static const uint32_t asks[] = {1, 2, 3, 4, 6, 8};
    for (size_t i = 0; i < LEN(asks); i++)
        for (uint32_t idle = asks[i] + 1; idle <= 8; idle++) {
            test_case("%u of %u", asks[i], idle);
            AUTO(judge) j = {.profile = &by_default};
            ground_add(&j.ground, "node exact cpu=64 gpu=8");
            ground_add(&j.ground, "node larger cpu=64 gpu=8");
            if (asks[i] < 8)
                ground_add(&j.ground, "pod a gpu=%u on=exact", 8 - asks[i]);
            if (idle < 8)
                ground_add(&j.ground, "pod b gpu=%u on=larger", 8 - idle);
            ground_add(&j.ground, "pod p gpu=%u", asks[i]);
            EXPECT_TEXT(judge_scan(&j, "p"), "exact");
        }
}

/* --- what is observed --- */

static const struct fragmentation_args observing = {.observes_demand = true};
static const struct profile_plugin watcher[] = {
    {&plugin_resource_fragmentation_score, 18, 5, &observing, 0}};
static const struct profile by_observation = {STR("default-scheduler"), watcher, LEN(watcher)};

static void observe_any(struct cluster *c, struct rng *r, uint32_t largest)
{
    struct gpu_mix mix = {.largest = largest};
    double all = 0;
    for (uint32_t i = 1; i <= largest; i++)
        all += mix.of[i] = rng_below(r, 3) ? 0 : 1 + (double)rng_below(r, 100);
    all += mix.of[largest] += all == 0;
    for (uint32_t i = 1; i <= largest; i++)
        mix.of[i] /= all;
    c->demand.mix = mix;
    c->demand.generation++;
}

enum { ISLAND = 16 };

/* Exact fit, then more and more left of started islands; clean ones, the smaller the better. */
TEST(resource_fragmentation_score, less_left_is_never_worse_whatever_is_observed)
{
    struct rng r = rng_seeded(test_seed());
    AUTO(judge) j = {.profile = &by_observation};
    for (uint32_t idle = 1; idle <= ISLAND; idle++) {
        ground_add(&j.ground, "node started%u cpu=64 gpu=%d", idle, ISLAND);
        ground_add(&j.ground, "node clean%u cpu=64 gpu=%u", idle, idle);
        if (idle < ISLAND)
            ground_add(&j.ground, "pod there%u gpu=%u on=started%u", idle, ISLAND - idle, idle);
        ground_add(&j.ground, "pod ask%u gpu=%u", idle, idle);
    }
    for (uint32_t round = 0; round < 40; round++) {
        observe_any(j.ground.cluster, &r, ISLAND);
        for (uint32_t ask = 1; ask <= ISLAND; ask++) {
            int64_t before[2] = {100, 100};
            for (uint32_t idle = ask; idle <= ISLAND; idle++) {
                char pod[16], nodes[2][16];
                snprintf(pod, sizeof(pod), "ask%u", ask);
                snprintf(nodes[0], sizeof(nodes[0]), "started%u", idle);
                snprintf(nodes[1], sizeof(nodes[1]), "clean%u", idle);
                for (uint32_t i = 0; i < 2; i++) {
                    int64_t now = judge_score(&j, plugin, pod, nodes[i]).raw;
                    test_case("round %u: %s on %s", round, pod, nodes[i]);
                    EXPECT(now <= before[i]);
                    before[i] = now;
                }
            }
        }
    }
}

TEST(resource_fragmentation_score, pods_for_whole_islands_keep_them_clean)
{
    AUTO(judge) j = {.profile = &by_observation};
    ground_add(&j.ground, "node clean cpu=64 gpu=8");
    ground_add(&j.ground, "node started cpu=64 gpu=8");
    ground_add(&j.ground, "pod there gpu=1 on=started");
    ground_add(&j.ground, "pod p gpu=1");
    struct demand *d = &ground_cluster(&j.ground)->demand;
    d->mix = (struct gpu_mix){.largest = 8, .of = {[8] = 1}};
    d->generation++;
    int64_t spared = judge_score(&j, plugin, "p", "clean").raw;
    EXPECT(judge_score(&j, plugin, "p", "started").raw - spared > 50);
    d->mix = (struct gpu_mix){.largest = 8, .of = {[1] = 1}}; /* nobody minds now */
    d->generation++;
    EXPECT(judge_score(&j, plugin, "p", "clean").raw - spared > 40);
}

TEST(resource_fragmentation_score, what_is_observed_changes_and_a_view_says_what_a_scan_says)
{
    struct rng r = rng_seeded(test_seed());
    AUTO(judge) j = {.profile = &by_observation};
    for (uint32_t i = 0; i < 12; i++)
        ground_add(&j.ground, "node n%u cpu=64 gpu=8", i);
    for (uint32_t i = 0; i < 80; i++) {
        char name[8];
        test_case("pod %u", i);
        snprintf(name, sizeof(name), "p%u", i);
        ground_add(&j.ground, "pod %s gpu=%u", name, 1u << rng_below(&r, 3));
        if (rng_below(&r, 4) == 0)
            observe_any(j.ground.cluster, &r, 8);
        const char *scanned = judge_scan(&j, name), *viewed = judge_view(&j, name);
        if (viewed)
            EXPECT_TEXT(viewed, scanned);
        if (scanned[0])
            row_place(j.ground.cluster, judge_class(&j, name), ground_pod(&j.ground, name),
                      ground_node(&j.ground, scanned));
    }
}

#define SPLIT                                                                                      \
    "label:gpu.kubenexus.io/topology=pcie label:gpu.kubenexus.io/numa-node-0=0 "                   \
    "label:gpu.kubenexus.io/numa-node-1=0 label:gpu.kubenexus.io/numa-node-2=1 "                   \
    "label:gpu.kubenexus.io/numa-node-3=1"

TEST(resource_fragmentation_score, two_islands_of_two_are_no_island_of_four)
{
    AUTO(judge) j = {.profile = &by_default};
    ground_add(&j.ground, "node split cpu=64 gpu=4 " SPLIT);
    ground_add(&j.ground, "node whole cpu=64 gpu=4 label:gpu.kubenexus.io/topology=nvswitch");
    ground_add(&j.ground, "pod four gpu=4");
    ground_add(&j.ground, "pod two gpu=2");
    EXPECT_TEXT(judge_scan(&j, "four"), "whole");
    EXPECT_INT(judge_score(&j, plugin, "four", "split").raw, 0); /* but it may go there */
    EXPECT_TEXT(judge_scan(&j, "two"), "split");
}

TEST(resource_fragmentation_score, a_pod_gets_its_GPUs_in_one_island)
{
    AUTO(judge) j = {.profile = &by_default};
    ground_add(&j.ground, "node n cpu=64 gpu=4 " SPLIT);
    ground_add(&j.ground, "pod there gpu=1 on=n");
    ground_add(&j.ground, "pod one gpu=1");
    ground_add(&j.ground, "pod two gpu=2");
    ground_add(&j.ground, "pod three gpu=3");
    EXPECT_INT(picked(&j, "one"), 1 << 1);
    EXPECT_INT(picked(&j, "two"), 1 << 2 | 1 << 3);
    EXPECT_INT(picked(&j, "three"), 1 << 1 | 1 << 2 | 1 << 3);
}

/* --- cliques --- */

enum { NODE_GPUS = 4, MOST_NODES = 18 };

/* A clique of whole nodes, the first of which are in use until so many GPUs are left. */
static void put_clique(struct judge *j, char name, uint32_t nodes, uint32_t idle)
{
    uint32_t used = nodes * NODE_GPUS - idle;
    for (uint32_t i = 0; i < nodes; i++) {
        ground_add(&j->ground, "node %c%u cpu=64 gpu=%d label:nvidia.com/gpu.clique=%c", name, i,
                   NODE_GPUS, name);
        for (uint32_t k = 0; k < NODE_GPUS && used; k++, used--)
            ground_add(&j->ground, "pod %c%u-%u gpu=1 on=%c%u", name, i, k, name, i);
    }
}

/* What a pod makes of a clean node of a clique with so many idle GPUs, beside a clean one. */
static int64_t worth_in_clique(uint32_t ask, uint32_t nodes, uint32_t idle)
{
    AUTO(judge) j = {.profile = &by_default};
    char last[8];
    put_clique(&j, 'a', nodes, idle);
    put_clique(&j, 'z', MOST_NODES, MOST_NODES * NODE_GPUS);
    ground_add(&j.ground, "pod p gpu=%u", ask);
    snprintf(last, sizeof(last), "a%u", nodes - 1);
    return judge_score(&j, plugin, "p", last).raw;
}

TEST(resource_fragmentation_score, less_left_of_a_clique_is_better_without_a_step)
{
    for (uint32_t ask = 1; ask <= NODE_GPUS; ask++) {
        int64_t before = worth_in_clique(ask, MOST_NODES, NODE_GPUS), first = before;
        for (uint32_t idle = NODE_GPUS + 1; idle <= MOST_NODES * NODE_GPUS; idle++) {
            test_case("%u of %u", ask, idle);
            int64_t more = worth_in_clique(ask, MOST_NODES, idle);
            EXPECT(more <= before && before - more <= 1);
            before = more;
        }
        EXPECT(first - before >= 20);
    }
}

TEST(resource_fragmentation_score, small_pods_keep_off_clean_cliques)
{
    for (uint32_t ask = 1; ask <= NODE_GPUS; ask++) {
        test_case("%u", ask);
        int64_t exact = worth_in_clique(ask, MOST_NODES, NODE_GPUS);
        int64_t started = worth_in_clique(ask, MOST_NODES, 40);
        int64_t small = worth_in_clique(ask, 12, 48), large = worth_in_clique(ask, 18, 72);
        EXPECT(exact > started && started > small && small > large);
    }
}

TEST(resource_fragmentation_score, a_node_in_no_clique_is_an_island_of_its_own)
{
    AUTO(judge) j = {.profile = &by_default};
    put_clique(&j, 'a', 4, 16);
    ground_add(&j.ground, "node lone cpu=64 gpu=4");
    ground_add(&j.ground, "pod p gpu=4");
    ground_add(&j.ground, "pod q gpu=1");
    EXPECT_TEXT(judge_scan(&j, "p"), "lone"); /* where it is an exact fit */
    EXPECT_TEXT(judge_scan(&j, "q"), "lone");
    put_clique(&j, 'b', 4, 4);
    EXPECT_TEXT(judge_scan(&j, "q"), judge_scan(&j, "p")); /* neither rather than the other */
}

TEST(resource_fragmentation_score, a_pod_still_gets_a_clean_clique_if_nothing_else_is_left)
{
    AUTO(judge) j = {.profile = &by_default};
    put_clique(&j, 'a', 2, 8);
    ground_add(&j.ground, "pod p gpu=1");
    EXPECT(judge_scan(&j, "p")[0] == 'a');
}

TEST(resource_fragmentation_score, is_as_ever_where_there_are_no_cliques)
{
    int64_t without = worth(2, 4, 8);
    AUTO(judge) j = {.profile = &by_default};
    ground_add(&j.ground, "node n cpu=64 gpu=8");
    ground_add(&j.ground, "node other cpu=64 gpu=8 label:nvidia.com/gpu.clique=c");
    ground_add(&j.ground, "node other cpu=64 gpu=8"); /* it was in one */
    for (uint32_t i = 0; i < 4; i++)
        ground_add(&j.ground, "pod there%u gpu=1 on=n", i);
    ground_add(&j.ground, "pod p gpu=2");
    EXPECT_INT(judge_score(&j, plugin, "p", "n").raw, without);
    EXPECT_INT(judge_class(&j, "p")->n_keys, 0);
}

TEST(resource_fragmentation_score, of_cliques_a_view_says_what_a_scan_says)
{
    struct rng rng = rng_seeded(test_seed());
    AUTO(judge) j = {.profile = &by_default};
    for (char name = 'a'; name < 'e'; name++)
        put_clique(&j, name, 5, 20);
    for (uint32_t i = 0; i < 4; i++)
        ground_add(&j.ground, "node lone%u cpu=64 gpu=8", i);
    for (uint32_t i = 0; i < 60; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%u", i);
        ground_add(&j.ground, "pod %s gpu=%u", name, 1 + (uint32_t)rng_below(&rng, NODE_GPUS));
        const char *scanned = judge_scan(&j, name), *viewed = judge_view(&j, name);
        if (viewed)
            EXPECT_TEXT(viewed, scanned);
        if (scanned[0])
            row_place(j.ground.cluster, judge_class(&j, name), ground_pod(&j.ground, name),
                      ground_node(&j.ground, scanned));
    }
}

TEST(resource_fragmentation_score, has_nothing_to_say_about_pods_without_GPUs)
{
    AUTO(judge) j = {.profile = &by_default};
    ground_add(&j.ground, "node n cpu=64 gpu=8");
    ground_add(&j.ground, "pod p cpu=1");
    EXPECT_INT(judge_class(&j, "p")->n_parts, 0);
}

TEST(resource_fragmentation_score, shares_by_memory_need_GPUs_whose_memory_is_known)
{
    static const struct {
        const char *pod, *node, *verdict;
    } cases[] = {
        {"note:gpu-memory=40960", "gpu=1 label:gpu.kubenexus.io/vram=80Gi", "fits"},
        {"note:gpu-memory=90000", "gpu=1 label:gpu.kubenexus.io/vram=80Gi",
         "UU ResourceFragmentationScore: node(s) had no GPUs of as much memory"},
        {"note:gpu-memory=40960", "gpu=1",
         "UU ResourceFragmentationScore: node(s) had no GPUs of as much memory"},
        {"note:gpu-memory=40960", "cpu=8",
         "UU ResourceFragmentationScore: node(s) had no GPU to share"},
    };
    struct setting setting;
    const struct profile *snug = set(&setting, GPU_SNUG);
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(judge) j = {.profile = snug};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        test_case("%s on %s", cases[i].pod, cases[i].node);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
    AUTO(judge) j = {.profile = snug};
    ground_add(&j.ground, "node n gpu=1 label:gpu.kubenexus.io/vram=80Gi");
    ground_add(&j.ground, "pod there note:gpu-memory=40961 on=n");
    ground_add(&j.ground, "pod p note:gpu-memory=40960");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "U ResourceFragmentationScore: node(s) had too little left of their GPUs");
}
