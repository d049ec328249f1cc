#include "core/base/value.h"

#include "support/test.h"

TEST(value, a_boolean_has_six_spellings_each)
{
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    static const char *const neither[] = {"", "yes", "tRUE", "2", "on"};
    bool value;
    for (size_t i = 0; i < LEN(yes); i++)
        EXPECT(value_bool(str_of(yes[i]), &value) && value);
    for (size_t i = 0; i < LEN(no); i++)
        EXPECT(value_bool(str_of(no[i]), &value) && !value);
    for (size_t i = 0; i < LEN(neither); i++)
        EXPECT(!value_bool(str_of(neither[i]), &value));
}

TEST(value, a_duration_has_units)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: it is none */
    } cases[] = {
        {"15s", 15000}, {"1m30s", 90000}, {"1.5s", 1500}, {"0", 0},    {"2h0m1ms", 7200001},
        {"", -1},       {"15", -1},       {"s", -1},      {"1s ", -1}, {"9999999999999h", -1},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        int64_t ns = 0;
        test_case("%s", cases[i].text);
        EXPECT_INT(value_duration(str_of(cases[i].text), &ns) ? ns / 1000000 : -1, cases[i].ms);
    }
    int64_t ns;
    EXPECT(value_duration(STR("-1s"), &ns) && ns == -1000000000);
}

TEST(value, a_number_is_decimal)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"50", 50},
        {"-1", -1},
        {"0.5", 0.5},
        {"1e3", 1000},
    };
    static const char *const bad[] = {"", "-", "x", "0x10", "nan", "inf", "1.2.3", "5s", ".5"};
    double value;
    for (size_t i = 0; i < LEN(good); i++) {
        EXPECT(value_number(str_of(good[i].text), &value));
        EXPECT_REAL(value, good[i].value);
    }
    for (size_t i = 0; i < LEN(bad); i++) {
        test_case("%s", bad[i]);
        EXPECT(!value_number(str_of(bad[i]), &value));
    }
}
