#pragma once

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/wire/field.h"

/* Protobuf as Kubernetes writes it, driven by the same field tables as JSON.
 *
 * It reads as the generated Go code does: fields may come in any order, of equal scalars the last
 * wins, messages that come again are merged, lists go on where they stopped, a repeated number may
 * be packed, of equal keys of a map the last wins. Types that JSON writes as text are messages
 * here: a time is {seconds = 1, nanos = 2}, and absent if empty; a FIELD_SCALAR is a quantity
 * {string = 1} or an int-or-string {type = 1, intVal = 2, strVal = 3}; a FIELD_RAW is the bytes as
 * they are.
 *
 * Protobuf cannot say "there, but empty" of a list or a map: it is absent then. Groups, which
 * Kubernetes does not use, are refused. */

enum {
    PROTO_DEPTH_MOST = 64,       /* nested messages */
    PROTO_STRING_MOST = 1 << 20, /* bytes of one string */
    PROTO_COUNT_MOST = 1 << 17,  /* elements of one list or map */
    PROTO_NUMBER_MOST = 63,      /* of a field in a table */
};

/* How a value is written: a number of 7 bits a byte, 8 bytes, a length and so many bytes, 4 bytes.
 */
enum { PROTO_VARINT = 0, PROTO_64 = 1, PROTO_BYTES = 2, PROTO_32 = 5 };

/* Fills the zeroed struct `out` from the one message that `bytes` holds. Strings are pieces of
 * `bytes`, the rest lives in `mem`: both must outlive `out`. What a message may take of the arena
 * is bounded by its length; fields without a row take nothing.
 *
 * On failure the error names the field. */
bool proto_read(struct str bytes, const struct field *fields, void *out, struct arena *mem,
                struct error *e) MUST_USE;

/* The next field of a message, without a table: for bodies that are not to be held as a whole.
 * False at the end, then with kind ERROR_NONE. */
struct proto_value {
    uint32_t number;  /* of the field */
    uint8_t wire;     /* PROTO_VARINT, … */
    uint64_t bits;    /* a number */
    struct str bytes; /* of PROTO_BYTES: a piece of the message */
};
bool proto_take(struct str *message, struct proto_value *out, struct error *e) MUST_USE;

/* A message without its field of this number, of which it has one at most: what stands before and
 * behind it, and its bytes (p is NULL: it has none). False if that is not so, or it is a number, or
 * the message cannot be read. */
struct proto_cut {
    struct str before, bytes, behind;
};
bool proto_cut(struct str message, uint32_t number, struct proto_cut *out) MUST_USE;

/* Which fields of a message count: a bit for each number below 64. */
struct proto_part {
    uint64_t whole;  /* those that count with all their bytes, */
    uint64_t inside; /* and those of which `of` counts */
    const struct proto_part *of;
};
#define PROTO_FIELD(number) (1ull << (number))

/* A hash of `before` and of the fields that count, as they stand and in their order; 0 if the
 * message cannot be read. */
uint64_t proto_digest(struct str message, const struct proto_part *part, uint64_t before);

/* Fields of a message, added to what `out` holds. Empty text is left out. */
void proto_put_str(struct buf *out, uint32_t number, struct str value);
void proto_put_int(struct buf *out, uint32_t number, int64_t value);

/* A message inside the message: what is added between the two is in it.
 *
 *     size_t at = proto_open(out, 1);
 *     proto_put_str(out, 1, name);
 *     proto_close(out, at);
 */
size_t proto_open(struct buf *out, uint32_t number);
void proto_close(struct buf *out, size_t at);
