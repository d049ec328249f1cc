#include "core/wire/field.h"

#include "core/wire/json_read.h"
#include "support/test.h"

struct leaf {
    struct str name;
    int64_t number;
};

struct tree {
    struct str name;
    bool has_number, is_true;
    int32_t number;
    int64_t time_ms;
    struct leaf inner, *pointer;
    LIST(struct leaf) leaves;
    LIST(struct leaf) named;
    LIST(struct str) words;
};

static const struct field leaf_fields[] = {
    {FIELD(STR, "name", 1, struct leaf, name)},
    {FIELD(INT64, "number", 2, struct leaf, number)},
    FIELD_END,
};

static const struct field tree_fields[] = {
    {FIELD_STRUCT("inner", 1, struct tree, inner, leaf_fields)},
    {FIELD(BOOL, "isTrue", 2, struct tree, is_true)},
    {FIELD_MESSAGES("leaves", 3, struct tree, leaves, leaf_fields)},
    {FIELD(STR, "name", 4, struct tree, name)},
    {FIELD_ENTRIES("named", 5, struct tree, named, leaf_fields)},
    {FIELD(INT32, "number", 6, struct tree, number), FIELD_HAS(struct tree, has_number)},
    {FIELD_REF("pointer", 7, struct tree, pointer, leaf_fields)},
    {FIELD(TIME, "time", 8, struct tree, time_ms)},
    {FIELD_STRS("words", 9, struct tree, words)},
    FIELD_END,
};

#define WHOLE                                                                                      \
    "{\"inner\":{\"name\":\"i\"},\"isTrue\":true,\"leaves\":[{\"name\":\"a\",\"number\":1},{}],"   \
    "\"name\":\"t\",\"named\":{\"k\":7},\"number\":0,\"pointer\":{\"number\":5},"                  \
    "\"time\":\"2026-01-01T00:00:00Z\",\"words\":[\"x\",\"y\"]}"

static struct tree read_tree(const char *text, struct arena *mem)
{
    struct tree tree = {0};
    struct error e = {0};
    size_t where;
    field_init(tree_fields, &tree);
    EXPECT(json_read(str_of(text), tree_fields, &tree, mem, &where, &e));
    return tree;
}

TEST(field, a_kept_message_outlives_what_it_was_read_from)
{
    struct arena mem = {0}, kept = {0}, again = {0};
    char text[] = WHOLE;
    struct tree tree = read_tree(text, &mem);
    fields_keep(tree_fields, &tree, &kept);
    memset(text, 'x', sizeof(text) - 1);
    arena_done(&mem);
    struct tree other = read_tree(WHOLE, &again);
    EXPECT(fields_equal(tree_fields, &tree, &other));
    arena_done(&kept);
    arena_done(&again);
}

TEST(field, messages_differ_in_any_of_their_fields)
{
    static const char *const others[] = {
        "{}",
        "{\"inner\":{\"name\":\"i\"}}",
        "{\"inner\":{\"number\":1}}",
        "{\"isTrue\":true}",
        "{\"leaves\":[{}]}",
        "{\"leaves\":[{\"name\":\"a\"}]}",
        "{\"name\":\"t\"}",
        "{\"named\":{\"k\":7}}",
        "{\"named\":{\"k\":8}}",
        "{\"named\":{\"l\":7}}",
        "{\"number\":0}",
        "{\"number\":1}",
        "{\"pointer\":{}}",
        "{\"pointer\":{\"number\":5}}",
        "{\"time\":\"2026-01-01T00:00:00Z\"}",
        "{\"words\":[\"x\"]}",
        "{\"words\":[\"y\"]}",
    };
    struct arena mem = {0};
    for (size_t i = 0; i < LEN(others); i++)
        for (size_t k = 0; k < LEN(others); k++) {
            struct tree a = read_tree(others[i], &mem), b = read_tree(others[k], &mem);
            test_case("%s and %s", others[i], others[k]);
            EXPECT_INT(fields_equal(tree_fields, &a, &b), i == k);
        }
    arena_done(&mem);
}
