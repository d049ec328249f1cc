/* A link goes forward through its states and never back, but for one step: an address that fails
 * gives way to the next. CLOSED is the last; the memory goes with the next turn, so that whoever is
 * still on the stack can look. */

#include "io/net/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "io/net/resolve.h"

enum {
    READ_BYTES = 1 << 14,  /* a TLS record; of small ones, many */
    TURN_BYTES = 16 << 14, /* then others have their turn */
    KEPT_BYTES = 1 << 16,
    PROXY_HEAD_MOST = 8192,
};

enum link_state { RESOLVING, CONNECTING, ASKING_PROXY, SHAKING_HANDS, OPEN, CLOSED };

struct link {
    struct loop *loop;
    struct link_config config;
    struct link_owner owner;
    enum link_state state;

    struct child *resolver;
    struct address_list addresses;
    size_t tried;
    struct loop_timer limit;

    struct loop_fd socket;
    struct tls_stream *tls;
    struct loop_task again; /* what is done next turn: starting, reading what the socket does not
                               announce, going */

    struct buf head; /* of the proxy's answer */
    struct buf out;
    size_t out_done; /* bytes of `out` already written */
    uint64_t written;
    bool is_blocked; /* the socket did not take all */
};

static void close_socket(struct link *k)
{
    tls_stream_free(k->tls);
    k->tls = NULL;
    if (k->socket.fd < 0)
        return;
    loop_fd_set(k->loop, &k->socket, 0);
    shutdown(k->socket.fd, SHUT_RDWR);
    close(k->socket.fd);
    k->socket.fd = -1;
}

static void give_back(void *ctx)
{
    struct link *k = ctx;
    buf_done(&k->head);
    buf_done(&k->out);
    mem_free(k);
}

void link_close(struct link *k)
{
    if (k->state == CLOSED)
        return;
    if (k->resolver)
        child_stop(k->resolver);
    k->resolver = NULL;
    loop_timer_stop(k->loop, &k->limit);
    close_socket(k);
    k->state = CLOSED;
    loop_task_stop(k->loop, &k->again);
    k->again.run = give_back;
    loop_task_put_off(k->loop, &k->again);
}

static void break_link(struct link *k, const char *why)
{
    link_close(k);
    k->owner.broke(k->owner.ctx, why, false);
}

static const char closed[] = "the server closed the connection";

static void end_link(struct link *k)
{
    link_close(k);
    k->owner.broke(k->owner.ctx, closed, true);
}

/* "connect to 10.0.0.1:6443", for an error's beginning. */
static bool wrap_place(const struct link *k, struct error *e)
{
    char text[INET6_ADDRSTRLEN] = "";
    const struct address *a = &k->addresses.at[k->tried - 1];
    const void *bytes = &((const struct sockaddr_in *)&a->room)->sin_addr;
    in_port_t port =
        ((const struct sockaddr_in *)&a->room)->sin_port; /* at the same place in both */
    bool is_v6 = a->any.sa_family == AF_INET6;
    if (is_v6)
        bytes = &((const struct sockaddr_in6 *)&a->room)->sin6_addr;
    inet_ntop(a->any.sa_family, bytes, text, sizeof(text));
    return error_wrap(e, is_v6 ? "connect to [%s]:%u" : "connect to %s:%u", text, ntohs(port));
}

static void connect_next(struct link *k);

/* This address will not do. */
static void fail_address(struct link *k, struct error *e)
{
    if (k->tried < k->addresses.n) {
        connect_next(k);
        return;
    }
    wrap_place(k, e);
    break_link(k, e->text);
}

static void be_open(struct link *k)
{
    k->state = OPEN;
    loop_timer_stop(k->loop, &k->limit);
    loop_fd_set(k->loop, &k->socket, LOOP_READ);
    if (k->tls && tls_has_pending(k->tls)) /* came with the end of the handshake */
        loop_task_put_off(k->loop, &k->again);
    k->owner.opened(k->owner.ctx);
}

