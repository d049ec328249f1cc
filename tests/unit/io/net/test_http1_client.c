#include "io/net/http1_client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/vec.h"
#include "support/test.h"

/* A server in the same loop that answers each request with the next of these texts; "" hangs up
 * instead, "-" says nothing. */
struct script {
    struct loop *loop;
    struct loop_fd listener;
    uint16_t port;
    const char *const *answers;
    uint32_t n, next;
    uint32_t accepted, most, now;
    struct buf heard;
    VEC(struct visitor *) visitors;
};

struct visitor {
    struct script *script;
    struct loop_fd socket;
    struct buf in;
};

static void leave(struct visitor *v)
{
    if (v->socket.fd < 0)
        return;
    loop_fd_set(v->script->loop, &v->socket, 0);
    close(v->socket.fd);
    v->socket.fd = -1;
    v->script->now--;
}

/* Requests here have bodies of one byte. */
static void answer(struct visitor *v)
{
    struct script *s = v->script;
    const char *text = s->next < s->n ? s->answers[s->next++] : "-";
    buf_printf(&s->heard, STR_FMT "|", STR_ARG(str_part(buf_str(&v->in), 0, v->in.n)));
    buf_clear(&v->in);
    if (text[0] == '\0')
        leave(v);
    else if (strcmp(text, "-") != 0)
        EXPECT(send(v->socket.fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static void on_bytes(void *ctx, uint32_t events)
{
    struct visitor *v = ctx;
    char room[4096];
    (void)events;
    ssize_t n = read(v->socket.fd, room, sizeof(room));
    if (n <= 0) {
        leave(v);
        return;
    }
    buf_add_bytes(&v->in, room, (size_t)n);
    const char *end = memmem(v->in.p, v->in.n, "\r\n\r\n", 4);
    if (end && (size_t)(end - v->in.p) + 5 == v->in.n)
        answer(v);
}

static void on_visit(void *ctx, uint32_t events)
{
    struct script *s = ctx;
    struct visitor *v = mem_alloc(sizeof(*v));
    (void)events;
    v->script = s;
    v->socket =
        (struct loop_fd){on_bytes, v, accept4(s->listener.fd, NULL, NULL, SOCK_NONBLOCK), 0};
    loop_fd_set(s->loop, &v->socket, LOOP_READ);
    vec_push(&s->visitors, v);
    s->accepted++;
    s->most = MAX(s->most, ++s->now);
}

static void script_start(struct script *s, struct loop *l, const char *const *answers, uint32_t n)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    *s = (struct script){.loop = l, .answers = answers, .n = n};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    REQUIRE(bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 16) == 0);
    REQUIRE(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    s->port = ntohs(at.sin_port);
    s->listener = (struct loop_fd){on_visit, s, fd, 0};
    loop_fd_set(l, &s->listener, LOOP_READ);
}

static void script_end(struct script *s)
{
    loop_fd_set(s->loop, &s->listener, 0);
    close(s->listener.fd);
    vec_each(&s->visitors, v) {
        leave(*v);
        buf_done(&(*v)->in);
        mem_free(*v);
    }
    vec_done(&s->visitors);
    buf_done(&s->heard);
}

/* A client of it, and what it was told. */
struct desk {
    struct loop *loop;
    struct script script;
    struct http1_client *client;
    struct buf log;
    uint32_t ended;
};

static void hear(void *ctx, const struct http1_piece *p)
{
    struct desk *d = ctx;
    switch (p->kind) {
    case HTTP1_STATUS:
        buf_printf(&d->log, "%d: %d ", (int)p->id, p->status);
        break;
    case HTTP1_DATA:
        buf_add(&d->log, p->data);
        break;
    case HTTP1_END:
        buf_add_char(&d->log, '|');
        d->ended++;
        break;
    case HTTP1_LOST:
        buf_printf(&d->log, "%d lost%s: " STR_FMT "|", (int)p->id,
                   p->may_have_arrived ? " maybe" : "", STR_ARG(p->error));
        d->ended++;
        break;
    }
}

static void desk_start(struct desk *d, const char *const *answers, uint32_t n, uint32_t most)
{
    *d = (struct desk){.loop = loop_new()};
    script_start(&d->script, d->loop, answers, n);
    struct http1_client_config config = {
        .link = {.host = STR("127.0.0.1"), .port = d->script.port, .open_timeout_ms = 5000},
        .user_agent = STR("test"),
        .connections_most = most,
        .idle_ms = 50,
        .bytes_most = 100,
    };
    d->client = http1_client_new(d->loop, &config, (struct http1_owner){hear, d});
}

static void desk_post(struct desk *d, uint64_t id, int64_t timeout_ms, bool may_repeat)
{
    http1_client_send(d->client, &(struct http1_call){.id = id,
                                                      .path = STR("/a/filter"),
                                                      .content_type = STR("application/json"),
                                                      .body = STR("x"),
                                                      .timeout_ms = timeout_ms,
                                                      .may_repeat = may_repeat});
}

/* What was told since the last question, once so many calls have ended. */
static const char *desk_log(struct desk *d, uint32_t ended)
{
    int64_t late_ms = loop_now_ms(d->loop) + 20000;
    while (d->ended < ended && loop_now_ms(d->loop) < late_ms)
        loop_wait(d->loop, late_ms);
    buf_add_char(&d->log, '\0');
    d->log.n = 0;
    return d->log.p;
}

static void desk_end(struct desk *d)
{
    http1_client_free(d->client);
    script_end(&d->script);
    loop_free(d->loop);
    buf_done(&d->log);
}

#define OK(body) "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" body

TEST(http1_client, posts_and_keeps_the_connection_for_the_next_call)
{
    static const char *const answers[] = {OK("ab"), OK("cd")};
    struct desk d;
    desk_start(&d, answers, 2, 4);
    desk_post(&d, 1, 5000, true);
    EXPECT_TEXT(desk_log(&d, 1), "1: 200 ab|");
    desk_post(&d, 2, 5000, true);
    EXPECT_TEXT(desk_log(&d, 2), "2: 200 cd|");
    EXPECT_INT(d.script.accepted, 1);
    char wanted[300];
    snprintf(wanted, sizeof(wanted),
             "POST /a/filter HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: test\r\n"
             "Content-Length: 1\r\nContent-Type: application/json\r\n\r\nx|",
             d.script.port);
    EXPECT(str_starts(buf_str(&d.script.heard), str_of(wanted)));
    desk_end(&d);
}

TEST(http1_client, has_as_many_connections_as_it_may_and_the_rest_waits)
{
    static const char *const answers[] = {OK("ab"), OK("cd"), OK("ef"), OK("gh"), OK("ij")};
    struct desk d;
    desk_start(&d, answers, 5, 2);
    for (uint64_t id = 1; id <= 5; id++)
        desk_post(&d, id, 5000, true);
    desk_log(&d, 5);
    EXPECT_INT(d.ended, 5);
    EXPECT_INT(d.script.most, 2);
    EXPECT_INT(d.script.accepted, 2);
    desk_end(&d);
}

TEST(http1_client, a_connection_that_idles_is_closed)
{
    static const char *const answers[] = {OK("ab")};
    struct desk d;
    desk_start(&d, answers, 1, 2);
    desk_post(&d, 1, 5000, true);
    desk_log(&d, 1);
    int64_t late_ms = loop_now_ms(d.loop) + 20000;
    while (d.script.now && loop_now_ms(d.loop) < late_ms)
        loop_wait(d.loop, late_ms);
    EXPECT_INT(d.script.now, 0);
    desk_end(&d);
}

TEST(http1_client, says_what_went_wrong_in_gos_words)
{
    static const struct {
        const char *answer;
        const char *told;
        int64_t timeout_ms;
    } cases[] = {
        {"",                                               "1 lost maybe: EOF|",                           5000},
        {"-",
         "1 lost maybe: context deadline exceeded (Client.Timeout exceeded while awaiting "
         "headers)|",                                                                                      50  },
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
         "1: 200 ab1 lost maybe: context deadline exceeded (Client.Timeout or context cancellation "
         "while reading body)|",                                                                           50  },
        {"hello\r\n\r\n",                                  "1 lost maybe: malformed HTTP response|",       5000},
        {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
         "8901234567890",                         "1: 200 1 lost maybe: the answer is too long|", 5000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].answer);
        struct desk d;
        desk_start(&d, &cases[i].answer, 1, 2);
        desk_post(&d, 1, cases[i].timeout_ms, true);
        EXPECT_TEXT(desk_log(&d, 1), cases[i].told);
        desk_end(&d);
    }
}

