#pragma once

#include "core/base/base.h"

/* Memory for who makes and frees small blocks all day and always keeps some of them, as a table
 * does in which the new replaces the old. From the heap each of those few would sooner or later
 * hold a page of its own among what others gave back; here they share theirs. {0} is empty. Blocks
 * larger than POOL_MOST come from the heap. */

enum { POOL_MOST = 128, POOL_STEP = 16 };

struct pool_slab;

struct pool {
    struct pool_slab *slabs;
    void *free[POOL_MOST / POOL_STEP]; /* by size: a list of blocks to use again */
    char *next, *end;                  /* what was never used */
};

/* Aligned for anything, not zeroed; never NULL. */
void *pool_alloc(struct pool *p, size_t bytes);

/* As realloc: `block` may be NULL. */
void *pool_resize(struct pool *p, void *block, size_t bytes);

/* NULL is fine. */
void pool_free(struct pool *p, void *block);

/* All small blocks go; those from the heap must be gone before. */
void pool_done(struct pool *p);
