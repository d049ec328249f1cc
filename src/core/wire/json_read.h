#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/wire/field.h"

/* JSON text into a struct, driven by its field table.
 *
 * It reads as Go's encoding/json does: null is absent, names are compared with their case, of equal
 * keys the last wins, an integer must be written as one (1, not 1.0), and bytes that are not UTF-8
 * become U+FFFD. Unlike Go it has limits, and what a message may take of the arena is bounded by
 * its length. */

enum {
    JSON_DEPTH_MOST = 64,          /* nested objects and lists */
    JSON_STRING_MOST = 1 << 20,    /* bytes of one string, escapes included */
    JSON_COUNT_MOST = 1 << 17,     /* elements of one list or map */
    JSON_RAW_COUNT_MOST = 2000000, /* the same where elements are left as text */
};

/* Fills the zeroed struct `out` from the one object that `text` holds, space around it allowed.
 * Strings without escapes are pieces of `text`, the rest lives in `mem`: both must outlive `out`.
 *
 * On failure the error names the field and the value, unless that is a secret or could hold one,
 * and `*where` is the byte of `text` it is about. */
bool json_read(struct str text, const struct field *fields, void *out, struct arena *mem,
               size_t *where, struct error *e) MUST_USE;

/* The same, but where no name of the table is written so, one that differs in the case of letters
 * will do, as it does for Go. */
bool json_read_caseless(struct str text, const struct field *fields, void *out, struct arena *mem,
                        size_t *where, struct error *e) MUST_USE;

/* The first value of `*text`, syntax checked, as a piece of it; `*text` goes on behind it. False
 * with kind ERROR_NONE when there is nothing but space. */
bool json_take(struct str *text, struct str *value, size_t *where, struct error *e) MUST_USE;

/* The line of a text, from 1, that byte `at` is on. */
uint32_t json_line(struct str text, size_t at);
