#include "sim/report_compare.h"

#include <stdio.h>

#include "core/base/real.h"
#include "core/wire/json_write.h"

static const double ms_per_hour = 3600e3;

#define UNKNOWN (-1.0) /* no score is below 0 */

/* --- numbers --- */

enum score {
    SCORE_USED,
    SCORE_USEFUL,
    SCORE_WHOLE,
    SCORE_CLIQUES,
    SCORE_FRAGMENTS,
    SCORE_LOCAL,
    SCORE_COMPLETE,
    SCORE_APART,
    SCORE_HOPS,
    SCORE_HALF,
    SCORE_HELD,
    SCORE_EVICTED,
    SCORE_SET_BACK,
    SCORE_LOST,
    SCORE_SPAN,
    SCORE_ENDED,
    SCORE_PENDING,
    SCORE_WAIT, /* these two by size of job */
    SCORE_WAIT_90 = SCORE_WAIT + ISLAND_SIZES,
    N_SCORES = SCORE_WAIT_90 + ISLAND_SIZES,
};

/* Of the watched resource, in hours of its units. */
static double hours(const struct summary *s, double watched_ms)
{
    return watched_ms / face_of(s->books->plan->watched).per_unit / ms_per_hour;
}

/* Of all there is, what did work that was not undone. */
static double useful_share(const struct books *b)
{
    double room = b->timeline.at[books_room(b, b->watched)].total;
    double used = b->timeline.at[books_used(b, b->watched)].total;
    double wasted = b->timeline.at[BOOKS_HELD].total + b->evicted.work + b->lost.work;
    return room > 0 ? MAX(used - wasted, 0.0) / room : 0;
}

static void measure(const struct summary *s, double *out)
{
    const struct books *b = s->books;
    const struct islands *is = &b->islands;
    bool has_gangs = is->placed > 0;
    const double scores[SCORE_WAIT] = {
        [SCORE_USED] = s->resources.at[b->watched].mean_share,
        [SCORE_USEFUL] = useful_share(b),
        [SCORE_WHOLE] = s->islands.whole,
        [SCORE_CLIQUES] = s->islands.whole_cliques,
        [SCORE_FRAGMENTS] = s->islands.fragments,
        [SCORE_LOCAL] = s->islands.numa_local,
        [SCORE_COMPLETE] = (double)is->placed,
        [SCORE_APART] = has_gangs ? s->islands.apart : UNKNOWN,
        [SCORE_HOPS] = has_gangs ? s->islands.hops : UNKNOWN,
        [SCORE_HALF] = (double)b->gangs_half,
        [SCORE_HELD] = hours(s, b->timeline.at[BOOKS_HELD].total),
        [SCORE_EVICTED] = (double)b->evicted.pods,
        [SCORE_SET_BACK] = (double)b->evicted.gangs,
        [SCORE_LOST] = hours(s, b->evicted.work),
        [SCORE_SPAN] = (double)s->makespan_ms,
        [SCORE_ENDED] = (double)s->all.ended,
        [SCORE_PENDING] = (double)(s->all.waiting + s->all.failed),
    };
    memcpy(out, scores, sizeof(scores));
    for (uint32_t i = 0; i < ISLAND_SIZES; i++) {
        out[SCORE_WAIT + i] = s->islands.waits[i].mean_ms;
        out[SCORE_WAIT_90 + i] = (double)s->islands.waits[i].p90_ms;
    }
}

static struct text as_count(double x)
{
    return text_count((uint64_t)x);
}

static struct text as_span(double ms)
{
    return text_ms((int64_t)ms);
}

