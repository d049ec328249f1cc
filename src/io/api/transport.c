#include "io/api/transport.h"

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/base/vec.h"
#include "io/api/credentials.h"

enum { OPEN_TIMEOUT_MS = 10000 };

struct lane_end {
    struct transport *of;
    enum lane lane;
    struct http2 *http2;
};

struct transport {
    struct loop *loop;
    struct transport_config config;
    struct transport_owner owner;
    struct credentials *credentials;
    bool is_placed;
    struct lane_end lanes[LANE_COUNT];
    double tokens; /* of the bucket, at `filled_ms` */
    int64_t filled_ms;
    struct loop_timer refill;
    VEC(struct transport_count) counts;
    VEC(struct transport_times) times;
    struct buf host;
};

/* --- limits --- */

static void resume(void *ctx)
{
    struct transport *t = ctx;
    for (int i = 0; i < LANE_COUNT; i++)
        http2_resume(t->lanes[i].http2);
}

/* A bucket that holds `burst` and is filled with `qps` a second. */
static bool admit(void *ctx)
{
    const struct lane_end *end = ctx;
    struct transport *t = end->of;
    if (t->config.qps <= 0 || end->lane == LANE_LEASE)
        return true;
    int64_t now_ms = loop_monotonic_ms(t->loop);
    t->tokens += (double)(now_ms - t->filled_ms) * t->config.qps / 1000;
    t->tokens = MIN(t->tokens, (double)MAX(t->config.burst, 1u));
    t->filled_ms = now_ms;
    if (t->tokens >= 1) {
        t->tokens -= 1;
        return true;
    }
    if (!loop_timer_is_set(&t->refill))
        loop_timer_set(t->loop, &t->refill, (int64_t)((1 - t->tokens) * 1000 / t->config.qps) + 1);
    return false;
}

/* --- replies --- */

