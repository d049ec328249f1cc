/* The tournament (O1, O2): a heap of children at each queue, and who is not fresh in it. */

#include "core/fair/inside.h"

/* --- heaps --- */

static struct lane *lane_of_unit(const struct fair *f, uint32_t unit)
{
    return &f->lanes.at[f->units.at[unit].lane];
}

static bool child_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct queue *q = ctx;
    struct fair *f = q->f;
    const struct queue *x = queue_at(f, q->children.at[a]), *y = queue_at(f, q->children.at[b]);
    f->comparisons++;
    int order = key_compare(x, &x->key, y, &y->key);
    return order ? order < 0 : f->order.before(f->order.ctx, x->head, y->head);
}

static bool lane_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct queue *q = ctx;
    struct fair *f = q->f;
    f->comparisons++;
    return f->order.before(f->order.ctx, f->lanes.at[q->lanes.at[a]].top,
                           f->lanes.at[q->lanes.at[b]].top);
}

static bool first_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct fair *f = ctx;
    return f->order.before(f->order.ctx, f->lanes.at[a].top, f->lanes.at[b].top);
}

void turns_begin(struct queue *q)
{
    q->lane_heap = (struct heap){.before = lane_before, .ctx = q};
    q->heap = (struct heap){.before = child_before, .ctx = q};
}

void turns_begin_firsts(struct fair *f)
{
    f->firsts = (struct heap){.before = first_before, .ctx = f};
}

/* The lane has another unit on top, or none to offer any more. */
void turns_place_lane(struct fair *f, uint32_t lane)
{
    const struct lane *l = &f->lanes.at[lane];
    bool offers = l->top != FAIR_NONE && l->state == LANE_IN && !f->kinds.at[l->kind].is_out;
    struct heap *heap = l->is_first ? &f->firsts : &queue_at(f, l->queue)->lane_heap;
    uint32_t item = l->is_first ? lane : l->place;
    if (!heap_has(heap, item)) {
        if (offers)
            heap_add(heap, item);
    } else if (offers) {
        heap_fix(heap, item);
    } else {
        heap_remove(heap, item);
    }
    turns_stale(f, l->queue);
}

/* --- who is not fresh --- */

void turns_stale(struct fair *f, uint32_t queue)
{
    struct queue *q = queue_at(f, queue);
    bool may_stand = q->n_waiting || q->head != FAIR_NONE;
    if (q->is_stale || !may_stand || queue == FAIR_ROOT || !is_in_tree(q))
        return;
    q->is_stale = true;
    vec_push(&f->stale[q->depth], queue);
}

void turns_stale_path(struct fair *f, uint32_t queue)
{
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent)
        turns_stale(f, at);
}

void turns_stale_all(struct fair *f)
{
    vec_each(&f->top_down, number)
        turns_stale(f, *number);
}

void turns_forget(struct fair *f)
{
    for (uint32_t i = 0; i < f->queues.n; i++) {
        struct queue *q = f->queues.at[i];
        heap_clear(&q->heap);
        q->head = FAIR_NONE;
        q->is_stale = false;
    }
    for (uint32_t d = 0; d < LEN(f->stale); d++)
        vec_clear(&f->stale[d]);
}

/* --- fresh again --- */

/* Who names a queue that has children stands in no leaf (A1), and hides nobody there. */
static uint32_t head_of(const struct fair *f, const struct queue *q)
{
    if (q->heap.n)
        return queue_at(f, q->children.at[q->heap.at[0]])->head;
    if (q->lane_heap.n)
        return f->lanes.at[q->lanes.at[q->lane_heap.at[0]]].top;
    return FAIR_NONE;
}

static bool same_key(struct fair_key a, struct fair_key b)
{
    return a.class == b.class && a.share == b.share && a.fill == b.fill;
}

static void leave_heap(struct fair *f, struct queue *q)
{
    struct heap *heap = &queue_at(f, q->parent)->heap;
    if (heap_has(heap, q->slot))
        heap_remove(heap, q->slot);
    q->head = FAIR_NONE;
    turns_stale(f, q->parent);
}

static void freshen(struct fair *f, struct queue *q)
{
    uint32_t head = head_of(f, q);
    if (head == FAIR_NONE) {
        if (q->head != FAIR_NONE)
            leave_heap(f, q);
        return;
    }
    struct fair_key key = key_of_queue(f, q, ask_of_lane(f, lane_of_unit(f, head)));
    if (head == q->head && same_key(key, q->key))
        return;
    bool stands = q->head != FAIR_NONE;
    q->head = head;
    q->key = key;
    struct heap *heap = &queue_at(f, q->parent)->heap;
    if (stands)
        heap_fix(heap, q->slot);
    else
        heap_add(heap, q->slot);
    turns_stale(f, q->parent);
}

void turns_freshen(struct fair *f)
{
    settle(f);
    for (uint32_t d = LEN(f->stale); d-- > 0;) {
        while (f->stale[d].n) {
            struct queue *q = queue_at(f, vec_pop(&f->stale[d]));
            q->is_stale = false;
            freshen(f, q);
        }
    }
}

/* Nothing may be compared with a unit that has left. */
void turns_lose_head(struct fair *f, uint32_t unit)
{
    for (uint32_t at = lane_of_unit(f, unit)->queue; at != FAIR_ROOT;
         at = queue_at(f, at)->parent) {
        struct queue *q = queue_at(f, at);
        if (q->head != unit)
            continue;
        leave_heap(f, q);
        turns_stale(f, at);
    }
}

void turns_rename(struct fair *f, uint32_t unit, uint32_t to)
{
    for (uint32_t at = lane_of_unit(f, to)->queue; at != FAIR_ROOT; at = queue_at(f, at)->parent)
        if (queue_at(f, at)->head == unit)
            queue_at(f, at)->head = to;
}

/* --- questions --- */

uint32_t fair_next(struct fair *f)
{
    turns_freshen(f);
    if (f->firsts.n)
        return f->lanes.at[f->firsts.at[0]].top;
    return head_of(f, queue_at(f, FAIR_ROOT));
}

static uint32_t child_towards(const struct fair *f, uint32_t top, uint32_t queue)
{
    while (queue_at(f, queue)->parent != top)
        queue = queue_at(f, queue)->parent;
    return queue;
}

bool fair_precedes(struct fair *f, uint32_t a, uint32_t b)
{
    assert(fair_stands(f, a) && fair_stands(f, b));
    settle(f);
    const struct lane *x = lane_of_unit(f, a), *y = lane_of_unit(f, b);
    if (x->is_first != y->is_first)
        return x->is_first;
    uint32_t top = fair_common(f, x->queue, y->queue);
    if (x->is_first || x->queue == y->queue)
        return f->order.before(f->order.ctx, a, b);
    if (top == x->queue || top == y->queue)
        return top == y->queue;
    const struct queue *p = queue_at(f, child_towards(f, top, x->queue)),
                       *q = queue_at(f, child_towards(f, top, y->queue));
    struct fair_key s = key_of_queue(f, p, ask_of_lane(f, x)),
                    t = key_of_queue(f, q, ask_of_lane(f, y));
    int order = key_compare(p, &s, q, &t);
    return order ? order < 0 : f->order.before(f->order.ctx, a, b);
}

uint64_t fair_comparisons(const struct fair *f)
{
    return f->comparisons;
}
