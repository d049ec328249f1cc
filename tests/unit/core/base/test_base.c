#include "core/base/base.h"

#include <math.h>

#include "support/test.h"

TEST(base, sums_wrap_as_in_go)
{
    EXPECT_INT(wrap_add(INT64_MAX, 1), INT64_MIN);
    EXPECT_INT(wrap_sub(INT64_MIN, 1), INT64_MAX);
    EXPECT_INT(wrap_mul(INT64_MIN, -1), INT64_MIN);
    EXPECT_INT(wrap_mul(INT64_C(1) << 62, 4), 0);
    EXPECT_INT(wrap_mul(-3, 5), -15);
}

TEST(base, a_float_that_fits_no_integer_becomes_the_smallest)
{
    static const struct {
        double x;
        int64_t wanted;
    } cases[] = {
        {0.0, 0},
        {-0.9, 0},
        {99.999, 99},
        {-1.5, -1},
        {0x1p63, INT64_MIN},
        {0x1.fffffffffffffp62, 0x7ffffffffffffc00},
        {-0x1p63, INT64_MIN},
        {-0x1.0000000000001p63, INT64_MIN},
        {1e300, INT64_MIN},
        {(double)INFINITY, INT64_MIN},
        {(double)NAN, INT64_MIN},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_INT(trunc_i64(cases[i].x), cases[i].wanted);
}

TEST(base, least_and_most_evaluate_once)
{
    int i = 0;
    EXPECT_INT(MIN(i++, 5), 0);
    EXPECT_INT(MAX(i++, 0), 1);
    EXPECT_INT(i, 2);
}

TEST(base, a_list_is_walked_in_order_and_may_be_empty)
{
    LIST(int) list = {0};
    list_each(&list, none)
        EXPECT(none == NULL);
    int three[] = {1, 2, 3}, sum = 0;
    list.at = three;
    list.n = 3;
    list_each(&list, it)
        sum = sum * 10 + *it;
    EXPECT_INT(sum, 123);
}
