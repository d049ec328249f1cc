/* Each block has its size in front of it. A small one goes back to the list of its size, a large
 * one to the heap; slabs are kept until all go. */

#include "core/base/pool.h"

#include "core/base/mem.h"

enum { SLAB_BYTES = 4000 }; /* with the heap's own few, no more than a page */

struct head {
    _Alignas(16) size_t bytes; /* as asked for, rounded up */
};

struct pool_slab {
    struct pool_slab *after;
    _Alignas(16) char room[SLAB_BYTES];
};

static struct head *head_of(void *block)
{
    return (struct head *)block - 1;
}

static size_t rounded(size_t bytes)
{
    return (MAX(bytes, (size_t)1) + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
}

static void **list_of(struct pool *p, size_t bytes)
{
    return &p->free[bytes / POOL_STEP - 1];
}

static void *cut(struct pool *p, size_t bytes)
{
    size_t all = sizeof(struct head) + bytes;
    if ((size_t)(p->end - p->next) < all) { /* what is left of the old slab is less than a block */
        struct pool_slab *slab = mem_resize(NULL, sizeof(*slab));
        slab->after = p->slabs;
        p->slabs = slab;
        p->next = slab->room;
        p->end = slab->room + SLAB_BYTES;
    }
    struct head *head = (struct head *)(void *)p->next;
    p->next += all;
    head->bytes = bytes;
    return head + 1;
}

void *pool_alloc(struct pool *p, size_t bytes)
{
    bytes = rounded(bytes);
    if (bytes > POOL_MOST) {
        struct head *head = mem_resize(NULL, sizeof(*head) + bytes);
        head->bytes = bytes;
        return head + 1;
    }
    void **list = list_of(p, bytes), *block = *list;
    if (!block)
        return cut(p, bytes);
    memcpy(list, block, sizeof(*list)); /* a free block holds the next */
    return block;
}

void *pool_resize(struct pool *p, void *block, size_t bytes)
{
    size_t had = block ? head_of(block)->bytes : 0;
    if (block && rounded(bytes) == had)
        return block;
    if (had > POOL_MOST && rounded(bytes) > POOL_MOST) {
        struct head *head = mem_resize(head_of(block), sizeof(*head) + rounded(bytes));
        head->bytes = rounded(bytes);
        return head + 1;
    }
    void *to = pool_alloc(p, bytes);
    if (block)
        memcpy(to, block, MIN(had, bytes));
    pool_free(p, block);
    return to;
}

void pool_free(struct pool *p, void *block)
{
    if (!block)
        return;
    size_t bytes = head_of(block)->bytes;
    if (bytes > POOL_MOST) {
        mem_free(head_of(block));
        return;
    }
    memcpy(block, list_of(p, bytes), sizeof(void *));
    *list_of(p, bytes) = block;
}

void pool_done(struct pool *p)
{
    for (struct pool_slab *slab = p->slabs, *after; slab; slab = after) {
        after = slab->after;
        mem_free(slab);
    }
    *p = (struct pool){0};
}
