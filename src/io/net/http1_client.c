/* Between calls: a call is in line, or the one of a connection; a connection that has none is idle,
 * open, and has heard all of its last answer. What is closed goes with the next turn of the loop
 * (the link sees to that), so nothing here is freed under somebody's feet but connections, which
 * are freed last in whatever ends them. */

#include "io/net/http1_client.h"

#include <stdio.h>

#include "core/base/mem.h"
#include "core/base/vec.h"
#include "io/net/http1_reply.h"

struct call {
    uint64_t id;
    struct buf text; /* the whole request */
    int64_t timeout_ms;
    bool may_repeat;
};

struct connection {
    struct http1_client *client;
    struct link *link;
    struct call *call; /* NULL: it is idle */
    struct http1_reply reply;
    struct loop_timer timer; /* of the call, or of idleness */
    uint64_t written;        /* bytes that had left before the call */
    size_t body_bytes;
    bool is_open, is_kept; /* it has served before */
    bool has_told_head;
};

struct http1_client {
    struct loop *loop;
    struct http1_client_config config;
    struct http1_owner owner;
    VEC(struct connection *) connections;
    VEC(struct call *) line;
    struct buf host;
};

static void pump(struct http1_client *h);

static void free_call(struct call *call)
{
    buf_done(&call->text);
    mem_free(call);
}

/* --- the end of a connection --- */

static void free_connection(struct connection *c)
{
    struct http1_client *h = c->client;
    loop_timer_stop(h->loop, &c->timer);
    if (c->link)
        link_close(c->link);
    for (uint32_t i = 0; i < h->connections.n; i++)
        if (h->connections.at[i] == c) {
            vec_remove(&h->connections, i);
            break;
        }
    http1_reply_done(&c->reply);
    mem_free(c);
}

/* Of the link's words those of Go's client. */
static struct str in_go(struct str why, bool has_begun, struct buf *out)
{
    struct str connect = STR("connect to "), resolve = STR("resolve ");
    if (str_starts(why, connect)) {
        size_t at = why.n; /* the last colon that a reason of the system stands behind */
        for (size_t i = connect.n; i + 1 < why.n; i++)
            if (why.p[i] == ':' && why.p[i + 1] == ' ')
                at = MIN(at, i);
        struct str reason = str_part(why, at + 2, why.n);
        bool is_refused = str_equal(reason, STR("Connection refused"));
        buf_printf(out, "dial tcp " STR_FMT ": " STR_FMT, STR_ARG(str_part(why, connect.n, at)),
                   STR_ARG(is_refused ? STR("connect: connection refused") : reason));
    } else if (str_starts(why, resolve)) {
        buf_printf(out, "dial tcp: lookup " STR_FMT, STR_ARG(str_part(why, resolve.n, why.n)));
    } else if (str_equal(why, STR("the server closed the connection"))) {
        buf_add(out, has_begun ? STR("unexpected EOF") : STR("EOF"));
    } else {
        buf_add(out, why);
    }
    return buf_str(out);
}

/* The call of the connection, which ends with it, is lost. */
static void lose(struct connection *c, struct str why)
{
    struct http1_client *h = c->client;
    struct call *call = c->call;
    AUTO(buf) words = {0};
    struct http1_piece piece = {
        .id = call->id,
        .kind = HTTP1_LOST,
        .may_have_arrived = c->is_open && link_written(c->link) > c->written,
        .error = in_go(why, c->has_told_head, &words),
    };
    c->call = NULL;
    free_connection(c);
    free_call(call);
    h->owner.deliver(h->owner.ctx, &piece);
    pump(h);
}

static void take_too_long(void *ctx)
{
    struct connection *c = ctx;
    if (!c->call) {
        free_connection(c);
        return;
    }
    lose(c, c->has_told_head
                ? STR("context deadline exceeded (Client.Timeout or context cancellation while "
                      "reading body)")
                : STR("context deadline exceeded (Client.Timeout exceeded while awaiting "
                      "headers)"));
}

/* --- answers --- */

static void deliver(struct connection *c, enum http1_piece_kind kind, struct str data)
{
    struct http1_piece piece = {
        .id = c->call->id, .kind = kind, .status = c->reply.status, .data = data};
    c->client->owner.deliver(c->client->owner.ctx, &piece);
}

/* The answer is whole; `is_clean`: nothing came behind it. */
static void end(struct connection *c, bool is_clean)
{
    struct http1_client *h = c->client;
    struct call *call = c->call;
    struct http1_piece piece = {.id = call->id, .kind = HTTP1_END, .status = c->reply.status};
    bool stays = is_clean && c->reply.keeps_alive;
    c->call = NULL;
    if (stays) {
        c->is_kept = true;
        http1_reply_clear(&c->reply);
        loop_timer_set(h->loop, &c->timer, h->config.idle_ms);
    } else {
        free_connection(c);
    }
    free_call(call);
    h->owner.deliver(h->owner.ctx, &piece);
    pump(h);
}

