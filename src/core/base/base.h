#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What every file may use: attributes, bounds, and arithmetic that behaves as Go's does.
 *
 * Kubernetes is written in Go, where signed overflow wraps and a float that leaves the range of an
 * integer is still an integer. C leaves both undefined, so sums of quantities go through here. */

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "64-bit machines only");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian machines only");

#define LEN(array)       (sizeof(array) / sizeof((array)[0]))
#define MUST_USE         __attribute__((warn_unused_result))
#define PRINTF(fmt, arg) __attribute__((format(__printf__, fmt, arg)))
#define LIKELY(x)        __builtin_expect(!!(x), 1)
#define UNLIKELY(x)      __builtin_expect(!!(x), 0)

/* A local given back on every way out: `AUTO(revision) r = {0};` calls revision_done(&r). */
#define AUTO(type) __attribute__((cleanup(type##_done))) struct type

#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a_ = (a);                                                                \
        __typeof__(b) min_b_ = (b);                                                                \
        min_a_ < min_b_ ? min_a_ : min_b_;                                                         \
    })
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a_ = (a);                                                                \
        __typeof__(b) max_b_ = (b);                                                                \
        max_a_ > max_b_ ? max_a_ : max_b_;                                                         \
    })

/* A read-only array with its length; it lives where it was made, mostly in an arena. May be {0}. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t n;                                                                                \
    }
#define list_each(l, it)                                                                           \
    for (__typeof__((l)->at + 0) it = (l)->at, list_end_##it = (l)->at ? (l)->at + (l)->n : NULL;  \
         it < list_end_##it; it++)

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Go on amd64: what does not fit becomes the smallest integer. */
static inline int64_t trunc_i64(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}
