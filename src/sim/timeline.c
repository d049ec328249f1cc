#include "sim/timeline.h"

#include "core/base/mem.h"

/* Steps people can read: seconds, then 5 s, 15 s, 1 min, 5 min, 15 min, 1 h, 3 h, 6 h, 1 d, then
 * doubling. */
static int64_t next_step_ms(int64_t step_ms)
{
    static const int64_t steps_s[] = {1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 86400};
    for (size_t i = 0; i < LEN(steps_s); i++) {
        if (steps_s[i] * 1000 > step_ms)
            return steps_s[i] * 1000;
    }
    return step_ms * 2;
}

/* Joins neighbouring steps. */
static void widen(struct timeline *t)
{
    int64_t wider_ms = next_step_ms(t->step_ms);
    uint32_t factor = (uint32_t)(wider_ms / t->step_ms);
    for (uint32_t column = 0; column < t->columns; column++) {
        double *areas = &t->areas[column * TIMELINE_MOST];
        for (uint32_t i = 0; i < TIMELINE_MOST; i++) {
            double area = areas[i];
            areas[i] = 0;
            areas[i / factor] += area;
        }
    }
    t->step_ms = wider_ms;
}

static void bring_up_to(struct timeline *t, uint32_t column, int64_t now_ms)
{
    struct timeline_column *c = &t->at[column];
    assert(now_ms >= c->since_ms);
    if (now_ms == c->since_ms)
        return;
    while (now_ms > t->step_ms * TIMELINE_MOST)
        widen(t);
    c->peak = MAX(c->peak, c->value);
    c->total += c->value * (double)(now_ms - c->since_ms);
    for (int64_t at_ms = c->since_ms; c->value != 0 && at_ms < now_ms;) {
        int64_t step = at_ms / t->step_ms;
        int64_t until_ms = MIN((step + 1) * t->step_ms, now_ms);
        t->areas[column * TIMELINE_MOST + (uint32_t)step] += c->value * (double)(until_ms - at_ms);
        at_ms = until_ms;
    }
    c->since_ms = now_ms;
}

void timeline_init(struct timeline *t, uint32_t columns)
{
    *t = (struct timeline){.step_ms = 1000, .columns = columns};
    t->at = mem_alloc(columns * sizeof(*t->at));
    t->areas = mem_alloc((size_t)columns * TIMELINE_MOST * sizeof(*t->areas));
}

void timeline_done(struct timeline *t)
{
    mem_free(t->at);
    mem_free(t->areas);
    *t = (struct timeline){0};
}

void timeline_set(struct timeline *t, uint32_t column, int64_t now_ms, double value)
{
    assert(column < t->columns);
    bring_up_to(t, column, now_ms);
    t->at[column].value = value;
}

void timeline_close(struct timeline *t, int64_t now_ms)
{
    for (uint32_t column = 0; column < t->columns; column++)
        bring_up_to(t, column, now_ms);
}

uint32_t timeline_steps(const struct timeline *t, int64_t end_ms)
{
    return (uint32_t)((end_ms + t->step_ms - 1) / t->step_ms);
}

double timeline_mean(const struct timeline *t, uint32_t column, uint32_t from, uint32_t to,
                     int64_t end_ms)
{
    double area = 0;
    for (uint32_t i = from; i < to; i++)
        area += t->areas[column * TIMELINE_MOST + i];
    int64_t span_ms = MIN(to * t->step_ms, end_ms) - from * t->step_ms;
    return span_ms > 0 ? area / (double)span_ms : 0;
}
