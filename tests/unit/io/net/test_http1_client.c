#include "io/net/http1_client.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certs.h"
#include "core/base/mem.h"
#include "core/base/vec.h"
#include "support/test.h"

/* How a connection ends: as the server wants it, or as a cable is cut, or by a reset. */
enum ending { GOODBYE, CUT, RESET };

/* A server in the same loop that answers each request with the next of these texts; "" hangs up
 * instead, "-" says nothing. */
struct script {
    struct loop *loop;
    SSL_CTX *tls;     /* NULL: in the open */
    size_t ends_at;   /* behind so many bytes of an answer the connection ends; 0: it does not */
    enum ending ends; /* in this way */
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
    SSL *tls;
    struct buf in;
};

static void leave(struct visitor *v)
{
    struct linger at_once = {.l_onoff = 1};
    if (v->socket.fd < 0)
        return;
    if (v->script->ends == RESET)
        setsockopt(v->socket.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    if (v->tls && v->script->ends == GOODBYE)
        SSL_shutdown(v->tls);
    SSL_free(v->tls);
    v->tls = NULL;
    loop_fd_set(v->script->loop, &v->socket, 0);
    close(v->socket.fd);
    v->socket.fd = -1;
    v->script->now--;
}

static void say(struct visitor *v, const char *text, size_t n)
{
    size_t done = 0;
    EXPECT(v->tls ? SSL_write_ex(v->tls, text, n, &done) && done == n
                  : send(v->socket.fd, text, n, MSG_NOSIGNAL) == (ssize_t)n);
}

/* Bytes; 0: none now; below: none any more. */
static ssize_t listen_to(struct visitor *v, char *room, size_t most)
{
    if (!v->tls)
        return read(v->socket.fd, room, most);
    int n = SSL_read(v->tls, room, (int)most); /* shakes hands as well */
    return n > 0 ? n : SSL_get_error(v->tls, n) == SSL_ERROR_WANT_READ ? 0 : -1;
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
        say(v, text, s->ends_at ? s->ends_at : strlen(text));
    if (s->ends_at)
        leave(v);
}

static void on_bytes(void *ctx, uint32_t events)
{
    struct visitor *v = ctx;
    char room[4096];
    (void)events;
    ssize_t n = listen_to(v, room, sizeof(room));
    if (n == 0 && v->tls)
        return;
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
    if (s->tls) {
        v->tls = SSL_new(s->tls);
        SSL_set_fd(v->tls, v->socket.fd);
        SSL_set_accept_state(v->tls);
    }
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
    SSL_CTX_free(s->tls);
}

static void script_use_tls(struct script *s)
{
    const struct identity *of = &certs_get()->server;
    BIO *cert_pem = BIO_new_mem_buf(of->cert_pem.p, (int)of->cert_pem.n);
    BIO *key_pem = BIO_new_mem_buf(of->key_pem.p, (int)of->key_pem.n);
    X509 *cert = PEM_read_bio_X509(cert_pem, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_pem, NULL, NULL, NULL);
    s->tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(s->tls, cert);
    SSL_CTX_use_PrivateKey(s->tls, key);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_pem);
    BIO_free(key_pem);
}

/* A client of it, and what it was told. */
struct desk {
    struct loop *loop;
    struct script script;
    struct http1_client *client;
    struct tls *tls;
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

static void desk_start_by(struct desk *d, bool is_tls, const char *const *answers, uint32_t n,
                          uint32_t most)
{
    struct tls_config tls = {.ca_pem = buf_str(&certs_get()->ca.cert_pem)};
    struct error e;
    *d = (struct desk){.loop = loop_new(), .tls = is_tls ? tls_new(&tls, &e) : NULL};
    script_start(&d->script, d->loop, answers, n);
    if (is_tls)
        script_use_tls(&d->script);
    struct http1_client_config config = {
        .link = {.host = STR("127.0.0.1"),
                 .port = d->script.port,
                 .tls = d->tls,

                 .open_timeout_ms = 5000},
        .user_agent = STR("test"),
        .connections_most = most,
        .idle_ms = 50,
        .bytes_most = 100,
    };
    d->client = http1_client_new(d->loop, &config, (struct http1_owner){hear, d});
}

static void desk_start(struct desk *d, const char *const *answers, uint32_t n, uint32_t most)
{
    desk_start_by(d, false, answers, n, most);
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
    tls_free(d->tls);
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
        {"", "1 lost maybe: EOF|", 5000},
        {"-",
         "1 lost maybe: context deadline exceeded (Client.Timeout exceeded while awaiting "
         "headers)|",
         50},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
         "1: 200 ab1 lost maybe: context deadline exceeded (Client.Timeout or context cancellation "
         "while reading body)|",
         50},
        {"hello\r\n\r\n", "1 lost maybe: malformed HTTP response|", 5000},
        {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
         "8901234567890",
         "1: 200 1 lost maybe: the answer is too long|", 5000},
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

/* What an answer is told to be whose connection ends like this. */
static bool is_whole(bool is_tls, const char *answer, size_t ends_at, enum ending ends)
{
    struct desk d;
    desk_start_by(&d, is_tls, &answer, 1, 1);
    d.script.ends_at = ends_at;
    d.script.ends = ends;
    desk_post(&d, 1, 5000, false);
    const char *log = desk_log(&d, 1);
    EXPECT_INT(d.ended, 1);
    bool is_lost = strstr(log, "lost maybe: ");
    desk_end(&d);
    return !is_lost;
}

TEST(http1_client, an_answer_that_was_cut_off_is_never_whole)
{
    static const struct {
        const char *text;
        bool has_end; /* says itself where it ends */
    } answers[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1,2,3,4]", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\n\r\n[1]", false},
    };
    for (size_t i = 0; i < LEN(answers); i++)
        for (int is_tls = 0; is_tls < 2; is_tls++)
            for (enum ending ends = GOODBYE; ends <= RESET; ends++) {
                const char *text = answers[i].text;
                size_t n = strlen(text), head = (size_t)(strstr(text, "\r\n\r\n") + 4 - text);
                bool is_goodbye = ends == GOODBYE || (ends == CUT && !is_tls); /* looks the same */
                bool may_end = is_goodbye && !answers[i].has_end;
                test_case("answer %zu, %s, %d", i, is_tls ? "TLS" : "in the open", (int)ends);
                for (size_t at = 1; at < n; at = at < head ? MIN(at + 7, head) : at + 1)
                    EXPECT_INT(is_whole(is_tls, text, at, ends), may_end && at >= head);
                if (ends != RESET) /* which may overtake the answer */
                    EXPECT_INT(is_whole(is_tls, text, n, ends), may_end || answers[i].has_end);
            }
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
