#include "io/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/wire/json_write.h"
#include "io/loop/file_watch.h"
#include "io/net/self_signed.h"

#define PLAIN "text/plain; charset=utf-8"

enum { FILE_BYTES_MOST = 1 << 20, WATCHES = 3 };

struct serve {
    struct loop *loop;
    struct serve_config config;
    struct serve_owner owner;
    struct server *server;
    struct buf cert, key, client_ca; /* as they are in use */
    struct file_watch *watches[WATCHES];
};

/* --- certificates --- */

static bool read_file(const char *path, struct buf *out, struct error *e)
{
    char room[4096];
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(e, ERROR_INVALID, "%s: %s", path, strerror(errno));
    while (out->n < FILE_BYTES_MOST && (n = read(fd, room, sizeof(room))) > 0)
        buf_add_bytes(out, room, (size_t)n);
    close(fd);
    if (n < 0)
        return error_set(e, ERROR_INVALID, "%s: %s", path, strerror(errno));
    return out->n < FILE_BYTES_MOST || error_set(e, ERROR_INVALID, "%s: too large", path);
}

struct papers {
    struct buf cert, key, client_ca;
};

static void papers_done(struct papers *p)
{
    buf_done(&p->cert);
    buf_done(&p->key);
    buf_done(&p->client_ca);
}

static bool read_pair(const struct serve_config *c, struct papers *out, struct error *e)
{
    return read_file(c->cert_file, &out->cert, e) && read_file(c->key_file, &out->key, e);
}

static bool first_papers(const struct serve_config *c, struct papers *out, struct error *e)
{
    if (c->client_ca_file && !read_file(c->client_ca_file, &out->client_ca, e))
        return false;
    return c->cert_file ? read_pair(c, out, e)
                        : self_signed_make(c->host, &out->cert, &out->key, e);
}

static void swap(struct buf *a, struct buf *b)
{
    struct buf kept = *a;
    *a = *b;
    *b = kept;
}

static bool use_papers(struct serve *s, struct papers *p, struct error *e)
{
    struct tls_server_config config = {
        .cert_pem = buf_str(&p->cert),
        .key_pem = buf_str(&p->key),
        .client_ca_pem = buf_str(&p->client_ca),
        .is_1_3_only = s->config.is_tls_1_3_only,
        .ciphers = s->config.ciphers,
    };
    struct tls *tls = tls_new_server(&config, e);
    if (!tls)
        return s->config.cert_file
                   ? error_wrap(e, "%s, %s", s->config.cert_file, s->config.key_file)
                   : false;
    server_use(s->server, tls);
    swap(&s->cert, &p->cert);
    swap(&s->key, &p->key);
    swap(&s->client_ca, &p->client_ca);
    return true;
}

/* Files change one after the other: as long as they do not fit, the old ones serve. */
static void look_again(void *ctx)
{
    struct serve *s = ctx;
    AUTO(papers) p = {0};
    struct error e = {0};
    if (!s->config.cert_file) {
        buf_add(&p.cert, buf_str(&s->cert));
        buf_add(&p.key, buf_str(&s->key));
    }
    if (!s->config.client_ca_file)
        buf_add(&p.client_ca, buf_str(&s->client_ca));
    bool is_read =
        (!s->config.cert_file || read_pair(&s->config, &p, &e)) &&
        (!s->config.client_ca_file || read_file(s->config.client_ca_file, &p.client_ca, &e));
    bool is_same = is_read && str_equal(buf_str(&p.cert), buf_str(&s->cert)) &&
                   str_equal(buf_str(&p.key), buf_str(&s->key)) &&
                   str_equal(buf_str(&p.client_ca), buf_str(&s->client_ca));
    if (is_same)
        return;
    if (is_read && use_papers(s, &p, &e))
        s->owner.note(s->owner.ctx, true, "the serving certificate has changed");
    else
        s->owner.note(s->owner.ctx, false, e.text);
}

