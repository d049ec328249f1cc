#include "core/framework/aspect.h"

#include "core/base/rng.h"
#include "support/ground.h"
#include "support/test.h"

/* In proportion to the first number of the key. */
static void score_first(const struct cluster *c, const void *cls, const struct feasible *f,
                        int64_t *raw, int64_t *normal)
{
    (void)c, (void)cls;
    for (uint32_t i = 0; i < f->n; i++)
        raw[i] = feasible_key(f, i)[0];
    normalise(raw, normal, f->n, false);
}

/* By how many nodes have the same key, summed over the key's two numbers. */
static void score_crowd(const struct cluster *c, const void *cls, const struct feasible *f,
                        int64_t *raw, int64_t *normal)
{
    (void)c, (void)cls;
    for (uint32_t i = 0; i < f->n; i++) {
        raw[i] = 0;
        for (uint32_t k = 0; k < f->n; k++)
            raw[i] += memcmp(feasible_key(f, i), feasible_key(f, k), 2 * sizeof(uint32_t))
                          ? 0
                          : f->nodes[k];
    }
    normalise(raw, normal, f->n, true);
}

static const struct plugin first = {.name = "First", .key_score = score_first};
static const struct plugin crowd = {.name = "Crowd", .key_score = score_crowd};

enum { KEYS = 4, NODES = 8 };

static struct class_part parts[] = {
    {.plugin = &first, .weight = 3, .scores = true, .key_at = 0, .n_keys = 1},
    {.plugin = &crowd, .weight = 2, .scores = true, .key_at = 1, .n_keys = 2},
    {.plugin = &first, .weight = 5, .scores = true, .key_at = 3, .n_keys = 1},
    {.plugin = &first, .weight = 9, .scores = true, .scores_nothing = true, .n_keys = 1},
};
static const struct class four = {.parts = parts, .n_parts = LEN(parts), .n_keys = KEYS};

/* A bucket that has so many nodes, the best one of which is any. */
static void put(struct buckets *b, struct aspects *a, struct rng *r, uint32_t nodes)
{
    uint32_t key[KEYS], was = b->at.n;
    for (uint32_t k = 0; k < KEYS; k++)
        key[k] = (uint32_t)rng_below(r, 3);
    uint32_t i = buckets_get(b, key);
    if (b->at.n > was)
        aspects_add(a, key);
    struct bucket *bucket = &b->at.at[i];
    aspects_count(a, i, (int32_t)nodes - (int32_t)bucket->nodes);
    if (bucket->nodes && !nodes)
        buckets_rest(b, i);
    if (!bucket->nodes && nodes)
        buckets_wake(b, i);
    bucket->nodes = nodes;
    bucket->best = (uint32_t)rng_below(r, NODES);
    bucket->local = (int32_t)rng_below(r, 200);
}

TEST(aspect, decides_as_asking_about_each_bucket_does)
{
    AUTO(ground) g = {0};
    struct rng r = rng_seeded(test_seed());
    struct buckets b = {0};
    struct aspects a = {0};
    struct decider d = {0}, plain = {0};
    for (uint32_t i = 0; i < NODES; i++)
        ground_add(&g, "node n%u", i);
    for (uint32_t round = 0; round < 40; round++) {
        buckets_reset(&b, KEYS);
        aspects_reset(&a, &four);
        for (uint32_t step = 0; step < 60; step++) {
            put(&b, &a, &r, rng_below(&r, 3) ? (uint32_t)rng_below(&r, 9) : 0);
            struct decision is = aspects_decide(g.cluster, &a, &b, &d);
            struct decision want = buckets_decide(g.cluster, &four, &b, &plain, false);
            EXPECT_INT(is.node, want.node);
            EXPECT_INT(is.total, want.total);
            EXPECT_INT(is.feasible, want.feasible);
        }
    }
    buckets_done(&b);
    aspects_done(&a);
    decider_done(&d);
    decider_done(&plain);
}

TEST(aspect, plugins_are_asked_once_for_what_they_cannot_tell_apart)
{
    struct aspects a = {0};
    aspects_reset(&a, &four);
    EXPECT_INT(a.n, 3); /* the last scores nothing */
    aspects_add(&a, (uint32_t[]){1, 7, 7, 2});
    aspects_add(&a, (uint32_t[]){1, 7, 8, 2});
    aspects_add(&a, (uint32_t[]){2, 7, 8, 2});
    EXPECT_INT(a.at[0].nodes.n, 2);
    EXPECT_INT(a.at[1].nodes.n, 2);
    EXPECT_INT(a.at[2].nodes.n, 1);
    aspects_count(&a, 0, 4);
    aspects_count(&a, 2, 1);
    aspects_count(&a, 0, -1);
    EXPECT_INT(a.at[2].nodes.at[0], 4);
    EXPECT_INT(a.at[0].nodes.at[a.at[0].number.at[0]], 3);
    EXPECT_INT(a.nodes, 4);
    aspects_done(&a);
}