/* How a score is shown and judged; all waits alike. */
static const struct score_kind {
    const char *key;
    struct text (*shown)(double);
    bool is_more; /* more is better */
} kinds[SCORE_WAIT] = {
    [SCORE_USED] = {"used", text_share, true},
    [SCORE_USEFUL] = {"useful", text_share, true},
    [SCORE_WHOLE] = {"wholeIslands", text_amount, true},
    [SCORE_CLIQUES] = {"wholeCliques", text_amount, true},
    [SCORE_FRAGMENTS] = {"fragments", text_share, false},
    [SCORE_LOCAL] = {"numaLocal", text_share, true},
    [SCORE_COMPLETE] = {"gangsComplete", as_count, true},
    [SCORE_APART] = {"gangsApart", text_share, false},
    [SCORE_HOPS] = {"hopsPerGang", text_amount, false},
    [SCORE_HALF] = {"gangsHalfStarted", as_count, false},
    [SCORE_HELD] = {"heldHours", text_amount, false},
    [SCORE_EVICTED] = {"evicted", as_count, false},
    [SCORE_SET_BACK] = {"gangsSetBack", as_count, false},
    [SCORE_LOST] = {"lostHours", text_amount, false},
    [SCORE_SPAN] = {"makespan", as_span, false},
    [SCORE_ENDED] = {"ended", as_count, true},
    [SCORE_PENDING] = {"pending", as_count, false},
};

static struct score_kind kind_of(uint32_t score)
{
    if (score < SCORE_WAIT)
        return kinds[score];
    return (struct score_kind){score < SCORE_WAIT_90 ? "waitMean" : "waitP90", as_span, false};
}

/* --- rows --- */

/* What the table shows alike is alike: then nobody is best. */
static uint32_t best_of(const struct compare_row *row, uint32_t n)
{
    uint32_t best = CONTESTANTS_MOST, alike = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = row->numbers[i];
        if (x == UNKNOWN)
            return CONTESTANTS_MOST;
        if (best == CONTESTANTS_MOST ||
            (row->is_more ? x > row->numbers[best] : x < row->numbers[best]))
            best = i;
    }
    for (uint32_t i = 0; i < n; i++)
        alike += !strcmp(row->values[i].s, row->values[best].s);
    return alike == 1 && n > 1 ? best : CONTESTANTS_MOST;
}

static void add_row(struct comparison *c, uint32_t score, const char *name)
{
    struct score_kind kind = kind_of(score);
    struct compare_row row = {.key = kind.key, .is_more = kind.is_more};
    snprintf(row.name, sizeof(row.name), "%s", name);
    for (uint32_t i = 0; i < c->n; i++) {
        double scores[N_SCORES];
        measure(&c->all[i], scores);
        row.numbers[i] = scores[score];
        row.values[i] = scores[score] == UNKNOWN ? (struct text){"-"} : kind.shown(scores[score]);
    }
    row.best = best_of(&row, c->n);
    vec_push(&c->rows, row);
}

static void add_islands(struct comparison *c)
{
    const struct islands *is = &c->all[0].books->islands;
    char name[ROW_NAME];
    if (is->n == 0)
        return;
    snprintf(name, sizeof(name), "whole islands, of %s", text_count(is->n).s);
    add_row(c, SCORE_WHOLE, name);
    snprintf(name, sizeof(name), "whole cliques, of %u", is->cliques.n);
    if (is->cliques.n)
        add_row(c, SCORE_CLIQUES, name);
    add_row(c, SCORE_FRAGMENTS, "idle GPUs that are fragments");
    if (is->numa_pods)
        add_row(c, SCORE_LOCAL, "pods on one NUMA node");
}

static void add_gangs(struct comparison *c, const char *unit)
{
    char name[ROW_NAME];
    uint64_t gangs = c->all[0].books->islands.gangs;
    if (gangs == 0)
        return;
    snprintf(name, sizeof(name), "gangs that were complete, of %s", text_count(gangs).s);
    add_row(c, SCORE_COMPLETE, name);
    add_row(c, SCORE_APART, "of these in several racks");
    add_row(c, SCORE_HOPS, "hops between racks, per gang");
    add_row(c, SCORE_HALF, "gangs that were half started");
    snprintf(name, sizeof(name), "%s-hours held by half-started gangs", unit);
    add_row(c, SCORE_HELD, name);
}

