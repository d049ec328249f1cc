#include "io/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../net/caller.h"
#include "io/net/self_signed.h"
#include "support/test.h"

/* A place where pages are served: who has the token "good" may, "poor" may not, and "slow" waits.
 */
struct place {
    struct loop *loop;
    struct serve *serve;
    struct buf said; /* of the log */
    server_id slow;
    bool is_ready;
    char folder[32], cert[64], key[64];
};

static bool is_ready(const void *ctx)
{
    return ((const struct place *)ctx)->is_ready;
}

static void write_page(void *ctx, struct buf *out)
{
    (void)ctx;
    buf_printf(out, "a page");
}

static const struct health_check checks[] = {
    {"ready", is_ready, "not yet"},
};
static const struct health health[] = {
    {"readyz", checks, 1},
};
static const struct serve_page pages[] = {
    {"/metrics", "text/plain", write_page},
};

static void judge(void *ctx, server_id id, const struct serve_question *q)
{
    struct place *p = ctx;
    if (str_equal(q->token, STR("slow")))
        p->slow = id;
    else if (str_equal(q->token, STR("good")))
        serve_decide(p->serve, id, SERVE_ALLOWED, STR("ann"));
    else if (str_equal(q->token, STR("poor")))
        serve_decide(p->serve, id, SERVE_DENIED, STR("bob"));
    else if (q->is_proven)
        serve_decide(p->serve, id, SERVE_DENIED, q->client.name);
    else if (q->token.n)
        serve_decide(p->serve, id, SERVE_STRANGER, STR(""));
    else
        serve_decide(p->serve, id, SERVE_DENIED, STR(""));
}

static void note(void *ctx, bool is_fine, const char *text)
{
    struct place *p = ctx;
    buf_printf(&p->said, "%s: %s\n", is_fine ? "fine" : "not fine", text);
}

/* As kubelet would not do it: file by file. */
static void put_file(const char *path, struct str text)
{
    FILE *f = fopen(path, "w");
    fwrite(text.p, 1, text.n, f);
    fclose(f);
}

static struct serve *start(struct place *p, struct serve_config *config, struct error *e)
{
    config->server = server_usual;
    config->server.address = STR("127.0.0.1");
    config->server.port = 0;
    config->always_allowed = STR("/readyz,/open*");
    config->health = health;
    config->n_health = 1;
    config->pages = pages;
    config->n_pages = 1;
    return serve_new(p->loop, config, (struct serve_owner){p, judge, note}, e);
}

static void place_start(struct place *p, bool knows_clients)
{
    const struct certs *c = certs_get();
    struct error e = {0};
    snprintf(p->folder, sizeof(p->folder), "/var/tmp/serve.XXXXXX");
    EXPECT(mkdtemp(p->folder));
    snprintf(p->cert, sizeof(p->cert), "%s/tls.crt", p->folder);
    snprintf(p->key, sizeof(p->key), "%s/tls.key", p->folder);
    put_file(p->cert, buf_str(&c->server.cert_pem));
    put_file(p->key, buf_str(&c->server.key_pem));
    p->loop = loop_new();
    struct serve_config config = {.cert_file = p->cert, .key_file = p->key};
    p->serve = start(p, &config, &e);
    EXPECT_TEXT(e.text, "");
    if (knows_clients)
        serve_trust(p->serve, buf_str(&c->ca.cert_pem));
    buf_add(&p->said, STR(""));
}

static void place_done(struct place *p)
{
    serve_free(p->serve);
    loop_free(p->loop);
    buf_done(&p->said);
    unlink(p->cert);
    unlink(p->key);
    rmdir(p->folder);
}

static void call(struct place *p, struct caller *c, bool shows_certificate)
{
    caller_start(c, p->loop, serve_port(p->serve), shows_certificate);
}

TEST(serve, asks_for_rights_unless_a_path_is_always_allowed)
{
    static const struct {
        const char *path, *headers, *answer;
    } cases[] = {
        {"/readyz", "", "500 Internal Server Error"},
        {"/readyz/ready", "", "403 Forbidden"},
        {"/readyz/ready", "Authorization: Bearer good\r\n", "500 Internal Server Error"},
        {"/readyzz", "Authorization: Bearer good\r\n", "404 Not Found"},
        {"/open/nothing", "", "404 Not Found"},
        {"/metrics", "", "403 Forbidden"},
        {"/metrics", "Authorization: Basic good\r\n", "403 Forbidden"},
        {"/metrics", "authorization: bearer good\r\n", "200 OK"},
        {"/metrics?x=y", "Authorization: Bearer good\r\n", "200 OK"},
        {"/metrics/", "Authorization: Bearer good\r\n", "404 Not Found"},
        {"/metrics", "Authorization: Bearer other\r\n", "401 Unauthorized"},
        {"/metrics", "Authorization: Bearer poor\r\n",
         "User \\\"bob\\\" cannot get path \\\"/metrics\\\"\""},
    };
    AUTO(place) p = {0};
    place_start(&p, false);
    AUTO(caller) c = {0};
    call(&p, &c, false);
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s %s", cases[i].path, cases[i].headers);
        EXPECT(strstr(caller_get(&c, cases[i].path, cases[i].headers), cases[i].answer));
    }
    p.is_ready = true;
    EXPECT(strstr(caller_get(&c, "/readyz", ""), "\r\n\r\nok"));
    EXPECT_INT(serve_stats(p.serve).accepted, 1);
}

