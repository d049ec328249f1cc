#include "sim/plot.h"

#include <stdio.h>

#include "sim/stats.h"
#include "sim/text.h"

static const double top_room = 12, right_room = 24, bottom_room = 46;

void plot_open(struct plot *p, struct buf *out, double height, double left, const char *label)
{
    *p = (struct plot){.out = out, .left = left, .top = top_room, .x_most = 1, .y_most = 1};
    p->width = PLOT_WIDTH - left - right_room;
    p->height = height - top_room - bottom_room;
    buf_printf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", PLOT_WIDTH, height);
    html_add(out, str_of(label));
    buf_printf(out, "\">\n");
}

void plot_close(struct plot *p)
{
    buf_printf(p->out, "<path class=\"axis\" d=\"M%.1f %.1fh%.1f\"/>\n</svg>\n", p->left,
               p->top + p->height, p->width);
}

void plot_y_tick(struct plot *p, double y, const char *label)
{
    double at = plot_y(p, y);
    buf_printf(p->out,
               "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>"
               "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
               p->left, at, p->width, p->left - 8, at + 4, label);
}

void plot_x_tick(struct plot *p, double x, const char *label, bool has_line)
{
    double at = plot_x(p, x), bottom = p->top + p->height;
    if (has_line)
        buf_printf(p->out, "<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>", at, p->top, p->height);
    buf_printf(p->out,
               "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>"
               "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
               at, bottom, at, bottom + 19, label);
}

void plot_y_axis(struct plot *p, const char *unit)
{
    enum { TICKS = 5 };
    double tick = stats_tick(p->y_most, TICKS);
    for (double y = 0; y <= p->y_most * 1.0001; y += tick) {
        char label[48];
        snprintf(label, sizeof(label), "%s%s", text_amount(y).s, unit);
        plot_y_tick(p, y, label);
    }
}

void plot_time_axis(struct plot *p)
{
    enum { TICKS = 13 };
    int64_t tick_ms = stats_tick_ms((int64_t)p->x_most, TICKS);
    for (int64_t at_ms = 0; (double)at_ms <= p->x_most; at_ms += tick_ms) {
        bool is_days = tick_ms % 86400000 == 0;
        struct text label = text_clock(at_ms, tick_ms);
        if (is_days)
            snprintf(label.s, sizeof(label.s), "day %lld", (long long)(at_ms / 86400000));
        plot_x_tick(p, (double)at_ms, label.s, false);
    }
    plot_x_title(p, "simulated time");
}

void plot_y_title(struct plot *p, const char *text)
{
    double x = 14, y = p->top + p->height / 2;
    buf_printf(p->out,
               "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\" transform=\"rotate(-90 %.1f %.1f)\">", x,
               y, x, y);
    html_add(p->out, str_of(text));
    buf_printf(p->out, "</text>\n");
}

void plot_x_title(struct plot *p, const char *text)
{
    buf_printf(p->out, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
               p->left + p->width / 2, p->top + p->height + 39, text);
}

/* Points from the left to the right edge: the first and last value reach to the edges. */
static void add_points(struct plot *p, const double *y, uint32_t n, double step, bool is_back)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = is_back ? n - 1 - k : k;
        double from = i * step, to = from + step < p->x_most ? from + step : p->x_most;
        double x = i == 0 && n > 1 ? 0 : i + 1 == n ? p->x_most : (from + to) / 2;
        double value = y ? y[i] : 0;
        if (n == 1)
            buf_printf(p->out, "%.1f %.1f %.1f %.1f ", plot_x(p, is_back ? p->x_most : 0),
                       plot_y(p, value), plot_x(p, is_back ? 0 : p->x_most), plot_y(p, value));
        else
            buf_printf(p->out, "%.1f %.1f ", plot_x(p, x), plot_y(p, value));
    }
}

void plot_line(struct plot *p, const double *y, uint32_t n, double step, unsigned series)
{
    if (n == 0)
        return;
    buf_printf(p->out, "<polyline class=\"line s%u\" points=\"", series);
    add_points(p, y, n, step, false);
    buf_printf(p->out, "\"/>\n");
}

void plot_area(struct plot *p, const double *low, const double *high, uint32_t n, double step,
               unsigned series)
{
    if (n == 0)
        return;
    buf_printf(p->out, "<polygon class=\"area s%u\" points=\"", series);
    add_points(p, high, n, step, false);
    add_points(p, low, n, step, true);
    buf_printf(p->out, "\"/>\n");
}

void plot_stripe(struct plot *p, double from, double to, struct str title)
{
    buf_printf(
        p->out,
        "<rect class=\"stripe\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
        plot_x(p, from), p->top, (to - from) / p->x_most * p->width, p->height);
    html_add(p->out, title);
    buf_printf(p->out, "</title></rect>\n");
}

void html_add(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '<':
            buf_add(out, STR("&lt;"));
            break;
        case '>':
            buf_add(out, STR("&gt;"));
            break;
        case '&':
            buf_add(out, STR("&amp;"));
            break;
        case '"':
            buf_add(out, STR("&quot;"));
            break;
        default:
            buf_add_char(out, text.p[i]);
        }
    }
}
