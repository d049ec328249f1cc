#include "cmd/kubenexus/run_options.h"

#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/log.h"
#include "core/config/abilities.h"
#include "core/plugins/plugins.h"

static void help(void)
{
    puts("Usage: kubenexus run [FLAGS]\n"
         "       kubenexus-scheduler [FLAGS]\n\n"
         "The scheduler. Without --config it serves pods whose schedulerName is "
         "kubenexus-scheduler, so that\n"
         "it can stand beside kube-scheduler. With --config it serves the profiles of that file\n"
         "(KubeSchedulerConfiguration; `kubenexus check FILE` validates one). The flags are\n"
         "kube-scheduler's: --name=VALUE or --name VALUE.\n");
    flags_print_help(stdout);
    puts("\nExamples:\n"
         "  kubenexus run --kubeconfig ~/.kube/config --leader-elect=false\n"
         "  kubenexus run --config /etc/kubenexus/config.yaml --logging-format json\n"
         "  kubenexus run --config config.yaml --feature-gates=AllAlpha=true -v 2\n\n"
         "Signals: SIGTERM ends it (bindings under way are finished, the lease is given back), "
         "SIGHUP reads\n"
         "the configuration again, SIGUSR2 writes nodes and waiting pods to the log.\n"
         "Exit codes: 0 asked to leave, 1 lost the lease, 2 bad usage or input.");
}

/* --- what concerns several flags --- */

static void say_no_effect(const struct flags *f, enum flag_id id, const char *why)
{
    if (flag_is_said(f, id))
        log_record(LOG_WARNING, "flag has no effect", log_text("flag", flag_table[id].name),
                   log_text("why", why));
}

static void say_what_has_no_effect(const struct run_options *o)
{
    for (uint32_t i = 0; i < N_FLAGS; i++)
        if (flag_table[i].use == USE_IGNORED)
            say_no_effect(&o->flags, (enum flag_id)i, flag_table[i].help);
    for (uint32_t i = 0; i < N_FLAGS && o->config_file; i++)
        if (flag_table[i].group == GROUP_CONNECTION && i != FLAG_MASTER)
            say_no_effect(&o->flags, (enum flag_id)i,
                          "--config is given: its clientConnection counts");
}

static void say_gates_without_effect(const struct feature_gates *gates)
{
    AUTO(buf) names = {0};
    feature_gates_without_effect(gates, &names);
    if (names.n)
        log_record(LOG_WARNING, "feature gates have no effect", log_str("gates", buf_str(&names)));
}

static bool check_election(const struct run_options *o, struct error *e)
{
    const struct lease_config *l = &o->lease;
    struct str lock = flag_text(&o->flags, FLAG_LEADER_ELECT_RESOURCE_LOCK);
    if (!o->elects_leader)
        return true;
    if (!str_equal(lock, STR("leases")))
        return error_set(e, ERROR_INVALID,
                         "--leader-elect-resource-lock: \"" STR_FMT "\" is not \"leases\"",
                         STR_ARG(str_part(lock, 0, 100)));
    if (l->retry_ms <= 0)
        return error_set(e, ERROR_INVALID, "--leader-elect-retry-period: must be above 0");
    if (l->renew_ms * 10 <= l->retry_ms * 12)
        return error_set(e, ERROR_INVALID,
                         "--leader-elect-renew-deadline: %lld ms is not above 1.2 times the retry "
                         "period (%lld ms)",
                         (long long)l->renew_ms, (long long)l->retry_ms);
    return l->duration_ms > l->renew_ms ||
           error_set(e, ERROR_INVALID,
                     "--leader-elect-lease-duration: %lld ms is not above the renew deadline (%lld "
                     "ms)",
                     (long long)l->duration_ms, (long long)l->renew_ms);
}

static bool check_version(const struct flags *f, struct error *e)
{
    struct str version = flag_text(f, FLAG_EMULATED_VERSION);
    if (str_starts(version, STR("kube=")))
        version = str_part(version, 5, version.n);
    return str_equal(version, STR("1.37")) ||
           error_set(e, ERROR_INVALID, "--emulated-version: \"" STR_FMT "\": only 1.37 is there",
                     STR_ARG(str_part(version, 0, 60)));
}

static bool check_format(const struct flags *f, struct error *e)
{
    struct str format = flag_text(f, FLAG_LOGGING_FORMAT);
    return str_equal(format, STR("text")) || str_equal(format, STR("json")) ||
           error_set(e, ERROR_INVALID,
                     "--logging-format: \"" STR_FMT "\" is neither \"text\" nor \"json\"",
                     STR_ARG(str_part(format, 0, 60)));
}

/* --- putting them together --- */

/* NULL for the empty text. */
static const char *file_of(struct str name)
{
    return name.n ? name.p : NULL;
}

