#include "core/queue/queue.h"

#include "core/base/rng.h"
#include "support/test.h"

/* Plugins of these stories. */
enum { FIT = 1 << 0, TAINT = 1 << 1, CLAIMS = 1 << 2, GATES = 1 << 3, QUOTA = 1 << 4 };

enum { UNITS = 8, NOBODY = 99 };

/* Units are ordered by priority, then by age. An event is heard by the plugins that its `actions`
 * name, and helps the unit `node` (any, if that is NOBODY). */
struct world {
    struct queue *q;
    int priority[UNITS];
    uint64_t gate[UNITS];
    uint32_t questions; /* how often the worth of an event was asked */
};

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct world *w = ctx;
    if (w->priority[a] != w->priority[b])
        return w->priority[a] > w->priority[b];
    int64_t a_ms = queue_since_ms(w->q, a), b_ms = queue_since_ms(w->q, b);
    return a_ms != b_ms ? a_ms < b_ms : a < b;
}

static bool may_enter(void *ctx, uint32_t unit, uint64_t *gate)
{
    const struct world *w = ctx;
    *gate = w->gate[unit];
    return !*gate;
}

static uint64_t interested(const void *ctx, const struct event *event)
{
    (void)ctx;
    return event->actions;
}

static uint64_t wakes(void *ctx, uint32_t unit, const struct event *event, uint64_t among)
{
    struct world *w = ctx;
    w->questions++;
    return event->node.i == NOBODY || event->node.i == unit ? event->actions & among : 0;
}

static void world_init(struct world *w)
{
    struct queue_rules rules = {.ctx = w,
                                .before = before,
                                .may_enter = may_enter,
                                .interested = interested,
                                .wakes = wakes,
                                .first_ms = 1000,
                                .most_ms = 10000,
                                .park_ms = 300000};
    w->q = queue_new(&rules);
}

static void world_done(struct world *w)
{
    queue_free(w->q);
}

/* The unit that is next, or NOBODY. */
static uint32_t take(struct world *w, int64_t now_ms)
{
    uint32_t unit;
    return queue_take(w->q, now_ms, &unit) ? unit : NOBODY;
}

/* Added, taken and refused in one go. */
static void refused(struct world *w, int64_t now_ms, uint32_t unit, uint64_t plugins)
{
    queue_add(w->q, now_ms, unit);
    EXPECT_INT(take(w, now_ms), unit);
    queue_refuse(w->q, now_ms, unit, plugins, 0);
}

static void happens(struct world *w, int64_t now_ms, uint32_t plugins, uint32_t helps)
{
    struct event event = {.resource = EVENT_NODE, .actions = plugins, .node = {helps}};
    queue_event(w->q, now_ms, &event);
}

TEST(queue, higher_priority_goes_first_then_who_came_first)
{
    AUTO(world)
    w = {.priority = {0, 5, 5, 9}};
    world_init(&w);
    queue_add(w.q, 10, 0);
    queue_add(w.q, 20, 2);
    queue_add(w.q, 30, 1);
    queue_add(w.q, 40, 3);
    EXPECT_INT(take(&w, 50), 3);
    EXPECT_INT(take(&w, 50), 2);
    EXPECT_INT(take(&w, 50), 1);
    EXPECT_INT(take(&w, 50), 0);
    EXPECT_INT(take(&w, 50), NOBODY);
    EXPECT_INT(queue_count(w.q, QUEUE_IN_FLIGHT), 4);
}

/* The active unit that is before all others. */
static uint32_t first_of(const struct world *w)
{
    uint32_t first = NOBODY;
    for (uint32_t i = 0; i < UNITS; i++)
        if (queue_where(w->q, i) == QUEUE_ACTIVE && (first == NOBODY || before(w, i, first)))
            first = i;
    return first;
}

