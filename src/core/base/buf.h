#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* Text or bytes that grow at the end. {0} is empty; what it holds is NUL-terminated once anything
 * was added, so `b.p` can go where C strings go. */
struct buf {
    char *p;
    size_t n, cap;
};

void buf_add(struct buf *b, struct str s);
void buf_add_bytes(struct buf *b, const void *p, size_t n);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_add_number(struct buf *b, uint64_t value, unsigned base); /* at most 16 */
/* Takes bytes [from, to) out. */
void buf_cut(struct buf *b, size_t from, size_t to);
void buf_clear(struct buf *b);
void buf_done(struct buf *b);

/* For who writes piece by piece: room for `more` bytes at the end, and where they end now. */
char *buf_reserve(struct buf *b, size_t more);
void buf_end(struct buf *b, char *end);

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->p, b->n};
}
