#include "kube/client.h"

#include <stdio.h>

#include "core/engine/step/step.h"
#include "desk.h"
#include "server.h"
#include "support/test.h"

/* The whole scheduler but its sockets: an engine, a client and a server that fails as the dice say.
 * `told` is what the engine was told last of each thing. */
struct world {
    struct server server;
    struct client client;
    struct engine *engine;
    struct effects effects;
    struct requests out;
    struct rng rng;
    int64_t now_ms;
    struct told {
        bool is_there;
        int64_t uid, node;
    } told[SORT_NODE + 1][SERVER_NAMES];
    uint32_t settled, wrong;
};

static int64_t number_of(struct str name)
{
    int64_t number = -1;
    return name.n && str_int(str_part(name, 1, name.n), &number) ? number : -1;
}

static bool hear_partial_pod(void *ctx, const struct pod *partial)
{
    const struct world *w = ctx;
    return engine_knows(w->engine, partial);
}

static void hear_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct world *w = ctx;
    bool is_pod = change->object.kind == KIND_POD;
    if (!is_pod && change->object.kind != KIND_NODE) {
        engine_apply(w->engine, now_ms, change);
        return;
    }
    int64_t name = number_of(change->object.meta->name);
    assert(name >= 0 && name < SERVER_NAMES);
    struct told *told = &w->told[is_pod ? SORT_POD : SORT_NODE][name];
    *told = (struct told){.is_there = change->kind == CHANGE_PUT, .node = -1};
    if (told->is_there) {
        told->uid = number_of(change->object.meta->uid);
        told->node = is_pod ? number_of(change->object.pod->spec.node_name) : -1;
    }
    engine_apply(w->engine, now_ms, change);
}

static void hear_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct world *w = ctx;
    w->settled++;
    engine_settle(w->engine, now_ms, effect, why);
}

static void hear_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    struct world *w = ctx;
    (void)now_ms;
    w->wrong += notice->kind == NOTICE_INVALID || notice->kind == NOTICE_DENIED;
}

static void world_done(struct world *w)
{
    client_done(&w->client);
    server_done(&w->server);
    engine_free(w->engine);
    effects_done(&w->effects);
    requests_done(&w->out);
}

static void start(struct world *w, uint64_t seed)
{
    struct listener listener = {.ctx = w,
                                .knows = hear_partial_pod,
                                .change = hear_change,
                                .settle = hear_settle,
                                .notice = hear_notice};
    struct client_config config = {.host = STR("host"), .seed = seed};
    w->engine = engine_new(&(struct engine_config){.seed = seed});
    client_init(&w->client, &config, w->now_ms, &listener);
}

static void open(struct world *w, uint64_t seed)
{
    w->rng = rng_seeded(seed);
    w->now_ms = 1700000000000;
    server_init(&w->server, rng_next(&w->rng));
    w->server.can_stream = rng_below(&w->rng, 2);
    start(w, seed);
}

/* The process ends, with all it has under way, and another begins. */
static void kill_and_start(struct world *w)
{
    server_break(&w->server);
    server_forget(&w->server);
    client_done(&w->client);
    engine_free(w->engine);
    effects_clear(&w->effects);
    requests_clear(&w->out);
    memset(w->told, 0, sizeof(w->told));
    start(w, rng_next(&w->rng));
}

static void turn(struct world *w)
{
    server_tick(&w->server, w->now_ms);
    vec_each(&w->server.replies, r)
        client_hear(&w->client, w->now_ms, r, &w->out);
    server_forget(&w->server);
    while (client_is_synced(&w->client) && engine_step(w->engine, w->now_ms, &w->effects)) {
        client_take(&w->client, w->now_ms, &w->effects, &w->out);
        effects_clear(&w->effects);
    }
    client_tick(&w->client, w->now_ms, &w->out);
    server_take(&w->server, w->now_ms, &w->out);
}

static void run(struct world *w, int64_t ms)
{
    for (int64_t end = w->now_ms + ms; w->now_ms < end; w->now_ms += 10)
        turn(w);
}

static uint32_t any(struct world *w, uint32_t n)
{
    return (uint32_t)rng_below(&w->rng, n);
}

