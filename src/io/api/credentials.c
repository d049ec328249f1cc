/* There is one way, whatever happened: look at the files into `next`, let the program, if there is
 * one, fill it in, adopt it. Until then `current` stays. */

#include "io/api/credentials.h"

#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/base/vec.h"
#include "io/api/exec.h"
#include "io/loop/file_watch.h"

enum {
    EARLY_MS = 10000, /* before credentials expire they are made anew */
    RETRY_FIRST_MS = 1000,
    RETRY_CAP_MS = 60000,
    LOOK_AGAIN_MS = 1000,
};

static const char default_service_account[] = "/var/run/secrets/kubernetes.io/serviceaccount";

struct watched {
    struct file_watch *watch;
    char *path; /* of a file in the folder */
};

struct credentials {
    struct loop *loop;
    struct credentials_config config;
    struct credentials_owner owner;
    struct kubeconfig current, next;
    struct tls *tls;
    struct buf authorization;
    bool is_placed;
    struct child *child;     /* fills in `next` */
    uint32_t failures;       /* of the program, in a row */
    uint64_t digest;         /* of the files as last read: others in their folders change, too */
    struct loop_timer again; /* asks the program */
    struct loop_task look;   /* at the files, */
    bool is_asking;          /* and asks the program whether or not they changed */
    int64_t refused_ms;      /* when we last looked because the server refused us; 0: never */
    VEC(struct watched) watches;
};

/* As client-go does it: a server that is named alone is not the one of our pod. */
static bool read_files(struct credentials *c, struct kubeconfig *out, struct error *e)
{
    const char *server = c->config.server;
    if (c->config.kubeconfig && !kubeconfig_read(out, c->config.kubeconfig, e))
        return false;
    if (server)
        return kubeconfig_set_server(out, server, e);
    if (c->config.kubeconfig)
        return true;
    const char *folder = c->config.service_account;
    return kubeconfig_read_service_account(out, folder ? folder : default_service_account,
                                           getenv("KUBERNETES_SERVICE_HOST"),
                                           getenv("KUBERNETES_SERVICE_PORT"), e);
}

static void look_soon(void *ctx)
{
    struct credentials *c = ctx;
    loop_task_put_off(c->loop, &c->look);
}

static struct str folder_of(struct str path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path;
}

static bool is_watched(const struct credentials *c, struct str path)
{
    vec_each(&c->watches, w) {
        if (str_equal(folder_of(path), folder_of(str_of(w->path))))
            return true;
    }
    return false;
}

/* Each folder once, and for good: a change must not slip through between two watches. */
static void watch_files(struct credentials *c, const struct kubeconfig *k)
{
    list_each(&k->files, path) {
        struct error e;
        if (is_watched(c, *path))
            continue;
        struct watched w = {.watch = file_watch_new(c->loop, path->p, look_soon, c, &e)};
        if (!w.watch) {
            c->owner.failed(c->owner.ctx, e.text);
            continue;
        }
        w.path = mem_copy(path->p, path->n + 1);
        vec_push(&c->watches, w);
    }
}

static void authorize(struct credentials *c, struct str token)
{
    struct buf value = {0};
    buf_add(&value, STR(""));
    if (token.n)
        buf_printf(&value, "Bearer " STR_FMT, STR_ARG(token));
    if (!str_equal(buf_str(&value), buf_str(&c->authorization)) || !c->is_placed)
        c->owner.authorized(c->owner.ctx, buf_str(&value));
    buf_done(&c->authorization);
    c->authorization = value;
}

static void place(struct credentials *c, struct tls *tls)
{
    struct kubeconfig old = c->current;
    struct tls *old_tls = c->tls;
    c->current = c->next;
    c->tls = tls;
    c->next = (struct kubeconfig){0};
    c->is_placed = true;
    c->owner.placed(c->owner.ctx, &c->current, c->tls);
    kubeconfig_done(&old);
    tls_free(old_tls);
}

/* `next` is complete. */
static void adopt(struct credentials *c)
{
    const struct kubeconfig *k = &c->next;
    struct tls_config config = {k->ca_pem, k->cert_pem, k->key_pem, k->is_unverified};
    struct tls *tls = NULL;
    struct error e;
    bool is_new = !c->is_placed || !kubeconfig_is_same_place(&c->current, k);
    if (is_new && k->is_tls && !(tls = tls_new(&config, &e))) {
        c->owner.failed(c->owner.ctx, e.text);
        kubeconfig_done(&c->next);
        return;
    }
    watch_files(c, k);
    authorize(c, k->token);
    if (is_new)
        place(c, tls);
    else
        kubeconfig_done(&c->next);
}

