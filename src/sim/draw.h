#pragma once

#include "core/base/rng.h"

/* Random numbers of several shapes. */

/* Exponential with mean 1. */
double draw_exponential(struct rng *r);

/* Normal with mean 0 and deviation 1. */
double draw_normal(struct rng *r);

/* How long something takes. */
enum span_shape { SPAN_STAYS, SPAN_FIXED, SPAN_EXPONENTIAL, SPAN_LOGNORMAL, SPAN_UNIFORM };

struct span {
    enum span_shape shape;
    int64_t a_ms; /* the time itself; the mean; the median; the least */
    int64_t b_ms; /* the 90th percentile; the most */
};

/* At least a millisecond; INT64_MAX if it never ends. */
int64_t draw_span_ms(struct rng *r, struct span span);
