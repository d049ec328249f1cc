#include "sim/stats.h"

#include "sim/draw.h"
#include "sim/text.h"
#include "support/test.h"

TEST(stats, a_percentile_is_the_value_at_its_rank)
{
    int64_t ten[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 10};
    stats_sort(ten, LEN(ten));
    static const struct {
        uint32_t permille;
        int64_t value;
    } cases[] = {{0, 1},   {1, 1},    {100, 1},  {101, 2},  {500, 5},
                 {900, 9}, {901, 10}, {990, 10}, {1000, 10}};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(stats_percentile(ten, LEN(ten), cases[i].permille), cases[i].value);
    EXPECT_INT(stats_percentile(NULL, 0, 500), 0);
    EXPECT_REAL(stats_mean(ten, LEN(ten)), 5.5);
    EXPECT_REAL(stats_mean(NULL, 0), 0);
}

TEST(stats, counts_up_to_a_limit)
{
    static const int64_t sorted[] = {1, 3, 3, 3, 8};
    static const struct {
        int64_t limit;
        uint32_t n;
    } cases[] = {{0, 0}, {1, 1}, {2, 1}, {3, 4}, {7, 4}, {8, 5}, {9, 5}};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(stats_count_up_to(sorted, LEN(sorted), cases[i].limit), cases[i].n);
}

TEST(stats, ticks_are_round)
{
    static const struct {
        double span, tick;
    } cases[] = {{100, 20}, {1, 0.2}, {7, 2}, {1408, 500}, {30, 10}, {3e6, 1e6}};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT(stats_tick(cases[i].span, 5) > cases[i].tick * 0.999 &&
               stats_tick(cases[i].span, 5) < cases[i].tick * 1.001);
    EXPECT_INT(stats_tick_ms(86400000, 13), 7200000);
    EXPECT_INT(stats_tick_ms(60000, 13), 5000);
    EXPECT_INT(stats_tick_ms(150LL * 86400000, 10), 20LL * 86400000);
}

TEST(stats, draws_have_the_shape_they_are_named_after)
{
    enum { N = 20000 };
    static int64_t lognormal[N], exponential[N], uniform[N];
    struct rng r = rng_seeded(test_seed());
    for (int i = 0; i < N; i++) {
        lognormal[i] = draw_span_ms(&r, (struct span){SPAN_LOGNORMAL, 60000, 600000});
        exponential[i] = draw_span_ms(&r, (struct span){SPAN_EXPONENTIAL, 60000, 0});
        uniform[i] = draw_span_ms(&r, (struct span){SPAN_UNIFORM, 1000, 3000});
    }
    stats_sort(lognormal, N);
    stats_sort(uniform, N);
    int64_t median = stats_percentile(lognormal, N, 500), p90 = stats_percentile(lognormal, N, 900);
    EXPECT(median > 55000 && median < 65000);
    EXPECT(p90 > 540000 && p90 < 660000);
    EXPECT(stats_mean(exponential, N) > 57000 && stats_mean(exponential, N) < 63000);
    EXPECT(uniform[0] >= 1000 && uniform[N - 1] <= 3000);
    EXPECT(stats_mean(uniform, N) > 1950 && stats_mean(uniform, N) < 2050);
    EXPECT_INT(draw_span_ms(&r, (struct span){SPAN_FIXED, 42, 0}), 42);
    EXPECT_INT(draw_span_ms(&r, (struct span){SPAN_STAYS, 0, 0}), INT64_MAX);
}

TEST(text, numbers_as_people_read_them)
{
    EXPECT_TEXT(text_count(0).s, "0");
    EXPECT_TEXT(text_count(999).s, "999");
    EXPECT_TEXT(text_count(1234567).s, "1,234,567");
    EXPECT_TEXT(text_share(0.8125).s, "81.2 %");
    EXPECT_TEXT(text_amount(0.25).s, "0.25");
    EXPECT_TEXT(text_amount(12.34).s, "12.3");
    EXPECT_TEXT(text_amount(1280).s, "1,280");
}

TEST(text, times_have_two_units_at_most)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "0s"},         {850, "850ms"},       {12000, "12s"},     {59600, "1m"},
        {200000, "3m20s"}, {3600000, "1h"},      {7500000, "2h05m"}, {86400000, "24h"},
        {172800000, "2d"}, {270000000, "3d03h"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(text_ms(cases[i].ms).s, cases[i].text);
    EXPECT_TEXT(text_clock(27000000, 60000).s, "07:30");
    EXPECT_TEXT(text_clock(86400000, 60000).s, "24:00");
    EXPECT_TEXT(text_clock(113400000, 1000).s, "1d 07:30:00");
}
