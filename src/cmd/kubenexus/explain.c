#include "core/engine/explain.h"

#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/explain_judge.h"
#include "cmd/kubenexus/explain_keys.h"
#include "cmd/kubenexus/explain_needs.h"
#include "cmd/kubenexus/explain_print.h"
#include "cmd/kubenexus/explain_queue.h"
#include "cmd/kubenexus/explain_text.h"
#include "cmd/kubenexus/explain_topic.h"
#include "io/files/manifest_read.h"

struct options {
    VEC(const char *) files;
    const char *config; /* NULL: the built-in profiles */
    struct topic topic;
    uint64_t seed;
    bool is_json, asks_evictions, asks_scores;
};

static void help(void)
{
    puts("Usage: kubenexus explain -f FILE… --pod NAMESPACE/NAME [OPTIONS]\n"
         "       kubenexus explain -f FILE… --gang NAMESPACE/NAME [OPTIONS]\n"
         "       kubenexus explain -f FILE… --owner KIND/NAMESPACE/NAME [OPTIONS]\n\n"
         "Says first whether the pod starts now, with its whole gang, and if not, what\n"
         "keeps it: everybody who waits in the files has the turn that the scheduler would\n"
         "give. Then what each rule leaves of the nodes, and who refused which of them. A\n"
         "pod that runs already is judged as if it were waiting.\n\n"
         "Options:\n"
         "  -f, --filename FILE  manifests, or what `kubenexus dump` or kubectl printed\n"
         "                       (json, yaml); - is stdin; may be repeated\n"
         "      --pod NS/NAME    the pod (NAME alone: namespace default)\n"
         "      --gang NS/NAME   a pod of the gang that waits\n"
         "      --owner K/NS/N   a pod of the owner that waits, as Job/ml/train\n"
         "      --job NS/NAME    the same as --owner Job/NS/NAME\n"
         "      --scores         every score of the nodes that fit\n"
         "      --preempt        who would be evicted for it: where its pods would go, why\n"
         "                       each victim, and what is lost; writes nothing\n"
         "      --config FILE    a KubeSchedulerConfiguration: its profiles judge, by the\n"
         "                       pod's schedulerName (default: the built-in profiles)\n"
         "      --seed N         breaks ties between nodes, as that of `kubenexus run`\n"
         "  -o, --output FORMAT  text (default) or json\n\n"
         "Examples:\n"
         "  kubenexus explain -f cluster.yaml --pod default/web-0\n"
         "  kubenexus explain -f cluster.yaml --gang ml/bert --preempt\n"
         "  kubenexus dump | kubenexus explain -f - --owner Job/batch/train\n\n"
         "Exit codes: 0 it starts now, 1 it does not (or cannot be judged), 2 bad usage or\n"
         "input.");
}

static int parse_topic(struct options *o, const char *option, enum topic_kind kind,
                       const char *value)
{
    if (value && topic_parse(&o->topic, kind, str_of(value)))
        return 0;
    return complain_text("explain: %s: \"%s\" is not %sNAMESPACE/NAME", option, value ? value : "",
                         kind == TOPIC_OWNER ? "KIND/" : "");
}

static int parse_seed(struct options *o, const char *value)
{
    int64_t seed;
    if (!value || !str_int(str_of(value), &seed) || seed < 0)
        return complain_text("explain: --seed: \"%s\" is not a whole number of at least 0",
                             value ? value : "");
    o->seed = (uint64_t)seed;
    return 0;
}

static int parse_output(struct options *o, const char *value)
{
    bool is_text = value && (strcmp(value, "text") == 0 || strcmp(value, "table") == 0);
    if (!value || (strcmp(value, "json") != 0 && !is_text))
        return complain_text("explain: --output: \"%s\" is neither text nor json",
                             value ? value : "");
    o->is_json = !is_text;
    return 0;
}

static int parse_job(struct options *o, const char *value)
{
    int code = parse_topic(o, "--job", TOPIC_POD, value);
    o->topic.kind = TOPIC_OWNER;
    o->topic.owner = STR("Job");
    return code;
}

/* One argument and its value; 0: it was understood. */
static int parse_one(int argc, char **argv, int *i, struct options *o)
{
    const char *value;
    if (option_value(argc, argv, i, "--pod", NULL, &value))
        return parse_topic(o, "--pod", TOPIC_POD, value);
    if (option_value(argc, argv, i, "--gang", NULL, &value))
        return parse_topic(o, "--gang", TOPIC_GANG, value);
    if (option_value(argc, argv, i, "--owner", NULL, &value))
        return parse_topic(o, "--owner", TOPIC_OWNER, value);
    if (option_value(argc, argv, i, "--job", NULL, &value))
        return parse_job(o, value);
    if (option_value(argc, argv, i, "--seed", NULL, &value))
        return parse_seed(o, value);
    if (option_value(argc, argv, i, "--output", "-o", &value))
        return parse_output(o, value);
    return complain_text("explain: unknown argument \"%s\" (--help says more)", argv[*i]);
}

