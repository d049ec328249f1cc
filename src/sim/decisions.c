#include "sim/decisions.h"

#include <stdlib.h>

#include "core/wire/json_write.h"

void decisions_done(struct decisions *d)
{
    intern_done(&d->units);
    intern_done(&d->places);
    vec_done(&d->told);
    vec_done(&d->taken);
    vec_done(&d->ends);
    vec_done(&d->refusals);
    arena_done(&d->mem);
}

static uint32_t number_of(struct intern *texts, struct str text)
{
    bool is_new;
    uint32_t number = intern_get(texts, text, &is_new);
    if (is_new)
        intern_hold(texts, number);
    return number;
}

static struct told *told_of(struct decisions *d, struct str unit)
{
    uint32_t number = number_of(&d->units, unit);
    if (number >= d->told.n)
        vec_resize(&d->told, number + 1);
    return &d->told.at[number];
}

/* --- lines --- */

static struct json_writer begin(struct decisions *d, int64_t now_ms, struct str unit,
                                struct str queue)
{
    struct json_writer w = {.out = d->out};
    json_put_open(&w, '{');
    put_int(&w, "t", now_ms);
    put_text(&w, "unit", unit);
    put_text(&w, "queue", queue);
    return w;
}

static void finish(struct json_writer *w)
{
    json_put_close(w, '}');
    buf_add_char(w->out, '\n');
}

static struct str part_name(bool is_beyond)
{
    return is_beyond ? STR("beyond") : STR("minimum");
}

/* By unit; of one, the minimum first. */
static int remark_compare(const void *a, const void *b)
{
    const struct remark *x = a, *y = b;
    int order = str_compare(x->unit, y->unit);
    return order ? order : x->is_beyond - y->is_beyond;
}

static void sort(struct remarks *all)
{
    if (all->n)
        qsort(all->at, all->n, sizeof(*all->at), remark_compare);
}

/* Texts are copied: the engine is told things before the lines are written. */
static void note(struct decisions *d, struct remarks *to, struct remark r)
{
    r.unit = arena_str(&d->mem, r.unit);
    r.queue = arena_str(&d->mem, r.queue);
    r.at = arena_str(&d->mem, r.at);
    vec_push(to, r);
}

void decisions_end(struct decisions *d, struct str unit, struct str queue, bool is_beyond)
{
    if (d->out)
        note(d, &d->ends, (struct remark){unit, queue, .is_beyond = is_beyond});
}

void decisions_write_ends(struct decisions *d, int64_t now_ms)
{
    sort(&d->ends);
    for (uint32_t i = 0; i < d->ends.n; i++) {
        const struct remark *r = &d->ends.at[i];
        if (i && !r->is_beyond && !remark_compare(r, r - 1))
            continue; /* the same minimum */
        struct json_writer w = begin(d, now_ms, r->unit, r->queue);
        put_text(&w, "end", part_name(r->is_beyond));
        finish(&w);
    }
    vec_clear(&d->ends);
    arena_reset(&d->mem);
}

static void put_victims(struct json_writer *w, const struct queue_turn *turn)
{
    static const struct str rules[] = {
        [QUEUE_BY_R4] = STR("R4"), [QUEUE_BY_R5] = STR("R5"), [QUEUE_BY_O1] = STR("O1")};
    put_open(w, "victims", '[');
    list_each(&turn->victims, v) {
        json_put_open(w, '{');
        put_text(w, "unit", v->unit);
        put_text(w, "queue", v->queue);
        put_int(w, "pods", v->pods);
        put_text(w, "rule", rules[v->rule]);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

static void write_start(struct decisions *d, int64_t now_ms, const struct queue_turn *turn)
{
    struct json_writer w = begin(d, now_ms, turn->unit, turn->queue);
    put_text(&w, "start", part_name(turn->is_beyond));
    if (!turn->is_first) {
        put_int(&w, "class", turn->class);
        put_int(&w, "share", (int64_t)turn->share);
    }
    if (turn->victims.n)
        put_victims(&w, turn);
    finish(&w);
}

/* --- what evictions cost --- */

void decisions_take(struct decisions *d, struct str unit, int64_t gpu_ms)
{
    vec_push(&d->taken, (struct taken){number_of(&d->units, unit), gpu_ms});
}

static void book_victims(struct decisions *d, const struct queue_turn *turn)
{
    struct books *b = d->books;
    list_each(&turn->victims, v) {
        uint32_t unit = number_of(&d->units, v->unit);
        if (v->rule == QUEUE_BY_O1)
            continue;
        *(v->rule == QUEUE_BY_R4 ? &b->reclaimed : &b->outranked) += v->pods;
        vec_each(&d->taken, taken)
            b->evicted_gpu_ms += taken->unit == unit ? taken->gpu_ms : 0;
    }
    if (turn->victims.n)
        vec_clear(&d->taken); /* a plan's unit has started before the next plan is made */
}

void decisions_start(struct decisions *d, int64_t now_ms, const struct queue_turn *turn)
{
    book_victims(d, turn);
    if (!turn->is_beyond)
        told_of(d, turn->unit)->rule = QUEUE_RULE_NONE;
    if (d->out)
        write_start(d, now_ms, turn);
}

/* --- who waits --- */

void decisions_refuse(struct decisions *d, const struct queue_refusal *why)
{
    struct told *told = told_of(d, why->unit);
    uint32_t at = number_of(&d->places, why->at);
    if (why->rule == QUEUE_RULE_NONE || (told->rule == why->rule && told->at == at))
        return;
    *told = (struct told){(uint8_t)why->rule, at};
    note(d, &d->refusals, (struct remark){why->unit, why->queue, why->at, (uint8_t)why->rule, 0});
}

void decisions_write_refusals(struct decisions *d, int64_t now_ms)
{
    sort(&d->refusals);
    vec_each(&d->refusals, r) {
        struct json_writer w = begin(d, now_ms, r->unit, r->queue);
        put_text(&w, "refuse", queue_rule_name(r->rule));
        put_nonempty(&w, "at", r->at);
        finish(&w);
    }
    vec_clear(&d->refusals);
    arena_reset(&d->mem);
}
