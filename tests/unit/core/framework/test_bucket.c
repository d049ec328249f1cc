#include "core/framework/bucket.h"

#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

/* Puts a bucket of the zone with so many nodes, the best of which is `best`. */
static uint32_t add(struct judge *j, struct buckets *b, const char *zone, uint32_t nodes,
                    const char *best, int32_t local)
{
    uint32_t key = ground_sym(&j->ground, zone);
    uint32_t i = buckets_get(b, &key);
    if (nodes)
        buckets_wake(b, i);
    b->at.at[i].nodes = nodes;
    b->at.at[i].best = ground_node(&j->ground, best).i;
    b->at.at[i].local = local;
    return i;
}

static struct str winner(struct judge *j, struct decision d)
{
    const struct cluster *c = j->ground.cluster;
    return d.node == ID_NONE ? STR("none") : names_text(&c->names, c->nodes.name[d.node]);
}

static void furnish(struct judge *j)
{
    ground_add(&j->ground, "node a");
    ground_add(&j->ground, "node b");
    ground_add(&j->ground, "pod p");
    j->ground.cluster->nodes.tie_order[ground_node(&j->ground, "a").i] = 2;
    j->ground.cluster->nodes.tie_order[ground_node(&j->ground, "b").i] = 1;
}

TEST(bucket, equal_keys_are_one_bucket)
{
    struct buckets b = {0};
    buckets_reset(&b, 2);
    uint32_t first = buckets_get(&b, (uint32_t[]){1, 2});
    EXPECT(buckets_get(&b, (uint32_t[]){2, 1}) != first);
    EXPECT(buckets_get(&b, (uint32_t[]){1, 3}) != first);
    EXPECT_INT(buckets_get(&b, (uint32_t[]){1, 2}), first);
    EXPECT_INT(b.at.n, 3);
    EXPECT_INT(buckets_key(&b, first)[1], 2);
    buckets_reset(&b, 0); /* a class without keys has one bucket */
    uint32_t none[1] = {7};
    EXPECT_INT(buckets_get(&b, none), 0);
    none[0] = 8;
    EXPECT_INT(buckets_get(&b, none), 0);
    EXPECT_INT(b.at.n, 1);
    buckets_done(&b);
}

TEST(bucket, the_live_ones_are_those_that_woke_and_do_not_rest)
{
    struct buckets b = {0};
    buckets_reset(&b, 1);
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_INT(buckets_get(&b, &i), i);
        buckets_wake(&b, i);
    }
    buckets_rest(&b, 1); /* from the middle, the end, the start */
    buckets_rest(&b, 3);
    buckets_rest(&b, 0);
    EXPECT_INT(b.live.n, 1);
    EXPECT_INT(b.live.at[0], 2);
    buckets_wake(&b, 1);
    EXPECT_INT(b.live.n, 2);
    EXPECT_INT(b.live.at[b.at.at[1].at_live], 1);
    EXPECT_INT(b.live.at[b.at.at[2].at_live], 2);
    buckets_done(&b);
}

TEST(bucket, the_highest_sum_of_shared_and_local_wins)
{
    static const struct {
        const char *zone_a, *zone_b;
        int32_t local_a, local_b;
        const char *winner;
        int64_t total;
    } cases[] = {
        {"10", "20", 0, 0, "b", 300}, /* 3 × 100 for the best zone */
        {"10", "20", 151, 0, "a", 301}, {"10", "20", 150, 0, "b", 300}, /* equal: the lower rank */
        {"20", "10", 0, 150, "b", 300}, {"20", "10", 0, 149, "a", 300}, {"0", "5", 0, -1, "b", 299},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        AUTO(judge) j = {.profile = &fake_profile};
        furnish(&j);
        const struct class *class = judge_class(&j, "p");
        struct buckets b = {0};
        struct decider d = {0};
        buckets_reset(&b, class->n_keys);
        add(&j, &b, cases[i].zone_a, 4, "a", cases[i].local_a);
        add(&j, &b, cases[i].zone_b, 2, "b", cases[i].local_b);
        struct decision decision = buckets_decide(j.ground.cluster, class, &b, &d, false);
        EXPECT_STR(winner(&j, decision), cases[i].winner);
        EXPECT_INT(decision.total, cases[i].total);
        EXPECT_INT(decision.feasible, 6);
        buckets_done(&b);
        decider_done(&d);
    }
}

TEST(bucket, refused_and_empty_buckets_take_no_part_in_anything)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    const struct class *class = judge_class(&j, "p");
    struct buckets b = {0};
    struct decider d = {0};
    buckets_reset(&b, class->n_keys);
    uint32_t closed = add(&j, &b, "closed", 9, "a", 1000);
    add(&j, &b, "50", 0, "a", 2000); /* nobody there: not the most either */
    uint32_t open = add(&j, &b, "10", 2, "b", 0);
    struct decision decision = buckets_decide(j.ground.cluster, class, &b, &d, true);
    EXPECT_STR(winner(&j, decision), "b");
    EXPECT_INT(decision.feasible, 2);
    EXPECT(b.at.at[closed].refused != 0);
    EXPECT_INT(b.at.at[open].shared, 300); /* 10 is the most among feasible nodes */

    buckets_rest(&b, open);
    decision = buckets_decide(j.ground.cluster, class, &b, &d, true);
    EXPECT_INT(decision.node, ID_NONE);
    EXPECT_INT(decision.feasible, 0);
    buckets_done(&b);
    decider_done(&d);
}

TEST(bucket, a_single_bucket_is_scored_only_on_demand)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j);
    const struct class *class = judge_class(&j, "p");
    struct buckets b = {0};
    struct decider d = {0};
    buckets_reset(&b, class->n_keys);
    add(&j, &b, "10", 2, "b", 7);
    EXPECT_INT(buckets_decide(j.ground.cluster, class, &b, &d, false).total, 7);
    EXPECT_INT(buckets_decide(j.ground.cluster, class, &b, &d, true).total, 307);
    buckets_done(&b);
    decider_done(&d);
}
