#include "support/test.h"
#include "unit/sim/story.h"

#define NEXUS "scheduler: kubenexus-scheduler\n"

TEST(islands, whole_ones_fragments_and_idle_gpus_are_means_over_time)
{
    AUTO(story) s = {0}; /* one GPU of eight for half of the time; all pods but it want eight */
    REQUIRE(story_open(&s,
                       "until: 2h\n"
                       "nodes: [{name: m, cpu: 64, memory: 64Gi, gpus: 8}]\n"
                       "jobs:\n"
                       "- {name: small, requests: {nvidia.com/gpu: 1}, duration: 1h}\n"
                       "- {name: large, requests: {nvidia.com/gpu: 8}, duration: 1h, "
                       "arrival: {from: 119m}}\n",
                       1));
    story_run(&s);
    AUTO(summary) x = {0};
    summary_init(&x, world_books(s.world), world_engine_stats(s.world));
    const struct islands *is = &world_books(s.world)->islands;
    EXPECT_INT(is->n, 1);
    EXPECT_INT((int64_t)(is->whole.total / MINUTE), 59);
    EXPECT_INT((int64_t)(is->idle.total / MINUTE), 7 * 60 + 8 * 59);
    EXPECT_INT((int64_t)(is->fragments.total / MINUTE), 7 * 60 / 2); /* for every other pod */
    EXPECT(x.islands.whole > 0.49 && x.islands.whole < 0.5);
}

TEST(islands, whole_cliques_are_counted_apart)
{
    AUTO(story) s = {0}; /* small pods in one of two racks at first, then nobody, then in both */
    REQUIRE(story_open(&s,
                       NEXUS
                       "until: 3h\n"
                       "nodes: [{name: m, count: 36, shape: gb200-nvl72}]\n"
                       "jobs:\n"
                       "- {name: small, pods: 6, requests: {nvidia.com/gpu: 1}, duration: 1h}\n"
                       "- {name: large, pods: 19, requests: {nvidia.com/gpu: 4}, duration: 2h, "
                       "arrival: {from: 2h}}\n",
                       1));
    story_run(&s);
    AUTO(summary) x = {0};
    summary_init(&x, world_books(s.world), world_engine_stats(s.world));
    const struct islands *is = &world_books(s.world)->islands;
    EXPECT_INT(is->n, 36);
    EXPECT_INT(is->cliques.n, 2);
    EXPECT_INT((int64_t)(is->whole_cliques.total / MINUTE), 60 + 2 * 60);
    EXPECT(x.islands.whole_cliques > 0.99 && x.islands.whole_cliques < 1.01);
}

TEST(islands, a_job_has_waited_when_its_last_pod_runs_or_the_end_comes)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       NEXUS
                       "until: 30m\n"
                       "nodes: [{name: m, count: 2, cpu: 64, memory: 64Gi, gpus: 8}]\n"
                       "jobs:\n"
                       "- {name: one, requests: {nvidia.com/gpu: 1}, duration: 10m}\n"
                       "- {name: two, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 1h, "
                       "gang: {minAvailable: 2}}\n"
                       "- {name: never, requests: {nvidia.com/gpu: 8}, arrival: {from: 20m}}\n",
                       1));
    story_run_until(&s, 5 * MINUTE); /* all or none */
    EXPECT_TEXT(story_fate(&s, "two-0.0"), "waits");
    EXPECT_TEXT(story_fate(&s, "two-0.1"), "waits");
    story_run(&s);
    const struct islands *is = &world_books(s.world)->islands;
    REQUIRE(is->waits[1].waits_ms.n == 1 && is->waits[4].waits_ms.n == 1);
    EXPECT_INT(is->waits[1].waits_ms.at[0], 0);
    EXPECT_INT(is->waits[4].waits_ms.at[0], 10 * MINUTE); /* never: until the end */
    REQUIRE(is->waits[5].waits_ms.n == 1);
    EXPECT_INT(is->waits[5].waits_ms.at[0], 10 * MINUTE);
    EXPECT_INT(is->gangs, 1);
    EXPECT_TEXT(islands_size_name(5), "16-31");
}

TEST(islands, gangs_in_several_racks_are_counted_with_their_hops)
{
    AUTO(story) s = {0}; /* four nodes' worth of pods in racks of two: ranks 1 and 2 are apart */
    REQUIRE(story_open(&s,
                       NEXUS
                       "nodes: [{name: m, count: 4, cpu: 64, memory: 64Gi, gpus: 8, "
                       "racks: {size: 2}}]\n"
                       "jobs: [{name: a, pods: 4, requests: {nvidia.com/gpu: 8}, duration: 1h, "
                       "gang: {minAvailable: 4}}]\n",
                       1));
    story_run(&s);
    const struct islands *is = &world_books(s.world)->islands;
    EXPECT_INT(is->gangs, 1);
    EXPECT_INT(is->apart, 1);
    EXPECT_INT(is->racks, 2);
    EXPECT_INT(is->hops, 1);
}

TEST(islands, a_pod_is_local_where_one_numa_node_has_room_for_it)
{
    AUTO(story) s = {0}; /* 3 + 3 GPUs leave 1 + 1: the next two are taken from both */
    REQUIRE(story_open(
        &s,
        "nodes: [{name: m, shape: hgx-h100}]\n"
        "jobs:\n"
        "- {name: a, arrival: {count: 2}, requests: {nvidia.com/gpu: 3}, duration: 1h}\n"
        "- {name: b, requests: {nvidia.com/gpu: 2}, duration: 1h, arrival: {from: 1m}}\n"
        "- {name: c, requests: {nvidia.com/gpu: 8}, duration: 1h, arrival: {from: 2h}}\n",
        1));
    story_run(&s);
    const struct islands *is = &world_books(s.world)->islands;
    EXPECT_INT(is->numa_pods, 3); /* eight are too many for any NUMA node */
    EXPECT_INT(is->numa_local, 2);
    EXPECT_INT(is->nodes.at[0].left[0].gpus, 4); /* all is given back */
    EXPECT_INT(is->nodes.at[0].left[1].gpus, 4);
}
