#include "core/wire/frames.h"

#include "support/test.h"

/* Puts a piece and writes down what comes: [frame] for each, ! for an error. */
static void put(struct frames *f, struct str piece, struct buf *story)
{
    struct str frame;
    struct error e;
    frames_put(f, piece);
    while (frames_next(f, &frame, &e))
        buf_printf(story, "[" STR_FMT "]", STR_ARG(frame));
    if (e.kind != ERROR_NONE)
        buf_add_char(story, '!');
}

TEST(frames, are_cut_at_their_length)
{
    static const struct str pieces[] = {
        {"\0\0\0\3abc\0\0\0", 10},
        {"\2d", 2},
        {"e\0\0\0\0\0\0\0\1f\0", 11},
        {"", 0},
        {"\0\0\1g", 4},
    };
    AUTO(frames) f = {.encoding = ENCODING_PROTO, .frame_most = 3};
    AUTO(buf) story = {0};
    for (size_t i = 0; i < LEN(pieces); i++)
        put(&f, pieces[i], &story);
    EXPECT_TEXT(story.p, "[abc][de][][f][g]");
}

TEST(frames, are_lines_in_json)
{
    static const struct str pieces[] = {
        {"{1}\n{", 5},
        {"2", 1},
        {"}", 1},
        {"\n{3}\n{4}\n", 9},
    };
    AUTO(frames) f = {.encoding = ENCODING_JSON, .frame_most = 3};
    AUTO(buf) story = {0};
    for (size_t i = 0; i < LEN(pieces); i++)
        put(&f, pieces[i], &story);
    EXPECT_TEXT(story.p, "[{1}][{2}][{3}][{4}]");
}

TEST(frames, that_are_too_long_are_refused)
{
    static const struct {
        enum encoding encoding;
        struct str pieces[2];
        const char *story;
    } cases[] = {
        {ENCODING_PROTO, {{"\0\0\0\4a", 5}, {0}}, "!"},
        {ENCODING_PROTO, {{"\xff\xff\xff", 3}, {"\xff", 1}}, "!"},
        {ENCODING_JSON, {{"abc", 3}, {"d", 1}}, "!"},
        {ENCODING_JSON, {{"abcd\n", 5}, {0}}, "!"},
        {ENCODING_JSON, {{"ab", 2}, {"c\n", 2}}, "[abc]"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(frames) f = {.encoding = cases[i].encoding, .frame_most = 3};
        AUTO(buf) story = {0};
        for (size_t piece = 0; piece < 2 && !(story.n && story.p[0] == '!'); piece++)
            put(&f, cases[i].pieces[piece], &story);
        EXPECT_TEXT(story.p, cases[i].story);
    }
}

/* A head that promises much must not make us allocate it. */
TEST(frames, hold_only_what_has_come)
{
    AUTO(frames) f = {.encoding = ENCODING_PROTO, .frame_most = 1 << 30};
    AUTO(buf) story = {0};
    put(&f,
        (struct str){"\x3f\xff\xff\xff"
                     "ab",
                     6},
        &story);
    EXPECT_INT(story.n, 0);
    EXPECT_INT(f.held.n, 2);
    EXPECT(f.held.cap < 1000);
}

TEST(frames, give_room_back_but_not_what_has_come)
{
    AUTO(frames) f = {.encoding = ENCODING_PROTO, .frame_most = 8};
    AUTO(buf) story = {0};
    put(&f, (struct str){"\0\0\0\3a", 5}, &story);
    frames_trim(&f);
    put(&f, (struct str){"bc\0\0", 4}, &story);
    frames_trim(&f);
    EXPECT(!f.held.p);
    put(&f, (struct str){"\0\1d", 3}, &story);
    EXPECT_TEXT(story.p, "[abc][d]");
}
