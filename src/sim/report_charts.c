#include "sim/report_charts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/real.h"
#include "sim/chart.h"
#include "sim/stats.h"

enum { SHADES = 10 };

/* --- utilisation --- */

static struct series share_series(const struct summary *s, uint32_t resource)
{
    struct series used = series_of(s, books_used(s->books, resource), 1);
    struct series room = series_of(s, books_room(s->books, resource), 1);
    for (uint32_t i = 0; i < used.n; i++)
        used.y[i] = room.y[i] > 0 ? used.y[i] / room.y[i] * 100 : 0;
    series_done(&room);
    return used;
}

/* The watched resource is the first, the others keep their order. */
static uint32_t resource_at(const struct summary *s, uint32_t i)
{
    uint32_t watched = s->books->watched;
    return i == 0 ? watched : i <= watched ? i - 1 : i;
}

void chart_utilisation(const struct summary *s, struct buf *out)
{
    uint32_t n = MIN(s->resources.n, (uint32_t)PLOT_SERIES_MOST);
    struct series series[PLOT_SERIES_MOST] = {0};
    struct face faces[PLOT_SERIES_MOST];
    struct str names[PLOT_SERIES_MOST] = {0};
    figure_open(out, "utilisation", 0, "Utilisation",
                "Share of each resource that pods on nodes ask for.");
    legend_open(out);
    for (uint32_t i = 0; i < n; i++) {
        series[i] = share_series(s, resource_at(s, i));
        faces[i] = face_of(s->resources.at[resource_at(s, i)].name);
        names[i] = str_of(faces[i].label);
        legend_item(out, i, names[i]);
    }
    legend_close(out);
    struct plot p;
    plot_open(&p, out, 240, "", "Utilisation of each resource over time, in percent");
    p.x_most = chart_end_ms(s);
    p.y_most = 100;
    plot_y_axis(&p, " %");
    plot_time_axis(&p);
    for (uint32_t i = n; i-- > 0;)
        plot_line(&p, series[i].y, series[i].n, series[i].step_ms, series[i].end_ms, i);
    chart_stripes(&p, series, names, n, " %");
    plot_close(&p);
    figure_close(out);
    for (uint32_t i = 0; i < n; i++)
        series_done(&series[i]);
}

/* --- the watched resource by class --- */

/* Which classes get a colour of their own: all, or those with most pods; the rest is one. */
struct shown {
    uint32_t class[PLOT_SERIES_MOST];
    uint32_t n;
    bool has_others;
};

static struct shown choose_classes(const struct summary *s)
{
    struct shown shown = {.has_others = s->classes.n > PLOT_SERIES_MOST};
    uint32_t most = shown.has_others ? PLOT_SERIES_MOST - 1 : PLOT_SERIES_MOST;
    for (uint32_t i = 0; i < s->classes.n; i++) {
        uint32_t at = shown.n; /* keeps the list sorted by pods, equal ones in their order */
        while (shown.has_others && at > 0 &&
               s->classes.at[shown.class[at - 1]].created < s->classes.at[i].created)
            at--;
        if (at == most)
            continue;
        shown.n = MIN(shown.n + 1, most);
        for (uint32_t k = shown.n - 1; k > at; k--)
            shown.class[k] = shown.class[k - 1];
        shown.class[at] = i;
    }
    return shown;
}

static bool is_shown(const struct shown *shown, uint32_t class)
{
    for (uint32_t i = 0; i < shown->n; i++) {
        if (shown->class[i] == class)
            return true;
    }
    return false;
}

static struct series others_series(const struct summary *s, const struct shown *shown, double unit)
{
    struct series sum = series_of(s, BOOKS_HELD, unit);
    memset(sum.y, 0, sum.n * sizeof(*sum.y));
    for (uint32_t c = 0; c < s->classes.n; c++) {
        if (is_shown(shown, c))
            continue;
        struct series one = series_of(s, books_class_used(s->books, c), unit);
        for (uint32_t i = 0; i < sum.n; i++)
            sum.y[i] += one.y[i];
        series_done(&one);
    }
    return sum;
}