static void disturb(struct world *w)
{
    uint32_t dice = any(w, 1000);
    if (dice < 130)
        server_create(&w->server, SORT_POD, any(w, SERVER_NAMES));
    else if (dice < 240)
        server_delete(&w->server, SORT_POD, any(w, SERVER_NAMES));
    else if (dice < 250)
        server_create(&w->server, SORT_NODE, any(w, 6));
    else if (dice < 254)
        server_delete(&w->server, SORT_NODE, any(w, 6));
    else if (dice < 256)
        server_compact(&w->server);
    else if (dice < 258)
        server_break(&w->server);
    else if (dice == 258)
        w->server.is_down = true;
    else if (dice < 270)
        w->server.is_down = false;
    else if (dice == 270)
        w->server.can_stream = !w->server.can_stream;
    else if (dice < 275)
        client_trim(&w->client);
}

/* Everything that the server has was told, and nothing else. */
static void expect_told(struct world *w)
{
    for (uint32_t thing = 0; thing <= SORT_NODE; thing++) {
        for (uint32_t name = 0; name < SERVER_NAMES; name++) {
            const struct entry *e = server_find(&w->server, thing, name);
            const struct told *told = &w->told[thing][name];
            EXPECT_INT(told->is_there, e != NULL);
            if (!e || !told->is_there)
                continue;
            EXPECT_INT(told->uid, e->uid);
            EXPECT_INT(told->node, e->node);
        }
    }
}

TEST(client, brings_pods_to_nodes)
{
    AUTO(world) w = {0};
    open(&w, test_seed());
    for (uint32_t i = 0; i < 3; i++)
        server_create(&w.server, SORT_NODE, i);
    for (uint32_t i = 0; i < 10; i++)
        server_create(&w.server, SORT_POD, i);
    run(&w, 500);
    EXPECT(client_is_synced(&w.client));
    EXPECT_INT(w.server.binds, 10);
    EXPECT_INT(w.settled, 10);
    expect_told(&w);
    run(&w, 1000);
    EXPECT_INT(w.server.events, 10);
    EXPECT_INT(w.server.patches, 0);
    EXPECT_INT(w.wrong, 0);
}

TEST(client, gives_back_what_pods_took_that_are_gone_and_goes_on)
{
    AUTO(world) w = {0};
    open(&w, test_seed());
    for (uint32_t i = 0; i < SERVER_NAMES / SERVER_PODS_A_NODE; i++)
        server_create(&w.server, SORT_NODE, i);
    for (uint32_t wave = 1; wave <= 3; wave++) {
        for (uint32_t i = 0; i < SERVER_NAMES; i++)
            server_create(&w.server, SORT_POD, i);
        run(&w, 3000);
        EXPECT_INT(w.server.binds, wave * SERVER_NAMES);
        client_trim(&w.client);
        engine_trim(w.engine);
        for (uint32_t i = 0; i < SERVER_NAMES; i++)
            server_delete(&w.server, SORT_POD, i);
        run(&w, 3000);
        expect_told(&w);
        client_trim(&w.client);
        engine_trim(w.engine);
        const struct dispatch *d = &w.client.dispatch;
        EXPECT_INT(d->writes.list.cap + d->writes.free.cap + d->writes.bind_of.cap, 0);
        EXPECT_INT(d->by_request.cap + d->pending.rows.cap + d->pending.by_name.cap, 0);
        EXPECT_INT(w.client.events.queue.cap + w.client.events.sent.cap, 0);
        EXPECT_INT(w.client.watches[WATCHED_KIND_POD].known.names.entries.cap, 0);
        EXPECT_INT(w.engine->units.cap + w.engine->unsettled.cap, 0);
    }
    EXPECT_INT(w.server.events, 3 * SERVER_NAMES);
    EXPECT_INT(w.wrong, 0);
}

TEST(client, tells_pods_why_they_wait_and_binds_them_when_a_node_comes)
{
    AUTO(world) w = {0};
    open(&w, test_seed());
    server_create(&w.server, SORT_NODE, 0);
    for (uint32_t i = 0; i < 6; i++)
        server_create(&w.server, SORT_POD, i);
    run(&w, 3000);
    EXPECT_INT(w.server.binds, 4);
    EXPECT_INT(w.server.patches, 2);
    server_create(&w.server, SORT_NODE, 1);
    run(&w, 15000);
    EXPECT_INT(w.server.binds, 6);
    expect_told(&w);
}

/* Faults of all kinds; then none, and all must come right, soon. A node that is given more pods
 * than it can hold would show that somebody gave away the room of a binding in doubt. */
