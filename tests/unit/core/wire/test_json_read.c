#include "core/wire/json_read.h"

#include "core/base/buf.h"
#include "support/test.h"

/* A message with every type and shape. */
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
    int letter; /* a scalar: one letter */
    struct leaf leaf, *ref;
    LIST(struct str) names;
    LIST(struct leaf) leaves;
    LIST(struct leaf) pairs;
    LIST(struct entry) times;
    LIST(struct str) raws;
    struct str inlined, nested;
};

static const char *read_letter(struct str text, void *out)
{
    if (text.n != 1)
        return "is not one letter";
    *(int *)out = text.p[0];
    return NULL;
}

static const struct field_scalar letter = {"is not a letter", read_letter, NULL};

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

static const struct field inline_fields[] = {
    {FIELD(STR, "inlined", 1, struct thing, inlined)},
    FIELD_END,
};

static const struct field nested_fields[] = {
    {FIELD(STR, "name", 1, struct thing, nested)},
    FIELD_END,
};

static const struct field fields[] = {
    {FIELD(INT32, "count", 1, struct thing, count), FIELD_HAS(struct thing, has_count)},
    {FIELD(BOOL, "flag", 2, struct thing, flag)},
    {FIELD(INT64, "large", 3, struct thing, large)},
    {FIELD_STRUCT("leaf", 4, struct thing, leaf, leaf_fields)},
    {FIELD_MESSAGES("leaves", 5, struct thing, leaves, leaf_fields)},
    {FIELD(SCALAR, "letter", 6, struct thing, letter), .scalar = &letter},
    {FIELD_STRS("names", 7, struct thing, names)},
    {FIELD_PART("nested", 8, nested_fields)},
    {FIELD_ENTRIES("pairs", 9, struct thing, pairs, leaf_fields)},
    {FIELD(RAW, "raw", 10, struct thing, raw)},
    {FIELD(RAW, "raws", 11, struct thing, raws), .shape = FIELD_LIST,
     FIELD_SIZE(struct thing, raws)},
    {FIELD_REF("ref", 12, struct thing, ref, leaf_fields)},
    {FIELD(STR, "text", 13, struct thing, text)},
    {FIELD_ENTRIES("times", 14, struct thing, times, entry_fields)},
    {FIELD(TIME, "when", 15, struct thing, when_ms)},
    {FIELD_PART("", 16, inline_fields)},
    FIELD_END,
};

/* Single quotes stand for double ones. */
static struct str quote(const char *text, struct arena *mem)
{
    struct str json = arena_str(mem, str_of(text));
    for (char *p = (char *)(uintptr_t)json.p; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return json;
}

static bool read_thing(const char *text, struct thing *out, struct arena *mem)
{
    struct error e = {0};
    size_t where;
    *out = (struct thing){0};
    bool is_fine = json_read(quote(text, mem), fields, out, mem, &where, &e);
    EXPECT_TEXT(e.text, "");
    return is_fine;
}

TEST(json_read, fills_a_struct_with_every_type)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing(" {'text':'a','flag':true,'count':-7,'large':9223372036854775807,"
                       "'when':'1970-01-01T00:00:01Z','letter':'x','leaf':{'key':'k'},"
                       "'ref':{'value':'v'},'names':['p','q'],'leaves':[{'key':'1'},{'key':'2'}],"
                       "'pairs':{'b':'2','a':'1'},'raw':[1, {'x':2}],'raws':[1,'z'],'inlined':'in',"
                       "'nested':{'name':'ne'},'times':{'t':'1970-01-01T00:00:02Z','u':null}} \n",
                       &t, &mem));
    EXPECT_STR(t.text, "a");
    EXPECT(t.flag && t.has_count);
    EXPECT_INT(t.count, -7);
    EXPECT_INT(t.large, INT64_MAX);
    EXPECT_INT(t.when_ms, 1000);
    EXPECT_INT(t.letter, 'x');
    EXPECT_STR(t.leaf.key, "k");
    EXPECT_STR(t.ref->value, "v");
    EXPECT_INT(t.names.n, 2);
    EXPECT_STR(t.names.at[1], "q");
    EXPECT_STR(t.leaves.at[1].key, "2");
    EXPECT_STR(t.pairs.at[0].key, "a");
    EXPECT_STR(t.pairs.at[1].value, "2");
    EXPECT_STR(t.raw, "[1, {\"x\":2}]");
    EXPECT_STR(t.raws.at[1], "\"z\"");
    EXPECT_STR(t.inlined, "in");
    EXPECT_STR(t.nested, "ne");
    EXPECT_INT(t.times.at[0].at_ms, 2000);
    EXPECT_INT(t.times.at[1].at_ms, FIELD_TIME_NONE);
}

