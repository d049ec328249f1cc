/* Connections have an epoll of their own, of which the loop sees one file descriptor: however many
 * clients want something, the others of the loop are called in every turn.
 *
 * A connection goes
 *
 *     SHAKING → READING → ASKED → WRITING → READING …        or → LINGERING → gone
 *
 * and whatever happens, `advance` does as much as can be done without waiting. While a question is
 * with the owner nothing is read, and the head stays where it is. */

#include "io/net/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/vec.h"
#include "io/net/resolve.h"

enum {
    READY_MOST = 16,
    BACKLOG = 256,
    SLICE_US = 1000,
    REST_MS = 10,
    SWEEP_MS = 500,
    LINGER_MS = 1000,
    LISTENER = 0, /* in the place of a connection's number */
};

const struct server_config server_usual = {
    .address = STR("0.0.0.0"),
    .port = 10259,
    .connections_most = 256,
    .answers_most = 16 << 20,
    .head_wait_ms = 10000,
    .idle_wait_ms = 90000,
    .answer_wait_ms = 30000,
};

enum state { SHAKING, READING, ASKED, WRITING, LINGERING };

struct connection {
    uint64_t number;
    server_id question; /* that waits for its answer */
    int fd;
    struct tls_stream *tls;
    enum state state;
    uint32_t waits_for; /* EPOLL*, as epoll knows it */
    int64_t deadline_ms;
    int64_t since_ms; /* when it last began to keep us waiting */
    uint32_t served;
    struct buf in;
    size_t seen, head; /* bytes of `in` without an end of a head; of the head being answered */
    bool keeps_alive, is_head;
    struct buf out;
    size_t written;
};

struct server {
    struct loop *loop;
    struct server_config config;
    struct server_owner owner;
    struct tls *tls;
    int listener, epoll;
    uint16_t port;
    struct loop_fd ready;
    struct loop_timer rest, sweep;
    VEC(struct connection *) connections;
    uint64_t numbers; /* of connections so far */
    server_id questions;
    size_t waiting_bytes; /* of all `out` */
    struct server_stats stats;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct connection *find(const struct server *s, uint64_t number)
{
    vec_each(&s->connections, c)
        if ((*c)->number == number)
            return *c;
    return NULL;
}

static struct connection *find_asked(const struct server *s, server_id id)
{
    vec_each(&s->connections, c)
        if ((*c)->state == ASKED && (*c)->question == id)
            return *c;
    return NULL;
}

/* --- connections come and go --- */

static void listen_to(struct server *s, int fd, uint64_t number, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.u64 = number};
    int rc = epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
    assert(rc == 0);
}

static void wait_for(struct server *s, struct connection *c, uint32_t events)
{
    if (c->waits_for == events)
        return;
    struct epoll_event e = {.events = events, .data.u64 = c->number};
    int rc = epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &e);
    assert(rc == 0);
    c->waits_for = events;
}

static void drop_out(struct server *s, struct connection *c)
{
    s->waiting_bytes -= c->out.n;
    buf_done(&c->out);
    c->written = 0;
}

static void end(struct server *s, struct connection *c)
{
    uint32_t i = 0;
    while (s->connections.at[i] != c)
        i++;
    s->connections.at[i] = vec_last(&s->connections);
    s->connections.n--;
    tls_stream_free(c->tls);
    close(c->fd); /* leaves epoll with it */
    drop_out(s, c);
    buf_done(&c->in);
    mem_free(c);
}

static void set_state(struct server *s, struct connection *c, enum state state, int64_t wait_ms)
{
    c->state = state;
    c->since_ms = loop_monotonic_ms(s->loop);
    c->deadline_ms = c->since_ms + wait_ms;
}

/* Nothing of ours is under way on it: it may be given up. */
static bool keeps_us_waiting(const struct connection *c)
{
    return c->state == SHAKING || c->state == READING || c->state == LINGERING;
}