TEST(queue, the_first_in_order_is_next_whatever_came_changed_and_left)
{
    static const struct event change = {
        .resource = EVENT_TARGET_POD, .actions = FIT, .node = {NOBODY}};
    AUTO(world) w = {0};
    world_init(&w);
    struct rng r = rng_seeded(1);
    for (int64_t now_ms = 0; now_ms < 5000; now_ms++) {
        uint32_t unit = (uint32_t)rng_below(&r, UNITS);
        bool is_there = queue_where(w.q, unit) == QUEUE_ACTIVE;
        switch (rng_below(&r, 4)) {
        case 0:
            w.priority[unit] = is_there ? w.priority[unit] : (int)rng_below(&r, 3);
            if (!is_there)
                queue_add(w.q, now_ms / 3, unit);
            break;
        case 1:
            w.priority[unit] = (int)rng_below(&r, 3);
            queue_touch(w.q, now_ms / 3, unit, &change);
            break;
        case 2:
            if (rng_below(&r, 3) == 0)
                queue_remove(w.q, unit);
            break;
        default:
            unit = first_of(&w);
            REQUIRE(take(&w, now_ms / 3) == unit);
            if (unit != NOBODY)
                queue_settle(w.q, unit);
        }
    }
}

TEST(queue, a_settled_unit_has_left)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 10, 3);
    EXPECT_INT(take(&w, 10), 3);
    EXPECT_INT(queue_where(w.q, 3), QUEUE_IN_FLIGHT);
    queue_settle(w.q, 3);
    EXPECT_INT(queue_where(w.q, 3), QUEUE_NOWHERE);
    EXPECT_INT(queue_count(w.q, QUEUE_IN_FLIGHT), 0);
    EXPECT_INT(queue_next_ms(w.q, 10), INT64_MAX);
}

TEST(queue, a_unit_that_is_held_waits_for_its_owner_and_hears_no_event)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    queue_hold(w.q, 0, 1, QUOTA);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    EXPECT_INT(queue_gate(w.q, 1), 0);
    happens(&w, 1000, FIT, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    EXPECT_INT(w.questions, 0);

    queue_recall(w.q, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_IN_FLIGHT);
    EXPECT_INT(queue_attempts(w.q, 1), 2);
    queue_refuse(w.q, 2000, 1, FIT, 0); /* its waits begin anew: it was never refused before */
    happens(&w, 2500, FIT, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
    EXPECT_INT(take(&w, 3000), 1);
}

TEST(queue, a_refused_unit_waits_until_its_rejector_says_that_an_event_helps)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 1, FIT);
    refused(&w, 0, 2, FIT);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);

    happens(&w, 60000, TAINT, NOBODY); /* another plugin's event */
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);

    happens(&w, 60000, FIT, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);
    EXPECT_INT(queue_where(w.q, 2), QUEUE_PARKED);
}

TEST(queue, an_event_costs_no_question_for_units_whose_plugins_do_not_listen)
{
    AUTO(world) w = {.gate = {[3] = GATES}};
    world_init(&w);
    refused(&w, 0, 0, FIT);
    refused(&w, 0, 1, TAINT);
    refused(&w, 0, 2, TAINT | CLAIMS);
    queue_add(w.q, 0, 3);
    happens(&w, 0, QUOTA, NOBODY);
    EXPECT_INT(w.questions, 0);
    happens(&w, 0, TAINT | QUOTA, NOBODY);
    EXPECT_INT(w.questions, 2);
}

TEST(queue, woken_early_a_unit_backs_off_and_goes_first_if_nothing_is_active)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 500, 1, FIT);
    happens(&w, 600, FIT, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);

    queue_add(w.q, 700, 2);
    EXPECT_INT(take(&w, 700), 2);
    EXPECT_INT(queue_next_ms(w.q, 700), 700);
    EXPECT_INT(take(&w, 700), 1);
    EXPECT_INT(queue_attempts(w.q, 1), 2);
}

static bool backs_off(const void *ctx, uint32_t unit)
{
    (void)ctx;
    return unit != 1;
}

TEST(queue, where_refusals_cost_no_wait_the_order_alone_counts)
{
    AUTO(world) w = {.priority = {[1] = 7}};
    world_init(&w);
    struct queue_rules rules = {.ctx = &w,
                                .before = before,
                                .may_enter = may_enter,
                                .interested = interested,
                                .wakes = wakes,
                                .backs_off = backs_off,
                                .first_ms = 1000,
                                .most_ms = 10000,
                                .park_ms = 300000};
    queue_renew(w.q, 0, &rules);
    refused(&w, 500, 1, FIT);
    queue_add(w.q, 600, 2);
    happens(&w, 700, FIT, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);
    EXPECT_INT(take(&w, 700), 1);
    queue_fail(w.q, 700, 1); /* an error does */
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
    EXPECT_INT(take(&w, 800), 2);
}

