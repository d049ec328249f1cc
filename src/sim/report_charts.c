#include "sim/report_charts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/real.h"
#include "sim/plot.h"
#include "sim/stats.h"
#include "sim/text.h"

enum {
    STRIPES_MOST = 96, /* places that say something when pointed at */
    CELLS_MOST = 1700, /* of the map of groups */
    SHADES = 10,
};

static const double time_left = 74;

/* --- series --- */

struct series {
    double *y;
    uint32_t n;
};

/* A column's mean in each step, in units. */
static struct series series_of(const struct summary *s, uint32_t column, double per_unit)
{
    const struct books *b = s->books;
    struct series out = {.n = timeline_steps(&b->timeline, b->end_ms)};
    out.y = mem_alloc(out.n * sizeof(*out.y));
    for (uint32_t i = 0; i < out.n; i++)
        out.y[i] = timeline_mean(&b->timeline, column, i, i + 1, b->end_ms) / per_unit;
    return out;
}

static double step_ms(const struct summary *s)
{
    return (double)s->books->timeline.step_ms;
}

static double end_ms(const struct summary *s)
{
    return MAX((double)s->books->end_ms, 1.0);
}

static double most_of(const struct series *series)
{
    double most = 0;
    for (uint32_t i = 0; i < series->n; i++)
        most = MAX(most, series->y[i]);
    return most;
}

/* The next round number: where an axis ends. */
static double round_up(double x)
{
    enum { TICKS = 5 };
    if (x <= 0)
        return 1;
    double tick = stats_tick(x, TICKS);
    double ticks = real_round(x / tick);
    return tick * (ticks * tick < x ? ticks + 1 : ticks);
}

/* --- heading and legend --- */

static void figure_open(struct buf *out, const char *id, const char *title, const char *words)
{
    buf_printf(out, "<figure id=\"%s\">\n<figcaption><h2>", id);
    html_add(out, str_of(title));
    buf_printf(out, "</h2><p>%s</p></figcaption>\n", words);
}

static void figure_close(struct buf *out)
{
    buf_printf(out, "</figure>\n");
}

static void legend_item(struct buf *out, unsigned series, struct str name)
{
    buf_printf(out,
               "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
               "<rect class=\"s%u\" width=\"12\" height=\"12\" rx=\"3\"/></svg>",
               series);
    html_add(out, name);
    buf_printf(out, "</li>");
}

/* From step to step, what each series was: "14:00 – 14:15 · GPU 91 % · CPU 44 %". */
static void add_stripes(struct plot *p, const struct summary *s, const struct series *series,
                        const char *const *names, uint32_t n, const char *unit)
{
    uint32_t steps = series[0].n;
    uint32_t each = (steps + STRIPES_MOST - 1) / STRIPES_MOST;
    struct buf title = {0};
    for (uint32_t i = 0; i < steps; i += each) {
        uint32_t last = MIN(i + each, steps);
        double from = i * step_ms(s), to = MIN(last * step_ms(s), end_ms(s));
        buf_clear(&title);
        buf_printf(&title, "%s – %s", text_clock((int64_t)from, s->books->timeline.step_ms).s,
                   text_clock((int64_t)to, s->books->timeline.step_ms).s);
        for (uint32_t k = 0; k < n; k++) {
            double sum = 0;
            for (uint32_t j = i; j < last; j++)
                sum += series[k].y[j];
            buf_printf(&title, "\n%s: %s%s", names[k], text_amount(sum / (last - i)).s, unit);
        }
        plot_stripe(p, from, to, buf_str(&title));
    }
    buf_done(&title);
}

/* --- utilisation --- */

static struct series share_series(const struct summary *s, uint32_t resource)
{
    struct series used = series_of(s, books_used(s->books, resource), 1);
    struct series room = series_of(s, books_room(s->books, resource), 1);
    for (uint32_t i = 0; i < used.n; i++)
        used.y[i] = room.y[i] > 0 ? used.y[i] / room.y[i] * 100 : 0;
    mem_free(room.y);
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
    const char *names[PLOT_SERIES_MOST] = {0};
    figure_open(out, "utilisation", "Utilisation",
                "Share of each resource that pods on nodes ask for.");
    buf_printf(out, "<ul class=\"legend\">");
    for (uint32_t i = 0; i < n; i++) {
        series[i] = share_series(s, resource_at(s, i));
        faces[i] = face_of(s->resources.at[resource_at(s, i)].name);
        names[i] = faces[i].label;
        legend_item(out, i, str_of(names[i]));
    }
    buf_printf(out, "</ul>\n");
    struct plot p;
    plot_open(&p, out, 300, time_left, "Utilisation of each resource over time, in percent");
    p.x_most = end_ms(s);
    p.y_most = 100;
    plot_y_axis(&p, " %");
    plot_time_axis(&p);
    for (uint32_t i = n; i-- > 0;)
        plot_line(&p, series[i].y, series[i].n, step_ms(s), i);
    add_stripes(&p, s, series, names, n, " %");
    plot_close(&p);
    figure_close(out);
    for (uint32_t i = 0; i < n; i++)
        mem_free(series[i].y);
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
    struct series sum = {.n = timeline_steps(&s->books->timeline, s->books->end_ms)};
    sum.y = mem_alloc(sum.n * sizeof(*sum.y));
    for (uint32_t c = 0; c < s->classes.n; c++) {
        if (is_shown(shown, c))
            continue;
        struct series one = series_of(s, books_class_used(s->books, c), unit);
        for (uint32_t i = 0; i < sum.n; i++)
            sum.y[i] += one.y[i];
        mem_free(one.y);
    }
    return sum;
}

