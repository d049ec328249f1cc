#include "sim/report_overlays.h"

#include <stdio.h>

#include "sim/chart.h"

/* One chart of lines, one line for each contestant. */
struct overlay {
    const char *id, *title, *words;
    const char *axis; /* what is counted */
    const char *unit; /* behind each number */
    double most;      /* where the axis ends; 0: where the numbers do */
};

static void add_names(const struct comparison *c, struct buf *out)
{
    if (c->n == 1)
        return;
    legend_open(out);
    for (uint32_t i = 0; i < c->n; i++)
        legend_item(out, i, c->all[i].who.name);
    legend_close(out);
}

static double end_of(const struct comparison *c)
{
    double end_ms = 0;
    for (uint32_t i = 0; i < c->n; i++)
        end_ms = MAX(end_ms, chart_end_ms(&c->all[i]));
    return end_ms;
}

/* Gives the series back. */
static void draw(const struct comparison *c, const struct overlay *o, struct series *series,
                 struct buf *out)
{
    struct str names[CONTESTANTS_MOST];
    struct plot p;
    double most = o->most;
    figure_open(out, o->id, 0, o->title, o->words);
    add_names(c, out);
    plot_open(&p, out, 240, "", o->title);
    for (uint32_t i = 0; i < c->n; i++) {
        names[i] = c->n > 1 ? c->all[i].who.name : str_of(o->axis);
        most = MAX(most, series_most(&series[i]));
    }
    p.x_most = end_of(c);
    p.y_most = chart_round_up(most);
    plot_y_axis(&p, o->unit);
    plot_time_axis(&p);
    plot_y_title(&p, o->axis);
    for (uint32_t i = c->n; i-- > 0;)
        plot_line(&p, series[i].y, series[i].n, series[i].step_ms, series[i].end_ms, i);
    chart_stripes(&p, series, names, c->n, o->unit);
    plot_close(&p);
    figure_close(out);
    for (uint32_t i = 0; i < c->n; i++)
        series_done(&series[i]);
}

static void draw_column(const struct comparison *c, const struct overlay *o, uint32_t column,
                        double per_unit, struct buf *out)
{
    struct series series[CONTESTANTS_MOST] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        series[i] = series_of(&c->all[i], column, per_unit);
    draw(c, o, series, out);
}

/* "kubenexus-scheduler: 3.1, default-scheduler: 12" behind a sentence; the number alone if there is
 * one. */
static void add_each(const struct comparison *c, uint32_t i, const char *number, const char *unit,
                     struct buf *words)
{
    buf_printf(words, "%s", i ? ", " : " ");
    if (c->n > 1) {
        html_add(words, c->all[i].who.name);
        buf_printf(words, ": ");
    }
    buf_printf(words, "%s%s%s", number, unit, i + 1 == c->n ? "." : "");
}

void overlay_use(const struct comparison *c, struct buf *out)
{
    const struct books *b = c->all[0].books;
    struct face face = face_of(b->plan->watched);
    struct series series[CONTESTANTS_MOST] = {0};
    char title[120];
    for (uint32_t i = 0; i < c->n; i++) {
        series[i] = series_of(&c->all[i], books_used(b, b->watched), 1);
        struct series room = series_of(&c->all[i], books_room(b, b->watched), 1);
        for (uint32_t k = 0; k < series[i].n; k++)
            series[i].y[k] = room.y[k] > 0 ? series[i].y[k] / room.y[k] * 100 : 0;
        series_done(&room);
    }
    snprintf(title, sizeof(title), "%s in use", face_word(&face));
    struct overlay o = {"utilisation",    title, "Share of all that pods on nodes ask for.",
                        face_word(&face), " %",  100};
    draw(c, &o, series, out);
}

void overlay_queue(const struct comparison *c, struct buf *out)
{
    struct buf words = {0};
    buf_printf(&words, "Pods that wait for a node, on average:");
    for (uint32_t i = 0; i < c->n; i++)
        add_each(c, i, text_amount(c->all[i].queue_mean).s, "", &words);
    buf_add_char(&words, 0);
    struct overlay o = {"queue", "Queue", words.p, "pods waiting", "", 0};
    draw_column(c, &o, BOOKS_WAITING, 1, out);
    buf_done(&words);
}

void overlay_islands(const struct comparison *c, struct buf *out)
{
    const struct islands *is = &c->all[0].books->islands;
    struct buf words = {0};
    if (is->n == 0)
        return;
    buf_printf(&words, "Nodes all of whose GPUs are idle, of %s, on average:", text_count(is->n).s);
    for (uint32_t i = 0; i < c->n; i++)
        add_each(c, i, text_amount(c->all[i].islands.whole).s, "", &words);
    buf_add_char(&words, 0);
    struct overlay o = {"islands", "Whole islands", words.p, "nodes", "", 0};
    draw_column(c, &o, BOOKS_WHOLE, 1, out);
    buf_done(&words);
}