static int parse(int argc, char **argv, struct options *o)
{
    const char *value;
    int code = 0;
    for (int i = 1; i < argc && code == 0; i++) {
        if (option_value(argc, argv, &i, "--filename", "-f", &value)) {
            if (!value)
                return complain_text("explain: -f needs a file");
            vec_push(&o->files, value);
        } else if (option_value(argc, argv, &i, "--config", NULL, &value)) {
            if (!value)
                return complain_text("explain: --config needs a file");
            o->config = value;
        } else if (strcmp(argv[i], "--preempt") == 0) {
            o->asks_evictions = true;
        } else if (strcmp(argv[i], "--scores") == 0) {
            o->asks_scores = true;
        } else {
            code = parse_one(argc, argv, &i, o);
        }
    }
    return code || o->files.n ? code : complain_text("explain: no files (-f FILE)");
}

/* What is asked is where the pod would go, even if it runs already. */
static void unbind(struct pod *pod)
{
    pod->spec.node_name = (struct str){0};
    if (str_equal(pod->status.phase, STR("Running")))
        pod->status.phase = STR("Pending");
}

static bool is_served(const struct scheduler_config *c, struct str name)
{
    for (uint32_t i = 0; i < c->n_profiles; i++)
        if (str_equal(c->profiles[i].name, name))
            return true;
    return !c->n_profiles && (str_equal(name, STR("default-scheduler")) ||
                              str_equal(name, STR("kubenexus-scheduler")));
}

static void warn_skipped(const struct objects *set)
{
    vec_each(&set->skipped, kind)
        fprintf(stderr, "kubenexus: explain: %u × " STR_FMT " skipped: no plugin reads that kind\n",
                kind->n, STR_ARG(kind->name));
}

/* Which pod is meant; else says why there is none, and `*code` is the exit code. */
static struct pod *find_target(const struct options *o, const struct objects *set, int *code)
{
    struct topic topic = o->topic;
    if (!topic.name.n && set->target.n && !topic_parse(&topic, TOPIC_POD, set->target))
        topic.name = (struct str){0};
    *code = 2;
    if (!topic.name.n) { /* a case file may name its pod itself */
        complain_text("explain: which pod? (--pod NAMESPACE/NAME)");
        return NULL;
    }
    struct topic_pods found = topic_find(&topic, set);
    struct pod *target = topic.kind == TOPIC_POD ? found.pod : found.waiting;
    bool has_ended = target && (str_equal(target->status.phase, STR("Succeeded")) ||
                                str_equal(target->status.phase, STR("Failed")));
    if (has_ended)
        complain_text("explain: %s: pod " STR_FMT "/" STR_FMT " has ended (phase " STR_FMT ")",
                      o->files.at[0], STR_ARG(topic.namespace), STR_ARG(topic.name),
                      STR_ARG(target->status.phase));
    if (target)
        return has_ended ? NULL : target;
    AUTO(buf) text = {0};
    topic_word(&topic, &found, set, &text);
    bool is_known = found.pods || found.owner;
    if (is_known)
        puts(text.p);
    else
        complain_text("explain: %s: no " STR_FMT, o->files.at[0], STR_ARG(buf_str(&text)));
    *code = !is_known ? 2 : found.running ? 0 : 1;
    return NULL;
}

/* Pods of schedulers that we do not know are judged by the first profile. */
static void serve(struct judging *j)
{
    struct str *name = &j->target->spec.scheduler_name;
    j->scheduler = *name;
    j->is_unserved = !is_served(j->config, *name);
    if (j->is_unserved)
        *name = j->config->n_profiles ? j->config->profiles[0].name : STR("default-scheduler");
}

static int explain(const struct options *o, const struct objects *set,
                   const struct scheduler_config *config)
{
    int code;
    struct pod *target = find_target(o, set, &code);
    if (!target)
        return code;
    struct judging j = {set, target, config, .seed = o->seed, .is_plain = o->is_json};
    struct judgement out = {0};
    AUTO(buf) text = {0}, lacking = {0};
    warn_skipped(set);
    serve(&j);
    unbind(target);
    explain_needs(set, target, &lacking);
    explain_judge(&j, &out);
    explain_keys(set, target, &out.x);
    if (str_equal(out.x.verdict.rule, STR("Members")))
        explain_needs_of_missing(set, &lacking);
    if (!o->asks_evictions && o->is_json)
        out.x.eviction = NULL;
    AUTO(arena) mem = {0};
    struct queue_spot place;
    bool is_queued = explain_queue(set, config, target, &mem, &place);
    const struct queue_spot *queue = is_queued ? &place : NULL;
    if (o->is_json)
        explanation_json(&out.x, queue, &text);
    else
        explanation_text(&out.x, &out.f,
                         &(struct text_options){.shows_scores = o->asks_scores,
                                                .shows_plan = o->asks_evictions,
                                                .queue = queue,
                                                .missing = buf_str(&lacking)},
                         &text);
    fwrite(text.p, 1, text.n, stdout);
    code = out.x.verdict.starts ? 0 : 1;
    judgement_done(&out);
    return code;
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
            code = complain("explain", &e);
        } else {
            code = explain(&o, &set, &config);
        }
    }
    vec_done(&o.files);
    return code;
}
