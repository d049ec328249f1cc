#include "support/test.h"
#include "unit/sim/story.h"

#define NEXUS     "scheduler: kubenexus-scheduler\n"
#define TWO_NODES "nodes: [{name: m, count: 2, cpu: 64, memory: 64Gi, gpus: 8}]\n"

static const int64_t gpu_hour = HOUR;

TEST(works, a_gang_that_starts_pod_by_pod_holds_what_it_has_and_does_nothing)
{
    AUTO(story) s = {0}; /* one of two nodes is taken for an hour; the gang needs both */
    REQUIRE(story_open(&s,
                       TWO_NODES
                       "jobs:\n"
                       "- {name: first, requests: {nvidia.com/gpu: 8}, duration: 1h}\n"
                       "- {name: gang, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 30m, "
                       "gang: {minAvailable: 2}}\n",
                       1));
    story_run_until(&s, 59 * MINUTE);
    EXPECT_TEXT(story_fate(&s, "gang-0.1"), "waits");
    story_run_until(&s, 89 * MINUTE); /* it has begun when both were there */
    EXPECT(str_starts(str_of(story_fate(&s, "gang-0.0")), STR("runs on")));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT_INT(b->end_ms, 90 * MINUTE);
    EXPECT_REAL(b->timeline.at[BOOKS_HELD].total, 8.0 * (double)gpu_hour);
    EXPECT_INT(b->gangs_half, 1);
    EXPECT_INT(b->islands.placed, 1);
}

TEST(works, a_gang_that_starts_whole_holds_nothing_before)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       NEXUS TWO_NODES
                       "jobs:\n"
                       "- {name: first, requests: {nvidia.com/gpu: 8}, duration: 1h}\n"
                       "- {name: gang, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 30m, "
                       "gang: {minAvailable: 2}}\n",
                       1));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT_INT(b->end_ms, 90 * MINUTE);
    EXPECT_REAL(b->timeline.at[BOOKS_HELD].total, 0);
    EXPECT_INT(b->gangs_half, 0);
}

TEST(works, two_gangs_that_each_hold_half_wait_until_the_end)
{
    AUTO(story) s = {0}; /* the node that a lacks goes to b, which lacks the one that a has */
    REQUIRE(story_open(&s,
                       "until: 10h\n" TWO_NODES "jobs:\n"
                       "- {name: first, requests: {nvidia.com/gpu: 8}, duration: 1h}\n"
                       "- {name: a, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 1h, "
                       "gang: {minAvailable: 2}}\n"
                       "- {name: b, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 1h, "
                       "gang: {minAvailable: 2}, priority: 9, arrival: {from: 30m}, "
                       "template: {spec: {preemptionPolicy: Never}}}\n",
                       1));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT_INT(b->classes.at[1].ended + b->classes.at[2].ended, 0);
    EXPECT_INT(b->islands.placed, 0);
    EXPECT_INT(b->gangs_half, 2);
    EXPECT_REAL(b->timeline.at[BOOKS_HELD].total, 8 * (10.0 + 9.0) * (double)gpu_hour);
    EXPECT_INT(b->end_ms, 10 * HOUR);
}

TEST(works, who_is_evicted_begins_anew_and_with_it_its_gang)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       TWO_NODES
                       "jobs:\n"
                       "- {name: gang, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 2h, "
                       "gang: {minAvailable: 2}}\n"
                       "- {name: urgent, requests: {nvidia.com/gpu: 8}, duration: 1h, priority: 9, "
                       "arrival: {from: 30m}}\n",
                       1));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT_INT(b->evicted.pods, 1);
    EXPECT_INT(b->evicted.gangs, 1);
    EXPECT_REAL(b->evicted.work, 16 * 0.5 * (double)gpu_hour); /* both had run for half an hour */
    EXPECT_INT(b->classes.at[0].evicted, 1);
    EXPECT_INT(b->classes.at[0].lost, 0); /* no node failed */
    EXPECT_REAL(b->timeline.at[BOOKS_HELD].total, 8.0 * (double)gpu_hour);
    EXPECT_INT(b->end_ms, 30 * MINUTE + HOUR + 2 * HOUR);
    EXPECT_INT(b->classes.at[0].ended, 2);
}

TEST(works, pods_that_are_no_gang_get_on_alone)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       "nodes: [{name: m, cpu: 64, memory: 64Gi, gpus: 8}]\n"
                       "jobs: [{name: a, pods: 2, requests: {nvidia.com/gpu: 8}, duration: 1h}]\n",
                       1));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT_INT(b->end_ms, 2 * HOUR);
    EXPECT_REAL(b->timeline.at[BOOKS_HELD].total, 0);
    EXPECT_INT(b->islands.gangs, 0);
}

TEST(works, what_a_failed_node_undoes_is_no_eviction)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       "nodes: [{name: m, cpu: 4, memory: 8Gi}]\n"
                       "jobs: [{name: a, requests: {cpu: 4}, duration: 5h}]\n"
                       "faults: {nodeFailures: {meanTimeBetween: 3h, repair: 10m}}\n",
                       3));
    story_run(&s);
    const struct books *b = world_books(s.world);
    EXPECT(b->lost.pods > 0 && b->lost.work > 0);
    EXPECT_INT(b->lost.pods, b->classes.at[0].lost);
    EXPECT_INT(b->evicted.pods, 0);
}
