/* A call is in exactly one list: of those that wait, or of the connection that carries it; it
 * leaves the list before its owner hears of its end. A connection that is cut loses its calls at
 * once but its memory only with the next turn, so that nghttp2, from within which we may be called,
 * finds its way back. */

#include "io/net/http2.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>

#include "core/base/mem.h"
#include "core/base/pool.h"
#include "core/base/rng.h"
#include "core/base/vec.h"

enum {
    STREAM_WINDOW = 4 << 20,
    CONNECTION_WINDOW = 16 << 20,
    OUT_BYTES_MOST = 1 << 18, /* made ready at once */
    REFUSALS_MOST = 3,        /* of one call, then its owner may think about it */
    CONTENT_TYPE_MOST = 128,
};

const struct http2_law http2_usual_law = {
    .retry_first_ms = 50,
    .retry_cap_ms = 1000,
    .retry_quick = 800,
    .ping_after_ms = 30000,
    .ping_wait_ms = 15000,
    .streams_most = 100,
};

struct call {
    struct http2_call is; /* its texts stand behind this struct */
    struct http2 *peer;
    struct connection *on; /* NULL: it waits */
    int32_t stream;
    struct call *next, *before;
    struct loop_timer limit;
    size_t body_done;
    unsigned refusals;
    bool has_begun;    /* its first byte was made ready, */
    uint64_t begun_at; /* after so many others, */
    int64_t begun_ms;  /* then */
    int status;        /* of the answer; 0: none yet */
    bool has_head;
    int64_t retry_after_ms;
    char content_type[CONTENT_TYPE_MOST];
};

struct calls {
    struct call *first, *last;
    uint32_t n;
};

struct connection {
    struct http2 *peer;
    struct link *link;
    nghttp2_session *session;
    struct pool pool; /* of the session: it keeps the headers that came last */
    struct calls calls;
    struct loop_timer silence;
    struct loop_task grave;
    int64_t heard_ms;
    bool is_open, is_asked /* whether it lives */, is_cut;
    bool has_answered; /* at least one call */
};

struct http2 {
    struct loop *loop;
    struct http2_law law;
    struct http2_owner owner;
    struct http2_config config;
    bool is_configured;
    bool is_awaited; /* a connection is wanted, if there is no call yet */
    struct buf authorization, place;
    struct rng rng;
    struct calls waiting;
    VEC(struct connection *) connections;
    struct connection *current; /* new calls go here; one of those above */
    uint32_t failures;
    struct loop_timer retry;
    struct loop_task pump;
};

/* --- calls --- */

static void calls_add(struct calls *list, struct call *c)
{
    c->next = NULL;
    c->before = list->last;
    if (list->last)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
    list->n++;
}

static void calls_remove(struct calls *list, struct call *c)
{
    *(c->before ? &c->before->next : &list->first) = c->next;
    *(c->next ? &c->next->before : &list->last) = c->before;
    list->n--;
}

static struct call *calls_find(const struct calls *list, uint64_t id)
{
    for (struct call *c = list->first; c; c = c->next) {
        if (c->is.id == id)
            return c;
    }
    return NULL;
}

/* Off the wire and out of its list; still to be freed. */
static void detach(struct call *c)
{
    if (!c->on) {
        calls_remove(&c->peer->waiting, c);
        return;
    }
    nghttp2_session_set_stream_user_data(c->on->session, c->stream, NULL);
    calls_remove(&c->on->calls, c);
}

static void call_free(struct call *c)
{
    loop_timer_stop(c->peer->loop, &c->limit);
    mem_free(c);
}

static struct http2_piece piece_of(const struct call *c, enum http2_piece_kind kind)
{
    return (struct http2_piece){
        .id = c->is.id,
        .kind = kind,
        .method = c->is.method,
        .status = c->status,
        .retry_after_ms = c->retry_after_ms,
    };
}

