#include "io/net/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "caller.h"
#include "core/base/vec.h"
#include "io/net/self_signed.h"
#include "support/test.h"

/* A server that answers with the path, of /later when told to, of /large with a million bytes, of
 * /larger with twelve. */
struct place {
    struct loop *loop;
    struct server *server;
    server_id later;
    uint32_t asked;
};

static void answer(struct place *p, server_id id, struct str body)
{
    server_answer(p->server, id,
                  &(struct server_answer){.status = 200,
                                          .content_type = STR("text/plain"),
                                          .body = body,
                                          .headers = STR("X-Own: yes\r\n")});
}

static void ask(void *ctx, server_id id)
{
    struct place *p = ctx;
    struct http1_request r;
    bool is_asked = server_request(p->server, id, &r);
    EXPECT(is_asked);
    p->asked++;
    if (str_equal(r.path, STR("/later"))) {
        p->later = id;
    } else if (str_starts(r.path, STR("/large"))) {
        size_t n = str_equal(r.path, STR("/larger")) ? 12000000 : 1000000;
        struct str body = {mem_alloc(n), n};
        answer(p, id, body);
        mem_free((char *)(uintptr_t)body.p);
    } else {
        answer(p, id, r.path);
    }
}

static struct tls *certificate(const struct identity *who, bool wants_client)
{
    struct error e = {0};
    struct tls_server_config config = {.cert_pem = buf_str(&who->cert_pem),
                                       .key_pem = buf_str(&who->key_pem)};
    if (wants_client)
        config.client_ca_pem = buf_str(&certs_get()->ca.cert_pem);
    struct tls *t = tls_new_server(&config, &e);
    EXPECT_TEXT(e.text, "");
    return t;
}

static void place_start(struct place *p, struct server_config config)
{
    struct error e = {0};
    config.address = STR("127.0.0.1");
    config.port = 0;
    p->loop = loop_new();
    p->server = server_new(p->loop, &config, (struct server_owner){ask, p}, &e);
    EXPECT_TEXT(e.text, "");
    server_use(p->server, certificate(&certs_get()->server, true));
}

static void place_done(struct place *p)
{
    server_free(p->server);
    loop_free(p->loop);
}

static void place_call(struct place *p, struct caller *c)
{
    caller_start(c, p->loop, server_port(p->server), false);
}

/* Somebody asks for /later; false: not within 20 s. */
static bool asks_later(struct place *p)
{
    int64_t until_ms = loop_now_ms(p->loop) + 20000;
    while (!p->later && loop_now_ms(p->loop) < until_ms)
        loop_wait(p->loop, loop_now_ms(p->loop) + 20);
    return p->later;
}

TEST(server, answers_one_request_after_the_other_on_a_connection)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    AUTO(caller) c = {0};
    place_call(&p, &c);
    EXPECT_TEXT(caller_get(&c, "/a?b", ""),
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
                "X-Own: yes\r\n\r\n/a");
    EXPECT(strstr(caller_get(&c, "/second", "Connection: close\r\n"),
                  "Connection: close\r\n\r\n/second"));
    EXPECT(caller_ends(&c));
    EXPECT_INT(server_stats(p.server).accepted, 1);
}

TEST(server, answers_requests_that_come_together_in_their_order)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    AUTO(caller) c = {0};
    place_call(&p, &c);
    caller_say(&c, "GET /one HTTP/1.1\r\nHost: a\r\n\r\nHEAD /two HTTP/1.1\r\nHost: a\r\n\r\n"
                   "GET /three HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT(caller_hears(&c, "\r\n\r\n/three"));
    EXPECT(strstr(c.heard.p, "\r\n\r\n/oneHTTP/1.1 200 OK"));
    EXPECT(!strstr(c.heard.p, "/two")); /* of which only the head was asked for */
    EXPECT(strstr(c.heard.p, "Content-Length: 4\r\n"));
}

TEST(server, waits_for_its_owner)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    AUTO(caller) c = {0}, gone = {0};
    place_call(&p, &c);
    caller_say(&c, "GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT(asks_later(&p));
    server_id later = p.later;
    place_call(&p, &gone);
    EXPECT(strstr(caller_get(&gone, "/quick", ""), "/quick"));
    EXPECT_INT(p.asked, 2); /* /next is behind /later */
    answer(&p, later, STR("at last"));
    EXPECT(caller_hears(&c, "/next"));
    EXPECT(strstr(c.heard.p, "at lastHTTP/1.1"));
    answer(&p, later, STR("again")); /* nobody waits for it */
    EXPECT(!strstr(caller_get(&c, "/x", ""), "again"));
}