TEST(queue, a_woken_unit_may_be_put_back_as_it_was)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 1, FIT | TAINT);
    happens(&w, 20000, TAINT, 1);
    EXPECT_INT(take(&w, 20000), 1);
    EXPECT(queue_was_woken(w.q, 1));
    queue_put_back(w.q, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    EXPECT_INT(queue_attempts(w.q, 1), 1);
    EXPECT_INT(queue_since_ms(w.q, 1), 0);
    EXPECT_INT(queue_rejectors(w.q, 1), FIT | TAINT);
    EXPECT_INT(queue_next_ms(w.q, 20000), 300001); /* it is tried again after five minutes */
    EXPECT_INT(take(&w, 300001), 1);
    EXPECT(!queue_was_woken(w.q, 1));
    queue_refuse(w.q, 300001, 1, FIT, 0);
    queue_activate(w.q, 300002, 1); /* somebody knows better */
    EXPECT_INT(take(&w, 300002), 1);
    EXPECT(!queue_was_woken(w.q, 1));
}

TEST(queue, backoff_ends_on_a_whole_second)
{
    AUTO(world) w = {.priority = {[1] = 7}};
    world_init(&w);
    refused(&w, 500, 1, FIT);
    queue_add(w.q, 600, 2);
    queue_add(w.q, 600, 3);
    happens(&w, 600, FIT, 1);
    EXPECT_INT(take(&w, 1999), 2); /* its time, 1.500, lies in this second */
    EXPECT_INT(take(&w, 2000), 1);
}

TEST(queue, units_whose_backoff_ends_in_one_second_keep_the_order_of_active_units)
{
    AUTO(world) w = {.priority = {[2] = 7}};
    world_init(&w);
    refused(&w, 100, 1, FIT);
    refused(&w, 900, 2, FIT);
    refused(&w, 1000, 3, FIT);
    happens(&w, 1000, FIT, NOBODY);
    EXPECT_INT(take(&w, 1000), 2);
    EXPECT_INT(take(&w, 1000), 1);
    EXPECT_INT(take(&w, 2000), 3);
}

TEST(queue, what_happens_in_flight_counts_when_the_unit_is_refused)
{
    static const struct {
        uint32_t heard_by, helps;
        uint64_t rejectors, pending;
        enum queue_place place;
    } cases[] = {
        {FIT, NOBODY, FIT, 0, QUEUE_BACKING_OFF},
        {FIT, 1, FIT | TAINT, 0, QUEUE_BACKING_OFF},
        {FIT, 2, FIT, 0, QUEUE_PARKED},
        {FIT, NOBODY, TAINT, 0, QUEUE_PARKED},
        {CLAIMS, NOBODY, CLAIMS, CLAIMS, QUEUE_ACTIVE},
        {FIT | CLAIMS, NOBODY, FIT | CLAIMS, CLAIMS, QUEUE_ACTIVE},
        {FIT, NOBODY, FIT | CLAIMS, CLAIMS, QUEUE_BACKING_OFF},
        {TAINT, NOBODY, CLAIMS, CLAIMS, QUEUE_PARKED},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(world) w = {0};
        world_init(&w);
        queue_add(w.q, 0, 1);
        EXPECT_INT(take(&w, 0), 1);
        happens(&w, 10, cases[i].heard_by, cases[i].helps);
        happens(&w, 10, QUOTA, NOBODY);
        queue_refuse(w.q, 20, 1, cases[i].rejectors, cases[i].pending);
        EXPECT_INT(queue_where(w.q, 1), cases[i].place);
    }
}

TEST(queue, what_happened_in_an_earlier_flight_is_forgotten)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    happens(&w, 0, FIT, 1);
    queue_activate(w.q, 0, 1);
    queue_refuse(w.q, 0, 1, FIT, 0);
    EXPECT_INT(take(&w, 0), 1);
    queue_refuse(w.q, 0, 1, FIT, 0);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
}

TEST(queue, a_plugin_that_waits_for_the_outside_wakes_past_the_backoff)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    queue_refuse(w.q, 0, 1, FIT | CLAIMS, CLAIMS);
    happens(&w, 0, CLAIMS, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);
}

TEST(queue, an_error_waits_its_time_even_if_nothing_else_is_there)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 300, 1);
    EXPECT_INT(take(&w, 300), 1);
    queue_fail(w.q, 300, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
    EXPECT_INT(queue_next_ms(w.q, 300), 2000);
    EXPECT_INT(take(&w, 1999), NOBODY);
    EXPECT_INT(take(&w, 2000), 1);
}