/* Those who have never asked a whole question go first, then who has been silent longest. */
static bool goes_before(const struct connection *a, const struct connection *b)
{
    if (!a->served != !b->served)
        return !a->served;
    return a->since_ms != b->since_ms ? a->since_ms < b->since_ms : a->number < b->number;
}

static bool make_room(struct server *s)
{
    struct connection *first = NULL;
    if (s->connections.n < s->config.connections_most)
        return true;
    vec_each(&s->connections, at)
        if (keeps_us_waiting(*at) && (!first || goes_before(*at, first)))
            first = *at;
    s->stats.turned_away++;
    if (first)
        end(s, first);
    return first;
}

static void admit(struct server *s, int fd)
{
    int on = 1;
    if (!s->tls || !make_room(s)) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct connection *c = mem_alloc(sizeof(*c));
    *c = (struct connection){.number = ++s->numbers, .fd = fd, .waits_for = EPOLLIN};
    c->tls = tls_stream_accept(s->tls, fd, STR("http/1.1"));
    set_state(s, c, SHAKING, s->config.head_wait_ms);
    vec_push(&s->connections, c);
    listen_to(s, fd, c->number, EPOLLIN);
    s->stats.accepted++;
    if (!loop_timer_is_set(&s->sweep))
        loop_timer_set(s->loop, &s->sweep, SWEEP_MS);
}

/* False: no more file descriptors, or whatever else will not pass at once. */
static bool accept_some(struct server *s)
{
    for (int i = 0; i < READY_MOST; i++) {
        int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
        admit(s, fd);
    }
    return true;
}

/* --- answers --- */

static void write_answer(struct server *s, struct connection *c, const struct server_answer *a)
{
    buf_printf(&c->out,
               "HTTP/1.1 %d %s\r\nContent-Type: " STR_FMT "\r\nContent-Length: %zu\r\n" STR_FMT
               "%s\r\n",
               a->status, http1_reason(a->status), STR_ARG(a->content_type), a->body.n,
               STR_ARG(a->headers), c->keeps_alive ? "" : "Connection: close\r\n");
    if (!c->is_head)
        buf_add(&c->out, a->body);
    s->waiting_bytes += c->out.n;
    set_state(s, c, WRITING, s->config.answer_wait_ms);
}

/* What is wrong with the request itself is nobody's business but ours; there is no going on behind
 * it. */
static void refuse(struct server *s, struct connection *c, int status)
{
    struct str reason = str_of(http1_reason(status));
    c->keeps_alive = c->is_head = false;
    write_answer(s, c,
                 &(struct server_answer){
                     .status = status, .content_type = STR("text/plain"), .body = reason});
}

static void ask(struct server *s, struct connection *c)
{
    struct http1_request r;
    int status = http1_read(str_part(buf_str(&c->in), 0, c->head), &r);
    if (!status && r.has_body)
        status = 413;
    s->stats.requests++;
    if (status) {
        refuse(s, c, status);
        return;
    }
    c->keeps_alive = r.keeps_alive;
    c->is_head = str_equal(r.method, STR("HEAD"));
    set_state(s, c, ASKED, s->config.answer_wait_ms);
    c->question = ++s->questions;
    s->owner.ask(s->owner.ctx, c->question);
}

static void forget_head(struct connection *c)
{
    memmove(c->in.p, c->in.p + c->head, c->in.n - c->head);
    c->in.n -= c->head;
    c->head = c->seen = 0;
    if (c->in.n == 0)
        buf_done(&c->in);
}

/* --- as far as it goes --- */

/* True: something was done, go on. False: wait, or it is gone. */
static bool go_by(struct server *s, struct connection *c, enum io_result result)
{
    if (result == IO_DONE)
        return true;
    if (result == IO_WANTS_READ)
        wait_for(s, c, EPOLLIN);
    else if (result == IO_WANTS_WRITE)
        wait_for(s, c, EPOLLOUT);
    else
        end(s, c);
    return false;
}

static bool shake(struct server *s, struct connection *c)
{
    struct error e;
    if (!go_by(s, c, tls_handshake(c->tls, &e)))
        return false;
    c->state = READING; /* its time goes on */
    return true;
}