void serve_trust(struct serve *s, struct str client_ca_pem)
{
    AUTO(papers) p = {0};
    struct error e = {0};
    if (s->config.client_ca_file || str_equal(client_ca_pem, buf_str(&s->client_ca)))
        return;
    buf_add(&p.cert, buf_str(&s->cert));
    buf_add(&p.key, buf_str(&s->key));
    buf_add(&p.client_ca, client_ca_pem);
    if (!use_papers(s, &p, &e))
        s->owner.note(s->owner.ctx, false, e.text);
}

static bool watch_files(struct serve *s, struct error *e)
{
    const char *files[WATCHES] = {s->config.cert_file, s->config.key_file,
                                  s->config.client_ca_file};
    for (size_t i = 0; i < WATCHES; i++) {
        if (!files[i])
            continue;
        s->watches[i] = file_watch_new(s->loop, files[i], look_again, s, e);
        if (!s->watches[i])
            return false;
    }
    return true;
}

/* --- answers --- */

static void answer(struct serve *s, server_id id, int status, const char *type,
                   const struct buf *body)
{
    server_answer(s->server, id,
                  &(struct server_answer){
                      .status = status,
                      .content_type = str_of(type),
                      .body = buf_str(body),
                      .headers = STR("X-Content-Type-Options: nosniff\r\n"
                                     "Cache-Control: no-cache, private\r\n"),
                  });
}

static void answer_text(struct serve *s, server_id id, int status, const char *text)
{
    struct buf body = {0};
    buf_printf(&body, "%s\n", text);
    answer(s, id, status, PLAIN, &body);
    buf_done(&body);
}

/* A refusal as the API server words it. */
static void answer_status(struct serve *s, server_id id, int status, const char *reason,
                          struct str message)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};
    json_put_open(&w, '{');
    json_put_key(&w, STR("kind"));
    json_put_str(&w, STR("Status"));
    json_put_key(&w, STR("apiVersion"));
    json_put_str(&w, STR("v1"));
    json_put_key(&w, STR("metadata"));
    json_put_open(&w, '{');
    json_put_close(&w, '}');
    json_put_key(&w, STR("status"));
    json_put_str(&w, STR("Failure"));
    json_put_key(&w, STR("message"));
    json_put_str(&w, message);
    json_put_key(&w, STR("reason"));
    json_put_str(&w, str_of(reason));
    json_put_key(&w, STR("code"));
    json_put_int(&w, status);
    json_put_close(&w, '}');
    answer(s, id, status, "application/json", &body);
    buf_done(&body);
}

/* "/readyz" and "/readyz/ping" are of `name` readyz. */
static bool is_below(struct str path, const char *name, struct str *rest)
{
    struct str own = str_of(name), p = str_part(path, 1, path.n);
    *rest = str_part(p, own.n + 1, p.n);
    return str_starts(p, own) && (p.n == own.n || (p.p[own.n] == '/' && rest->n));
}

static void answer_page(struct serve *s, server_id id, const struct http1_request *r)
{
    struct buf body = {0};
    struct str check;
    for (uint32_t i = 0; i < s->config.n_health; i++)
        if (is_below(r->path, s->config.health[i].name, &check)) {
            int status = health_answer(&s->config.health[i], s->owner.ctx, r, check, &body);
            answer(s, id, status, PLAIN, &body);
            buf_done(&body);
            return;
        }
    for (uint32_t i = 0; i < s->config.n_pages; i++)
        if (str_equal(r->path, str_of(s->config.pages[i].path))) {
            s->config.pages[i].write(s->owner.ctx, &body);
            answer(s, id, 200, s->config.pages[i].content_type, &body);
            buf_done(&body);
            return;
        }
    answer_text(s, id, 404, "404 page not found");
}

/* --- questions --- */

