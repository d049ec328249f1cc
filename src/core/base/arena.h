#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* Memory that goes all at once. {0} is an empty arena; blocks are kept by a reset, so an arena that
 * is filled and reset in turn soon allocates nothing. What lives in it is never freed alone. */

struct arena_block;

struct arena {
    struct arena_block *first, *current;
    char *next, *end;
    size_t used_bytes; /* handed out since the last reset */
};

/* Of an arena that is new: its first block has so many bytes. For small ones of which there are
 * many. */
void arena_begin(struct arena *a, size_t bytes);

/* Zeroed, aligned for anything; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);

/* Zeroed room for `count` elements of a type. */
#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))

void *arena_copy(struct arena *a, const void *p, size_t bytes);

/* A copy that ends in a NUL which its length does not count. */
struct str arena_str(struct arena *a, struct str s);

/* The texts one after another, as one. */
struct str arena_join_list(struct arena *a, const struct str *texts, size_t n);
#define arena_join(a, ...)                                                                         \
    arena_join_list((a), (const struct str[]){__VA_ARGS__},                                        \
                    sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);

/* Forgets all that lives in the arena, keeps its blocks. */
void arena_reset(struct arena *a);

void arena_done(struct arena *a);
