#include "core/base/pool.h"

#include "core/base/rng.h"
#include "support/test.h"

static void fill(unsigned char *block, size_t n, uint32_t mark)
{
    for (size_t i = 0; i < n; i++)
        block[i] = (unsigned char)(mark + i);
}

static bool holds(const unsigned char *block, size_t n, uint32_t mark)
{
    for (size_t i = 0; i < n; i++)
        if (block[i] != (unsigned char)(mark + i))
            return false;
    return true;
}

TEST(pool, blocks_keep_what_is_in_them_whatever_comes_and_goes)
{
    enum { BLOCKS = 200, STEPS = 20000 };
    struct pool p = {0};
    struct rng rng = rng_seeded(test_seed());
    static struct {
        unsigned char *at;
        size_t n;
    } blocks[BLOCKS];
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = (uint32_t)rng_below(&rng, BLOCKS);
        size_t n = (size_t)rng_below(&rng, rng_below(&rng, 4) ? 2 * POOL_MOST : 3000);
        REQUIRE(holds(blocks[i].at, blocks[i].n, i));
        if (rng_below(&rng, 3) == 0) {
            pool_free(&p, blocks[i].at);
            blocks[i].at = pool_alloc(&p, n);
        } else {
            blocks[i].at = pool_resize(&p, blocks[i].at, n);
            REQUIRE(holds(blocks[i].at, MIN(n, blocks[i].n), i));
        }
        EXPECT_INT((uintptr_t)blocks[i].at % 16, 0);
        blocks[i].n = n;
        fill(blocks[i].at, n, i);
    }
    for (uint32_t i = 0; i < BLOCKS; i++) {
        EXPECT(holds(blocks[i].at, blocks[i].n, i));
        pool_free(&p, blocks[i].at);
        blocks[i].at = NULL;
        blocks[i].n = 0;
    }
    pool_done(&p);
}

TEST(pool, a_block_that_was_freed_is_the_next_of_its_size)
{
    struct pool p = {0};
    void *a = pool_alloc(&p, 40), *b = pool_alloc(&p, 100);
    pool_free(&p, a);
    pool_free(&p, b);
    EXPECT(pool_alloc(&p, 100) == b);
    EXPECT(pool_alloc(&p, 33) == a);
    EXPECT(pool_alloc(&p, 40) != a);
    pool_done(&p);
}
