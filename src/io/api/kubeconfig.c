#include "io/api/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/hash.h"
#include "core/base/url.h"
#include "core/base/vec.h"
#include "core/wire/json_read.h"
#include "core/wire/yaml.h"

/* --- the file --- */

struct cluster {
    struct str name;
    struct str server, server_name, proxy_url;
    struct str ca_file, ca_data;
    bool is_unverified;
};

struct user {
    struct str name;
    struct str cert_file, cert_data, key_file, key_data;
    struct str token, token_file;
    struct kubeconfig_exec exec;
    struct str interactive_mode;
    struct str as, username; /* of what we cannot be */
    struct str auth_provider;
};

struct context {
    struct str name, cluster, user;
};

struct file {
    LIST(struct cluster) clusters;
    LIST(struct user) users;
    LIST(struct context) contexts;
    struct str current;
};

static const struct field cluster_fields[] = {
    {FIELD(STR, "certificate-authority", 0, struct cluster, ca_file)},
    {FIELD(STR, "certificate-authority-data", 0, struct cluster, ca_data)},
    {FIELD(BOOL, "insecure-skip-tls-verify", 0, struct cluster, is_unverified)},
    {FIELD(STR, "proxy-url", 0, struct cluster, proxy_url), FIELD_SECRET},
    {FIELD(STR, "server", 0, struct cluster, server), FIELD_SECRET},
    {FIELD(STR, "tls-server-name", 0, struct cluster, server_name)},
    FIELD_END,
};

static const struct field named_cluster_fields[] = {
    {FIELD_PART("cluster", 0, cluster_fields)},
    {FIELD(STR, "name", 0, struct cluster, name)},
    FIELD_END,
};

static const struct field env_fields[] = {
    {FIELD(STR, "name", 0, struct kubeconfig_env, name)},
    {FIELD(STR, "value", 0, struct kubeconfig_env, value), FIELD_SECRET},
    FIELD_END,
};

static const struct field exec_fields[] = {
    {FIELD(STR, "apiVersion", 0, struct user, exec.api_version)},
    {FIELD_STRS("args", 0, struct user, exec.args), FIELD_SECRET},
    {FIELD(STR, "command", 0, struct user, exec.command)},
    {FIELD_MESSAGES("env", 0, struct user, exec.env, env_fields)},
    {FIELD(STR, "interactiveMode", 0, struct user, interactive_mode)},
    {FIELD(BOOL, "provideClusterInfo", 0, struct user, exec.provide_cluster_info)},
    FIELD_END,
};

static const struct field user_fields[] = {
    {FIELD(STR, "as", 0, struct user, as)},
    {FIELD(RAW, "auth-provider", 0, struct user, auth_provider)},
    {FIELD(STR, "client-certificate", 0, struct user, cert_file)},
    {FIELD(STR, "client-certificate-data", 0, struct user, cert_data)},
    {FIELD(STR, "client-key", 0, struct user, key_file)},
    {FIELD(STR, "client-key-data", 0, struct user, key_data), FIELD_SECRET},
    {FIELD_PART("exec", 0, exec_fields)},
    {FIELD(STR, "token", 0, struct user, token), FIELD_SECRET},
    {FIELD(STR, "tokenFile", 0, struct user, token_file)},
    {FIELD(STR, "username", 0, struct user, username)},
    FIELD_END,
};

static const struct field named_user_fields[] = {
    {FIELD(STR, "name", 0, struct user, name)},
    {FIELD_PART("user", 0, user_fields)},
    FIELD_END,
};

static const struct field context_fields[] = {
    {FIELD(STR, "cluster", 0, struct context, cluster)},
    {FIELD(STR, "user", 0, struct context, user)},
    FIELD_END,
};

static const struct field named_context_fields[] = {
    {FIELD_PART("context", 0, context_fields)},
    {FIELD(STR, "name", 0, struct context, name)},
    FIELD_END,
};

static const struct field file_fields[] = {
    {FIELD_MESSAGES("clusters", 0, struct file, clusters, named_cluster_fields)},
    {FIELD_MESSAGES("contexts", 0, struct file, contexts, named_context_fields)},
    {FIELD(STR, "current-context", 0, struct file, current)},
    {FIELD_MESSAGES("users", 0, struct file, users, named_user_fields)},
    FIELD_END,
};

