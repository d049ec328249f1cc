#pragma once

#include "core/base/base.h"

/* Numbers about many numbers. */

/* Ascending. */
void stats_sort(int64_t *values, uint32_t n);

/* The smallest of the sorted values that at least `permille` of a thousand of them do not exceed
 * (nearest rank); 0 if there are none. */
int64_t stats_percentile(const int64_t *sorted, uint32_t n, uint32_t permille);

double stats_mean(const int64_t *values, uint32_t n);

/* How many of the sorted values are at most `limit`. */
uint32_t stats_count_up_to(const int64_t *sorted, uint32_t n, int64_t limit);

/* A round distance between ticks, so that at most `most` of them fit into `span`: 1, 2 or 5 times a
 * power of ten. */
double stats_tick(double span, uint32_t most);

/* The same for time, in milliseconds: seconds, minutes, hours, days as clocks divide them. */
int64_t stats_tick_ms(int64_t span_ms, uint32_t most);