static bool read_some(struct server *s, struct connection *c)
{
    char room[4096];
    size_t got;
    struct error e;
    c->head = http1_head_end(buf_str(&c->in), c->seen);
    c->seen = c->in.n;
    if (c->head) {
        ask(s, c);
        return true;
    }
    if (c->in.n >= HTTP1_HEAD_MOST) {
        refuse(s, c, 431);
        return true;
    }
    size_t most = MIN(sizeof(room), HTTP1_HEAD_MOST - c->in.n);
    if (!go_by(s, c, tls_read(c->tls, room, most, &got, &e)))
        return false;
    if (c->in.n == 0 && c->served)
        set_state(s, c, READING, s->config.head_wait_ms);
    buf_add_bytes(&c->in, room, got);
    return true;
}

static void finish(struct server *s, struct connection *c)
{
    c->served++;
    drop_out(s, c);
    if (c->keeps_alive) {
        forget_head(c);
        set_state(s, c, READING, c->in.n ? s->config.head_wait_ms : s->config.idle_wait_ms);
        return;
    }
    tls_stream_close(c->tls);
    shutdown(c->fd, SHUT_WR);
    set_state(s, c, LINGERING, LINGER_MS);
}

static bool write_some(struct server *s, struct connection *c)
{
    size_t done;
    struct error e;
    if (!go_by(s, c, tls_write(c->tls, c->out.p + c->written, c->out.n - c->written, &done, &e)))
        return false;
    c->written += done;
    if (c->written == c->out.n)
        finish(s, c);
    return true;
}

/* A connection closed while bytes arrive is reset, and the answer may be lost: so they are read. */
static bool linger(struct server *s, struct connection *c)
{
    char room[4096];
    ssize_t n = recv(c->fd, room, sizeof(room), 0);
    if (n > 0)
        return true;
    if (n < 0 && errno == EAGAIN)
        wait_for(s, c, EPOLLIN);
    else
        end(s, c);
    return false;
}

static void advance(struct server *s, struct connection *c)
{
    static bool (*const steps[])(struct server *, struct connection *) = {
        [SHAKING] = shake,
        [READING] = read_some,
        [WRITING] = write_some,
        [LINGERING] = linger,
    };
    int64_t until_us = now_us() + SLICE_US;
    while (c->state != ASKED && now_us() < until_us)
        if (!steps[c->state](s, c)) /* it waits, or is gone */
            return;
    /* Who has more to do comes again after the others: a socket can mostly be written. */
    wait_for(s, c, c->state == ASKED ? 0 : EPOLLIN | EPOLLOUT);
}

/* --- turns --- */

static void serve(struct server *s, const struct epoll_event *e)
{
    struct connection *c = find(s, e->data.u64);
    if (c && c->state == ASKED) /* nothing was waited for: it is broken */
        end(s, c);
    else if (c)
        advance(s, c);
}

static void work(void *ctx, uint32_t events)
{
    struct server *s = ctx;
    struct epoll_event ready[READY_MOST];
    int64_t until_us = now_us() + SLICE_US;
    bool is_tired = false;
    (void)events;
    int n = epoll_wait(s->epoll, ready, READY_MOST, 0);
    for (int i = 0; i < n && !is_tired; i++) {
        if (ready[i].data.u64 == LISTENER)
            is_tired = !accept_some(s);
        else
            serve(s, &ready[i]);
        is_tired = is_tired || now_us() > until_us;
    }
    if (!is_tired)
        return;
    loop_fd_set(s->loop, &s->ready, 0);
    loop_timer_set(s->loop, &s->rest, REST_MS);
}

static void wake_up(void *ctx)
{
    struct server *s = ctx;
    loop_fd_set(s->loop, &s->ready, LOOP_READ);
}

static void sweep(void *ctx)
{
    struct server *s = ctx;
    int64_t now_ms = loop_monotonic_ms(s->loop);
    for (uint32_t i = s->connections.n; i-- > 0;) {
        struct connection *c = s->connections.at[i];
        if (now_ms >= c->deadline_ms) {
            s->stats.turned_away += c->state != LINGERING;
            end(s, c);
        }
    }
    if (s->connections.n)
        loop_timer_set(s->loop, &s->sweep, SWEEP_MS);
}