/* --- reading files --- */

struct reading {
    struct kubeconfig *into;
    struct str folder; /* with its slash; empty: where we are */
    VEC(struct str) files;
    struct error *e;
};

static bool read_fd(int fd, struct buf *out, struct error *e)
{
    char chunk[4096];
    ssize_t got;
    while ((got = read(fd, chunk, sizeof(chunk))) > 0 && out->n <= KUBECONFIG_BYTES_MOST)
        buf_add_bytes(out, chunk, (size_t)got);
    if (got < 0)
        return error_set(e, ERROR_INVALID, "%s", strerror(errno));
    return out->n <= KUBECONFIG_BYTES_MOST ||
           error_set(e, ERROR_INVALID, "larger than %d bytes", KUBECONFIG_BYTES_MOST);
}

/* A path is taken from the kubeconfig's folder. What was read lives in the arena. */
static bool read_file(struct reading *r, struct str path, struct str *out)
{
    struct arena *mem = &r->into->mem;
    bool is_absolute = str_starts(path, STR("/"));
    struct str whole = arena_printf(
        mem, STR_FMT STR_FMT, STR_ARG(is_absolute ? (struct str){0} : r->folder), STR_ARG(path));
    struct buf text = {0};
    vec_push(&r->files, whole);
    int fd = open(whole.p, O_RDONLY | O_CLOEXEC);
    bool is_fine =
        fd >= 0 ? read_fd(fd, &text, r->e) : error_set(r->e, ERROR_INVALID, "%s", strerror(errno));
    if (fd >= 0)
        close(fd);
    if (is_fine) {
        *out = arena_str(mem, buf_str(&text));
        r->into->digest = hash_pair(r->into->digest, str_hash(*out));
    }
    buf_done(&text);
    return is_fine || error_wrap(r->e, "%s", whole.p);
}

/* The data if there is some, else what is in the file, if one is named. */
static bool read_pem(struct reading *r, const char *field, struct str data, struct str file,
                     struct str *out)
{
    if (data.n == 0)
        return file.n == 0 || read_file(r, file, out) || error_wrap(r->e, "%s", field);
    struct buf bytes = {0};
    bool is_fine = base64_decode(&bytes, data);
    if (is_fine)
        *out = arena_str(&r->into->mem, buf_str(&bytes));
    buf_done(&bytes);
    return is_fine || error_set(r->e, ERROR_INVALID, "%s-data: is not base64", field);
}

bool kubeconfig_set_token(struct kubeconfig *k, struct str token, struct error *e)
{
    while (token.n && (unsigned char)token.p[token.n - 1] <= ' ')
        token.n--;
    while (token.n && (unsigned char)token.p[0] <= ' ')
        token = str_part(token, 1, token.n);
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] <= ' ' || token.p[i] == 0x7f)
            return error_set(e, ERROR_INVALID, "byte %zu is no part of a token", i);
    }
    k->token = token;
    return true;
}

static bool read_token(struct reading *r, struct str token, struct str file)
{
    if (file.n && !read_file(r, file, &token))
        return error_wrap(r->e, "tokenFile");
    if (!kubeconfig_set_token(r->into, token, r->e))
        return error_wrap(r->e, file.n ? "tokenFile" : "token");
    return file.n == 0 || r->into->token.n ||
           error_set(r->e, ERROR_INVALID, "tokenFile: " STR_FMT ": there is no token in it",
                     STR_ARG(file));
}

/* --- the context --- */

static bool set_server(struct reading *r, struct str server)
{
    struct kubeconfig *k = r->into;
    struct url url;
    const char *wrong = url_parse(server, &k->mem, &url);
    if (wrong)
        return error_set(r->e, ERROR_INVALID, "server: \"" STR_FMT "\" %s",
                         STR_ARG(url_shown(server)), wrong);
    k->server = server;
    k->host = url.host;
    k->port = url.port;
    k->path_prefix = url.path;
    k->is_tls = url.is_tls;
    return true;
}

