#include "core/base/str.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(str, compares_bytewise)
{
    static const char *const sorted[] = {"",      "A",  "AB",   "B",       "a",
                                         "a\x01", "ab", "\x7f", "\xc3\x9f"};
    for (int i = 0; i < (int)LEN(sorted); i++)
        for (int k = 0; k < (int)LEN(sorted); k++) {
            int order = str_compare(str_of(sorted[i]), str_of(sorted[k]));
            EXPECT_INT((order > 0) - (order < 0), (i > k) - (i < k));
            EXPECT(str_equal(str_of(sorted[i]), str_of(sorted[k])) == (i == k));
        }
    EXPECT(str_equal((struct str){0}, STR("")));
    EXPECT_INT(str_compare((struct str){0}, STR("")), 0);
    EXPECT(str_equal((struct str){"a\0b", 3}, (struct str){"a\0b", 3}));
    EXPECT(!str_equal((struct str){"a\0b", 3}, (struct str){"a\0c", 3}));
}

TEST(str, knows_how_it_starts_and_ends)
{
    static const struct {
        const char *s, *part;
        bool starts, ends;
    } cases[] = {
        {"zone", "", true, true},    {"zone", "zone", true, true},    {"zone", "zo", true, false},
        {"zone", "ne", false, true}, {"zone", "zones", false, false}, {"", "", true, true},
        {"", "a", false, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        EXPECT(str_starts(str_of(cases[i].s), str_of(cases[i].part)) == cases[i].starts);
        EXPECT(str_ends(str_of(cases[i].s), str_of(cases[i].part)) == cases[i].ends);
    }
    EXPECT(str_starts((struct str){0}, (struct str){0}));
    EXPECT(str_ends((struct str){0}, (struct str){0}));
}

TEST(str, finds_a_character)
{
    EXPECT_INT(str_find(STR("a/b/c"), '/'), 1);
    EXPECT_INT(str_find(STR("abc"), '/'), 3);
    EXPECT_INT(str_find((struct str){0}, '/'), 0);
    EXPECT_INT(str_find((struct str){"ab/", 2}, '/'), 2);
}

TEST(str, a_part_is_cut_to_what_is_there)
{
    EXPECT_STR(str_part(STR("node-17"), 5, 7), "17");
    EXPECT_STR(str_part(STR("node-17"), 5, SIZE_MAX), "17");
    EXPECT_STR(str_part(STR("node-17"), 9, 12), "");
    EXPECT_STR(str_part(STR("node-17"), 3, 2), "");
    EXPECT_STR(str_part((struct str){0}, 0, 1), "");
}

TEST(str, is_taken_piece_by_piece)
{
    struct str rest = STR("a,,bc");
    EXPECT_STR(str_take(&rest, ','), "a");
    EXPECT_STR(str_take(&rest, ','), "");
    EXPECT_STR(rest, "bc");
    EXPECT_STR(str_take(&rest, ','), "bc");
    EXPECT_INT(rest.n, 0);
    EXPECT_STR(str_take(&rest, ','), "");
    rest = STR("d,");
    EXPECT_STR(str_take(&rest, ','), "d");
    EXPECT_INT(rest.n, 0);
}

TEST(str, is_kept_behind_what_was_kept_before)
{
    char room[5], *at = room;
    struct str first = str_keep(&at, STR("ab")), none = str_keep(&at, (struct str){0});
    struct str second = str_keep(&at, STR("cde"));
    EXPECT_STR(first, "ab");
    EXPECT_INT(none.n, 0);
    EXPECT_STR(second, "cde");
    EXPECT(at == room + sizeof(room) && memcmp(room, "abcde", 5) == 0);
}

TEST(str, reads_integers_that_fit_and_nothing_else)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"+7", true, 7},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"92233720368547758070", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+", false, 0},
        {"--1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1e3", false, 0},
        {"0x1", false, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        int64_t value = -77;
        EXPECT(str_int(str_of(cases[i].text), &value) == cases[i].ok);
        EXPECT_INT(value, cases[i].ok ? cases[i].value : -77); /* written only on success */
    }
    int64_t value;
    EXPECT(!str_int((struct str){0}, &value));
}
