#include "io/loop/clock.h"
#include "support/test.h"

TEST(clock, follows_a_wall_that_is_ahead_by_a_tenth_and_ignores_one_that_is_behind)
{
    static const struct {
        int64_t passed_us, wall_us, now_us;
    } cases[] = {
        {1000000, 1001000000, 1001000000}, /* together */
        {1000000, 900000000, 1002000000},  /* the wall was set back: we go on */
        {0, 990000000, 1002000000},
        {1000000, 1003050000, 1003050000}, /* 50 ms ahead: caught up at once */
        {1000000, 2000000000, 1004150000}, /* far ahead: 100 ms in a second */
        {0, 2000000000, 1004150000},
    };
    struct clock c = {0};
    int64_t monotonic_us = 5000000;
    clock_advance(&c, monotonic_us, 1000000000);
    EXPECT_INT(c.now_us, 1000000000);
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("step %zu", i);
        clock_advance(&c, monotonic_us += cases[i].passed_us, cases[i].wall_us);
        EXPECT_INT(c.now_us, cases[i].now_us);
        EXPECT_INT(c.monotonic_us, monotonic_us);
    }
}