static bool set_proxy(struct reading *r, struct str proxy)
{
    struct kubeconfig *k = r->into;
    struct url url;
    if (proxy.n == 0)
        return true;
    const char *wrong = url_parse(proxy, &k->mem, &url);
    if (!wrong && url.is_tls)
        wrong = "is not supported: only http:// is";
    if (wrong)
        return error_set(r->e, ERROR_INVALID, "proxy-url: \"" STR_FMT "\" %s",
                         STR_ARG(url_shown(proxy)), wrong);
    k->proxy_url = proxy;
    k->proxy_host = url.host;
    k->proxy_port = url.port;
    if (url.user.n) {
        struct buf text = {0};
        buf_add(&text, STR("Basic "));
        base64_add(&text, url.user);
        k->proxy_authorization = arena_str(&k->mem, buf_str(&text));
        buf_done(&text);
    }
    return true;
}

static bool use_cluster(struct reading *r, const struct cluster *c)
{
    struct kubeconfig *k = r->into;
    k->server_name = c->server_name;
    k->is_unverified = c->is_unverified;
    if (!set_server(r, c->server) || !set_proxy(r, c->proxy_url) ||
        !read_pem(r, "certificate-authority", c->ca_data, c->ca_file, &k->ca_pem))
        return false;
    if (k->is_unverified && k->ca_pem.n)
        return error_set(
            r->e, ERROR_INVALID,
            "insecure-skip-tls-verify: true makes no sense with a certificate-authority");
    return true;
}

static bool check_exec(struct reading *r, const struct user *u)
{
    struct str version = u->exec.api_version;
    if (u->exec.command.n == 0)
        return version.n == 0 || error_set(r->e, ERROR_INVALID, "exec.command: missing");
    if (!str_equal(version, STR("client.authentication.k8s.io/v1")) &&
        !str_equal(version, STR("client.authentication.k8s.io/v1beta1")))
        return error_set(r->e, ERROR_INVALID,
                         "exec.apiVersion: \"" STR_FMT
                         "\" is not client.authentication.k8s.io/v1 or v1beta1",
                         STR_ARG(str_part(version, 0, 60)));
    if (str_equal(u->interactive_mode, STR("Always")))
        return error_set(r->e, ERROR_INVALID,
                         "exec.interactiveMode: Always: there is nobody to ask");
    return true;
}

static bool use_user(struct reading *r, const struct user *u)
{
    struct kubeconfig *k = r->into;
    if (u->auth_provider.n)
        return error_set(r->e, ERROR_INVALID, "auth-provider: is not supported: use exec");
    if (u->username.n || u->as.n)
        return error_set(r->e, ERROR_INVALID, "%s: is not supported", u->as.n ? "as" : "username");
    if (!read_pem(r, "client-certificate", u->cert_data, u->cert_file, &k->cert_pem) ||
        !read_pem(r, "client-key", u->key_data, u->key_file, &k->key_pem) ||
        !read_token(r, u->token, u->token_file) || !check_exec(r, u))
        return false;
    if (!k->cert_pem.n != !k->key_pem.n)
        return error_set(r->e, ERROR_INVALID, "%s: missing",
                         k->cert_pem.n ? "client-key" : "client-certificate");
    k->exec = u->exec;
    if (str_find(k->exec.command, '/') < k->exec.command.n && k->exec.command.p[0] != '/')
        k->exec.command =
            arena_printf(&k->mem, STR_FMT STR_FMT, STR_ARG(r->folder), STR_ARG(k->exec.command));
    return true;
}

/* An entry of a list of structs that begin with a name; NULL, with the error set. */
static const void *find_named(struct reading *r, const void *at, uint32_t n, size_t size,
                              struct str wanted, const char *field)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct str *name = (const void *)((const char *)at + i * size);
        if (str_equal(*name, wanted))
            return name;
    }
    error_set(r->e, ERROR_INVALID, "%s: \"" STR_FMT "\" is not in the file", field,
              STR_ARG(str_part(wanted, 0, 100)));
    return NULL;
}

#define FIND_NAMED(r, list, wanted, field)                                                         \
    find_named(r, (list).at, (list).n, sizeof(*(list).at), wanted, field)

