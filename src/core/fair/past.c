/* Usage that fades (O7), and the clock. Budgets: budget.c. */

#include "core/fair/inside.h"

enum { TICKS_IN_HALF_LIFE = 64, TICKS_MOST = 4096 };

static const uint64_t FADES = 46265331; /* of 2^32: 64 ticks of it leave a half */

/* --- one cell --- */

static void sum_up(struct past *p, int64_t used, int64_t now_ms)
{
    p->sum += (__int128)used * (now_ms - p->last_ms);
    p->last_ms = now_ms;
}

static uint64_t faded(uint64_t h, int64_t average)
{
    unsigned __int128 now = (unsigned __int128)(uint64_t)MAX(0, average) << 16;
    return (uint64_t)(((unsigned __int128)h * ((1ull << 32) - FADES) + now * FADES) >> 32);
}

/* `n` ticks of one average; ends early where it stays what it is. */
static uint64_t faded_often(uint64_t h, int64_t average, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t next = faded(h, average);
        if (next == h)
            break;
        h = next;
    }
    return h;
}

int64_t past_counted(const struct queue *q, uint32_t resource)
{
    int64_t used = q->cells[resource].used;
    return q->sums ? (used + (int64_t)(q->past[resource].h >> 16)) / 2 : used;
}

/* --- all cells --- */

void past_note(struct fair *f, struct queue *q, uint32_t resource)
{
    if (q->past)
        sum_up(&q->past[resource], q->cells[resource].used, f->now_ms);
    budget_note(f, q, resource);
}

void past_note_all(struct fair *f)
{
    vec_each(&f->top_down, number)
        for (uint32_t r = 0; r < f->capacity.n; r++)
            past_note(f, queue_at(f, *number), r);
}

static void grow_sums(struct queue *q, uint32_t from, uint32_t to)
{
    q->sums = mem_resize(q->sums, to * sizeof(*q->sums));
    for (uint32_t r = from; r < to; r++)
        q->sums[r] = q->past[r].sum;
}

void past_grow(struct fair *f, struct queue *q, uint32_t from, uint32_t to)
{
    if (q->kind == QUEUE_NAMESPACE)
        return;
    q->past = mem_resize(q->past, to * sizeof(*q->past));
    for (uint32_t r = from; r < to; r++)
        q->past[r] = (struct past){.last_ms = f->now_ms};
    if (f->tick_ms)
        grow_sums(q, from, to);
}

/* The tick that has just ended, and `more` that nothing changed in. */
static void tick(struct fair *f, int64_t more)
{
    int64_t end_ms = f->now_ms + more * f->tick_ms;
    for (uint32_t i = 0; i < f->queues.n; i++) {
        struct queue *q = f->queues.at[i];
        for (uint32_t r = 0; q->sums && r < f->capacity.n; r++) {
            struct past *p = &q->past[r];
            sum_up(p, q->cells[r].used, f->now_ms);
            p->h = faded(p->h, (int64_t)((p->sum - q->sums[r]) / f->tick_ms));
            p->h = faded_often(p->h, q->cells[r].used, MIN(more, TICKS_MOST));
            sum_up(p, q->cells[r].used, end_ms);
            q->sums[r] = p->sum;
        }
    }
    f->now_ms = end_ms;
}

static void pass_ticks(struct fair *f, int64_t now_ms)
{
    int64_t next_ms = (f->now_ms / f->tick_ms + 1) * f->tick_ms;
    if (next_ms > now_ms)
        return;
    f->now_ms = next_ms;
    tick(f, (now_ms - next_ms) / f->tick_ms);
    turns_stale_all(f);
}

/* --- the clock --- */

static void begin(struct fair *f, int64_t now_ms)
{
    f->has_begun = true;
    f->now_ms = now_ms;
    for (uint32_t i = 0; i < f->queues.n; i++) {
        struct queue *q = f->queues.at[i];
        for (uint32_t r = 0; q->past && r < f->stride; r++)
            q->past[r].last_ms = now_ms;
        vec_each(&q->accounts, a)
            budget_begin(a, now_ms);
    }
    f->due_ms = now_ms;
}

void fair_pass(struct fair *f, int64_t now_ms)
{
    if (!f->has_begun)
        begin(f, now_ms);
    if (now_ms <= f->now_ms)
        return;
    settle(f);
    if (f->tick_ms)
        pass_ticks(f, now_ms);
    f->now_ms = now_ms;
    if (UNLIKELY(f->due_ms <= now_ms))
        budget_look(f);
}

int64_t fair_next_ms(struct fair *f)
{
    settle(f);
    if (f->due_ms <= f->now_ms)
        budget_look(f);
    int64_t tick_ms = f->tick_ms ? (f->now_ms / f->tick_ms + 1) * f->tick_ms : INT64_MAX;
    return MIN(tick_ms, f->due_ms);
}

__int128 fair_used_time(struct fair *f, uint32_t queue, uint32_t resource)
{
    settle(f);
    const struct queue *q = queue_at(f, queue);
    const struct past *p = &q->past[resource];
    return p->sum + (__int128)q->cells[resource].used * (f->now_ms - p->last_ms);
}

void fair_set_half_life(struct fair *f, int64_t half_life_ms)
{
    assert(half_life_ms == 0 || half_life_ms >= TICKS_IN_HALF_LIFE);
    if (half_life_ms == f->half_life_ms)
        return;
    settle(f);
    f->half_life_ms = half_life_ms;
    f->tick_ms = half_life_ms / TICKS_IN_HALF_LIFE;
    for (uint32_t i = 0; i < f->queues.n; i++) {
        struct queue *q = f->queues.at[i];
        mem_free(q->sums);
        q->sums = NULL;
        for (uint32_t r = 0; q->past && r < f->stride; r++) {
            sum_up(&q->past[r], q->cells[r].used, f->now_ms);
            q->past[r].h = 0;
        }
        if (q->past && f->tick_ms)
            grow_sums(q, 0, f->stride);
    }
    turns_stale_all(f);
}

uint64_t fair_history(struct fair *f, uint32_t queue, uint32_t resource)
{
    const struct queue *q = queue_at(f, queue);
    return q->sums ? q->past[resource].h : 0;
}

void fair_set_history(struct fair *f, uint32_t queue, uint32_t resource, uint64_t h,
                      int64_t as_of_ms)
{
    settle(f);
    struct queue *q = queue_at(f, queue);
    if (!q->sums)
        return;
    int64_t missed = f->now_ms / f->tick_ms - MIN(as_of_ms, f->now_ms) / f->tick_ms;
    q->past[resource].h = missed > TICKS_MOST ? 0 : faded_often(h, q->cells[resource].used, missed);
    turns_stale(f, queue);
}
