/* Blocks in a list, each twice the one before up to 1 MiB (or as large as a single request needs).
 * Between calls: [next, end) is the free part of `current`; blocks after `current` are unused. */

#include "core/base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/mem.h"

enum { FIRST_BYTES = 4096, MOST_BYTES = 1 << 20, ALIGN = 16 };

struct arena_block {
    struct arena_block *after;
    size_t bytes;
    _Alignas(ALIGN) char room[];
};

static void enter(struct arena *a, struct arena_block *block)
{
    a->current = block;
    a->next = block->room;
    a->end = block->room + block->bytes;
}

/* Makes a new block current, between the one that is and `after`. */
static void add_block(struct arena *a, size_t bytes, struct arena_block *after)
{
    struct arena_block *block = mem_resize(NULL, sizeof(*block) + bytes);
    block->bytes = bytes;
    block->after = after;
    if (a->current)
        a->current->after = block;
    else
        a->first = block;
    enter(a, block);
}

void arena_begin(struct arena *a, size_t bytes)
{
    assert(!a->first);
    add_block(a, bytes, NULL);
}

/* Makes a block with `bytes` free current: the next one if it is large enough, else a new one. */
static void advance(struct arena *a, size_t bytes)
{
    struct arena_block *after = a->current ? a->current->after : a->first;
    size_t size = a->current ? MIN(a->current->bytes * 2, (size_t)MOST_BYTES) : FIRST_BYTES;
    if (after && after->bytes >= bytes)
        enter(a, after);
    else
        add_block(a, MAX(size, bytes), after);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    assert(bytes < SIZE_MAX / 2);
    bytes = (MAX(bytes, (size_t)1) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if ((size_t)(a->end - a->next) < bytes)
        advance(a, bytes);
    void *p = a->next;
    a->next += bytes;
    a->used_bytes += bytes;
    return memset(p, 0, bytes);
}

void *arena_copy(struct arena *a, const void *p, size_t bytes)
{
    void *copy = arena_alloc(a, bytes);
    return bytes ? memcpy(copy, p, bytes) : copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    return (struct str){copy, s.n};
}

struct str arena_join_list(struct arena *a, const struct str *texts, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += texts[i].n;
    char *text = arena_alloc(a, all + 1), *at = text;
    for (size_t i = 0; i < n; i++)
        str_keep(&at, texts[i]);
    return (struct str){text, all};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    char usual[256]; /* long enough for most: then it is formatted once */
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(usual, sizeof(usual), fmt, args);
    va_end(args);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof(usual))
        memcpy(text, usual, (size_t)n + 1);
    else
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){text, (size_t)n};
}

void arena_reset(struct arena *a)
{
    a->current = NULL;
    a->next = a->end = NULL;
    a->used_bytes = 0;
    if (a->first)
        enter(a, a->first);
}

void arena_done(struct arena *a)
{
    for (struct arena_block *b = a->first, *after; b; b = after) {
        after = b->after;
        mem_free(b);
    }
    *a = (struct arena){0};
}
