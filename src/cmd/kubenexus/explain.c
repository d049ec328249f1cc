#include "core/engine/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/explain_line.h"
#include "cmd/kubenexus/explain_print.h"
#include "io/files/manifest_read.h"

struct options {
    VEC(const char *) files;
    const char *config; /* NULL: the built-in profiles */
    struct str namespace, name;
    bool is_json, asks_evictions;
};

static void help(void)
{
    puts(
        "Usage: kubenexus explain -f FILE… --pod NAMESPACE/NAME [--preempt] [--config FILE] [-o "
        "json]\n\n"
        "Judges one pod against one cluster, as the scheduler would: every node's verdict with "
        "its\n"
        "reasons, every score, and the nodes that would be chosen. A pod that runs already is "
        "judged as\n"
        "if it were waiting. Kinds that are missing from the files count as empty.\n\n"
        "Options:\n"
        "  -f, --filename FILE  manifests or `kubectl get … -o json|yaml`; - is stdin; may be "
        "repeated\n"
        "      --pod NS/NAME    the pod (NAME alone: namespace default)\n"
        "      --preempt        also who would be evicted for the pod, or for its gang: where they "
        "would\n"
        "                       go, why each victim, and what is lost; writes nothing\n"
        "      --config FILE    a KubeSchedulerConfiguration: its profiles judge, by the pod's\n"
        "                       schedulerName (default: the built-in profiles)\n"
        "  -o, --output FORMAT  table (default) or json\n\n"
        "Examples:\n"
        "  kubenexus explain -f cluster.yaml --pod default/web-0\n"
        "  kubenexus explain -f cluster.yaml --pod default/train-0 --preempt\n"
        "  kubectl get nodes,pods,services,replicasets,statefulsets,pv,pvc,sc -A -o json |\n"
        "    kubenexus explain -f - --pod batch/train-7 -o json\n\n"
        "Exit codes: 0 some node fits, 1 none does (or the pod cannot be judged), 2 bad usage or "
        "input.");
}

static int parse(int argc, char **argv, struct options *o)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (option_value(argc, argv, &i, "--filename", "-f", &value)) {
            if (!value)
                return complain_text("explain: -f needs a file");
            vec_push(&o->files, value);
        } else if (option_value(argc, argv, &i, "--pod", NULL, &value)) {
            struct str pod = value ? str_of(value) : (struct str){0};
            size_t slash = str_find(pod, '/');
            o->namespace = slash < pod.n ? str_part(pod, 0, slash) : STR("default");
            o->name = slash < pod.n ? str_part(pod, slash + 1, pod.n) : pod;
            if (!o->name.n || !o->namespace.n)
                return complain_text("explain: --pod: \"%s\" is not NAMESPACE/NAME",
                                     value ? value : "");
        } else if (strcmp(argv[i], "--preempt") == 0) {
            o->asks_evictions = true;
        } else if (option_value(argc, argv, &i, "--config", NULL, &value)) {
            if (!value)
                return complain_text("explain: --config needs a file");
            o->config = value;
        } else if (option_value(argc, argv, &i, "--output", "-o", &value)) {
            if (!value || (strcmp(value, "json") != 0 && strcmp(value, "table") != 0))
                return complain_text("explain: --output: \"%s\" is neither table nor json",
                                     value ? value : "");
            o->is_json = strcmp(value, "json") == 0;
        } else {
            return complain_text("explain: unknown argument \"%s\" (--help says more)", argv[i]);
        }
    }
    return o->files.n ? 0 : complain_text("explain: no files (-f FILE)");
}

/* What is asked is where the pod would go, even if it runs already. */
static void unbind(struct pod *pod)
{
    pod->spec.node_name = (struct str){0};
    if (str_equal(pod->status.phase, STR("Running")))
        pod->status.phase = STR("Pending");
}

/* Without a configuration, other schedulers' pods are judged as kube-scheduler would. */
static bool has_profile(const struct options *o, const struct scheduler_config *c, struct pod *pod)
{
    struct str *name = &pod->spec.scheduler_name;
    if (!o->config && !str_equal(*name, STR("kubenexus-scheduler")))
        *name = STR("default-scheduler");
    bool is_there = !o->config;
    for (uint32_t i = 0; i < c->n_profiles; i++)
        is_there |= str_equal(c->profiles[i].name, *name);
    return is_there;
}

