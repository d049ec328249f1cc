/* The scheduler on a real API server: one loop that brings replies to the protocol (kube/), changes
 * to the engine, and what the engine wants back to the server. Nothing here decides. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/log.h"
#include "cmd/kubenexus/run_dump.h"
#include "cmd/kubenexus/run_memory.h"
#include "cmd/kubenexus/run_options.h"
#include "cmd/kubenexus/run_reload.h"
#include "cmd/kubenexus/run_serve.h"
#include "core/engine/engine.h"
#include "io/api/extenders.h"
#include "io/api/transport.h"
#include "io/loop/loop.h"
#include "kube/client.h"

enum {
    DRAIN_MS = 5000, /* for bindings that are under way; then the lease is given back */
    TELL_MS = 1000,  /* for events that wait, after that */
    BREATH_MS = 5,   /* of the loop, once synced: docs/design/012-breath.md; */
    CROWD = 16,      /* from so many writes on, who comes has to wait anyway, */
    CROWD_MS = 20,   /* and breaths are deep */
    LIST_MS = 2,     /* while lists pour in, which is before */
};

struct runner {
    struct run_options options;
    struct loop *loop;
    struct transport *transport;
    struct extenders *extenders;
    struct engine *engine;
    struct run_reload *reload;
    struct run_dump *dump;
    struct client client;
    struct run_serve *serve;
    struct measures measures;
    struct listener listener;
    struct effects effects;
    struct requests requests;
    char identity[320];
    bool was_synced, was_leading, may_write;
    struct buf absent;       /* kinds that are not served, as still to be told */
    uint64_t ends_illegible; /* as told of */
    struct run_quiet quiet;
    int64_t stop_ms; /* when draining ends; 0: we are not stopping */
    int64_t told_ms; /* when telling ends; 0: it has not begun */
};

/* --- what the protocol tells --- */

static bool on_partial_pod(void *ctx, const struct pod *partial)
{
    const struct runner *r = ctx;
    return engine_knows(r->engine, partial);
}

static void on_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct runner *r = ctx;
    engine_apply(r->engine, now_ms, change);
}

static bool on_wish(void *ctx, enum kind kind)
{
    const struct runner *r = ctx;
    return engine_wants(r->engine, kind);
}

static void on_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct runner *r = ctx;
    if (why)
        log_record(LOG_WARNING, "not carried out", log_text("why", why->text));
    engine_settle(r->engine, now_ms, effect, why);
    measure_settled(&r->measures, effect, !why);
}

static void on_answer(void *ctx, int64_t now_ms, effect_id effect,
                      const struct extender_answer *answer)
{
    struct runner *r = ctx;
    if (answer->error.n)
        log_record(LOG_WARNING, "an extender failed", log_str("why", answer->error));
    engine_answer(r->engine, now_ms, effect, answer);
}

/* Most clusters lack some of the kinds that we read: what is not there at the start is one line,
 * behind all others. */
static void say_absent(struct runner *r)
{
    if (r->absent.n)
        log_record(LOG_INFO, "not served, will be asked for again",
                   log_str("resources", buf_str(&r->absent)));
    buf_clear(&r->absent);
}

/* A kind of several versions is told of once. */
static void add_absent(struct runner *r, struct str what)
{
    struct str rest = buf_str(&r->absent);
    while (rest.n) {
        size_t comma = str_find(rest, ',');
        if (str_equal(str_part(rest, 0, comma), what))
            return;
        rest = str_part(rest, MIN(comma + 2, rest.n), rest.n); /* ", " */
    }
    buf_printf(&r->absent, "%s" STR_FMT, r->absent.n ? ", " : "", STR_ARG(what));
}

static void on_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    struct runner *r = ctx;
    (void)now_ms;
    static const char *const says[] = {
        [NOTICE_DENIED] = "not allowed",
        [NOTICE_TROUBLE] = "fails, will be tried again",
        [NOTICE_REFUSED] = "refused by the server",
        [NOTICE_INVALID] = "left out, cannot be read",
        [NOTICE_PARTLY] = "cannot be read in full, what can be read counts",
    };
    if (notice->kind == NOTICE_ABSENT) {
        add_absent(r, notice->what);
        return;
    }
    if (notice->without)
        log_record(LOG_WARNING, "not allowed, goes on without", log_text("what", notice->without),
                   log_text("verb", notice->verb), log_str("resource", notice->what),
                   log_str("why", notice->text));
    else
        log_record(LOG_WARNING, says[notice->kind], log_text("verb", notice->verb),
                   log_str("resource", notice->what), log_str("why", notice->text));
}

