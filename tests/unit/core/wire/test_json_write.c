#include "core/wire/json_write.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "support/test.h"

static void put_all(struct json_writer *w)
{
    json_put_open(w, '{');
    json_put_key(w, STR("a"));
    json_put_int(w, -1);
    json_put_key(w, STR("b"));
    json_put_open(w, '[');
    json_put_str(w, STR("x\"\\\n\x01é"));
    json_put_bool(w, true);
    json_put_null(w);
    json_put_open(w, '[');
    json_put_close(w, ']');
    json_put_close(w, ']');
    json_put_key(w, STR("c"));
    json_put_open(w, '{');
    json_put_close(w, '}');
    json_put_key(w, STR("d"));
    json_put_double(w, 0.5);
    json_put_close(w, '}');
}

TEST(json_write, puts_commas_and_colons)
{
    AUTO(buf) out = {0};
    struct json_writer w = {.out = &out};
    put_all(&w);
    EXPECT_TEXT(out.p,
                "{\"a\":-1,\"b\":[\"x\\\"\\\\\\n\\u0001é\",true,null,[]],\"c\":{},\"d\":0.5}");
}

TEST(json_write, indents_by_two)
{
    AUTO(buf) out = {0};
    struct json_writer w = {.out = &out, .is_pretty = true};
    put_all(&w);
    EXPECT_TEXT(out.p, "{\n"
                       "  \"a\": -1,\n"
                       "  \"b\": [\n"
                       "    \"x\\\"\\\\\\n\\u0001é\",\n"
                       "    true,\n"
                       "    null,\n"
                       "    []\n"
                       "  ],\n"
                       "  \"c\": {},\n"
                       "  \"d\": 0.5\n"
                       "}");
}

TEST(json_write, escapes_what_is_no_text)
{
    static const struct {
        struct str value;
        const char *text;
    } cases[] = {
        {STR("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\nd\\u0001\""},
        {STR("\xc3\xa9 \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xf0\x9f\x98\x80\""},
        {STR("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {STR("\xc0\xafx"), "\"\xef\xbf\xbd\xef\xbf\xbdx\""},
        {STR(""), "\"\""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) out = {0};
        json_add_str(&out, cases[i].value);
        EXPECT_TEXT(out.p, cases[i].text);
    }
}

TEST(json_write, prints_doubles_as_go_does)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {123456.789, "123456.789"},
        {0.000001, "0.000001"},
        {0.0000001, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {5e-324, "5e-324"},
        {0.30000000000000004, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
        {NAN, "null"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) out = {0};
        json_add_double(&out, cases[i].value);
        EXPECT_TEXT(out.p, cases[i].text);
    }
}

TEST(json_write, prints_doubles_that_read_back_as_the_same)
{
    struct rng rng = rng_seeded(test_seed());
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        AUTO(buf) out = {0};
        json_add_double(&out, value);
        if (!EXPECT_REAL(strtod(out.p, NULL), value))
            return;
    }
}
