#include "core/base/pattern.h"

#include "support/test.h"

TEST(pattern, finds_what_re2_finds)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "abc", true},
        {"b", "abc", true},
        {"^b", "abc", false},
        {"c$", "abc", true},
        {"b$", "abc", false},
        {"^.*a100.*$", "nvidia a100-sxm4", true},
        {"^.*a100.*$", "nvidia h100", false},
        {"a|b|cd", "xcdx", true},
        {"^(a|b|cd)$", "c", false},
        {"^(?:a|bc)+$", "abcbca", true},
        {"^(?:a|bc)+$", "abcb", false},
        {"a*?b", "aab", true},
        {"^a{2,3}$", "aa", true},
        {"^a{2,3}$", "aaaa", false},
        {"^a{2}$", "aa", true},
        {"^a{2,}$", "aaaaa", true},
        {"^a{2,}$", "a", false},
        {"^a{0}$", "", true},
        {"a{x", "a{x", true},
        {"^[a-c]+$", "abc", true},
        {"^[^a-c]+$", "abd", false},
        {"^[]a]+$", "]a]", true},
        {"^[a-]+$", "a-", true},
        {"^[\\d.]+$", "1.2", true},
        {"^\\d+\\.\\w\\S$", "12.a!", true},
        {"^\\D$", "7", false},
        {"^\\W$", "_", false},
        {"(?i)^rtx [ab]$", "RTX B", true},
        {"^.$", "\n", false},
        {"(?s)^.$", "\n", true},
        {"^.$", "\xc3\xa9", true},
        {"^..$", "\xc3\x28", true},
        {"^[\xc3\xa0-\xc3\xaf]$", "\xc3\xa9", true},
        {"^(a?){30}a{30}$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true},
        {"x*", "", true},
        {"(|a)b", "b", true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct arena mem = {0};
        test_case("%s on %s", cases[i].pattern, cases[i].text);
        const struct pattern *p = pattern_compile(str_of(cases[i].pattern), &mem);
        if (EXPECT(p))
            EXPECT_INT(pattern_matches(p, str_of(cases[i].text), &mem), cases[i].matches);
        arena_done(&mem);
    }
}

TEST(pattern, refuses_what_it_does_not_read)
{
    static const char *const cases[] = {
        "(",
        ")",
        "a)",
        "(a",
        "[",
        "[a",
        "[b-a]",
        "*",
        "a**",
        "+a",
        "\\",
        "\\b",
        "\\pL",
        "(?P<n>a)",
        "(?x)a",
        "[[:alpha:]]",
        "a{3,2}",
        "a{1001}",
        "((a{100}){100}){100}",
        "a(?i)b",
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct arena mem = {0};
        test_case("%s", cases[i]);
        EXPECT(!pattern_compile(str_of(cases[i]), &mem));
        arena_done(&mem);
    }
}
