/* The extenders of a configuration. */

#include "core/base/base64.h"
#include "core/base/url.h"
#include "core/config/args_inside.h"
#include "core/model/resources.h"
#include "core/plugins/args.h"

enum { DEFAULT_TIMEOUT_MS = 5000, NS_PER_MS = 1000000 };

/* clang-format off */

static const struct field tls_fields[] = {
    {FIELD(STR, "caData", 0, struct file_extender_tls, ca_data)},
    {FIELD(STR, "caFile", 0, struct file_extender_tls, ca_file)},
    {FIELD(STR, "certData", 0, struct file_extender_tls, cert_data)},
    {FIELD(STR, "certFile", 0, struct file_extender_tls, cert_file)},
    {FIELD(BOOL, "insecure", 0, struct file_extender_tls, is_unverified)},
    {FIELD(STR, "keyData", 0, struct file_extender_tls, key_data), FIELD_SECRET},
    {FIELD(STR, "keyFile", 0, struct file_extender_tls, key_file)},
    {FIELD(STR, "serverName", 0, struct file_extender_tls, server_name)},
    FIELD_END,
};

static const struct field managed_fields[] = {
    {FIELD(BOOL, "ignoredByScheduler", 0, struct file_managed, is_ignored)},
    {FIELD(STR, "name", 0, struct file_managed, name)},
    FIELD_END,
};

#define VERB(text, verb) {FIELD(STR, text, 0, struct file_extender, verbs[verb])}

const struct field extender_fields[] = {
    VERB("bindVerb", EXTENDER_BIND),
    {FIELD(BOOL, "enableHTTPS", 0, struct file_extender, is_https)},
    VERB("filterVerb", EXTENDER_FILTER),
    {FIELD(SCALAR, "httpTimeout", 0, struct file_extender, timeout_ns), .scalar = &duration_scalar},
    {FIELD(BOOL, "ignorable", 0, struct file_extender, is_ignorable)},
    {FIELD_MESSAGES("managedResources", 0, struct file_extender, managed, managed_fields)},
    {FIELD(BOOL, "nodeCacheCapable", 0, struct file_extender, knows_nodes)},
    VERB("preemptVerb", EXTENDER_PREEMPT),
    VERB("prioritizeVerb", EXTENDER_PRIORITIZE),
    {FIELD_STRUCT("tlsConfig", 0, struct file_extender, tls, tls_fields)},
    {FIELD(STR, "urlPrefix", 0, struct file_extender, url), FIELD_SECRET},
    {FIELD(INT64, "weight", 0, struct file_extender, weight)},
    FIELD_END,
};

/* clang-format on */

/* --- checking --- */

/* One of them, where it stands in the file. */
struct extender_reading {
    struct reading *r;
    const struct file_extender *file;
    uint32_t i;
};

#define AT(a, ...)                                                                                 \
    PATH((a)->r, "extenders[%u]." STR_FMT, (a)->i, STR_ARG(PATH((a)->r, __VA_ARGS__)))

static void check_url(const struct extender_reading *a)
{
    struct url url;
    const char *wrong = a->file->url.n ? url_parse(a->file->url, &a->r->out->mem, &url) : NULL;
    if (a->file->url.n == 0)
        config_error(a->r, AT(a, "urlPrefix"), "missing");
    else if (wrong)
        config_error(a->r, AT(a, "urlPrefix"), "\"" STR_FMT "\" %s",
                     STR_ARG(url_shown(a->file->url)), wrong);
    else if (url.user.n)
        config_error(a->r, AT(a, "urlPrefix"), "a user in it is not supported");
}

/* It becomes a part of a path, in a line of its own. */
static void check_verbs(const struct extender_reading *a)
{
    static const char *const names[] = {"filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb"};
    for (uint32_t v = 0; v < EXTENDER_VERBS; v++) {
        struct str verb = a->file->verbs[v];
        for (size_t i = 0; i < verb.n; i++)
            if (verb.p[i] <= ' ' || verb.p[i] == 0x7f || verb.p[i] == '#') {
                config_error(a->r, AT(a, "%s", names[v]),
                             "\"" STR_FMT "\" holds a character that no path has",
                             STR_ARG(str_part(verb, 0, 80)));
                break;
            }
    }
}

static bool is_doubled(const struct reading *r, uint32_t extender, uint32_t resource)
{
    struct str name = r->file.extenders.at[extender].managed.at[resource].name;
    for (uint32_t i = 0; i <= extender; i++) {
        const struct file_extender *x = &r->file.extenders.at[i];
        for (uint32_t j = 0; j < (i == extender ? resource : x->managed.n); j++)
            if (str_equal(x->managed.at[j].name, name))
                return true;
    }
    return false;
}

static void check_managed(const struct extender_reading *a)
{
    for (uint32_t j = 0; j < a->file->managed.n; j++) {
        struct str name = a->file->managed.at[j].name, shown = str_part(name, 0, 80);
        struct str path = AT(a, "managedResources[%u].name", j);
        if (!resource_is_extended(name))
            config_error(a->r, path, "\"" STR_FMT "\" is an invalid extended resource name",
                         STR_ARG(shown));
        if (is_doubled(a->r, a->i, j))
            config_error(a->r, path, "\"" STR_FMT "\": duplicate extender managed resource name",
                         STR_ARG(shown));
    }
}

