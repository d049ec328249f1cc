/* The queue against a dumb model: arrays, linear searches, and the law as kube-scheduler words it.
 * Events that happen while units are in flight are kept and played back at the refusal; whether a
 * unit still backs off is asked of the clock each time. After every operation both must agree on
 * the place of each unit and on all that can be asked. */

#include "core/queue/queue.h"

#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/base/vec.h"
#include "support/test.h"

enum { UNITS = 40, PLUGINS = 6, OPERATIONS = 200000, EVERYBODY = UNITS };

struct model_unit {
    enum queue_place place;
    int64_t since_ms, flushed_ms;
    uint32_t attempts, refusals, errors;
    uint64_t rejectors, pending, gate;
    uint32_t seen; /* in flight: events before this one were before its time */
};

struct heard {
    struct event event;
    uint32_t unit; /* whom it concerns, or EVERYBODY */
};

struct world {
    struct queue *q;
    struct queue_rules rules;
    struct rng rng;
    int64_t now_ms;
    int priority[UNITS];
    uint64_t gate[UNITS]; /* what holds it back now */
    struct model_unit units[UNITS];
    VEC(struct heard) heard;
};

/* The world that both are told of: an event is heard by the plugins its `actions` name; whether it
 * helps a unit is drawn from its salt, `node`. */

static uint64_t interested(const void *ctx, const struct event *event)
{
    (void)ctx;
    return event->actions;
}

static uint64_t wakes(void *ctx, uint32_t unit, const struct event *event, uint64_t among)
{
    (void)ctx;
    return hash_pair(event->node.i, unit) & event->actions & among;
}

static bool may_enter(void *ctx, uint32_t unit, uint64_t *gate)
{
    const struct world *w = ctx;
    *gate = w->gate[unit];
    return !*gate;
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct world *w = ctx;
    if (w->priority[a] != w->priority[b])
        return w->priority[a] > w->priority[b];
    int64_t a_ms = queue_since_ms(w->q, a), b_ms = queue_since_ms(w->q, b);
    return a_ms != b_ms ? a_ms < b_ms : a < b;
}

static bool backs_off(const void *ctx, uint32_t unit)
{
    (void)ctx;
    return unit % 3 != 0;
}

/* The model. */

static bool model_before(const struct world *w, uint32_t a, uint32_t b)
{
    if (w->priority[a] != w->priority[b])
        return w->priority[a] > w->priority[b];
    int64_t a_ms = w->units[a].since_ms, b_ms = w->units[b].since_ms;
    return a_ms != b_ms ? a_ms < b_ms : a < b;
}

/* The second in which its wait ends; -1 if it never failed. */
static int64_t model_end_s(const struct world *w, const struct model_unit *u)
{
    uint32_t number = (uint32_t)(u - w->units);
    uint32_t failures = u->errors                                     ? u->errors
                        : w->rules.backs_off && !backs_off(w, number) ? 0
                                                                      : u->refusals;
    if (!failures)
        return -1;
    int64_t wait_ms = w->rules.first_ms;
    while (--failures && wait_ms < w->rules.most_ms)
        wait_ms *= 2;
    return (u->since_ms + MIN(wait_ms, w->rules.most_ms)) / 1000;
}

static bool model_backs_off(const struct world *w, const struct model_unit *u)
{
    return !(model_end_s(w, u) < w->now_ms / 1000);
}

enum strategy { SKIP, AFTER_BACKOFF, IMMEDIATELY };

static enum strategy model_worth(struct world *w, uint32_t unit, const struct event *event)
{
    const struct model_unit *u = &w->units[unit];
    if (event->resource == EVENT_ANY)
        return AFTER_BACKOFF;
    uint64_t woken = wakes(w, unit, event, u->rejectors);
    return woken & u->pending ? IMMEDIATELY : woken ? AFTER_BACKOFF : SKIP;
}

