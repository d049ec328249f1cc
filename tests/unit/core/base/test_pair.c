#include "core/base/pair.h"

#include "core/base/rng.h"
#include "support/test.h"

static int64_t cut(int64_t a, int64_t b)
{
    real_pair q = real_pair_of(pair_of(a, a)) * 100 / real_pair_of(pair_of(b, b));
    return (int64_t)q[0];
}

TEST(pair, a_quotient_of_small_numbers_is_cut_as_integers_are)
{
    struct rng r = rng_seeded(7);
    for (int i = 0; i < 200000; i++) {
        int64_t b = 1 + (int64_t)(rng_next(&r) >> (18 + rng_below(&r, 45)));
        int64_t a = (int64_t)rng_below(&r, (uint64_t)b + 1);
        if (i % 2) /* just below an integer, or one */
            a = (int64_t)rng_below(&r, 101) * b / 100 - (int64_t)rng_below(&r, 2);
        if (a < 0 || a > b)
            continue;
        if (!EXPECT_INT(cut(a, b), a * 100 / b))
            return;
    }
}

TEST(pair, small_is_neither_negative_nor_large)
{
    EXPECT(pair_is_small(pair_of(0, ((int64_t)1 << 46) - 1)));
    EXPECT(!pair_is_small(pair_of(0, (int64_t)1 << 46)));
    EXPECT(!pair_is_small(pair_of(-1, 0)));
    EXPECT(!pair_is_small(pair_of(INT64_MIN, 1)));
}

TEST(pair, the_smaller_of_a_number_and_none_is_the_other)
{
    real_pair none = {__builtin_nan(""), -__builtin_inf()}, one = {1, 1};
    real_pair least = real_pair_from_0(real_pair_min(none, one));
    EXPECT(least[0] == 1 && least[1] == 0);
    EXPECT(real_pair_abs((real_pair){-2, 3})[0] == 2);
}
