#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct pool *p = ctx;
    const struct pool_unit *x = &p->units.at[a], *y = &p->units.at[b];
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->is_beyond != y->is_beyond)
        return y->is_beyond;
    return a < b;
}

void pool_begin(struct pool *p)
{
    *p = (struct pool){0};
    p->f = fair_new(&(struct fair_order){before, p});
}

void pool_done(struct pool *p)
{
    fair_free(p->f);
    vec_done(&p->units);
}

/* --- reading --- */

struct words {
    struct fair_amount guaranteed[8], max[8], lend[8], each[8];
    struct fair_spec spec;
};

static void add(struct fair_amount *to, struct fair_ask *ask, uint32_t resource, int64_t amount)
{
    uint32_t i = ask->n++;
    for (; i > 0 && to[i - 1].resource > resource; i--)
        to[i] = to[i - 1];
    to[i] = (struct fair_amount){.resource = resource, .amount = amount};
    ask->at = to;
}

static void read_amount(struct pool *p, struct words *w, struct str key, int64_t amount)
{
    struct fair_spec *s = &w->spec;
    struct str first = key.n ? str_take(&key, '.') : key;
    uint32_t r = fair_resource(p->f, key.n ? key : first);
    if (!key.n)
        add(w->guaranteed, &s->guaranteed, r, amount);
    else if (str_equal(first, STR("max")))
        add(w->max, &s->max, r, amount);
    else if (str_equal(first, STR("lend")))
        add(w->lend, &s->lend, r, amount);
    else
        add(w->each, &s->each_max, r, amount);
}

static void read_word(struct pool *p, struct words *w, struct str word)
{
    struct fair_spec *s = &w->spec;
    struct str value = word, key = str_take(&value, '=');
    int64_t number = 0;
    bool is_number = str_int(value, &number);
    if (str_equal(key, STR("parent")))
        s->parent = value;
    else if (str_equal(key, STR("invalid")))
        s->invalid = value;
    else if (str_equal(key, STR("weight")))
        s->weight = (uint32_t)number;
    else if (str_equal(key, STR("jobs")))
        s->max_jobs = number;
    else if (str_equal(key, STR("eachjobs")))
        s->each_max_jobs = number;
    else if (str_equal(key, STR("minrun")))
        s->min_run_ms = number;
    else if (str_equal(key, STR("split")))
        s->is_split = true;
    else if (str_equal(key, STR("hold")))
        s->stop = FAIR_HOLD;
    else if (str_equal(key, STR("drain")))
        s->stop = FAIR_DRAIN;
    else if (is_number)
        read_amount(p, w, key, number);
}

static void read_words(struct pool *p, struct words *w, const char *text)
{
    *w = (struct words){.spec = FAIR_SPEC_PLAIN};
    struct str rest = str_of(text);
    while (rest.n)
        read_word(p, w, str_take(&rest, ' '));
}

uint32_t pool_queue(struct pool *p, const char *name, const char *text)
{
    struct words w;
    read_words(p, &w, text);
    return fair_put(p->f, str_of(name), &w.spec);
}

void pool_capacity(struct pool *p, const char *text)
{
    struct words w;
    read_words(p, &w, text);
    for (uint32_t i = 0; i < w.spec.guaranteed.n; i++)
        fair_set_capacity(p->f, w.guaranteed[i].resource, w.guaranteed[i].amount);
}

/* --- units --- */

static struct fair_ask ask_of(const struct pool_unit *u)
{
    return (struct fair_ask){u->ask, u->n};
}

static uint64_t kind_of(const struct pool_unit *u)
{
    uint64_t kind = u->is_beyond;
    for (uint32_t i = 0; i < u->n; i++)
        kind = kind * 1000003 + u->ask[i].resource * 7919 + (uint64_t)u->ask[i].amount;
    return kind;
}

static uint32_t add_unit(struct pool *p, uint32_t queue, const char *ask)
{
    struct words w;
    read_words(p, &w, ask);
    struct pool_unit u = {.queue = queue, .n = w.spec.guaranteed.n};
    assert(u.n <= POOL_RESOURCES);
    memcpy(u.ask, w.guaranteed, u.n * sizeof(*u.ask));
    vec_push(&p->units, u);
    return p->units.n - 1;
}

uint32_t pool_wait(struct pool *p, uint32_t queue, const char *ask)
{
    uint32_t unit = add_unit(p, queue, ask);
    const struct pool_unit *u = &p->units.at[unit];
    fair_enter(p->f, unit, queue, kind_of(u), ask_of(u), false);
    return unit;
}

void pool_wait_often(struct pool *p, uint32_t queue, const char *ask, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pool_wait(p, queue, ask);
}

void pool_start(struct pool *p, uint32_t unit)
{
    struct pool_unit *u = &p->units.at[unit];
    fair_leave(p->f, unit);
    fair_count(p->f, u->queue, ask_of(u), 1);
    fair_count_job(p->f, u->queue, 1);
    u->runs = true;
}

void pool_end(struct pool *p, uint32_t unit)
{
    struct pool_unit *u = &p->units.at[unit];
    assert(u->runs);
    fair_count(p->f, u->queue, ask_of(u), -1);
    fair_count_job(p->f, u->queue, -1);
    u->runs = false;
}

static bool has_room(struct pool *p, const struct pool_unit *u)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (fair_used(p->f, FAIR_ROOT, u->ask[i].resource) + u->ask[i].amount >
            fair_capacity(p->f, u->ask[i].resource))
            return false;
    return true;
}

uint32_t pool_round(struct pool *p, uint32_t most)
{
    uint32_t started = 0, unit;
    fair_new_round(p->f);
    while (started < most && (unit = fair_next(p->f)) != FAIR_NONE) {
        const struct pool_unit *u = &p->units.at[unit];
        struct fair_request r = {.queue = u->queue,
                                 .namespace = FAIR_NONE,
                                 .ask = ask_of(u),
                                 .is_taken = true,
                                 .is_new_job = !u->is_beyond,
                                 .is_preemptible = true};
        if (!fair_admits(p->f, &r, NULL) || !has_room(p, u)) {
            fair_out(p->f, unit);
            continue;
        }
        struct str name = fair_name(p->f, u->queue);
        size_t n = strlen(p->started);
        if (n + name.n + 2 < sizeof(p->started))
            snprintf(p->started + n, sizeof(p->started) - n, "%s" STR_FMT, n ? " " : "",
                     STR_ARG(name));
        pool_start(p, unit);
        started++;
    }
    return started;
}

int64_t pool_used(struct pool *p, uint32_t queue, const char *resource)
{
    return fair_used(p->f, queue, fair_resource(p->f, str_of(resource)));
}

int64_t pool_entitled(struct pool *p, uint32_t queue, const char *resource)
{
    return fair_entitled(p->f, queue, fair_resource(p->f, str_of(resource)));
}
