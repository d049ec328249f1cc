#include "core/base/spare.h"

#include "support/test.h"

TEST(spare, the_lowest_numbers_of_what_is_left_are_used_next)
{
    VEC(uint32_t) v = {0};
    uint32_t numbers[] = {7, 2, 9, 0, 5};
    for (size_t i = 0; i < LEN(numbers); i++)
        vec_push(&v, numbers[i]);
    spare_trim(&v, 7);
    EXPECT_INT(v.n, 3);
    EXPECT_INT(v.cap, 3);
    EXPECT_INT(vec_pop(&v), 0);
    EXPECT_INT(vec_pop(&v), 2);
    EXPECT_INT(vec_pop(&v), 5);
    spare_trim(&v, 0);
    EXPECT(!v.at && v.cap == 0);
}