static void deliver(const struct http2 *h, const struct http2_piece *piece)
{
    h->owner.deliver(h->owner.ctx, piece);
}

static bool may_have_arrived(const struct call *c)
{
    return c->on && c->has_begun && link_written(c->on->link) > c->begun_at;
}

static void end_call(struct call *c, enum http2_piece_kind kind, bool has_arrived, const char *why)
{
    struct http2 *h = c->peer;
    struct http2_piece piece = piece_of(c, kind);
    piece.may_have_arrived = has_arrived;
    piece.error = str_of(why);
    detach(c);
    call_free(c);
    loop_task_put_off(h->loop, &h->pump); /* there is room for another */
    deliver(h, &piece);
}

static void lose(struct call *c, const char *why)
{
    end_call(c, HTTP2_LOST, may_have_arrived(c), why);
}

static void reset_stream(struct call *c)
{
    if (c->on)
        nghttp2_submit_rst_stream(c->on->session, NGHTTP2_FLAG_NONE, c->stream, NGHTTP2_CANCEL);
}

static void take_too_long(void *ctx)
{
    struct call *c = ctx;
    char why[64];
    snprintf(why, sizeof(why), "no answer within %lld ms", (long long)c->is.timeout_ms);
    reset_stream(c);
    lose(c, why);
}

/* --- the connection's end --- */

static void bury(void *ctx)
{
    struct connection *n = ctx;
    nghttp2_session_del(n->session);
    pool_done(&n->pool);
    mem_free(n);
}

static void leave(struct connection *n)
{
    if (n->peer->current == n)
        n->peer->current = NULL;
}

static void take_out(struct connection *n)
{
    struct http2 *h = n->peer;
    for (uint32_t i = 0; i < h->connections.n; i++) {
        if (h->connections.at[i] == n) {
            vec_remove(&h->connections, i);
            break;
        }
    }
    leave(n);
    n->is_cut = true;
    loop_timer_stop(h->loop, &n->silence);
    n->grave = (struct loop_task){.run = bury, .ctx = n};
    loop_task_put_off(h->loop, &n->grave);
}

/* The pause is drawn from the upper half, so that many clients do not come at once. */
static void pause_after_failure(struct http2 *h)
{
    int64_t wait_ms = h->law.retry_first_ms;
    for (uint32_t i = h->law.retry_quick; i < h->failures && wait_ms < h->law.retry_cap_ms; i++)
        wait_ms *= 2;
    wait_ms = MIN(wait_ms, h->law.retry_cap_ms);
    h->failures++;
    wait_ms -= (int64_t)rng_below(&h->rng, (uint64_t)wait_ms / 2 + 1);
    loop_timer_set(h->loop, &h->retry, wait_ms);
}

/* The link is closed. Who waits for a connection that cannot be made hears why. */
static void see_broken(struct connection *n, const char *why)
{
    struct http2 *h = n->peer;
    uint32_t waiting = n->is_open ? 0 : h->waiting.n; /* without those that come while we tell */
    take_out(n);
    if (!n->has_answered)
        pause_after_failure(h);
    while (n->calls.first)
        lose(n->calls.first, why);
    for (; waiting > 0 && h->waiting.first; waiting--)
        lose(h->waiting.first, why);
    loop_task_put_off(h->loop, &h->pump);
}

static void cut(struct connection *n, const char *why)
{
    if (n->is_cut)
        return;
    link_close(n->link);
    see_broken(n, why);
}

/* --- what nghttp2 asks and tells --- */

static struct call *call_on(struct connection *n, int32_t stream)
{
    return n->is_cut ? NULL : nghttp2_session_get_stream_user_data(n->session, stream);
}

