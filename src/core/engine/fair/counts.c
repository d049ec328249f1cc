#include "core/engine/fair/counts.h"

#include "core/engine/gang/gang.h"

void queue_counts_done(struct queue_counts *c)
{
    intern_done(&c->names);
    vec_done(&c->at);
    vec_done(&c->evictions);
}

/* Of those that are too many the last one stands for all: "other". */
static uint32_t number_of(struct queue_counts *c, struct str name)
{
    uint32_t number = intern_find(&c->names, name);
    if (number == INTERN_NONE && c->at.n >= QUEUES_COUNTED)
        name = STR("other");
    number = intern_get(&c->names, name, NULL);
    if (number >= c->at.n) {
        intern_hold(&c->names, number);
        vec_resize(&c->at, number + 1);
    }
    return number;
}

void queue_counts_refuse(struct queue_counts *c, struct str queue, enum queue_rule rule)
{
    uint32_t number = number_of(c, queue); /* which may move the rows */
    c->at.at[number].refusals[rule]++;
}

static void count_victim(struct queue_counts *c, uint32_t by, const struct queue_victim *v)
{
    uint32_t queue = number_of(c, v->queue);
    bool is_reclaim = v->rule == QUEUE_BY_R4;
    vec_each(&c->evictions, e)
        if (e->queue == queue && e->by == by && e->is_reclaim == is_reclaim) {
            e->pods += v->pods;
            return;
        }
    if (c->evictions.n < EVICTIONS_COUNTED)
        vec_push(&c->evictions, (struct queue_evictions){queue, by, is_reclaim, v->pods});
}

void queue_counts_start(struct queue_counts *c, const struct queue_turn *turn, int64_t waited_ms)
{
    uint32_t queue = number_of(c, turn->queue);
    if (!turn->is_beyond)
        histogram_add(&c->at.at[queue].waits, &gang_wait_bounds, (double)waited_ms / 1e3);
    list_each(&turn->victims, v)
        count_victim(c, queue, v);
}