TEST(server, writes_large_answers_piece_by_piece)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    AUTO(caller) c = {0};
    place_call(&p, &c);
    buf_clear(&c.heard);
    caller_say(&c, "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT(caller_ends(&c));
    EXPECT(c.heard.n > 1000000);
}

TEST(server, refuses_what_it_cannot_read_and_hangs_up)
{
    static const struct {
        const char *text, *answer;
    } cases[] = {
        {"rubbish\r\n\r\n", "HTTP/1.1 400 Bad Request"},
        {"GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 HTTP Version"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
         "HTTP/1.1 413 Content Too Large"},
    };
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].text);
        AUTO(caller) c = {0};
        place_call(&p, &c);
        caller_say(&c, cases[i].text);
        EXPECT(caller_hears(&c, cases[i].answer));
        EXPECT(caller_ends(&c));
    }
    AUTO(caller) c = {0};
    place_call(&p, &c);
    struct buf endless = {0};
    for (int i = 0; i < HTTP1_HEAD_MOST + 5000; i++)
        buf_add_char(&endless, 'x');
    caller_say(&c, endless.p);
    buf_done(&endless);
    EXPECT(caller_hears(&c, "HTTP/1.1 431 "));
    EXPECT(caller_ends(&c));
    EXPECT_INT(p.asked, 0);
}

TEST(server, gives_up_who_takes_too_long)
{
    struct server_config config = server_usual;
    config.head_wait_ms = config.idle_wait_ms = config.answer_wait_ms = 100;
    static const char *const said[] = {
        "",                                       /* idle */
        "GET / HT",                               /* half a head */
        "GET /later HTTP/1.1\r\nHost: a\r\n\r\n", /* its owner is slow */
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",      /* and then nothing */
    };
    AUTO(place) p = {0};
    place_start(&p, config);
    for (size_t i = 0; i < LEN(said); i++) {
        test_case("%s", said[i]);
        AUTO(caller) c = {0};
        place_call(&p, &c);
        caller_say(&c, said[i]);
        EXPECT(caller_ends(&c));
    }
    EXPECT_INT(server_stats(p.server).turned_away, LEN(said));
    EXPECT_INT(server_stats(p.server).connections, 0);
}

/* A TCP connection that says nothing. */
static int connect_silently(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    return fd;
}

/* Asks for what does not fit into the buffers of sockets, and never reads. */
static struct tls_stream *ask_and_forget(struct place *p, struct tls *tls, int fd)
{
    struct error e = {0};
    size_t done;
    struct str request = STR("GET /larger HTTP/1.1\r\nHost: a\r\n\r\n");
    struct tls_stream *s = tls_stream_new(tls, fd, STR("127.0.0.1"), STR("http/1.1"), &e);
    int64_t until_ms = loop_now_ms(p->loop) + 20000;
    while (tls_handshake(s, &e) != IO_DONE && loop_now_ms(p->loop) < until_ms)
        loop_wait(p->loop, loop_now_ms(p->loop) + 5);
    EXPECT(tls_write(s, request.p, request.n, &done, &e) == IO_DONE);
    return s;
}

TEST(server, is_not_held_up_by_who_does_not_read)
{
    struct server_config config = server_usual;
    config.answer_wait_ms = 1000;
    AUTO(place) p = {0};
    place_start(&p, config);
    struct error e = {0};
    struct tls *tls = tls_new(&(struct tls_config){.is_unverified = true}, &e);
    int fd = connect_silently(server_port(p.server));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct tls_stream *slow = ask_and_forget(&p, tls, fd);
    for (int i = 0; i < 20 && !p.asked; i++)
        loop_wait(p.loop, loop_now_ms(p.loop) + 100);
    AUTO(caller) c = {0};
    place_call(&p, &c);
    EXPECT(strstr(caller_get(&c, "/other", ""), "/other"));
    EXPECT_INT(server_stats(p.server).connections, 2); /* the slow one still has its time */
    int64_t until_ms = loop_now_ms(p.loop) + 20000;
    while (server_stats(p.server).turned_away == 0 && loop_now_ms(p.loop) < until_ms)
        loop_wait(p.loop, loop_now_ms(p.loop) + 20);
    EXPECT_INT(server_stats(p.server).turned_away, 1);
    tls_stream_free(slow);
    tls_free(tls);
    close(fd);
}

