#include "core/wire/proto.h"

#include "support/test.h"

/* A message with every type and shape; it can hold itself. */
struct leaf {
    struct str key, value;
};

struct entry {
    struct str name;
    int64_t at_ms;
};

struct thing {
    struct str text, raw;
    bool flag, has_count;
    int32_t count;
    int64_t large, when_ms;
    struct {
        char text[16];
    } scalar;
    struct leaf leaf, *ref;
    LIST(struct str) names;
    LIST(struct leaf) leaves;
    LIST(struct leaf) pairs;
    LIST(struct entry) times;
    LIST(int32_t) numbers;
    LIST(bool) flags;
    struct str inner;
    struct thing *self;
};

static const char *read_text(struct str text, void *out)
{
    if (text.n > 15)
        return "is not short";
    memcpy(out, text.p, text.n);
    return NULL;
}

static const struct field_scalar short_text = {"is not text", read_text, NULL};

static const struct field leaf_fields[] = {
    {FIELD(STR, "key", 1, struct leaf, key)},
    {FIELD(STR, "value", 2, struct leaf, value)},
    FIELD_END,
};

static const struct field entry_fields[] = {
    {FIELD(STR, "key", 1, struct entry, name)},
    {FIELD(TIME, "value", 2, struct entry, at_ms)},
    FIELD_END,
};

static const struct field inner_fields[] = {
    {FIELD(STR, "inner", 1, struct thing, inner)},
    FIELD_END,
};

static const struct field fields[] = {
    {FIELD(INT32, "count", 1, struct thing, count), FIELD_HAS(struct thing, has_count)},
    {FIELD(BOOL, "flag", 2, struct thing, flag)},
    {FIELD(INT64, "large", 3, struct thing, large)},
    {FIELD_STRUCT("leaf", 4, struct thing, leaf, leaf_fields)},
    {FIELD_MESSAGES("leaves", 5, struct thing, leaves, leaf_fields)},
    {FIELD(SCALAR, "scalar", 6, struct thing, scalar), .scalar = &short_text},
    {FIELD_STRS("names", 7, struct thing, names)},
    {FIELD_PART("", 8, inner_fields)},
    {FIELD_ENTRIES("pairs", 9, struct thing, pairs, leaf_fields)},
    {FIELD(RAW, "raw", 10, struct thing, raw)},
    {FIELD(INT32, "numbers", 11, struct thing, numbers), .shape = FIELD_LIST,
     FIELD_SIZE(struct thing, numbers)},
    {FIELD_REF("ref", 12, struct thing, ref, leaf_fields)},
    {FIELD(STR, "text", 13, struct thing, text)},
    {FIELD_ENTRIES("times", 14, struct thing, times, entry_fields)},
    {FIELD(TIME, "when", 15, struct thing, when_ms)},
    {FIELD(BOOL, "flags", 48, struct thing, flags), .shape = FIELD_LIST,
     FIELD_SIZE(struct thing, flags)},
    {FIELD_REF("self", 63, struct thing, self, fields)},
    FIELD_END,
};

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Bytes from a text: 0a 01 'x is the byte of a letter. */
static struct str bytes_of(const char *text, struct arena *mem)
{
    char *bytes = arena_alloc(mem, strlen(text) + 1);
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        if (*p == ' ')
            continue;
        bytes[n++] = (char)(*p == '\'' ? p[1] : digit(p[0]) << 4 | digit(p[1]));
        p++;
    }
    return (struct str){arena_copy(mem, bytes, n), n};
}

static bool read_thing(const char *text, struct thing *out, struct arena *mem)
{
    struct error e = {0};
    *out = (struct thing){0};
    bool is_fine = proto_read(bytes_of(text, mem), fields, out, mem, &e);
    EXPECT_TEXT(e.text, "");
    return is_fine;
}

