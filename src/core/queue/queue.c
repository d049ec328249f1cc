/* One entry a unit, by its number, says where the unit is and what it waits for; the places refer
 * to units by number. Three heaps and the parking places hold the waiting ones, a list those in
 * flight.
 *
 * kube-scheduler keeps the events that happen while pods are in flight and plays them back to a pod
 * that is refused. Here every event is put to the units in flight when it happens, to all plugins
 * at once, and only the answers are kept: who refused is known later, what they said is known by
 * then.
 *
 * An event must not cost a call for each of 100,000 parked units that cannot care. So parked units
 * stand in groups, one for each set of plugins that must listen to an event to let the unit go: its
 * rejectors, or the gate alone that holds it.
 *
 * Active units mostly come in the order in which they leave: who comes after all others joins a
 * *line* (a ring), and only who belongs further ahead goes into a heap. The next one is the first
 * of the two.
 *
 * Between calls: an entry's place names the one container the unit is in; `slot` is its index there
 * if that is a list; what orders a heap changes only while the unit is outside, save
 * by queue_touch(). */

#include "core/queue/queue.h"

#include "core/base/heap.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/queue/backoff.h"

struct entry {
    int64_t backoff_end_ms;
    int64_t flush_ms;   /* when it has been parked long enough */
    uint64_t rejectors; /* of the last attempt, and every gate since; 0: it failed by error */
    union {
        uint64_t pending; /* out of flight: the rejectors that wait for something outside */
        uint64_t woken;   /* in flight: plugins that said of some event that it may help */
    };
    uint32_t attempts;
    uint32_t refusals, errors; /* refusals in all; errors since the last of them */
    uint32_t slot;             /* its index in `in_flight`, in its group, or its number in line */
    uint32_t group;            /* parked: where */
    enum queue_place place : 8;
    bool in_line; /* active: in the line, not in the heap */
    bool gated;   /* parked: by a gate, which is its group's only plugin */
    bool forced;  /* in flight: not to be parked, whatever the plugins say */
    bool heard;   /* it left its parking place for a plugin's word about an event */
};

VEC_TYPE(units, uint32_t);

struct parking {
    uint64_t plugins;
    struct units units;
};

struct queue {
    struct queue_rules rules;
    VEC(struct entry) entries;
    VEC(int64_t) since_ms; /* apart from the entries: the order of active units mostly reads this */
    uint32_t *line;        /* active units in their order, and holes */
    uint32_t line_cap, line_first, line_end, in_line; /* places; numbers from, to; units */
    struct heap active;                               /* the other active ones */
    struct heap refused;                              /* backing off after a refusal */
    struct heap failed;                               /* backing off after an error */
    struct heap parked; /* by the time they have been parked long enough */
    VEC(struct parking) groups;
    struct map group_of; /* set of plugins → index of its group */
    struct units in_flight;
    uint32_t cause; /* of what happens now */
    uint64_t incoming[QUEUE_IN_FLIGHT][QUEUE_CAUSES];
};

/* The orders of the heaps. */

static bool refused_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct queue *q = ctx;
    int64_t a_ms = q->entries.at[a].backoff_end_ms, b_ms = q->entries.at[b].backoff_end_ms;
    return a_ms != b_ms ? a_ms < b_ms : q->rules.before(q->rules.ctx, a, b);
}

static bool failed_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct queue *q = ctx;
    int64_t a_ms = q->entries.at[a].backoff_end_ms, b_ms = q->entries.at[b].backoff_end_ms;
    return a_ms != b_ms ? a_ms < b_ms : a < b;
}

static bool parked_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct queue *q = ctx;
    int64_t a_ms = q->entries.at[a].flush_ms, b_ms = q->entries.at[b].flush_ms;
    return a_ms != b_ms ? a_ms < b_ms : a < b;
}

/* Into and out of places. */

static void list_add(struct queue *q, struct units *list, uint32_t unit)
{
    q->entries.at[unit].slot = list->n;
    vec_push(list, unit);
}

static void list_remove(struct queue *q, struct units *list, uint32_t unit)
{
    uint32_t slot = q->entries.at[unit].slot;
    assert(slot < list->n && list->at[slot] == unit); /* it is where its entry says */
    uint32_t last = vec_pop(list);
    list->at[slot] = last;
    q->entries.at[last].slot = slot;
}

static struct heap *backoff_heap(struct queue *q, const struct entry *e)
{
    return e->rejectors ? &q->refused : &q->failed;
}

