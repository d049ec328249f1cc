#include "support/test.h"
#include "unit/sim/story.h"

#define ONE_NODE "nodes: [{name: m, cpu: 4, memory: 8Gi}]\n"

TEST(world, a_pod_waits_for_room_and_starts_when_another_ends)
{
    AUTO(story) s = {0}; /* given a full node */
    REQUIRE(story_open(&s,
                       ONE_NODE
                       "jobs:\n"
                       "- {name: a, requests: {cpu: 4}, duration: 10m}\n"
                       "- {name: b, requests: {cpu: 4}, duration: 10m, arrival: {from: 1m}}\n",
                       1));
    story_run_until(&s, 2 * MINUTE);
    EXPECT_TEXT(story_fate(&s, "a-0"), "runs on m-0");
    EXPECT_TEXT(story_fate(&s, "b-0"), "waits");

    story_run_until(&s, 10 * MINUTE); /* when its pod ends, then there is room */
    EXPECT_TEXT(story_fate(&s, "a-0"), "ended");
    EXPECT_TEXT(story_fate(&s, "b-0"), "runs on m-0");

    story_run(&s);
    const struct books *books = world_books(s.world);
    EXPECT_INT(books->end_ms, 20 * MINUTE);
    REQUIRE(books->classes.at[1].waits_ms.n == 1);
    EXPECT_INT(books->classes.at[1].waits_ms.at[0], 9 * MINUTE);
}

TEST(world, of_two_that_wait_the_higher_priority_goes_first)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(
        &s,
        ONE_NODE
        "jobs:\n"
        "- {name: first, requests: {cpu: 4}, duration: 10m}\n"
        "- {name: low, requests: {cpu: 4}, duration: 10m, arrival: {from: 1m}}\n"
        "- {name: high, requests: {cpu: 4}, duration: 10m, priority: 5, arrival: {from: 2m}}\n",
        1));
    story_run_until(&s, 10 * MINUTE);
    EXPECT_TEXT(story_fate(&s, "high-0"), "runs on m-0");
    EXPECT_TEXT(story_fate(&s, "low-0"), "waits");
    story_run_until(&s, 20 * MINUTE);
    EXPECT_TEXT(story_fate(&s, "low-0"), "runs on m-0");
}

TEST(world, a_binding_that_fails_is_tried_again)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       "nodes: [{name: m, count: 3, cpu: 64, memory: 64Gi}]\n"
                       "jobs: [{name: a, arrival: {count: 40}, requests: {cpu: 1}, duration: 1h}]\n"
                       "faults: {bindFailures: 0.5}\n",
                       1));
    story_run(&s);
    const struct books *books = world_books(s.world);
    EXPECT(books->bind_faults > 10);
    EXPECT_INT(books->classes.at[0].bound, 40);
    EXPECT_INT(books->classes.at[0].ended, 40);
    EXPECT(books->end_ms > HOUR); /* those that failed came later */
}

TEST(world, pods_of_a_node_that_fails_begin_anew)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       ONE_NODE "jobs: [{name: a, requests: {cpu: 4}, duration: 5h}]\n"
                                "faults: {nodeFailures: {meanTimeBetween: 3h, repair: 10m}}\n",
                       3));
    story_run(&s);
    const struct books *books = world_books(s.world);
    const struct class_books *a = &books->classes.at[0];
    EXPECT(books->node_faults > 0);
    EXPECT_INT(a->lost, a->created - 1);
    EXPECT(a->lost > 0);
    EXPECT_INT(a->ended, 1);
    EXPECT(books->end_ms >= 5 * HOUR + 10 * MINUTE);
    EXPECT_TEXT(story_fate(&s, "a-0"), "ended");
}

TEST(world, a_pod_that_fits_nowhere_stays_pending_and_the_run_ends)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s, ONE_NODE "jobs: [{name: big, requests: {cpu: 5}}]\n", 1));
    story_run(&s);
    const struct books *books = world_books(s.world);
    EXPECT_INT(books->classes.at[0].waiting, 1);
    EXPECT_INT(books->end_ms, 0);
    REQUIRE(books->complaints.n == 1);
    EXPECT(str_starts(books->complaints.at[0].text,
                      STR("0/1 nodes are available: 1 Insufficient cpu.")));
}

TEST(world, pods_that_nobody_decides_about_are_told_of_too)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       ONE_NODE
                       "jobs:\n"
                       "- {name: a, template: {spec: {schedulerName: elsewhere}}}\n"
                       "- {name: b, pods: 2, template: {spec: {schedulingGates: [{name: x}]}}}\n",
                       1));
    story_run(&s);
    const struct books *books = world_books(s.world);
    REQUIRE(books->complaints.n == 2);
    EXPECT_STR(books->complaints.at[0].text, "waits for its scheduling gates");
    EXPECT_INT(books->complaints.at[0].pods, 2);
    EXPECT_STR(books->complaints.at[1].text,
               "names the scheduler elsewhere, which nobody serves here");
}