TEST(server, lets_newcomers_in_at_the_cost_of_the_silent)
{
    struct server_config config = server_usual;
    config.connections_most = 4;
    AUTO(place) p = {0};
    place_start(&p, config);
    AUTO(caller) old = {0}, new = {0};
    place_call(&p, &old);
    caller_get(&old, "/", "");
    int silent[10];
    for (size_t i = 0; i < LEN(silent); i++) {
        silent[i] = connect_silently(server_port(p.server));
        loop_wait(p.loop, loop_now_ms(p.loop));
    }
    place_call(&p, &new);
    EXPECT(strstr(caller_get(&new, "/new", ""), "/new"));
    EXPECT(strstr(caller_get(&old, "/old", ""), "/old")); /* it has asked before */
    EXPECT(server_stats(p.server).connections <= 4);
    EXPECT(server_stats(p.server).turned_away >= 8);
    for (size_t i = 0; i < LEN(silent); i++)
        close(silent[i]);
}

TEST(server, serves_many_at_once)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    struct caller callers[24] = {0};
    for (size_t i = 0; i < LEN(callers); i++)
        place_call(&p, &callers[i]);
    for (size_t i = 0; i < LEN(callers); i++) {
        char path[32];
        snprintf(path, sizeof(path), "/%zu", i);
        EXPECT(strstr(caller_get(&callers[i], path, ""), path));
    }
    for (size_t i = 0; i < LEN(callers); i++)
        caller_done(&callers[i]);
}

TEST(server, holds_back_answers_when_too_much_waits_to_be_read)
{
    struct server_config config = server_usual;
    config.answers_most = 500000;
    AUTO(place) p = {0};
    place_start(&p, config);
    AUTO(caller) c = {0};
    place_call(&p, &c);
    EXPECT(strstr(caller_get(&c, "/large", ""), "HTTP/1.1 503 "));
}

TEST(server, knows_a_client_by_its_certificate)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    for (int shows = 0; shows < 2; shows++) {
        AUTO(caller) c = {0};
        caller_start(&c, p.loop, server_port(p.server), shows);
        p.later = 0;
        caller_say(&c, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        EXPECT(asks_later(&p));
        struct arena mem = {0};
        struct tls_identity who;
        EXPECT_INT(server_client(p.server, p.later, &mem, &who),
                   shows ? TLS_CLIENT_PROVEN : TLS_CLIENT_SILENT);
        EXPECT_STR(who.name, shows ? "somebody" : "");
        arena_done(&mem);
    }
    server_use(p.server, NULL); /* without a certificate nobody is let in */
    AUTO(caller) c = {0};
    place_call(&p, &c);
    EXPECT(caller_ends(&c));
}

TEST(server, shows_new_connections_its_new_certificate)
{
    AUTO(place) p = {0};
    place_start(&p, server_usual);
    AUTO(caller) c = {0}, stranger = {0};
    place_call(&p, &c);
    EXPECT(strstr(caller_get(&c, "/a", ""), "/a"));
    struct identity own = {0};
    struct error e = {0};
    EXPECT(self_signed_make(STR("host-1"), &own.cert_pem, &own.key_pem, &e));
    server_use(p.server, certificate(&own, false));
    EXPECT(strstr(caller_get(&c, "/b", ""), "/b")); /* the old connection goes on */
    place_call(&p, &stranger);
    EXPECT(strstr(caller_get(&stranger, "/c", ""), "certificate is refused"));
    buf_done(&own.cert_pem);
    buf_done(&own.key_pem);
}

TEST(server, says_why_it_cannot_listen)
{
    struct loop *l = loop_new();
    struct error e = {0};
    struct server_config config = server_usual;
    config.address = STR("nowhere");
    EXPECT(!server_new(l, &config, (struct server_owner){0}, &e));
    EXPECT_TEXT(e.text, "\"nowhere\" is not an address");
    config.address = STR("203.0.113.1");
    EXPECT(!server_new(l, &config, (struct server_owner){0}, &e));
    EXPECT_TEXT(e.text, "cannot listen on 203.0.113.1 port 10259: Cannot assign requested address");
    loop_free(l);
}