#define HOLE UINT32_MAX

static uint32_t *line_at(const struct queue *q, uint32_t number)
{
    return &q->line[number & (q->line_cap - 1)];
}

static void line_grow(struct queue *q)
{
    uint32_t cap = q->line_cap ? q->line_cap * 2 : 64, *line = mem_alloc(cap * sizeof(*line));
    for (uint32_t i = q->line_first; i != q->line_end; i++)
        line[i & (cap - 1)] = *line_at(q, i);
    mem_free(q->line);
    q->line = line;
    q->line_cap = cap;
}

static void active_add(struct queue *q, uint32_t unit)
{
    struct entry *e = &q->entries.at[unit];
    e->in_line = q->line_first == q->line_end ||
                 !q->rules.before(q->rules.ctx, unit, *line_at(q, q->line_end - 1));
    if (!e->in_line) {
        heap_add(&q->active, unit);
        return;
    }
    if (q->line_end - q->line_first == q->line_cap)
        line_grow(q);
    e->slot = q->line_end++;
    *line_at(q, e->slot) = unit;
    q->in_line++;
}

/* Neither the first nor the last in line is ever a hole. */
static void active_remove(struct queue *q, uint32_t unit)
{
    if (!q->entries.at[unit].in_line) {
        heap_remove(&q->active, unit);
        return;
    }
    assert(*line_at(q, q->entries.at[unit].slot) == unit); /* it is where its entry says */
    *line_at(q, q->entries.at[unit].slot) = HOLE;
    q->in_line--;
    while (q->line_first != q->line_end && *line_at(q, q->line_first) == HOLE)
        q->line_first++;
    while (q->line_first != q->line_end && *line_at(q, q->line_end - 1) == HOLE)
        q->line_end--;
}

static uint32_t active_count(const struct queue *q)
{
    return q->in_line + q->active.n;
}

/* There must be one. */
static uint32_t active_take(struct queue *q)
{
    bool in_line =
        q->in_line && (q->active.n == 0 ||
                       q->rules.before(q->rules.ctx, *line_at(q, q->line_first), q->active.at[0]));
    uint32_t unit = in_line ? *line_at(q, q->line_first) : q->active.at[0];
    active_remove(q, unit);
    return unit;
}

static void leave(struct queue *q, uint32_t unit)
{
    struct entry *e = &q->entries.at[unit];
    switch (e->place) {
    case QUEUE_NOWHERE:
        break;
    case QUEUE_ACTIVE:
        active_remove(q, unit);
        break;
    case QUEUE_BACKING_OFF:
        heap_remove(backoff_heap(q, e), unit);
        break;
    case QUEUE_PARKED:
        heap_remove(&q->parked, unit);
        list_remove(q, &q->groups.at[e->group].units, unit);
        break;
    case QUEUE_IN_FLIGHT:
        list_remove(q, &q->in_flight, unit);
        break;
    }
    e->place = QUEUE_NOWHERE;
}

static void enter_active(struct queue *q, uint32_t unit)
{
    assert(q->entries.at[unit].place != QUEUE_ACTIVE);
    q->entries.at[unit].place = QUEUE_ACTIVE;
    q->incoming[QUEUE_ACTIVE][q->cause]++;
    active_add(q, unit);
}

static uint32_t group_get(struct queue *q, uint64_t plugins)
{
    uint32_t group = map_find(&q->group_of, plugins);
    if (group != MAP_NONE)
        return group;
    map_put(&q->group_of, plugins, q->groups.n);
    vec_push(&q->groups, (struct parking){.plugins = plugins});
    return q->groups.n - 1;
}

static void park(struct queue *q, uint32_t unit, uint64_t plugins)
{
    struct entry *e = &q->entries.at[unit];
    assert(e->place == QUEUE_NOWHERE); /* a unit is in one place */
    e->place = QUEUE_PARKED;
    e->group = group_get(q, plugins);
    heap_add(&q->parked, unit);
    list_add(q, &q->groups.at[e->group].units, unit);
}

/* A unit that is nowhere becomes active, or backs off if its wait is not over and is not to be
 * skipped; unless a gate holds it, which is nothing new to one that comes from its parking place.
 */
