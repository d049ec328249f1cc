/* Who waits (L4): units in lanes, one for each kind of unit in each queue; and who is out. */

#include "core/fair/inside.h"

/* --- kinds --- */

static uint32_t get_kind(struct fair *f, uint64_t name)
{
    uint32_t number = map_find(&f->kind_of, name);
    if (number != MAP_NONE)
        return number;
    if (f->free_kinds.n) {
        number = vec_pop(&f->free_kinds);
    } else {
        number = f->kinds.n;
        vec_push(&f->kinds, (struct kind){0});
    }
    f->kinds.at[number] = (struct kind){.name = name, .lanes = FAIR_NONE};
    map_put(&f->kind_of, name, number);
    return number;
}

/* Takes element `i` out of a list of numbers; the last one comes in its place. */
static uint32_t take_out(uint32_t *at, uint32_t *n, uint32_t i)
{
    at[i] = at[--*n];
    return at[i];
}

static void free_kind(struct fair *f, uint32_t number)
{
    struct kind *k = &f->kinds.at[number];
    if (k->is_out && k->list < f->out_kinds.n - 1)
        f->kinds.at[vec_last(&f->out_kinds)].list = k->list;
    if (k->is_out)
        take_out(f->out_kinds.at, &f->out_kinds.n, k->list);
    map_remove(&f->kind_of, k->name);
    *k = (struct kind){.lanes = FAIR_NONE};
    vec_push(&f->free_kinds, number);
}

/* --- lanes --- */

static uint64_t lane_key(uint32_t queue, uint32_t kind, bool is_first)
{
    assert(queue < 1u << 31);
    return (uint64_t)queue << 33 | (uint64_t)kind << 1 | is_first;
}

static uint32_t keep_ask(struct fair *f, struct fair_ask ask)
{
    vec_resize(&f->ask, ask.n);
    if (ask.n)
        memset(f->ask.at, 0, ask.n * sizeof(*f->ask.at)); /* what lies between the fields too */
    for (uint32_t i = 0; i < ask.n; i++) {
        assert(ask.at[i].amount > 0 && ask.at[i].resource < f->capacity.n);
        assert(i == 0 || ask.at[i - 1].resource < ask.at[i].resource);
        f->ask.at[i].resource = ask.at[i].resource;
        f->ask.at[i].amount = ask.at[i].amount;
    }
    intern_tidy(&f->asks, TIDY_IF_WANTED, NULL, NULL);
    uint32_t kept = intern_get(
        &f->asks, (struct str){(const char *)f->ask.at, ask.n * sizeof(*f->ask.at)}, NULL);
    intern_hold(&f->asks, kept);
    return kept;
}

static uint32_t add_lane(struct fair *f, uint32_t queue, uint32_t kind, struct fair_ask ask,
                         bool is_first)
{
    uint32_t number = f->free_lanes.n ? vec_pop(&f->free_lanes) : f->lanes.n;
    if (number == f->lanes.n)
        vec_push(&f->lanes, (struct lane){0});
    struct queue *q = queue_at(f, queue);
    uint32_t place = q->places.n ? vec_pop(&q->places) : q->lanes.n;
    if (place == q->lanes.n)
        vec_push(&q->lanes, FAIR_NONE);
    q->lanes.at[place] = number;
    struct kind *k = &f->kinds.at[kind];
    if (k->lanes != FAIR_NONE)
        f->lanes.at[k->lanes].before = number;
    f->lanes.at[number] = (struct lane){.queue = queue,
                                        .kind = kind,
                                        .ask = keep_ask(f, ask),
                                        .behind = FAIR_NONE,
                                        .top = FAIR_NONE,
                                        .place = place,
                                        .next = k->lanes,
                                        .before = FAIR_NONE,
                                        .is_first = is_first};
    k->lanes = number;
    map_put(&f->lane_of, lane_key(queue, kind, is_first), number);
    return number;
}

/* Takes the lane off the list of what is out, or held. */
static void take_off_list(struct fair *f, struct lane *l)
{
    if (l->state == LANE_IN)
        return;
    bool is_held = l->state == LANE_HELD;
    uint32_t *at = is_held ? queue_at(f, l->held_at)->held.at : f->out_lanes.at;
    uint32_t *n = is_held ? &queue_at(f, l->held_at)->held.n : &f->out_lanes.n;
    f->lanes.at[at[*n - 1]].list = l->list;
    take_out(at, n, l->list);
    l->state = LANE_IN;
}

