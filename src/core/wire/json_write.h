#pragma once

#include "core/base/buf.h"
#include "core/base/str.h"

/* JSON text, written piece by piece; commas, colons and indentation come by themselves.
 *
 *     struct json_writer w = {.out = &text, .is_pretty = true};
 *     json_put_open(&w, '{');
 *     json_put_key(&w, STR("nodes"));
 *     json_put_int(&w, 3);
 *     json_put_close(&w, '}');
 */
struct json_writer {
    struct buf *out;
    bool is_pretty; /* two spaces a level, a line for each entry */
    uint8_t depth;
    bool is_after_key;
    uint64_t has_entries; /* a bit for each open level */
};

void json_put_open(struct json_writer *w, char opening);  /* '{' or '[' */
void json_put_close(struct json_writer *w, char closing); /* '}' or ']' */
void json_put_key(struct json_writer *w, struct str key);
void json_put_str(struct json_writer *w, struct str value);
void json_put_int(struct json_writer *w, int64_t value);
void json_put_bool(struct json_writer *w, bool value);
void json_put_null(struct json_writer *w);
void json_put_raw(struct json_writer *w, struct str json); /* a value that is JSON already */

/* The shortest text that reads back as the same double, in Go's form: 0.1, 1e+21. Infinities and
 * NaN, which JSON does not have, become null. */
void json_put_double(struct json_writer *w, double value);

/* The bare texts, without a writer. A byte that is no UTF-8 becomes U+FFFD. */
void json_add_str(struct buf *out, struct str value);
void json_add_double(struct buf *out, double value);

/* --- members of an object: a key and its value --- */

void put_text(struct json_writer *w, const char *key, struct str value);
void put_nonempty(struct json_writer *w, const char *key, struct str value);
void put_int(struct json_writer *w, const char *key, int64_t value);
void put_bool(struct json_writer *w, const char *key, bool value);
void put_open(struct json_writer *w, const char *key, char opening); /* '{' or '[' */