static void enter(struct queue *q, int64_t now_ms, uint32_t unit, bool skips_backoff)
{
    struct entry *e = &q->entries.at[unit];
    uint64_t gate = 0;
    assert(e->place == QUEUE_NOWHERE); /* a unit is in one place */
    e->heard = false;
    e->gated = !q->rules.may_enter(q->rules.ctx, unit, &gate);
    if (e->gated) {
        e->rejectors |= gate;
        park(q, unit, gate);
        if (q->cause == QUEUE_ADDED || q->cause == QUEUE_ATTEMPT_ENDED)
            q->incoming[QUEUE_PARKED][q->cause]++;
    } else if (skips_backoff || now_ms >= e->backoff_end_ms) {
        enter_active(q, unit);
    } else {
        e->place = QUEUE_BACKING_OFF;
        q->incoming[QUEUE_BACKING_OFF][q->cause]++;
        heap_add(backoff_heap(q, e), unit);
    }
}

static struct entry entry_of(const struct queue *q, uint32_t unit)
{
    return unit < q->entries.n ? q->entries.at[unit] : (struct entry){0};
}

static int64_t flush_after(const struct queue *q, int64_t now_ms)
{
    return now_ms + q->rules.park_ms + 1; /* longer than park_ms */
}

/* What events do. */

static void hear_in_flight(struct queue *q, uint32_t unit, const struct event *event)
{
    struct entry *e = &q->entries.at[unit];
    if (event->resource == EVENT_ANY)
        e->forced = true;
    else
        e->woken |= q->rules.wakes(q->rules.ctx, unit, event, UINT64_MAX);
}

static void hear_parked(struct queue *q, int64_t now_ms, uint32_t unit, const struct event *event)
{
    struct entry *e = &q->entries.at[unit];
    bool forced = event->resource == EVENT_ANY;
    uint64_t woken = forced ? 0 : q->rules.wakes(q->rules.ctx, unit, event, e->rejectors);
    if (!forced && !woken)
        return;
    q->cause = forced ? QUEUE_FLUSHED : queue_event_cause(event->resource, event->actions);
    leave(q, unit);
    enter(q, now_ms, unit, woken & e->pending);
    e->heard = !forced && event->resource != EVENT_TARGET_POD;
}

/* What time does. */

static void end_backoff(struct queue *q, struct heap *h, int64_t now_ms, uint32_t *most)
{
    q->cause = QUEUE_BACKOFF_ENDED;
    for (; *most && h->n && q->entries.at[h->at[0]].backoff_end_ms <= now_ms; --*most)
        enter_active(q, heap_take(h));
}

static void flush_parked(struct queue *q, int64_t now_ms, uint32_t *most)
{
    q->cause = QUEUE_FLUSHED;
    for (; *most && q->parked.n && q->entries.at[q->parked.at[0]].flush_ms <= now_ms; --*most) {
        uint32_t unit = q->parked.at[0];
        leave(q, unit);
        q->entries.at[unit].flush_ms = flush_after(q, now_ms);
        enter(q, now_ms, unit, false);
    }
}

/* An attempt ended without a node: the unit is nowhere and stands in line anew. */
static void line_up(struct queue *q, int64_t now_ms, uint32_t unit)
{
    struct entry *e = &q->entries.at[unit];
    struct backoff law = {.first_ms = q->rules.first_ms, .most_ms = q->rules.most_ms};
    q->cause = QUEUE_ATTEMPT_ENDED;
    bool waits = e->errors || !q->rules.backs_off || q->rules.backs_off(q->rules.ctx, unit);
    uint32_t in_a_row = e->errors ? e->errors : waits ? e->refusals : 0;
    q->since_ms.at[unit] = now_ms;
    e->backoff_end_ms = backoff_end_ms(law, in_a_row, now_ms);
    e->flush_ms = flush_after(q, now_ms);
}

static void check(const struct queue_rules *rules)
{
    static const int64_t longest_ms = INT64_MAX / 4; /* sums with the time do not overflow */
    assert(rules->first_ms > 0 && rules->first_ms <= rules->most_ms);
    assert(rules->most_ms <= longest_ms);
    assert(rules->park_ms >= 0 && rules->park_ms <= longest_ms);
}

struct queue *queue_new(const struct queue_rules *rules)
{
    check(rules);
    struct queue *q = mem_alloc(sizeof(*q));
    q->rules = *rules;
    q->active = (struct heap){.before = rules->before, .ctx = rules->ctx};
    q->refused = (struct heap){.before = refused_before, .ctx = q};
    q->failed = (struct heap){.before = failed_before, .ctx = q};
    q->parked = (struct heap){.before = parked_before, .ctx = q};
    return q;
}

