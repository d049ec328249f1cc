#pragma once

#include "core/base/buf.h"

/* Plots inside an HTML page. The area inside the axes is an SVG that is stretched to the width
 * there is; labels are text beside it, placed in percent: so a plot is drawn anew for every width,
 * and its text stays as large as all text. Lines keep their width, too.
 *
 * Colours come from the page's style by class: series are s0 … s8, so that light, dark and print
 * are the page's business. */

enum { PLOT_SERIES_MOST = 8 };

struct plot {
    struct buf *out;
    double x_most; /* values at its right and … */
    double y_most; /* … upper edge; 0 is at the left and at the bottom */
    struct buf labels;
};

/* An empty plot that is so many pixels high; `label` is what a screen reader says. `kind`: its
 * class in the style beside "plot"; "": none. */
void plot_open(struct plot *p, struct buf *out, double height, const char *kind, const char *label);
void plot_close(struct plot *p);

/* Where a value is in the SVG, which is 1000 wide and 1000 high. */
static inline double plot_x(const struct plot *p, double x)
{
    return x / p->x_most * 1000;
}

static inline double plot_y(const struct plot *p, double y)
{
    return (1 - y / p->y_most) * 1000;
}

/* A line across at `y` with its label. */
void plot_y_tick(struct plot *p, double y, const char *label);

/* A label below at `x`. `rarity`: what is common is shown always, what is rare only where
 * there is room; what is dense always, and small where there is little. */
enum rarity { COMMON, RARE, RAREST, DENSE };
void plot_x_tick(struct plot *p, double x, const char *label, enum rarity rarity);

/* Ticks at round numbers from 0 to y_most, each with the unit. */
void plot_y_axis(struct plot *p, const char *unit);

/* Ticks of the clock; x is in milliseconds. */
void plot_time_axis(struct plot *p);

/* A title above the y axis, and one below the x axis. */
void plot_y_title(struct plot *p, const char *text);
void plot_x_title(struct plot *p, const char *text);

/* A label to the left of a row whose middle is at `y`, in the SVG's coordinates. */
void plot_row_label(struct plot *p, double y, struct str text);

/* Values at the middle of n equal steps of `step` each, the last one maybe cut at `end`. */
void plot_line(struct plot *p, const double *y, uint32_t n, double step, double end,
               unsigned series);

/* What is between two such lines; `low` NULL: the bottom. */
void plot_area(struct plot *p, const double *low, const double *high, uint32_t n, double step,
               double end, unsigned series);

/* An unseen stripe from x to x that says this when pointed at. */
void plot_stripe(struct plot *p, double from, double to, struct str title);

/* A bar from x to x, up to y. */
void plot_bar(struct plot *p, double from, double to, double y, unsigned series, struct str title);

/* Text that is safe in HTML. */
void html_add(struct buf *out, struct str text);
