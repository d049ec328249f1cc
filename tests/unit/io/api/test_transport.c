#include "io/api/transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "nest.h"
#include "support/test.h"
#include "unit/io/net/peer.h"

/* A server, a transport to it, and what it was told: "1 head 200|1 data …|1 end|". */
struct stage {
    struct loop *loop;
    struct peer *peer;
    struct nest nest;
    struct transport *transport;
    struct transport_config config;
    struct requests requests;
    struct buf log, complaints;
    uint32_t ended;
    bool closes_writes; /* at each head */
};

static void hear(void *ctx, const struct reply *r)
{
    struct stage *s = ctx;
    unsigned long long id = r->id;
    if (r->kind == REPLY_HEAD)
        buf_printf(&s->log, "%llu head %d|", id, r->status);
    else if (r->kind == REPLY_DATA)
        buf_printf(&s->log, "%llu data " STR_FMT "|", id, STR_ARG(r->data));
    else if (r->kind == REPLY_END)
        buf_printf(&s->log, "%llu end|", id);
    else
        buf_printf(&s->log, "%llu lost%s: " STR_FMT "|", id, r->may_have_arrived ? " maybe" : "",
                   STR_ARG(r->error));
    s->ended += r->kind == REPLY_END || r->kind == REPLY_LOST;
    if (r->kind == REPLY_HEAD && s->closes_writes)
        transport_close_lane(s->transport, LANE_WRITE);
}

static void complain(void *ctx, const char *text)
{
    struct stage *s = ctx;
    buf_printf(&s->complaints, "%s|", text);
}

static void stage_done(struct stage *s)
{
    transport_free(s->transport);
    peer_free(s->peer);
    loop_free(s->loop);
    nest_done(&s->nest);
    requests_done(&s->requests);
    buf_done(&s->log);
    buf_done(&s->complaints);
}

/* A server that asks for certificates or not, and the files to reach it. */
static void stage_set(struct stage *s, struct peer_config config)
{
    const struct certs *certs = certs_get();
    s->loop = loop_new();
    s->peer = peer_new(s->loop, &config);
    nest_write(&s->nest, "ca.crt", buf_str(&certs->ca.cert_pem));
    nest_write(&s->nest, "cert.pem", buf_str(&certs->client.cert_pem));
    nest_write(&s->nest, "key.pem", buf_str(&certs->client.key_pem));
    s->config.user_agent = STR("kubenexus/test");
    s->config.law = http2_usual_law;
    s->config.law.retry_first_ms = 2;
    s->config.law.retry_cap_ms = 8;
}

static void write_config(struct stage *s, const char *user)
{
    nest_printf(&s->nest, "config",
                "current-context: c\n"
                "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%u', "
                "certificate-authority: ca.crt}}]\n"
                "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                "users: [{name: u, user: {%s}}]\n",
                peer_port(s->peer), user);
}

static void start(struct stage *s, const char *user)
{
    struct error e = {0};
    static char path[128];
    write_config(s, user);
    snprintf(path, sizeof(path), "%s", nest_path(&s->nest, "config"));
    s->config.kubeconfig = path;
    s->transport =
        transport_new(s->loop, &s->config, (struct transport_owner){hear, complain, s}, &e);
    EXPECT_TEXT(e.text, "");
}

static void ask(struct stage *s, request_id id, enum lane lane, const char *path)
{
    struct request r = {.id = id, .lane = lane, .path = str_of(path), .timeout_ms = 20000};
    r.is_stream = str_equal(r.path, STR("/stream"));
    if (lane == LANE_WRITE) {
        r.verb = VERB_POST;
        r.content_type = STR("application/json");
        r.body = STR("{}");
    }
    vec_push(&s->requests.list, r);
    transport_send(s->transport, &s->requests);
    requests_clear(&s->requests);
}

static void be_late(void *ctx)
{
    *(bool *)ctx = true;
}

/* Until so many requests came to an end, or the text was said; false after 20 s. */
static bool wait_for(struct stage *s, uint32_t ended, const struct buf *in, const char *text)
{
    bool is_late = false;
    struct loop_timer late = {.fire = be_late, .ctx = &is_late};
    loop_timer_set(s->loop, &late, 20000);
    while (!is_late && (text ? !in->n || !strstr(in->p, text) : s->ended < ended))
        loop_wait(s->loop, INT64_MAX);
    loop_timer_stop(s->loop, &late);
    return EXPECT(!is_late);
}

