/* What is written to an API server about whoever comes and goes is forgotten with them: pods that
 * are bound, pods that are refused, again and again, and what events say of them. The server
 * answers at once. */

#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "kube/dispatch.h"
#include "scenes.h"
#include "support/objects.h"
#include "support/test.h"

enum {
    NAMES = 3000,
    AT_A_TIME = 50,
    WAVE_MS = 60000,
    STAYS = 4096 /* bytes */
};

struct world {
    struct engine *engine;
    struct dispatch dispatch;
    struct events events;
    struct effects effects;
    struct requests out;
    struct listener listener;
    int64_t now_ms;
};

static void settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct world *w = ctx;
    engine_settle(w->engine, now_ms, effect, why);
}

static void notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    (void)ctx, (void)now_ms, (void)notice;
}

static void change(void *ctx, int64_t now_ms, const struct change *change)
{
    (void)ctx, (void)now_ms, (void)change;
}

static void apply(struct world *w, enum change_kind kind, const char *fmt, uint32_t number)
{
    struct arena mem = {0};
    char line[200];
    scene_line(line, sizeof(line), fmt, number);
    struct change change = {kind, object_of(&mem, line)};
    engine_apply(w->engine, w->now_ms, &change);
    dispatch_see(&w->dispatch, w->now_ms, &change, &w->out);
    arena_done(&mem);
}

static void answer_all(struct world *w)
{
    struct requests asked = w->out;
    w->out = (struct requests){0};
    vec_each(&asked.list, r) {
        struct reply head = {.id = r->id, .kind = REPLY_HEAD, .status = 201, .retry_after_ms = -1},
                     end = head;
        end.kind = REPLY_END;
        bool is_event = r->lane == LANE_EVENTS;
        for (int i = 0; i < 2; i++) {
            const struct reply *part = i == 0 ? &head : &end;
            if (is_event)
                events_hear(&w->events, w->now_ms, part);
            else
                dispatch_hear(&w->dispatch, w->now_ms, part, &w->out);
        }
    }
    requests_done(&asked);
}

static void run(struct world *w)
{
    for (bool goes_on = true; goes_on || w->out.list.n;) {
        effects_clear(&w->effects);
        goes_on = engine_step(w->engine, w->now_ms, &w->effects);
        dispatch_take(&w->dispatch, w->now_ms, &w->effects, &w->out);
        dispatch_tick(&w->dispatch, w->now_ms, &w->out);
        events_tick(&w->events, w->now_ms, false, &w->out);
        answer_all(w);
    }
}

static const char *const pods[] = {
    "pod runs# cpu=1m namespace=s#",
    "pod waits# cpu=99 namespace=s#",
    "pod others# cpu=1m scheduler=other#",
    "pod twins# cpu=99 scheduler=default-scheduler note:a=#",
};

static void wave(struct world *w, uint32_t first)
{
    for (uint32_t i = first; i < first + AT_A_TIME; i++)
        for (size_t p = 0; p < LEN(pods); p++)
            apply(w, CHANGE_PUT, pods[p], i);
    run(w);
    w->now_ms += WAVE_MS;
    apply(w, CHANGE_PUT, "node more# cpu=#", 1); /* those who wait are refused once more */
    run(w);
    apply(w, CHANGE_REMOVE, "node more#", 1);
    for (uint32_t i = first; i < first + AT_A_TIME; i++)
        for (size_t p = 0; p < LEN(pods); p++)
            apply(w, CHANGE_REMOVE, pods[p], i);
    run(w);
    w->now_ms += WAVE_MS;
    run(w);
}

static void waves(struct world *w, uint32_t first)
{
    for (uint32_t i = 0; i < NAMES; i += AT_A_TIME)
        wave(w, first + i);
    engine_trim(w->engine);
    dispatch_trim(&w->dispatch);
    events_trim(&w->events);
}

static void world_done(struct world *w)
{
    dispatch_done(&w->dispatch);
    events_done(&w->events);
    effects_done(&w->effects);
    requests_done(&w->out);
    engine_free(w->engine);
}

TEST(cost, of_what_was_written_is_over_when_it_is_gone)
{
    struct engine_config config = {.publishes = true};
    AUTO(world) w = {.engine = engine_new(&config), .now_ms = 1700000000000};
    w.listener = (struct listener){.ctx = &w, .settle = settle, .notice = notice, .change = change};
    events_init(&w.events, STR("host"), 1000000000, test_seed(), &w.listener);
    dispatch_init(&w.dispatch, 0, test_seed(), &w.events, &w.listener);
    for (uint32_t i = 0; i < 10; i++)
        apply(&w, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=1000 zone=z#", i);
    waves(&w, 0);
    int64_t half = cost_held;
    waves(&w, NAMES);
    test_case("%lld bytes, and then %lld", (long long)half, (long long)cost_held);
    if (getenv("COST_VERBOSE"))
        printf("# written: %lld, %lld\n", (long long)half, (long long)cost_held);
    EXPECT_INT(w.dispatch.stats.bound, 2 * NAMES);
    EXPECT(w.dispatch.stats.told >= 2 * 2 * NAMES);
    EXPECT(w.events.stats.sent >= 3 * 2 * NAMES);
    EXPECT(cost_held <= half + STAYS);
}
