#pragma once

#include "core/base/buf.h"

/* Plots as SVG inside an HTML page. Colours come from the page's style by class: series are s0 …
 * s8, so that light, dark and print are the page's business. */

enum { PLOT_WIDTH = 1040, PLOT_SERIES_MOST = 8 };

struct plot {
    struct buf *out;
    double left, top, width, height; /* of the area inside the axes */
    double x_most;                   /* values at its right and … */
    double y_most;                   /* … upper edge; 0 is at the left and at the bottom */
};

/* An empty plot of this height; `label` is what a screen reader says. `left`: room for the labels
 * of the y axis. */
void plot_open(struct plot *p, struct buf *out, double height, double left, const char *label);
void plot_close(struct plot *p);

static inline double plot_x(const struct plot *p, double x)
{
    return p->left + x / p->x_most * p->width;
}

static inline double plot_y(const struct plot *p, double y)
{
    return p->top + (1 - y / p->y_most) * p->height;
}

/* A line across at `y` with its label, a mark below at `x` with its own. */
void plot_y_tick(struct plot *p, double y, const char *label);
void plot_x_tick(struct plot *p, double x, const char *label, bool has_line);

/* Ticks at round numbers from 0 to y_most, each with the unit. */
void plot_y_axis(struct plot *p, const char *unit);

/* Ticks of the clock; x is in milliseconds. */
void plot_time_axis(struct plot *p);

/* A title along the axis. */
void plot_y_title(struct plot *p, const char *text);
void plot_x_title(struct plot *p, const char *text);

/* Values at the middle of n equal steps of `step` each, the last one maybe cut at x_most. */
void plot_line(struct plot *p, const double *y, uint32_t n, double step, unsigned series);

/* What is between two such lines; `low` NULL: the bottom. */
void plot_area(struct plot *p, const double *low, const double *high, uint32_t n, double step,
               unsigned series);

/* An unseen stripe from x to x that says this when pointed at. */
void plot_stripe(struct plot *p, double from, double to, struct str title);

/* Text that is safe in HTML. */
void html_add(struct buf *out, struct str text);
