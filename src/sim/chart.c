#include "sim/chart.h"

#include "core/base/real.h"
#include "sim/stats.h"

struct series series_of(const struct summary *s, uint32_t column, double per_unit)
{
    const struct books *b = s->books;
    struct series out = {.n = timeline_steps(&b->timeline, b->end_ms),
                         .step_ms = (double)b->timeline.step_ms,
                         .end_ms = chart_end_ms(s)};
    out.y = mem_alloc(out.n * sizeof(*out.y));
    for (uint32_t i = 0; i < out.n; i++)
        out.y[i] = timeline_mean(&b->timeline, column, i, i + 1, b->end_ms) / per_unit;
    return out;
}

void series_done(struct series *series)
{
    mem_free(series->y);
    *series = (struct series){0};
}

double series_most(const struct series *series)
{
    double most = 0;
    for (uint32_t i = 0; i < series->n; i++)
        most = MAX(most, series->y[i]);
    return most;
}

double chart_round_up(double x)
{
    enum { TICKS = 5 };
    if (x <= 0)
        return 1;
    double tick = stats_tick(x, TICKS);
    double ticks = real_round(x / tick);
    return tick * (ticks * tick < x ? ticks + 1 : ticks);
}

double chart_end_ms(const struct summary *s)
{
    return MAX((double)s->books->end_ms, 1.0);
}

void figure_open(struct buf *out, const char *id, uint32_t number, const char *title,
                 const char *words)
{
    buf_printf(out, "<figure id=\"%s", id);
    if (number)
        buf_printf(out, "-%u", number + 1);
    buf_printf(out, "\">\n<figcaption><h3>");
    html_add(out, str_of(title));
    buf_printf(out, "</h3><p>%s</p></figcaption>\n", words);
}

void figure_close(struct buf *out)
{
    buf_printf(out, "</figure>\n");
}

void legend_open(struct buf *out)
{
    buf_printf(out, "<ul class=\"legend\">");
}

void legend_item(struct buf *out, unsigned series, struct str name)
{
    buf_printf(out, "<li><i class=\"key k%u\"></i>", series);
    html_add(out, name);
    buf_printf(out, "</li>");
}

void legend_close(struct buf *out)
{
    buf_printf(out, "</ul>\n");
}

/* Its mean between two times; 0 behind its end. */
static double mean_between(const struct series *series, double from_ms, double to_ms)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = (uint32_t)(from_ms / series->step_ms); i < series->n; i++) {
        if (i * series->step_ms >= to_ms)
            break;
        sum += series->y[i];
        n++;
    }
    return n ? sum / n : 0;
}

void chart_stripes(struct plot *p, const struct series *series, const struct str *names, uint32_t n,
                   const char *unit)
{
    enum { STRIPES_MOST = 96 };
    uint32_t steps = (uint32_t)(p->x_most / series[0].step_ms + 0.999);
    uint32_t each = (steps + STRIPES_MOST - 1) / STRIPES_MOST;
    int64_t step_ms = (int64_t)series[0].step_ms;
    struct buf title = {0};
    for (uint32_t i = 0; i < steps; i += each) {
        double from = i * series[0].step_ms;
        double to = MIN(from + each * series[0].step_ms, p->x_most);
        buf_clear(&title);
        buf_printf(&title, "%s – %s", text_clock((int64_t)from, step_ms).s,
                   text_clock((int64_t)to, step_ms).s);
        for (uint32_t k = 0; k < n; k++)
            buf_printf(&title, "\n" STR_FMT ": %s%s", STR_ARG(names[k]),
                       text_amount(mean_between(&series[k], from, to)).s, unit);
        plot_stripe(p, from, to, buf_str(&title));
    }
    buf_done(&title);
}
