#include "io/api/exec.h"

#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/buf.h"
#include "core/base/vec.h"
#include "core/wire/json_read.h"
#include "core/wire/json_write.h"

enum { TIMEOUT_MS = 60000, OUTPUT_MOST = 1 << 20 };

struct credential {
    struct str api_version, kind;
    struct str token, cert_pem, key_pem;
    int64_t expires_ms;
};

static const struct field status_fields[] = {
    {FIELD(STR, "clientCertificateData", 0, struct credential, cert_pem)},
    {FIELD(STR, "clientKeyData", 0, struct credential, key_pem), FIELD_SECRET},
    {FIELD(TIME, "expirationTimestamp", 0, struct credential, expires_ms)},
    {FIELD(STR, "token", 0, struct credential, token), FIELD_SECRET},
    FIELD_END,
};

static const struct field credential_fields[] = {
    {FIELD(STR, "apiVersion", 0, struct credential, api_version)},
    {FIELD(STR, "kind", 0, struct credential, kind)},
    {FIELD_PART("status", 0, status_fields)},
    FIELD_END,
};

static void put_cluster(struct json_writer *w, const struct kubeconfig *k)
{
    struct buf ca = {0};
    base64_add(&ca, k->ca_pem);
    json_put_key(w, STR("cluster"));
    json_put_open(w, '{');
    put_nonempty(w, "server", k->server);
    put_nonempty(w, "tls-server-name", k->server_name);
    put_nonempty(w, "certificate-authority-data", buf_str(&ca));
    put_nonempty(w, "proxy-url", k->proxy_url);
    if (k->is_unverified) {
        json_put_key(w, STR("insecure-skip-tls-verify"));
        json_put_bool(w, true);
    }
    json_put_close(w, '}');
    buf_done(&ca);
}

/* What the program is told: KUBERNETES_EXEC_INFO. */
static void put_info(struct buf *out, const struct kubeconfig *k)
{
    struct json_writer w = {.out = out};
    buf_add(out, STR("KUBERNETES_EXEC_INFO="));
    json_put_open(&w, '{');
    put_nonempty(&w, "apiVersion", k->exec.api_version);
    put_text(&w, "kind", STR("ExecCredential"));
    json_put_key(&w, STR("spec"));
    json_put_open(&w, '{');
    json_put_key(&w, STR("interactive"));
    json_put_bool(&w, false);
    if (k->exec.provide_cluster_info)
        put_cluster(&w, k);
    json_put_close(&w, '}');
    json_put_close(&w, '}');
}

static char *c_text(struct arena *mem, struct str s)
{
    char *text = arena_alloc(mem, s.n + 1);
    memcpy(text, s.p ? s.p : "", s.n);
    return text;
}

static bool is_replaced(const struct kubeconfig_exec *exec, const char *entry)
{
    struct str name = str_of(entry);
    name.n = str_find(name, '=');
    list_each(&exec->env, env) {
        if (str_equal(env->name, name))
            return true;
    }
    return str_equal(name, STR("KUBERNETES_EXEC_INFO"));
}

static char **make_env(struct arena *mem, const struct kubeconfig *k)
{
    VEC(char *) env = {0};
    struct buf text = {0};
    for (char **at = environ; *at; at++) {
        if (!is_replaced(&k->exec, *at))
            vec_push(&env, *at);
    }
    list_each(&k->exec.env, it) {
        buf_clear(&text);
        buf_printf(&text, STR_FMT "=" STR_FMT, STR_ARG(it->name), STR_ARG(it->value));
        vec_push(&env, c_text(mem, buf_str(&text)));
    }
    buf_clear(&text);
    put_info(&text, k);
    vec_push(&env, c_text(mem, buf_str(&text)));
    vec_push(&env, NULL);
    char **kept = arena_copy(mem, env.at, env.n * sizeof(*env.at));
    vec_done(&env);
    buf_done(&text);
    return kept;
}

struct child *exec_start(struct loop *l, const struct kubeconfig *k, child_fn *fn, void *ctx,
                         struct error *e)
{
    struct arena mem = {0};
    char **argv = arena_array(&mem, char *, k->exec.args.n + 2);
    argv[0] = c_text(&mem, k->exec.command);
    for (uint32_t i = 0; i < k->exec.args.n; i++)
        argv[i + 1] = c_text(&mem, k->exec.args.at[i]);
    struct child_spec spec = {.argv = argv,
                              .env = make_env(&mem, k),
                              .output_most = OUTPUT_MOST,
                              .timeout_ms = TIMEOUT_MS};
    struct child *child = child_start(l, &spec, fn, ctx, e);
    arena_done(&mem);
    return child;
}

static bool use(struct kubeconfig *k, const struct credential *c, struct error *e)
{
    if (!str_equal(c->kind, STR("ExecCredential")) ||
        !str_equal(c->api_version, k->exec.api_version))
        return error_set(e, ERROR_INVALID, "it printed no ExecCredential of " STR_FMT,
                         STR_ARG(k->exec.api_version));
    if (c->token.n == 0 && c->cert_pem.n == 0)
        return error_set(e, ERROR_INVALID, "it printed neither a token nor a certificate");
    if (!c->cert_pem.n != !c->key_pem.n)
        return error_set(e, ERROR_INVALID, "it printed a certificate or a key, not both");
    if (c->token.n && !kubeconfig_set_token(k, c->token, e))
        return error_wrap(e, "status.token");
    if (c->cert_pem.n) {
        k->cert_pem = c->cert_pem;
        k->key_pem = c->key_pem;
    }
    return true;
}

bool exec_read(struct kubeconfig *k, struct str output, int64_t *expires_ms, struct error *e)
{
    struct credential c = {0};
    size_t where = 0;
    struct str text = arena_str(&k->mem, output);
    if (!json_read(text, credential_fields, &c, &k->mem, &where, e) || !use(k, &c, e))
        return false;
    *expires_ms = c.expires_ms == FIELD_TIME_NONE ? 0 : c.expires_ms;
    return true;
}