/* Each series lies on the ones before it. */
static void stack_areas(struct plot *p, const struct series *series, uint32_t n)
{
    uint32_t steps = series[0].n;
    double *low = mem_alloc(steps * sizeof(*low)), *high = mem_alloc(steps * sizeof(*high));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < steps; k++)
            high[k] = low[k] + series[i].y[k];
        plot_area(p, low, high, steps, series[i].step_ms, series[i].end_ms, i);
        memcpy(low, high, steps * sizeof(*low));
    }
    mem_free(low);
    mem_free(high);
}

/* A class's colour is its place among those shown, in every plot; what a plot lacks its legend
 * lacks. */
static void classes_legend(const struct summary *s, const struct shown *shown, const bool *is_there,
                           struct buf *out)
{
    legend_open(out);
    for (uint32_t i = 0; i < shown->n; i++) {
        if (is_there[i])
            legend_item(out, i, s->classes.at[shown->class[i]].name);
    }
    if (shown->has_others)
        legend_item(out, shown->n, STR("others"));
    legend_close(out);
}

static void plot_classes(const struct summary *s, const struct shown *shown, struct plot *p,
                         double per_unit)
{
    struct series series[PLOT_SERIES_MOST] = {0};
    struct str names[PLOT_SERIES_MOST] = {0};
    uint32_t n = shown->n + shown->has_others;
    for (uint32_t i = 0; i < shown->n; i++) {
        names[i] = s->classes.at[shown->class[i]].name;
        series[i] = series_of(s, books_class_used(s->books, shown->class[i]), per_unit);
    }
    if (shown->has_others) {
        names[shown->n] = STR("others");
        series[shown->n] = others_series(s, shown, per_unit);
    }
    if (n) {
        stack_areas(p, series, n);
        chart_stripes(p, series, names, n, "");
    }
    for (uint32_t i = 0; i < n; i++)
        series_done(&series[i]);
}

void chart_classes(const struct summary *s, uint32_t number, struct buf *out)
{
    const struct books *b = s->books;
    struct face face = face_of(b->plan->watched);
    struct shown shown = choose_classes(s);
    bool is_there[PLOT_SERIES_MOST];
    for (uint32_t i = 0; i < shown.n; i++)
        is_there[i] = b->timeline.at[books_class_used(b, shown.class[i])].peak > 0;
    char title[120];
    snprintf(title, sizeof(title), "%s in use, by job class", face_word(&face));
    figure_open(out, "classes", number, title,
                "What the running pods of each class ask for. The dashed line is all there is.");
    classes_legend(s, &shown, is_there, out);

    struct series room = series_of(s, books_room(b, b->watched), face.per_unit);
    struct plot p;
    plot_open(&p, out, 260, "", title);
    p.x_most = chart_end_ms(s);
    p.y_most = chart_round_up(series_most(&room));
    plot_y_axis(&p, "");
    plot_time_axis(&p);
    plot_y_title(&p, face_word(&face));
    plot_line(&p, room.y, room.n, room.step_ms, room.end_ms, PLOT_SERIES_MOST);
    plot_classes(s, &shown, &p, face.per_unit);
    plot_close(&p);
    figure_close(out);
    series_done(&room);
}

/* --- waits --- */

/* Waits on a logarithmic axis from a second to the longest. */
struct wait_axis {
    double most_ms, ln_span;
};

static struct wait_axis wait_axis_of(const struct summary *s)
{
    double most_ms = MAX((double)s->all.wait.most_ms * 1.1, 60e3);
    return (struct wait_axis){most_ms, real_ln(most_ms / 1e3)};
}

static double wait_x(const struct wait_axis *axis, double ms)
{
    return ms <= 1e3 ? 0 : real_ln(ms / 1e3) / axis->ln_span;
}

