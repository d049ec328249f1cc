#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(priority_sort, priority_then_waiting_time_then_arrival)
{
    static const struct queue_key in_order[] = {
        {.priority = 100, .since_ms = 900, .arrival = 9},
        {.priority = 0, .since_ms = 100, .arrival = 8},
        {.priority = 0, .since_ms = 200, .arrival = 1},
        {.priority = 0, .since_ms = 200, .arrival = 2},
        {.priority = -5, .since_ms = 0, .arrival = 0},
    };
    for (size_t a = 0; a < LEN(in_order); a++)
        for (size_t b = 0; b < LEN(in_order); b++)
            EXPECT_INT(plugin_priority_sort.before(&in_order[a], &in_order[b]), a < b);
}