TEST(queue, errors_and_refusals_count_apart)
{
    AUTO(world) w = {0};
    world_init(&w);
    /* From each failure on, how long until it is taken again: refusals are woken at once, and unit
     * 0 keeps them from going ahead of time. */
    static const struct {
        bool is_error;
        int64_t wait_ms;
    } steps[] = {
        {true, 2000},  /* first error                                  */
        {true, 3000},  /* second                                       */
        {false, 2000}, /* first refusal                                */
        {true, 2000},  /* the refusal ended the row of errors          */
        {false, 3000}, /* second refusal: the error did not end theirs */
        {false, 5000}, {false, 9000}, {false, 11000}, {false, 11000}, {true, 2000},
    };
    int64_t now_ms = 0;
    queue_add(w.q, now_ms, 1);
    for (size_t i = 0; i < LEN(steps); i++) {
        EXPECT_INT(take(&w, now_ms), 1);
        if (steps[i].is_error) {
            queue_fail(w.q, now_ms, 1);
        } else {
            queue_refuse(w.q, now_ms, 1, FIT, 0);
            happens(&w, now_ms, FIT, 1);
        }
        EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
        w.priority[0] = -1;
        queue_add(w.q, now_ms, 0);
        now_ms += steps[i].wait_ms;
        EXPECT_INT(take(&w, now_ms - 1), 0);
        queue_settle(w.q, 0);
    }
}

TEST(queue, a_binding_that_failed_brings_the_unit_back_with_its_history)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    queue_fail(w.q, 0, 1);
    EXPECT_INT(take(&w, 2000), 1);
    queue_settle(w.q, 1);
    queue_fail(w.q, 2500, 1);
    EXPECT_INT(queue_next_ms(w.q, 2500), 5000); /* the second error */
    EXPECT_INT(queue_attempts(w.q, 1), 2);
    EXPECT_INT(queue_since_ms(w.q, 1), 2500);
}

TEST(queue, a_number_used_again_starts_afresh)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 1, FIT);
    queue_remove(w.q, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_NOWHERE);
    queue_add(w.q, 100, 1);
    EXPECT_INT(queue_attempts(w.q, 1), 0);
    EXPECT_INT(take(&w, 100), 1);
    queue_fail(w.q, 100, 1);
    EXPECT_INT(queue_next_ms(w.q, 100), 2000);
}

TEST(queue, a_gated_unit_waits_for_its_gate)
{
    AUTO(world) w = {.gate = {[1] = GATES}};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    EXPECT_INT(queue_gate(w.q, 1), GATES);

    queue_activate(w.q, 0, 1);
    happens(&w, 0, GATES, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);

    w.gate[1] = 0;
    happens(&w, 0, FIT, 1); /* not the gate's event */
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    happens(&w, 0, GATES, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);
    EXPECT_INT(queue_gate(w.q, 1), 0);
}

TEST(queue, one_gate_after_the_other_holds_a_unit)
{
    AUTO(world) w = {.gate = {[1] = GATES}};
    world_init(&w);
    queue_add(w.q, 0, 1);
    w.gate[1] = QUOTA;
    happens(&w, 0, GATES | QUOTA, 1);
    EXPECT_INT(queue_gate(w.q, 1), QUOTA);
    EXPECT_INT(queue_count(w.q, QUEUE_PARKED), 1);
    w.gate[1] = 0;
    happens(&w, 0, GATES, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_PARKED);
    happens(&w, 0, QUOTA, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);
}

TEST(queue, a_gate_holds_also_on_the_way_into_backoff_but_not_out_of_it)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    w.gate[1] = QUOTA;
    queue_fail(w.q, 0, 1);
    EXPECT_INT(queue_gate(w.q, 1), QUOTA);

    w.gate[1] = 0;
    happens(&w, 100, QUOTA, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
    w.gate[1] = QUOTA;
    EXPECT_INT(take(&w, 2000), 1);
}

TEST(queue, parked_for_five_minutes_a_unit_is_tried_again)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 1000, 1, FIT);
    EXPECT_INT(queue_next_ms(w.q, 2000), 301001);
    EXPECT_INT(take(&w, 301000), NOBODY);
    EXPECT_INT(take(&w, 301001), 1);
}