static int see_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                      size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *ctx)
{
    struct call *c = call_on(ctx, frame->hd.stream_id);
    struct str key = {(const char *)name, name_n}, text = {(const char *)value, value_n};
    int64_t number = 0;
    (void)session, (void)flags;
    if (!c || c->has_head)
        return 0;
    if (str_equal(key, STR(":status")) && str_int(text, &number)) {
        c->status = (int)number;
    } else if (str_equal(key, STR("retry-after")) && str_int(text, &number) && number >= 0) {
        c->retry_after_ms = MIN(number, (int64_t)1000000) * 1000;
    } else if (str_equal(key, STR("content-type")) && text.n < CONTENT_TYPE_MOST) {
        memcpy(c->content_type, text.p, text.n);
        c->content_type[text.n] = 0;
    }
    return 0;
}

static void see_head(struct connection *n, struct call *c)
{
    struct http2_piece piece = piece_of(c, HTTP2_HEAD);
    piece.took_ms = loop_monotonic_ms(n->peer->loop) - c->begun_ms;
    piece.content_type = str_of(c->content_type);
    c->has_head = true;
    n->has_answered = true;
    n->peer->failures = 0;
    if (c->is.is_stream)
        loop_timer_stop(n->peer->loop, &c->limit);
    deliver(n->peer, &piece);
}