TEST(client, survives_a_server_that_fails_in_every_way)
{
    uint64_t binds = 0, doubted = 0;
    for (uint64_t i = 0; i < 40; i++) {
        AUTO(world) w = {0};
        uint64_t seed = test_seed() * 1000 + i;
        test_case("seed %llu", (unsigned long long)seed);
        open(&w, seed);
        for (uint32_t n = 0; n < 4; n++) /* too few, most of the time */
            server_create(&w.server, SORT_NODE, n);
        w.server.is_faulty = true;
        for (int step = 0; step < 3000; step++) {
            disturb(&w);
            turn(&w);
            w.now_ms += any(&w, 40);
        }
        w.server.is_faulty = w.server.is_down = false;
        for (uint32_t n = 0; n < SERVER_NAMES; n++)
            server_create(&w.server, SORT_NODE, n);
        run(&w, 20000);
        expect_told(&w);
        for (uint32_t n = 0; n < SERVER_NAMES; n++) {
            const struct entry *pod = server_find(&w.server, SORT_POD, n);
            EXPECT(!pod || pod->node >= 0);
        }
        EXPECT_INT(w.server.overfull, 0);
        EXPECT_INT(dispatch_binds(&w.client.dispatch), 0);
        EXPECT_INT(engine_stats(w.engine).active, 0);
        EXPECT_INT(w.wrong, 0);
        binds += w.server.binds;
        doubted += w.client.dispatch.stats.doubted;
    }
    EXPECT(binds > 1000); /* else nothing was tried */
    EXPECT(doubted > 100);
}

static void expect_nothing_left(struct world *w)
{
    const struct engine *k = w->engine;
    EXPECT_INT(k->prebind->all.n, 0);
    EXPECT_INT(w->client.dispatch.writes.free.n, w->client.dispatch.writes.list.n);
    for (int kind = 0; kind < N_THINGS; kind++)
        vec_each(&k->cluster->volumes.of[kind].at, thing)
            EXPECT_INT(thing->assumed, ID_NONE);
}

/* The same with volumes that must be bound first, too few of them, and a scheduler that is killed:
 * no volume is given to two claims, no pod is bound before its claim, nothing stays taken. */
TEST(client, binds_volumes_once_whatever_fails)
{
    uint32_t claimed = 0, killed = 0;
    for (uint64_t i = 0; i < 20; i++) {
        AUTO(world) w = {0};
        uint64_t seed = test_seed() * 1000 + i;
        test_case("seed %llu", (unsigned long long)seed);
        open(&w, seed);
        w.server.has_volumes = true;
        server_create(&w.server, SORT_CLASS, 0);
        for (uint32_t n = 0; n < 4; n++) {
            server_create(&w.server, SORT_NODE, n);
            server_create(&w.server, SORT_VOLUME, n);
        }
        w.server.is_faulty = true;
        for (int step = 0; step < 2000; step++) {
            disturb(&w);
            turn(&w);
            w.now_ms += any(&w, 40);
            if (any(&w, 300) == 0) {
                kill_and_start(&w);
                killed++;
            }
        }
        w.server.is_faulty = w.server.is_down = false;
        for (uint32_t n = 0; n < SERVER_NAMES; n++) {
            server_create(&w.server, SORT_NODE, n);
            server_create(&w.server, SORT_VOLUME, n);
        }
        run(&w, 30000);
        expect_told(&w);
        expect_nothing_left(&w);
        for (uint32_t n = 0; n < SERVER_NAMES; n++) {
            const struct entry *pod = server_find(&w.server, SORT_POD, n);
            EXPECT(!pod || pod->node >= 0);
        }
        EXPECT_INT(w.server.stolen, 0);
        EXPECT_INT(w.server.early, 0);
        EXPECT_INT(w.server.overfull, 0);
        EXPECT_INT(w.wrong, 0);
        claimed += w.server.claimed;
    }
    EXPECT(claimed > 200 && killed > 50); /* else nothing was tried */
}

/* --- several replicas --- */

enum { REPLICAS = 3 };

struct replica {
    struct client client;
    char identity[8];
    int64_t skew_ms; /* its clock is its own */
    bool was_leading, is_asleep;
};

static void nobody_change(void *ctx, int64_t now_ms, const struct change *change)
{
    (void)ctx, (void)now_ms, (void)change;
}

static void nobody_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    (void)ctx, (void)now_ms, (void)notice;
}

static void replica_open(struct replica *r, uint32_t i, int64_t now_ms, uint64_t seed)
{
    struct listener listener = {.change = nobody_change, .notice = nobody_notice};
    snprintf(r->identity, sizeof(r->identity), "r%u", i);
    r->skew_ms = (int64_t)(seed % 1000000);
    struct client_config config = {.host = STR("host"),
                                   .seed = seed,
                                   .has_lease = true,
                                   .lease = {.namespace = STR("kube-system"),
                                             .name = STR("l"),
                                             .identity = str_of(r->identity)}};
    client_init(&r->client, &config, now_ms + r->skew_ms, &listener);
}