TEST(serve, only_answers_questions)
{
    AUTO(place) p = {0};
    place_start(&p, false);
    AUTO(caller) c = {0};
    call(&p, &c, false);
    caller_say(&c, "DELETE /readyz HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT(caller_hears(&c, "HTTP/1.1 405 Method Not Allowed"));
}

TEST(serve, answers_when_the_verdict_comes)
{
    AUTO(place) p = {0};
    place_start(&p, false);
    AUTO(caller) c = {0};
    call(&p, &c, false);
    caller_say(&c, "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer slow\r\n\r\n");
    for (int i = 0; i < 1000 && !p.slow; i++)
        loop_wait(p.loop, loop_now_ms(p.loop) + 20);
    EXPECT_INT(c.heard.n, 0);
    serve_decide(p.serve, p.slow, SERVE_BUSY, STR(""));
    EXPECT(caller_hears(&c, "HTTP/1.1 429 Too Many Requests"));
    serve_decide(p.serve, p.slow, SERVE_ALLOWED, STR("")); /* nobody waits for it */
}

TEST(serve, knows_clients_by_certificates_of_an_authority_it_trusts)
{
    for (int knows = 0; knows < 2; knows++) {
        AUTO(place) p = {0};
        place_start(&p, knows);
        AUTO(caller) c = {0};
        call(&p, &c, true);
        EXPECT(strstr(caller_get(&c, "/metrics", ""), knows ? "User \\\"somebody\\\" cannot get"
                                                            : "User \\\"system:anonymous\\\""));
    }
    AUTO(place) p = {0};
    place_start(&p, false);
    serve_trust(p.serve, buf_str(&certs_get()->other_ca.cert_pem));
    AUTO(caller) c = {0};
    call(&p, &c, true);
    EXPECT(strstr(caller_get(&c, "/metrics", ""), "401 Unauthorized"));
    EXPECT(strstr(caller_get(&c, "/readyz", ""), "500 Internal")); /* for everybody */
    serve_trust(p.serve, STR("no certificate"));
    EXPECT(strstr(p.said.p, "not fine: "));
}

static bool says(struct place *p, const char *text)
{
    int64_t until_ms = loop_now_ms(p->loop) + 20000;
    while (!strstr(p->said.p, text) && loop_now_ms(p->loop) < until_ms)
        loop_wait(p->loop, loop_now_ms(p->loop) + 20);
    return strstr(p->said.p, text);
}

TEST(serve, takes_new_certificates_once_they_fit)
{
    AUTO(place) p = {0};
    place_start(&p, false);
    struct identity own = {0};
    struct error e = {0};
    EXPECT(self_signed_make(STR("host"), &own.cert_pem, &own.key_pem, &e));
    put_file(p.cert, buf_str(&own.cert_pem)); /* its key is still the old one */
    EXPECT(says(&p, "server key: key values mismatch"));
    {
        AUTO(caller) c = {0};
        call(&p, &c, false);
        EXPECT(strstr(caller_get(&c, "/open", ""), "404")); /* with the old one */
    }
    put_file(p.key, buf_str(&own.key_pem));
    EXPECT(says(&p, "fine: the serving certificate has changed"));
    AUTO(caller) c = {0};
    call(&p, &c, false);
    EXPECT(strstr(caller_get(&c, "/open", ""), "self-signed certificate"));
    buf_done(&own.cert_pem);
    buf_done(&own.key_pem);
}

TEST(serve, says_what_is_wrong_with_its_files)
{
    AUTO(place) p = {0};
    place_start(&p, false);
    struct error e = {0};
    struct serve_config config = {.cert_file = "nowhere.crt", .key_file = p.key};
    EXPECT(!start(&p, &config, &e));
    EXPECT_TEXT(e.text, "nowhere.crt: No such file or directory");
    config = (struct serve_config){.cert_file = p.cert, .key_file = p.cert};
    EXPECT(!start(&p, &config, &e));
    EXPECT(strstr(e.text, "server key: ") && str_starts(str_of(e.text), str_of(p.cert)));
}