static void shake_hands(struct link *k)
{
    struct error e = {0};
    switch (tls_handshake(k->tls, &e)) {
    case IO_DONE:
        be_open(k);
        return;
    case IO_WANTS_READ:
        loop_fd_set(k->loop, &k->socket, LOOP_READ);
        return;
    case IO_WANTS_WRITE:
        loop_fd_set(k->loop, &k->socket, LOOP_WRITE);
        return;
    case IO_CLOSED:
    case IO_CUT:
        error_set(&e, ERROR_BUSY, "the server closed the connection during the handshake");
        break;
    case IO_FAILED:
        break;
    }
    fail_address(k, &e);
}

static void start_tls(struct link *k)
{
    if (!k->config.tls) {
        be_open(k);
        return;
    }
    struct error e = {0};
    struct str name = k->config.server_name.n ? k->config.server_name : k->config.host;
    k->tls = tls_stream_new(k->config.tls, k->socket.fd, name, k->config.protocol, &e);
    if (!k->tls) {
        fail_address(k, &e);
        return;
    }
    k->state = SHAKING_HANDS;
    shake_hands(k);
}

static void fail_proxy(struct link *k, const char *what, struct str text)
{
    struct error e;
    error_set(&e, ERROR_BUSY, "proxy: %s" STR_FMT, what, STR_ARG(str_part(text, 0, 100)));
    fail_address(k, &e);
}

/* Byte by byte, so that none of the server's first words is taken for the proxy's. */
static void read_proxy(struct link *k)
{
    struct str end = STR("\r\n\r\n");
    char c;
    ssize_t got;
    while (!str_ends(buf_str(&k->head), end) && (got = read(k->socket.fd, &c, 1)) != 0) {
        if (got < 0 && errno == EAGAIN)
            return;
        if (got < 0 || k->head.n == PROXY_HEAD_MOST) {
            fail_proxy(k, got < 0 ? strerror(errno) : "its answer is too long", (struct str){0});
            return;
        }
        buf_add_char(&k->head, c);
    }
    struct str head = buf_str(&k->head), line = str_part(head, 0, str_find(head, '\r'));
    if (!str_ends(head, end))
        fail_proxy(k, "closed the connection", (struct str){0});
    else if (!str_starts(line, STR("HTTP/1.")) || !str_starts(str_part(line, 8, 10), STR(" 2")))
        fail_proxy(k, "", line);
    else
        start_tls(k);
}

