#include "core/base/rng.h"

#include "support/test.h"

TEST(rng, is_splitmix64)
{
    struct rng r = rng_seeded(1234567);
    static const uint64_t wanted[] = {6457827717110365317u, 3203168211198807973u,
                                      9817491932198370423u, 4593380528125082431u,
                                      16408922859458223821u};
    for (size_t i = 0; i < LEN(wanted); i++)
        EXPECT(rng_next(&r) == wanted[i]);
}

TEST(rng, below_n_every_number_comes_about_as_often)
{
    enum { NUMBERS = 7, DRAWS = 70000 };
    struct rng r = rng_seeded(test_seed());
    unsigned count[NUMBERS] = {0};
    for (unsigned i = 0; i < DRAWS; i++) {
        uint64_t x = rng_below(&r, NUMBERS);
        REQUIRE(x < NUMBERS);
        count[x]++;
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        EXPECT(count[i] > DRAWS / NUMBERS - 600 && count[i] < DRAWS / NUMBERS + 600);
    EXPECT_INT(rng_below(&r, 1), 0);
    EXPECT(rng_below(&r, UINT64_MAX) < UINT64_MAX);
}

/* With n = 3 × 2^62 a bare remainder would give the lowest third half of all draws. */
TEST(rng, a_large_range_is_not_biased)
{
    enum { DRAWS = 30000 };
    struct rng r = rng_seeded(test_seed());
    unsigned low = 0;
    for (unsigned i = 0; i < DRAWS; i++)
        low += rng_below(&r, (uint64_t)3 << 62) < (uint64_t)1 << 62;
    EXPECT(low > DRAWS / 3 - 600 && low < DRAWS / 3 + 600);
}

TEST(rng, reals_lie_in_the_unit_interval)
{
    struct rng r = rng_seeded(test_seed());
    double sum = 0;
    for (unsigned i = 0; i < 10000; i++) {
        double x = rng_real(&r);
        REQUIRE(x >= 0 && x < 1);
        sum += x;
    }
    EXPECT(sum > 4800 && sum < 5200);
}