static void free_lane(struct fair *f, uint32_t number)
{
    struct lane *l = &f->lanes.at[number];
    take_off_list(f, l);
    struct queue *q = queue_at(f, l->queue);
    q->lanes.at[l->place] = FAIR_NONE;
    vec_push(&q->places, l->place);
    map_remove(&f->lane_of, lane_key(l->queue, l->kind, l->is_first));
    if (l->next != FAIR_NONE)
        f->lanes.at[l->next].before = l->before;
    if (l->before != FAIR_NONE)
        f->lanes.at[l->before].next = l->next;
    else
        f->kinds.at[l->kind].lanes = l->next;
    if (f->kinds.at[l->kind].lanes == FAIR_NONE)
        free_kind(f, l->kind);
    intern_drop(&f->asks, l->ask);
    if (l->behind != FAIR_NONE)
        intern_drop(&f->asks, l->behind);
    *l = (struct lane){.queue = FAIR_NONE, .top = FAIR_NONE};
    vec_push(&f->free_lanes, number);
}

void lanes_done(struct fair *f)
{
    intern_done(&f->asks);
    vec_done(&f->ask);
    vec_done(&f->lanes);
    vec_done(&f->free_lanes);
    vec_done(&f->kinds);
    vec_done(&f->free_kinds);
    map_done(&f->kind_of);
    map_done(&f->lane_of);
    vec_done(&f->units);
    vec_done(&f->out_units);
    vec_done(&f->out_lanes);
    vec_done(&f->out_kinds);
    heap_done(&f->firsts);
    for (uint32_t d = 0; d < LEN(f->stale); d++)
        vec_done(&f->stale[d]);
}

/* --- in and out --- */

static void count_waiting(struct fair *f, uint32_t queue, struct fair_ask ask, int sign,
                          uint32_t units)
{
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent) {
        struct queue *q = queue_at(f, at);
        q->n_waiting += (uint32_t)sign * units;
        for (uint32_t i = 0; i < ask.n; i++) {
            struct cell *c = &q->cells[ask.at[i].resource];
            c->waiting = wrap_add(c->waiting, sign * ask.at[i].amount);
        }
    }
    f->is_entitled_stale = true;
    f->epoch += f->reclaim == FAIR_BY_SHARE;
}

bool fair_stands(const struct fair *f, uint32_t unit)
{
    return unit < f->units.n && f->units.at[unit].lane != FAIR_NONE;
}

uint32_t fair_queue_of(const struct fair *f, uint32_t unit)
{
    return fair_stands(f, unit) ? f->lanes.at[f->units.at[unit].lane].queue : FAIR_NONE;
}

struct fair_ask fair_ask_of(const struct fair *f, uint32_t unit)
{
    assert(fair_stands(f, unit));
    return ask_of_lane(f, &f->lanes.at[f->units.at[unit].lane]);
}

static void make_room(struct fair *f, uint32_t unit)
{
    uint32_t before = f->units.n;
    if (unit < before)
        return;
    vec_resize(&f->units, unit + 1);
    for (uint32_t u = before; u <= unit; u++)
        f->units.at[u].lane = FAIR_NONE;
}

void fair_enter(struct fair *f, uint32_t unit, uint32_t queue, uint64_t kind, struct fair_ask ask,
                bool is_first)
{
    assert(!fair_stands(f, unit) && fair_is_queue(f, queue));
    settle(f);
    make_room(f, unit);
    uint32_t k = get_kind(f, kind);
    uint32_t lane = map_find(&f->lane_of, lane_key(queue, k, is_first));
    if (lane == MAP_NONE)
        lane = add_lane(f, queue, k, ask, is_first);
    struct lane *l = &f->lanes.at[lane];
    l->n++;
    f->units.at[unit].lane = lane;
    count_waiting(f, queue, ask_of_lane(f, l), 1, 1);
    pile_add(f, l, unit);
    turns_place_lane(f, lane);
}

void fair_trail(struct fair *f, uint32_t unit, struct fair_ask behind)
{
    assert(fair_stands(f, unit));
    struct lane *l = &f->lanes.at[f->units.at[unit].lane];
    assert(l->n == 1 && l->behind == FAIR_NONE);
    if (behind.n == 0)
        return;
    l->behind = keep_ask(f, behind);
    count_waiting(f, l->queue, behind, 1, 0);
}

static bool is_out_alone(const struct fair *f, uint32_t unit)
{
    return f->units.at[unit].child == UNIT_IS_OUT;
}

void fair_leave(struct fair *f, uint32_t unit)
{
    if (!fair_stands(f, unit))
        return;
    settle(f);
    uint32_t lane = f->units.at[unit].lane;
    struct lane *l = &f->lanes.at[lane];
    turns_lose_head(f, unit);
    if (is_out_alone(f, unit)) {
        uint32_t at = f->units.at[unit].before;
        f->units.at[vec_last(&f->out_units)].before = at;
        take_out(f->out_units.at, &f->out_units.n, at);
    } else {
        pile_remove(f, l, unit);
        turns_place_lane(f, lane);
    }
    count_waiting(f, l->queue, ask_of_lane(f, l), -1, 1);
    count_waiting(f, l->queue, behind_lane(f, l), -1, 0);
    f->units.at[unit].lane = FAIR_NONE;
    if (--l->n == 0)
        free_lane(f, lane);
}

