#include "core/wire/entries.h"

#include "core/base/buf.h"
#include "support/test.h"

struct pair {
    struct str key;
    int value;
};

/* "b=0 a=1": the keys, numbered as they come. */
static uint32_t read(const char *text, struct pair *out)
{
    uint32_t n = 0;
    for (struct str rest = str_of(text); rest.n; n++)
        out[n] = (struct pair){str_take(&rest, ' '), (int)n};
    return n;
}

TEST(entries, come_sorted_and_the_last_of_equal_keys_counts)
{
    static const struct {
        const char *keys, *sorted;
        bool stays; /* where it is */
    } cases[] = {
        {"", "", true},
        {"a", "a0 ", true},
        {"a b c", "a0 b1 c2 ", true},
        {"c b a", "a2 b1 c0 ", false},
        {"a a", "a1 ", false},
        {"b a b a b", "a3 b4 ", false},
        {"ab a abc", "a1 ab0 abc2 ", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) said = {0};
        struct pair pairs[8];
        struct entries e = {(char *)pairs, read(cases[i].keys, pairs)};
        test_case("%s", cases[i].keys);
        entries_sort(&e, sizeof(*pairs), &mem);
        EXPECT_INT(e.at == (char *)pairs, cases[i].stays);
        for (uint32_t k = 0; k < e.n; k++) {
            struct pair p;
            memcpy(&p, e.at + k * sizeof(p), sizeof(p));
            buf_printf(&said, STR_FMT "%d ", STR_ARG(p.key), p.value);
        }
        EXPECT_STR(buf_str(&said), cases[i].sorted);
    }
}
