#pragma once

#include "sim/plot.h"
#include "sim/report.h"

/* What all charts of the report are made of: figures with a title and a legend, and the numbers of
 * a timeline as series. */

/* A mean over each of n equal steps of time. */
struct series {
    double *y;
    uint32_t n;
    double step_ms, end_ms;
};

/* A column of the timeline, in units. */
struct series series_of(const struct summary *s, uint32_t column, double per_unit);
void series_done(struct series *series);
double series_most(const struct series *series);

/* The next round number: where an axis ends. */
double chart_round_up(double x);

/* When the books were closed; at least 1. */
double chart_end_ms(const struct summary *s);

/* `number` makes the id unique in a page: the first contestant's charts have none. `words` may have
 * tags in it. */
void figure_open(struct buf *out, const char *id, uint32_t number, const char *title,
                 const char *words);
void figure_close(struct buf *out);

void legend_open(struct buf *out);
void legend_item(struct buf *out, unsigned series, struct str name);
void legend_close(struct buf *out);

/* From stripe to stripe, what each series was: "14:00 – 14:15 · GPU: 91 % · CPU: 44 %". */
void chart_stripes(struct plot *p, const struct series *series, const struct str *names, uint32_t n,
                   const char *unit);