TEST(proto, fills_a_struct_with_every_type)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("08 f9ffffffffffffffff01  10 01  18 ffffffffffffffff7f  22 03 0a 01 'k"
                       "2a 03 0a 01 '1  2a 03 0a 01 '2  32 03 0a 01 'x  3a 01 'p  3a 01 'q"
                       "42 03 0a 01 'i  4a 06 0a 01 'a 12 01 '1  4a 06 0a 01 'b 12 01 '2"
                       "52 02 ff 00  58 07  62 03 12 01 'v  6a 01 't"
                       "72 07 0a 01 't 12 02 08 02  72 03 0a 01 'u  7a 06 08 01 10 80 89 7a",
                       &t, &mem));
    EXPECT(t.flag && t.has_count);
    EXPECT_INT(t.count, -7);
    EXPECT_INT(t.large, INT64_MAX);
    EXPECT_STR(t.leaf.key, "k");
    EXPECT_INT(t.leaves.n, 2);
    EXPECT_STR(t.leaves.at[1].key, "2");
    EXPECT_TEXT(t.scalar.text, "x");
    EXPECT_INT(t.names.n, 2);
    EXPECT_STR(t.names.at[1], "q");
    EXPECT_STR(t.inner, "i");
    EXPECT_INT(t.pairs.n, 2);
    EXPECT_STR(t.pairs.at[1].value, "2");
    EXPECT_INT(t.raw.n, 2);
    EXPECT_INT(t.numbers.at[0], 7);
    EXPECT_STR(t.ref->value, "v");
    EXPECT_STR(t.text, "t");
    EXPECT_INT(t.times.n, 2);
    EXPECT_INT(t.times.at[0].at_ms, 2000);
    EXPECT_INT(t.times.at[1].at_ms, FIELD_TIME_NONE);
    EXPECT_INT(t.when_ms, 1002);
}

TEST(proto, an_empty_message_leaves_everything_absent)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("", &t, &mem));
    EXPECT(!t.has_count && !t.ref && !t.names.at && !t.text.p);
    EXPECT_INT(t.when_ms, FIELD_TIME_NONE);
    REQUIRE(read_thing("7a 00  62 00  08 00  32 00", &t, &mem));
    EXPECT(t.has_count && t.ref && t.count == 0);
    EXPECT_INT(t.when_ms, FIELD_TIME_NONE);
    EXPECT_TEXT(t.scalar.text, "");
}

TEST(proto, fields_without_a_row_take_no_memory)
{
    AUTO(arena) mem = {0};
    struct thing t = {0};
    struct error e = {0};
    struct str bytes = bytes_of("8803 07  f207 03 'a 'b 'c  89 03 0102030405060708"
                                "8d 03 01020304  f8ffffff0f 01  10 01",
                                &mem);
    size_t before = mem.used_bytes;
    REQUIRE(proto_read(bytes, fields, &t, &mem, &e));
    EXPECT(t.flag);
    EXPECT_INT(mem.used_bytes, before);
}

TEST(proto, of_equal_scalars_the_last_wins_and_messages_are_merged)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("6a 01 'a 6a 01 'b  22 03 0a 01 'k  22 03 12 01 'v"
                       "62 03 0a 01 'k  62 03 12 01 'w",
                       &t, &mem));
    EXPECT_STR(t.text, "b");
    EXPECT_STR(t.leaf.key, "k");
    EXPECT_STR(t.leaf.value, "v");
    EXPECT_STR(t.ref->key, "k");
    EXPECT_STR(t.ref->value, "w");
}

TEST(proto, a_list_goes_on_where_it_stopped)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("3a 01 'p  3a 01 'q  10 01  3a 01 'r", &t, &mem));
    REQUIRE(t.names.n == 3);
    EXPECT_STR(t.names.at[0], "p");
    EXPECT_STR(t.names.at[2], "r");
}

TEST(proto, numbers_may_be_packed_or_not)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("58 01  5a 04 02 03 ac 02  58 04  5a 00  8203 02 01 00", &t, &mem));
    static const int32_t wanted[] = {1, 2, 3, 300, 4};
    REQUIRE(t.numbers.n == LEN(wanted));
    EXPECT(!memcmp(t.numbers.at, wanted, sizeof(wanted)));
    EXPECT(t.flags.n == 2 && t.flags.at[0] && !t.flags.at[1]);
}

TEST(proto, a_map_is_sorted_and_the_last_of_equal_keys_wins)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("4a 06 0a 01 'b 12 01 '1  4a 06 0a 01 'a 12 01 '2  4a 06 0a 01 'b 12 01 '3"
                       "10 01  4a 03 12 01 '4",
                       &t, &mem));
    REQUIRE(t.pairs.n == 3);
    EXPECT_STR(t.pairs.at[0].key, "");
    EXPECT_STR(t.pairs.at[0].value, "4");
    EXPECT_STR(t.pairs.at[1].key, "a");
    EXPECT_STR(t.pairs.at[2].value, "3");
}

TEST(proto, a_number_or_text_is_a_scalar)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"32 0d 08 00 10 ceffffffffffffffff01", "-50"},
        {"32 09 08 01 10 00 1a 03 '5 '0 '%", "50%"},
        {"32 06 0a 04 '1 '. '5 'G", "1.5G"},
        {"32 02 08 00", "0"},
    };
    AUTO(arena) mem = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        struct thing t;
        test_case("%s", cases[i].bytes);
        REQUIRE(read_thing(cases[i].bytes, &t, &mem));
        EXPECT_TEXT(t.scalar.text, cases[i].text);
    }
}

