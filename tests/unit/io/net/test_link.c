#include "io/net/link.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "support/test.h"
#include "talk.h"

/* Which server is believed, and what is said of one that is not. */
TEST(link, believes_only_a_server_that_proves_its_name)
{
    const struct certs *c = certs_get();
    struct str ca = buf_str(&c->ca.cert_pem), other = buf_str(&c->other_ca.cert_pem);
    const struct {
        const char *host, *server_name;
        struct str ca;
        bool is_unverified;
        const char *error;
    } cases[] = {
        {"127.0.0.1", "", ca, false, NULL},
        {"localhost", "", ca, false, NULL},
        {"127.0.0.1", "kubernetes", ca, false, NULL},
        {"127.0.0.1", "elsewhere", ca, false,
         "the server's certificate is refused: hostname mismatch"},
        {"127.0.0.1", "10.0.0.1", ca, false,
         "the server's certificate is refused: IP address mismatch"},
        {"127.0.0.1", "", other, false,
         "the server's certificate is refused: unable to get local issuer certificate"},
        {"127.0.0.1",
         "",
         {NULL, 0},
         false,
         "the server's certificate is refused: unable to get local issuer certificate"},
        {"127.0.0.1", "elsewhere", other, true, NULL},
    };
    struct loop *l = loop_new();
    struct peer *p = peer_new(l, &(struct peer_config){.is_tls = true});
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s as \"%s\", case %zu", cases[i].host, cases[i].server_name, i);
        AUTO(talk) t = {0};
        struct error e = {0};
        struct tls_config tls = {.ca_pem = cases[i].ca, .is_unverified = cases[i].is_unverified};
        talk_start(&t, l, peer_port(p), false);
        t.tls = tls_new(&tls, &e);
        struct http2_config config = {.user_agent = STR("test")};
        config.link = (struct link_config){.host = str_of(cases[i].host),
                                           .port = peer_port(p),
                                           .tls = t.tls,
                                           .server_name = str_of(cases[i].server_name),
                                           .protocol = STR("h2"),
                                           .open_timeout_ms = 5000};
        http2_configure(t.client, &config);
        talk_get(&t, 1, "/empty");
        talk_until_ended(&t, 1);
        char wanted[200] = "1 head 200 application/json|1 end|";
        if (cases[i].error)
            snprintf(wanted, sizeof(wanted), "1 lost: connect to 127.0.0.1:%u: %s|", peer_port(p),
                     cases[i].error);
        EXPECT_TEXT(talk_log(&t), wanted);
    }
    peer_free(p);
    loop_free(l);
}

TEST(link, shows_who_we_are_to_a_server_that_asks)
{
    const struct certs *c = certs_get();
    struct loop *l = loop_new();
    struct peer *p = peer_new(l, &(struct peer_config){.is_tls = true, .wants_client = true});
    for (int has_cert = 0; has_cert < 2; has_cert++) {
        test_case("certificate %d", has_cert);
        AUTO(talk) t = {0};
        struct error e = {0};
        struct tls_config tls = {.ca_pem = buf_str(&c->ca.cert_pem)};
        if (has_cert) {
            tls.cert_pem = buf_str(&c->client.cert_pem);
            tls.key_pem = buf_str(&c->client.key_pem);
        }
        talk_start(&t, l, peer_port(p), false);
        t.tls = tls_new(&tls, &e);
        struct http2_config config = {.user_agent = STR("test")};
        config.link = (struct link_config){.host = STR("127.0.0.1"),
                                           .port = peer_port(p),
                                           .tls = t.tls,
                                           .protocol = STR("h2"),
                                           .open_timeout_ms = 5000};
        http2_configure(t.client, &config);
        talk_get(&t, 1, "/echo");
        talk_until_ended(&t, 1);
        const char *log = talk_log(&t);
        EXPECT_TEXT(strstr(log, has_cert ? "from" : "lost"),
                    has_cert ? "from somebody|1 end|"
                             : "lost maybe: TLS: tlsv13 alert certificate required|");
    }
    peer_free(p);
    loop_free(l);
}

TEST(link, refuses_a_server_that_speaks_another_protocol)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true, .protocol = "http/1.1"}, http2_usual_law);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT(strstr(talk_log(&p.talk), ": the server does not speak h2|"));
}

TEST(link, says_which_name_has_no_address)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){0}, http2_usual_law);
    struct http2_config config = {.user_agent = STR("test")};
    config.link = (struct link_config){
        .host = STR("no-such-host.invalid"), .port = 1, .open_timeout_ms = 15000};
    http2_configure(p.talk.client, &config);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT(str_starts(buf_str(&p.talk.log), STR("1 lost: resolve no-such-host.invalid: ")));
}

