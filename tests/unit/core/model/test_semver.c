#include "core/model/semver.h"

#include "support/test.h"

TEST(semver, is_written_in_one_way_only)
{
    static const struct {
        const char *text;
        bool is_one;
    } cases[] = {
        {"1.2.3", true},
        {"0.0.0", true},
        {"580.95.5", true},
        {"1.2.3-rc.1", true},
        {"1.2.3-a-b.0", true},
        {"1.2.3+b.01", true},
        {"1.2", false},
        {"1.2.3.4", false},
        {"v1.2.3", false},
        {"01.2.3", false},
        {"1.2.03", false},
        {"1.2.3-", false},
        {"1.2.3-01", false},
        {"1.2.3-a..b", false},
        {"1.2.3+", false},
        {"", false},
        {"1.2.3-a.", false},
        {"1.2.x", false},
        {"1.2.3 ", false},
        {"18446744073709551615.0.0", true},
        {"18446744073709551616.0.0", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct semver v;
        test_case("%s", cases[i].text);
        EXPECT_INT(semver_parse(str_of(cases[i].text), &v), cases[i].is_one);
    }
}

TEST(semver, is_ordered_by_precedence)
{
    static const char *const rising[] = {
        "0.9.9",        "1.0.0-alpha",   "1.0.0-alpha.1", "1.0.0-alpha.beta",
        "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",    "1.0.0",
        "1.0.1",        "1.2.0",         "1.10.0",        "2.0.0",
    };
    for (size_t i = 0; i < LEN(rising); i++)
        for (size_t k = 0; k < LEN(rising); k++) {
            struct semver a, b;
            test_case("%s and %s", rising[i], rising[k]);
            REQUIRE(semver_parse(str_of(rising[i]), &a) && semver_parse(str_of(rising[k]), &b));
            EXPECT_INT(semver_compare(a, b), i < k ? -1 : i > k);
        }
    struct semver a, b;
    REQUIRE(semver_parse(STR("1.0.0+a"), &a) && semver_parse(STR("1.0.0+b"), &b));
    EXPECT_INT(semver_compare(a, b), 0);
}
