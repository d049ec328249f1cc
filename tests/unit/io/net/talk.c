#include "talk.h"

#include "support/test.h"

static void hear(void *ctx, const struct http2_piece *p)
{
    struct talk *t = ctx;
    unsigned long long id = p->id;
    switch (p->kind) {
    case HTTP2_HEAD:
        buf_printf(&t->log, "%llu head %d " STR_FMT, id, p->status, STR_ARG(p->content_type));
        if (p->retry_after_ms >= 0)
            buf_printf(&t->log, " after %lld", (long long)p->retry_after_ms);
        buf_add_char(&t->log, '|');
        break;
    case HTTP2_DATA:
        buf_printf(&t->log, "%llu data " STR_FMT "|", id, STR_ARG(p->data));
        break;
    case HTTP2_END:
        buf_printf(&t->log, "%llu end|", id);
        t->ended++;
        break;
    case HTTP2_LOST:
        buf_printf(&t->log, "%llu lost%s: " STR_FMT "|", id, p->may_have_arrived ? " maybe" : "",
                   STR_ARG(p->error));
        t->ended++;
        break;
    }
    if (t->on_piece)
        t->on_piece(t, p);
}

static bool admit(void *ctx)
{
    struct talk *t = ctx;
    if (t->most == 0)
        return false;
    t->most -= t->most != UINT32_MAX;
    return true;
}

void talk_start_law(struct talk *t, struct loop *l, uint16_t port, bool is_tls,
                    struct http2_law law)
{
    struct http2_config config = {.user_agent = STR("test")};
    struct tls_config tls = {.ca_pem = buf_str(&certs_get()->ca.cert_pem)};
    struct error e = {0};
    t->loop = l;
    t->most = UINT32_MAX;
    if (is_tls)
        t->tls = tls_new(&tls, &e);
    config.link = (struct link_config){.host = STR("127.0.0.1"),
                                       .port = port,
                                       .tls = t->tls,
                                       .protocol = STR("h2"),
                                       .open_timeout_ms = 5000};
    t->client = http2_new(l, law, (struct http2_owner){hear, admit, t});
    http2_configure(t->client, &config);
}

void talk_start(struct talk *t, struct loop *l, uint16_t port, bool is_tls)
{
    talk_start_law(t, l, port, is_tls, http2_usual_law);
}

void talk_done(struct talk *t)
{
    http2_free(t->client);
    tls_free(t->tls);
    buf_done(&t->log);
}

void talk_get(struct talk *t, uint64_t id, const char *path)
{
    struct http2_call call = {.id = id, .method = "GET", .path = str_of(path), .timeout_ms = 20000};
    call.is_stream = str_equal(call.path, STR("/stream"));
    http2_send(t->client, &call);
}

void talk_post(struct talk *t, uint64_t id, const char *path, const char *body)
{
    struct http2_call call = {.id = id,
                              .method = "POST",
                              .path = str_of(path),
                              .body = str_of(body),
                              .content_type = STR("application/json"),
                              .timeout_ms = 20000};
    http2_send(t->client, &call);
}

static void be_late(void *ctx)
{
    *(bool *)ctx = true;
}

static bool wait_for(struct talk *t, uint32_t ended, const char *text)
{
    bool is_late = false;
    struct loop_timer late = {.fire = be_late, .ctx = &is_late};
    loop_timer_set(t->loop, &late, 20000);
    while (!is_late && (text ? !t->log.p || !strstr(t->log.p, text) : t->ended < ended))
        loop_wait(t->loop, INT64_MAX);
    loop_timer_stop(t->loop, &late);
    return !is_late;
}

bool talk_until_ended(struct talk *t, uint32_t ended)
{
    return EXPECT(wait_for(t, ended, NULL));
}

bool talk_until(struct talk *t, const char *text)
{
    return EXPECT(wait_for(t, 0, text));
}

const char *talk_log(struct talk *t)
{
    static char text[4096];
    snprintf(text, sizeof(text), "%s", t->log.p ? t->log.p : "");
    buf_clear(&t->log);
    return text;
}

void pair_start(struct pair *p, struct peer_config config, struct http2_law law)
{
    p->loop = loop_new();
    p->peer = peer_new(p->loop, &config);
    talk_start_law(&p->talk, p->loop, peer_port(p->peer), config.is_tls, law);
}

void pair_done(struct pair *p)
{
    talk_done(&p->talk);
    peer_free(p->peer);
    loop_free(p->loop);
}
