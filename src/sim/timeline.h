#pragma once

#include "core/base/base.h"
#include "core/base/vec.h"

/* Numbers over time: so many columns, each holding a value until it is set to another one.
 *
 * What is kept is, for each column, the mean over each of at most TIMELINE_MOST equal steps of time
 * since 0, the mean over all, and the peak. Nobody knows beforehand how long a run will be: steps
 * begin at a second and grow as it goes on. A value that was held for no time at all leaves no
 * trace. */

enum { TIMELINE_MOST = 480 };

struct timeline_column {
    double value;
    int64_t since_ms; /* areas contain what was before */
    double peak;
    double total; /* value × ms since 0 */
};

struct timeline {
    int64_t step_ms;
    uint32_t columns;
    struct timeline_column *at;
    double *areas; /* value × ms, TIMELINE_MOST for each column */
};

void timeline_init(struct timeline *t, uint32_t columns);
void timeline_done(struct timeline *t);

/* From `now_ms` on the column's value is this. Time does not go back. */
void timeline_set(struct timeline *t, uint32_t column, int64_t now_ms, double value);

static inline void timeline_add(struct timeline *t, uint32_t column, int64_t now_ms, double more)
{
    timeline_set(t, column, now_ms, t->at[column].value + more);
}

/* Brings all columns up to `now_ms`: do this before reading. */
void timeline_close(struct timeline *t, int64_t now_ms);

/* How many steps begin before `end_ms`. */
uint32_t timeline_steps(const struct timeline *t, int64_t end_ms);

/* The mean of a column over steps [from, to), of a timeline that ends at `end_ms`. */
double timeline_mean(const struct timeline *t, uint32_t column, uint32_t from, uint32_t to,
                     int64_t end_ms);