static void model_requeue(struct world *w, uint32_t unit, enum strategy strategy)
{
    struct model_unit *u = &w->units[unit];
    if (strategy == SKIP) {
        u->place = QUEUE_PARKED;
        return;
    }
    u->gate = w->gate[unit];
    u->rejectors |= u->gate;
    if (u->gate)
        u->place = QUEUE_PARKED;
    else if (strategy == AFTER_BACKOFF && model_backs_off(w, u))
        u->place = QUEUE_BACKING_OFF;
    else
        u->place = QUEUE_ACTIVE;
}

static void model_refuse(struct world *w, uint32_t unit)
{
    enum strategy best = SKIP;
    for (uint32_t i = w->units[unit].seen; i < w->heard.n; i++) {
        const struct heard *h = &w->heard.at[i];
        if (h->unit == EVERYBODY || h->unit == unit)
            best = MAX(best, model_worth(w, unit, &h->event));
    }
    model_requeue(w, unit, best);
}

static void model_event(struct world *w, const struct event *event)
{
    bool any = event->resource == EVENT_ANY;
    if (!any && !event->actions)
        return;
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct model_unit *u = &w->units[unit];
        if (u->place != QUEUE_PARKED || (u->gate && !any && !(u->gate & event->actions)))
            continue;
        enum strategy strategy = model_worth(w, unit, event);
        if (strategy != SKIP)
            model_requeue(w, unit, strategy);
    }
    vec_push(&w->heard, (struct heard){*event, EVERYBODY});
}

static int64_t model_flush_ms(const struct world *w, const struct model_unit *u)
{
    return MAX(u->since_ms, u->flushed_ms) + w->rules.park_ms + 1;
}

static void model_pass_time(struct world *w)
{
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct model_unit *u = &w->units[unit];
        if (u->place == QUEUE_BACKING_OFF && !model_backs_off(w, u)) {
            u->place = QUEUE_ACTIVE;
        } else if (u->place == QUEUE_PARKED && model_flush_ms(w, u) <= w->now_ms) {
            u->flushed_ms = w->now_ms;
            model_requeue(w, unit, AFTER_BACKOFF);
        }
    }
}

/* UNITS if none is ready. */
static uint32_t model_take(struct world *w)
{
    model_pass_time(w);
    uint32_t best = UNITS;
    for (uint32_t unit = 0; unit < UNITS; unit++)
        if (w->units[unit].place == QUEUE_ACTIVE && (best == UNITS || model_before(w, unit, best)))
            best = unit;
    for (uint32_t unit = 0; best == UNITS || w->units[best].place != QUEUE_ACTIVE; unit++) {
        if (unit == UNITS)
            break;
        const struct model_unit *u = &w->units[unit];
        if (u->place != QUEUE_BACKING_OFF || !u->rejectors)
            continue;
        int64_t end_s = model_end_s(w, u);
        int64_t best_s = best == UNITS ? INT64_MAX : model_end_s(w, &w->units[best]);
        if (end_s < best_s || (end_s == best_s && model_before(w, unit, best)))
            best = unit;
    }
    if (best == UNITS)
        return best;
    struct model_unit *u = &w->units[best];
    u->place = QUEUE_IN_FLIGHT;
    u->attempts++;
    u->seen = w->heard.n;
    return best;
}

static int64_t model_next_ms(const struct world *w)
{
    int64_t next_ms = INT64_MAX;
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        const struct model_unit *u = &w->units[unit];
        if (u->place == QUEUE_ACTIVE || (u->place == QUEUE_BACKING_OFF && u->rejectors))
            return w->now_ms;
        if (u->place == QUEUE_BACKING_OFF)
            next_ms = MIN(next_ms, (model_end_s(w, u) + 1) * 1000);
        if (u->place == QUEUE_PARKED)
            next_ms = MIN(next_ms, model_flush_ms(w, u));
    }
    return MAX(next_ms, w->now_ms);
}

/* Operations on both. */

