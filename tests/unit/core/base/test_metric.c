#include "core/base/metric.h"

#include "support/test.h"

TEST(metric, a_value_counts_in_the_first_bucket_whose_bound_it_does_not_pass)
{
    static const struct bounds bounds = {0.001, 2, 15};
    static const struct {
        double value;
        uint32_t bucket;
    } cases[] = {
        {0,      0 },
        {0.001,  0 },
        {0.0011, 1 },
        {0.002,  1 },
        {16.384, 14},
        {16.385, 15},
        {1e9,    15},
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
