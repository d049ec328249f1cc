#include "cmd/kubenexus/run_serve.h"

#include <time.h>

#include "cmd/kubenexus/configz.h"
#include "cmd/kubenexus/log.h"
#include "core/base/mem.h"
#include "core/engine/gang_stats.h"
#include "core/engine/gpu_stats.h"
#include "core/engine/placement_stats.h"
#include "core/engine/queue_stats.h"
#include "core/engine/stats.h"
#include "core/wire/metric_text.h"
#include "io/serve/process.h"
#include "io/serve/serve.h"
#include "kube/authorities.h"
#include "kube/review.h"

#define PLAIN "text/plain; charset=utf-8"

enum { LOOK_UP_AGAIN_MS = 60000 };

/* No other requests have such ids: kube/client.c counts owners from 1. */
#define AUTHORITIES_ID ((request_id)0xfe << 56)
#define REVIEWS_ID     ((request_id)0xff << 56)

struct run_serve {
    struct run_state state;
    struct serve *serve;
    struct reviews reviews;
    struct authorities authorities; /* of clients' certificates */
    struct loop_timer look_up;
    bool is_trouble_told;
    int64_t started_ms;
};

/* --- health --- */

static bool always(const void *ctx)
{
    (void)ctx;
    return true;
}

static bool is_synced(const void *ctx)
{
    const struct run_serve *s = ctx;
    return client_is_synced(s->state.client);
}

static bool is_staying(const void *ctx)
{
    const struct run_serve *s = ctx;
    return *s->state.stop_ms == 0;
}

/* Who loses the lease leaves: whoever answers has not. */
static const struct health_check healthy[] = {
    {"ping", always, ""},
    {"leaderElection", always, ""},
};
static const struct health_check ready[] = {
    {"leaderElection", always, ""},
    {"shutdown", is_staying, "process is shutting down"},
    {"sched-handler-sync", is_synced, "waiting for handlers to sync"},
};
static const struct health health_with_lease[] = {
    {"healthz", healthy, 2},
    {"livez", healthy, 1},
    {"readyz", ready, 3},
};
static const struct health health_alone[] = {
    {"healthz", healthy, 1},
    {"livez", healthy, 1},
    {"readyz", ready + 1, 2},
};

/* --- metrics of our own --- */

static void read_leader(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    if (s->state.client->has_lease)
        metric_put(out, &s->state.options->lease.name,
                   client_is_leading(s->state.client, loop_now_ms(s->state.loop)));
}

static void read_requests(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    uint32_t n;
    const struct transport_count *counts = transport_counts(s->state.transport, &n);
    for (uint32_t i = 0; i < n; i++) {
        char code[16];
        snprintf(code, sizeof(code), "%d", counts[i].status);
        metric_put(out,
                   (struct str[]){counts[i].status ? str_of(code) : STR("<error>"),
                                  str_of(counts[i].method), transport_host(s->state.transport)},
                   (double)counts[i].n);
    }
}

static void read_times(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    uint32_t n;
    const struct transport_times *times = transport_times(s->state.transport, &n);
    for (uint32_t i = 0; i < n; i++)
        metric_put_histogram(
            out, (struct str[]){str_of(times[i].method), transport_host(s->state.transport)},
            &times[i].times);
}

static void read_build(const void *source, const struct metric_sink *out)
{
    (void)source;
    metric_put(out, (struct str[]){STR(KUBENEXUS_VERSION), STR("1.37")}, 1);
}

static void read_connections(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    metric_put(out, NULL, serve_stats(s->serve).connections);
}

static void read_turned_away(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    metric_put(out, NULL, (double)serve_stats(s->serve).turned_away);
}

static void read_asked(const void *source, const struct metric_sink *out)
{
    const struct run_serve *s = source;
    metric_put(out, NULL, (double)serve_stats(s->serve).requests);
}

static const struct metric own_metrics[] = {
    METRIC("leader_election_master_status", GAUGE, "name", NULL, read_leader,
           "1: we hold the lease of this name, 0: somebody else does, or nobody."),
    METRIC("rest_client_requests_total", COUNTER, "code,method,host", NULL, read_requests,
           "Requests to the API server, by status; <error>: there was no answer."),
    METRIC("rest_client_request_duration_seconds", HISTOGRAM, "verb,host", &transport_bounds,
           read_times, "Time from a request to the head of its answer."),
    METRIC("kubenexus_build_info", GAUGE, "version,kubernetes", NULL, read_build,
           "Always 1; which version runs, and whose kube-scheduler it follows."),
    METRIC("kubenexus_http_connections", GAUGE, NULL, NULL, read_connections,
           "Connections to this server that are open."),
    METRIC("kubenexus_http_requests_total", COUNTER, NULL, NULL, read_asked,
           "Requests that this server has been asked."),
    METRIC("kubenexus_http_turned_away_total", COUNTER, NULL, NULL, read_turned_away,
           "Connections given up because they took too long, or for others."),
};