static void take_election_flags(struct run_options *o)
{
    const struct flags *f = &o->flags;
    bool has_file = o->config_file;
    if (flag_is_said(f, FLAG_LEADER_ELECT) || !has_file)
        o->elects_leader = flag_bool(f, FLAG_LEADER_ELECT);
    if (flag_is_said(f, FLAG_LEADER_ELECT_RESOURCE_NAMESPACE) || !has_file)
        o->lease.namespace = flag_text(f, FLAG_LEADER_ELECT_RESOURCE_NAMESPACE);
    if (flag_is_said(f, FLAG_LEADER_ELECT_RESOURCE_NAME) || !has_file)
        o->lease.name = flag_text(f, FLAG_LEADER_ELECT_RESOURCE_NAME);
    if (flag_is_said(f, FLAG_LEADER_ELECT_LEASE_DURATION) || !has_file)
        o->lease.duration_ms = flag_span_ms(f, FLAG_LEADER_ELECT_LEASE_DURATION);
    if (flag_is_said(f, FLAG_LEADER_ELECT_RENEW_DEADLINE) || !has_file)
        o->lease.renew_ms = flag_span_ms(f, FLAG_LEADER_ELECT_RENEW_DEADLINE);
    if (flag_is_said(f, FLAG_LEADER_ELECT_RETRY_PERIOD) || !has_file)
        o->lease.retry_ms = flag_span_ms(f, FLAG_LEADER_ELECT_RETRY_PERIOD);
}

static void take_connection_flags(struct run_options *o)
{
    o->kubeconfig = file_of(flag_text(&o->flags, FLAG_KUBECONFIG));
    o->qps = MAX(flag_real(&o->flags, FLAG_KUBE_API_QPS), 0.0);
    o->burst = (uint32_t)MIN(MAX(flag_number(&o->flags, FLAG_KUBE_API_BURST), (int64_t)1),
                             (int64_t)INT32_MAX);
}

static void take_file(struct run_options *o)
{
    const struct client_connection *c = &o->config.client;
    const struct leader_election *l = &o->config.leader_election;
    o->kubeconfig = file_of(arena_str(&o->flags.mem, c->kubeconfig));
    o->qps = MAX(c->qps, 0.0);
    o->burst = (uint32_t)MAX(c->burst, 1);
    o->elects_leader = l->is_on;
    o->lease = (struct lease_config){
        .namespace = arena_str(&o->flags.mem, l->namespace), /* the file may be read again */
        .name = arena_str(&o->flags.mem, l->name),
        .duration_ms = l->lease_ms,
        .renew_ms = l->renew_ms,
        .retry_ms = l->retry_ms,
    };
}

static int read_config(struct run_options *o)
{
    if (!config_read_file(&o->config, o->config_file)) {
        config_print_errors(&o->config, o->config_file, stderr);
        return 2;
    }
    take_file(o);
    return -1;
}

const struct profile *run_options_profiles(const struct run_options *o, uint32_t *n)
{
    *n = o->config_file ? o->config.n_profiles : 1;
    return o->config_file ? o->config.profiles : &built_in_profiles[BUILT_IN_KUBENEXUS];
}

void run_options_say_profiles(const struct run_options *o)
{
    uint32_t n;
    const struct profile *profiles = run_options_profiles(o, &n);
    for (uint32_t i = 0; i < n; i++) {
        AUTO(buf) can = {0}, cannot = {0};
        abilities_add(&profiles[i], true, &can);
        abilities_add(&profiles[i], false, &cannot);
        log_record(LOG_INFO, "profile", log_str("schedulerName", profiles[i].name),
                   log_str("can", buf_str(&can)), log_str("cannot", buf_str(&cannot)));
    }
}

/* What runs comes first in every log; what has no effect comes after it. */
static void say_all(const struct run_options *o)
{
    log_record(LOG_INFO, "kubenexus", log_text("version", KUBENEXUS_VERSION),
               log_text("config", o->config_file ? o->config_file : "none: built in"));
    run_options_say_profiles(o);
    say_what_has_no_effect(o);
    say_gates_without_effect(&o->gates);
    if (o->config_file)
        config_log_notes(&o->config, o->config_file);
}

/* -1, or the exit code. */
static int read_flags(struct run_options *o, int argc, char **argv, struct error *e)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        if (strcmp(argv[i], "--help=markdown") == 0) {
            flags_print_reference(stdout);
            return 0;
        }
        if (strncmp(argv[i], "--version", 9) == 0 && (!argv[i][9] || argv[i][9] == '=')) {
            print_version();
            return 0;
        }
        if (!flags_add(&o->flags, argc, argv, &i, e))
            return 2;
    }
    return -1;
}

static int finish(struct run_options *o, struct error *e)
{
    const struct flags *f = &o->flags;
    bool is_json = str_equal(flag_text(f, FLAG_LOGGING_FORMAT), STR("json"));
    if (!check_format(f, e) || !check_version(f, e) ||
        (!feature_gates_add(&o->gates, flag_text(f, FLAG_FEATURE_GATES), e) &&
         !error_wrap(e, "--feature-gates")))
        return 2;
    log_setup(is_json ? LOG_JSON : LOG_TEXT, flag_number(f, FLAG_V) >= 2);
    o->config_file = file_of(flag_text(f, FLAG_CONFIG));
    o->master = file_of(flag_text(f, FLAG_MASTER));
    take_connection_flags(o);
    o->config.has_groups = feature_gate_is_on(&o->gates, STR("GenericWorkload"));
    int code = o->config_file ? read_config(o) : -1;
    if (code >= 0)
        return code;
    take_election_flags(o);
    if (!check_election(o, e))
        return 2;
    say_all(o);
    return -1;
}

int run_options_read(struct run_options *o, int argc, char **argv)
{
    struct error e = {0};
    int code = read_flags(o, argc, argv, &e);
    if (code < 0)
        code = finish(o, &e);
    if (code == 2 && e.kind)
        complain_text("run: %s", e.text);
    if (code >= 0)
        run_options_done(o);
    return code;
}

void run_options_done(struct run_options *o)
{
    scheduler_config_done(&o->config);
    flags_done(&o->flags);
}
