#include "core/queue/backoff.h"

#include "support/test.h"

static const struct backoff usual = {.first_ms = 1000, .most_ms = 10000};

TEST(backoff, doubles_from_the_first_wait_and_stops_at_the_longest)
{
    static const struct {
        int64_t first_ms, most_ms;
        uint32_t failures;
        int64_t wait_ms;
    } cases[] = {
        {1000, 10000, 0, 0},
        {1000, 10000, 1, 1000},
        {1000, 10000, 2, 2000},
        {1000, 10000, 3, 4000},
        {1000, 10000, 4, 8000},
        {1000, 10000, 5, 10000},
        {1000, 10000, 6, 10000},
        {1000, 10000, 63, 10000},
        {1000, 10000, 64, 10000},
        {1000, 10000, 65, 10000},
        {1000, 10000, 4294967295, 10000},
        {2500, 2500, 1, 2500},
        {2500, 2500, 2, 2500},
        {1000, 8000, 4, 8000},
        {1000, 7999, 4, 7999},
        {1, INT64_MAX / 4, 61, (int64_t)1 << 60},
        {1, INT64_MAX / 4, 62, INT64_MAX / 4},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct backoff law = {.first_ms = cases[i].first_ms, .most_ms = cases[i].most_ms};
        EXPECT_INT(backoff_wait_ms(law, cases[i].failures), cases[i].wait_ms);
    }
}

TEST(backoff, ends_on_the_second_after_the_one_it_falls_into)
{
    static const struct {
        uint32_t failures;
        int64_t since_ms, end_ms;
    } cases[] = {
        {1, 0, 2000},                    /* ends at 1.000: still waits in that second */
        {1, 1, 2000},    {1, 999, 2000}, /* ends at 1.999 */
        {1, 1000, 3000}, {2, 500, 3000},  {3, 500, 5000}, {4, 500, 9000},
        {5, 500, 11000}, {6, 500, 11000}, {0, 500, 500},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(backoff_end_ms(usual, cases[i].failures, cases[i].since_ms), cases[i].end_ms);
}

TEST(backoff, costs_more_than_the_wait_and_at_most_a_second_more)
{
    for (uint32_t failures = 1; failures < 8; failures++)
        for (int64_t since_ms = 5000; since_ms < 7000; since_ms++) {
            int64_t out_ms = backoff_end_ms(usual, failures, since_ms) - since_ms;
            int64_t wait_ms = backoff_wait_ms(usual, failures);
            EXPECT(out_ms > wait_ms && out_ms <= wait_ms + 1000);
        }
}