uint32_t run_metric_tables(struct metric_table *out, uint32_t most)
{
    const struct metric_table tables[] = {
        {engine_metrics, n_engine_metrics}, {gang_metrics, n_gang_metrics},
        {gpu_metrics, n_gpu_metrics},       {placement_metrics, n_placement_metrics},
        {queue_metrics, n_queue_metrics},   {measure_metrics, n_measure_metrics},
        {own_metrics, LEN(own_metrics)},    {process_metrics, n_process_metrics},
    };
    assert(most >= LEN(tables));
    memcpy(out, tables, sizeof(tables));
    return LEN(tables);
}

/* --- pages --- */

static void write_metrics(void *ctx, struct buf *out)
{
    const struct run_serve *s = ctx;
    struct metric_table tables[METRIC_TABLES];
    const struct engine *k = s->state.engine;
    const void *const sources[METRIC_TABLES] = {k, k, k, k, k, s->state.measures, s, NULL};
    uint32_t n = run_metric_tables(tables, LEN(tables));
    for (uint32_t i = 0; i < n; i++)
        metric_text_add(out, tables[i].rows, tables[i].n, sources[i]);
}

static void write_config(void *ctx, struct buf *out)
{
    const struct run_serve *s = ctx;
    configz_write(s->state.options, out);
}

static void write_flags(void *ctx, struct buf *out)
{
    const struct run_serve *s = ctx;
    flagz_write(&s->state.options->flags, out);
}

static void write_status(void *ctx, struct buf *out)
{
    const struct run_serve *s = ctx;
    int64_t now_ms = loop_now_ms(s->state.loop), up_s = (now_ms - s->started_ms) / 1000;
    struct engine_stats e = engine_stats(s->state.engine);
    time_t started = s->started_ms / 1000;
    struct tm utc;
    char text[64];
    gmtime_r(&started, &utc);
    strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &utc);
    buf_printf(out,
               "\nkubenexus statusz\nFor people who look for a fault: the form may change.\n\n");
    buf_printf(out, "Started: %s\nUp: %lld hr %02lld min %02lld sec\n", text,
               (long long)up_s / 3600, (long long)up_s / 60 % 60, (long long)up_s % 60);
    buf_printf(out, "Binary version: %s\nEmulation version: 1.37\n", KUBENEXUS_VERSION);
    buf_printf(out, "Synced: %s\nLeading: %s\n", is_synced(s) ? "yes" : "no",
               client_is_leading(s->state.client, now_ms) ? "yes" : "no");
    buf_printf(out, "Nodes: %u\nPods: %u\n", e.nodes, e.pods);
    buf_printf(out, "Waiting: %u active, %u backing off, %u parked\n", e.active, e.backing_off,
               e.parked);
    buf_printf(out, "Paths: /configz /flagz /healthz /livez /metrics /readyz /statusz\n");
}

static const struct serve_page pages[] = {
    {"/metrics", METRIC_TEXT_TYPE, write_metrics},
    {"/configz", "application/json", write_config},
    {"/flagz", PLAIN, write_flags},
    {"/statusz", PLAIN, write_status},
};

/* --- who may --- */

static void answered(void *ctx, review_ticket ticket, enum review_verdict verdict, struct str user)
{
    static const enum serve_verdict says[] = {
        [REVIEW_ALLOWED] = SERVE_ALLOWED, [REVIEW_STRANGER] = SERVE_STRANGER,
        [REVIEW_DENIED] = SERVE_DENIED,   [REVIEW_BUSY] = SERVE_BUSY,
        [REVIEW_FAILED] = SERVE_FAILED,
    };
    struct run_serve *s = ctx;
    serve_decide(s->serve, ticket, says[verdict], user);
}

static void judge(void *ctx, server_id id, const struct serve_question *q)
{
    struct run_serve *s = ctx;
    AUTO(buf) user = {0};
    struct review_question question = {.verb = q->verb, .path = q->path};
    if (q->is_proven)
        review_user(&user, q->client.name, q->client.groups.at, q->client.groups.n);
    else if (q->token.n)
        question.token = q->token;
    else
        review_user(&user, STR(""), NULL, 0);
    question.user = buf_str(&user);
    reviews_ask(&s->reviews, loop_now_ms(s->state.loop), &question, id, s->state.requests);
}

static void look_up_authorities(void *ctx)
{
    struct run_serve *s = ctx;
    authorities_ask(&s->authorities, s->state.requests);
    loop_timer_set(s->state.loop, &s->look_up, LOOK_UP_AGAIN_MS);
}