static const double second_bounds[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
const struct bounds transport_bounds = {.n = LEN(second_bounds), .list = second_bounds};

static void measure(struct transport *t, const struct http2_piece *piece)
{
    uint32_t i = 0;
    while (i < t->times.n && t->times.at[i].method != piece->method)
        i++;
    if (i == t->times.n)
        vec_push(&t->times, (struct transport_times){.method = piece->method});
    histogram_add(&t->times.at[i].times, &transport_bounds, (double)piece->took_ms / 1000);
}

static void count(struct transport *t, const struct http2_piece *piece)
{
    int status = piece->kind == HTTP2_HEAD ? piece->status : 0;
    if (piece->kind != HTTP2_HEAD && (piece->kind != HTTP2_LOST || piece->status))
        return;
    vec_each(&t->counts, c)
        if (c->method == piece->method && c->status == status) {
            c->n++;
            return;
        }
    vec_push(&t->counts, (struct transport_count){piece->method, status, 1});
}

static void deliver(void *ctx, const struct http2_piece *piece)
{
    static const enum reply_kind kinds[] = {
        [HTTP2_HEAD] = REPLY_HEAD,
        [HTTP2_DATA] = REPLY_DATA,
        [HTTP2_END] = REPLY_END,
        [HTTP2_LOST] = REPLY_LOST,
    };
    const struct lane_end *end = ctx;
    struct transport *t = end->of;
    struct reply reply = {
        .id = piece->id,
        .kind = kinds[piece->kind],
        .status = piece->status,
        .content_type = piece->content_type,
        .retry_after_ms = piece->retry_after_ms,
        .data = piece->data,
        .may_have_arrived = piece->may_have_arrived,
        .error = piece->error,
    };
    if (piece->kind == HTTP2_HEAD && piece->status == 401)
        credentials_refuse(t->credentials);
    count(t, piece);
    if (piece->kind == HTTP2_HEAD)
        measure(t, piece);
    t->owner.deliver(t->owner.ctx, &reply);
}

/* --- credentials --- */

static void see_placed(void *ctx, const struct kubeconfig *k, struct tls *tls)
{
    struct transport *t = ctx;
    struct http2_config config = {.path_prefix = k->path_prefix,
                                  .user_agent = t->config.user_agent};
    config.link = (struct link_config){
        .host = k->host,
        .port = k->port,
        .proxy_host = k->proxy_host,
        .proxy_port = k->proxy_port,
        .proxy_authorization = k->proxy_authorization,
        .tls = tls,
        .server_name = k->server_name,
        .protocol = STR("h2"),
        .open_timeout_ms = OPEN_TIMEOUT_MS,
    };
    t->is_placed = true;
    buf_clear(&t->host);
    link_place(&t->host, k->host, k->port);
    for (int i = 0; i < LANE_COUNT; i++)
        http2_configure(t->lanes[i].http2, &config);
}

static void see_authorized(void *ctx, struct str authorization)
{
    struct transport *t = ctx;
    for (int i = 0; i < LANE_COUNT; i++)
        http2_authorize(t->lanes[i].http2, authorization);
}

/* While there are no credentials at all, requests need not wait in vain. */
static void see_failed(void *ctx, const char *why)
{
    struct transport *t = ctx;
    t->owner.complain(t->owner.ctx, why);
    for (int i = 0; i < LANE_COUNT && !t->is_placed; i++)
        http2_cut(t->lanes[i].http2, why);
}

/* --- the face --- */

struct transport *transport_new(struct loop *l, const struct transport_config *config,
                                struct transport_owner owner, struct error *e)
{
    struct transport *t = mem_alloc(sizeof(*t));
    struct credentials_config files = {config->kubeconfig, config->service_account, config->server};
    t->loop = l;
    t->config = *config;
    t->owner = owner;
    t->tokens = MAX(config->burst, 1u);
    t->filled_ms = loop_monotonic_ms(l);
    t->refill = (struct loop_timer){.fire = resume, .ctx = t};
    for (int i = 0; i < LANE_COUNT; i++) {
        struct lane_end *end = &t->lanes[i];
        struct http2_law law = config->law;
        law.seed += (uint64_t)i; /* lanes do not knock in step */
        *end = (struct lane_end){.of = t, .lane = (enum lane)i};
        end->http2 = http2_new(l, law, (struct http2_owner){deliver, admit, end});
    }
    t->credentials = credentials_new(
        l, &files, (struct credentials_owner){see_placed, see_authorized, see_failed, t}, e);
    if (t->credentials)
        return t;
    transport_free(t);
    return NULL;
}

void transport_free(struct transport *t)
{
    if (!t)
        return;
    for (int i = 0; i < LANE_COUNT; i++)
        http2_free(t->lanes[i].http2);
    credentials_free(t->credentials);
    loop_timer_stop(t->loop, &t->refill);
    vec_done(&t->counts);
    vec_done(&t->times);
    buf_done(&t->host);
    mem_free(t);
}

static void send_one(struct transport *t, const struct request *r)
{
    static const char *const methods[] = {
        [VERB_GET] = "GET",     [VERB_POST] = "POST",     [VERB_PUT] = "PUT",
        [VERB_PATCH] = "PATCH", [VERB_DELETE] = "DELETE",
    };
    struct http2_call call = {
        .id = r->id,
        .method = methods[r->verb],
        .path = r->path,
        .accept = r->accept,
        .content_type = r->content_type,
        .body = r->body,
        .is_stream = r->is_stream,
        .timeout_ms = r->timeout_ms,
    };
    http2_send(t->lanes[r->lane].http2, &call);
}

void transport_send(struct transport *t, const struct requests *requests)
{
    vec_each(&requests->list, request)
        if (LIKELY(!request->extender))
            send_one(t, request);
    vec_each(&requests->cancelled, id) {
        for (int i = 0; i < LANE_COUNT; i++)
            http2_cancel(t->lanes[i].http2, *id);
    }
}

const struct transport_count *transport_counts(const struct transport *t, uint32_t *n)
{
    *n = t->counts.n;
    return t->counts.at;
}

const struct transport_times *transport_times(const struct transport *t, uint32_t *n)
{
    *n = t->times.n;
    return t->times.at;
}

struct str transport_host(const struct transport *t)
{
    return buf_str(&t->host);
}

void transport_open_lane(struct transport *t, enum lane lane)
{
    http2_connect(t->lanes[lane].http2);
}

void transport_trim(struct transport *t)
{
    for (int i = 0; i < LANE_COUNT; i++)
        http2_trim(t->lanes[i].http2);
}

void transport_close_lane(struct transport *t, enum lane lane)
{
    http2_cut(t->lanes[lane].http2, "the lane was closed");
}