void overlay_gangs(const struct comparison *c, struct buf *out)
{
    struct face face = face_of(c->all[0].books->plan->watched);
    struct buf words = {0};
    char title[120], unit[80];
    if (c->all[0].books->islands.gangs == 0)
        return;
    snprintf(title, sizeof(title), "%s held by half-started gangs", face_word(&face));
    snprintf(unit, sizeof(unit), " %s-hours", face.label);
    buf_printf(&words, "What pods hold that wait for the rest of their gang, in all:");
    for (uint32_t i = 0; i < c->n; i++) {
        double held_ms = c->all[i].books->timeline.at[BOOKS_HELD].total;
        add_each(c, i, text_amount(held_ms / face.per_unit / 3600e3).s, unit, &words);
    }
    buf_add_char(&words, 0);
    struct overlay o = {"gangs", title, words.p, face_word(&face), "", 0};
    draw_column(c, &o, BOOKS_HELD, face.per_unit, out);
    buf_done(&words);
}

void overlay_evictions(const struct comparison *c, struct buf *out)
{
    struct face face = face_of(c->all[0].books->plan->watched);
    struct buf words = {0};
    char unit[80];
    snprintf(unit, sizeof(unit), " %s-hours", face.label);
    buf_printf(&words, "Pods that had to make room for others, so far. Work lost by it:");
    for (uint32_t i = 0; i < c->n; i++) {
        double lost_ms = c->all[i].books->evicted.work;
        add_each(c, i, text_amount(lost_ms / face.per_unit / 3600e3).s, unit, &words);
    }
    buf_add_char(&words, 0);
    struct overlay o = {"evictions", "Evictions", words.p, "pods", "", 0};
    draw_column(c, &o, BOOKS_EVICTED, 1, out);
    buf_done(&words);
}

/* --- waits by size --- */

static double mean_of(const struct comparison *c, uint32_t who, uint32_t size)
{
    return c->all[who].islands.waits[size].mean_ms;
}

/* The largest unit in which the longest mean is at least 2. */
static const char *unit_of(double most_ms, double *per_unit)
{
    bool is_hours = most_ms >= 2 * 3600e3, is_minutes = most_ms >= 2 * 60e3;
    *per_unit = is_hours ? 3600e3 : is_minutes ? 60e3 : 1e3;
    return is_hours ? " h" : is_minutes ? " min" : " s";
}

static void add_bars(const struct comparison *c, struct plot *p, uint32_t place, uint32_t size,
                     double per_unit)
{
    const char *name = size ? islands_size_name(size) : "no";
    double wide = 0.8 / c->n;
    char title[200];
    for (uint32_t i = 0; i < c->n; i++) {
        const struct wait_summary *wait = &c->all[i].islands.waits[size];
        double from = place + 0.1 + wide * i;
        snprintf(title, sizeof(title),
                 STR_FMT "\n%s jobs with %s GPUs: mean %s, 90th percentile %s",
                 STR_ARG(c->all[i].who.name),
                 text_count(c->all[i].books->islands.waits[size].waits_ms.n).s, name,
                 text_ms((int64_t)wait->mean_ms).s, text_ms(wait->p90_ms).s);
        plot_bar(p, from, from + wide * 0.94, wait->mean_ms / per_unit, i, str_of(title));
    }
    plot_x_tick(p, place + 0.5, name, DENSE);
}

void overlay_waits(const struct comparison *c, struct buf *out)
{
    const struct islands *is = &c->all[0].books->islands;
    uint32_t sizes[ISLAND_SIZES], n = 0;
    double most_ms = 0, per_unit;
    for (uint32_t i = 0; i < ISLAND_SIZES; i++) {
        for (uint32_t k = 0; k < c->n; k++)
            most_ms = MAX(most_ms, mean_of(c, k, i));
        if (is->waits[i].waits_ms.n)
            sizes[n++] = i;
    }
    if (n == 0)
        return;
    const char *unit = unit_of(most_ms, &per_unit);
    struct plot p;
    figure_open(out, "sizes", 0, "Waiting by size of job",
                "Mean time until all pods of a job run, by the GPUs it asks for in all.");
    add_names(c, out);
    plot_open(&p, out, 240, "", "Mean wait of jobs by the number of their GPUs");
    p.x_most = n;
    p.y_most = chart_round_up(most_ms / per_unit);
    plot_y_axis(&p, unit);
    plot_x_title(&p, "GPUs of a job");
    for (uint32_t i = 0; i < n; i++)
        add_bars(c, &p, i, sizes[i], per_unit);
    plot_close(&p);
    figure_close(out);
}
