#pragma once

#include "core/base/base.h"

/* Two numbers that are worked on together, where the machine can: of each node, its CPU and its
 * memory. They wrap, as Go's do. What is small (0 <= x < 2^46) is exact as a real number, and so is
 * a hundred times it. */

typedef uint64_t pair __attribute__((vector_size(16)));
typedef double real_pair __attribute__((vector_size(16)));

enum { PAIR_SMALL_BITS = 46 };

static inline pair pair_of(int64_t a, int64_t b)
{
    return (pair){(uint64_t)a, (uint64_t)b};
}

static inline pair pair_at(const int64_t *p)
{
    pair both;
    memcpy(&both, p, sizeof(both));
    return both;
}

/* Both of them? Of numbers joined by `|`: all that went in. */
static inline bool pair_is_small(pair a)
{
    return (a[0] | a[1]) >> PAIR_SMALL_BITS == 0;
}

/* Of numbers between -2^51 and 2^51: these are the bits of 1.5 * 2^52 with the number added. */
static inline real_pair real_pair_of(pair a)
{
    const real_pair base = {0x1.8p52, 0x1.8p52};
    return (real_pair)(a + (pair)base) - base;
}

static inline real_pair real_pair_abs(real_pair a)
{
    return (real_pair)((pair)a & INT64_MAX);
}

static inline real_pair real_pair_min(real_pair a, real_pair b)
{
    pair is_less = (pair)(a < b);
    return (real_pair)(((pair)a & is_less) | ((pair)b & ~is_less));
}

/* Nothing instead of less than nothing. */
static inline real_pair real_pair_from_0(real_pair a)
{
    return (real_pair)((pair)a & (pair)(a > 0));
}