static void add(struct world *w, uint32_t unit)
{
    w->units[unit] = (struct model_unit){.since_ms = w->now_ms};
    w->priority[unit] = (int)rng_below(&w->rng, 4);
    model_requeue(w, unit, AFTER_BACKOFF);
    queue_add(w->q, w->now_ms, unit);
}

static bool take(struct world *w)
{
    uint32_t unit, wanted = model_take(w);
    bool found = queue_take(w->q, w->now_ms, &unit);
    return EXPECT_INT(found ? unit : UNITS, wanted);
}

static void refuse(struct world *w, uint32_t unit)
{
    struct model_unit *u = &w->units[unit];
    u->rejectors = 1u << rng_below(&w->rng, PLUGINS) | 1u << rng_below(&w->rng, PLUGINS);
    u->pending = rng_below(&w->rng, 4) ? 0 : u->rejectors & rng_next(&w->rng);
    u->refusals++;
    u->errors = 0;
    u->since_ms = w->now_ms;
    u->flushed_ms = 0;
    uint64_t rejectors = u->rejectors;
    model_refuse(w, unit);
    queue_refuse(w->q, w->now_ms, unit, rejectors, u->pending);
}

static void fail(struct world *w, uint32_t unit)
{
    struct model_unit *u = &w->units[unit];
    u->rejectors = u->pending = 0;
    u->errors++;
    u->since_ms = w->now_ms;
    u->flushed_ms = 0;
    model_requeue(w, unit, AFTER_BACKOFF);
    queue_fail(w->q, w->now_ms, unit);
}

static struct event random_event(struct world *w, enum event_resource resource)
{
    uint32_t salt = (uint32_t)rng_next(&w->rng);
    uint32_t plugins = (uint32_t)(rng_next(&w->rng) & rng_next(&w->rng)) % (1u << PLUGINS);
    if (rng_below(&w->rng, 20) == 0)
        return (struct event){.resource = EVENT_ANY};
    return (struct event){.resource = resource, .actions = plugins, .node = {salt}};
}

static void happen(struct world *w)
{
    struct event event = random_event(w, EVENT_NODE);
    model_event(w, &event);
    queue_event(w->q, w->now_ms, &event);
}

static void touch(struct world *w, uint32_t unit)
{
    struct event event = random_event(w, EVENT_TARGET_POD);
    w->priority[unit] = (int)rng_below(&w->rng, 4);
    if (w->units[unit].place == QUEUE_PARKED) {
        enum strategy strategy = model_worth(w, unit, &event);
        if (strategy != SKIP)
            model_requeue(w, unit, strategy);
    }
    vec_push(&w->heard, (struct heard){event, unit});
    queue_touch(w->q, w->now_ms, unit, &event);
}

static void activate(struct world *w, uint32_t unit)
{
    struct model_unit *u = &w->units[unit];
    if (u->place == QUEUE_PARKED)
        model_requeue(w, unit, IMMEDIATELY);
    else if (u->place == QUEUE_BACKING_OFF)
        u->place = QUEUE_ACTIVE;
    vec_push(&w->heard, (struct heard){{.resource = EVENT_ANY}, unit});
    queue_activate(w->q, w->now_ms, unit);
}

static void depart(struct world *w, uint32_t unit)
{
    w->units[unit].place = QUEUE_NOWHERE;
    queue_remove(w->q, unit);
}

/* Mostly a little; sometimes to just before or at the moment when something is due. */
static void pass_time(struct world *w)
{
    int64_t next_ms = queue_next_ms(w->q, w->now_ms);
    if (next_ms > w->now_ms && next_ms < INT64_MAX && rng_below(&w->rng, 3) == 0)
        w->now_ms = next_ms - (int64_t)rng_below(&w->rng, 2);
    else
        w->now_ms += (int64_t)rng_below(&w->rng, rng_below(&w->rng, 8) ? 700 : 20000);
}

