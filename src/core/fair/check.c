/* The plain truth (P5): everything recomputed the slow way from what was put, counted and entered. */

#include "core/fair/inside.h"

static void check_sums(const struct fair *f, const struct queue *q, uint32_t r)
{
    const struct cell *c = &q->cells[r];
    int64_t used = 0, waiting = 0, charges = 0;
    vec_each(&q->children, child) {
        const struct cell *below = &queue_at(f, *child)->cells[r];
        used += below->used;
        waiting = wrap_add(waiting, below->waiting);
        charges += MAX(below->below, below->kept);
    }
    int64_t own = c->used - used; /* of pods that are charged to the queue itself */
    assert(own >= 0 && (q->kind != QUEUE_ROOT || own == 0));
    assert(c->below == own + charges);
    vec_each(&q->lanes, lane)
        if (*lane != FAIR_NONE)
            waiting =
                wrap_add(waiting, wrap_mul(f->lanes.at[*lane].n,
                                           ask_amount(ask_of_lane(f, &f->lanes.at[*lane]), r, 0)));
    vec_each(&q->lanes, lane)
        if (*lane != FAIR_NONE)
            waiting = wrap_add(waiting, ask_amount(behind_lane(f, &f->lanes.at[*lane]), r, 0));
    assert(c->waiting == waiting);
}

static int64_t plain_asked(const struct fair *f, const struct queue *q, uint32_t r)
{
    int64_t sum = 0;
    vec_each(&q->children, child)
        sum = sum_of(sum, plain_asked(f, queue_at(f, *child), r));
    return MAX(sum, ask_amount(q->limits.guaranteed, r, 0));
}

static int64_t plain_effective(const struct fair *f, uint32_t queue, uint32_t r)
{
    if (queue == FAIR_ROOT)
        return f->capacity.at[r];
    const struct queue *q = queue_at(f, queue), *parent = queue_at(f, q->parent);
    int64_t sum = 0, asked = plain_asked(f, q, r), room = plain_effective(f, q->parent, r);
    vec_each(&parent->children, sibling)
        sum = sum_of(sum, plain_asked(f, queue_at(f, *sibling), r));
    return MIN(sum <= room ? asked : (int64_t)((__int128)asked * room / sum), q->cells[r].max);
}

static void check_guarantees(const struct fair *f, uint32_t queue, uint32_t r)
{
    const struct queue *q = queue_at(f, queue);
    int64_t effective = plain_effective(f, queue, r),
            lend = ask_amount(q->limits.lend, r, INT64_MAX);
    assert(q->cells[r].effective == effective);
    assert(q->cells[r].kept == MAX(0, effective - lend));
}

/* --- the tournament --- */

static bool plain_is_out(const struct fair *f, uint32_t unit)
{
    const struct lane *l = &f->lanes.at[f->units.at[unit].lane];
    return f->units.at[unit].child == UNIT_IS_OUT || l->state != LANE_IN ||
           f->kinds.at[l->kind].is_out;
}

/* The first of the units that wait at a queue itself. */
static uint32_t plain_own(const struct fair *f, uint32_t queue)
{
    uint32_t first = FAIR_NONE;
    for (uint32_t u = 0; u < f->units.n; u++) {
        if (f->units.at[u].lane == FAIR_NONE || plain_is_out(f, u))
            continue;
        const struct lane *l = &f->lanes.at[f->units.at[u].lane];
        if (l->queue != queue || l->is_first)
            continue;
        if (first == FAIR_NONE || f->order.before(f->order.ctx, u, first))
            first = u;
    }
    return first;
}

static uint32_t plain_head(const struct fair *f, uint32_t queue)
{
    uint32_t best = FAIR_NONE, winner = FAIR_NONE;
    struct fair_key least = {0};
    vec_each(&queue_at(f, queue)->children, child) {
        const struct queue *q = queue_at(f, *child);
        uint32_t head = plain_head(f, *child);
        if (head == FAIR_NONE)
            continue;
        struct fair_key key =
            key_of_queue(f, q, ask_of_lane(f, &f->lanes.at[f->units.at[head].lane]));
        int order = winner == FAIR_NONE ? -1 : key_compare(q, &key, queue_at(f, winner), &least);
        if (order > 0 || (order == 0 && !f->order.before(f->order.ctx, head, best)))
            continue;
        winner = *child;
        best = head;
        least = key;
    }
    best = best == FAIR_NONE ? plain_own(f, queue) : best;
    assert(queue == FAIR_ROOT || queue_at(f, queue)->head == best);
    return best;
}

void fair_check(struct fair *f)
{
    turns_freshen(f);
    uint32_t n = 0;
    for (uint32_t q = 0; q < f->queues.n; q++)
        n += is_in_tree(f->queues.at[q]);
    assert(n == f->top_down.n);
    for (uint32_t q = 0; q < f->queues.n; q++) {
        if (!is_in_tree(f->queues.at[q]))
            continue;
        assert(q == FAIR_ROOT ||
               queue_at(f, f->queues.at[q]->parent)->children.at[f->queues.at[q]->slot] == q);
        for (uint32_t r = 0; r < f->capacity.n; r++) {
            check_sums(f, f->queues.at[q], r);
            if (q != FAIR_ROOT)
                check_guarantees(f, q, r);
        }
    }
    uint32_t head = plain_head(f, FAIR_ROOT);
    assert(f->firsts.n || fair_next(f) == head);
}
