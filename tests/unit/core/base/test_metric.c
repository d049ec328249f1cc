#include "core/base/metric.h"

#include "support/test.h"

TEST(metric, a_value_counts_in_the_first_bucket_whose_bound_it_does_not_pass)
{
    static const struct bounds bounds = {.first = 0.001, .factor = 2, .n = 15};
    static const struct {
        double value;
        uint32_t bucket;
    } cases[] = {
        {0, 0}, {0.001, 0}, {0.0011, 1}, {0.002, 1}, {16.384, 14}, {16.385, 15}, {1e9, 15},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%g", cases[i].value);
        struct histogram h = {0};
        histogram_add(&h, &bounds, cases[i].value);
        EXPECT_INT(h.counts[cases[i].bucket], 1);
        EXPECT_INT(histogram_count(&h), 1);
        EXPECT_REAL(h.sum, cases[i].value);
    }
}

TEST(metric, bounds_may_be_a_list)
{
    static const double list[] = {0.5, 0.6, 10};
    static const struct bounds bounds = {.n = LEN(list), .list = list};
    struct histogram h = {0};
    static const double values[] = {0.1, 0.5, 0.55, 9, 10, 11};
    for (size_t i = 0; i < LEN(values); i++)
        histogram_add(&h, &bounds, values[i]);
    static const uint64_t wanted[] = {2, 1, 2, 1};
    for (size_t i = 0; i < LEN(wanted); i++)
        EXPECT_INT(h.counts[i], wanted[i]);
}
