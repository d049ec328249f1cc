/* Invariant between calls: at[position[x] - 1] == x for each item inside, and no item is before the
 * one above it. */

#include "core/base/heap.h"

#include "core/base/mem.h"

static void put(struct heap *h, uint32_t i, uint32_t item)
{
    h->at[i] = item;
    h->position[item] = i + 1;
}

static void up(struct heap *h, uint32_t i)
{
    uint32_t item = h->at[i];
    for (; i > 0; i = (i - 1) / 2) {
        uint32_t above = h->at[(i - 1) / 2];
        if (!h->before(h->ctx, item, above))
            break;
        put(h, i, above);
    }
    put(h, i, item);
}

static void down(struct heap *h, uint32_t i)
{
    uint32_t item = h->at[i];
    for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->before(h->ctx, h->at[child + 1], h->at[child]))
            child++;
        if (!h->before(h->ctx, h->at[child], item))
            break;
        put(h, i, h->at[child]);
    }
    put(h, i, item);
}

void heap_add(struct heap *h, uint32_t item)
{
    assert(!heap_has(h, item));
    if (item >= h->item_cap) {
        uint32_t cap = MAX(item + 1, h->item_cap * 2);
        h->position = mem_resize(h->position, (size_t)cap * sizeof(*h->position));
        memset(h->position + h->item_cap, 0, (size_t)(cap - h->item_cap) * sizeof(*h->position));
        h->item_cap = cap;
    }
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 16;
        h->at = mem_resize(h->at, (size_t)h->cap * sizeof(*h->at));
    }
    h->at[h->n] = item;
    up(h, h->n++);
}

void heap_fix(struct heap *h, uint32_t item)
{
    assert(heap_has(h, item));
    up(h, h->position[item] - 1);
    down(h, h->position[item] - 1);
}

/* The hole sinks to a leaf, one comparison a level, and the last item rises from there: it came
 * from the bottom, so it mostly stays there. Half the comparisons of sinking it from the hole. */
void heap_remove(struct heap *h, uint32_t item)
{
    assert(heap_has(h, item));
    uint32_t i = h->position[item] - 1, last = h->at[--h->n];
    h->position[item] = 0;
    if (last == item)
        return;
    for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->before(h->ctx, h->at[child + 1], h->at[child]))
            child++;
        put(h, i, h->at[child]);
    }
    put(h, i, last);
    up(h, i);
}

uint32_t heap_take(struct heap *h)
{
    assert(h->n > 0);
    uint32_t item = h->at[0];
    heap_remove(h, item);
    return item;
}

void heap_clear(struct heap *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        h->position[h->at[i]] = 0;
    h->n = 0;
}

void heap_trim(struct heap *h, uint32_t items)
{
    if (h->n == 0) {
        heap_done(h);
        return;
    }
    h->cap = h->n;
    h->at = mem_resize(h->at, (size_t)h->cap * sizeof(*h->at));
    h->item_cap = MIN(h->item_cap, items);
    h->position = mem_resize(h->position, (size_t)h->item_cap * sizeof(*h->position));
}

void heap_done(struct heap *h)
{
    mem_free(h->at);
    mem_free(h->position);
    *h = (struct heap){.before = h->before, .ctx = h->ctx};
}