static void on_reply(void *ctx, const struct reply *reply)
{
    struct runner *r = ctx;
    int64_t now_ms = loop_now_ms(r->loop);
    if (!run_serve_hear(r->serve, now_ms, reply))
        client_hear(&r->client, now_ms, reply, &r->requests);
}

static void on_complaint(void *ctx, const char *text)
{
    (void)ctx;
    log_line(LOG_WARNING, "%s", text);
}

static void on_signal(void *ctx, int signal)
{
    struct runner *r = ctx;
    if (r->stop_ms) /* asked twice: at once */
        _exit(1);
    log_record(LOG_INFO, "stopping", log_text("signal", strsignal(signal)),
               log_int("bindings", dispatch_binds(&r->client.dispatch)));
    r->stop_ms = loop_now_ms(r->loop) + DRAIN_MS;
}

/* --- turns --- */

static int64_t breath_ms(const struct client *c)
{
    uint32_t writes = dispatch_binds(&c->dispatch) + events_waiting(&c->events);
    if (!client_is_synced(c))
        return client_is_filling(c) ? LIST_MS : 0;
    return writes < CROWD ? BREATH_MS : CROWD_MS;
}

static void say_what_changed(struct runner *r, bool is_synced, bool is_leading)
{
    struct engine_stats s = engine_stats(r->engine);
    loop_breathe(r->loop, breath_ms(&r->client));
    if (is_synced && !r->was_synced)
        log_record(LOG_INFO, "synced", log_int("nodes", s.nodes), log_int("pods", s.pods));
    if (s.ends_illegible > r->ends_illegible)
        log_line(LOG_WARNING, "run times that were learned earlier cannot be read: learning anew");
    r->ends_illegible = s.ends_illegible;
    if (is_leading && !r->was_leading)
        log_line(LOG_INFO, "%s", r->client.has_lease ? "became leader" : "scheduling");
    r->was_leading |= is_leading;
    if (is_synced)
        say_absent(r);
}

static uint64_t work_done(const struct runner *r)
{
    struct engine_stats s = engine_stats(r->engine);
    return s.decisions + s.rows_logged;
}

/* Gives back what many pods took that are bound now, or gone. At the end of a turn. */
static void settle(struct runner *r, int64_t now_ms)
{
    effects_done(&r->effects);
    requests_done(&r->requests);
    measures_trim(&r->measures);
    engine_trim(r->engine);
    client_trim(&r->client);
    transport_trim(r->transport);
    loop_trim(r->loop);
    run_memory_settle();
    run_quiet_settle(&r->quiet, now_ms, work_done(r));
}

/* The first binding need not wait for a handshake. */
static void prepare_to_write(struct runner *r)
{
    r->may_write = true;
    transport_open_lane(r->transport, LANE_WRITE);
    if (!r->client.events.is_silent)
        transport_open_lane(r->transport, LANE_EVENTS);
    r->quiet.is_wanted = true; /* handshakes take much that nothing else does */
}

static void end_turn(struct runner *r, int64_t now_ms, bool is_synced, bool is_leading)
{
    requests_clear(&r->requests);
    if (is_synced && (!r->was_synced || run_quiet_has_come(&r->quiet, now_ms, work_done(r))))
        settle(r, now_ms);
    if (is_synced && is_leading && !r->may_write)
        prepare_to_write(r);
    r->was_synced = is_synced;
}

static void log_effect(const struct effect *e)
{
    static const char *const says[] = {
        [EFFECT_BIND] = "bind",           [EFFECT_REFUSE] = "refuse",
        [EFFECT_FAIL] = "refuse",         [EFFECT_NOMINATE] = "nominate",
        [EFFECT_EVICT] = "evict",         [EFFECT_WRITE] = "write",
        [EFFECT_WARN] = "warn",           [EFFECT_PUBLISH] = "publish",
        [EFFECT_ASK] = "ask an extender",
    };
    if (e->kind == EFFECT_PUBLISH) {
        log_record(LOG_DETAIL, says[e->kind], log_text("kind", kind_info_get(e->write.kind)->name),
                   log_str("object", e->write.name));
        return;
    }
    char pod[600];
    snprintf(pod, sizeof(pod), STR_FMT "/" STR_FMT, STR_ARG(e->namespace), STR_ARG(e->pod));
    log_record(LOG_DETAIL, says[e->kind], log_text("pod", pod),
               e->message.n              ? log_str("why", e->message)
               : e->kind == EFFECT_WRITE ? log_str("object", e->write.name)
                                         : log_str("node", e->node),
               log_int("attempt", e->attempt));
}