/* The headers that the server saw, of the answer to one question. */
static const char *echo(struct stage *s, request_id id)
{
    uint32_t ended = s->ended;
    buf_clear(&s->log);
    ask(s, id, LANE_READ, "/echo");
    wait_for(s, ended + 1, NULL, NULL);
    const char *at = strstr(s->log.p, "accept=");
    return at ? at : s->log.p;
}

TEST(transport, carries_each_verb_with_user_agent_and_token)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    start(&s, "token: abc");
    static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    for (int verb = 0; verb < 5; verb++) {
        struct request r = {.id = 7,
                            .lane = LANE_EVENTS,
                            .verb = (enum verb)verb,
                            .path = STR("/echo?x=y"),
                            .accept = STR("a/b"),
                            .content_type = STR("c/d"),
                            .body = STR("body")};
        char wanted[200];
        buf_clear(&s.log);
        vec_push(&s.requests.list, r);
        transport_send(s.transport, &s.requests);
        requests_clear(&s.requests);
        wait_for(&s, (uint32_t)verb + 1, NULL, NULL);
        snprintf(
            wanted, sizeof(wanted),
            "7 head 200|7 data %s /echo?x=y user-agent=kubenexus/test accept=a/b content-type=c/d "
            "authorization=Bearer abc [body]|7 end|",
            names[verb]);
        EXPECT_TEXT(s.log.p, wanted);
    }
    EXPECT_INT(peer_accepted(s.peer), 1);
}

TEST(transport, counts_answers_and_their_times_by_method)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    start(&s, "token: abc");
    ask(&s, 1, LANE_READ, "/echo");
    ask(&s, 2, LANE_READ, "/echo");
    ask(&s, 3, LANE_WRITE, "/status/409");
    ask(&s, 4, LANE_READ, "/reset");
    wait_for(&s, 4, NULL, NULL);
    static const struct transport_count wanted[] = {
        {"GET", 200, 2},
        {"POST", 409, 1},
        {"GET", 0, 1},
    };
    uint32_t n, found = 0;
    const struct transport_count *counts = transport_counts(s.transport, &n);
    for (uint32_t i = 0; i < n; i++)
        for (size_t w = 0; w < LEN(wanted); w++)
            found += strcmp(counts[i].method, wanted[w].method) == 0 &&
                     counts[i].status == wanted[w].status && counts[i].n == wanted[w].n;
    EXPECT_INT(n, LEN(wanted));
    EXPECT_INT(found, LEN(wanted));
    uint64_t timed = 0;
    const struct transport_times *times = transport_times(s.transport, &n);
    for (uint32_t i = 0; i < n; i++)
        timed += histogram_count(&times[i].times);
    EXPECT_INT(timed, 3);
    char host[32];
    snprintf(host, sizeof(host), "127.0.0.1:%u", peer_port(s.peer));
    EXPECT_STR(transport_host(s.transport), host);
}

TEST(transport, lanes_have_connections_of_their_own_and_one_is_closed_at_once)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    start(&s, "token: abc");
    ask(&s, 1, LANE_READ, "/stream");
    wait_for(&s, 0, &s.log, "two");
    ask(&s, 2, LANE_LEASE, "/empty");
    wait_for(&s, 1, NULL, NULL);
    ask(&s, 3, LANE_WRITE, "/empty");
    wait_for(&s, 2, NULL, NULL);
    EXPECT_INT(peer_connected(s.peer), 3);
    buf_clear(&s.log);
    ask(&s, 4, LANE_WRITE, "/hang");
    loop_wait(s.loop, 0); /* it leaves */
    ask(&s, 5, LANE_WRITE, "/echo");
    transport_close_lane(s.transport, LANE_WRITE);
    EXPECT_TEXT(s.log.p, "4 lost maybe: the lane was closed|5 lost: the lane was closed|");
    while (peer_connected(s.peer) > 2)
        loop_wait(s.loop, INT64_MAX);
    ask(&s, 6, LANE_WRITE, "/empty"); /* a new connection, when it is wanted again */
    wait_for(&s, 5, NULL, NULL);
    EXPECT_INT(peer_accepted(s.peer), 4);
    buf_clear(&s.log);
    s.closes_writes = true; /* also from within a reply of that very lane */
    ask(&s, 7, LANE_WRITE, "/echo");
    wait_for(&s, 6, NULL, NULL);
    EXPECT_TEXT(s.log.p, "7 head 200|7 lost maybe: the lane was closed|");
}