/* --- the face --- */

static int listen_at(const struct address *a, bool is_any)
{
    int on = 1, off = 0;
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (is_any && a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, &a->any, a->n) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_listener(const struct server_config *config, struct error *e)
{
    struct address address;
    bool is_any =
        str_equal(config->address, STR("0.0.0.0")) || str_equal(config->address, STR("::"));
    int fd = -1;
    if (is_any && address_parse(STR("::"), config->port, &address))
        fd = listen_at(&address, true);
    if (fd < 0 && !address_parse(config->address, config->port, &address)) {
        error_set(e, ERROR_INVALID, "\"" STR_FMT "\" is not an address", STR_ARG(config->address));
        return -1;
    }
    if (fd < 0)
        fd = listen_at(&address, is_any);
    if (fd < 0)
        error_set(e, ERROR_INVALID, "cannot listen on " STR_FMT " port %u: %s",
                  STR_ARG(config->address), config->port, strerror(errno));
    return fd;
}

static uint16_t port_of(int fd)
{
    struct address a = {.n = sizeof(a.room)};
    int rc = getsockname(fd, &a.any, &a.n);
    assert(rc == 0);
    return ntohs(a.any.sa_family == AF_INET6 ? ((struct sockaddr_in6 *)&a.room)->sin6_port
                                             : ((struct sockaddr_in *)&a.room)->sin_port);
}

struct server *server_new(struct loop *l, const struct server_config *config,
                          struct server_owner owner, struct error *e)
{
    int fd = open_listener(config, e);
    if (fd < 0)
        return NULL;
    struct server *s = mem_alloc(sizeof(*s));
    *s = (struct server){.loop = l, .config = *config, .owner = owner, .listener = fd};
    s->port = port_of(fd);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert(s->epoll >= 0);
    s->ready = (struct loop_fd){.ready = work, .ctx = s, .fd = s->epoll};
    s->rest = (struct loop_timer){.fire = wake_up, .ctx = s};
    s->sweep = (struct loop_timer){.fire = sweep, .ctx = s};
    listen_to(s, fd, LISTENER, EPOLLIN);
    loop_fd_set(l, &s->ready, LOOP_READ);
    return s;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    while (s->connections.n)
        end(s, s->connections.at[0]);
    loop_fd_set(s->loop, &s->ready, 0);
    loop_timer_stop(s->loop, &s->rest);
    loop_timer_stop(s->loop, &s->sweep);
    close(s->epoll);
    close(s->listener);
    tls_free(s->tls);
    vec_done(&s->connections);
    mem_free(s);
}

void server_use(struct server *s, struct tls *t)
{
    tls_free(s->tls);
    s->tls = t;
}

uint16_t server_port(const struct server *s)
{
    return s->port;
}

bool server_request(const struct server *s, server_id id, struct http1_request *out)
{
    const struct connection *c = find_asked(s, id);
    return c && http1_read(str_part(buf_str(&c->in), 0, c->head), out) == 0;
}

enum tls_client server_client(const struct server *s, server_id id, struct arena *mem,
                              struct tls_identity *out)
{
    const struct connection *c = find_asked(s, id);
    return c ? tls_stream_client(c->tls, mem, out) : TLS_CLIENT_SILENT;
}

void server_answer(struct server *s, server_id id, const struct server_answer *answer)
{
    struct connection *c = find_asked(s, id);
    if (!c)
        return;
    if (s->waiting_bytes + answer->body.n > s->config.answers_most)
        refuse(s, c, 503);
    else
        write_answer(s, c, answer);
    wait_for(s, c, EPOLLOUT); /* written at the next turn, within its limits */
}

struct server_stats server_stats(const struct server *s)
{
    struct server_stats stats = s->stats;
    stats.connections = s->connections.n;
    return stats;
}
