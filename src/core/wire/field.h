#pragma once

#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/base/str.h"

/* How a message on the wire becomes a struct: one table of rows per kind of message, for every
 * format. JSON and YAML look a field up by its name, protobuf by its number. A field without a row
 * is skipped.
 *
 * A table ends with FIELD_END. Rows stand in alphabetical order, as `kubectl get -o json` prints
 * them: a reader looks for the next name behind the last one it found. */

enum field_type {
    FIELD_STR,     /* struct str */
    FIELD_BOOL,    /* bool */
    FIELD_INT32,   /* int32_t */
    FIELD_INT64,   /* int64_t */
    FIELD_TIME,    /* int64_t, milliseconds since 1970; FIELD_TIME_NONE if absent */
    FIELD_SCALAR,  /* text or a number with a meaning of its own: `scalar` reads it */
    FIELD_RAW,     /* struct str: the value as it stands in the text, syntax checked */
    FIELD_MESSAGE, /* a struct with a table of its own: `fields` */
};

enum field_shape {
    FIELD_ONE,     /* the value itself */
    FIELD_POINTER, /* a pointer to it; NULL if absent */
    FIELD_LIST,    /* LIST(type) */
    FIELD_MAP,     /* LIST(struct): the table's row 0 is the key, row 1 the value; sorted by key */
};

#define FIELD_TIME_NONE INT64_MIN

/* A type that wire/ does not know, written as text (or, in JSON, as a number). */
struct field_scalar {
    const char *wrong; /* with a value of another type: "is not a quantity" */
    const char *(*read)(struct str text, void *out); /* what is wrong with the text, or NULL */
    bool (*equal)(const void *a, const void *b);     /* for fields_equal(); NULL: never compared */
};

struct field {
    struct str name; /* as JSON and YAML spell it. "": only protobuf nests this message; in JSON its
                      * fields stand among ours */
    uint16_t number; /* in protobuf */
    uint8_t type;    /* enum field_type */
    uint8_t shape;   /* enum field_shape */
    uint16_t offset; /* in the struct */
    uint16_t has_offset; /* of a bool that says "it was there"; 0: none */
    uint16_t size;       /* of an element of a list or map, or of what a pointer points to */
    bool is_secret;      /* no error shows its value */
    const struct field *fields;
    const struct field_scalar *scalar;
};

#define FIELD_END                                                                                  \
    {                                                                                              \
        .name = { NULL, 0 }                                                                        \
    }

#define FIELD_NAME(text)     .name = {"" text, sizeof(text) - 1}
#define FIELD_AT(s, member)  .offset = offsetof(s, member)
#define FIELD_HAS(s, member) .has_offset = offsetof(s, member)
#define FIELD_SECRET         .is_secret = true

/* A plain value: FIELD(STR, "nodeName", 10, struct pod, spec.node_name). */
#define FIELD(kind, text, num, s, member)                                                          \
    FIELD_NAME(text), .number = num, .type = FIELD_##kind, FIELD_AT(s, member)

/* A message whose table gives offsets in the same struct as this row's. */
#define FIELD_PART(text, num, table)                                                               \
    FIELD_NAME(text), .number = num, .type = FIELD_MESSAGE, .fields = table

/* A struct inside the struct, by pointer or by value, with a table of its own. */
#define FIELD_STRUCT(text, num, s, member, table)                                                  \
    FIELD(MESSAGE, text, num, s, member), .fields = table
#define FIELD_REF(text, num, s, member, table)                                                     \
    FIELD(MESSAGE, text, num, s, member), .shape = FIELD_POINTER, .fields = table,                 \
                                          .size = sizeof(*((s *)0)->member)

#define FIELD_SIZE(s, member) .size = sizeof(*((s *)0)->member.at)
#define FIELD_STRS(text, num, s, member)                                                           \
    FIELD(STR, text, num, s, member), .shape = FIELD_LIST, FIELD_SIZE(s, member)
#define FIELD_MESSAGES(text, num, s, member, table)                                                \
    FIELD(MESSAGE, text, num, s, member), .shape = FIELD_LIST, FIELD_SIZE(s, member),              \
                                          .fields = table
#define FIELD_ENTRIES(text, num, s, member, table)                                                 \
    FIELD(MESSAGE, text, num, s, member), .shape = FIELD_MAP, FIELD_SIZE(s, member), .fields = table

/* The state of an absent message: all zero but its times. */
void field_init(const struct field *fields, void *message);

/* A message that was copied byte for byte gets copies of all that it points to; they live in `mem`.
 */
void fields_keep(const struct field *fields, void *message, struct arena *mem);

/* Do two messages say the same in every field of the table? */
bool fields_equal(const struct field *fields, const void *a, const void *b);