TEST(transport, gives_up_what_is_cancelled)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    start(&s, "token: abc");
    ask(&s, 1, LANE_READ, "/stream");
    wait_for(&s, 0, &s.log, "two");
    vec_push(&s.requests.cancelled, 1);
    transport_send(s.transport, &s.requests);
    requests_clear(&s.requests);
    while (peer_resets(s.peer) < 1)
        loop_wait(s.loop, INT64_MAX);
    EXPECT_INT(s.ended, 0);
}

TEST(transport, shows_the_certificate_of_the_user)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true, .wants_client = true});
    start(&s, "client-certificate: cert.pem, client-key: key.pem");
    EXPECT_TEXT(echo(&s, 1), "accept=application/json [] from somebody|1 end|");
}

TEST(transport, a_token_file_that_changes_is_read_again)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    nest_write(&s.nest, "token", STR("one\n"));
    start(&s, "tokenFile: token");
    EXPECT_TEXT(echo(&s, 1), "accept=application/json authorization=Bearer one []|1 end|");
    nest_write(&s.nest, "token", STR("two\n"));
    loop_wait(s.loop, 0);
    EXPECT_TEXT(echo(&s, 2), "accept=application/json authorization=Bearer two []|2 end|");
    nest_write(&s.nest, "token", STR("")); /* a bad one leaves what we had */
    wait_for(&s, 0, &s.complaints, "there is no token in it|");
    EXPECT_TEXT(echo(&s, 3), "accept=application/json authorization=Bearer two []|3 end|");
    EXPECT_INT(peer_accepted(s.peer), 1); /* a token needs no new connection */
}

TEST(transport, certificates_that_change_are_shown_on_a_new_connection)
{
    AUTO(stage) s = {0};
    const struct certs *certs = certs_get();
    stage_set(&s, (struct peer_config){.is_tls = true, .wants_client = true});
    start(&s, "client-certificate: cert.pem, client-key: key.pem");
    ask(&s, 1, LANE_READ, "/stream");
    wait_for(&s, 0, &s.log, "two");
    nest_write(&s.nest, "key.pem", buf_str(&certs->server.key_pem)); /* half of a rotation */
    wait_for(&s, 0, &s.complaints, "client key: key values mismatch|");
    nest_write(&s.nest, "cert.pem", buf_str(&certs->server.cert_pem));
    loop_wait(s.loop, 0);
    EXPECT_TEXT(echo(&s, 2), "accept=application/json [] from server|2 end|");
    EXPECT_INT(peer_connected(s.peer), 2); /* the stream lives on */
}

TEST(transport, a_service_account_is_found_in_its_folder)
{
    AUTO(stage) s = {0};
    struct error e = {0};
    char port[8], folder[64];
    stage_set(&s, (struct peer_config){.is_tls = true});
    nest_write(&s.nest, "token", STR("one"));
    snprintf(port, sizeof(port), "%u", peer_port(s.peer));
    snprintf(folder, sizeof(folder), "%s", s.nest.folder);
    setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", port, 1);
    s.config.service_account = folder;
    s.transport =
        transport_new(s.loop, &s.config, (struct transport_owner){hear, complain, &s}, &e);
    REQUIRE(s.transport);
    EXPECT_TEXT(echo(&s, 1), "accept=application/json authorization=Bearer one []|1 end|");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
}

static void write_program(struct stage *s, const char *expires)
{
    nest_printf(&s->nest, "login",
                "#!/bin/sh\n"
                "echo x >>%s/runs\n"
                "cat <<END\n"
                "{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
                "\"ExecCredential\", \"status\":\n"
                "{\"token\": \"$1-$(wc -l <%s/runs)-$REGION-$(echo $KUBERNETES_EXEC_INFO | tr -dc "
                "a-z0-9)\" %s}}\n"
                "END\n",
                s->nest.folder, s->nest.folder, expires);
    nest_make_executable(&s->nest, "login");
}

