#include "cmd/kubenexus/run_options.h"

#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"

static void help(void)
{
    puts("Usage: kubenexus run [--kubeconfig FILE] [--config FILE] [OPTIONS]\n\n"
         "The scheduler. Without --config it serves pods whose schedulerName is "
         "kubenexus-scheduler, so that\n"
         "it can stand beside kube-scheduler. With --config it serves the profiles of that file\n"
         "(KubeSchedulerConfiguration; `kubenexus check FILE` validates one).\n\n"
         "Options:\n"
         "      --kubeconfig FILE     how to reach the API server; without it, as the cluster we "
         "run in says\n"
         "      --config FILE         a KubeSchedulerConfiguration; its "
         "clientConnection.kubeconfig counts,\n"
         "                            then, not --kubeconfig\n"
         "      --leader-elect BOOL   several replicas elect a leader (default true)\n"
         "      --leader-elect-resource-namespace NS, --leader-elect-resource-name NAME\n"
         "                            the Lease (default kube-system, kubenexus-scheduler; with "
         "--config\n"
         "                            as the file says)\n"
         "      --seed N              decides between nodes of equal scores (default 0)\n"
         "  -v, --v N                 0 warnings, 1 what happens (default), 2 every decision\n\n"
         "Examples:\n"
         "  kubenexus run --kubeconfig ~/.kube/config --leader-elect=false\n"
         "  kubenexus run --config /etc/kubenexus/config.yaml\n\n"
         "SIGTERM ends it: bindings under way are finished, the lease is given back. Exit codes: 0 "
         "asked to\n"
         "leave, 1 lost the lease, 2 bad usage or input.");
}

/* "--name", "--name=true", "--name false". */
static bool read_bool(int argc, char **argv, int *i, const char *name, bool *out, bool *is_bad)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0 || (argv[*i][n] != '\0' && argv[*i][n] != '='))
        return false;
    const char *value = argv[*i][n] == '=' ? argv[*i] + n + 1 : "true";
    bool is_apart = argv[*i][n] == '\0' && *i + 1 < argc &&
                    (strcmp(argv[*i + 1], "true") == 0 || strcmp(argv[*i + 1], "false") == 0);
    if (is_apart)
        value = argv[++*i];
    *out = strcmp(value, "true") == 0;
    *is_bad = !*out && strcmp(value, "false") != 0;
    return true;
}

struct reading {
    const char *config;
    bool says_election, elects;
    const char *lease_namespace, *lease_name;
};

/* A number of the option, at most `most`; complains if it is none. */
static int read_number(const char *name, const char *value, int64_t most, int64_t *out)
{
    if (value && str_int(str_of(value), out) && *out >= 0 && *out <= most)
        return -1;
    return complain_text("run: %s: \"%s\" is not a number from 0 to %ld", name, value ? value : "",
                         (long)most);
}

static int read_option(struct run_options *o, struct reading *r, int argc, char **argv, int *i)
{
    const char *value = NULL;
    bool is_bad = false;
    int64_t number = 0;
    int code = -1;
    if (option_value(argc, argv, i, "--kubeconfig", NULL, &value))
        o->kubeconfig = value;
    else if (option_value(argc, argv, i, "--config", NULL, &value))
        r->config = value;
    else if (option_value(argc, argv, i, "--leader-elect-resource-namespace", NULL, &value))
        r->lease_namespace = value;
    else if (option_value(argc, argv, i, "--leader-elect-resource-name", NULL, &value))
        r->lease_name = value;
    else if (read_bool(argc, argv, i, "--leader-elect", &r->elects, &is_bad))
        r->says_election = true, value = "";
    else if (option_value(argc, argv, i, "--seed", NULL, &value)) {
        code = read_number("--seed", value, INT64_MAX, &number);
        o->seed = (uint64_t)number;
    } else if (option_value(argc, argv, i, "--v", "-v", &value)) {
        code = read_number("--v", value, 10, &number);
        o->log_level = (enum log_level)MIN(number, (int64_t)LOG_DETAIL);
    } else
        return complain_text("run: unknown argument \"%s\" (--help says more)", argv[*i]);
    if (is_bad)
        return complain_text("run: --leader-elect: \"%s\" is neither true nor false", argv[*i]);
    if (!value)
        return complain_text("run: %s needs a value", argv[*i]);
    return code;
}

static int read_config(struct run_options *o, const char *file)
{
    o->has_config = true;
    if (!config_read_file(&o->config, file)) {
        config_print_errors(&o->config, file, stderr);
        return 2;
    }
    vec_each(&o->config.notes, note)
        log_line(LOG_INFO, "%s: " STR_FMT ": " STR_FMT, file, STR_ARG(note->path),
                 STR_ARG(note->text));
    struct str kubeconfig = arena_str(&o->mem, o->config.client.kubeconfig);
    o->kubeconfig = kubeconfig.n ? kubeconfig.p : NULL;
    o->qps = o->config.client.qps > 0 ? o->config.client.qps : 0;
    o->burst = o->config.client.burst > 0 ? (uint32_t)o->config.client.burst : 0;
    if (o->qps > 0 && o->burst == 0)
        o->burst = 1;
    const struct leader_election *l = &o->config.leader_election;
    o->elects_leader = l->is_on;
    o->lease = (struct lease_config){
        .namespace = l->namespace,
        .name = l->name,
        .duration_ms = l->lease_ms,
        .renew_ms = l->renew_ms,
        .retry_ms = l->retry_ms,
    };
    return -1;
}

int run_options_read(struct run_options *o, int argc, char **argv)
{
    struct reading r = {0};
    *o = (struct run_options){
        .log_level = LOG_INFO,
        .elects_leader = true,
        .lease = {.namespace = STR("kube-system"), .name = STR("kubenexus-scheduler")},
    };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        int code = read_option(o, &r, argc, argv, &i);
        if (code >= 0)
            return code;
    }
    int code = r.config ? read_config(o, r.config) : -1;
    if (code >= 0) {
        run_options_done(o);
        return code;
    }
    if (r.says_election)
        o->elects_leader = r.elects;
    if (r.lease_namespace)
        o->lease.namespace = str_of(r.lease_namespace);
    if (r.lease_name)
        o->lease.name = str_of(r.lease_name);
    return -1;
}

void run_options_done(struct run_options *o)
{
    if (o->has_config)
        scheduler_config_done(&o->config);
    arena_done(&o->mem);
}
