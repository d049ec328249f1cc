/* The first byte of a request's id says whose it is. */

#include "kube/client.h"

enum { DISCOVER = 1, DISPATCH, EVENTS, PUBLISH, LEASE, EXTENDER_CLIENT, WATCHES };

#define FIRST_ID(owner) ((request_id)(owner) << 56)

static bool pass_knows(void *ctx, const struct pod *partial)
{
    const struct client *c = ctx;
    return c->outer.knows && c->outer.knows(c->outer.ctx, partial);
}

static void pass_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct client *c = ctx;
    c->outer.change(c->outer.ctx, now_ms, change);
    dispatch_see(&c->dispatch, now_ms, change, c->out);
    extender_client_see(&c->extender_client, change);
}

static void pass_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct client *c = ctx;
    c->outer.settle(c->outer.ctx, now_ms, effect, why);
}

static void pass_answer(void *ctx, int64_t now_ms, effect_id effect,
                        const struct extender_answer *answer)
{
    struct client *c = ctx;
    c->outer.answer(c->outer.ctx, now_ms, effect, answer);
}

static void pass_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    struct client *c = ctx;
    if (notice->kind == NOTICE_ABSENT)
        discover_doubt(&c->discover, now_ms);
    c->outer.notice(c->outer.ctx, now_ms, notice);
}

void client_init(struct client *c, const struct client_config *config, int64_t now_ms,
                 const struct listener *listener)
{
    struct rng seeds = rng_seeded(config->seed);
    *c = (struct client){
        .outer = *listener, .scheduler = config->scheduler, .has_lease = config->has_lease};
    c->inner = (struct listener){.ctx = c,
                                 .knows = pass_knows,
                                 .change = pass_change,
                                 .settle = pass_settle,
                                 .answer = pass_answer,
                                 .notice = pass_notice};
    discover_init(&c->discover, now_ms, FIRST_ID(DISCOVER), rng_next(&seeds), &c->inner);
    events_init(&c->events, config->host, FIRST_ID(EVENTS), rng_next(&seeds), &c->inner);
    c->events.is_silent = config->is_silent;
    dispatch_init(&c->dispatch, FIRST_ID(DISPATCH), rng_next(&seeds), &c->events, &c->inner);
    publish_init(&c->publish, FIRST_ID(PUBLISH), config->seed, config->scheduler, &c->events,
                 &c->inner);
    extender_client_init(&c->extender_client, FIRST_ID(EXTENDER_CLIENT), &c->inner);
    client_set_extenders(c, config->extenders, config->n_extenders);
    lease_init(&c->lease, &config->lease, now_ms - config->ahead_ms, FIRST_ID(LEASE),
               rng_next(&seeds), &c->inner);
    client_set_clock(c, config->ahead_ms);
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        watch_init(&c->watches[i], &watched_kinds[i], FIRST_ID(WATCHES + i), rng_next(&seeds),
                   &c->inner);
}

void client_done(struct client *c)
{
    discover_done(&c->discover);
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        watch_done(&c->watches[i]);
    events_done(&c->events);
    dispatch_done(&c->dispatch);
    publish_done(&c->publish);
    extender_client_done(&c->extender_client);
    lease_done(&c->lease);
}

void client_trim(struct client *c)
{
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        watch_trim(&c->watches[i]);
    events_trim(&c->events);
    dispatch_trim(&c->dispatch);
    publish_trim(&c->publish);
}

void client_set_clock(struct client *c, int64_t ahead_ms)
{
    c->ahead_ms = ahead_ms;
    c->lease.wall_offset_ms = ahead_ms;
}

void client_set_extenders(struct client *c, const struct extender *extenders, uint32_t n)
{
    c->dispatch.writes.extenders = extenders;
    c->dispatch.writes.n_extenders = n;
    extender_client_set_extenders(&c->extender_client, extenders, n);
}

static void learn_served(struct client *c, int64_t now_ms)
{
    for (uint32_t i = 0; i < WATCHED_COUNT; i++) {
        const char *version;
        enum served served = discover_served(&c->discover, i, &version);
        bool is_served = served == SERVED_YES;
        if (served == SERVED_UNKNOWN)
            continue;
        watch_discovered(&c->watches[i], now_ms, is_served ? version : NULL, c->out);
        publish_learn(&c->publish, watched_kinds[i].kind, is_served ? version : NULL,
                      is_served && discover_writes_whole(&c->discover, i, version));
    }
}

