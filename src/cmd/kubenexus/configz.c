#include "cmd/kubenexus/configz.h"

#include <stdlib.h>

#include "core/wire/json_write.h"

/* As Go prints a duration of whole milliseconds that is mostly of whole seconds. */
static void put_span(struct json_writer *w, const char *key, int64_t ms)
{
    char text[40];
    if (ms % 1000)
        snprintf(text, sizeof(text), "%lldms", (long long)ms);
    else if (ms < 60000)
        snprintf(text, sizeof(text), "%llds", (long long)ms / 1000);
    else
        snprintf(text, sizeof(text), "%lldm%llds", (long long)ms / 60000,
                 (long long)ms / 1000 % 60);
    put_text(w, key, str_of(text));
}

static void put_election(struct json_writer *w, const struct run_options *o)
{
    put_open(w, "leaderElection", '{');
    put_bool(w, "leaderElect", o->elects_leader);
    put_span(w, "leaseDuration", o->lease.duration_ms);
    put_span(w, "renewDeadline", o->lease.renew_ms);
    put_span(w, "retryPeriod", o->lease.retry_ms);
    put_text(w, "resourceLock", STR("leases"));
    put_text(w, "resourceName", o->lease.name);
    put_text(w, "resourceNamespace", o->lease.namespace);
    json_put_close(w, '}');
}

static void put_connection(struct json_writer *w, const struct run_options *o)
{
    put_open(w, "clientConnection", '{');
    put_text(w, "kubeconfig", o->kubeconfig ? str_of(o->kubeconfig) : STR(""));
    put_text(w, "acceptContentTypes", STR(""));
    put_text(w, "contentType", STR("application/vnd.kubernetes.protobuf"));
    json_put_key(w, STR("qps"));
    json_put_double(w, o->qps);
    put_int(w, "burst", o->burst);
    json_put_close(w, '}');
}

static void put_points(struct json_writer *w, const struct profile_listing *l)
{
    put_open(w, "plugins", '{');
    for (uint32_t p = 0; p < N_POINTS; p++) {
        if (l->points[p].n == 0)
            continue;
        json_put_key(w, point_name((enum point)p));
        json_put_open(w, '{');
        put_open(w, "enabled", '[');
        list_each(&l->points[p], plugin) {
            json_put_open(w, '{');
            put_text(w, "name", plugin->name);
            if (plugin->weight)
                put_int(w, "weight", plugin->weight);
            json_put_close(w, '}');
        }
        json_put_close(w, ']');
        json_put_close(w, '}');
    }
    json_put_close(w, '}');
}

static void put_profiles(struct json_writer *w, const struct run_options *o)
{
    put_open(w, "profiles", '[');
    for (uint32_t i = 0; i < o->config.n_profiles; i++) {
        json_put_open(w, '{');
        put_text(w, "schedulerName", o->config.profiles[i].name);
        put_points(w, &o->config.listings[i]);
        json_put_close(w, '}');
    }
    if (!o->config_file) { /* the built-in one */
        json_put_open(w, '{');
        put_text(w, "schedulerName", STR("kubenexus-scheduler"));
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

static void put_extenders(struct json_writer *w, const struct scheduler_config *c)
{
    static const char *const verbs[] = {"filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb"};
    put_open(w, "extenders", '[');
    for (uint32_t i = 0; i < c->n_extenders; i++) {
        const struct extender *x = &c->extenders[i];
        json_put_open(w, '{');
        put_text(w, "urlPrefix", x->url);
        for (uint32_t v = 0; v < EXTENDER_VERBS; v++)
            if (x->verbs[v].n)
                put_text(w, verbs[v], x->verbs[v]);
        put_int(w, "weight", x->weight);
        put_span(w, "httpTimeout", x->timeout_ms);
        put_bool(w, "nodeCacheCapable", x->knows_nodes);
        put_bool(w, "ignorable", x->is_ignorable);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

void configz_write(const struct run_options *o, struct buf *out)
{
    struct json_writer w = {.out = out};
    const struct scheduler_config *c = &o->config;
    json_put_open(&w, '{');
    put_open(&w, "componentconfig", '{');
    put_text(&w, "kind", STR("KubeSchedulerConfiguration"));
    put_text(&w, "apiVersion", STR("kubescheduler.config.k8s.io/v1"));
    put_election(&w, o);
    put_connection(&w, o);
    put_int(&w, "percentageOfNodesToScore", 100);
    put_int(&w, "podInitialBackoffSeconds", o->config_file ? c->first_backoff_ms / 1000 : 1);
    put_int(&w, "podMaxBackoffSeconds", o->config_file ? c->most_backoff_ms / 1000 : 10);
    put_profiles(&w, o);
    if (c->n_extenders)
        put_extenders(&w, c);
    json_put_close(&w, '}');
    json_put_close(&w, '}');
    buf_add_char(out, '\n');
}

static int by_name(const void *a, const void *b)
{
    return strcmp(flag_table[*(const int *)a].name, flag_table[*(const int *)b].name);
}

void flagz_write(const struct flags *f, struct buf *out)
{
    int ids[N_FLAGS];
    for (int i = 0; i < N_FLAGS; i++)
        ids[i] = i;
    qsort(ids, N_FLAGS, sizeof(ids[0]), by_name);
    buf_printf(out, "\nkubenexus flagz\nFor people who look for a fault: the form may change.\n\n");
    for (int i = 0; i < N_FLAGS; i++)
        buf_printf(out, "%s=" STR_FMT "\n", flag_table[ids[i]].name,
                   STR_ARG(flag_text(f, (enum flag_id)ids[i])));
}