/* Each series lies on the ones before it. */
static void stack_areas(struct plot *p, const struct series *series, uint32_t n, double step)
{
    uint32_t steps = series[0].n;
    double *low = mem_alloc(steps * sizeof(*low)), *high = mem_alloc(steps * sizeof(*high));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < steps; k++)
            high[k] = low[k] + series[i].y[k];
        plot_area(p, low, high, steps, step, i);
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
    buf_printf(out, "<ul class=\"legend\">");
    for (uint32_t i = 0; i < shown->n; i++) {
        if (is_there[i])
            legend_item(out, i, s->classes.at[shown->class[i]].name);
    }
    if (shown->has_others)
        legend_item(out, shown->n, STR("others"));
    buf_printf(out, "</ul>\n");
}

static void plot_classes(const struct summary *s, const struct shown *shown, struct plot *p,
                         double per_unit)
{
    struct series series[PLOT_SERIES_MOST] = {0};
    const char *names[PLOT_SERIES_MOST] = {0};
    uint32_t n = shown->n + shown->has_others;
    for (uint32_t i = 0; i < shown->n; i++) {
        names[i] = s->classes.at[shown->class[i]].name.p;
        series[i] = series_of(s, books_class_used(s->books, shown->class[i]), per_unit);
    }
    if (shown->has_others) {
        names[shown->n] = "others";
        series[shown->n] = others_series(s, shown, per_unit);
    }
    if (n) {
        stack_areas(p, series, n, step_ms(s));
        add_stripes(p, s, series, names, n, "");
    }
    for (uint32_t i = 0; i < n; i++)
        mem_free(series[i].y);
}

void chart_classes(const struct summary *s, struct buf *out)
{
    const struct books *b = s->books;
    struct face face = face_of(b->plan->watched);
    struct shown shown = choose_classes(s);
    bool is_there[PLOT_SERIES_MOST];
    for (uint32_t i = 0; i < shown.n; i++)
        is_there[i] = b->timeline.at[books_class_used(b, shown.class[i])].peak > 0;
    char title[120];
    snprintf(title, sizeof(title), "%s in use, by job class", face_word(&face));
    figure_open(out, "classes", title,
                "What the running pods of each class ask for. The dashed line is all there is.");
    classes_legend(s, &shown, is_there, out);

    struct series room = series_of(s, books_room(b, b->watched), face.per_unit);
    struct plot p;
    plot_open(&p, out, 300, time_left, title);
    p.x_most = end_ms(s);
    p.y_most = round_up(most_of(&room));
    plot_y_axis(&p, "");
    plot_time_axis(&p);
    plot_y_title(&p, face_word(&face));
    plot_line(&p, room.y, room.n, step_ms(s), PLOT_SERIES_MOST);
    plot_classes(s, &shown, &p, face.per_unit);
    plot_close(&p);
    figure_close(out);
    mem_free(room.y);
}

/* --- queue --- */

void chart_queue(const struct summary *s, struct buf *out)
{
    static const char *const names[] = {"waiting", "running"};
    struct series series[] = {series_of(s, BOOKS_WAITING, 1), series_of(s, BOOKS_RUNNING, 1)};
    char words[200];
    snprintf(words, sizeof(words), "Pods that wait for a node: %s on average, %s at most.",
             text_amount(s->queue_mean).s, text_count((uint64_t)s->queue_peak).s);
    figure_open(out, "queue", "Queue", words);
    struct plot p;
    plot_open(&p, out, 240, time_left, "Number of waiting pods over time");
    p.x_most = end_ms(s);
    p.y_most = round_up(most_of(&series[0]));
    plot_y_axis(&p, "");
    plot_time_axis(&p);
    plot_y_title(&p, "pods waiting");
    plot_area(&p, NULL, series[0].y, series[0].n, step_ms(s), 1);
    plot_line(&p, series[0].y, series[0].n, step_ms(s), 1);
    add_stripes(&p, s, series, names, LEN(series), " pods");
    plot_close(&p);
    figure_close(out);
    mem_free(series[0].y);
    mem_free(series[1].y);
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
    } ticks[] = {
        {1,       "≤ 1 s"},
        {10,      "10 s"   },
        {30,      "30 s"   },
        {60,      "1 min"  },
        {300,     "5 min"  },
        {1800,    "30 min" },
        {7200,    "2 h"    },
        {21600,   "6 h"    },
        {86400,   "1 d"    },
        {345600,  "4 d"    },
        {1728000, "20 d"   },
        {8640000, "100 d"  },
    };
    for (size_t i = 0; i < LEN(ticks) && ticks[i].s * 1e3 <= axis->most_ms; i++)
        plot_x_tick(p, wait_x(axis, ticks[i].s * 1e3), ticks[i].label, i > 0);
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