/* A proxy: hears a question, answers it, and if there is a server behind it, carries bytes from
 * then on. */
struct proxy {
    struct loop *loop;
    struct loop_fd listener, client, server;
    uint16_t port, to;
    const char *answer;
    struct str at_once; /* said to whoever comes, and nothing more */
    struct buf question;
};

static void carry(int from, int to)
{
    char room[1 << 14];
    ssize_t n;
    while ((n = recv(from, room, sizeof(room), MSG_DONTWAIT)) > 0)
        EXPECT(send(to, room, (size_t)n, MSG_NOSIGNAL) == n);
}

static void hear_server(void *ctx, uint32_t events)
{
    struct proxy *p = ctx;
    (void)events;
    carry(p->server.fd, p->client.fd);
}

static void connect_server(struct proxy *p)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(p->to), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    p->server = (struct loop_fd){
        .ready = hear_server, .ctx = p, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_INT(connect(p->server.fd, (struct sockaddr *)&a, sizeof(a)), 0);
    loop_fd_set(p->loop, &p->server, LOOP_READ);
}

static void hear_client(void *ctx, uint32_t events)
{
    struct proxy *p = ctx;
    char room[4096];
    (void)events;
    if (p->server.fd >= 0) {
        carry(p->client.fd, p->server.fd);
        return;
    }
    ssize_t n = recv(p->client.fd, room, sizeof(room), MSG_DONTWAIT);
    if (n > 0)
        buf_add_bytes(&p->question, room, (size_t)n);
    if (n <= 0 || !str_ends(buf_str(&p->question), STR("\r\n\r\n"))) {
        loop_fd_set(p->loop, &p->client, n > 0 ? LOOP_READ : 0u);
        return;
    }
    EXPECT(send(p->client.fd, p->answer, strlen(p->answer), MSG_NOSIGNAL) >= 0);
    if (p->to)
        connect_server(p);
    else
        shutdown(p->client.fd, SHUT_WR);
}

static void accept_client(void *ctx, uint32_t events)
{
    struct proxy *p = ctx;
    (void)events;
    p->client = (struct loop_fd){
        .ready = hear_client, .ctx = p, .fd = accept4(p->listener.fd, NULL, NULL, SOCK_CLOEXEC)};
    loop_fd_set(p->loop, &p->client, LOOP_READ);
    loop_fd_set(p->loop, &p->listener, 0);
    if (p->at_once.n) {
        EXPECT(send(p->client.fd, p->at_once.p, p->at_once.n, MSG_NOSIGNAL) > 0);
        shutdown(p->client.fd, SHUT_WR);
    }
}

static void proxy_start(struct proxy *p, struct loop *l, const char *answer, uint16_t to)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_INT(bind(fd, (struct sockaddr *)&a, n) | listen(fd, 4) |
                   getsockname(fd, (struct sockaddr *)&a, &n),
               0);
    *p = (struct proxy){.loop = l, .port = ntohs(a.sin_port), .to = to, .answer = answer};
    p->listener = (struct loop_fd){.ready = accept_client, .ctx = p, .fd = fd};
    p->client.fd = p->server.fd = -1;
    loop_fd_set(l, &p->listener, LOOP_READ);
}

static void proxy_done(struct proxy *p)
{
    struct loop_fd *all[] = {&p->listener, &p->client, &p->server};
    for (size_t i = 0; i < LEN(all); i++) {
        if (all[i]->fd < 0)
            continue;
        loop_fd_set(p->loop, all[i], 0);
        close(all[i]->fd);
    }
    buf_done(&p->question);
}