TEST(proto, an_error_names_the_field)
{
    static const struct {
        const char *bytes, *wrong;
    } cases[] = {
        {"80", "field 0 has no number"},
        {"00 00", "field 0 has no number"},
        {"8080808080 01 00", "field 0 has no number"},
        {"6a", "field 13 does not end where its message ends"},
        {"6a 02 'a", "field 13 does not end where its message ends"},
        {"6a ffffffffffffffffff01", "field 13 does not end where its message ends"},
        {"08 80", "field 1 does not end where its message ends"},
        {"08 80808080808080808080 01", "field 1 does not end where its message ends"},
        {"89 03 00000000000000", "field 49 does not end where its message ends"},
        {"8d 03 000000", "field 49 does not end where its message ends"},
        {"8b 03", "field 49 is of a type that Kubernetes does not use"},
        {"8c 03", "field 49 is of a type that Kubernetes does not use"},
        {"8f 03", "field 49 is of a type that Kubernetes does not use"},
        {"6a 00 68 01", "text: is a number"},
        {"0a 00", "count: is not a number"},
        {"0d 00000000", "count: is not a number"},
        {"22 02 08 01", "leaf.key: is a number"},
        {"2a 00 2a 02 10 01", "leaves[1].value: is a number"},
        {"2a 00 2a 05 0a", "field 5 does not end where its message ends"},
        {"3a 01 'a 38 01", "names[1]: is a number"},
        {"5a 02 01 80", "numbers: does not end where its list ends"},
        {"42 01 0a", "field 1 does not end where its message ends"},
        {"42 02 08 01", "inner: is a number"},
        {"4a 02 08 01", "pairs[0].key: is a number"},
        {"72 03 12 01 08", "times[0].value: field 1 does not end where its message ends"},
        {"7a 0b 08 ffffffffffffffff7f 10", "when: field 2 does not end where its message ends"},
        {"7a 0a 08 ffffffffffffffff7f", "when: is not a time"},
        {"7a 06 10 80 94 eb dc 03", "when: is not a time"},
        {"7a 0b 10 ffffffffffffffffff01", "when: is not a time"},
        {"32 02 0a 01", "scalar: field 1 does not end where its message ends"},
        {"32 12 0a 10 '1 '2 '3 '4 '5 '6 '7 '8 '9 '0 '1 '2 '3 '4 '5 '6",
         "scalar: \"1234567890123456\" is not short"},
    };
    AUTO(arena) mem = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        struct thing t = {0};
        struct error e = {0};
        test_case("%s", cases[i].bytes);
        EXPECT(!proto_read(bytes_of(cases[i].bytes, &mem), fields, &t, &mem, &e));
        EXPECT_INT(e.kind, ERROR_INVALID);
        EXPECT_TEXT(e.text, cases[i].wrong);
    }
}

static const char *refusal_of(const struct buf *bytes, struct error *e)
{
    AUTO(arena) mem = {0};
    struct thing t = {0};
    *e = (struct error){0};
    EXPECT(!proto_read(buf_str(bytes), fields, &t, &mem, e));
    return e->text;
}

TEST(proto, depth_count_and_size_have_limits)
{
    struct error e;
    AUTO(buf) deep = {0};
    size_t at[PROTO_DEPTH_MOST];
    for (size_t i = 0; i < LEN(at); i++)
        at[i] = proto_open(&deep, 63);
    for (size_t i = LEN(at); i-- > 0;)
        proto_close(&deep, at[i]);
    EXPECT(strstr(refusal_of(&deep, &e), ": is nested too deeply"));

    AUTO(buf) many = {0};
    for (uint32_t i = 0; i <= PROTO_COUNT_MOST; i++)
        buf_add_bytes(&many, "\x58\x01", 2);
    EXPECT_TEXT(refusal_of(&many, &e), "numbers: more than 131072 elements");

    AUTO(buf) large = {0};
    for (uint32_t i = 0; i < 100000; i++) /* a list that starts anew each time */
        buf_add_bytes(&large, "\x3a\x00\x10\x01", 4);
    EXPECT_TEXT(refusal_of(&large, &e), "names: needs more than 13848576 bytes of memory");

    AUTO(buf) text = {0};
    AUTO(buf) bytes = {0};
    for (uint32_t i = 0; i <= PROTO_STRING_MOST; i++)
        buf_add_char(&text, 'x');
    proto_put_str(&bytes, 13, buf_str(&text));
    EXPECT_TEXT(refusal_of(&bytes, &e), "text: is too long");
}