TEST(json_read, takes_null_for_absent)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("{'text':null,'flag':null,'count':null,'when':null,'leaf':null,'ref':null,"
                       "'names':null,'pairs':null,'letter':null,'nested':null,'leaves':[null]}",
                       &t, &mem));
    EXPECT(!t.has_count && !t.ref && !t.names.at && !t.pairs.at);
    EXPECT_INT(t.when_ms, FIELD_TIME_NONE);
    EXPECT_INT(t.leaves.n, 1);
    REQUIRE(read_thing("{'ref':{},'names':['a'],'count':1,'ref':null,'names':null,'count':null}",
                       &t, &mem));
    EXPECT(!t.ref && !t.names.n && !t.has_count);
    REQUIRE(read_thing("{'raw':null,'raws':[null]}", &t, &mem)); /* but as it stands, if raw */
    EXPECT_STR(t.raw, "null");
    EXPECT_STR(t.raws.at[0], "null");
}

TEST(json_read, lets_the_last_of_equal_keys_win)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("{'text':'a','text':'b','names':['x','y'],'names':['z'],"
                       "'pairs':{'k':'1','j':'0','k':'2','j':'3','k':'4'}}",
                       &t, &mem));
    EXPECT_STR(t.text, "b");
    EXPECT_INT(t.names.n, 1);
    REQUIRE(t.pairs.n == 2);
    EXPECT_STR(t.pairs.at[0].value, "3");
    EXPECT_STR(t.pairs.at[1].value, "4");
}

TEST(json_read, skips_what_it_does_not_know_and_minds_the_case_of_names)
{
    AUTO(arena) mem = {0};
    struct thing t;
    REQUIRE(read_thing("{'Text':'a','other':{'text':['b',{'c':[]},1.5e-3,true,false,null]},'':1,"
                       "'text':'d','more':[[[]]]}",
                       &t, &mem));
    EXPECT_STR(t.text, "d");
}

TEST(json_read, needs_no_memory_for_what_it_skips)
{
    AUTO(arena) mem = {0};
    struct thing t = {0};
    struct error e = {0};
    size_t where;
    struct str json =
        STR("{\"a\":{\"b\":[1,2,{\"c\":\"\\u00e9\\n\"}],\"d\":\"long text\"},\"text\":\"x\"}");
    REQUIRE(json_read(json, fields, &t, &mem, &where, &e));
    EXPECT_INT(mem.used_bytes, 0);
    EXPECT(t.text.p > json.p && t.text.p < json.p + json.n);
}

TEST(json_read, reads_escapes_and_mends_what_is_no_utf8)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "Aé€"},
        {"\"\\ud83d\\ude00\"", "😀"},
        {"\"\\ud83d\"", "\xef\xbf\xbd"},
        {"\"\\ud83dx\"", "\xef\xbf\xbdx"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                               "A"},
        {"\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd😀"},
        {"\"caf\xc3\xa9\"", "café"},
        {"\"a\xff"
         "b\"",
         "a\xef\xbf\xbd"
         "b"},
        {"\"\xc3\"", "\xef\xbf\xbd"},
        {"\"\xe2\x82\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xc0\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xf4\x90\x80\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\x7f\"", "\x7f"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct thing t = {0};
        struct error e = {0};
        size_t where;
        struct str json = arena_printf(&mem, "{\"text\":%s}", cases[i].json);
        EXPECT(json_read(json, fields, &t, &mem, &where, &e));
        if (!EXPECT_STR(t.text, cases[i].text))
            EXPECT_INT(i, -1);
    }
}