static void wait_ticks(struct plot *p, const struct wait_axis *axis)
{
    static const struct {
        int s;
        const char *label;
        enum rarity rarity;
    } ticks[] = {
        {1, "≤ 1 s", COMMON},    {10, "10 s", RARE},      {30, "30 s", RAREST},
        {60, "1 min", COMMON},   {300, "5 min", RARE},    {1800, "30 min", COMMON},
        {7200, "2 h", RARE},     {21600, "6 h", RAREST},  {86400, "1 d", COMMON},
        {345600, "4 d", RAREST}, {1728000, "20 d", RARE}, {8640000, "100 d", RAREST},
    };
    for (size_t i = 0; i < LEN(ticks) && ticks[i].s * 1e3 <= axis->most_ms; i++)
        plot_x_tick(p, wait_x(axis, ticks[i].s * 1e3), ticks[i].label, ticks[i].rarity);
    plot_x_title(p, "wait from creation to binding");
}

static double share_within(const struct class_summary *c, double ms)
{
    return c->n_waits ? 100.0 * stats_count_up_to(c->waits_ms, c->n_waits, (int64_t)ms) / c->n_waits
                      : 0;
}

static void wait_line(struct plot *p, const struct wait_axis *axis, const struct class_summary *c,
                      unsigned series)
{
    enum { POINTS = 120 };
    if (c->n_waits == 0)
        return;
    buf_printf(p->out, "<polyline class=\"line s%u\" points=\"", series);
    for (int i = 0; i <= POINTS; i++) {
        double x = (double)i / POINTS;
        buf_printf(p->out, "%.1f %.1f ", plot_x(p, x),
                   plot_y(p, share_within(c, 1e3 * real_exp(x * axis->ln_span))));
    }
    buf_printf(p->out, "\"/>\n");
}

static void wait_stripes(struct plot *p, const struct summary *s, const struct wait_axis *axis,
                         const struct shown *shown)
{
    enum { STRIPES = 48 };
    struct buf title = {0};
    for (int i = 0; i < STRIPES; i++) {
        double from = (double)i / STRIPES, to = (double)(i + 1) / STRIPES;
        double ms = 1e3 * real_exp((from + to) / 2 * axis->ln_span);
        buf_clear(&title);
        buf_printf(&title, "placed within %s:", text_ms((int64_t)ms).s);
        for (uint32_t k = 0; k < shown->n; k++) {
            const struct class_summary *c = &s->classes.at[shown->class[k]];
            if (c->n_waits)
                buf_printf(&title, "\n" STR_FMT ": %.1f %%", STR_ARG(c->name), share_within(c, ms));
        }
        plot_stripe(p, from, to, buf_str(&title));
    }
    buf_done(&title);
}

void chart_waits(const struct summary *s, uint32_t number, struct buf *out)
{
    struct wait_axis axis = wait_axis_of(s);
    struct shown shown = choose_classes(s);
    bool is_there[PLOT_SERIES_MOST];
    for (uint32_t i = 0; i < shown.n; i++)
        is_there[i] = s->classes.at[shown.class[i]].n_waits > 0;
    figure_open(out, "waits", number, "Waiting times of pods",
                "Share of the pods of a class that were placed within a time. "
                "Pods still waiting at the end are not counted.");
    shown.has_others = false;
    classes_legend(s, &shown, is_there, out);
    struct plot p;
    plot_open(&p, out, 260, "", "Distribution of waiting times by job class");
    p.y_most = 100;
    plot_y_axis(&p, " %");
    wait_ticks(&p, &axis);
    for (uint32_t i = shown.n; i-- > 0;)
        wait_line(&p, &axis, &s->classes.at[shown.class[i]], i);
    wait_stripes(&p, s, &axis, &shown);
    plot_close(&p);
    figure_close(out);
}

/* --- groups --- */