/* What may happen to a unit whose fate is being decided, or was. */
static void decide(struct world *w, uint32_t unit)
{
    switch (rng_below(&w->rng, 4)) {
    case 0:
        w->units[unit].place = QUEUE_NOWHERE;
        queue_settle(w->q, unit);
        break;
    case 1:
        fail(w, unit);
        break;
    default:
        refuse(w, unit);
    }
}

static bool operate(struct world *w)
{
    uint32_t unit = (uint32_t)rng_below(&w->rng, UNITS);
    enum queue_place place = w->units[unit].place;
    switch (rng_below(&w->rng, 16)) {
    case 0:
        pass_time(w);
        break;
    case 1:
        happen(w);
        break;
    case 2:
        touch(w, unit);
        break;
    case 3:
        w->gate[unit] = rng_below(&w->rng, 3) ? 0 : (uint64_t)1 << rng_below(&w->rng, PLUGINS);
        break;
    case 4:
        if (rng_below(&w->rng, 8) == 0)
            activate(w, unit);
        break;
    case 5:
        if (rng_below(&w->rng, 8) == 0)
            depart(w, unit);
        break;
    case 6:
    case 7:
    case 8:
        return take(w);
    default:
        if (place == QUEUE_IN_FLIGHT)
            decide(w, unit);
        else if (place == QUEUE_NOWHERE && w->units[unit].attempts && rng_below(&w->rng, 9) == 0)
            fail(w, unit); /* its binding */
        else if (place == QUEUE_NOWHERE)
            add(w, unit);
    }
    return true;
}

/* The containers count their units, the entries say where each one is: if both agree with the
 * model, each unit is in exactly one place. */
static bool agrees(const struct world *w)
{
    uint32_t count[QUEUE_IN_FLIGHT + 1] = {0};
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        const struct model_unit *u = &w->units[unit];
        count[u->place]++;
        bool same = queue_where(w->q, unit) == u->place &&
                    queue_since_ms(w->q, unit) == u->since_ms &&
                    queue_attempts(w->q, unit) == u->attempts &&
                    queue_gate(w->q, unit) == (u->place == QUEUE_PARKED ? u->gate : 0);
        if (!EXPECT(same))
            return false;
    }
    bool same = queue_next_ms(w->q, w->now_ms) == model_next_ms(w);
    for (enum queue_place place = QUEUE_ACTIVE; place <= QUEUE_IN_FLIGHT; place++)
        same = same && queue_count(w->q, place) == count[place];
    return EXPECT(same);
}

static void compare(uint64_t seed, int64_t first_ms, int64_t most_ms, int64_t park_ms)
{
    bool is_mixed = seed % 2; /* some units do not back off for refusals */
    struct world w = {.rng = rng_seeded(seed)};
    w.rules = (struct queue_rules){.ctx = &w,
                                   .before = before,
                                   .may_enter = may_enter,
                                   .interested = interested,
                                   .wakes = wakes,
                                   .backs_off = is_mixed ? backs_off : NULL,
                                   .first_ms = first_ms,
                                   .most_ms = most_ms,
                                   .park_ms = park_ms};
    w.q = queue_new(&w.rules);
    for (uint32_t i = 0; i < OPERATIONS && operate(&w) && agrees(&w); i++)
        continue;
    queue_free(w.q);
    vec_done(&w.heard);
}

TEST(queue, does_what_the_model_does_under_the_usual_law)
{
    compare(test_seed(), 1000, 10000, 300000);
}

TEST(queue, does_what_the_model_does_where_some_refusals_cost_no_wait)
{
    for (uint64_t i = 1; i < 3; i++)
        compare(test_seed() + i, 1000, 10000, 300000);
}

TEST(queue, does_what_the_model_does_when_units_are_soon_tried_again)
{
    compare(test_seed() + 1, 1000, 10000, 30000);
}

TEST(queue, does_what_the_model_does_when_parking_is_shorter_than_backoff)
{
    compare(test_seed() + 2, 700, 60000, 2500);
}

TEST(queue, does_what_the_model_does_when_every_wait_is_the_longest)
{
    compare(test_seed() + 3, 3, 3, 0);
}