void fair_rename(struct fair *f, uint32_t unit, uint32_t to)
{
    if (unit == to || !fair_stands(f, unit))
        return;
    assert(!fair_stands(f, to));
    make_room(f, to);
    f->units.at[to] = f->units.at[unit];
    f->units.at[unit].lane = FAIR_NONE;
    turns_rename(f, unit, to);
    if (is_out_alone(f, to))
        f->out_units.at[f->units.at[to].before] = to;
    else
        pile_rename(f, &f->lanes.at[f->units.at[to].lane], unit, to);
}

void fair_trim(struct fair *f)
{
    while (f->units.n && !fair_stands(f, f->units.n - 1))
        f->units.n--;
    vec_trim(&f->units);
}

/* --- out, and in again --- */

static struct lane *lane_of(const struct fair *f, uint32_t unit)
{
    assert(fair_stands(f, unit));
    return &f->lanes.at[f->units.at[unit].lane];
}

bool fair_is_out(const struct fair *f, uint32_t unit)
{
    const struct lane *l = lane_of(f, unit);
    return is_out_alone(f, unit) || l->state != LANE_IN || f->kinds.at[l->kind].is_out;
}

void fair_out(struct fair *f, uint32_t unit)
{
    struct lane *l = lane_of(f, unit);
    if (is_out_alone(f, unit))
        return;
    turns_lose_head(f, unit);
    pile_remove(f, l, unit);
    f->units.at[unit].child = UNIT_IS_OUT;
    f->units.at[unit].before = f->out_units.n;
    vec_push(&f->out_units, unit);
    turns_place_lane(f, f->units.at[unit].lane);
}

void fair_out_kind(struct fair *f, uint32_t unit)
{
    struct lane *l = lane_of(f, unit);
    if (l->state != LANE_IN)
        return;
    l->state = LANE_OUT;
    l->list = f->out_lanes.n;
    vec_push(&f->out_lanes, f->units.at[unit].lane);
    turns_place_lane(f, f->units.at[unit].lane);
}

void fair_hold(struct fair *f, uint32_t unit, uint32_t at)
{
    struct lane *l = lane_of(f, unit);
    struct queue *q = queue_at(f, at);
    take_off_list(f, l);
    l->state = LANE_HELD;
    l->held_at = at;
    l->list = q->held.n;
    vec_push(&q->held, f->units.at[unit].lane);
    turns_place_lane(f, f->units.at[unit].lane);
}

static void place_kind(struct fair *f, const struct kind *k)
{
    for (uint32_t lane = k->lanes; lane != FAIR_NONE; lane = f->lanes.at[lane].next)
        turns_place_lane(f, lane);
}

void fair_out_everywhere(struct fair *f, uint32_t unit)
{
    uint32_t number = lane_of(f, unit)->kind;
    struct kind *k = &f->kinds.at[number];
    if (k->is_out)
        return;
    k->is_out = true;
    k->list = f->out_kinds.n;
    vec_push(&f->out_kinds, number);
    place_kind(f, k);
}

void fair_new_round(struct fair *f)
{
    settle(f);
    vec_each(&f->out_kinds, kind) {
        f->kinds.at[*kind].is_out = false;
        place_kind(f, &f->kinds.at[*kind]);
    }
    vec_clear(&f->out_kinds);
    vec_each(&f->out_lanes, lane) {
        f->lanes.at[*lane].state = LANE_IN;
        turns_place_lane(f, *lane);
    }
    vec_clear(&f->out_lanes);
    vec_each(&f->out_units, unit) {
        uint32_t lane = f->units.at[*unit].lane;
        pile_add(f, &f->lanes.at[lane], *unit);
        turns_place_lane(f, lane);
    }
    vec_clear(&f->out_units);
}

static void wake_held(struct fair *f, struct queue *q)
{
    vec_each(&q->held, lane) {
        f->lanes.at[*lane].state = LANE_IN;
        turns_place_lane(f, *lane);
    }
    vec_clear(&q->held);
}

void fair_wake(struct fair *f, uint32_t queue)
{
    settle(f);
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent)
        wake_held(f, queue_at(f, at));
}

void lanes_wake_all(struct fair *f)
{
    for (uint32_t q = 0; q < f->queues.n; q++)
        wake_held(f, f->queues.at[q]);
}