TEST(queue, a_gated_unit_is_looked_at_every_five_minutes)
{
    AUTO(world) w = {.gate = {[1] = GATES}};
    world_init(&w);
    queue_add(w.q, 1000, 1);
    EXPECT_INT(take(&w, 310000), NOBODY);
    EXPECT_INT(queue_next_ms(w.q, 310000), 610001);
    EXPECT_INT(queue_since_ms(w.q, 1), 1000);
    w.gate[1] = 0;
    EXPECT_INT(take(&w, 610000), NOBODY);
    EXPECT_INT(take(&w, 610001), 1);
}

TEST(queue, an_event_for_all_brings_back_every_parked_unit_after_its_backoff)
{
    AUTO(world) w = {.gate = {[3] = GATES}};
    world_init(&w);
    queue_add(w.q, 0, 1);
    EXPECT_INT(take(&w, 0), 1);
    queue_refuse(w.q, 0, 1, CLAIMS, CLAIMS); /* not even this one skips it */
    refused(&w, 0, 2, FIT);
    queue_add(w.q, 0, 3);
    w.gate[3] = 0;
    queue_add(w.q, 0, 4);
    EXPECT_INT(take(&w, 0), 4);

    queue_event(w.q, 10, &(struct event){.resource = EVENT_ANY});
    queue_refuse(w.q, 10, 4, CLAIMS, CLAIMS);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_BACKING_OFF);
    EXPECT_INT(queue_where(w.q, 2), QUEUE_BACKING_OFF);
    EXPECT_INT(queue_where(w.q, 3), QUEUE_ACTIVE);
    EXPECT_INT(queue_where(w.q, 4), QUEUE_BACKING_OFF);
    EXPECT_INT(w.questions, 0);
}

TEST(queue, a_unit_that_changes_finds_its_place_anew)
{
    static const struct event grown = {
        .resource = EVENT_TARGET_POD, .actions = FIT, .node = {NOBODY}};
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 4, FIT);
    refused(&w, 0, 5, TAINT);
    queue_add(w.q, 0, 1);
    queue_add(w.q, 0, 2);
    w.priority[2] = 5;
    queue_touch(w.q, 0, 2, &grown);
    EXPECT_INT(take(&w, 0), 2);
    queue_touch(w.q, 0, 2, &grown); /* in flight: remembered */
    queue_refuse(w.q, 0, 2, FIT, 0);
    EXPECT_INT(queue_where(w.q, 2), QUEUE_BACKING_OFF);

    queue_touch(w.q, 5000, 4, &grown);
    EXPECT_INT(queue_where(w.q, 4), QUEUE_ACTIVE);
    queue_touch(w.q, 5000, 5, &grown); /* its rejector does not care */
    EXPECT_INT(queue_where(w.q, 5), QUEUE_PARKED);
    queue_touch(w.q, 5000, 7, &grown); /* nowhere */
    EXPECT_INT(queue_where(w.q, 7), QUEUE_NOWHERE);
}

TEST(queue, a_change_of_priority_counts_among_units_that_back_off)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 1, FIT);
    refused(&w, 0, 2, FIT);
    happens(&w, 0, FIT, NOBODY);
    w.priority[2] = 3;
    queue_touch(w.q, 0, 2, &(struct event){.resource = EVENT_TARGET_POD});
    EXPECT_INT(take(&w, 0), 2);
    EXPECT_INT(take(&w, 0), 1);
}

TEST(queue, an_activated_unit_waits_for_nothing_but_gates)
{
    AUTO(world) w = {0};
    world_init(&w);
    refused(&w, 0, 1, FIT);
    queue_activate(w.q, 0, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);

    EXPECT_INT(take(&w, 0), 1);
    queue_fail(w.q, 0, 1);
    w.gate[1] = GATES; /* it passed them when it began to back off */
    queue_activate(w.q, 0, 1);
    EXPECT_INT(queue_where(w.q, 1), QUEUE_ACTIVE);

    EXPECT_INT(take(&w, 0), 1);
    queue_refuse(w.q, 0, 1, FIT, 0);
    queue_activate(w.q, 0, 1);
    EXPECT_INT(queue_gate(w.q, 1), GATES);
    queue_activate(w.q, 0, 7);
    EXPECT_INT(queue_where(w.q, 7), QUEUE_NOWHERE);
}