void client_hear(struct client *c, int64_t now_ms, const struct reply *reply, struct requests *out)
{
    uint64_t owner = reply->id >> 56;
    c->out = out;
    if (owner == DISCOVER && discover_hear(&c->discover, now_ms, reply))
        learn_served(c, now_ms);
    else if (owner == DISPATCH)
        dispatch_hear(&c->dispatch, now_ms, reply, out);
    else if (owner == EXTENDER_CLIENT)
        extender_client_hear(&c->extender_client, now_ms, reply, out);
    else if (owner == EVENTS)
        events_hear(&c->events, now_ms, reply);
    else if (owner == PUBLISH)
        publish_hear(&c->publish, now_ms, reply);
    else if (owner == LEASE)
        lease_hear(&c->lease, now_ms - c->ahead_ms, reply, out);
    else if (owner >= WATCHES && owner < WATCHES + WATCHED_COUNT)
        watch_hear(&c->watches[owner - WATCHES], now_ms, reply, out);
}

void client_take(struct client *c, int64_t now_ms, const struct effects *effects,
                 struct requests *out)
{
    c->out = out;
    dispatch_take(&c->dispatch, now_ms, effects, out);
    vec_each(&effects->list, e)
        if (UNLIKELY(e->kind == EFFECT_PUBLISH))
            publish_take(&c->publish, now_ms, e);
    extender_client_take(&c->extender_client, now_ms, effects, out);
}

static void tell_of_lease(struct client *c, int64_t now_ms, const char *what)
{
    const struct lease_config *lease = &c->lease.config;
    AUTO(buf) note = {0};
    buf_printf(&note, STR_FMT " %s", STR_ARG(lease->identity), what);
    events_add(&c->events, now_ms,
               &(struct event_about){.kind = EVENT_LEADER,
                                     .namespace = lease->namespace,
                                     .name = lease->name,
                                     .scheduler = c->scheduler,
                                     .note = buf_str(&note)});
}

/* Begins with what somebody has come to wait for. */
static void hear_wishes(struct client *c, int64_t now_ms)
{
    bool is_new = false;
    for (uint32_t i = 0; i < WATCHED_COUNT && c->outer.wants; i++) {
        if (c->discover.is_wanted[i] || !c->outer.wants(c->outer.ctx, watched_kinds[i].kind))
            continue;
        discover_want(&c->discover, now_ms, i);
        is_new = true;
    }
    if (is_new)
        learn_served(c, now_ms);
}

void client_tick(struct client *c, int64_t now_ms, struct requests *out)
{
    c->out = out;
    if (c->has_lease)
        lease_tick(&c->lease, now_ms - c->ahead_ms, out);
    if (c->has_lease && !c->has_led && client_is_leading(c, now_ms)) {
        c->has_led = true;
        tell_of_lease(c, now_ms, "became leader");
    }
    hear_wishes(c, now_ms);
    discover_tick(&c->discover, now_ms, out);
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        watch_tick(&c->watches[i], now_ms, out);
    dispatch_tick(&c->dispatch, now_ms, out);
    publish_tick(&c->publish, now_ms, dispatch_binds(&c->dispatch) > 0, out);
    events_tick(&c->events, now_ms, dispatch_binds(&c->dispatch) > 0, out);
}

static int64_t lease_due_ms(const struct client *c)
{
    int64_t due_ms = lease_next_ms(&c->lease);
    return due_ms == INT64_MAX ? due_ms : due_ms + c->ahead_ms;
}

int64_t client_next_ms(const struct client *c, int64_t now_ms)
{
    int64_t next = discover_next_ms(&c->discover);
    if (c->has_lease)
        next = MIN(next, lease_due_ms(c));
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        next = MIN(next, watch_next_ms(&c->watches[i]));
    next = MIN(next, dispatch_next_ms(&c->dispatch));
    next = MIN(next, publish_next_ms(&c->publish, now_ms, dispatch_binds(&c->dispatch) > 0));
    return MIN(next, events_next_ms(&c->events, now_ms, dispatch_binds(&c->dispatch) > 0));
}

bool client_is_filling(const struct client *c)
{
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        if (watch_is_filling(&c->watches[i]))
            return true;
    return false;
}

bool client_is_synced(const struct client *c)
{
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        if (!watched_kinds[i].is_on_demand && !watch_is_synced(&c->watches[i]))
            return false;
    return true;
}

bool client_is_leading(const struct client *c, int64_t now_ms)
{
    return !c->has_lease || lease_is_leading(&c->lease, now_ms - c->ahead_ms);
}

void client_release(struct client *c, int64_t now_ms, struct requests *out)
{
    c->out = out;
    if (c->has_lease && client_is_leading(c, now_ms))
        tell_of_lease(c, now_ms, "stopped leading");
    lease_release(&c->lease, now_ms - c->ahead_ms, out);
}