static void add_evictions(struct comparison *c, const char *unit)
{
    char name[ROW_NAME];
    add_row(c, SCORE_EVICTED, "evicted pods");
    if (c->all[0].books->islands.gangs)
        add_row(c, SCORE_SET_BACK, "gangs set back by evictions");
    snprintf(name, sizeof(name), "%s-hours of work lost to evictions", unit);
    add_row(c, SCORE_LOST, name);
}

/* Is there anything in the row but zeros? */
static bool is_told(const struct comparison *c, const struct compare_row *row)
{
    bool is_told = false;
    for (uint32_t i = 0; i < c->n; i++)
        is_told = is_told || row->numbers[i] > 0;
    return is_told;
}

static void add_waits(struct comparison *c)
{
    const struct islands *is = &c->all[0].books->islands;
    for (uint32_t i = 0; i < ISLAND_SIZES; i++) {
        char name[ROW_NAME];
        if (is->waits[i].waits_ms.n == 0)
            continue;
        const char *size = i ? islands_size_name(i) : "no";
        snprintf(name, sizeof(name), "wait of jobs with %s GPU%s, mean", size, i == 1 ? "" : "s");
        add_row(c, SCORE_WAIT + i, name);
        snprintf(name, sizeof(name), "wait of jobs with %s GPU%s, p90", size, i == 1 ? "" : "s");
        add_row(c, SCORE_WAIT_90 + i, name);
        if (!is_told(c, &vec_last(&c->rows)))
            c->rows.n--;
    }
}

void comparison_init(struct comparison *c, const struct summary *all, uint32_t n)
{
    *c = (struct comparison){.all = all, .n = n};
    struct face face = face_of(all[0].books->plan->watched);
    char name[ROW_NAME];
    snprintf(name, sizeof(name), "%s in use", face_word(&face));
    add_row(c, SCORE_USED, name);
    snprintf(name, sizeof(name), "%s doing work that counts", face_word(&face));
    add_row(c, SCORE_USEFUL, name);
    add_islands(c);
    add_gangs(c, face.label);
    add_evictions(c, face.label);
    add_waits(c);
    if (all[0].books->plan->until_ms == INT64_MAX)
        add_row(c, SCORE_SPAN, "time until all was done");
    add_row(c, SCORE_ENDED, "pods that came to their end");
    add_row(c, SCORE_PENDING, "pods left waiting");
}

void comparison_done(struct comparison *c)
{
    vec_done(&c->rows);
    *c = (struct comparison){0};
}

/* --- words --- */

const char *const comparison_rules[] = {
    "A gang's job gets on only while at least its minimum of pods run; pods that run before hold "
    "their GPUs and do nothing.",
    "There are no checkpoints: an evicted pod begins anew, and with it its gang if too few are "
    "left.",
    "A job has waited when all its pods run at one time, or until the end if they never do.",
    NULL,
};

void contestant_text(const struct contestant *who, struct buf *out)
{
    buf_printf(out, "profile " STR_FMT ", policy " STR_FMT "; gangs: %s", STR_ARG(who->profile),
               STR_ARG(who->policy),
               who->places_gangs ? "placed whole or not at all"
                                 : "not known, their pods start one by one");
}

/* --- table --- */

enum { NAME_COLUMN = 40, VALUE_LEAST = 19, VALUE_MOST = 40 };

/* How wide the columns of values are: names fit in. */
static int value_column(const struct comparison *c)
{
    size_t wide = VALUE_LEAST;
    for (uint32_t i = 0; i < c->n; i++)
        wide = MAX(wide, c->all[i].who.name.n);
    return (int)MIN(wide, (size_t)VALUE_MOST);
}

static void table_names(const struct comparison *c, struct buf *out)
{
    int wide = value_column(c);
    buf_printf(out, "%-*s", NAME_COLUMN, "");
    for (uint32_t i = 0; i < c->n; i++) {
        struct str name = str_part(c->all[i].who.name, 0, (size_t)wide);
        buf_printf(out, "%*s" STR_FMT, wide + 1 - (int)name.n, "", STR_ARG(name));
    }
    buf_add_char(out, '\n');
}

