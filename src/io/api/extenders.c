#include "io/api/extenders.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/url.h"
#include "io/net/http1_client.h"
#include "kube/limits.h"

enum { CONNECTIONS_MOST = 16, IDLE_MS = 60000, PEM_BYTES_MOST = 1 << 20 };

struct place {
    struct url url;
    struct tls *tls; /* NULL: none */
    struct http1_client *client;
};

struct extenders {
    struct arena mem;
    struct extenders_owner owner;
    struct place *at;
    uint32_t n;
};

/* --- who they are --- */

static bool read_fd(int fd, struct buf *out, struct error *e)
{
    char room[4096];
    ssize_t n;
    while ((n = read(fd, room, sizeof(room))) > 0 && out->n <= PEM_BYTES_MOST)
        buf_add_bytes(out, room, (size_t)n);
    if (n < 0)
        return error_set(e, ERROR_INVALID, "%s", strerror(errno));
    return out->n <= PEM_BYTES_MOST || error_set(e, ERROR_INVALID, "larger than 1 MiB");
}

/* The data if there is some, else what is in the file, if one is named. */
static bool read_pem(struct extenders *x, struct str data, struct str file, struct str *out,
                     struct error *e)
{
    AUTO(buf) text = {0};
    *out = data;
    if (data.n || file.n == 0)
        return true;
    struct str path = arena_str(&x->mem, file);
    int fd = open(path.p, O_RDONLY | O_CLOEXEC);
    bool is_fine =
        fd >= 0 ? read_fd(fd, &text, e) : error_set(e, ERROR_INVALID, "%s", strerror(errno));
    if (fd >= 0)
        close(fd);
    *out = arena_str(&x->mem, buf_str(&text));
    return is_fine || error_wrap(e, "%s", path.p);
}

static bool begin_tls(struct extenders *x, const struct extender *from, struct place *p,
                      struct error *e)
{
    const struct extender_tls *t = &from->tls;
    struct tls_config config = {.is_unverified = t->is_unverified};
    if (!read_pem(x, t->ca_pem, t->ca_file, &config.ca_pem, e) ||
        !read_pem(x, t->cert_pem, t->cert_file, &config.cert_pem, e) ||
        !read_pem(x, t->key_pem, t->key_file, &config.key_pem, e))
        return false;
    p->tls = p->url.is_tls ? tls_new(&config, e) : NULL;
    return p->tls || !p->url.is_tls;
}

/* --- replies --- */

static void deliver(void *ctx, const struct http1_piece *piece)
{
    static const enum reply_kind kinds[] = {
        [HTTP1_STATUS] = REPLY_HEAD,
        [HTTP1_DATA] = REPLY_DATA,
        [HTTP1_END] = REPLY_END,
        [HTTP1_LOST] = REPLY_LOST,
    };
    const struct extenders *x = ctx;
    struct reply reply = {
        .id = piece->id,
        .kind = kinds[piece->kind],
        .status = piece->status,
        .retry_after_ms = -1,
        .data = piece->data,
        .may_have_arrived = piece->may_have_arrived,
        .error = piece->error,
    };
    x->owner.reply(x->owner.ctx, &reply);
}

/* --- the face --- */

static bool begin(struct extenders *x, struct loop *l, const struct extender *from, struct place *p,
                  struct error *e)
{
    const char *wrong = url_parse(from->url, &x->mem, &p->url);
    if (wrong)
        return error_set(e, ERROR_INVALID, "it %s", wrong);
    if (!begin_tls(x, from, p, e))
        return false;
    struct http1_client_config config = {
        .link = {.host = p->url.host,
                 .port = p->url.port,
                 .tls = p->tls,
                 .server_name = from->tls.server_name,
                 .open_timeout_ms = from->timeout_ms},
        .user_agent = STR("kubenexus"),
        .connections_most = CONNECTIONS_MOST,
        .idle_ms = IDLE_MS,
        .bytes_most = VERDICT_BYTES_MOST,
    };
    p->client = http1_client_new(l, &config, (struct http1_owner){deliver, x});
    return true;
}

struct extenders *extenders_new(struct loop *l, const struct extender *list, uint32_t n,
                                struct extenders_owner owner, struct error *e)
{
    struct extenders *x = mem_alloc(sizeof(*x));
    x->owner = owner;
    x->at = arena_array(&x->mem, struct place, n);
    for (; x->n < n; x->n++)
        if (!begin(x, l, &list[x->n], &x->at[x->n], e)) {
            error_wrap(e, "extender " STR_FMT, STR_ARG(str_part(list[x->n].url, 0, 80)));
            extenders_free(x);
            return NULL;
        }
    return x;
}

void extenders_free(struct extenders *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        http1_client_free(x->at[i].client);
        tls_free(x->at[i].tls);
    }
    arena_done(&x->mem);
    mem_free(x);
}

void extenders_send(struct extenders *x, const struct requests *requests)
{
    vec_each(&requests->list, r) {
        if (r->extender == 0)
            continue;
        assert(r->extender <= x->n);
        const struct place *p = &x->at[r->extender - 1];
        AUTO(buf) path = {0};
        buf_printf(&path, STR_FMT "/" STR_FMT, STR_ARG(p->url.path), STR_ARG(r->path));
        http1_client_send(p->client, &(struct http1_call){
                                         .id = r->id,
                                         .path = buf_str(&path),
                                         .content_type = r->content_type,
                                         .body = r->body,
                                         .timeout_ms = r->timeout_ms,
                                         .may_repeat = r->is_question,
                                     });
    }
}