static void replica_turn(struct replica *r, struct server *server, int64_t now_ms,
                         struct requests *out)
{
    server_tick(server, now_ms);
    vec_each(&server->replies, reply)
        client_hear(&r->client, now_ms + r->skew_ms, reply, out);
    server_forget(server);
    client_tick(&r->client, now_ms + r->skew_ms, out);
    server_take(server, now_ms, out);
}

TEST(client, that_leads_says_when_it_begins_and_ends_and_keeps_the_lease_by_a_steady_clock)
{
    struct replica r = {0};
    struct server server;
    struct requests out = {0};
    AUTO(buf) said = {0};
    int64_t now_ms = 1700000000000;
    server_init(&server, test_seed());
    replica_open(&r, 1, now_ms, test_seed());
    for (int i = 0; i < 100; i++, now_ms += 20)
        replica_turn(&r, &server, now_ms, &out);
    EXPECT(client_is_leading(&r.client, now_ms + r.skew_ms));
    EXPECT_INT(server.events, 1);
    show_event(&said, buf_str(&server.last_event));
    EXPECT(str_starts(buf_str(&said), STR("kube-system ")) &&
           strstr(said.p, " LeaderElection Normal coordination.k8s.io/v1 Lease ") &&
           str_ends(buf_str(&said), STR(": r1 became leader")));
    client_set_clock(&r.client, 3600000); /* the time of day jumps, and no time has passed */
    r.skew_ms += 3600000;
    replica_turn(&r, &server, now_ms, &out);
    EXPECT(client_is_leading(&r.client, now_ms + r.skew_ms));
    client_release(&r.client, now_ms + r.skew_ms, &out);
    server_take(&server, now_ms, &out);
    for (int i = 0; i < 100; i++, now_ms += 20)
        replica_turn(&r, &server, now_ms, &out);
    EXPECT(!client_is_leading(&r.client, now_ms + r.skew_ms));
    EXPECT_INT(server.events, 2);
    buf_clear(&said);
    show_event(&said, buf_str(&server.last_event));
    EXPECT(str_ends(buf_str(&said), STR(": r1 stopped leading")));
    client_done(&r.client);
    server_done(&server);
    requests_done(&out);
}

/* Each replica has a line of its own to the server; the lease is all they share. */
static void share_lease(struct server *from, struct server *to)
{
    to->lease_version = from->lease_version;
    buf_clear(&to->lease_spec);
    buf_add(&to->lease_spec, buf_str(&from->lease_spec));
}

TEST(client, of_which_there_are_several_never_has_two_that_lead)
{
    uint32_t led = 0;
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t seed = test_seed() * 1000 + i;
        test_case("seed %llu", (unsigned long long)seed);
        struct rng rng = rng_seeded(seed);
        static struct replica replicas[REPLICAS];
        struct server servers[REPLICAS];
        struct requests out = {0};
        int64_t now_ms = 1700000000000;
        uint32_t both = 0;
        for (uint32_t r = 0; r < REPLICAS; r++) {
            replicas[r] = (struct replica){0};
            replica_open(&replicas[r], r, now_ms, rng_next(&rng));
            server_init(&servers[r], rng_next(&rng));
            servers[r].is_faulty = true;
        }
        for (int step = 0; step < 10000; step++, now_ms += 20) {
            uint32_t leaders = 0;
            for (uint32_t r = 0; r < REPLICAS; r++) {
                if (rng_below(&rng, 800) == 0)
                    servers[r].is_down = !servers[r].is_down;
                replica_turn(&replicas[r], &servers[r], now_ms, &out);
                for (uint32_t other = 0; other < REPLICAS; other++)
                    if (other != r)
                        share_lease(&servers[r], &servers[other]);
                leaders += client_is_leading(&replicas[r].client, now_ms + replicas[r].skew_ms);
                if (lease_is_over(&replicas[r].client.lease)) { /* it leaves, and comes again */
                    client_done(&replicas[r].client);
                    server_break(&servers[r]);
                    server_forget(&servers[r]);
                    replica_open(&replicas[r], r + REPLICAS * (uint32_t)(step + 1), now_ms,
                                 rng_next(&rng)); /* under a name that nobody has had */
                }
            }
            led += leaders == 1;
            both += leaders > 1;
        }
        EXPECT_INT(both, 0);
        for (uint32_t r = 0; r < REPLICAS; r++) {
            client_done(&replicas[r].client);
            server_done(&servers[r]);
        }
        requests_done(&out);
    }
    EXPECT(led > 40000); /* of 100,000 */
}
