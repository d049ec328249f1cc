#include "core/base/real.h"

#include <math.h>

#include "core/base/rng.h"
#include "support/test.h"

static const double ln_of_go[] = {
#include "ln_of_go.inc"
};

enum { INTEGERS = 1000, DRAWN = 1000 };
_Static_assert(LEN(ln_of_go) == INTEGERS + DRAWN, "the table is whole");

TEST(real, ln_of_integers_is_that_of_go_bit_for_bit)
{
    for (unsigned i = 1; i <= INTEGERS; i++)
        EXPECT_REAL(real_ln(i), ln_of_go[i - 1]);
    EXPECT_REAL(real_ln(3), 0x1.193ea7aad030ap+0); /* glibc's ends in b */
}

TEST(real, ln_of_any_normal_double_is_that_of_go_bit_for_bit)
{
    struct rng r = rng_seeded(3);
    for (unsigned i = 1; i <= DRAWN; i++) {
        uint64_t bits = rng_next(&r);
        uint64_t exponent = i % 2 ? 1 + (bits >> 52) % 2046 : 1021 + (bits >> 52) % 4;
        bits = (bits & 0xfffffffffffff) | exponent << 52;
        double x;
        memcpy(&x, &bits, sizeof(x));
        EXPECT_REAL(real_ln(x), ln_of_go[INTEGERS + i - 1]);
    }
}

TEST(real, ln_has_answers_at_the_edges)
{
    EXPECT_REAL(real_ln(0), -(double)INFINITY);
    EXPECT_REAL(real_ln(-0.0), -(double)INFINITY);
    EXPECT_REAL(real_ln((double)INFINITY), (double)INFINITY);
    EXPECT(isnan(real_ln(-1)));
    EXPECT(isnan(real_ln((double)NAN)));
    EXPECT(fabs(real_ln(0x1p-1074) - -744.44007192138127) < 1e-12);
}

/* How many doubles lie between two positive ones. */
static int64_t apart(double a, double b)
{
    int64_t x, y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x > y ? x - y : y - x;
}

TEST(real, exp_is_within_an_ulp)
{
    struct rng r = rng_seeded(test_seed());
    for (unsigned i = 0; i < 20000; i++) {
        double scale = i % 2 ? 1.0 : 700.0;
        double x = (rng_real(&r) * 2 - 1) * scale;
        if (!EXPECT(apart(real_exp(x), exp(x)) <= 1))
            return;
    }
    EXPECT_REAL(real_exp(0), 1.0);
    EXPECT_REAL(real_exp(1000), (double)INFINITY);
    EXPECT_REAL(real_exp(-1000), 0.0);
    EXPECT(apart(real_exp(709.7), exp(709.7)) <= 1);
    EXPECT(isnan(real_exp((double)NAN)));
}

TEST(real, rounds_halves_away_from_zero)
{
    static const struct {
        double x, wanted;
    } cases[] = {
        {0.5, 1.0},
        {-0.5, -1.0},
        {1.5, 2.0},
        {2.5, 3.0},
        {-2.5, -3.0},
        {0.49999999999999994, 0.0},
        {-0.3, -0.0},
        {0.0, 0.0},
        {-0.0, -0.0},
        {2.4999999999999996, 2.0},
        {4503599627370495.5, 4503599627370496.0},
        {9007199254740993.0, 9007199254740993.0},
        {1e300, 1e300},
        {(double)INFINITY, (double)INFINITY},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_REAL(real_round(cases[i].x), cases[i].wanted);
    EXPECT(isnan(real_round((double)NAN)));
}
