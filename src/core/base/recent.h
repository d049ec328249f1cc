#pragma once

#include "core/base/vec.h"

/* The last hundred numbers of a series, and what is in their middle. {0} is empty.
 *
 * Small on purpose: what happened long ago says little about what happens next, and a hundred
 * numbers place a median to within a few percent of rank. */

enum { RECENT_MOST = 100 };

struct recent {
    VEC(int64_t) sorted;  /* ascending */
    VEC(int64_t) arrived; /* the same in the order of arrival, from `oldest` on, around the end */
    uint32_t oldest;
};

void recent_add(struct recent *r, int64_t value);
void recent_done(struct recent *r);

/* How many of them are above a floor. */
uint32_t recent_count_above(const struct recent *r, int64_t floor);

/* The median of those; there must be one. Of an even number the upper of the two in the middle. */
int64_t recent_median_above(const struct recent *r, int64_t floor);
