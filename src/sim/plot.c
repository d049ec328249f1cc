#include "sim/plot.h"

#include <stdio.h>

#include "sim/stats.h"
#include "sim/text.h"

void plot_open(struct plot *p, struct buf *out, double height, const char *kind, const char *label)
{
    *p = (struct plot){.out = out, .x_most = 1, .y_most = 1};
    buf_printf(out, "<div class=\"plot %s\" style=\"height:%.0fpx\" role=\"img\" aria-label=\"",
               kind, height);
    html_add(out, str_of(label));
    buf_printf(out, "\">\n<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" "
                    "aria-hidden=\"true\">\n");
}

void plot_close(struct plot *p)
{
    buf_printf(p->out, "<path class=\"axis\" d=\"M0 1000h1000\"/>\n</svg>\n");
    buf_add(p->out, buf_str(&p->labels));
    buf_printf(p->out, "</div>\n");
    buf_done(&p->labels);
}

static void add_label(struct plot *p, const char *kind, const char *side, double at,
                      struct str text)
{
    buf_printf(&p->labels, "<span class=\"%s\" style=\"%s:%.2f%%\">", kind, side, at / 10);
    html_add(&p->labels, text);
    buf_printf(&p->labels, "</span>\n");
}

void plot_y_tick(struct plot *p, double y, const char *label)
{
    buf_printf(p->out, "<path class=\"grid\" d=\"M0 %.1fh1000\"/>\n", plot_y(p, y));
    add_label(p, "y", "top", plot_y(p, y), str_of(label));
}

void plot_x_tick(struct plot *p, double x, const char *label, enum rarity rarity)
{
    static const char *const kinds[] = {"x", "x r1", "x r2", "x b"};
    add_label(p, kinds[rarity], "left", plot_x(p, x), str_of(label));
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
    static const enum rarity rarities[] = {COMMON, RAREST, RARE, RAREST};
    int64_t tick_ms = stats_tick_ms((int64_t)p->x_most, TICKS);
    uint32_t n = 0;
    for (int64_t at_ms = 0; (double)at_ms <= p->x_most; at_ms += tick_ms) {
        bool is_days = tick_ms % 86400000 == 0;
        struct text label = text_clock(at_ms, tick_ms);
        if (is_days)
            snprintf(label.s, sizeof(label.s), "day %lld", (long long)(at_ms / 86400000));
        plot_x_tick(p, (double)at_ms, label.s, rarities[n++ % LEN(rarities)]);
    }
    plot_x_title(p, "simulated time");
}

void plot_y_title(struct plot *p, const char *text)
{
    buf_printf(&p->labels, "<span class=\"yt\">");
    html_add(&p->labels, str_of(text));
    buf_printf(&p->labels, "</span>\n");
}

void plot_x_title(struct plot *p, const char *text)
{
    buf_printf(&p->labels, "<span class=\"xt\">");
    html_add(&p->labels, str_of(text));
    buf_printf(&p->labels, "</span>\n");
}

void plot_row_label(struct plot *p, double y, struct str text)
{
    add_label(p, "row", "top", y, text);
}

/* Points from the left to the right edge: the first and last value reach to the edges. */
static void add_points(struct plot *p, const double *y, uint32_t n, double step, double end,
                       bool is_back)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = is_back ? n - 1 - k : k;
        double from = i * step, to = from + step < end ? from + step : end;
        double x = i == 0 && n > 1 ? 0 : i + 1 == n ? end : (from + to) / 2;
        double value = y ? y[i] : 0;
        if (n == 1)
            buf_printf(p->out, "%.1f %.1f %.1f %.1f ", plot_x(p, is_back ? end : 0),
                       plot_y(p, value), plot_x(p, is_back ? 0 : end), plot_y(p, value));
        else
            buf_printf(p->out, "%.1f %.1f ", plot_x(p, x), plot_y(p, value));
    }
}

void plot_line(struct plot *p, const double *y, uint32_t n, double step, double end,
               unsigned series)
{
    if (n == 0)
        return;
    buf_printf(p->out, "<polyline class=\"line s%u\" points=\"", series);
    add_points(p, y, n, step, end, false);
    buf_printf(p->out, "\"/>\n");
}

void plot_area(struct plot *p, const double *low, const double *high, uint32_t n, double step,
               double end, unsigned series)
{
    if (n == 0)
        return;
    buf_printf(p->out, "<polygon class=\"area s%u\" points=\"", series);
    add_points(p, high, n, step, end, false);
    add_points(p, low, n, step, end, true);
    buf_printf(p->out, "\"/>\n");
}

static void add_rect(struct plot *p, const char *kind, double from, double to, double y,
                     struct str title)
{
    buf_printf(p->out,
               "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
               kind, plot_x(p, from), plot_y(p, y), plot_x(p, to - from), 1000 - plot_y(p, y));
    html_add(p->out, title);
    buf_printf(p->out, "</title></rect>\n");
}

void plot_stripe(struct plot *p, double from, double to, struct str title)
{
    add_rect(p, "stripe", from, to, p->y_most, title);
}

void plot_bar(struct plot *p, double from, double to, double y, unsigned series, struct str title)
{
    char kind[16];
    snprintf(kind, sizeof(kind), "bar s%u", series);
    add_rect(p, kind, from, to, y, title);
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
