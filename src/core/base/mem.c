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

void mem_free(void *p)
{
    free(p);
}
