#pragma once

#include "core/base/buf.h"

/* Numbers as people read them. Each lives in the value it returns: use `.s` at once. */

struct text {
    char s[32];
};

/* 12,345,678 */
struct text text_count(uint64_t n);

/* 850ms, 12s, 3m20s, 2h05m, 24h, 2d03h: two units at most. */
struct text text_ms(int64_t ms);

/* Of a virtual day: 07:30, and from the second day on 1d07:30; with seconds if `step_ms` has any.
 */
struct text text_clock(int64_t ms, int64_t step_ms);

/* 0.812 → 81.2 % */
struct text text_share(double share);

/* Three digits or so: 0.25, 12.5, 1,280. */
struct text text_amount(double x);

/* How a resource is shown. */
struct face {
    char label[64];   /* CPU, Memory, GPU */
    const char *unit; /* cores, GiB, GPUs */
    double per_unit;  /* what the books count, per unit */
};
struct face face_of(struct str resource);

/* What there is so many of: GPUs; where there is no unit, the label. */
static inline const char *face_word(const struct face *f)
{
    return f->unit[0] ? f->unit : f->label;
}