static bool is_always_allowed(const struct serve *s, struct str path)
{
    struct str rest = s->config.always_allowed;
    while (rest.n) {
        struct str one = str_take(&rest, ',');
        if (one.n && one.p[one.n - 1] == '*' ? str_starts(path, str_part(one, 0, one.n - 1))
                                             : str_equal(path, one))
            return true;
    }
    return false;
}

static struct str bearer_of(const struct http1_request *r)
{
    static const struct str before = STR("Bearer ");
    struct str value = http1_header(r, STR("authorization"));
    struct str token = str_part(value, before.n, value.n);
    return strncasecmp(value.p ? value.p : "", before.p, MIN(value.n, before.n)) == 0 ? token
                                                                                      : STR("");
}

static void judge(struct serve *s, server_id id, const struct http1_request *r)
{
    struct arena mem = {0};
    struct serve_question q = {.path = r->path, .verb = STR("get")};
    enum tls_client client = server_client(s->server, id, &mem, &q.client);
    if (str_equal(r->method, STR("HEAD")))
        q.verb = STR("head");
    q.is_proven = client == TLS_CLIENT_PROVEN;
    q.token = bearer_of(r);
    if (client == TLS_CLIENT_REFUSED)
        serve_decide(s, id, SERVE_STRANGER, STR(""));
    else
        s->owner.judge(s->owner.ctx, id, &q);
    arena_done(&mem);
}

static void ask(void *ctx, server_id id)
{
    struct serve *s = ctx;
    struct http1_request r;
    bool is_there = server_request(s->server, id, &r);
    assert(is_there);
    if (!str_equal(r.method, STR("GET")) && !str_equal(r.method, STR("HEAD")))
        answer_text(s, id, 405, "only GET and HEAD");
    else if (is_always_allowed(s, r.path))
        answer_page(s, id, &r);
    else
        judge(s, id, &r);
}

void serve_decide(struct serve *s, server_id id, enum serve_verdict verdict, struct str user)
{
    struct http1_request r;
    if (!server_request(s->server, id, &r))
        return;
    struct buf text = {0};
    switch (verdict) {
    case SERVE_ALLOWED:
        answer_page(s, id, &r);
        break;
    case SERVE_STRANGER:
        answer_status(s, id, 401, "Unauthorized", STR("Unauthorized"));
        break;
    case SERVE_DENIED:
        buf_printf(&text, "forbidden: User \"" STR_FMT "\" cannot %s path \"" STR_FMT "\"",
                   STR_ARG(user.n ? user : STR("system:anonymous")),
                   str_equal(r.method, STR("HEAD")) ? "head" : "get", STR_ARG(r.path));
        answer_status(s, id, 403, "Forbidden", buf_str(&text));
        break;
    case SERVE_BUSY:
        answer_text(s, id, 429, "too many requests: try again later");
        break;
    case SERVE_FAILED:
        answer_text(s, id, 500, "the API server did not say whether this is allowed");
        break;
    }
    buf_done(&text);
}

/* --- the face --- */

struct serve *serve_new(struct loop *l, const struct serve_config *config, struct serve_owner owner,
                        struct error *e)
{
    struct serve *s = mem_alloc(sizeof(*s));
    *s = (struct serve){.loop = l, .config = *config, .owner = owner};
    AUTO(papers) p = {0};
    s->server = server_new(l, &config->server, (struct server_owner){ask, s}, e);
    if (s->server && first_papers(config, &p, e) && use_papers(s, &p, e) && watch_files(s, e))
        return s;
    serve_free(s);
    return NULL;
}

void serve_free(struct serve *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < WATCHES; i++)
        file_watch_free(s->watches[i]);
    server_free(s->server);
    buf_done(&s->cert);
    buf_done(&s->key);
    buf_done(&s->client_ca);
    mem_free(s);
}

uint16_t serve_port(const struct serve *s)
{
    return server_port(s->server);
}

struct server_stats serve_stats(const struct serve *s)
{
    return server_stats(s->server);
}