static const char exec_user[] =
    "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [arg], "
    "env: [{name: REGION, value: north}]}";

TEST(transport, a_program_says_who_we_are_and_is_asked_again_when_refused)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    write_program(&s, "");
    start(&s, exec_user);
    const char *info = "apiersionclientauthenticationk8siov1kindxecredentialspecinteractivefalse";
    char wanted[200];
    snprintf(wanted, sizeof(wanted),
             "accept=application/json authorization=Bearer arg-1-north-%s []|1 end|", info);
    EXPECT_TEXT(echo(&s, 1), wanted);
    ask(&s, 2, LANE_READ, "/status/401");
    wait_for(&s, 2, NULL, NULL);
    EXPECT(strstr(s.log.p, "2 head 401|"));
    snprintf(wanted, sizeof(wanted), "authorization=Bearer arg-2-north-%s", info);
    for (request_id id = 3; !strstr(echo(&s, id), wanted) && id < 5000;)
        id++;
    EXPECT(strstr(s.log.p, wanted));
    EXPECT_TEXT(s.complaints.p, NULL);
}

TEST(transport, a_program_is_asked_again_before_its_answer_expires)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    write_program(&s, ", \"expirationTimestamp\": \"2020-01-01T00:00:00Z\"");
    start(&s, exec_user);
    EXPECT(strstr(echo(&s, 1), "Bearer arg-1-"));
    for (request_id id = 2; !strstr(echo(&s, id), "Bearer arg-2-") && id < 100000;)
        id++;
    EXPECT(strstr(s.log.p, "Bearer arg-2-"));
}

TEST(transport, requests_are_lost_when_nobody_can_say_who_we_are)
{
    static const struct {
        const char *program, *error;
    } cases[] = {
        {"#!/bin/sh\nexit 3\n", "exit status 3"},
        {"#!/bin/sh\necho '{\"kind\": \"Pod\"}'\n",
         "it printed no ExecCredential of client.authentication.k8s.io/v1"},
        {"#!/bin/sh\necho hello\n", NULL},
        {"#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
         "\"ExecCredential\"}'\n",
         "it printed neither a token nor a certificate"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].program);
        AUTO(stage) s = {0};
        stage_set(&s, (struct peer_config){.is_tls = true});
        nest_write(&s.nest, "login", str_of(cases[i].program));
        nest_make_executable(&s.nest, "login");
        start(&s, exec_user);
        ask(&s, 1, LANE_READ, "/echo");
        wait_for(&s, 1, NULL, NULL);
        char wanted[200];
        snprintf(wanted, sizeof(wanted), "1 lost: exec %s/./login: %s|", s.nest.folder,
                 cases[i].error);
        if (cases[i].error)
            EXPECT_TEXT(s.log.p, wanted);
        EXPECT_TEXT(s.complaints.p, s.log.p + strlen("1 lost: "));
    }
}

TEST(transport, is_not_made_of_a_bad_kubeconfig)
{
    AUTO(stage) s = {0};
    struct error e = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    nest_write(&s.nest, "cert.pem", STR("no certificate"));
    write_config(&s, "client-certificate: cert.pem, client-key: key.pem");
    s.config.kubeconfig = nest_path(&s.nest, "config");
    EXPECT(!transport_new(s.loop, &s.config, (struct transport_owner){hear, complain, &s}, &e));
    EXPECT_TEXT(e.text, "client certificate: no start line");
}

TEST(transport, sends_no_more_than_it_may_but_the_lease_is_free)
{
    AUTO(stage) s = {0};
    stage_set(&s, (struct peer_config){.is_tls = true});
    s.config.qps = 20;
    s.config.burst = 2;
    start(&s, "token: abc");
    ask(&s, 1, LANE_LEASE, "/empty");
    wait_for(&s, 1, NULL, NULL);
    int64_t began_ms = loop_monotonic_ms(s.loop);
    for (request_id id = 2; id <= 6; id++)
        ask(&s, id, LANE_WRITE, "/empty");
    ask(&s, 7, LANE_LEASE, "/empty");
    wait_for(&s, 7, NULL, NULL);
    EXPECT(strstr(s.log.p, "7 end|") < strstr(s.log.p, "6 end|"));
    EXPECT(loop_monotonic_ms(s.loop) - began_ms >= 100); /* two at once, three more at 50 ms each */
}