TEST(link, goes_through_a_proxy)
{
    static const struct {
        const char *answer, *log;
        bool has_server;
    } cases[] = {
        {"HTTP/1.1 200 Connection established\r\nVia: me\r\n\r\n",
         "1 head 200 application/json|1 end|", true},
        {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
         ": proxy: HTTP/1.1 407 Proxy Authentication Required|", false},
        {"SSH-2.0-OpenSSH_9.2\r\n\r\n", ": proxy: SSH-2.0-OpenSSH_9.2|", false},
        {"HTTP/1.1 200", ": proxy: closed the connection|", false},
    };
    struct loop *l = loop_new();
    struct peer *peer = peer_new(l, &(struct peer_config){.is_tls = true});
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].answer);
        AUTO(proxy) proxy = {0};
        AUTO(talk) t = {0};
        proxy_start(&proxy, l, cases[i].answer, cases[i].has_server ? peer_port(peer) : 0);
        talk_start(&t, l, 1, true);
        struct http2_config config = {.user_agent = STR("test")};
        config.link = (struct link_config){.host = STR("kubernetes"),
                                           .port = 443,
                                           .tls = t.tls,
                                           .protocol = STR("h2"),
                                           .proxy_host = STR("127.0.0.1"),
                                           .proxy_port = proxy.port,
                                           .proxy_authorization = STR("Basic eDp5"),
                                           .open_timeout_ms = 5000};
        http2_configure(t.client, &config);
        talk_get(&t, 1, "/empty");
        talk_until_ended(&t, 1);
        EXPECT(strstr(talk_log(&t), cases[i].log));
        EXPECT_STR(buf_str(&proxy.question),
                   "CONNECT kubernetes:443 HTTP/1.1\r\nHost: kubernetes:443\r\n"
                   "Proxy-Authorization: Basic eDp5\r\n\r\n");
    }
    peer_free(peer);
    loop_free(l);
}

TEST(link, gives_up_a_server_that_accepts_and_says_nothing)
{
    AUTO(pair) p = {0};
    pair_start(&p, (struct peer_config){.is_tls = true}, http2_usual_law);
    AUTO(proxy) proxy = {0};
    proxy_start(&proxy, p.loop, "", 0); /* hears a handshake, and waits for more */
    struct http2_config config = {.user_agent = STR("test")};
    config.link = (struct link_config){.host = STR("127.0.0.1"),
                                       .port = proxy.port,
                                       .tls = p.talk.tls,
                                       .protocol = STR("h2"),
                                       .open_timeout_ms = 30};
    http2_configure(p.talk.client, &config);
    talk_get(&p.talk, 1, "/empty");
    talk_until_ended(&p.talk, 1);
    EXPECT(strstr(talk_log(&p.talk), ": no answer within 30 ms|"));
}

/* A frame of any kind and size, mostly on the stream that was asked for; often one that makes
 * sense. */
static void add_frame(struct buf *out, struct rng *r)
{
    enum { HEADERS = 1, END_HEADERS = 4, STATUS_200 = 0x88 };
    bool is_head = rng_below(r, 3) == 0, is_ours = rng_below(r, 4) > 0;
    size_t n = is_head ? 1 : rng_below(r, 4) ? rng_below(r, 16) : rng_below(r, 300);
    unsigned char type = is_head ? HEADERS : (unsigned char)rng_below(r, 11);
    unsigned char flags =
        (unsigned char)(is_head ? END_HEADERS | rng_below(r, 2) : rng_next(r) & 0x0f);
    unsigned char stream = is_ours ? 1 : (unsigned char)rng_below(r, 4);
    unsigned char head[9] = {0,     (unsigned char)(n >> 8), (unsigned char)n, type, flags, 0, 0, 0,
                             stream};
    buf_add_bytes(out, head, sizeof(head));
    for (size_t i = 0; i < n; i++)
        buf_add_char(out, is_head ? (char)STATUS_200 : (char)rng_next(r));
}

TEST(link, whatever_a_server_says_a_call_comes_to_its_end)
{
    struct rng r = rng_seeded(test_seed());
    AUTO(pair) p = {0};
    struct http2_law law = http2_usual_law;
    law.retry_first_ms = 1;
    law.retry_cap_ms = 1;
    pair_start(&p, (struct peer_config){0}, law);
    for (uint32_t round = 1; round <= 300; round++) {
        test_case("round %u", round);
        AUTO(buf) words = {0};
        AUTO(proxy) proxy = {0};
        buf_add(&words,
                round % 50 ? STR("\0\0\0\4\0\0\0\0\0") : STR("HTTP/1.1 400 Bad Request\r\n\r\n"));
        for (uint64_t i = rng_below(&r, 12); i > 0; i--)
            add_frame(&words, &r);
        proxy_start(&proxy, p.loop, "", 0);
        proxy.at_once = buf_str(&words);
        struct http2_config config = {.user_agent = STR("test")};
        config.link = (struct link_config){
            .host = STR("127.0.0.1"), .port = proxy.port, .open_timeout_ms = 5000};
        http2_configure(p.talk.client, &config);
        talk_get(&p.talk, round, "/empty");
        if (!talk_until_ended(&p.talk, round))
            return;
    }
}