TEST(queue, a_unit_goes_on_under_another_number_wherever_it_is)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_add(w.q, 0, 0); /* active */
    queue_rename(w.q, 0, 5);
    EXPECT_INT(queue_where(w.q, 0), QUEUE_NOWHERE);
    EXPECT_INT(queue_where(w.q, 5), QUEUE_ACTIVE);
    EXPECT_INT(take(&w, 0), 5);
    queue_rename(w.q, 5, 6); /* in flight */
    EXPECT_INT(queue_where(w.q, 6), QUEUE_IN_FLIGHT);
    EXPECT_INT(queue_attempts(w.q, 6), 1);
    queue_refuse(w.q, 0, 6, FIT, 0);
    queue_rename(w.q, 6, 0); /* parked */
    EXPECT_INT(queue_rejectors(w.q, 0), FIT);
    happens(&w, 500, FIT, 0);
    EXPECT_INT(queue_where(w.q, 0), QUEUE_BACKING_OFF);
    queue_rename(w.q, 0, 7); /* backing off: until the same moment */
    EXPECT_INT(queue_where(w.q, 7), QUEUE_BACKING_OFF);
    EXPECT_INT(take(&w, 1000), 7);
    EXPECT_INT(queue_attempts(w.q, 7), 2);
    w.gate[1] = w.gate[2] = GATES;
    queue_add(w.q, 1000, 1); /* gated */
    queue_rename(w.q, 1, 2);
    EXPECT_INT(queue_gate(w.q, 2), GATES);
    EXPECT_INT(queue_count(w.q, QUEUE_PARKED), 1);
}

TEST(queue, a_unit_may_change_its_place_for_no_events_sake)
{
    AUTO(world) w = {0};
    world_init(&w);
    for (uint32_t i = 0; i < 4; i++)
        queue_add(w.q, i, i);
    w.priority[2] = 7;
    queue_reorder(w.q, 2);
    EXPECT_INT(take(&w, 9), 2);
    EXPECT_INT(take(&w, 9), 0);
}

TEST(queue, a_unit_never_seen_may_fail)
{
    AUTO(world) w = {0};
    world_init(&w);
    queue_fail(w.q, 0, 3);
    EXPECT_INT(queue_where(w.q, 3), QUEUE_BACKING_OFF);
    EXPECT_INT(take(&w, 999), NOBODY);
    EXPECT_INT(take(&w, 2000), 3);
}

TEST(queue, units_leave_from_wherever_they_are)
{
    AUTO(world) w = {.gate = {[5] = GATES}};
    world_init(&w);
    refused(&w, 0, 0, FIT); /* parked */
    refused(&w, 0, 1, TAINT);
    happens(&w, 0, TAINT, 1); /* refused, backs off */
    queue_add(w.q, 0, 2);
    EXPECT_INT(take(&w, 0), 2);
    queue_fail(w.q, 0, 2); /* failed, backs off */
    queue_add(w.q, 0, 3);
    EXPECT_INT(take(&w, 0), 3); /* in flight */
    queue_add(w.q, 0, 4);       /* active */
    queue_add(w.q, 0, 5);       /* gated */
    for (uint32_t unit = 0; unit < UNITS; unit++)
        queue_remove(w.q, unit);
    for (enum queue_place place = QUEUE_NOWHERE; place <= QUEUE_IN_FLIGHT; place++)
        EXPECT_INT(queue_count(w.q, place), 0);
    EXPECT_INT(queue_next_ms(w.q, 0), INT64_MAX);
    EXPECT_INT(take(&w, 1000000), NOBODY);
}

static void add_up(void *ctx, uint32_t unit)
{
    *(uint32_t *)ctx += 1u << unit;
}

