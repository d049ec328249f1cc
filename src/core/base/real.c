/* The classic argument reduction x = 2^k (1 + f), √½ ≤ 1 + f < √2, and a polynomial in s = f / (2 +
 * f), with ln 2 in two parts. The order of operations is part of the contract: compile without
 * contraction. */

#include "core/base/real.h"

#include <math.h>

static const double ln2_high = 6.93147180369123816490e-01;
static const double ln2_low = 1.90821492927058770002e-10;

/* x = fraction × 2^exponent with fraction in [½, 1); x finite and > 0. */
static double split(double x, int *exponent)
{
    *exponent = 0;
    if (x < 0x1p-1022) { /* subnormal: make it normal first */
        x *= 0x1p52;
        *exponent = -52;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    *exponent += (int)(bits >> 52 & 0x7ff) - 1022;
    bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)1022 << 52;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

double real_ln(double x)
{
    static const double L1 = 6.666666666666735130e-01, L2 = 3.999999999940941908e-01,
                        L3 = 2.857142874366239149e-01, L4 = 2.222219843214978396e-01,
                        L5 = 1.818357216161805012e-01, L6 = 1.531383769920937332e-01,
                        L7 = 1.479819860511658591e-01, half_root = 0.70710678118654752440;
    if (x != x || x > 1.7976931348623157e308)
        return x;
    if (x < 0)
        return NAN;
    if (x == 0)
        return -INFINITY;

    int exponent;
    double f1 = split(x, &exponent);
    if (f1 < half_root) {
        f1 *= 2;
        exponent--;
    }
    double f = f1 - 1;
    double k = exponent;

    double s = f / (2 + f);
    double s2 = s * s;
    double s4 = s2 * s2;
    double t1 = s2 * (L1 + s4 * (L3 + s4 * (L5 + s4 * L7)));
    double t2 = s4 * (L2 + s4 * (L4 + s4 * L6));
    double r = t1 + t2;
    double half_square = 0.5 * f * f;
    return k * ln2_high - ((half_square - (s * (half_square + r) + k * ln2_low)) - f);
}

double real_exp(double x)
{
    static const double P1 = 1.66666666666666657415e-01, P2 = -2.77777777770155933842e-03,
                        P3 = 6.61375632143793436117e-05, P4 = -1.65339022054652515390e-06,
                        P5 = 4.13813679705723846039e-08, log2_e = 1.44269504088896338700e+00;
    if (x != x)
        return x;
    if (x > 7.09782712893383973096e+02)
        return INFINITY;
    if (x < -7.08e+02)
        return 0; /* below the normal range nobody here cares */

    int64_t k = (int64_t)(log2_e * x + (x < 0 ? -0.5 : 0.5));
    double high = x - (double)k * ln2_high;
    double low = (double)k * ln2_low;
    double r = high - low;
    double t = r * r;
    double c = r - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))));
    double y = 1 - ((low - (r * c) / (2 - c)) - high);

    uint64_t bits = (uint64_t)(k / 2 + 1023) << 52; /* 2^k in two factors: k can be 1024 */
    double half;
    memcpy(&half, &bits, sizeof(half));
    bits = (uint64_t)(k - k / 2 + 1023) << 52;
    double rest;
    memcpy(&rest, &bits, sizeof(rest));
    return y * half * rest;
}