static void receive(void *ctx, struct str bytes)
{
    struct connection *c = ctx;
    if (!c->call) { /* nobody asked */
        free_connection(c);
        return;
    }
    while (bytes.n && c->reply.state < HTTP1_WHOLE) {
        struct str data = http1_reply_take(&c->reply, &bytes);
        if (!c->has_told_head && http1_reply_has_head(&c->reply)) {
            c->has_told_head = true;
            deliver(c, HTTP1_STATUS, (struct str){0});
        }
        c->body_bytes += data.n;
        if (c->body_bytes > c->client->config.bytes_most) {
            lose(c, STR("the answer is too long"));
            return;
        }
        if (data.n)
            deliver(c, HTTP1_DATA, data);
    }
    if (c->reply.state == HTTP1_BROKEN)
        lose(c, c->reply.error);
    else if (c->reply.state == HTTP1_WHOLE)
        end(c, bytes.n == 0);
}

static void break_down(void *ctx, const char *why, bool is_over)
{
    struct connection *c = ctx;
    struct http1_client *h = c->client;
    bool is_silent = c->reply.state == HTTP1_HEAD && c->reply.text.n == 0;
    if (!c->call) {
        c->link = NULL;
        free_connection(c);
    } else if (http1_reply_end(&c->reply, is_over)) {
        c->reply.keeps_alive = false;
        end(c, false);
    } else if (c->is_kept && is_silent && c->call->may_repeat) {
        c->call->may_repeat = false;
        vec_insert(&h->line, 0, c->call);
        c->link = NULL;
        free_connection(c);
        pump(h);
    } else {
        lose(c, str_of(why));
    }
}

/* --- calls --- */

static void say(struct connection *c)
{
    c->written = link_written(c->link);
    buf_add(link_out(c->link), buf_str(&c->call->text));
    link_flush(c->link);
}

static void be_open(void *ctx)
{
    struct connection *c = ctx;
    c->is_open = true;
    say(c);
}

static void be_drained(void *ctx)
{
    (void)ctx;
}

static struct connection *find_idle(const struct http1_client *h)
{
    for (uint32_t i = h->connections.n; i-- > 0;)
        if (!h->connections.at[i]->call)
            return h->connections.at[i];
    return NULL;
}

static struct connection *connect(struct http1_client *h)
{
    struct connection *c = mem_alloc(sizeof(*c));
    c->client = h;
    c->timer = (struct loop_timer){.fire = take_too_long, .ctx = c};
    c->link = link_open(h->loop, &h->config.link,
                        (struct link_owner){be_open, receive, be_drained, break_down, c});
    vec_push(&h->connections, c);
    return c;
}

static void pump(struct http1_client *h)
{
    while (h->line.n) {
        struct connection *c = find_idle(h);
        if (!c && h->connections.n == h->config.connections_most)
            return;
        if (!c)
            c = connect(h);
        c->call = h->line.at[0];
        vec_remove(&h->line, 0);
        c->has_told_head = false;
        c->body_bytes = 0;
        loop_timer_set(h->loop, &c->timer, c->call->timeout_ms);
        if (c->is_open)
            say(c);
    }
}

void http1_client_send(struct http1_client *h, const struct http1_call *from)
{
    struct call *call = mem_alloc(sizeof(*call));
    call->id = from->id;
    call->timeout_ms = from->timeout_ms;
    call->may_repeat = from->may_repeat;
    buf_printf(&call->text,
               "POST " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\nUser-Agent: " STR_FMT
               "\r\nContent-Length: %zu\r\nContent-Type: " STR_FMT "\r\n\r\n",
               STR_ARG(from->path), STR_ARG(buf_str(&h->host)), STR_ARG(h->config.user_agent),
               from->body.n, STR_ARG(from->content_type));
    buf_add(&call->text, from->body);
    vec_push(&h->line, call);
    pump(h);
}

struct http1_client *http1_client_new(struct loop *l, const struct http1_client_config *config,
                                      struct http1_owner owner)
{
    struct http1_client *h = mem_alloc(sizeof(*h));
    h->loop = l;
    h->config = *config;
    h->owner = owner;
    link_place(&h->host, config->link.host, config->link.port);
    return h;
}

void http1_client_free(struct http1_client *h)
{
    if (!h)
        return;
    while (h->line.n) {
        struct call *call = vec_pop(&h->line);
        struct http1_piece piece = {
            .id = call->id, .kind = HTTP1_LOST, .error = STR("context canceled")};
        free_call(call);
        h->owner.deliver(h->owner.ctx, &piece);
    }
    while (h->connections.n) {
        struct connection *c = vec_last(&h->connections);
        if (c->call)
            lose(c, STR("context canceled"));
        else
            free_connection(c);
    }
    vec_done(&h->connections);
    vec_done(&h->line);
    buf_done(&h->host);
    mem_free(h);
}