static void fail_exec(struct credentials *c, struct error *e)
{
    int64_t wait_ms = RETRY_FIRST_MS;
    for (uint32_t i = 0; i < c->failures && wait_ms < RETRY_CAP_MS; i++)
        wait_ms *= 2;
    c->failures++;
    loop_timer_set(c->loop, &c->again, MIN(wait_ms, (int64_t)RETRY_CAP_MS));
    error_wrap(e, "exec " STR_FMT, STR_ARG(str_part(c->next.exec.command, 0, 100)));
    kubeconfig_done(&c->next);
    c->owner.failed(c->owner.ctx, e->text);
}

static void see_printed(void *ctx, struct str output, const char *error)
{
    struct credentials *c = ctx;
    struct error e;
    int64_t expires_ms = 0;
    c->child = NULL;
    bool is_fine = error ? error_set(&e, ERROR_BUSY, "%s", error)
                         : exec_read(&c->next, output, &expires_ms, &e);
    if (!is_fine) {
        fail_exec(c, &e);
        return;
    }
    c->failures = 0;
    if (expires_ms)
        loop_timer_set(c->loop, &c->again,
                       MAX(expires_ms - loop_now_ms(c->loop) - EARLY_MS, (int64_t)RETRY_FIRST_MS));
    adopt(c);
}

/* What was on this way is given up. */
static void start_over(struct credentials *c)
{
    if (c->child)
        child_stop(c->child);
    c->child = NULL;
    loop_timer_stop(c->loop, &c->again);
    kubeconfig_done(&c->next);
}

static void look(void *ctx)
{
    struct credentials *c = ctx;
    struct kubeconfig k = {0};
    struct error e;
    bool is_asking = c->is_asking;
    c->is_asking = false;
    if (!read_files(c, &k, &e)) {
        c->digest = 0; /* when they are good again, start anew */
        c->owner.failed(c->owner.ctx, e.text);
        return;
    }
    if (k.digest == c->digest && !is_asking) {
        kubeconfig_done(&k);
        return;
    }
    start_over(c);
    c->next = k;
    c->digest = k.digest;
    if (k.exec.command.n == 0)
        adopt(c);
    else if (!(c->child = exec_start(c->loop, &c->next, see_printed, c, &e)))
        fail_exec(c, &e);
}

static void ask_again(void *ctx)
{
    struct credentials *c = ctx;
    c->is_asking = true;
    loop_task_put_off(c->loop, &c->look);
}

/* Only a check: the owner is called later. */
static bool check_files(struct credentials *c, struct error *e)
{
    struct kubeconfig k = {0};
    if (!read_files(c, &k, e))
        return false;
    struct tls_config config = {k.ca_pem, k.cert_pem, k.key_pem, k.is_unverified};
    struct tls *tls = k.is_tls ? tls_new(&config, e) : NULL;
    bool is_fine = tls || !k.is_tls;
    tls_free(tls);
    kubeconfig_done(&k);
    return is_fine;
}

struct credentials *credentials_new(struct loop *l, const struct credentials_config *config,
                                    struct credentials_owner owner, struct error *e)
{
    struct credentials *c = mem_alloc(sizeof(*c));
    c->loop = l;
    c->config = *config;
    c->owner = owner;
    c->again = (struct loop_timer){.fire = ask_again, .ctx = c};
    c->look = (struct loop_task){.run = look, .ctx = c};
    if (!check_files(c, e)) {
        credentials_free(c);
        return NULL;
    }
    ask_again(c);
    return c;
}

void credentials_free(struct credentials *c)
{
    if (!c)
        return;
    if (c->child)
        child_stop(c->child);
    loop_timer_stop(c->loop, &c->again);
    loop_task_stop(c->loop, &c->look);
    vec_each(&c->watches, w) {
        file_watch_free(w->watch);
        mem_free(w->path);
    }
    vec_done(&c->watches);
    kubeconfig_done(&c->current);
    kubeconfig_done(&c->next);
    tls_free(c->tls);
    buf_done(&c->authorization);
    mem_free(c);
}

void credentials_refuse(struct credentials *c)
{
    int64_t now_ms = loop_monotonic_ms(c->loop);
    if (c->child || (c->refused_ms && now_ms - c->refused_ms < LOOK_AGAIN_MS))
        return;
    c->refused_ms = now_ms;
    ask_again(c);
}