/* Without them nobody is known by a certificate; all else works. */
static void hear_authorities(struct run_serve *s, int64_t now_ms, const struct reply *reply)
{
    struct str pem;
    struct trouble t;
    enum authorities_result result = authorities_hear(&s->authorities, reply, &pem, &t);
    if (result == AUTHORITIES_TOLD) {
        s->is_trouble_told = false;
        serve_trust(s->serve, pem);
    } else if (result == AUTHORITIES_FAILED && !s->is_trouble_told) {
        s->is_trouble_told = true;
        s->state.listener->notice(s->state.listener->ctx, now_ms,
                                  &(struct notice){
                                      .kind = t.status == 403 ? NOTICE_DENIED : NOTICE_TROUBLE,
                                      .verb = "get",
                                      .what = STR("configmaps/extension-apiserver-authentication"),
                                      .text = t.message,
                                  });
    }
}

bool run_serve_hear(struct run_serve *s, int64_t now_ms, const struct reply *reply)
{
    if (reply->id < AUTHORITIES_ID)
        return false;
    if (s && reply->id < REVIEWS_ID)
        hear_authorities(s, now_ms, reply);
    else if (s)
        reviews_hear(&s->reviews, now_ms, reply, s->state.requests);
    return true;
}

static void note(void *ctx, bool is_fine, const char *text)
{
    (void)ctx;
    log_line(is_fine ? LOG_INFO : LOG_WARNING, "%s", text);
}

/* --- beginning and end --- */

static const char *file_of(const struct flags *f, enum flag_id id)
{
    struct str name = flag_text(f, id);
    return name.n ? name.p : NULL;
}

static bool configure(const struct run_state *state, struct serve_config *out, struct error *e)
{
    const struct flags *f = &state->options->flags;
    int64_t port = flag_number(f, FLAG_SECURE_PORT);
    bool has_lease = state->options->elects_leader;
    *out = (struct serve_config){
        .server = server_usual,
        .cert_file = file_of(f, FLAG_TLS_CERT_FILE),
        .key_file = file_of(f, FLAG_TLS_PRIVATE_KEY_FILE),
        .client_ca_file = file_of(f, FLAG_CLIENT_CA_FILE),
        .ciphers = flag_text(f, FLAG_TLS_CIPHER_SUITES),
        .host = state->host,
        .always_allowed = flag_text(f, FLAG_AUTHORIZATION_ALWAYS_ALLOW),
        .health = has_lease ? health_with_lease : health_alone,
        .n_health = has_lease ? LEN(health_with_lease) : LEN(health_alone),
        .pages = pages,
        .n_pages = LEN(pages),
    };
    if (port > UINT16_MAX)
        return error_set(e, ERROR_INVALID, "--secure-port: %lld is not a port", (long long)port);
    if (!out->cert_file != !out->key_file)
        return error_set(e, ERROR_INVALID,
                         "--tls-cert-file and --tls-private-key-file belong together");
    struct str least = flag_text(f, FLAG_TLS_MIN_VERSION);
    out->is_tls_1_3_only = str_equal(least, STR("VersionTLS13"));
    if (least.n && !out->is_tls_1_3_only && !str_equal(least, STR("VersionTLS12")) &&
        !str_equal(least, STR("VersionTLS11")) && !str_equal(least, STR("VersionTLS10")))
        return error_set(e, ERROR_INVALID,
                         "--tls-min-version: \"" STR_FMT "\" is not one of VersionTLS10 to 13",
                         STR_ARG(str_part(least, 0, 60)));
    if (!tls_check_ciphers(out->ciphers, e))
        return error_wrap(e, "--tls-cipher-suites");
    out->server.address = flag_text(f, FLAG_BIND_ADDRESS);
    out->server.port = (uint16_t)port;
    return true;
}

struct run_serve *run_serve_new(const struct run_state *state, struct error *e)
{
    struct serve_config config;
    if (!configure(state, &config, e) || config.server.port == 0)
        return NULL;
    struct run_serve *s = mem_alloc(sizeof(*s));
    *s = (struct run_serve){.state = *state, .started_ms = loop_now_ms(state->loop)};
    reviews_init(&s->reviews, s->started_ms, REVIEWS_ID, answered, s, state->listener);
    authorities_init(&s->authorities, AUTHORITIES_ID);
    s->look_up = (struct loop_timer){.fire = look_up_authorities, .ctx = s};
    s->serve = serve_new(state->loop, &config, (struct serve_owner){s, judge, note}, e);
    if (!s->serve) {
        run_serve_free(s);
        return NULL;
    }
    if (!config.client_ca_file &&
        !flag_bool(&state->options->flags, FLAG_AUTHENTICATION_SKIP_LOOKUP))
        loop_timer_set(state->loop, &s->look_up, 0);
    return s;
}

void run_serve_free(struct run_serve *s)
{
    if (!s)
        return;
    loop_timer_stop(s->state.loop, &s->look_up);
    serve_free(s->serve);
    authorities_done(&s->authorities);
    reviews_done(&s->reviews);
    mem_free(s);
}