static void decide(struct runner *r, int64_t now_ms)
{
    measure_begin(&r->measures);
    while (loop_has_slice(r->loop) && engine_step(r->engine, now_ms, &r->effects))
        measure_step(&r->measures, &r->effects);
    for (uint32_t i = 0; log_is_detailed() && i < r->effects.list.n; i++)
        log_effect(&r->effects.list.at[i]);
    client_take(&r->client, now_ms, &r->effects, &r->requests);
    effects_clear(&r->effects);
}

/* True while there is more to do before we may leave. */
static bool drains(struct runner *r, int64_t now_ms)
{
    if (dispatch_binds(&r->client.dispatch) && now_ms < r->stop_ms)
        return true;
    r->told_ms = r->told_ms ? r->told_ms : now_ms + TELL_MS;
    if (r->client.has_lease)
        client_release(&r->client, now_ms, &r->requests);
    bool is_held = r->client.has_lease && !lease_is_over(&r->client.lease);
    return (is_held && now_ms < r->stop_ms + DRAIN_MS) ||
           (events_waiting(&r->client.events) && now_ms < r->told_ms);
}

static int64_t next_ms(struct runner *r, int64_t now_ms)
{
    int64_t next = client_next_ms(&r->client, now_ms);
    if (r->was_synced)
        next = MIN(next, run_quiet_next_ms(&r->quiet, work_done(r)));
    if (r->stop_ms)
        return MIN(next, now_ms + 50);
    if (client_is_synced(&r->client) && client_is_leading(&r->client, now_ms))
        next = MIN(next, engine_next_ms(r->engine, now_ms));
    return next;
}

/* Returns the exit code once it is time to leave; -1: go on. */
static int turn(struct runner *r)
{
    int64_t now_ms = loop_wait(r->loop, next_ms(r, loop_now_ms(r->loop)));
    client_set_clock(&r->client, now_ms - loop_monotonic_ms(r->loop));
    client_tick(&r->client, now_ms, &r->requests);
    bool is_synced = client_is_synced(&r->client),
         is_leading = client_is_leading(&r->client, now_ms);
    say_what_changed(r, is_synced, is_leading);
    bool is_lost = r->was_leading && !is_leading && !r->stop_ms;
    if (is_synced && is_leading && !r->stop_ms)
        decide(r, now_ms);
    int code = is_lost ? 1 : r->stop_ms && !drains(r, now_ms) ? 0 : -1;
    if (is_lost) {
        transport_close_lane(r->transport, LANE_WRITE);
        log_line(LOG_WARNING, "lost the lease: leaving");
    } else {
        transport_send(r->transport, &r->requests);
        extenders_send(r->extenders, &r->requests);
    }
    end_turn(r, now_ms, is_synced, is_leading);
    return code;
}

/* --- beginning and end --- */

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)getpid();
    return seed;
}

static void name_ourselves(struct runner *r, char *host, size_t n)
{
    if (gethostname(host, n) != 0)
        snprintf(host, n, "unknown");
    host[n - 1] = '\0';
    snprintf(r->identity, sizeof(r->identity), "%s_%016lx%016lx", host, random_seed(),
             random_seed());
}

static struct engine_rules engine_rules_of(const struct run_options *o)
{
    struct engine_rules rules = {
        .extenders = o->config.extenders,
        .n_extenders = o->config.n_extenders,
        .park_ms = MAX(flag_span_ms(&o->flags, FLAG_POD_MAX_UNSCHEDULABLE), (int64_t)1),
    };
    rules.profiles = run_options_profiles(o, &rules.n_profiles);
    if (o->config_file) {
        rules.first_backoff_ms = o->config.first_backoff_ms;
        rules.most_backoff_ms = o->config.most_backoff_ms;
    }
    return rules;
}

static struct engine_config engine_config_of(const struct run_options *o)
{
    return (struct engine_config){
        .rules = engine_rules_of(o),
        .seed = (uint64_t)flag_number(&o->flags, FLAG_SEED),
        .compares_tolerations =
            feature_gate_is_on(&o->gates, STR("TaintTolerationComparisonOperators")),
        .overlooks_capacity = !feature_gate_is_on(&o->gates, STR("StorageCapacityScoring")),
        .overlooks_drivers = !feature_gate_is_on(&o->gates, STR("VolumeLimitScaling")),
        .waits_out_backoff = !feature_gate_is_on(&o->gates, STR("SchedulerPopFromBackoffQ")),
        .publishes = true,
        .home_namespace = o->lease.namespace,
        .home_name = o->lease.name,
    };
}

static void on_extender_reply(void *ctx, const struct reply *reply)
{
    struct runner *r = ctx;
    client_hear(&r->client, loop_now_ms(r->loop), reply, &r->requests);
}

static struct extenders *make_extenders(struct runner *r, const struct scheduler_config *config,
                                        struct error *e)
{
    return extenders_new(r->loop, config->extenders, config->n_extenders,
                         (struct extenders_owner){on_extender_reply, r}, e);
}

