#include <stdio.h>

#include "core/engine/engine.h"
#include "desk.h"
#include "kube/dispatch.h"
#include "support/stage.h"
#include "support/test.h"

/* A gang makes room for itself on a server that refuses some evictions for good and fails at others
 * as the dice say: engine and dispatcher together. */

enum { LOWS = 6, HIGHS = 4 };

struct play {
    struct stage stage;
    struct events events;
    struct dispatch dispatch;
    struct listener listener;
    struct requests out, taken;
    struct rng rng;
    bool is_faulty;
    struct {
        bool is_there, is_protected;
        effect_id plan, probed; /* it was said to go for; and the server said that it would, for */
    } low[LOWS];
    char node_of[HIGHS][8]; /* where it is to go */
    bool is_bound[HIGHS];
    uint32_t deleted, refused;
};

static void on_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct play *p = ctx;
    p->refused += why != NULL;
    engine_settle(p->stage.engine, now_ms, effect, why);
}

static void on_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    (void)ctx, (void)now_ms, (void)notice;
}

static void play_done(struct play *p)
{
    dispatch_done(&p->dispatch);
    events_done(&p->events);
    requests_done(&p->out);
    requests_done(&p->taken);
    stage_done(&p->stage);
}

static void open(struct play *p, uint64_t seed)
{
    p->rng = rng_seeded(seed);
    p->is_faulty = true;
    p->stage.now_ms = 1000;
    p->listener = (struct listener){.ctx = p, .settle = on_settle, .notice = on_notice};
    events_init(&p->events, STR("host"), 1000000, seed, &p->listener);
    dispatch_init(&p->dispatch, 100, seed, &p->events, &p->listener);
    for (uint32_t i = 0; i < LOWS; i++) {
        p->low[i].is_there = true;
        p->low[i].is_protected = rng_below(&p->rng, 3) == 0;
        stage_put(&p->stage, "node n%u cpu=4 memory=8Gi", i);
        stage_put(&p->stage, "pod low-%u cpu=4 on=n%u", i, i);
    }
    for (uint32_t i = 0; i < HIGHS; i++)
        stage_put(&p->stage, "pod high-%u gang=high:%d cpu=4 priority=9", i, HIGHS);
}

/* --- the server --- */

static void answer(struct play *p, request_id id, int status)
{
    struct reply parts[] = {reply_head(id, status), reply_data(id, "{\"message\":\"no\"}"),
                            reply_end(id)};
    for (size_t i = 0; i < LEN(parts); i++)
        dispatch_hear(&p->dispatch, p->stage.now_ms, &parts[i], &p->out);
}

/* Nobody goes before the server has said of all whom the plan needs that they would. */
static void expect_probed(const struct play *p, effect_id plan)
{
    for (uint32_t i = 0; plan && i < LOWS; i++)
        EXPECT(p->low[i].plan != plan || p->low[i].probed == plan || !p->low[i].is_there);
}

static int delete_low(struct play *p, uint32_t i, bool is_dry)
{
    if (!p->low[i].is_there)
        return 404;
    if (p->low[i].is_protected)
        return 403;
    if (is_dry) {
        p->low[i].probed = p->low[i].plan;
        return 200;
    }
    expect_probed(p, p->low[i].plan);
    p->low[i].is_there = false;
    p->deleted++;
    stage_remove(&p->stage, "pod low-%u", i);
    return 200;
}

static int bind_high(struct play *p, uint32_t i)
{
    p->is_bound[i] = true;
    stage_put(&p->stage, "pod high-%u gang=high:%d cpu=4 priority=9 on=%s", i, HIGHS,
              p->node_of[i]);
    return 201;
}

static int carry_out(struct play *p, const struct request *r)
{
    struct str rest = str_part(r->path, STR("/api/v1/namespaces/default/pods/").n, r->path.n);
    struct str name = str_take(&rest, '/'), sort = str_take(&name, '-');
    int64_t i;
    bool is_number = str_int(name, &i);
    assert(is_number);
    if (r->verb == VERB_POST)
        return bind_high(p, (uint32_t)i);
    bool is_low = str_equal(sort, STR("low"));
    if (r->verb == VERB_DELETE)
        return delete_low(p, (uint32_t)i, memmem(r->body.p, r->body.n, "dryRun", 6));
    return is_low && !p->low[i].is_there ? 404 : 200;
}

static void serve(struct play *p, const struct request *r)
{
    uint64_t dice = p->is_faulty && r->verb != VERB_POST ? rng_below(&p->rng, 10) : 9;
    if (dice >= 4) {
        answer(p, r->id, carry_out(p, r));
        return;
    }
    if (dice == 1)
        carry_out(p, r);
    struct reply lost = reply_lost(r->id, dice == 1);
    if (dice < 2)
        dispatch_hear(&p->dispatch, p->stage.now_ms, &lost, &p->out);
    else
        answer(p, r->id, dice == 2 ? 503 : 429);
}

/* --- the scheduler --- */

static void note(struct play *p, const struct effect *e)
{
    struct str name = e->pod;
    int64_t i = 0;
    str_take(&name, '-');
    bool is_number = str_int(name, &i);
    assert(is_number);
    if (e->kind == EFFECT_EVICT)
        p->low[i].plan = e->plan;
    if (e->kind == EFFECT_BIND)
        snprintf(p->node_of[i], sizeof(p->node_of[i]), STR_FMT, STR_ARG(e->node));
}

static void turn(struct play *p)
{
    dispatch_tick(&p->dispatch, p->stage.now_ms, &p->out);
    do {
        stage_run(&p->stage);
        vec_each(&p->stage.effects.list, e)
            note(p, e);
        dispatch_take(&p->dispatch, p->stage.now_ms, &p->stage.effects, &p->out);
        struct requests taken = p->out;
        p->out = p->taken;
        p->taken = taken;
        while (p->taken.list.n) {
            uint32_t i = (uint32_t)rng_below(&p->rng, p->taken.list.n);
            struct request r = p->taken.list.at[i];
            vec_remove(&p->taken.list, i);
            serve(p, &r);
        }
        requests_clear(&p->taken);
    } while (p->out.list.n);
}

static void run(struct play *p, int64_t minutes)
{
    for (int64_t end_ms = p->stage.now_ms + minutes * 60000; p->stage.now_ms < end_ms;) {
        turn(p);
        int64_t next_ms =
            MIN(engine_next_ms(p->stage.engine, p->stage.now_ms), dispatch_next_ms(&p->dispatch));
        p->stage.now_ms = MIN(MAX(next_ms, p->stage.now_ms + 1), end_ms);
    }
}

/* No eviction without a bind: whatever fails, those who went made room for the gang; and where too
 * many may not go, nobody does. */
TEST(plans, nobody_is_evicted_unless_all_may_go_whom_the_gang_needs_away)
{
    uint32_t whole = 0, none = 0, refused = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        test_case("seed %llu", (unsigned long long)seed);
        AUTO(play) p = {0};
        open(&p, test_seed() + seed);
        run(&p, 10);
        p.is_faulty = false;
        run(&p, 20);
        uint32_t free = 0, bound = 0;
        for (uint32_t i = 0; i < LOWS; i++)
            free += !p.low[i].is_protected;
        for (uint32_t i = 0; i < HIGHS; i++)
            bound += p.is_bound[i];
        EXPECT_INT(bound, free >= HIGHS ? HIGHS : 0);
        EXPECT_INT(p.deleted, bound);
        whole += bound > 0;
        none += bound == 0;
        refused += p.refused;
    }
    EXPECT(whole > 20 && none > 5 && refused > 50); /* the dice show what they should */
}
