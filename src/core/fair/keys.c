/* Which of two siblings goes first (O3-O5a): integers, nothing rounded but down. */

#include "core/fair/inside.h"

static const uint64_t BILLION = 1000000000;

/* floor(x * 10^9 / y); what does not fit is the most. */
static uint64_t billionths(int64_t x, int64_t y)
{
    if (x <= 0 || y <= 0)
        return 0;
    if ((uint64_t)x <= UINT64_MAX / BILLION)
        return (uint64_t)x * BILLION / (uint64_t)y;
    unsigned __int128 all = (unsigned __int128)x * BILLION / (uint64_t)y;
    return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

static bool touches_gamma(const struct fair *f, struct fair_ask ask)
{
    for (uint32_t i = 0; i < ask.n; i++)
        if (f->is_guaranteed.at[ask.at[i].resource])
            return true;
    return false;
}

int64_t guarantee_of(const struct queue *q, uint32_t resource)
{
    return q->is_spent ? 0 : q->cells[resource].effective;
}

static bool is_within(const struct fair *f, const struct queue *q, struct fair_ask ask)
{
    bool is_any = false;
    for (uint32_t i = 0; i < ask.n; i++) {
        uint32_t r = ask.at[i].resource;
        if (!f->is_guaranteed.at[r])
            continue;
        is_any = true;
        if (sum_of(q->cells[r].used, ask.at[i].amount) > guarantee_of(q, r))
            return false;
    }
    return is_any;
}

bool fair_within(struct fair *f, uint32_t queue, struct fair_ask ask)
{
    settle(f);
    return is_within(f, queue_at(f, queue), ask);
}

static uint64_t share_of_one(const struct fair *f, const struct queue *q, uint32_t r)
{
    return billionths(past_counted(q, r) - q->cells[r].effective, f->capacity.at[r]);
}

uint64_t share_of(const struct fair *f, const struct queue *q, struct fair_ask ask)
{
    bool is_all = !touches_gamma(f, ask);
    uint64_t share = 0;
    for (uint32_t i = 0; i < ask.n; i++)
        if (is_all || f->is_guaranteed.at[ask.at[i].resource])
            share = MAX(share, share_of_one(f, q, ask.at[i].resource));
    return share;
}

static uint64_t fill_of(const struct fair *f, const struct queue *q, struct fair_ask ask)
{
    uint64_t fill = 0;
    for (uint32_t i = 0; i < ask.n; i++) {
        const struct cell *c = &q->cells[ask.at[i].resource];
        if (f->is_guaranteed.at[ask.at[i].resource] && c->effective > 0)
            fill = MAX(fill, billionths(c->used, c->effective));
    }
    return fill;
}

struct fair_key key_of_queue(const struct fair *f, const struct queue *q, struct fair_ask ask)
{
    struct fair_key key = {.share = share_of(f, q, ask), .fill = fill_of(f, q, ask)};
    key.class = q->is_last ? 2 : is_within(f, q, ask) ? 0 : 1;
    return key;
}

struct fair_key fair_key(struct fair *f, uint32_t queue, struct fair_ask ask)
{
    settle(f);
    return key_of_queue(f, queue_at(f, queue), ask);
}

int key_compare(const struct queue *a, const struct fair_key *x, const struct queue *b,
                const struct fair_key *y)
{
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->class == 0)
        return x->fill == y->fill ? 0 : x->fill < y->fill ? -1 : 1;
    unsigned __int128 left = (unsigned __int128)x->share * b->weight,
                      right = (unsigned __int128)y->share * a->weight;
    return left == right ? 0 : left < right ? -1 : 1;
}

uint64_t fair_share(struct fair *f, uint32_t queue)
{
    settle(f);
    uint64_t share = 0;
    for (uint32_t r = 0; r < f->capacity.n; r++)
        if (f->is_gamma_empty || f->is_guaranteed.at[r])
            share = MAX(share, share_of_one(f, queue_at(f, queue), r));
    return share;
}