static void on_new_config(void *ctx, struct scheduler_config *next)
{
    struct runner *r = ctx;
    struct error e = {0};
    struct extenders *extenders = make_extenders(r, next, &e);
    if (!extenders) {
        log_record(LOG_WARNING, "the configuration stays as it was", log_text("why", e.text));
        scheduler_config_done(next);
        return;
    }
    struct scheduler_config old = r->options.config;
    extenders_free(r->extenders); /* who hears of what is lost knows the old ones */
    r->extenders = extenders;
    r->options.config = *next;
    client_set_extenders(&r->client, next->extenders, next->n_extenders);
    struct engine_rules rules = engine_rules_of(&r->options);
    engine_configure(r->engine, loop_now_ms(r->loop), &rules);
    run_options_say_profiles(&r->options);
    scheduler_config_done(&old);
}

static bool begin_serving(struct runner *r, const char *host, struct error *e)
{
    struct run_state state = {
        .options = &r->options,
        .loop = r->loop,
        .transport = r->transport,
        .engine = r->engine,
        .client = &r->client,
        .measures = &r->measures,
        .stop_ms = &r->stop_ms,
        .requests = &r->requests,
        .listener = &r->listener,
        .host = str_of(host),
    };
    r->serve = run_serve_new(&state, e);
    return r->serve || e->kind == ERROR_NONE;
}

static bool begin(struct runner *r, const char *host, struct error *e)
{
    const struct run_options *o = &r->options;
    struct transport_config transport = {
        .kubeconfig = o->kubeconfig,
        .server = o->master,
        .user_agent = STR("kubenexus"),
        .qps = o->qps,
        .burst = o->burst,
        .law = http2_usual_law,
    };
    transport.law.seed = random_seed();
    struct transport_owner owner = {on_reply, on_complaint, r};
    r->loop = loop_new();
    r->transport = transport_new(r->loop, &transport, owner, e);
    r->extenders = r->transport ? make_extenders(r, &o->config, e) : NULL;
    if (!r->extenders)
        return false;
    struct engine_config engine = engine_config_of(o);
    r->engine = engine_new(&engine);
    struct client_config client = {
        .host = str_of(host),
        .scheduler = engine.rules.profiles[0].name,
        .seed = random_seed(),
        .is_silent = !flag_bool(&o->flags, FLAG_EVENTS),
        .has_lease = o->elects_leader,
        .lease = o->lease,
        .ahead_ms = loop_now_ms(r->loop) - loop_monotonic_ms(r->loop),
        .extenders = o->config.extenders,
        .n_extenders = o->config.n_extenders,
    };
    client.lease.identity = str_of(r->identity);
    r->listener =
        (struct listener){r, on_partial_pod, on_change, on_settle, on_answer, on_notice, on_wish};
    client_init(&r->client, &client, loop_now_ms(r->loop), &r->listener);
    if (!begin_serving(r, host, e))
        return false;
    loop_on_signal(r->loop, SIGTERM, on_signal, r);
    loop_on_signal(r->loop, SIGINT, on_signal, r);
    r->reload = run_reload_new(r->loop, o->config_file, &o->config,
                               (struct run_reload_owner){on_new_config, r});
    r->dump = run_dump_new(r->loop, r->engine);
    return true;
}

/* What the run was like, for who measures. */
static void say_stopped(const struct runner *r)
{
    struct engine_stats s = engine_stats(r->engine);
    log_record(LOG_INFO, "stopped", log_int("bound", (int64_t)s.bound),
               log_int("rowsLogged", (int64_t)s.rows_logged),
               log_int("longestTurnMicroseconds", loop_longest_us(r->loop)));
}

static void end(struct runner *r)
{
    run_reload_free(r->reload);
    run_dump_free(r->dump);
    extenders_free(r->extenders);
    transport_free(r->transport);
    client_done(&r->client);
    engine_free(r->engine);
    effects_done(&r->effects);
    requests_done(&r->requests);
    run_serve_free(r->serve);
    measures_done(&r->measures);
    buf_done(&r->absent);
    loop_free(r->loop);
}

int cmd_run(int argc, char **argv)
{
    static struct runner r; /* it must not move, and there is one */
    char host[256];
    int code = run_options_read(&r.options, argc, argv);
    if (code >= 0)
        return code;
    struct error e = {0};
    name_ourselves(&r, host, sizeof(host));
    if (!begin(&r, host, &e)) {
        run_options_done(&r.options);
        return complain("run", &e);
    }
    do
        code = turn(&r);
    while (code < 0);
    say_stopped(&r);
    end(&r);
    run_options_done(&r.options);
    return code;
}
