#include "core/wire/yaml.h"

#include "support/test.h"

/* All documents as JSON, one a line; an error ends them as "! LINE: TEXT". */
static void convert(struct str text, struct buf *out)
{
    struct yaml_reader *y = yaml_reader_new(text);
    AUTO(yaml_document) d = {0};
    struct error e;
    while (yaml_reader_next(y, &d, &e))
        buf_printf(out, "%s%s", out->n ? "\n" : "", d.json.p);
    if (e.kind != ERROR_NONE)
        buf_printf(out, "%s! %u: %s", out->n ? "\n" : "", d.line, e.text);
    buf_add(out, STR(""));
    yaml_reader_free(y);
}

static void expect_json(const char *yaml, const char *json)
{
    AUTO(buf) out = {0};
    convert(str_of(yaml), &out);
    if (!EXPECT_TEXT(out.p, json))
        EXPECT_TEXT(NULL, yaml);
}

TEST(yaml, scalars_mean_what_they_mean_to_kubernetes)
{
    static const char *const cases[][2] = {
        {"yes", "true"},
        {"Yes", "true"},
        {"on", "true"},
        {"True", "true"},
        {"y", "true"},
        {"no", "false"},
        {"off", "false"},
        {"FALSE", "false"},
        {"N", "false"},
        {"yEs", "\"yEs\""},
        {"~", "null"},
        {"null", "null"},
        {"Null", "null"},
        {"nul", "\"nul\""},
        {"'yes'", "\"yes\""},
        {"\"no\"", "\"no\""},
        {"'1'", "\"1\""},
        {"''", "\"\""},
        {"1", "1"},
        {"-1", "-1"},
        {"+1", "1"},
        {"-0", "0"},
        {"0", "0"},
        {"1_000", "1000"},
        {"0x1F", "31"},
        {"-0x1f", "-31"},
        {"010", "8"},
        {"0o10", "8"},
        {"08", "8"},
        {"0b101", "5"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "18446744073709552000"},
        {"0.5", "0.5"},
        {".5", "0.5"},
        {"5.", "5"},
        {"1.0", "1"},
        {"1e3", "1000"},
        {"1E-7", "1e-7"},
        {"1e400", "\"1e400\""},
        {"-.5", "-0.5"},
        {".", "\".\""},
        {"1.2.3", "\"1.2.3\""},
        {"100m", "\"100m\""},
        {"1Gi", "\"1Gi\""},
        {"0x", "\"0x\""},
        {"1e", "\"1e\""},
        {"-", "[null]"},
        {"2026-11-16", "\"2026-11-16\""},
        {"2026-11-16T04:00:00Z", "\"2026-11-16T04:00:00Z\""},
        {"12:30:45", "\"12:30:45\""},
        {"a\\b\"c", "\"a\\\\b\\\"c\""},
        {"\"\\u00e9\\x41\"", "\"éA\""},
        {"!!str 5", "\"5\""},
        {"!!int '5'", "5"},
        {"!!float 5", "5"},
        {"!!bool yes", "true"},
        {"!mine 5", "\"5\""},
        {"|\n a\n b\n", "\"a\\nb\\n\""},
        {">-\n a\n b\n", "\"a b\""},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        expect_json(cases[i][0], cases[i][1]);
}

TEST(yaml, collections_become_json_with_sorted_keys)
{
    expect_json("b: 1\na: [x, {c: d}]\n", "{\"a\":[\"x\",{\"c\":\"d\"}],\"b\":1}");
    expect_json("- 1\n- - 2\n-\n", "[1,[2],null]");
    expect_json("{}", "{}");
    expect_json("1: a\ntrue: b\n1.5: c\n", "{\"1\":\"a\",\"1.5\":\"c\",\"true\":\"b\"}");
    expect_json("a: 1\nb: 2\na: 3\n", "{\"a\":3,\"b\":2}");
    expect_json("{\"json\": [1, 2.5, null, \"x\"]}", "{\"json\":[1,2.5,null,\"x\"]}");
}

TEST(yaml, text_holds_any_number_of_documents)
{
    expect_json("", "");
    expect_json("# nothing\n", "");
    expect_json("a: 1\n---\nb: 2\n...\n---\n---\nc\n", "{\"a\":1}\n{\"b\":2}\nnull\n\"c\"");
}

TEST(yaml, aliases_and_merges_are_resolved)
{
    expect_json("a: &x {p: 1}\nb: *x\n", "{\"a\":{\"p\":1},\"b\":{\"p\":1}}");
    expect_json("- &x a\n- &x b\n- *x\n", "[\"a\",\"b\",\"b\"]");
    expect_json("d: &d {p: 1, q: 2}\ne:\n  q: 3\n  <<: *d\n",
                "{\"d\":{\"p\":1,\"q\":2},\"e\":{\"p\":1,\"q\":3}}");
    expect_json(
        "u: &u {a: 1, b: 1}\nv: &v {b: 2, c: 2}\nw: {<<: [*u, *v], c: 3}\n",
        "{\"u\":{\"a\":1,\"b\":1},\"v\":{\"b\":2,\"c\":2},\"w\":{\"a\":1,\"b\":1,\"c\":3}}");
    expect_json("a: &a {k: 1}\nb: &b {<<: *a, l: 2}\nc: {<<: *b}\n",
                "{\"a\":{\"k\":1},\"b\":{\"k\":1,\"l\":2},\"c\":{\"k\":1,\"l\":2}}");
    expect_json("{<<: {a: {p: 1}}, a: {q: 2}}", "{\"a\":{\"q\":2}}");
    expect_json("'<<': 1", "{\"<<\":1}");
}

TEST(yaml, errors_name_the_line)
{
    expect_json("a: 1\nb: *none\n", "! 2: there is no anchor none before this");
    expect_json("&a [*a]\n", "! 1: there is no anchor a before this");
    expect_json("a: 1\nb: [1, 2\n", "! 3: did not find expected ',' or ']'");
    expect_json("a: b: c\n", "! 1: mapping values are not allowed in this context");
    expect_json("ok: 1\n---\n\tx: 1\n",
                "{\"ok\":1}\n! 3: found character that cannot start any token");
    expect_json("a: 1\nb: .inf\n", "! 2: JSON has no number .inf");
    expect_json("a:\n  ? {b: c}\n  : d\n", "! 2: a key must be a scalar");
    expect_json("~: d\n", "! 1: a key must not be null");
    expect_json("a: 1\n<<: 5\n", "! 2: << needs a mapping or a list of them");
    expect_json("\n\n<<: [5]\n", "! 3: << needs a mapping or a list of them");
    expect_json("a: !!int x\n", "! 1: \"x\" is not what its tag says");
    expect_json("a: !!binary aGk=\n", "! 1: no such tag here: tag:yaml.org,2002:binary");
    expect_json("a\n\nb\xff\n", "! 3: invalid leading UTF-8 octet");
    expect_json("a: \x01\n", "! 1: control characters are not allowed");
}

TEST(yaml, marks_lead_from_json_back_to_lines)
{
    struct yaml_reader *y = yaml_reader_new(STR("a: 1\nb:\n  c:\n  - v\n  - w\n"));
    AUTO(yaml_document) d = {0};
    struct error e;
    EXPECT(yaml_reader_next(y, &d, &e));
    EXPECT_TEXT(d.json.p, "{\"a\":1,\"b\":{\"c\":[\"v\",\"w\"]}}");
    static const struct {
        const char *value;
        uint32_t line;
    } cases[] = {
        {"1", 1},
        {"[\"v", 4},
        {"\"v\"", 4},
        {"\"w\"", 5},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        size_t offset = (size_t)(strstr(d.json.p, cases[i].value) - d.json.p);
        EXPECT_INT(yaml_document_line(&d, offset), cases[i].line);
    }
    yaml_reader_free(y);
}

static void expect_refusal(const struct buf *text, const char *error)
{
    AUTO(buf) out = {0};
    convert(buf_str(text), &out);
    EXPECT_TEXT(out.p, error);
}

TEST(yaml, has_limits)
{
    AUTO(buf) deep = {0};
    for (int i = 0; i < 65; i++)
        buf_add_char(&deep, '[');
    expect_refusal(&deep, "! 1: nested deeper than 64 levels");

    AUTO(buf) wide = {0};
    buf_add(&wide, STR("a: "));
    for (int i = 0; i <= 1 << 20; i++)
        buf_add_char(&wide, 'x');
    expect_refusal(&wide, "! 1: a string is longer than 1048576 bytes");
}

TEST(yaml, stops_alias_bombs)
{
    AUTO(buf) bomb = {0};
    buf_add(&bomb, STR("a0: &a0 [x]\n"));
    for (int i = 1; i < 30; i++)
        buf_printf(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1);
    expect_refusal(&bomb, "! 1: aliases expand to more than 4194304 bytes");

    AUTO(buf) merges = {0};
    buf_add(&merges, STR("a0: &a0 {x: 1}\n"));
    for (int i = 1; i < 30; i++)
        buf_printf(&merges, "a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i, i - 1, i - 1, i - 1);
    expect_refusal(&merges, "! 1: aliases expand to more than 4194304 bytes");

    AUTO(buf) deep = {0};
    buf_add(&deep, STR("a0: &a0 [x]\n"));
    for (int i = 1; i < 80; i++)
        buf_printf(&deep, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    expect_refusal(&deep, "! 1: nested deeper than 64 levels");
}

TEST(yaml, says_which_keys_stand_twice)
{
    static const char *const cases[][2] = {
        {"a: 1\nb: 2", ""},
        {"a: 1\nb: 2\na: 3", "3"},
        {"a: {x: 1, x: 2, x: 7}\nb: {y: 5, y: 6}", "7 6"},
        {"a: &a {x: 1}\nb: {<<: *a, x: 2}", ""}, /* what is merged may be overridden */
        {"1: 4\n'1': 5", "5"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct yaml_reader *y = yaml_reader_new(str_of(cases[i][0]));
        AUTO(yaml_document) d = {0};
        AUTO(buf) got = {0};
        struct error e;
        test_case("%s", cases[i][0]);
        EXPECT(yaml_reader_next(y, &d, &e));
        buf_add(&got, STR(""));
        vec_each(&d.doubled, offset)
            buf_printf(&got, "%s%c", got.n ? " " : "", d.json.p[*offset]);
        EXPECT_TEXT(got.p, cases[i][1]);
        yaml_reader_free(y);
    }
}
