#include "cmd/kubenexus/measure.h"

#include <time.h>

static const struct bounds bounds = {.first = 0.001, .factor = 2, .n = 15};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static double seconds(int64_t from_us, int64_t to_us)
{
    return (double)(to_us - from_us) / 1e6;
}

void measures_done(struct measures *m)
{
    vec_each(&m->profiles, p)
        mem_free((char *)(uintptr_t)p->name.p);
    vec_done(&m->profiles);
    vec_done(&m->binds);
    vec_done(&m->free);
    map_done(&m->bind_of);
}

void measures_trim(struct measures *m)
{
    map_trim(&m->bind_of);
    if (m->bind_of.n)
        return;
    vec_done(&m->binds);
    vec_done(&m->free);
}

static uint32_t profile_of(struct measures *m, struct str name)
{
    for (uint32_t i = 0; i < m->profiles.n; i++)
        if (str_equal(m->profiles.at[i].name, name))
            return i;
    struct str copy = {mem_copy(name.p, name.n), name.n};
    vec_push(&m->profiles, (struct measured_profile){.name = copy});
    return m->profiles.n - 1;
}

static void begin_bind(struct measures *m, effect_id effect, uint32_t profile)
{
    if (m->free.n == 0) {
        vec_push(&m->free, m->binds.n);
        vec_push(&m->binds, (struct measured_bind){0});
    }
    uint32_t number = vec_pop(&m->free);
    m->binds.at[number] = (struct measured_bind){m->begin_us, profile};
    map_put(&m->bind_of, effect, number);
}

void measure_begin(struct measures *m)
{
    m->begin_us = now_us();
    m->seen = 0;
}

void measure_step(struct measures *m, const struct effects *effects)
{
    int64_t end_us = now_us();
    for (; m->seen < effects->list.n; m->seen++) {
        const struct effect *e = &effects->list.at[m->seen];
        if (e->kind != EFFECT_BIND && e->kind != EFFECT_REFUSE && e->kind != EFFECT_FAIL)
            continue;
        uint32_t profile = profile_of(m, e->profile);
        double took = seconds(m->begin_us, end_us);
        histogram_add(&m->decisions, &bounds, took);
        if (e->kind == EFFECT_BIND)
            begin_bind(m, e->id, profile);
        else
            histogram_add(
                &m->profiles.at[profile]
                     .attempts[e->kind == EFFECT_FAIL ? MEASURED_ERROR : MEASURED_UNSCHEDULABLE],
                &bounds, took);
    }
    m->begin_us = end_us;
}

void measure_settled(struct measures *m, effect_id effect, bool is_bound)
{
    uint32_t number = map_remove(&m->bind_of, effect);
    if (number == MAP_NONE)
        return;
    const struct measured_bind *b = &m->binds.at[number];
    histogram_add(
        &m->profiles.at[b->profile].attempts[is_bound ? MEASURED_SCHEDULED : MEASURED_ERROR],
        &bounds, seconds(b->begin_us, now_us()));
    vec_push(&m->free, number);
}

static void read_attempts(const void *source, const struct metric_sink *out)
{
    static const struct str results[] = {
        [MEASURED_SCHEDULED] = STR("scheduled"),
        [MEASURED_UNSCHEDULABLE] = STR("unschedulable"),
        [MEASURED_ERROR] = STR("error"),
    };
    const struct measures *m = source;
    vec_each(&m->profiles, p)
        for (size_t i = 0; i < LEN(results); i++)
            if (histogram_count(&p->attempts[i]))
                metric_put_histogram(out, (struct str[]){results[i], p->name}, &p->attempts[i]);
}

static void read_decisions(const void *source, const struct metric_sink *out)
{
    const struct measures *m = source;
    metric_put_histogram(out, NULL, &m->decisions);
}

const struct metric measure_metrics[] = {
    METRIC("scheduler_scheduling_attempt_duration_seconds", HISTOGRAM, "result,profile", &bounds,
           read_attempts,
           "Time of an attempt: the decision and, of pods that are placed, until "
           "they are bound."),
    METRIC("scheduler_scheduling_algorithm_duration_seconds", HISTOGRAM, NULL, &bounds,
           read_decisions, "Time of a decision."),
};
const uint32_t n_measure_metrics = LEN(measure_metrics);