void chart_waits(const struct summary *s, struct buf *out)
{
    struct wait_axis axis = wait_axis_of(s);
    struct shown shown = choose_classes(s);
    bool is_there[PLOT_SERIES_MOST];
    for (uint32_t i = 0; i < shown.n; i++)
        is_there[i] = s->classes.at[shown.class[i]].n_waits > 0;
    figure_open(out, "waits", "Waiting times",
                "Share of the pods of a class that were placed within a time. "
                "Pods still waiting at the end are not counted.");
    shown.has_others = false;
    classes_legend(s, &shown, is_there, out);
    struct plot p;
    plot_open(&p, out, 300, time_left, "Distribution of waiting times by job class");
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

/* At most so many bytes, and no character cut in two. */
static struct str cut(struct str s, size_t most)
{
    size_t n = MIN(s.n, most);
    while (n < s.n && n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return str_part(s, 0, n);
}

/* `y`: where the row begins; a cell is `each` steps wide. */
static void group_row(struct plot *p, const struct summary *s, uint32_t group, double y,
                      uint32_t each, double row_height)
{
    const struct books *b = s->books;
    struct face face = face_of(b->plan->watched);
    uint32_t steps = timeline_steps(&b->timeline, b->end_ms);
    buf_printf(p->out, "<g transform=\"translate(0 %.1f)\">", y);
    for (uint32_t from = 0; from < steps; from += each) {
        uint32_t to = MIN(from + each, steps);
        double used = timeline_mean(&b->timeline, books_group_used(b, group), from, to, b->end_ms);
        double room = timeline_mean(&b->timeline, books_group_room(b, group), from, to, b->end_ms);
        double share = room > 0 ? used / room : 0;
        double x = plot_x(p, from * step_ms(s));
        double x_to = plot_x(p, MIN(to * step_ms(s), end_ms(s)));
        buf_printf(p->out, "<rect class=\"h%d\" x=\"%.1f\" width=\"%.1f\" height=\"%.0f\"><title>",
                   (int)MIN(share * SHADES + 0.5, (double)SHADES), x, MAX(x_to - x - 0.8, 0.4),
                   row_height - 1);
        html_add(p->out, b->plan->groups.at[group]);
        buf_printf(p->out, " %s: %s of %s %s</title></rect>\n",
                   text_clock((int64_t)(from * step_ms(s)), b->timeline.step_ms).s,
                   text_amount(used / face.per_unit).s, text_amount(room / face.per_unit).s,
                   face.unit);
    }
    buf_printf(p->out, "</g>\n");
}

static void shades_legend(struct buf *out)
{
    buf_printf(out, "<ul class=\"legend shades\"><li>0 %%</li>");
    for (int i = 0; i <= SHADES; i++)
        buf_printf(out,
                   "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
                   "<rect class=\"h%d\" width=\"12\" height=\"12\"/></svg></li>",
                   i);
    buf_printf(out, "<li>100 %%</li></ul>\n");
}

static bool has_any(const struct books *b, uint32_t group)
{
    return b->timeline.at[books_group_room(b, group)].peak > 0;
}

static void group_rows(struct plot *p, const struct summary *s, uint32_t rows, double row_height)
{
    const struct books *b = s->books;
    uint32_t steps = timeline_steps(&b->timeline, b->end_ms);
    uint32_t most = MIN((uint32_t)STRIPES_MOST, (uint32_t)CELLS_MOST / MAX(rows, 1u));
    uint32_t each = (steps + most - 1) / most;
    double y = p->top;
    for (uint32_t i = 0; i < b->plan->groups.n; i++) {
        if (!has_any(b, i))
            continue;
        buf_printf(p->out, "<text class=\"end row\" x=\"%.1f\" y=\"%.1f\">", p->left - 8,
                   y + row_height / 2 + 3.5);
        html_add(p->out, cut(b->plan->groups.at[i], 24));
        buf_printf(p->out, "</text>\n");
        group_row(p, s, i, y, each, row_height);
        y += row_height;
    }
}

/* A row for each group that has any of the watched resource. */
void chart_groups(const struct summary *s, struct buf *out)
{
    const struct plan *plan = s->books->plan;
    struct face face = face_of(plan->watched);
    char title[120], words[120];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < plan->groups.n; i++)
        rows += has_any(s->books, i);
    double row_height = rows <= 8 ? 26 : rows <= 30 ? 17 : 13;
    snprintf(title, sizeof(title), "%s in use, by %s", face_word(&face), plan->group_word);
    snprintf(words, sizeof(words), "How much of what a %s has is asked for by its pods.",
             plan->group_word);
    figure_open(out, "groups", title, words);
    shades_legend(out);
    struct plot p;
    plot_open(&p, out, row_height * rows + 58, 136, title);
    p.x_most = end_ms(s);
    group_rows(&p, s, rows, row_height);
    plot_time_axis(&p);
    plot_close(&p);
    figure_close(out);
}
