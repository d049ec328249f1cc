#include "caller.h"

#include "support/test.h"

static void opened(void *ctx)
{
    struct caller *c = ctx;
    c->is_open = true;
}

static void received(void *ctx, struct str bytes)
{
    struct caller *c = ctx;
    buf_add(&c->heard, bytes);
}

static void drained(void *ctx)
{
    (void)ctx;
}

static void broke(void *ctx, const char *why, bool is_over)
{
    struct caller *c = ctx;
    (void)is_over;
    c->link = NULL;
    buf_printf(&c->why, "%s", why);
}

void caller_start(struct caller *c, struct loop *l, uint16_t port, bool shows_certificate)
{
    const struct certs *certs = certs_get();
    struct tls_config tls = {.ca_pem = buf_str(&certs->ca.cert_pem)};
    struct error e = {0};
    if (shows_certificate) {
        tls.cert_pem = buf_str(&certs->client.cert_pem);
        tls.key_pem = buf_str(&certs->client.key_pem);
    }
    *c = (struct caller){.loop = l, .tls = tls_new(&tls, &e)};
    buf_add(&c->heard, STR(""));
    struct link_config config = {.host = STR("127.0.0.1"),
                                 .port = port,
                                 .tls = c->tls,
                                 .protocol = STR("http/1.1"),
                                 .open_timeout_ms = 20000};
    c->link = link_open(l, &config, (struct link_owner){opened, received, drained, broke, c});
}

void caller_done(struct caller *c)
{
    if (c->link)
        link_close(c->link);
    tls_free(c->tls);
    buf_done(&c->heard);
    buf_done(&c->why);
}

static bool turn_until(struct caller *c, int64_t until_ms)
{
    loop_wait(c->loop, loop_now_ms(c->loop) + 20);
    return loop_now_ms(c->loop) < until_ms;
}

void caller_say(struct caller *c, const char *text)
{
    int64_t until_ms = loop_now_ms(c->loop) + 20000;
    while (c->link && !c->is_open && turn_until(c, until_ms))
        continue;
    if (!c->link)
        return;
    buf_add(link_out(c->link), str_of(text));
    link_flush(c->link);
}

bool caller_hears(struct caller *c, const char *text)
{
    int64_t until_ms = loop_now_ms(c->loop) + 20000;
    while (!(c->heard.n && strstr(c->heard.p, text)))
        if (!c->link || !turn_until(c, until_ms))
            return false;
    return true;
}

bool caller_ends(struct caller *c)
{
    int64_t until_ms = loop_now_ms(c->loop) + 20000;
    while (c->link)
        if (!turn_until(c, until_ms))
            return false;
    return true;
}

/* Is there a head and as much body as it says? */
static bool is_whole(const struct buf *heard)
{
    const char *length = heard->n ? strstr(heard->p, "Content-Length: ") : NULL;
    const char *body = heard->n ? strstr(heard->p, "\r\n\r\n") : NULL;
    return length && body && strlen(body + 4) >= strtoul(length + 16, NULL, 10);
}

const char *caller_get(struct caller *c, const char *path, const char *headers)
{
    struct buf text = {0};
    int64_t until_ms = loop_now_ms(c->loop) + 20000;
    buf_clear(&c->heard);
    buf_printf(&text, "GET %s HTTP/1.1\r\nHost: here\r\n%s\r\n", path, headers);
    caller_say(c, text.p);
    while (c->link && !is_whole(&c->heard) && turn_until(c, until_ms))
        continue;
    buf_done(&text);
    return c->heard.n ? c->heard.p : c->why.p ? c->why.p : "";
}
