#pragma once

#include "core/base/base.h"

/* Floating point with the same bits on every machine: what libm may round differently is ours. */

/* Natural logarithm, bit for bit Go's portable math.Log (which kube-scheduler's scores rest on);
 * glibc's differs in the last bit for about one integer in a hundred. */
double real_ln(double x);

/* e to the x, within an ulp. */
double real_exp(double x);

/* To the nearest integer, halves away from zero, as Go's math.Round. */
static inline double real_round(double x)
{
    double size = __builtin_fabs(x);
    if (!(size < 0x1p52)) /* it has no fraction, or is no number */
        return x;
    double whole = (double)(int64_t)size;
    return __builtin_copysign(whole + (double)(size - whole >= 0.5), x);
}