static int see_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct connection *n = ctx;
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY && !n->is_cut) {
        if (n->peer->current == n && !n->has_answered) /* or we would knock without end */
            pause_after_failure(n->peer);
        leave(n);
        loop_task_put_off(n->peer->loop, &n->peer->pump);
    }
    if (frame->hd.type == NGHTTP2_HEADERS) {
        struct call *c = call_on(n, frame->hd.stream_id);
        if (c && !c->has_head && c->status >= 200) /* 1xx: the answer is still to come */
            see_head(n, c);
    }
    return n->is_cut ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int see_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                    size_t n, void *ctx)
{
    struct connection *on = ctx;
    struct call *c = call_on(on, stream);
    (void)session, (void)flags;
    if (c) {
        struct http2_piece piece = piece_of(c, HTTP2_DATA);
        piece.data = (struct str){(const char *)data, n};
        deliver(on->peer, &piece);
    }
    return on->is_cut ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* Back in line: the server has not looked at it. */
static void wait_again(struct call *c)
{
    detach(c);
    c->status = 0;
    c->on = NULL;
    c->has_begun = false;
    c->body_done = 0;
    calls_add(&c->peer->waiting, c);
    loop_task_put_off(c->peer->loop, &c->peer->pump);
}

static int see_close(nghttp2_session *session, int32_t stream, uint32_t code, void *ctx)
{
    struct connection *n = ctx;
    struct call *c = call_on(n, stream);
    (void)session;
    if (!c)
        return 0;
    if (code == NGHTTP2_REFUSED_STREAM && ++c->refusals < REFUSALS_MOST)
        wait_again(c);
    else if (code == NGHTTP2_REFUSED_STREAM)
        end_call(c, HTTP2_LOST, false, "the server refuses the stream");
    else if (code == NGHTTP2_NO_ERROR && c->has_head)
        end_call(c, HTTP2_END, false, "");
    else if (code == NGHTTP2_NO_ERROR)
        lose(c, "the server ended the stream without an answer");
    else
        lose(c, nghttp2_http2_strerror(code));
    return n->is_cut ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int see_ready(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct connection *n = ctx;
    struct call *c = frame->hd.type == NGHTTP2_HEADERS ? call_on(n, frame->hd.stream_id) : NULL;
    (void)session;
    if (c) {
        c->has_begun = true;
        c->begun_ms = loop_monotonic_ms(n->peer->loop);
        c->begun_at = link_added(n->link);
    }
    return 0;
}

/* What was not sent yet when the server said goodbye goes to the next connection. */
static int see_unsent(nghttp2_session *session, const nghttp2_frame *frame, int code, void *ctx)
{
    struct connection *n = ctx;
    struct call *c = frame->hd.type == NGHTTP2_HEADERS && !n->is_cut ? n->calls.first : NULL;
    (void)session;
    while (c && c->stream != frame->hd.stream_id)
        c = c->next;
    if (c && code == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED)
        wait_again(c);
    else if (c)
        end_call(c, HTTP2_LOST, false, nghttp2_strerror(code));
    return n->is_cut ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *room, size_t most,
                         uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct call *c = call_on(ctx, stream);
    (void)session, (void)source;
    if (!c)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t n = MIN(most, c->is.body.n - c->body_done);
    memcpy(room, c->is.body.p + c->body_done, n);
    c->body_done += n;
    if (c->body_done == c->is.body.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static void *take_room(size_t bytes, void *ctx)
{
    return pool_alloc(ctx, bytes);
}

static void *take_zeroed(size_t n, size_t bytes, void *ctx)
{
    assert(bytes == 0 || n < SIZE_MAX / 2 / bytes);
    return memset(pool_alloc(ctx, n * bytes), 0, n * bytes);
}

static void *resize_room(void *room, size_t bytes, void *ctx)
{
    return pool_resize(ctx, room, bytes);
}

static void give_room(void *room, void *ctx)
{
    pool_free(ctx, room);
}

static nghttp2_session *session_new(struct connection *n)
{
    nghttp2_mem mem = {&n->pool, take_room, give_room, take_zeroed, resize_room};
    nghttp2_session_callbacks *calls;
    nghttp2_option *option;
    nghttp2_session *session;
    nghttp2_session_callbacks_new(&calls);
    nghttp2_session_callbacks_set_on_header_callback(calls, see_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, see_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, see_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, see_close);
    nghttp2_session_callbacks_set_before_frame_send_callback(calls, see_ready);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(calls, see_unsent);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_no_http_messaging(option, 1); /* we look at three headers, and judge them */
    int rc = nghttp2_session_client_new3(&session, calls, n, option, &mem);
    assert(rc == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(calls);
    return session;
}

/* --- sending --- */

static nghttp2_nv header(const char *name, struct str value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value.p, strlen(name),
                        value.n, NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

static void submit(struct connection *n, struct call *c)
{
    struct http2 *h = n->peer;
    struct buf path = {0};
    nghttp2_nv headers[8];
    size_t count = 0;
    buf_add(&path, h->config.path_prefix);
    buf_add(&path, c->is.path);
    headers[count++] = header(":method", str_of(c->is.method));
    headers[count++] = header(":scheme", h->config.link.tls ? STR("https") : STR("http"));
    headers[count++] = header(":authority", buf_str(&h->place));
    headers[count] = header(":path", buf_str(&path));
    headers[count++].flags |= NGHTTP2_NV_FLAG_NO_INDEX; /* none comes twice */
    headers[count++] = header("user-agent", h->config.user_agent);
    headers[count++] = header("accept", c->is.accept.n ? c->is.accept : STR("application/json"));
    if (c->is.content_type.n)
        headers[count++] = header("content-type", c->is.content_type);
    if (h->authorization.n)
        headers[count++] = header("authorization", buf_str(&h->authorization));
    nghttp2_data_provider body = {.read_callback = read_body};
    calls_remove(&h->waiting, c);
    calls_add(&n->calls, c);
    c->on = n;
    c->stream =
        nghttp2_submit_request(n->session, NULL, headers, count, c->is.body.n ? &body : NULL, c);
    assert(c->stream > 0);
    buf_done(&path);
}

/* All that is ready, in one piece; what is too much for one has its turn next. */
static void flush(struct connection *n)
{
    struct buf *out = link_out(n->link);
    const uint8_t *bytes;
    ssize_t got = 0;
    while (out->n < OUT_BYTES_MOST && (got = nghttp2_session_mem_send(n->session, &bytes)) > 0 &&
           !n->is_cut)
        buf_add_bytes(out, bytes, (size_t)got);
    if (n->is_cut)
        return;
    if (got < 0) {
        cut(n, nghttp2_strerror((int)got));
        return;
    }
    link_flush(n->link);
    if (got > 0 && !n->is_cut && out->n == 0)
        loop_task_put_off(n->peer->loop, &n->peer->pump);
    if (!n->is_cut && !nghttp2_session_want_read(n->session) &&
        !nghttp2_session_want_write(n->session))
        cut(n, "the server broke the protocol");
}

/* Nobody needs it any more. */
static void retire(struct connection *n)
{
    link_close(n->link);
    take_out(n);
}

static bool has_room(const struct connection *n)
{
    uint32_t allowed =
        nghttp2_session_get_remote_settings(n->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return n->calls.n < MIN(allowed, n->peer->law.streams_most);
}

static void see_opened(void *ctx)
{
    struct connection *n = ctx;
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    n->is_open = true;
    n->heard_ms = loop_monotonic_ms(n->peer->loop);
    loop_timer_set(n->peer->loop, &n->silence, n->peer->law.ping_after_ms);
    nghttp2_submit_settings(n->session, NGHTTP2_FLAG_NONE, settings, LEN(settings));
    nghttp2_session_set_local_window_size(n->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
    loop_task_put_off(n->peer->loop, &n->peer->pump);
}

static void see_received(void *ctx, struct str bytes)
{
    struct connection *n = ctx;
    n->heard_ms = loop_monotonic_ms(n->peer->loop);
    n->is_asked = false;
    ssize_t rc = nghttp2_session_mem_recv(n->session, (const uint8_t *)bytes.p, bytes.n);
    if (n->is_cut)
        return;
    loop_task_put_off(n->peer->loop, &n->peer->pump);
    if (rc < 0)
        cut(n, nghttp2_strerror((int)rc));
}

static void see_drained(void *ctx)
{
    struct connection *n = ctx;
    loop_task_put_off(n->peer->loop, &n->peer->pump);
}

/* Frames say where an answer ends; how the connection did does not matter. */
static void see_link_broken(void *ctx, const char *why, bool is_over)
{
    (void)is_over;
    see_broken(ctx, why);
}

static void see_silence(void *ctx)
{
    struct connection *n = ctx;
    struct http2 *h = n->peer;
    int64_t silent_ms = loop_monotonic_ms(h->loop) - n->heard_ms;
    if (n->is_asked) {
        cut(n, "the server is silent: no answer to a ping");
        return;
    }
    if (silent_ms < h->law.ping_after_ms) {
        loop_timer_set(h->loop, &n->silence, h->law.ping_after_ms - silent_ms);
        return;
    }
    n->is_asked = true;
    nghttp2_submit_ping(n->session, NGHTTP2_FLAG_NONE, NULL);
    loop_timer_set(h->loop, &n->silence, h->law.ping_wait_ms);
    loop_task_put_off(h->loop, &h->pump);
}

static void open_connection(struct http2 *h)
{
    struct connection *n = mem_alloc(sizeof(*n));
    n->peer = h;
    n->session = session_new(n);
    n->silence = (struct loop_timer){.fire = see_silence, .ctx = n};
    struct link_owner owner = {see_opened, see_received, see_drained, see_link_broken, n};
    n->link = link_open(h->loop, &h->config.link, owner);
    vec_push(&h->connections, n);
    h->current = n;
}

static void pump(void *ctx)
{
    struct http2 *h = ctx;
    bool is_wanted = h->waiting.first || h->is_awaited;
    if (is_wanted && !h->current && h->is_configured && !loop_timer_is_set(&h->retry)) {
        h->is_awaited = false;
        open_connection(h);
    }
    while (h->waiting.first && h->current && h->current->is_open && has_room(h->current)) {
        if (h->owner.admit && !h->owner.admit(h->owner.ctx))
            break;
        submit(h->current, h->waiting.first);
    }
    for (uint32_t i = h->connections.n; i > 0; i--) {
        struct connection *n = i <= h->connections.n ? h->connections.at[i - 1] : NULL;
        if (n && n->is_open)
            flush(n);
        if (n && !n->is_cut && n != h->current && n->calls.n == 0)
            retire(n);
    }
}

/* --- the face --- */

struct http2 *http2_new(struct loop *l, struct http2_law law, struct http2_owner owner)
{
    struct http2 *h = mem_alloc(sizeof(*h));
    h->loop = l;
    h->law = law;
    h->owner = owner;
    h->rng = rng_seeded(law.seed);
    h->pump = (struct loop_task){.run = pump, .ctx = h};
    h->retry = (struct loop_timer){.fire = pump, .ctx = h};
    return h;
}

void http2_free(struct http2 *h)
{
    if (!h)
        return;
    while (h->waiting.first) {
        struct call *c = h->waiting.first;
        detach(c);
        call_free(c);
    }
    while (h->connections.n) {
        struct connection *n = vec_last(&h->connections);
        link_close(n->link);
        while (n->calls.first) {
            struct call *c = n->calls.first;
            detach(c);
            call_free(c);
        }
        take_out(n);
    }
    loop_timer_stop(h->loop, &h->retry);
    loop_task_stop(h->loop, &h->pump);
    vec_done(&h->connections);
    buf_done(&h->authorization);
    buf_done(&h->place);
    mem_free(h);
}

void http2_configure(struct http2 *h, const struct http2_config *config)
{
    struct connection *n = h->current;
    h->config = *config;
    h->is_configured = true;
    h->failures = 0;
    loop_timer_stop(h->loop, &h->retry);
    buf_clear(&h->place);
    link_place(&h->place, config->link.host, config->link.port);
    if (n)
        leave(n);
    if (n && !n->is_open) /* on its way to the old place */
        retire(n);
    loop_task_put_off(h->loop, &h->pump);
}

void http2_authorize(struct http2 *h, struct str authorization)
{
    buf_clear(&h->authorization);
    buf_add(&h->authorization, authorization);
}

void http2_send(struct http2 *h, const struct http2_call *call)
{
    size_t texts = call->path.n + call->accept.n + call->content_type.n + call->body.n;
    struct call *c = mem_alloc(sizeof(*c) + texts);
    char *room = (char *)(c + 1);
    c->is = *call;
    c->is.path = str_keep(&room, call->path);
    c->is.accept = str_keep(&room, call->accept);
    c->is.content_type = str_keep(&room, call->content_type);
    c->is.body = str_keep(&room, call->body);
    c->peer = h;
    c->retry_after_ms = -1;
    c->limit = (struct loop_timer){.fire = take_too_long, .ctx = c};
    if (call->timeout_ms)
        loop_timer_set(h->loop, &c->limit, call->timeout_ms);
    calls_add(&h->waiting, c);
    loop_task_put_off(h->loop, &h->pump);
}

void http2_connect(struct http2 *h)
{
    h->is_awaited = !h->current;
    loop_task_put_off(h->loop, &h->pump);
}

void http2_cancel(struct http2 *h, uint64_t id)
{
    struct call *c = calls_find(&h->waiting, id);
    for (uint32_t i = 0; i < h->connections.n && !c; i++)
        c = calls_find(&h->connections.at[i]->calls, id);
    if (!c)
        return;
    reset_stream(c);
    detach(c);
    call_free(c);
    loop_task_put_off(h->loop, &h->pump);
}

void http2_resume(struct http2 *h)
{
    loop_task_put_off(h->loop, &h->pump);
}

void http2_trim(struct http2 *h)
{
    vec_each(&h->connections, n)
        link_trim((*n)->link);
}

void http2_cut(struct http2 *h, const char *why)
{
    uint32_t waiting = h->waiting.n;
    while (h->connections.n) {
        struct connection *n = vec_last(&h->connections);
        link_close(n->link);
        take_out(n);
        while (n->calls.first)
            lose(n->calls.first, why);
    }
    for (; waiting > 0 && h->waiting.first; waiting--)
        lose(h->waiting.first, why);
}
