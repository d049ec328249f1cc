/* The numbers and types of our field tables against the API's own definitions
 * (generated_proto.def). */

#include "core/model/tables.h"

#include <stdio.h>

#include "core/model/object.h"
#include "support/test.h"

struct row {
    const char *message, *name;
    uint16_t number;
    const char *type;
    bool is_map;
};

#define ROW(message, name, number, type) {#message, #name, number, #type, false},
#define MAP(message, name, number, type) {#message, #name, number, #type, true},
static const struct row rows[] = {
#include "generated_proto.def"
};

static const struct row *find_row(const char *message, uint16_t number)
{
    for (size_t i = 0; i < LEN(rows); i++) {
        if (rows[i].number == number && !strcmp(rows[i].message, message))
            return &rows[i];
    }
    return NULL;
}

/* Whether a field may be read as it is; messages have tables of their own. */
static bool type_fits(const struct field *f, const char *type)
{
    static const char *const types[] = {
        [FIELD_STR] = "string",  [FIELD_BOOL] = "bool", [FIELD_INT32] = "int32",
        [FIELD_INT64] = "int64", [FIELD_TIME] = "Time", [FIELD_SCALAR] = "Quantity",
        [FIELD_RAW] = "bytes",
    };
    return f->type < LEN(types) && types[f->type] && !strcmp(types[f->type], type);
}

static uint32_t compare_table(const struct field *fields, const char *message);

static uint32_t compare_field(const struct field *f, const char *message)
{
    test_case("%s." STR_FMT, message, STR_ARG(f->name));
    if (!strcmp(message, "PodSpec") && f->number == 42)
        return 0; /* workloadRef is of another release */
    const struct row *row = find_row(message, f->number);
    if (!EXPECT(row))
        return 0;
    if (f->name.n && f->type != FIELD_RAW) /* what JSON does not nest has no name there */
        EXPECT_STR(f->name, row->name);
    EXPECT_INT(f->shape == FIELD_MAP, row->is_map);
    if (row->is_map) {
        const struct field *key = &f->fields[0], *value = &f->fields[1];
        EXPECT(key->number == 1 && key->offset == 0 && type_fits(key, "string"));
        EXPECT_INT(value->number, 2);
        if (value->type == FIELD_MESSAGE)
            return 1 + compare_table(value->fields, row->type);
        EXPECT(type_fits(value, row->type));
        return 1;
    }
    if (f->type == FIELD_MESSAGE)
        return 1 + compare_table(f->fields, row->type);
    EXPECT(type_fits(f, row->type));
    return 1;
}

static uint32_t compare_table(const struct field *fields, const char *message)
{
    uint32_t compared = 0;
    for (const struct field *f = fields; f->name.p; f++) {
        if (f > fields && f[-1].name.n && f->name.n)
            EXPECT(str_compare(f[-1].name, f->name) < 0);
        compared += compare_field(f, message);
    }
    return compared;
}

TEST(tables, have_the_numbers_and_types_of_the_api)
{
    uint32_t compared = 0;
    for (int kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) {
        const struct kind_info *info = kind_info_get((enum kind)kind);
        if (info->is_custom || kind == KIND_POD_GROUP_ALPHA2 || kind == KIND_WORKLOAD)
            continue; /* custom resources have no protobuf, and these are of other releases */
        compared += compare_table(info->fields, info->name);
    }
    EXPECT(compared > 400);
}
