#include "sim/draw.h"

#include <math.h>

#include "core/base/real.h"

double draw_exponential(struct rng *r)
{
    return -real_ln(1 - rng_real(r)); /* 1 - x is never 0 */
}

/* Marsaglia's polar method: it needs no sine, which libm may round as it likes. */
double draw_normal(struct rng *r)
{
    for (;;) {
        double x = 2 * rng_real(r) - 1;
        double y = 2 * rng_real(r) - 1;
        double s = x * x + y * y;
        if (s > 0 && s < 1)
            return x * sqrt(-2 * real_ln(s) / s);
    }
}

static double lognormal_ms(struct rng *r, double median_ms, double p90_ms)
{
    static const double p90_of_normal = 1.2815515655446004;
    double deviation = real_ln(p90_ms / median_ms) / p90_of_normal;
    return median_ms * real_exp(deviation * draw_normal(r));
}

int64_t draw_span_ms(struct rng *r, struct span span)
{
    static const double longest_ms = 3.2e14; /* ten thousand years */
    double ms = 0;
    switch (span.shape) {
    case SPAN_STAYS:
        return INT64_MAX;
    case SPAN_FIXED:
        ms = (double)span.a_ms;
        break;
    case SPAN_EXPONENTIAL:
        ms = (double)span.a_ms * draw_exponential(r);
        break;
    case SPAN_LOGNORMAL:
        ms = lognormal_ms(r, (double)span.a_ms, (double)span.b_ms);
        break;
    case SPAN_UNIFORM:
        ms = (double)span.a_ms + (double)(span.b_ms - span.a_ms) * rng_real(r);
        break;
    }
    return MAX((int64_t)MIN(ms, longest_ms), 1);
}