static bool use_context(struct reading *r, const struct file *f)
{
    if (f->current.n == 0)
        return error_set(r->e, ERROR_INVALID, "current-context: missing");
    const struct context *context = FIND_NAMED(r, f->contexts, f->current, "current-context");
    if (!context)
        return false;
    const struct cluster *cluster = FIND_NAMED(r, f->clusters, context->cluster, "cluster");
    const struct user *user = NULL;
    if (cluster && context->user.n)
        user = FIND_NAMED(r, f->users, context->user, "user");
    if (!cluster || (context->user.n && !user))
        return error_wrap(r->e, "context " STR_FMT, STR_ARG(context->name));
    if (!use_cluster(r, cluster))
        return error_wrap(r->e, "cluster " STR_FMT, STR_ARG(cluster->name));
    return !user || use_user(r, user) || error_wrap(r->e, "user " STR_FMT, STR_ARG(user->name));
}

static bool read_document(struct reading *r, struct str text)
{
    AUTO(yaml_document) d = {0};
    struct yaml_reader *y = yaml_reader_new(text);
    struct error *e = r->e;
    struct file file = {0};
    size_t where = 0;
    yaml_reader_hide(y);
    e->kind = ERROR_NONE;
    bool has_document = yaml_reader_next(y, &d, e);
    yaml_reader_free(y);
    if (!has_document && e->kind == ERROR_NONE)
        return error_set(e, ERROR_INVALID, "there is nothing in it");
    if (!has_document)
        return error_wrap(e, "line %u", d.line);
    struct str json = arena_str(&r->into->mem, buf_str(&d.json));
    if (!json_read(json, file_fields, &file, &r->into->mem, &where, e))
        return error_wrap(e, "line %u", yaml_document_line(&d, where));
    return use_context(r, &file);
}

static bool finish(struct reading *r, bool is_fine)
{
    struct kubeconfig *k = r->into;
    k->files.n = r->files.n;
    if (r->files.n)
        k->files.at = arena_copy(&k->mem, r->files.at, r->files.n * sizeof(*r->files.at));
    vec_done(&r->files);
    if (!is_fine)
        kubeconfig_done(k);
    return is_fine;
}

bool kubeconfig_read(struct kubeconfig *k, const char *path, struct error *e)
{
    struct reading r = {.into = k, .e = e};
    struct str text;
    const char *slash = strrchr(path, '/');
    bool is_fine = read_file(&r, str_of(path), &text);
    if (is_fine) {
        r.folder = arena_str(&k->mem, (struct str){path, slash ? (size_t)(slash - path) + 1 : 0});
        is_fine = read_document(&r, text) || error_wrap(e, "%s", path);
    }
    return finish(&r, is_fine);
}

bool kubeconfig_read_service_account(struct kubeconfig *k, const char *folder, const char *host,
                                     const char *port, struct error *e)
{
    if (!host || !port || !host[0] || !port[0])
        return error_set(e, ERROR_INVALID,
                         "%s: missing in the environment: this is no pod, name a kubeconfig",
                         host && host[0] ? "KUBERNETES_SERVICE_PORT" : "KUBERNETES_SERVICE_HOST");
    struct reading r = {.into = k, .folder = arena_printf(&k->mem, "%s/", folder), .e = e};
    struct str server =
        arena_printf(&k->mem, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    bool is_fine = set_server(&r, server) && read_file(&r, STR("ca.crt"), &k->ca_pem) &&
                   read_token(&r, (struct str){0}, STR("token"));
    return finish(&r, is_fine) || error_wrap(e, "service account");
}

bool kubeconfig_set_server(struct kubeconfig *k, const char *url, struct error *e)
{
    struct reading r = {.into = k, .e = e};
    if (set_server(&r, str_of(url)))
        return true;
    kubeconfig_done(k);
    return false;
}

void kubeconfig_done(struct kubeconfig *k)
{
    arena_done(&k->mem);
    *k = (struct kubeconfig){0};
}

bool kubeconfig_is_same_place(const struct kubeconfig *a, const struct kubeconfig *b)
{
    return str_equal(a->server, b->server) && str_equal(a->ca_pem, b->ca_pem) &&
           a->is_unverified == b->is_unverified && str_equal(a->server_name, b->server_name) &&
           str_equal(a->proxy_url, b->proxy_url) && str_equal(a->cert_pem, b->cert_pem) &&
           str_equal(a->key_pem, b->key_pem);
}