static void table_row(const struct comparison *c, const struct compare_row *row, struct buf *out)
{
    buf_printf(out, "%-*s", NAME_COLUMN, row->name);
    for (uint32_t i = 0; i < c->n; i++)
        buf_printf(out, "%*s%c", value_column(c), row->values[i].s, row->best == i ? '*' : ' ');
    size_t n = out->n;
    while (n && out->p[n - 1] == ' ')
        n--;
    buf_cut(out, n, out->n);
    buf_add_char(out, '\n');
}

static uint32_t wins_of(const struct comparison *c, uint32_t who)
{
    uint32_t wins = 0;
    vec_each(&c->rows, row)
        wins += row->best == who;
    return wins;
}

static void table_result(const struct comparison *c, struct buf *out)
{
    buf_printf(out, "\n* best of its row:");
    for (uint32_t i = 0; i < c->n; i++)
        buf_printf(out, "%s " STR_FMT " in %u", i ? "," : "", STR_ARG(c->all[i].who.name),
                   wins_of(c, i));
    buf_printf(out, " of %u rows.\n", c->rows.n);
}

void comparison_table(const struct comparison *c, const struct host *host, struct buf *out)
{
    const struct books *b = c->all[0].books;
    const struct plan *p = b->plan;
    buf_printf(out, STR_FMT ": %s nodes, %s jobs, %s pods, seed %llu, %s\n\n",
               STR_ARG(p->title.n ? p->title : STR("simulation")), text_count(p->nodes.n).s,
               text_count(p->works.n).s, text_count(p->pods).s, (unsigned long long)p->seed,
               text_ms(b->end_ms).s);
    for (uint32_t i = 0; i < c->n; i++) {
        buf_printf(out, STR_FMT ": ", STR_ARG(c->all[i].who.name));
        contestant_text(&c->all[i].who, out);
        buf_add_char(out, '\n');
    }
    buf_add_char(out, '\n');
    table_names(c, out);
    vec_each(&c->rows, row)
        table_row(c, row, out);
    table_result(c, out);
    for (uint32_t i = 0; comparison_rules[i]; i++)
        buf_printf(out, "%s\n", comparison_rules[i]);
    vec_each(&p->notes, note)
        buf_printf(out, "note: " STR_FMT "\n", STR_ARG(*note));
    uint64_t decisions = 0;
    double wall_s = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        decisions += c->all[i].engine.decisions;
        wall_s += host ? host[i].wall_s : 0;
    }
    buf_printf(out, "\n%s decisions", text_count(decisions).s);
    if (host)
        buf_printf(out, " in %.1f s", wall_s);
    buf_add_char(out, '\n');
}

/* --- JSON --- */

static void json_number(struct json_writer *w, double x)
{
    if (x == UNKNOWN)
        json_put_null(w);
    else
        json_put_double(w, real_round(x * 1e6) / 1e6);
}

static void json_rows(const struct comparison *c, struct json_writer *w)
{
    put_open(w, "rows", '[');
    vec_each(&c->rows, row) {
        json_put_open(w, '{');
        put_text(w, "name", str_of(row->name));
        put_text(w, "key", str_of(row->key));
        json_put_key(w, STR("values"));
        json_put_open(w, '[');
        for (uint32_t i = 0; i < c->n; i++)
            json_number(w, row->numbers[i]);
        json_put_close(w, ']');
        json_put_key(w, STR("best"));
        if (row->best < c->n)
            json_put_str(w, c->all[row->best].who.name);
        else
            json_put_null(w);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

void comparison_json(const struct comparison *c, const struct host *host, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = false};
    json_put_open(&w, '{');
    json_rows(c, &w);
    put_open(&w, "contestants", '[');
    for (uint32_t i = 0; i < c->n; i++)
        report_json_object(&c->all[i], host ? &host[i] : NULL, &w);
    json_put_close(&w, ']');
    json_put_close(&w, '}');
    buf_add_char(out, '\n');
}
