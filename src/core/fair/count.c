/* What is used, and what may be (Q7, Q16): up the tree from where it is charged. */

#include "core/fair/inside.h"

int64_t ask_amount(struct fair_ask ask, uint32_t resource, int64_t otherwise)
{
    for (uint32_t i = 0; i < ask.n; i++)
        if (ask.at[i].resource == resource)
            return ask.at[i].amount;
    return otherwise;
}

static void count(struct fair *f, uint32_t queue, uint32_t resource, int64_t amount)
{
    int64_t charge = amount;
    for (uint32_t at = queue; at != FAIR_NONE;) {
        struct queue *q = queue_at(f, at);
        struct cell *c = &q->cells[resource];
        past_note(f, q, resource);
        int64_t before = charge_of(c);
        c->used = wrap_add(c->used, amount);
        c->below = wrap_add(c->below, charge);
        charge = wrap_sub(charge_of(c), before);
        at = q->parent;
    }
}

void fair_count(struct fair *f, uint32_t queue, struct fair_ask ask, int sign)
{
    assert(sign == 1 || sign == -1);
    settle(f);
    for (uint32_t i = 0; i < ask.n; i++)
        count(f, queue, ask.at[i].resource, sign * ask.at[i].amount);
    f->is_entitled_stale = true;
    turns_stale_path(f, queue);
}

void fair_count_job(struct fair *f, uint32_t queue, int sign)
{
    assert(sign == 1 || sign == -1);
    settle(f);
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent)
        queue_at(f, at)->jobs += (uint32_t)sign;
}

bool fair_limits_jobs(struct fair *f)
{
    settle(f);
    return f->limits_jobs;
}

static const struct cell *cell_at(struct fair *f, uint32_t queue, uint32_t resource)
{
    settle(f);
    assert(resource < f->capacity.n);
    return &queue_at(f, queue)->cells[resource];
}

int64_t fair_used(struct fair *f, uint32_t queue, uint32_t resource)
{
    return cell_at(f, queue, resource)->used;
}

int64_t fair_waiting(struct fair *f, uint32_t queue, uint32_t resource)
{
    return cell_at(f, queue, resource)->waiting;
}

int64_t fair_effective(struct fair *f, uint32_t queue, uint32_t resource)
{
    return cell_at(f, queue, resource)->effective;
}

int64_t fair_guaranteed(struct fair *f, uint32_t queue, uint32_t resource)
{
    settle(f);
    assert(resource < f->capacity.n && is_in_tree(queue_at(f, queue)));
    return f->asked.at[(size_t)queue * f->stride + resource];
}

int64_t fair_max(struct fair *f, uint32_t queue, uint32_t resource)
{
    return cell_at(f, queue, resource)->max;
}

int64_t fair_charge(struct fair *f, uint32_t queue, uint32_t resource)
{
    return charge_of(cell_at(f, queue, resource));
}

uint32_t fair_jobs(struct fair *f, uint32_t queue)
{
    settle(f);
    return queue_at(f, queue)->jobs;
}

uint32_t fair_n_waiting(struct fair *f, uint32_t queue)
{
    settle(f);
    return queue_at(f, queue)->n_waiting;
}

bool fair_is_guaranteed(struct fair *f, uint32_t resource)
{
    settle(f);
    return f->is_guaranteed.at[resource];
}

int64_t fair_room(struct fair *f, uint32_t queue, uint32_t resource, uint32_t *at)
{
    settle(f);
    int64_t least = FAIR_NO_LIMIT;
    *at = FAIR_NONE;
    for (uint32_t m = queue; m != FAIR_NONE; m = queue_at(f, m)->parent) {
        const struct cell *c = &queue_at(f, m)->cells[resource];
        if (c->max == FAIR_NO_LIMIT || MAX(0, c->max - c->used) >= least)
            continue;
        least = MAX(0, c->max - c->used);
        *at = m;
    }
    return least;
}
