#include "core/base/recent.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(recent, the_middle_of_those_above_a_floor)
{
    struct recent r = {0};
    EXPECT_INT(recent_count_above(&r, 0), 0);
    static const int64_t values[] = {30, 10, 20, 20, 50};
    for (size_t i = 0; i < LEN(values); i++)
        recent_add(&r, values[i]);
    static const struct {
        int64_t floor, count, median;
    } cases[] = {
        {0, 5, 20},
        {10, 4, 30}, /* 20 20 30 50: the upper of the two */
        {20, 2, 50},
        {49, 1, 50},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        EXPECT_INT(recent_count_above(&r, cases[i].floor), cases[i].count);
        EXPECT_INT(recent_median_above(&r, cases[i].floor), cases[i].median);
    }
    EXPECT_INT(recent_count_above(&r, 50), 0);
    recent_done(&r);
}

/* Against a plain array of the last hundred. */
TEST(recent, only_the_last_hundred_count)
{
    struct recent r = {0};
    struct rng rng = rng_seeded(7);
    int64_t last[RECENT_MOST] = {0};
    for (uint32_t n = 0; n < 1000; n++) {
        int64_t value = (int64_t)rng_below(&rng, 50);
        last[n % RECENT_MOST] = value;
        recent_add(&r, value);
        uint32_t have = MIN(n + 1, (uint32_t)RECENT_MOST), above = 0;
        int64_t floor = (int64_t)rng_below(&rng, 50);
        for (uint32_t i = 0; i < have; i++)
            above += last[i] > floor;
        EXPECT_INT(recent_count_above(&r, floor), above);
        if (above == 0)
            continue;
        int64_t median = recent_median_above(&r, floor);
        uint32_t below = 0, up_to = 0; /* of those above the floor */
        for (uint32_t i = 0; i < have; i++) {
            below += last[i] > floor && last[i] < median;
            up_to += last[i] > floor && last[i] <= median;
        }
        EXPECT(below <= above / 2 && above / 2 < up_to);
    }
    recent_done(&r);
}