TEST(proto, what_is_written_is_read)
{
    AUTO(arena) mem = {0};
    AUTO(buf) out = {0};
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 100000};
    for (size_t i = 0; i < LEN(sizes); i++) {
        struct thing t = {0};
        struct error e = {0};
        char *text = arena_alloc(&mem, sizes[i]);
        memset(text, 'a', sizes[i]);
        buf_clear(&out);
        size_t self = proto_open(&out, 63), ref = proto_open(&out, 12);
        proto_put_str(&out, 2, (struct str){text, sizes[i]});
        proto_close(&out, ref);
        proto_put_int(&out, 1, -5);
        proto_close(&out, self);
        proto_put_int(&out, 3, INT64_MIN);
        test_case("%zu bytes", sizes[i]);
        REQUIRE(proto_read(buf_str(&out), fields, &t, &mem, &e));
        EXPECT_INT(t.large, INT64_MIN);
        EXPECT_INT(t.self->count, -5);
        EXPECT(str_equal(t.self->ref->value, (struct str){text, sizes[i]}));
    }
}

TEST(proto, fields_can_be_taken_one_by_one)
{
    AUTO(arena) mem = {0};
    struct str rest = bytes_of("08 07  12 01 'x  0a 05", &mem);
    struct proto_value v;
    struct error e;
    EXPECT(proto_take(&rest, &v, &e) && v.number == 1 && v.wire == PROTO_VARINT && v.bits == 7);
    EXPECT(proto_take(&rest, &v, &e) && v.number == 2 && v.wire == PROTO_BYTES);
    EXPECT_STR(v.bytes, "x");
    EXPECT(!proto_take(&rest, &v, &e));
    EXPECT_TEXT(e.text, "field 1 does not end where its message ends");
    rest.n = 0;
    EXPECT(!proto_take(&rest, &v, &e) && e.kind == ERROR_NONE);
}

TEST(proto, a_message_can_be_cut_at_a_field)
{
    static const struct {
        const char *message;
        bool is_cut;
        size_t before, behind;
        const char *bytes; /* NULL: it has none */
    } cases[] = {
        {"", true, 0, 0, NULL},
        {"08 07", true, 2, 0, NULL},
        {"12 01 'x", true, 0, 0, "x"},
        {"08 07  12 01 'x  1a 01 'y", true, 2, 3, "x"},
        {"12 00", true, 0, 0, ""},
        {"12 01 'x  12 01 'y", false, 0, 0, NULL}, /* twice */
        {"10 07", false, 0, 0, NULL},              /* a number */
        {"08 07  12 05 'x", false, 0, 0, NULL},    /* it does not end */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct proto_cut cut;
        test_case("%s", cases[i].message);
        EXPECT_INT(proto_cut(bytes_of(cases[i].message, &mem), 2, &cut), cases[i].is_cut);
        if (!cases[i].is_cut)
            continue;
        EXPECT_INT(cut.before.n, cases[i].before);
        EXPECT_INT(cut.behind.n, cases[i].behind);
        EXPECT_INT(cut.bytes.p != NULL, cases[i].bytes != NULL);
        if (cases[i].bytes)
            EXPECT_STR(cut.bytes, cases[i].bytes);
    }
}

/* What is put in, one after another: {1: number, 2: text, 3: {1: text, 2: number}}. */
static uint64_t digest_of(int64_t number, const char *text, const char *inner, int64_t ignored)
{
    static const struct proto_part inside = {.whole = PROTO_FIELD(1)};
    static const struct proto_part part = {
        .whole = PROTO_FIELD(1) | PROTO_FIELD(2), .inside = PROTO_FIELD(3), .of = &inside};
    AUTO(buf) b = {0};
    proto_put_int(&b, 1, number);
    proto_put_str(&b, 2, str_of(text));
    proto_put_int(&b, 70, ignored);
    size_t at = proto_open(&b, 3);
    proto_put_str(&b, 1, str_of(inner));
    proto_put_int(&b, 2, ignored);
    proto_close(&b, at);
    proto_put_int(&b, 4, ignored);
    return proto_digest(buf_str(&b), &part, 0);
}

TEST(proto, a_digest_is_of_the_fields_that_count)
{
    uint64_t digest = digest_of(1, "a", "b", 1);
    EXPECT(digest != 0 && digest == digest_of(1, "a", "b", 2));
    EXPECT(digest != digest_of(2, "a", "b", 1));
    EXPECT(digest != digest_of(1, "ab", "", 1));
    EXPECT(digest != digest_of(1, "a", "c", 1));
    static const struct proto_part all = {.whole = ~0ull};
    EXPECT_INT(proto_digest((struct str){"\x0a\x7f", 2}, &all, 1), 0);
}