void queue_free(struct queue *q)
{
    vec_each(&q->groups, group)
        vec_done(&group->units);
    vec_done(&q->groups);
    map_done(&q->group_of);
    vec_done(&q->in_flight);
    mem_free(q->line);
    heap_done(&q->active);
    heap_done(&q->refused);
    heap_done(&q->failed);
    heap_done(&q->parked);
    vec_done(&q->since_ms);
    vec_done(&q->entries);
    mem_free(q);
}

/* There is an entry for the unit. */
static void reach(struct queue *q, uint32_t unit)
{
    if (unit < q->entries.n)
        return;
    vec_resize(&q->entries, unit + 1);
    vec_resize(&q->since_ms, unit + 1);
}

void queue_add(struct queue *q, int64_t now_ms, uint32_t unit)
{
    assert(now_ms >= 0 && queue_where(q, unit) == QUEUE_NOWHERE);
    reach(q, unit);
    q->entries.at[unit] = (struct entry){.flush_ms = flush_after(q, now_ms)};
    q->since_ms.at[unit] = now_ms;
    q->cause = QUEUE_ADDED;
    enter(q, now_ms, unit, false);
}

void queue_remove(struct queue *q, uint32_t unit)
{
    if (unit < q->entries.n)
        leave(q, unit);
}

static void fly(struct queue *q, uint32_t unit)
{
    struct entry *e = &q->entries.at[unit];
    e->place = QUEUE_IN_FLIGHT;
    e->attempts++;
    e->woken = 0;
    e->forced = false;
    list_add(q, &q->in_flight, unit);
}

bool queue_end_backoffs(struct queue *q, int64_t now_ms, uint32_t most)
{
    end_backoff(q, &q->refused, now_ms, &most);
    end_backoff(q, &q->failed, now_ms, &most);
    flush_parked(q, now_ms, &most);
    return most == 0;
}

bool queue_take(struct queue *q, int64_t now_ms, uint32_t *unit)
{
    queue_end_backoffs(q, now_ms, UINT32_MAX);
    bool is_early = active_count(q) == 0 && q->refused.n && !q->rules.waits_out;
    if (active_count(q) == 0 && !is_early)
        return false;
    q->incoming[QUEUE_ACTIVE][QUEUE_TAKEN_EARLY] += is_early;

    *unit = is_early ? heap_take(&q->refused) : active_take(q);
    fly(q, *unit);
    return true;
}

void queue_refuse(struct queue *q, int64_t now_ms, uint32_t unit, uint64_t rejectors,
                  uint64_t pending)
{
    assert(queue_where(q, unit) == QUEUE_IN_FLIGHT);
    assert(rejectors && (pending & ~rejectors) == 0);
    leave(q, unit);
    struct entry *e = &q->entries.at[unit];
    uint64_t woken = e->woken & rejectors;
    e->refusals++;
    e->errors = 0;
    e->rejectors = rejectors;
    e->pending = pending;
    line_up(q, now_ms, unit);
    if (e->forced || woken) {
        enter(q, now_ms, unit, woken & pending);
    } else {
        park(q, unit, rejectors);
        q->incoming[QUEUE_PARKED][QUEUE_ATTEMPT_ENDED]++;
    }
}

bool queue_was_woken(const struct queue *q, uint32_t unit)
{
    struct entry e = entry_of(q, unit);
    return e.place == QUEUE_IN_FLIGHT && e.heard;
}

void queue_put_back(struct queue *q, uint32_t unit)
{
    assert(queue_was_woken(q, unit));
    struct entry *e = &q->entries.at[unit];
    leave(q, unit);
    e->attempts--;
    park(q, unit, e->rejectors);
}

void queue_fail(struct queue *q, int64_t now_ms, uint32_t unit)
{
    enum queue_place place = queue_where(q, unit);
    assert(place == QUEUE_IN_FLIGHT || place == QUEUE_NOWHERE);
    reach(q, unit);
    leave(q, unit);
    struct entry *e = &q->entries.at[unit];
    e->errors++;
    e->rejectors = e->pending = 0;
    line_up(q, now_ms, unit);
    enter(q, now_ms, unit, false);
}

void queue_hold(struct queue *q, int64_t now_ms, uint32_t unit, uint64_t plugin)
{
    assert(queue_where(q, unit) == QUEUE_IN_FLIGHT && plugin);
    leave(q, unit);
    struct entry *e = &q->entries.at[unit];
    e->rejectors = plugin;
    e->pending = 0;
    e->flush_ms = flush_after(q, now_ms);
    e->gated = false;
    park(q, unit, plugin);
    q->incoming[QUEUE_PARKED][QUEUE_ATTEMPT_ENDED]++;
}

