#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(priority_sort, priority_then_waiting_time_then_arrival)
{
    static const struct standing in_order[] = {
        {100, 900, 9},
        {0,   100, 8},
        {0,   200, 1},
        {0,   200, 2},
        {-5,  0,   0},
    };
    for (size_t a = 0; a < LEN(in_order); a++)
        for (size_t b = 0; b < LEN(in_order); b++)
            EXPECT_INT(plugin_priority_sort.before(&in_order[a], &in_order[b]), a < b);
}