TEST(queue, counts_who_comes_where_and_why)
{
    AUTO(world) w = {.gate = {[7] = GATES}};
    world_init(&w);
    refused(&w, 0, 1, FIT);
    refused(&w, 0, 2, FIT);
    queue_add(w.q, 0, 7);
    happens(&w, 100, FIT, 1);       /* not over yet: it backs off … */
    happens(&w, 60000, FIT, 2);     /* … and its wait is over */
    EXPECT_INT(take(&w, 60000), 1); /* by now its backoff is, too */
    EXPECT_INT(take(&w, 60000), 2);
    queue_fail(w.q, 60000, 1);
    queue_activate(w.q, 60000, 1);
    uint32_t node_add = queue_event_cause(EVENT_NODE, ACTION_ADD);
    const struct {
        enum queue_place place;
        uint32_t cause;
        uint64_t n;
    } cases[] = {
        {QUEUE_ACTIVE, QUEUE_ADDED, 2},
        {QUEUE_PARKED, QUEUE_ADDED, 1},
        {QUEUE_PARKED, QUEUE_ATTEMPT_ENDED, 2},
        {QUEUE_BACKING_OFF, node_add, 1},
        {QUEUE_ACTIVE, QUEUE_BACKOFF_ENDED, 1},
        {QUEUE_ACTIVE, node_add, 1},
        {QUEUE_BACKING_OFF, QUEUE_ATTEMPT_ENDED, 1},
        {QUEUE_ACTIVE, QUEUE_ACTIVATED, 1},
        {QUEUE_ACTIVE, QUEUE_TAKEN_EARLY, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        EXPECT_INT(queue_incoming(w.q, cases[i].place, cases[i].cause), cases[i].n);
    }
    uint32_t waiting = 0;
    queue_each(w.q, add_up, &waiting);
    EXPECT_INT(waiting, 1 << 1 | 1 << 7);
    EXPECT_INT(queue_rejectors(w.q, 7), GATES);
    EXPECT_INT(queue_rejectors(w.q, 1), 0);
}

static bool after(const void *ctx, uint32_t a, uint32_t b)
{
    return before(ctx, b, a);
}

TEST(queue, looks_at_everybody_by_new_rules)
{
    struct world w = {.priority = {0, 0, 1, 2, 3}};
    struct queue_rules rules = {.ctx = &w,
                                .before = after,
                                .may_enter = may_enter,
                                .interested = interested,
                                .wakes = wakes,
                                .first_ms = 5000,
                                .most_ms = 10000,
                                .park_ms = 300000};
    world_init(&w);
    refused(&w, 0, 0, FIT);
    w.gate[1] = GATES;
    queue_add(w.q, 0, 1);
    for (uint32_t unit = 2; unit < 5; unit++)
        queue_add(w.q, 0, unit);
    w.gate[1] = 0; /* nobody told the queue */
    w.gate[3] = QUOTA;

    queue_renew(w.q, 0, &rules);

    EXPECT_INT(queue_where(w.q, 0), QUEUE_BACKING_OFF);
    EXPECT_INT(queue_gate(w.q, 3), QUOTA);
    EXPECT_INT(take(&w, 0), 1); /* the lowest priority first, now */
    EXPECT_INT(take(&w, 0), 2);
    EXPECT_INT(take(&w, 0), 4);
    EXPECT_INT(take(&w, 1999), 0); /* its wait has not become longer; nobody else is there */
    queue_fail(w.q, 2000, 0);
    EXPECT_INT(queue_next_ms(w.q, 2000), 8000); /* 5 s, up to the second */
    world_done(&w);
}

TEST(queue, waits_are_waited_out_where_the_rules_say_so)
{
    struct world w = {0};
    struct queue_rules rules = {.ctx = &w,
                                .before = before,
                                .may_enter = may_enter,
                                .interested = interested,
                                .wakes = wakes,
                                .waits_out = true,
                                .first_ms = 1000,
                                .most_ms = 10000,
                                .park_ms = 300000};
    struct event any = {.resource = EVENT_ANY};
    w.q = queue_new(&rules);
    refused(&w, 100, 0, FIT);
    queue_event(w.q, 200, &any);
    EXPECT_INT(queue_where(w.q, 0), QUEUE_BACKING_OFF);
    EXPECT_INT(take(&w, 200), NOBODY);
    EXPECT_INT(queue_next_ms(w.q, 200), 2000); /* 1 s, up to the second */
    EXPECT_INT(take(&w, 2000), 0);
    world_done(&w);
}

TEST(queue, every_event_has_a_cause)
{
    for (uint32_t r = 1; r <= EVENT_LAST; r <<= 1) {
        if (r == EVENT_ANY)
            continue;
        uint32_t add = queue_event_cause((enum event_resource)r, ACTION_ADD | ACTION_CLASS_WAITS);
        uint32_t other = queue_event_cause((enum event_resource)r, ACTION_OTHER);
        EXPECT(add < QUEUE_CAUSES && other < QUEUE_CAUSES && add != other);
        EXPECT_INT(other, queue_event_cause((enum event_resource)r, ACTION_UPDATE));
    }
}