void queue_recall(struct queue *q, uint32_t unit)
{
    assert(queue_where(q, unit) == QUEUE_PARKED);
    leave(q, unit);
    fly(q, unit);
}

void queue_settle(struct queue *q, uint32_t unit)
{
    assert(queue_where(q, unit) == QUEUE_IN_FLIGHT);
    leave(q, unit);
}

void queue_renew(struct queue *q, int64_t now_ms, const struct queue_rules *rules)
{
    check(rules);
    assert(q->in_flight.n == 0);
    VEC(enum queue_place) was = {0};
    vec_resize(&was, q->entries.n);
    for (uint32_t unit = 0; unit < q->entries.n; unit++) { /* all out, for the order is another */
        was.at[unit] = q->entries.at[unit].place;
        leave(q, unit);
    }
    q->rules = *rules;
    q->active.before = rules->before;
    q->active.ctx = rules->ctx;
    q->cause = QUEUE_FLUSHED;
    for (uint32_t unit = 0; unit < q->entries.n; unit++)
        if (was.at[unit] != QUEUE_NOWHERE)
            enter(q, now_ms, unit, was.at[unit] == QUEUE_ACTIVE);
    vec_done(&was);
}

/* Is there anybody whom an event could concern? */
static bool has_hearers(const struct queue *q)
{
    vec_each(&q->groups, group)
        if (group->units.n)
            return true;
    return q->in_flight.n > 0;
}

void queue_event(struct queue *q, int64_t now_ms, const struct event *event)
{
    if (!has_hearers(q))
        return;
    uint64_t interested =
        event->resource == EVENT_ANY ? UINT64_MAX : q->rules.interested(q->rules.ctx, event);
    if (!interested)
        return;
    for (uint32_t g = 0; g < q->groups.n; g++) {
        if (!(q->groups.at[g].plugins & interested))
            continue;
        /* Backwards: one that leaves, or comes back gated, moves only units already seen. */
        for (uint32_t i = q->groups.at[g].units.n; i-- > 0;)
            hear_parked(q, now_ms, q->groups.at[g].units.at[i], event);
    }
    vec_each(&q->in_flight, unit)
        hear_in_flight(q, *unit, event);
}

void queue_reorder(struct queue *q, uint32_t unit)
{
    switch (queue_where(q, unit)) {
    case QUEUE_NOWHERE:
    case QUEUE_PARKED:
    case QUEUE_IN_FLIGHT:
        break;
    case QUEUE_ACTIVE:
        active_remove(q, unit);
        active_add(q, unit);
        break;
    case QUEUE_BACKING_OFF:
        heap_fix(backoff_heap(q, &q->entries.at[unit]), unit);
        break;
    }
}

void queue_touch(struct queue *q, int64_t now_ms, uint32_t unit, const struct event *event)
{
    if (queue_where(q, unit) == QUEUE_PARKED)
        hear_parked(q, now_ms, unit, event);
    else if (queue_where(q, unit) == QUEUE_IN_FLIGHT)
        hear_in_flight(q, unit, event);
    else if (queue_where(q, unit) != QUEUE_NOWHERE) {
        q->entries.at[unit].heard = false;
        queue_reorder(q, unit);
    }
}

void queue_rename(struct queue *q, uint32_t unit, uint32_t to)
{
    enum queue_place place = queue_where(q, unit);
    assert(place != QUEUE_NOWHERE && queue_where(q, to) == QUEUE_NOWHERE);
    reach(q, to);
    leave(q, unit);
    struct entry *e = &q->entries.at[to];
    *e = q->entries.at[unit];
    q->entries.at[unit] = (struct entry){0};
    q->since_ms.at[to] = q->since_ms.at[unit];
    if (place == QUEUE_PARKED) {
        park(q, to, q->groups.at[e->group].plugins);
        return;
    }
    e->place = place;
    if (place == QUEUE_ACTIVE)
        active_add(q, to);
    else if (place == QUEUE_BACKING_OFF)
        heap_add(backoff_heap(q, e), to);
    else
        list_add(q, &q->in_flight, to);
}

