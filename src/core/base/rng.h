#pragma once

#include "core/base/base.h"

/* Numbers that look random and are the same on every machine for the same seed (splitmix64). */
struct rng {
    uint64_t state;
};

static inline struct rng rng_seeded(uint64_t seed)
{
    return (struct rng){seed};
}

uint64_t rng_next(struct rng *r);

/* Uniform in [0, n), n > 0, without bias. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Uniform in [0, 1). */
double rng_real(struct rng *r);
