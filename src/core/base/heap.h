#pragma once

#include "core/base/base.h"

/* An indexed binary heap of small numbers: the first in order is on top, and any item can move or
 * leave, because the heap knows where each one is. `before` must be a strict total order, so that
 * what comes out cannot depend on the history of the heap. */

struct heap {
    bool (*before)(const void *ctx, uint32_t a, uint32_t b);
    const void *ctx;
    uint32_t *at;       /* at[0] is the first */
    uint32_t *position; /* by item: its index + 1; 0: not inside */
    uint32_t n, cap, item_cap;
};

/* The caller sets `before` and `ctx` of an otherwise zero heap. */
void heap_add(struct heap *h, uint32_t item);
void heap_remove(struct heap *h, uint32_t item);

/* The item's place in the order changed. */
void heap_fix(struct heap *h, uint32_t item);

/* The first, taken out. The heap must not be empty. */
uint32_t heap_take(struct heap *h);

/* Takes all out. */
void heap_clear(struct heap *h);

static inline bool heap_has(const struct heap *h, uint32_t item)
{
    return item < h->item_cap && h->position[item];
}

/* Gives back the room for items from `items` on; none of them is inside. */
void heap_trim(struct heap *h, uint32_t items);

void heap_done(struct heap *h);