static struct pod *find_pod(const struct objects *set, struct str namespace, struct str name)
{
    vec_each(&set->all, o)
        if (o->kind == KIND_POD && str_equal(o->meta->namespace, namespace) &&
            str_equal(o->meta->name, name))
            return o->pod;
    return NULL;
}

/* The target is put last: by then all that could matter to it is there. */
static void load(struct engine *engine, const struct objects *set, struct pod *target)
{
    vec_each(&set->all, o)
        if (o->kind != KIND_POD || o->pod != target)
            engine_apply(engine, 0, &(struct change){CHANGE_PUT, *o});
    unbind(target);
    struct object last = {.kind = KIND_POD, .pod = target};
    engine_apply(engine, 0, &(struct change){CHANGE_PUT, last});
}

static void warn_skipped(const struct objects *set)
{
    vec_each(&set->skipped, kind)
        fprintf(stderr, "kubenexus: explain: %u × " STR_FMT " skipped: no plugin reads that kind\n",
                kind->n, STR_ARG(kind->name));
}

static int explain(const struct options *o, const struct objects *set,
                   const struct scheduler_config *config)
{
    struct str namespace = o->namespace, name = o->name;
    if (!name.n) { /* a case file may name its pod itself */
        size_t slash = str_find(set->target, '/');
        namespace = str_part(set->target, 0, slash);
        name = str_part(set->target, slash + 1, set->target.n);
    }
    if (!name.n)
        return complain_text("explain: which pod? (--pod NAMESPACE/NAME)");
    struct pod *target = find_pod(set, namespace, name);
    if (!target)
        return complain_text("explain: %s: no pod " STR_FMT "/" STR_FMT, o->files.at[0],
                             STR_ARG(namespace), STR_ARG(name));
    if (str_equal(target->status.phase, STR("Succeeded")) ||
        str_equal(target->status.phase, STR("Failed")))
        return complain_text(
            "explain: %s: pod " STR_FMT "/" STR_FMT " has ended (phase " STR_FMT ")",
            o->files.at[0], STR_ARG(namespace), STR_ARG(name), STR_ARG(target->status.phase));
    if (!has_profile(o, config, target))
        return complain_text(
            "explain: %s: no profile for pod " STR_FMT "/" STR_FMT " (schedulerName " STR_FMT ")",
            o->config, STR_ARG(namespace), STR_ARG(name), STR_ARG(target->spec.scheduler_name));
    warn_skipped(set);
    struct engine *engine = engine_new(&(struct engine_config){.keeps_pins = true,
                                                               .profiles = config->profiles,
                                                               .n_profiles = config->n_profiles,
                                                               .extenders = config->extenders,
                                                               .n_extenders = config->n_extenders});
    load(engine, set, target);
    AUTO(explanation) x = {0};
    bool is_there = engine_explain(engine, namespace, name, &x);
    assert(is_there);
    x.line = explain_line(set, target, config, &x.mem);
    if (o->asks_evictions)
        (void)engine_explain_eviction(engine, explain_latest_ms(set), namespace, name, &x);
    AUTO(buf) text = {0};
    if (o->is_json)
        explanation_json(&x, &text);
    else
        explanation_table(&x, &text);
    fwrite(text.p, 1, text.n, stdout);
    engine_free(engine);
    return x.n_would_choose && !x.line.n ? 0 : 1;
}

int cmd_explain(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
    int code = parse(argc, argv, &o);
    if (code == 0) {
        AUTO(objects) set = {0};
        AUTO(scheduler_config) config = {0};
        struct error e = {0};
        if (o.config && !config_read_file(&config, o.config)) {
            config_print_errors(&config, o.config, stderr);
            code = 2;
        } else if (!objects_read(&set, o.files.at, o.files.n, &e)) {
            code = complain(&e);
        } else {
            code = explain(&o, &set, &config);
        }
    }
    vec_done(&o.files);
    return code;
}