static void check_numbers(const struct extender_reading *a)
{
    if (a->file->verbs[EXTENDER_PRIORITIZE].n && a->file->weight <= 0)
        config_error(a->r, AT(a, "weight"), "%lld: must have a positive weight applied to it",
                     (long long)a->file->weight);
    if (a->file->timeout_ns < 0)
        config_error(a->r, AT(a, "httpTimeout"), "must not be negative");
}

static struct str decode(const struct extender_reading *a, const char *field, struct str text)
{
    AUTO(buf) bytes = {0};
    if (base64_decode(&bytes, text))
        return arena_str(&a->r->out->mem, buf_str(&bytes));
    config_error(a->r, AT(a, "tlsConfig.%s", field), "is not base64");
    return (struct str){0};
}

static struct extender_tls read_tls(const struct extender_reading *a)
{
    const struct file_extender_tls *f = &a->file->tls;
    struct extender_tls tls = {
        .is_unverified = f->is_unverified,
        .server_name = f->server_name,
        .ca_file = f->ca_file,
        .cert_file = f->cert_file,
        .key_file = f->key_file,
        .ca_pem = decode(a, "caData", f->ca_data),
        .cert_pem = decode(a, "certData", f->cert_data),
        .key_pem = decode(a, "keyData", f->key_data),
    };
    bool has_cert = f->cert_data.n || f->cert_file.n, has_key = f->key_data.n || f->key_file.n;
    bool has_ca = f->ca_data.n || f->ca_file.n;
    if (has_cert != has_key)
        config_error(a->r, AT(a, "tlsConfig"), "a certificate and its key come together");
    if (has_ca && f->is_unverified)
        config_error(a->r, AT(a, "tlsConfig.insecure"),
                     "specifying a root certificates file with the insecure flag is not allowed");
    tls.is_unverified |= a->file->is_https && !has_ca;
    return tls;
}

static struct extender read_one(const struct extender_reading *a)
{
    const struct file_extender *f = a->file;
    struct extender x = {
        .url = f->url,
        .weight = f->weight,
        .timeout_ms = f->timeout_ns ? MAX(f->timeout_ns / NS_PER_MS, (int64_t)1)
                                    : (int64_t)DEFAULT_TIMEOUT_MS,
        .knows_nodes = f->knows_nodes,
        .is_ignorable = f->is_ignorable,
    };
    check_url(a);
    check_verbs(a);
    check_numbers(a);
    check_managed(a);
    x.tls = read_tls(a);
    memcpy(x.verbs, f->verbs, sizeof(x.verbs));
    struct str *names = arena_array(&a->r->out->mem, struct str, f->managed.n);
    for (uint32_t i = 0; i < f->managed.n; i++)
        names[i] = f->managed.at[i].name;
    x.resources.at = names;
    x.resources.n = f->managed.n;
    return x;
}

void extenders_read(struct reading *r)
{
    struct scheduler_config *c = r->out;
    uint32_t n = r->file.extenders.n, binders = 0;
    if (n > EXTENDERS_MOST) {
        config_error(r, STR("extenders"), "more than %u", EXTENDERS_MOST);
        return;
    }
    c->extenders = arena_array(&c->mem, struct extender, n);
    for (int is_ignorable = 0; is_ignorable < 2; is_ignorable++) /* those stand behind the others */
        for (uint32_t i = 0; i < n; i++) {
            struct extender_reading a = {r, &r->file.extenders.at[i], i};
            if (a.file->is_ignorable != (is_ignorable == 1))
                continue;
            c->extenders[c->n_extenders++] = read_one(&a);
            binders += a.file->verbs[EXTENDER_BIND].n > 0;
        }
    if (binders > 1)
        config_error(r, STR("extenders"),
                     "found %u extenders implementing bind: only one extender can implement bind",
                     binders);
}

/* --- resources that they take care of --- */

/* What they take care of alone; none: *n is 0. */
static const struct str *ignored(struct reading *r, uint32_t *n)
{
    uint32_t most = 0;
    list_each(&r->file.extenders, x)
        most += x->managed.n;
    struct str *names = arena_array(&r->out->mem, struct str, most);
    *n = 0;
    list_each(&r->file.extenders, x)
        list_each(&x->managed, resource)
            if (resource->is_ignored)
                names[(*n)++] = resource->name;
    return names;
}

/* Instead of the resources that the profile's own arguments name, as upstream has it. */
void extenders_ignore(struct reading *r, struct profile_plugin *p)
{
    uint32_t n;
    const struct str *names = ignored(r, &n);
    if (n == 0 || !str_equal(str_of(p->plugin->name), STR("NodeResourcesFit")))
        return;
    struct fit_args *args = arena_array(&r->out->mem, struct fit_args, 1);
    if (p->args)
        *args = *(const struct fit_args *)p->args;
    args->ignored_resources.at = names;
    args->ignored_resources.n = n;
    p->args = args;
}
