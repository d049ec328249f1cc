#include "core/base/buf.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(buf, holds_what_was_added_in_order)
{
    enum { ROOM = 200000 };
    static char model[ROOM];
    size_t n = 0;
    AUTO(buf) b = {0};
    struct rng r = rng_seeded(test_seed());
    while (n < ROOM - 2000) {
        char piece[1000];
        size_t more = rng_below(&r, sizeof(piece));
        for (size_t i = 0; i < more; i++)
            piece[i] = (char)('a' + rng_below(&r, 26));
        switch (rng_below(&r, 4)) {
        case 0:
            buf_add(&b, (struct str){piece, more});
            break;
        case 1:
            buf_add_bytes(&b, piece, more);
            break;
        case 2:
            buf_printf(&b, STR_FMT, STR_ARG(((struct str){piece, more})));
            break;
        default:
            more = 1;
            piece[0] = '\n';
            buf_add_char(&b, '\n');
        }
        memcpy(model + n, piece, more);
        n += more;
        EXPECT_INT(b.n, n);
        EXPECT_INT(b.p[b.n], 0);
    }
    EXPECT(str_equal(buf_str(&b), (struct str){model, n}));
}

TEST(buf, is_empty_at_first_and_after_a_clear)
{
    AUTO(buf) b = {0};
    EXPECT_INT(buf_str(&b).n, 0);
    buf_clear(&b);
    buf_add(&b, (struct str){0});
    EXPECT_TEXT(b.p, "");
    buf_printf(&b, "%d nodes", 12);
    EXPECT_TEXT(b.p, "12 nodes");
    buf_clear(&b);
    EXPECT_TEXT(b.p, "");
    buf_add(&b, STR("again"));
    EXPECT_TEXT(b.p, "again");
}

TEST(buf, numbers_are_written_in_their_base)
{
    static const struct {
        uint64_t value;
        unsigned base;
        const char *text;
    } cases[] = {
        {0, 10, "0"},
        {7, 16, "7"},
        {4711, 10, "4711"},
        {UINT64_MAX, 10, "18446744073709551615"},
        {UINT64_MAX, 16, "ffffffffffffffff"},
        {5, 2, "101"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) b = {0};
        buf_add_number(&b, cases[i].value, cases[i].base);
        EXPECT_TEXT(b.p, cases[i].text);
    }
}

TEST(buf, what_is_written_into_its_room_counts_up_to_its_end)
{
    AUTO(buf) b = {0};
    buf_add(&b, STR("pod"));
    char *room = buf_reserve(&b, 5000);
    memset(room, 's', 5000);
    buf_end(&b, room + 1);
    EXPECT_TEXT(b.p, "pods");
}
