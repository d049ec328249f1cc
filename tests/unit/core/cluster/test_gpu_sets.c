#include "core/cluster/gpu_sets.h"

#include "core/base/rng.h"
#include "support/test.h"

static void join(struct node_gpus *g, gpu_mask set)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (set >> i & 1)
            g->peers[i] |= set & ~((gpu_mask)1 << i);
}

static struct node_gpus node(uint32_t n)
{
    return (struct node_gpus){.n = n, .there = UINT32_MAX >> (GPUS_MOST - n), .is_counted = 1};
}

TEST(gpu_sets, three_of_two_triangles_are_one_of_them)
{
    struct node_gpus g = node(6);
    join(&g, 0x15); /* 0, 2, 4 */
    join(&g, 0x2a);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 3), 0x15);
    EXPECT_INT(gpu_sets_best(&g, 0x3e, 3), 0x2a); /* 0 is taken */
    join(&g, 0x3);                                /* a bridge changes nothing */
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 3), 0x15);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 6), 0x3f);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 7), 0x3f);
}

TEST(gpu_sets, a_small_island_is_used_up_before_a_large_one_is_begun)
{
    struct node_gpus g = node(6);
    join(&g, 0x0f);
    join(&g, 0x30);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 2), 0x30);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 1), 0x10);
    EXPECT_INT(gpu_sets_best(&g, 0x37, 1), 0x10);
    EXPECT_INT(gpu_sets_best(&g, 0x2f, 1), 0x20); /* it is alone by now */
}

TEST(gpu_sets, a_link_is_worth_more_than_a_switch_and_that_more_than_a_zone)
{
    struct node_gpus g = node(6);
    memcpy(g.zone, (uint8_t[]){1, 1, 1, 1, 2, 2}, 6);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 2), 0x30);
    memcpy(g.root, (uint8_t[]){1, 2, 3, 1, 4, 5}, 6);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 2), 0x09);
    join(&g, 0x06);
    EXPECT_INT(gpu_sets_best(&g, 0x3f, 2), 0x06);
}

TEST(gpu_sets, among_equals_the_least_memory_counts_then_the_number)
{
    struct node_gpus g = node(4);
    EXPECT_INT(gpu_sets_best(&g, 0xf, 2), 0x3);
    for (uint32_t i = 0; i < 4; i++)
        g.vram_mib[i] = i == 1 ? 80 : 40;
    EXPECT_INT(gpu_sets_best(&g, 0xf, 2), 0x5);
}

/* Every set, judged as the header says. */
static gpu_mask brute_force(const struct node_gpus *g, gpu_mask from, uint32_t k)
{
    gpu_mask best = 0;
    uint64_t best_worth = 0, best_broken = 0, best_cost = 0;
    for (gpu_mask set = 1; set < (gpu_mask)1 << g->n; set++) {
        uint64_t broken = 0, cost = 0;
        if (set & ~from || (uint32_t)__builtin_popcount(set) != k)
            continue;
        uint64_t worth = gpu_sets_worth(g, set);
        for (uint32_t i = 0; i < g->n; i++)
            for (uint32_t b = 0; b < g->n; b++)
                if (set >> i & 1 && (from & ~set) >> b & 1)
                    broken += gpu_sets_worth(g, (gpu_mask)1 << i | (gpu_mask)1 << b);
        for (uint32_t i = 0; i < g->n; i++)
            cost += set >> i & 1 ? g->vram_mib[i] : 0;
        bool is_better = worth > best_worth;
        if (worth == best_worth)
            is_better = broken < best_broken || (broken == best_broken && cost < best_cost);
        if (worth == best_worth && broken == best_broken && cost == best_cost) {
            gpu_mask differ = set ^ best; /* the lowest number decides */
            is_better = set & differ & (~differ + 1);
        }
        if (!best || is_better) {
            best = set;
            best_worth = worth;
            best_broken = broken;
            best_cost = cost;
        }
    }
    return best;
}

TEST(gpu_sets, the_best_set_is_found_among_up_to_sixteen)
{
    struct rng rng = {test_seed()};
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&rng, round % 50 ? 8 : GPU_SETS_EXACT);
        struct node_gpus g = node(n);
        uint64_t kinds = 1 + rng_below(&rng, 3), links = rng_below(&rng, 5);
        for (uint32_t i = 0; i < n; i++) {
            g.root[i] = (uint8_t)rng_below(&rng, kinds + 1);
            g.zone[i] = (uint8_t)rng_below(&rng, kinds);
            g.vram_mib[i] = (uint32_t)rng_below(&rng, kinds);
            for (uint32_t b = 0; b < i; b++)
                if (rng_below(&rng, 4) < links)
                    join(&g, (gpu_mask)1 << i | (gpu_mask)1 << b);
        }
        gpu_mask from = (gpu_mask)rng_below(&rng, (uint64_t)g.there + 1) | 1;
        uint32_t k = 1 + (uint32_t)rng_below(&rng, (uint64_t)__builtin_popcount(from));
        test_case("round %u: %u of %x", round, k, from);
        EXPECT_INT(gpu_sets_best(&g, from, k), brute_force(&g, from, k));
    }
}

TEST(gpu_sets, among_more_a_good_one_is_found)
{
    struct node_gpus g = node(32);
    for (uint32_t i = 0; i < 4; i++)
        join(&g, (gpu_mask)0xff << 8 * i);
    EXPECT_INT(gpu_sets_best(&g, UINT32_MAX, 8), 0xff);
    EXPECT_INT(gpu_sets_best(&g, UINT32_MAX & ~(gpu_mask)1, 8), 0xff00);
    EXPECT_INT(gpu_sets_best(&g, UINT32_MAX & ~(gpu_mask)1, 4) & ~(gpu_mask)0xff, 0);
}
