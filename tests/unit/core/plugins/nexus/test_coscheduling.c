#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(coscheduling, critical_then_starving_then_priority_then_age_then_name)
{
    static const struct {
        int32_t priority, boost;
        bool is_starving;
        int64_t since_ms;
        const char *namespace, *name;
        uint64_t arrival;
    } in_order[] = {
        {2000000000, 0, false, 9, "b", "b", 9}, {1000000000, 0, false, 8, "b", "b", 8},
        {3, 0, true, 7, "b", "b", 7},           {-1, 0, true, 1, "b", "b", 6},
        {30, 0, false, 5, "b", "b", 5},         {10, 20, false, 6, "b", "b", 4},
        {10, 0, false, 2, "b", "b", 3},         {10, 0, false, 3, "a", "z", 3},
        {10, 0, false, 3, "b", "a", 2},         {10, 0, false, 3, "b", "b", 1},
        {10, 0, false, 3, "b", "b", 3},
    };
    struct queue_key all[LEN(in_order)];
    for (size_t i = 0; i < LEN(all); i++)
        all[i] = (struct queue_key){.priority = in_order[i].priority,
                                    .boost = in_order[i].boost,
                                    .is_starving = in_order[i].is_starving,
                                    .since_ms = in_order[i].since_ms,
                                    .namespace = str_of(in_order[i].namespace),
                                    .name = str_of(in_order[i].name),
                                    .arrival = in_order[i].arrival};
    for (size_t a = 0; a < LEN(all); a++)
        for (size_t b = 0; b < LEN(all); b++) {
            test_case("%zu %zu", a, b);
            EXPECT_INT(plugin_coscheduling.before(&all[a], &all[b]), a < b);
        }
}

TEST(coscheduling, units_that_do_not_age_stand_as_priority_sort_has_them)
{
    struct queue_key all[27];
    for (int32_t i = 0; i < 27; i++)
        all[i] = (struct queue_key){
            .priority = (i % 3 - 1) * 1000000000, .since_ms = i / 3 % 3, .arrival = (uint64_t)i};
    for (size_t a = 0; a < LEN(all); a++)
        for (size_t b = 0; b < LEN(all); b++)
            EXPECT_INT(plugin_coscheduling.before(&all[a], &all[b]),
                       plugin_priority_sort.before(&all[a], &all[b]));
}