TEST(world, a_pod_that_cannot_be_judged_has_failed)
{
    AUTO(story) s = {0};
    AUTO(buf) text = {0};
    buf_printf(&text, ONE_NODE "jobs: [{name: a, requests: {e/0: 1");
    for (int i = 1; i < 61; i++)
        buf_printf(&text, ", e/%d: 1", i);
    buf_printf(&text, "}}]\n");
    buf_add_char(&text, 0);
    REQUIRE(story_open(&s, text.p, 1));
    story_run(&s);
    const struct books *books = world_books(s.world);
    EXPECT_INT(books->classes.at[0].failed, 1);
    EXPECT_INT(books->classes.at[0].waiting, 0);
    REQUIRE(books->complaints.n == 1);
    EXPECT(str_starts(books->complaints.at[0].text, STR("asks for 63 kinds of resources")));
}

TEST(world, books_know_how_much_was_in_use_where_and_by_whom)
{
    AUTO(story) s = {0};
    REQUIRE(
        story_open(&s,
                   "nodes: [{name: g, count: 4, cpu: 8, memory: 8Gi, gpus: 2, racks: {size: 2}}]\n"
                   "jobs:\n"
                   "- {name: a, pods: 4, requests: {cpu: 1, nvidia.com/gpu: 2}, duration: 30m}\n"
                   "- {name: b, requests: {cpu: 8}, duration: 30m, arrival: {from: 30m}}\n",
                   1));
    story_run(&s);
    const struct books *b = world_books(s.world);
    const struct timeline *t = &b->timeline;
    EXPECT_STR(s.plan.watched, "nvidia.com/gpu");
    EXPECT_INT(s.plan.groups.n, 2);
    EXPECT_INT(t->at[books_used(b, b->watched)].peak, 8);
    EXPECT_INT(t->at[books_used(b, b->watched)].total, 8.0 * 30 * MINUTE);
    EXPECT_INT(t->at[books_room(b, b->watched)].total, 8.0 * HOUR);
    EXPECT_INT(t->at[books_group_used(b, 1)].peak, 4);
    EXPECT_INT(t->at[books_class_used(b, 0)].peak, 8);
    EXPECT_INT(t->at[books_class_used(b, 1)].peak, 0);
    EXPECT_INT(t->at[books_used(b, 0)].total, (4000.0 + 8000.0) * 30 * MINUTE); /* milli-CPU */
}

TEST(world, nodes_with_a_tie_order_are_taken_in_it)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s,
                       "nodes:\n"
                       "- {name: a, cpu: 8, memory: 8Gi, rank: 30}\n"
                       "- {name: b, cpu: 8, memory: 8Gi, rank: 10}\n"
                       "- {name: c, cpu: 8, memory: 8Gi, rank: 20}\n"
                       "jobs: [{name: p, arrival: {count: 3}, requests: {cpu: 1}}]\n",
                       1));
    story_run(&s);
    EXPECT_TEXT(story_fate(&s, "p-0"), "runs on b-0");
    EXPECT_TEXT(story_fate(&s, "p-1"), "runs on c-0");
    EXPECT_TEXT(story_fate(&s, "p-2"), "runs on a-0");
}

TEST(world, what_runs_for_ever_runs_until_the_end)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s, ONE_NODE "until: 2h\njobs: [{name: a, requests: {cpu: 2}}]\n", 1));
    story_run(&s);
    EXPECT_TEXT(story_fate(&s, "a-0"), "runs on m-0");
    EXPECT_INT(world_books(s.world)->end_ms, 2 * HOUR);
    EXPECT_INT(world_books(s.world)->timeline.at[BOOKS_RUNNING].total, 2 * HOUR);
}

TEST(world, what_comes_after_the_end_does_not_come)
{
    AUTO(story) s = {0};
    REQUIRE(
        story_open(&s, ONE_NODE "until: 2h\njobs: [{name: a, arrival: {at: [1h, 2h, 3h]}}]\n", 1));
    story_run(&s);
    EXPECT_INT(world_books(s.world)->classes.at[0].created, 1);
    EXPECT_TEXT(story_fate(&s, "a-1"), "never came");
}

/* Property: however crowded, no moment goes on for ever; world_turn() asserts it. */
TEST(world, evictions_come_to_an_end_at_each_moment)
{
    static const char *const schedulers[] = {"default-scheduler", "kubenexus-scheduler"};
    uint64_t evicted = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "until: 6h\n"
                 "scheduler: %s\n"
                 "nodes: [{name: m, count: 6, cpu: 64, memory: 512Gi, gpus: 8}]\n"
                 "jobs:\n"
                 "- {name: a, arrival: {rate: 60/h}, requests: {cpu: 1, nvidia.com/gpu: 1},"
                 " duration: 40m}\n"
                 "- {name: b, arrival: {rate: 20/h}, requests: {cpu: 4, nvidia.com/gpu: 4},"
                 " duration: 1h, priority: 5}\n"
                 "- {name: c, arrival: {rate: 6/h}, pods: 3, gang: {minAvailable: 3},"
                 " requests: {cpu: 4, nvidia.com/gpu: 5}, duration: 1h, priority: 9}\n"
                 "- {name: d, arrival: {rate: 3/h}, pods: 4, gang: {minAvailable: 2},"
                 " requests: {cpu: 8, nvidia.com/gpu: 8}, duration: 30m, priority: 7}\n",
                 schedulers[seed % 2]);
        AUTO(story) s = {0};
        REQUIRE(story_open(&s, text, seed));
        story_run(&s);
        const struct books *books = world_books(s.world);
        for (uint32_t i = 0; i < books->classes.n; i++)
            evicted += books->classes.at[i].evicted;
    }
    EXPECT(evicted > 100);
}
