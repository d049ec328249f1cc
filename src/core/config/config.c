#include "core/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/value.h"
#include "core/config/inside.h"

#define API_VERSION "kubescheduler.config.k8s.io/v1"

enum { NS_PER_MS = 1000000 };

/* --- messages --- */

enum { MESSAGES_MOST = 100 };

/* A copy that is one line. */
static struct str one_line(struct arena *mem, struct str text)
{
    char *copy = arena_alloc(mem, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = (unsigned char)text.p[i] < ' ' ? ' ' : text.p[i];
    return (struct str){copy, text.n};
}

static struct config_message message(struct reading *r, struct str path, const char *fmt,
                                     va_list args) PRINTF(3, 0);
static struct config_message message(struct reading *r, struct str path, const char *fmt,
                                     va_list args)
{
    struct arena *mem = &r->out->mem;
    char text[400];
    vsnprintf(text, sizeof(text), fmt, args);
    struct str json = buf_str(&r->out->json);
    return (struct config_message){
        .line = yaml_document_line(&r->yaml, walk_to(json, path)),
        .path = one_line(mem, path),
        .text = one_line(mem, str_of(text)),
    };
}

void config_error(struct reading *r, struct str path, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (r->out->errors.n < MESSAGES_MOST)
        vec_push(&r->out->errors, message(r, path, fmt, args));
    va_end(args);
}

void config_note(struct reading *r, struct str path, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (r->out->notes.n < MESSAGES_MOST)
        vec_push(&r->out->notes, message(r, path, fmt, args));
    va_end(args);
}

/* An error of the text itself, which has no paths. */
static void text_error(struct scheduler_config *c, uint32_t line, const char *text)
{
    struct config_message m = {.line = line, .text = arena_str(&c->mem, str_of(text))};
    vec_push(&c->errors, m);
}

/* --- the fields beside the profiles --- */

static void check_percentage(struct reading *r, struct str path, int32_t percentage)
{
    if (percentage < 0 || percentage > 100)
        config_error(r, path, "%d: not in valid range [0-100]", percentage);
    else if (percentage)
        config_note(r, path, "%d: all nodes that fit are scored, whatever it says", percentage);
}

static void check_backoff(struct reading *r)
{
    enum { MOST_S = 1000000000 };
    const struct file_config *f = &r->file;
    int64_t first = f->has_first_backoff ? f->first_backoff_s : 1;
    int64_t most = f->has_most_backoff ? f->most_backoff_s : 10;
    if (first <= 0 || first > MOST_S)
        config_error(r, STR("podInitialBackoffSeconds"), "%lld: must be greater than 0%s",
                     (long long)first, first > MOST_S ? " and at most 1000000000" : "");
    else if (most < first)
        config_error(r, STR("podMaxBackoffSeconds"),
                     "%lld: must be greater than or equal to podInitialBackoffSeconds",
                     (long long)most);
    else if (most > MOST_S)
        config_error(r, STR("podMaxBackoffSeconds"), "%lld: must be at most 1000000000",
                     (long long)most);
    r->out->first_backoff_ms = first * (first > 0 && first <= MOST_S ? 1000 : 0);
    r->out->most_backoff_ms = most * (most > 0 && most <= MOST_S ? 1000 : 0);
}

static struct str or_else(struct str text, struct str otherwise)
{
    return text.n ? text : otherwise;
}

/* A span of the election; 0 means its default. */
static int64_t election_ms(int64_t ns, int64_t otherwise_ms)
{
    return ns ? ns / NS_PER_MS : otherwise_ms;
}

static void check_span(struct reading *r, const char *field, int64_t ns)
{
    if (ns < 0)
        config_error(r, PATH(r, "leaderElection.%s", field), "must be greater than zero");
}

static void check_election(struct reading *r)
{
    const struct file_config *f = &r->file;
    struct leader_election *e = &r->out->leader_election;
    *e = (struct leader_election){
        .is_on = f->election.has_is_on ? f->election.is_on : true,
        .namespace = or_else(f->election.namespace, STR("kube-system")),
        .name = or_else(f->election.name, STR("kube-scheduler")),
        .lease_ms = election_ms(f->election.lease_ns, 15000),
        .renew_ms = election_ms(f->election.renew_ns, 10000),
        .retry_ms = election_ms(f->election.retry_ns, 2000),
    };
    if (!e->is_on) /* then the rest is nobody's business, as upstream sees it */
        return;
    check_span(r, "leaseDuration", f->election.lease_ns);
    check_span(r, "renewDeadline", f->election.renew_ns);
    check_span(r, "retryPeriod", f->election.retry_ns);
    if (e->lease_ms <= e->renew_ms)
        config_error(r, STR("leaderElection.leaseDuration"),
                     "must be greater than renewDeadline (%lld ms)", (long long)e->renew_ms);
    if (e->renew_ms * 10 <= e->retry_ms * 12)
        config_error(r, STR("leaderElection.renewDeadline"),
                     "must be greater than 1.2 times retryPeriod (%lld ms)",
                     (long long)e->retry_ms);
    if (f->election.lock.n && !str_equal(f->election.lock, STR("leases")))
        config_error(r, STR("leaderElection.resourceLock"),
                     "\"" STR_FMT "\": resourceLock value must be \"leases\"",
                     STR_ARG(str_part(f->election.lock, 0, 60)));
}

static void check_client(struct reading *r)
{
    const struct file_config *f = &r->file;
    struct client_connection *c = &r->out->client;
    *c = (struct client_connection){
        .kubeconfig = f->client.kubeconfig,
        .accept_content_types = f->client.accept_content_types,
        .content_type = or_else(f->client.content_type, STR("application/vnd.kubernetes.protobuf")),
        .burst = f->client.burst,
    };
    if (f->client.qps.n && !str_equal(f->client.qps, STR("null")) &&
        !value_number(f->client.qps, &c->qps))
        config_error(r, STR("clientConnection.qps"), STR_FMT " is not a number",
                     STR_ARG(str_part(f->client.qps, 0, 60)));
    if (c->burst < 0)
        config_error(r, STR("clientConnection.burst"), "%d: must be non-negative", c->burst);
}

static void check_rest(struct reading *r)
{
    const struct file_config *f = &r->file;
    struct scheduler_config *c = r->out;
    c->parallelism = f->has_parallelism ? f->parallelism : 16;
    c->delays_cache = f->delays_cache;
    c->profiles_itself = f->has_profiles_itself ? f->profiles_itself : true;
    if (c->parallelism <= 0)
        config_error(r, STR("parallelism"), "%d: should be an integer value greater than zero",
                     c->parallelism);
    else if (f->has_parallelism)
        config_note(r, STR("parallelism"), "%d: one thread decides, whatever it says",
                    c->parallelism);
    if (f->has_percentage)
        check_percentage(r, STR("percentageOfNodesToScore"), f->percentage);
    if (f->has_profiles_itself || f->has_profiles_contention)
        config_note(
            r, f->has_profiles_itself ? STR("enableProfiling") : STR("enableContentionProfiling"),
            "there is no Go runtime here whose profile could be served");
    if (f->delays_cache)
        config_note(r, STR("delayCacheUntilActive"),
                    "a standby keeps its cache warm, whatever it says");
}

/* --- reading --- */

/* What does not say what it is, is not looked at further. */
static bool check_kind(struct reading *r)
{
    struct str version = r->file.api_version, kind = r->file.kind;
    size_t before = r->out->errors.n;
    if (!version.n)
        config_error(r, STR("apiVersion"), "missing: " API_VERSION " is wanted");
    else if (!str_equal(version, STR(API_VERSION)))
        config_error(r, STR("apiVersion"), "\"" STR_FMT "\" is not " API_VERSION,
                     STR_ARG(str_part(version, 0, 60)));
    if (!kind.n)
        config_error(r, STR("kind"), "missing: KubeSchedulerConfiguration is wanted");
    else if (!str_equal(kind, STR("KubeSchedulerConfiguration")))
        config_error(r, STR("kind"), "\"" STR_FMT "\" is not KubeSchedulerConfiguration",
                     STR_ARG(str_part(kind, 0, 60)));
    return r->out->errors.n == before;
}

static void read_document(struct reading *r)
{
    struct scheduler_config *c = r->out;
    c->json = r->yaml.json;
    r->yaml.json = (struct buf){0};
    walk_doubled(r);
    if (!walk_read(r, buf_str(&c->json), file_config_fields, &r->file, (struct str){0}) ||
        !check_kind(r))
        return;
    check_client(r);
    check_election(r);
    check_backoff(r);
    check_rest(r);
    for (uint32_t i = 0; i < r->file.profiles.n; i++)
        if (r->file.profiles.at[i].has_percentage)
            check_percentage(r, PATH(r, "profiles[%u].percentageOfNodesToScore", i),
                             r->file.profiles.at[i].percentage);
    extenders_read(r);
    externals_begin(r);
    profiles_build(r);
}

static int by_line(const void *a, const void *b)
{
    const struct config_message *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    int order = str_compare(x->path, y->path);
    return order ? order : str_compare(x->text, y->text);
}

bool scheduler_config_read(struct scheduler_config *c, struct str text)
{
    return scheduler_config_read_with(c, text, NULL);
}

bool scheduler_config_read_with(struct scheduler_config *c, struct str text,
                                const struct externals *externals)
{
    struct reading r = {.out = c, .externals = externals};
    struct error e = {0};
    c->text_hash = str_hash(text);
    if (text.n > CONFIG_BYTES_MOST) {
        text_error(c, 0, "larger than 1 MiB");
        return false;
    }
    struct yaml_reader *y = yaml_reader_new(text);
    if (yaml_reader_next(y, &r.yaml, &e))
        read_document(&r);
    else
        text_error(c, e.kind ? r.yaml.line : 0, e.kind ? e.text : "empty");
    AUTO(yaml_document) more = {0};
    if (e.kind == ERROR_NONE && c->json.n && yaml_reader_next(y, &more, &e))
        text_error(c, more.line, "a second document");
    else if (c->json.n && e.kind)
        text_error(c, more.line, e.text);
    yaml_reader_free(y);
    yaml_document_done(&r.yaml);
    if (c->errors.n > 1)
        qsort(c->errors.at, c->errors.n, sizeof(*c->errors.at), by_line);
    if (c->notes.n > 1)
        qsort(c->notes.at, c->notes.n, sizeof(*c->notes.at), by_line);
    return c->errors.n == 0;
}

void scheduler_config_done(struct scheduler_config *c)
{
    vec_done(&c->errors);
    vec_done(&c->notes);
    buf_done(&c->json);
    arena_done(&c->mem);
    *c = (struct scheduler_config){0};
}