TEST(json_read, says_which_field_is_wrong_and_where)
{
    static const struct {
        const char *json, *error;
        size_t where;
    } cases[] = {
        {"{'text':5}", "text: 5 is not text", 8},
        {"{'text':{'a':1}}", "text: {\"a\":1} is not text", 8},
        {"{'flag':'true'}", "flag: \"true\" is not true or false", 8},
        {"{'count':1.0}", "count: 1.0 is not a 32-bit integer", 9},
        {"{'count':1e3}", "count: 1e3 is not a 32-bit integer", 9},
        {"{'count':2147483648}", "count: 2147483648 is not a 32-bit integer", 9},
        {"{'count':'1'}", "count: \"1\" is not a 32-bit integer", 9},
        {"{'large':9223372036854775808}", "large: 9223372036854775808 is not a 64-bit integer", 9},
        {"{'when':'yesterday'}", "when: \"yesterday\" is not a time (2006-01-02T15:04:05Z)", 8},
        {"{'when':7}", "when: 7 is not a time", 8},
        {"{'letter':'xy'}", "letter: \"xy\" is not one letter", 10},
        {"{'letter':[]}", "letter: [] is not a letter", 10},
        {"{'leaf':[]}", "leaf: [] is not an object", 8},
        {"{'ref':'x'}", "ref: \"x\" is not an object", 7},
        {"{'names':'x'}", "names: \"x\" is not a list", 9},
        {"{'names':['a',2]}", "names[1]: 2 is not text", 14},
        {"{'pairs':[]}", "pairs: [] is not an object", 9},
        {"{'pairs':{'k':3}}", "pairs.k: 3 is not text", 14},
        {"{'pairs':{'a.b/c':3}}", "pairs[a.b/c]: 3 is not text", 18},
        {"{'leaves':[{},{'key':1}]}", "leaves[1].key: 1 is not text", 21},
        {"{'nested':{'name':1}}", "nested.name: 1 is not text", 18},
        {"{'names':['a',}", "names[1]: '}' stands where a value should be", 14},
        {"{'text':'a'", "the text ends where ',' or '}' should be", 11},
        {"{'text'", "the text ends where ':' should be", 7},
        {"{'text':", "text: the text ends where a value should be", 8},
        {"{'text':'a", "text: a string does not end", 8},
        {"{text:1}", "'t' stands where a name in quotes should be", 1},
        {"{'x':tru}", "'t' stands where a value should be", 5},
        {"{'x':01}", "'1' stands where ',' or '}' should be", 6},
        {"{'x':1.}", "'}' stands where a digit should be", 7},
        {"{'x':-}", "'}' stands where a digit should be", 6},
        {"{'x':'\\q'}", "no such escape in a string", 6},
        {"{'x':'\\u12g4'}", "no such escape in a string", 6},
        {"{'x':'a\nb'}", "a control character in a string", 7},
        {"{'x':\x01}", "byte 0x01 stands where a value should be", 5},
        {"{} {}", "something follows the object", 3},
        {"[]", "[] is not an object", 0},
        {"", "the text ends where a value should be", 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct thing t = {0};
        struct error e = {0};
        size_t where = 999;
        EXPECT(!json_read(quote(cases[i].json, &mem), fields, &t, &mem, &where, &e));
        EXPECT_INT(e.kind, ERROR_INVALID);
        if (!EXPECT_TEXT(e.text, cases[i].error) || !EXPECT_INT(where, cases[i].where))
            EXPECT_TEXT(NULL, cases[i].json);
    }
}

static void expect_refusal(const struct buf *json, const char *error)
{
    AUTO(arena) mem = {0};
    struct thing t = {0};
    struct error e = {0};
    size_t where;
    EXPECT(json_read(buf_str(json), fields, &t, &mem, &where, &e) == (error == NULL));
    EXPECT_TEXT(e.text, error ? error : "");
}

static void add_times(struct buf *out, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        buf_add(out, str_of(text));
}

TEST(json_read, has_a_limit_for_depth)
{
    for (unsigned depth = JSON_DEPTH_MOST - 1; depth <= JSON_DEPTH_MOST; depth++) {
        AUTO(buf) json = {0};
        add_times(&json, "{\"x\":", 1);
        add_times(&json, "[", depth);
        add_times(&json, "]", depth);
        add_times(&json, "}", 1);
        expect_refusal(&json, depth < JSON_DEPTH_MOST ? NULL : "nested deeper than 64 levels");
    }
}

TEST(json_read, has_a_limit_for_strings_known_or_not)
{
    for (unsigned more = 0; more <= 1; more++) {
        AUTO(buf) json = {0};
        add_times(&json, "{\"x\":\"", 1);
        add_times(&json, "a", JSON_STRING_MOST - 1 + more);
        add_times(&json, "\"}", 1);
        expect_refusal(&json, more ? "a string is longer than 1048576 bytes" : NULL);
    }
}

TEST(json_read, has_a_limit_for_elements)
{
    for (unsigned more = 0; more <= 1; more++) {
        AUTO(buf) json = {0};
        add_times(&json, "{\"names\":[\"\"", 1);
        add_times(&json, ",\"\"", JSON_COUNT_MOST - 1 + more);
        add_times(&json, "]}", 1);
        expect_refusal(&json, more ? "names[131072]: more than 131072 elements" : NULL);
    }
}

TEST(json_read, has_a_limit_for_memory_that_grows_with_the_text)
{
    AUTO(buf) json = {0};
    add_times(&json, "{\"leaves\":[{}", 1);
    add_times(&json, ",{}", 100000);
    add_times(&json, "]", 1);
    AUTO(arena) mem = {0};
    struct thing t = {0};
    struct error e = {0};
    size_t where;
    add_times(&json, "}", 1);
    EXPECT(!json_read(buf_str(&json), fields, &t, &mem, &where, &e) ||
           mem.used_bytes <= (1 << 20) + 32 * json.n);
}

TEST(json_take, cuts_a_text_into_values)
{
    struct error e;
    size_t where;
    struct str text = STR(" {\"a\":1}\n[2] 3 "), value;
    REQUIRE(json_take(&text, &value, &where, &e));
    EXPECT_STR(value, "{\"a\":1}");
    REQUIRE(json_take(&text, &value, &where, &e));
    EXPECT_STR(value, "[2]");
    REQUIRE(json_take(&text, &value, &where, &e));
    EXPECT_STR(value, "3");
    EXPECT(!json_take(&text, &value, &where, &e));
    EXPECT_INT(e.kind, ERROR_NONE);

    text = STR("{} }");
    REQUIRE(json_take(&text, &value, &where, &e));
    EXPECT(!json_take(&text, &value, &where, &e));
    EXPECT_TEXT(e.text, "'}' stands where a value should be");
    EXPECT_INT(where, 1);
}

TEST(json_line, counts_from_one)
{
    struct str text = STR("a\nb\n\nc");
    EXPECT_INT(json_line(text, 0), 1);
    EXPECT_INT(json_line(text, 1), 1);
    EXPECT_INT(json_line(text, 2), 2);
    EXPECT_INT(json_line(text, 5), 4);
    EXPECT_INT(json_line(text, 99), 4);
}
