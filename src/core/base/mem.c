#include "core/base/mem.h"

#include <stdlib.h>

static void *or_die(void *p)
{
    if (UNLIKELY(!p))
        abort();
    return p;
}

void *mem_alloc(size_t bytes)
{
    return or_die(calloc(1, bytes ? bytes : 1));
}

void *mem_resize(void *p, size_t bytes)
{
    return or_die(realloc(p, bytes ? bytes : 1));
}

void *mem_copy(const void *p, size_t bytes)
{
    void *copy = or_die(malloc(bytes ? bytes : 1));
    if (bytes)
        memcpy(copy, p, bytes);
    return copy;
}

void *mem_resize_aligned(void *p, size_t kept, size_t bytes)
{
    void *moved = or_die(aligned_alloc(64, (bytes + 63) & ~(size_t)63));
    if (kept)
        memcpy(moved, p, kept);
    free(p);
    return moved;
}

void mem_free(void *p)
{
    free(p);
}