/* A row of cells, each `each` steps wide, that begins at `y` in the SVG. */
static void group_row(struct plot *p, const struct summary *s, uint32_t group, double y,
                      uint32_t each, double row_height)
{
    const struct books *b = s->books;
    struct face face = face_of(b->plan->watched);
    uint32_t steps = timeline_steps(&b->timeline, b->end_ms);
    double step_ms = (double)b->timeline.step_ms;
    buf_printf(p->out, "<g transform=\"translate(0 %.1f)\">", y);
    for (uint32_t from = 0; from < steps; from += each) {
        uint32_t to = MIN(from + each, steps);
        double used = timeline_mean(&b->timeline, books_group_used(b, group), from, to, b->end_ms);
        double room = timeline_mean(&b->timeline, books_group_room(b, group), from, to, b->end_ms);
        double share = room > 0 ? used / room : 0;
        double x = plot_x(p, from * step_ms);
        double x_to = plot_x(p, MIN(to * step_ms, chart_end_ms(s)));
        buf_printf(p->out, "<rect class=\"h%d\" x=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
                   (int)MIN(share * SHADES + 0.5, (double)SHADES), x, MAX(x_to - x - 0.8, 0.4),
                   row_height * 0.93);
        html_add(p->out, b->plan->groups.at[group]);
        buf_printf(p->out, " %s: %s of %s</title></rect>\n",
                   text_clock((int64_t)(from * step_ms), b->timeline.step_ms).s,
                   text_amount(used / face.per_unit).s, text_amount(room / face.per_unit).s);
    }
    buf_printf(p->out, "</g>\n");
}

static void shades_legend(struct buf *out)
{
    buf_printf(out, "<ul class=\"legend shades\"><li>none in use</li>");
    for (int i = 0; i <= SHADES; i++)
        buf_printf(out, "<li><i class=\"key c%d\"></i></li>", i);
    buf_printf(out, "<li>full</li></ul>\n");
}

static bool has_any(const struct books *b, uint32_t group)
{
    return b->timeline.at[books_group_room(b, group)].peak > 0;
}

static void group_rows(struct plot *p, const struct summary *s, uint32_t rows, uint32_t cells)
{
    enum { CELLS_MOST = 96 }; /* of a row */
    const struct books *b = s->books;
    uint32_t steps = timeline_steps(&b->timeline, b->end_ms);
    uint32_t fair = rows ? cells / rows : 0;
    uint32_t most = fair > CELLS_MOST ? CELLS_MOST : MAX(fair, 1u);
    uint32_t each = (steps + most - 1) / most;
    double y = 0, row_height = 1000.0 / MAX(rows, 1u);
    for (uint32_t i = 0; i < b->plan->groups.n; i++) {
        if (!has_any(b, i))
            continue;
        plot_row_label(p, y + row_height / 2, b->plan->groups.at[i]);
        group_row(p, s, i, y, MAX(each, 1u), row_height);
        y += row_height;
    }
}

/* A row for each group that has any of the watched resource; at most so many cells in all. */
void chart_groups(const struct summary *s, uint32_t number, uint32_t cells, struct buf *out)
{
    const struct plan *plan = s->books->plan;
    struct face face = face_of(plan->watched);
    char title[120], words[120];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < plan->groups.n; i++)
        rows += has_any(s->books, i);
    double row_height = rows <= 8 ? 26 : rows <= 30 ? 17 : 14;
    snprintf(title, sizeof(title), "%s in use, by %s", face_word(&face), plan->group_word);
    snprintf(words, sizeof(words), "How much of what a %s has is asked for by its pods.",
             plan->group_word);
    figure_open(out, "groups", number, title, words);
    shades_legend(out);
    struct plot p;
    plot_open(&p, out, row_height * rows, "rows", title);
    p.x_most = chart_end_ms(s);
    group_rows(&p, s, rows, cells);
    plot_time_axis(&p);
    plot_close(&p);
    figure_close(out);
}
