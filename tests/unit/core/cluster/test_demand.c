#include "core/cluster/demand.h"

#include "core/cluster/cluster.h"
#include "support/ground.h"
#include "support/test.h"

static const struct gpu_ask one = {.count = 1, .milli = GPU_WHOLE};
static const struct gpu_ask eight = {.count = 8, .milli = GPU_WHOLE};

/* A cluster whose demand is watched, and whose largest island has so many GPUs. */
static struct demand *watched(struct ground *g, uint32_t gpus)
{
    struct cluster *c = ground_cluster(g);
    ground_add(g, "node n cpu=64 gpu=%u", gpus);
    demand_watch(&c->demand, true);
    return &c->demand;
}

/* The parts of what was asked for so far, without what is taken for granted at first; GPUs. */
static double asked(const struct demand *d, uint32_t size, double all)
{
    uint32_t largest = d->mix.largest;
    double first = size < largest ? 1 : GPU_SIZES_USUAL - largest + 1.0;
    return d->mix.of[size] * (all + DEMAND_FIRST * GPU_SIZES_USUAL) - first * DEMAND_FIRST;
}

static bool is_near(double a, double b)
{
    return a > b - 1e-6 && a < b + 1e-6;
}

TEST(demand, is_any_number_alike_before_anybody_asks)
{
    AUTO(ground) g = {0};
    struct demand *d = watched(&g, 16);
    struct gpu_mix first = d->mix;
    uint64_t generation = d->generation;
    demand_review(g.cluster, 1000);
    EXPECT_INT(d->generation, generation);
    for (uint32_t i = 1; i <= 16; i++)
        EXPECT(is_near(d->mix.of[i], 1.0 / 16) && is_near(first.of[i], 1.0 / 16));
}

TEST(demand, counts_who_waits_by_the_GPUs_they_ask_for)
{
    AUTO(ground) g = {0};
    struct demand *d = watched(&g, 8);
    for (uint32_t i = 0; i < 10; i++)
        ground_add(&g, "pod a%u gpu=4", i);
    ground_add(&g, "pod share note:gpu-fraction=0.5");
    ground_add(&g, "pod there gpu=2 on=n");
    ground_add(&g, "pod plain cpu=1");
    g.cluster->kueue.sizes[6] = 3; /* Workloads of Kueue's */
    demand_review(g.cluster, 1000);
    double all = 40 + 0.5 + 18;
    EXPECT(is_near(asked(d, 4, all), 40));
    EXPECT(is_near(asked(d, 1, all), 0.5));
    EXPECT(is_near(asked(d, 2, all), 0));
    EXPECT(is_near(asked(d, 6, all), 18));
}

TEST(demand, of_who_was_placed_is_half_as_much_after_the_half_life)
{
    AUTO(ground) g = {0};
    struct demand *d = watched(&g, 8);
    demand_review(g.cluster, 0);
    for (uint32_t i = 0; i < 20; i++)
        demand_note(d, eight);
    demand_review(g.cluster, DEMAND_REVIEW_MS);
    double left = d->recent[8];
    EXPECT(left > 159e3 && left <= 160e3);
    demand_review(g.cluster, DEMAND_REVIEW_MS + DEMAND_HALF_LIFE_MS);
    EXPECT(is_near(d->recent[8], left / 2));
    EXPECT(is_near(asked(d, 8, left / 2000), left / 2000));
}

TEST(demand, is_another_mix_only_if_much_has_moved)
{
    AUTO(ground) g = {0};
    struct demand *d = watched(&g, 8);
    demand_review(g.cluster, 0);
    uint64_t generation = d->generation;
    struct gpu_mix mix = d->mix;
    demand_note(d, one);
    demand_review(g.cluster, DEMAND_REVIEW_MS);
    EXPECT_INT(d->generation, generation);
    EXPECT(memcmp(&mix, &d->mix, sizeof(mix)) == 0);
    for (uint32_t i = 0; i < 10; i++)
        demand_note(d, one);
    demand_review(g.cluster, 2 * DEMAND_REVIEW_MS); /* the small steps add up */
    EXPECT_INT(d->generation, generation + 1);
    ground_add(&g, "node larger cpu=64 gpu=16");
    demand_review(g.cluster, 3 * DEMAND_REVIEW_MS);
    EXPECT_INT(d->generation, generation + 2);
    EXPECT_INT(d->mix.largest, 16);
}

TEST(demand, is_reviewed_once_in_a_while_if_anybody_watches)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    demand_note(&c->demand, eight);
    EXPECT(!demand_is_due(&c->demand, 1000) && c->demand.recent[8] == 0);
    demand_watch(&c->demand, true);
    EXPECT(demand_is_due(&c->demand, 1000));
    demand_note(&c->demand, eight);
    demand_review(c, 1000);
    EXPECT(!demand_is_due(&c->demand, 1000 + DEMAND_REVIEW_MS - 1));
    EXPECT(demand_is_due(&c->demand, 1000 + DEMAND_REVIEW_MS));
    demand_watch(&c->demand, true); /* still */
    EXPECT(c->demand.recent[8] > 0);
    uint64_t generation = c->demand.generation;
    demand_watch(&c->demand, false);
    EXPECT(c->demand.recent[8] == 0 && c->demand.generation > generation);
}

TEST(demand, beyond_the_largest_island_is_demand_for_all_of_it)
{
    AUTO(ground) g = {0};
    struct demand *d = watched(&g, 4);
    for (uint32_t i = 0; i < 10; i++)
        demand_note(d, eight);
    demand_review(g.cluster, 0);
    EXPECT_INT(d->mix.largest, 4);
    EXPECT(is_near(asked(d, 4, 80), 80) && d->mix.of[8] == 0);
}

TEST(demand, reads_as_shares_by_size)
{
    struct gpu_mix mix = {.largest = 8, .of = {[1] = 0.125, [8] = 0.875}};
    AUTO(buf) text = {0};
    gpu_mix_text(&mix, &text);
    EXPECT_STR(buf_str(&text), "1=12.5%,8=87.5%");
}