/* The question is far smaller than a fresh socket's room. */
static void ask_proxy(struct link *k)
{
    struct buf question = {0}, place = {0};
    link_place(&place, k->config.host, k->config.port);
    buf_printf(&question, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", place.p, place.p);
    if (k->config.proxy_authorization.n)
        buf_printf(&question, "Proxy-Authorization: " STR_FMT "\r\n",
                   STR_ARG(k->config.proxy_authorization));
    buf_printf(&question, "\r\n");
    ssize_t done = write(k->socket.fd, question.p, question.n);
    bool is_fine = done == (ssize_t)question.n;
    buf_done(&question);
    buf_done(&place);
    if (!is_fine) {
        fail_proxy(k, done < 0 ? strerror(errno) : "does not listen", (struct str){0});
        return;
    }
    buf_clear(&k->head);
    k->state = ASKING_PROXY;
    loop_fd_set(k->loop, &k->socket, LOOP_READ);
}

static void see_connected(struct link *k)
{
    int failure = 0;
    socklen_t n = sizeof(failure);
    getsockopt(k->socket.fd, SOL_SOCKET, SO_ERROR, &failure, &n);
    if (failure) {
        struct error e;
        error_set(&e, ERROR_BUSY, "%s", strerror(failure));
        fail_address(k, &e);
    } else if (k->config.proxy_host.n) {
        ask_proxy(k);
    } else {
        start_tls(k);
    }
}

static void connect_next(struct link *k)
{
    const struct address *a = &k->addresses.at[k->tried++];
    close_socket(k);
    k->state = CONNECTING;
    loop_timer_set(k->loop, &k->limit, k->config.open_timeout_ms);
    k->socket.fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (k->socket.fd >= 0)
        setsockopt(k->socket.fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (k->socket.fd < 0 || (connect(k->socket.fd, &a->any, a->n) < 0 && errno != EINPROGRESS)) {
        struct error e;
        error_set(&e, ERROR_BUSY, "%s", strerror(errno));
        fail_address(k, &e);
        return;
    }
    loop_fd_set(k->loop, &k->socket, LOOP_WRITE);
}

static void see_resolved(void *ctx, struct str output, const char *error)
{
    struct link *k = ctx;
    struct error e;
    k->resolver = NULL;
    bool is_fine =
        error ? error_set(&e, ERROR_BUSY, "%s", error) : resolve_read(output, &k->addresses, &e);
    if (is_fine) {
        connect_next(k);
        return;
    }
    struct str host = k->config.proxy_host.n ? k->config.proxy_host : k->config.host;
    error_wrap(&e, "resolve " STR_FMT, STR_ARG(host));
    break_link(k, e.text);
}

static void take_too_long(void *ctx)
{
    struct link *k = ctx;
    struct error e;
    error_set(&e, ERROR_BUSY, "no answer within %lld ms", (long long)k->config.open_timeout_ms);
    fail_address(k, &e);
}

static enum io_result read_some(struct link *k, char *room, size_t most, size_t *got,
                                struct error *e)
{
    if (k->tls)
        return tls_read(k->tls, room, most, got, e);
    ssize_t n = read(k->socket.fd, room, most);
    if (n < 0 && errno != EAGAIN)
        return error_set(e, ERROR_BUSY, "%s", strerror(errno)) ? IO_DONE : IO_FAILED;
    *got = n > 0 ? (size_t)n : 0;
    return n > 0 ? IO_DONE : n == 0 ? IO_CLOSED : IO_WANTS_READ;
}

/* Is there more for certain? The loop announces the rest. */
static bool has_more(const struct link *k)
{
    return k->tls && tls_has_pending(k->tls);
}

/* Fills the room with what there is; gives how the last reading went. */
static enum io_result read_room(struct link *k, char *room, size_t *filled, struct error *e)
{
    enum io_result result;
    size_t got;
    *filled = 0;
    do {
        got = 0;
        result = read_some(k, room + *filled, READ_BYTES - *filled, &got, e);
        *filled += got;
    } while (result == IO_DONE && *filled < READ_BYTES && has_more(k));
    return result;
}

static void read_all(struct link *k)
{
    struct error e = {0};
    char room[READ_BYTES];
    size_t filled, all = 0;
    enum io_result result;
    do {
        result = read_room(k, room, &filled, &e);
        if (filled)
            k->owner.received(k->owner.ctx, (struct str){room, filled});
        if (k->state == CLOSED)
            return;
        all += filled;
    } while (result == IO_DONE && all < TURN_BYTES && (has_more(k) || filled == READ_BYTES));
    if (result == IO_CLOSED)
        end_link(k);
    else if (result == IO_CUT)
        break_link(k, closed);
    else if (result == IO_FAILED)
        break_link(k, e.text);
    else if (result == IO_WANTS_WRITE)
        loop_fd_set(k->loop, &k->socket, LOOP_READ | LOOP_WRITE);
    else if (result == IO_DONE && (has_more(k) || all >= TURN_BYTES))
        loop_task_put_off(k->loop, &k->again);
}

static void read_again(void *ctx)
{
    read_all(ctx);
}

/* From a task, so that nobody is called from within link_open(). */
static void start(void *ctx)
{
    struct link *k = ctx;
    bool has_proxy = k->config.proxy_host.n;
    struct str host = has_proxy ? k->config.proxy_host : k->config.host;
    uint16_t port = has_proxy ? k->config.proxy_port : k->config.port;
    struct error e;
    k->again.run = read_again;
    if (address_parse(host, port, &k->addresses.at[0])) {
        k->addresses.n = 1;
        connect_next(k);
        return;
    }
    k->resolver =
        resolve_start(k->loop, host, port, k->config.open_timeout_ms, see_resolved, k, &e);
    if (!k->resolver)
        break_link(k, e.text);
}

static enum io_result write_some(struct link *k, size_t *done, struct error *e)
{
    const char *from = k->out.p + k->out_done;
    size_t n = k->out.n - k->out_done;
    if (k->tls)
        return tls_write(k->tls, from, n, done, e);
    ssize_t rc = send(k->socket.fd, from, n, MSG_NOSIGNAL);
    if (rc < 0 && errno != EAGAIN)
        return error_set(e, ERROR_BUSY, "%s", strerror(errno)) ? IO_DONE : IO_FAILED;
    *done = rc > 0 ? (size_t)rc : 0;
    return rc > 0 ? IO_DONE : IO_WANTS_WRITE;
}

/* A large buffer is not kept for the quiet times. */
static void see_drained(struct link *k)
{
    bool was_blocked = k->is_blocked;
    k->out_done = 0;
    k->is_blocked = false;
    if (k->out.cap > KEPT_BYTES)
        buf_done(&k->out);
    else
        buf_clear(&k->out);
    loop_fd_set(k->loop, &k->socket, LOOP_READ);
    if (was_blocked)
        k->owner.drained(k->owner.ctx);
}

void link_flush(struct link *k)
{
    struct error e = {0};
    enum io_result result = IO_DONE;
    if (k->state != OPEN)
        return;
    while (k->out_done < k->out.n && result == IO_DONE) {
        size_t done = 0;
        result = write_some(k, &done, &e);
        k->out_done += done;
        k->written += done;
    }
    if (result == IO_DONE) {
        see_drained(k);
    } else if (result == IO_FAILED || result == IO_CLOSED || result == IO_CUT) {
        break_link(k, result == IO_FAILED ? e.text : closed);
    } else {
        k->is_blocked = true;
        loop_fd_set(k->loop, &k->socket, LOOP_READ | LOOP_WRITE);
    }
}

static void be_ready(void *ctx, uint32_t events)
{
    struct link *k = ctx;
    switch (k->state) {
    case CONNECTING:
        see_connected(k);
        return;
    case ASKING_PROXY:
        read_proxy(k);
        return;
    case SHAKING_HANDS:
        shake_hands(k);
        return;
    case OPEN:
        read_all(k);
        if (k->state == OPEN && (events & LOOP_WRITE))
            link_flush(k);
        return;
    case RESOLVING:
    case CLOSED:
        return;
    }
}

struct link *link_open(struct loop *l, const struct link_config *config, struct link_owner owner)
{
    struct link *k = mem_alloc(sizeof(*k));
    k->loop = l;
    k->config = *config;
    k->owner = owner;
    k->limit = (struct loop_timer){.fire = take_too_long, .ctx = k};
    k->socket = (struct loop_fd){.ready = be_ready, .ctx = k, .fd = -1};
    k->again = (struct loop_task){.run = start, .ctx = k};
    loop_task_put_off(l, &k->again);
    return k;
}

struct buf *link_out(struct link *k)
{
    return &k->out;
}

uint64_t link_written(const struct link *k)
{
    return k->written;
}

uint64_t link_added(const struct link *k)
{
    return k->written + k->out.n - k->out_done;
}

void link_trim(struct link *k)
{
    buf_done(&k->head);
    if (k->out.n == 0)
        buf_done(&k->out);
    if (k->state == OPEN && k->tls)
        tls_stream_trim(k->tls);
}

void link_place(struct buf *out, struct str host, uint16_t port)
{
    bool is_v6 = memchr(host.p, ':', host.n);
    buf_printf(out, "%s" STR_FMT "%s:%u", is_v6 ? "[" : "", STR_ARG(host), is_v6 ? "]" : "", port);
}