void queue_activate(struct queue *q, int64_t now_ms, uint32_t unit)
{
    q->cause = QUEUE_ACTIVATED;
    switch (queue_where(q, unit)) {
    case QUEUE_NOWHERE:
    case QUEUE_ACTIVE:
        q->entries.at[unit].heard = false;
        break;
    case QUEUE_BACKING_OFF:
        leave(q, unit);
        enter_active(q, unit);
        q->entries.at[unit].heard = false;
        break;
    case QUEUE_PARKED:
        leave(q, unit);
        enter(q, now_ms, unit, true);
        break;
    case QUEUE_IN_FLIGHT:
        q->entries.at[unit].forced = true;
        break;
    }
}

void queue_trim(struct queue *q, uint32_t units)
{
    struct heap *const heaps[] = {&q->active, &q->refused, &q->failed, &q->parked};
    for (size_t i = 0; i < LEN(heaps); i++)
        heap_trim(heaps[i], units);
    q->entries.n = MIN(q->entries.n, units);
    q->since_ms.n = MIN(q->since_ms.n, units);
    vec_trim(&q->entries);
    vec_trim(&q->since_ms);
    vec_trim(&q->in_flight);
    vec_each(&q->groups, group)
        vec_trim(&group->units);
    if (q->in_line == 0) {
        mem_free(q->line);
        q->line = NULL;
        q->line_cap = q->line_first = q->line_end = 0;
    }
}

int64_t queue_next_ms(const struct queue *q, int64_t now_ms)
{
    if (active_count(q) || (q->refused.n && !q->rules.waits_out))
        return now_ms;
    int64_t next_ms = INT64_MAX;
    if (q->failed.n)
        next_ms = q->entries.at[q->failed.at[0]].backoff_end_ms;
    if (q->refused.n)
        next_ms = MIN(next_ms, q->entries.at[q->refused.at[0]].backoff_end_ms);
    if (q->parked.n)
        next_ms = MIN(next_ms, q->entries.at[q->parked.at[0]].flush_ms);
    return MAX(next_ms, now_ms);
}

enum queue_place queue_where(const struct queue *q, uint32_t unit)
{
    return entry_of(q, unit).place;
}

int64_t queue_since_ms(const struct queue *q, uint32_t unit)
{
    return unit < q->since_ms.n ? q->since_ms.at[unit] : 0;
}

uint32_t queue_attempts(const struct queue *q, uint32_t unit)
{
    return entry_of(q, unit).attempts;
}

uint64_t queue_gate(const struct queue *q, uint32_t unit)
{
    struct entry e = entry_of(q, unit);
    return e.place == QUEUE_PARKED && e.gated ? q->groups.at[e.group].plugins : 0;
}

uint32_t queue_count(const struct queue *q, enum queue_place place)
{
    switch (place) {
    case QUEUE_NOWHERE:
        break;
    case QUEUE_ACTIVE:
        return active_count(q);
    case QUEUE_BACKING_OFF:
        return q->refused.n + q->failed.n;
    case QUEUE_PARKED:
        return q->parked.n;
    case QUEUE_IN_FLIGHT:
        return q->in_flight.n;
    }
    return 0;
}

uint32_t queue_event_cause(enum event_resource resource, uint32_t actions)
{
    _Static_assert(EVENT_LAST == 1 << 14, "as many resources as there are causes");
    assert(resource && resource != EVENT_ANY && resource <= EVENT_LAST && actions);
    uint32_t lowest = (uint32_t)__builtin_ctz(actions);
    uint32_t action = actions == ACTION_UPDATE ? 15 : MIN(lowest, 15u);
    return QUEUE_EVENTS + 16 * (uint32_t)__builtin_ctz(resource) + action;
}

uint64_t queue_incoming(const struct queue *q, enum queue_place place, uint32_t cause)
{
    assert(cause < QUEUE_CAUSES);
    return place < QUEUE_IN_FLIGHT ? q->incoming[place][cause] : 0;
}

uint64_t queue_rejectors(const struct queue *q, uint32_t unit)
{
    return entry_of(q, unit).rejectors;
}

void queue_each(const struct queue *q, void (*fn)(void *ctx, uint32_t unit), void *ctx)
{
    const struct heap *const places[] = {&q->active, &q->refused, &q->failed, &q->parked};
    for (uint32_t i = q->line_first; i != q->line_end; i++)
        if (*line_at(q, i) != HOLE)
            fn(ctx, *line_at(q, i));
    for (size_t i = 0; i < LEN(places); i++)
        for (uint32_t at = 0; at < places[i]->n; at++)
            fn(ctx, places[i]->at[at]);
}