TEST(http1_client, nobody_there_is_a_connection_refused)
{
    struct desk d;
    char wanted[200];
    desk_start(&d, NULL, 0, 2);
    loop_fd_set(d.loop, &d.script.listener, 0);
    close(d.script.listener.fd);
    d.script.listener.fd = -1;
    desk_post(&d, 1, 5000, true);
    snprintf(wanted, sizeof(wanted), "1 lost: dial tcp 127.0.0.1:%u: connect: connection refused|",
             d.script.port);
    EXPECT_TEXT(desk_log(&d, 1), wanted);
    desk_end(&d);
}

TEST(http1_client, a_kept_connection_that_was_closed_is_tried_anew_if_that_does_no_harm)
{
    static const char *const answers[] = {OK("ab"), "", OK("cd")};
    for (int may_repeat = 0; may_repeat < 2; may_repeat++) {
        struct desk d;
        desk_start(&d, answers, 3, 1);
        desk_post(&d, 1, 5000, true);
        EXPECT_TEXT(desk_log(&d, 1), "1: 200 ab|");
        desk_post(&d, 2, 5000, may_repeat);
        EXPECT_TEXT(desk_log(&d, 2), may_repeat ? "2: 200 cd|" : "2 lost maybe: EOF|");
        desk_end(&d);
    }
}

TEST(http1_client, a_body_without_a_length_ends_with_its_connection)
{
    static const char *const answers[] = {"HTTP/1.0 200 OK\r\n\r\nab", ""};
    struct desk d;
    desk_start(&d, answers, 2, 1);
    desk_post(&d, 1, 5000, true);
    int64_t late_ms = loop_now_ms(d.loop) + 20000;
    while (d.script.next == 0 && loop_now_ms(d.loop) < late_ms)
        loop_wait(d.loop, late_ms);
    leave(d.script.visitors.at[0]);
    EXPECT_TEXT(desk_log(&d, 1), "1: 200 ab|");
    desk_end(&d);
}

TEST(http1_client, whatever_is_under_way_is_lost_with_it)
{
    struct desk d;
    desk_start(&d, NULL, 0, 1);
    desk_post(&d, 1, 5000, true);
    desk_post(&d, 2, 5000, true);
    http1_client_free(d.client);
    d.client = NULL;
    EXPECT_TEXT(desk_log(&d, 2), "2 lost: context canceled|1 lost: context canceled|");
    desk_end(&d);
}
