#include "core/base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/mem.h"

/* With room for a NUL. */
char *buf_reserve(struct buf *b, size_t more)
{
    if (UNLIKELY(b->cap - b->n < more + 1)) {
        b->cap = MAX(b->cap * 2, b->n + more + 1);
        b->cap = MAX(b->cap, (size_t)64);
        b->p = mem_resize(b->p, b->cap);
    }
    return b->p + b->n;
}

void buf_end(struct buf *b, char *end)
{
    b->n = (size_t)(end - b->p);
    *end = '\0';
}

void buf_add_bytes(struct buf *b, const void *p, size_t n)
{
    char *to = buf_reserve(b, n);
    if (n)
        memcpy(to, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_add(struct buf *b, struct str s)
{
    buf_add_bytes(b, s.p, s.n);
}

void buf_add_char(struct buf *b, char c)
{
    char *to = buf_reserve(b, 1);
    *to = c;
    buf_end(b, to + 1);
}

void buf_add_number(struct buf *b, uint64_t value, unsigned base)
{
    assert(base >= 2 && base <= 16);
    char text[64], *end = text + sizeof(text), *at = end;
    do
        *--at = "0123456789abcdef"[value % base];
    while (value /= base);
    buf_add_bytes(b, at, (size_t)(end - at));
}

/* Mostly there is room for it: then it is formatted once. */
void buf_printf(struct buf *b, const char *fmt, ...)
{
    enum { USUAL = 64 };
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    char *to = buf_reserve(b, USUAL);
    int n = vsnprintf(to, b->cap - b->n, fmt, args);
    va_end(args);
    assert(n >= 0);
    if ((size_t)n >= b->cap - b->n)
        vsnprintf(buf_reserve(b, (size_t)n), (size_t)n + 1, fmt, again);
    va_end(again);
    b->n += (size_t)n;
}

void buf_cut(struct buf *b, size_t from, size_t to)
{
    assert(from <= to && to <= b->n);
    if (from == to)
        return;
    memmove(b->p + from, b->p + to, b->n - to + 1); /* with its NUL */
    b->n -= to - from;
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    if (b->p)
        b->p[0] = '\0';
}

void buf_done(struct buf *b)
{
    mem_free(b->p);
    *b = (struct buf){0};
}
