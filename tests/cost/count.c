#include "count.h"

#include <malloc.h>
#include <string.h>

/* The linker puts these in front of the C library's. */

struct cost cost_so_far;
int64_t cost_held;

void __sanitizer_cov_trace_pc(void);
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *p);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int byte, size_t n);
int __real_memcmp(const void *a, const void *b, size_t n);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *p);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int byte, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);

void __sanitizer_cov_trace_pc(void)
{
    cost_so_far.steps++;
}

static void *took(void *p)
{
    cost_so_far.bytes += malloc_usable_size(p);
    cost_held += (int64_t)malloc_usable_size(p);
    return p;
}

void *__wrap_malloc(size_t bytes)
{
    return took(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    cost_so_far.steps += n * bytes / 16;
    return took(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
    cost_held -= (int64_t)malloc_usable_size(p);
    return took(__real_realloc(p, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return took(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *p)
{
    cost_held -= (int64_t)malloc_usable_size(p);
    __real_free(p);
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    cost_so_far.steps += n / 16;
    return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
    cost_so_far.steps += n / 16;
    return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int byte, size_t n)
{
    cost_so_far.steps += n / 16;
    return __real_memset(to, byte, n);
}

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    cost_so_far.steps += n / 16;
    return __real_memcmp(a, b, n);
}
