#include "core/model/taint.h"

#include "support/test.h"

TEST(toleration, covers_what_upstream_says)
{
    static const struct {
        const char *key, *op, *value, *effect; /* of the toleration */
        const char *tkey, *tvalue, *teffect;   /* of the taint */
        bool covers, covers_with_gate;
    } cases[] = {
        {"a", "Equal", "1", "NoSchedule", "a", "1", "NoSchedule", true, true},
        {"a", "", "1", "", "a", "1", "NoExecute", true, true},
        {"a", "Equal", "2", "", "a", "1", "NoSchedule", false, false},
        {"b", "Equal", "1", "", "a", "1", "NoSchedule", false, false},
        {"a", "Exists", "", "", "a", "1", "NoSchedule", true, true},
        {"", "Exists", "", "", "a", "1", "NoSchedule", true, true},
        {"", "Exists", "", "NoExecute", "a", "1", "NoSchedule", false, false},
        {"a", "Exists", "", "NoSchedule", "a", "1", "PreferNoSchedule", false, false},
        {"", "", "", "", "a", "", "NoSchedule", true, true},
        {"a", "Lt", "10", "", "a", "9", "NoSchedule", false, true},
        {"a", "Lt", "10", "", "a", "10", "NoSchedule", false, false},
        {"a", "Gt", "10", "", "a", "11", "NoSchedule", false, true},
        {"a", "Gt", "-3", "", "a", "-2", "NoSchedule", false, true},
        {"a", "Gt", "10", "", "a", "10", "NoSchedule", false, false},
        {"a", "Gt", "1", "", "a", "02", "NoSchedule", false, false},
        {"a", "Gt", "01", "", "a", "2", "NoSchedule", false, false},
        {"a", "Gt", "-0", "", "a", "2", "NoSchedule", false, false},
        {"a", "Gt", "+1", "", "a", "2", "NoSchedule", false, false},
        {"a", "Gt", "0", "", "a", "x", "NoSchedule", false, false},
        {"a", "Gt", "", "", "a", "2", "NoSchedule", false, false},
        {"a", "Gt", "9223372036854775808", "", "a", "2", "NoSchedule", false, false},
        {"a", "Same", "1", "", "a", "1", "NoSchedule", false, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct toleration t = {str_of(cases[i].key), str_of(cases[i].op), str_of(cases[i].value),
                               str_of(cases[i].effect)};
        struct taint taint = {str_of(cases[i].tkey), str_of(cases[i].tvalue),
                              str_of(cases[i].teffect)};
        if (!EXPECT(toleration_covers(&t, &taint, false) == cases[i].covers) ||
            !EXPECT(toleration_covers(&t, &taint, true) == cases[i].covers_with_gate))
            EXPECT_INT(i, -1);
    }
}
