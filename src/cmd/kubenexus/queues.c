#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/dump.h"
#include "cmd/kubenexus/explain_judge.h"
#include "cmd/kubenexus/queues_print.h"
#include "core/base/intern.h"
#include "io/files/manifest_read.h"

struct options {
    VEC(const char *) files;
    const char *kubeconfig, *server, *config;
    const char *name, *why, *resource;
    bool is_json;
};

static void help(void)
{
    puts("Usage: kubenexus queues [NAME] [-f FILE…] [OPTIONS]\n\n"
         "How the queues of a cluster stand: what each is guaranteed and entitled to, uses,\n"
         "borrows, lends and wants, as a tree. Of one resource: the accelerator there is\n"
         "most of, else cpu. Counted from the objects, of the moment they were read at. With\n"
         "NAME, that queue and all below it.\n\n"
         "Options:\n"
         "  -f, --filename FILE    what `kubenexus dump` printed, or manifests; - is stdin; may\n"
         "                         be repeated (default: the cluster is read as dump does)\n"
         "      --kubeconfig FILE  of the cluster, as of `kubenexus dump`\n"
         "      --master URL       an API server instead of the kubeconfig's\n"
         "      --config FILE      the scheduler's configuration: which profiles know queues\n"
         "      --resource R       another resource\n"
         "      --why NAME         of this queue: what each number is made of\n"
         "  -o, --output FORMAT    table (default) or json: all resources, as integers (cpu\n"
         "                         and accelerators in thousandths)\n\n"
         "Examples:\n"
         "  kubenexus queues\n"
         "  kubenexus dump | kubenexus queues -f - --why team-a\n\n"
         "Exit codes: 0 done, 1 there are no queues, 2 bad usage or input.");
}

static bool parse_output(struct options *o, const char *value)
{
    o->is_json = value && strcmp(value, "json") == 0;
    return o->is_json || (value && strcmp(value, "table") == 0);
}

/* 0, or the exit code; *is_used says whether argv[*i] was an option. */
static int parse_option(int argc, char **argv, int *i, struct options *o, bool *is_used)
{
    const struct {
        const char *name, **into;
    } texts[] = {{"--kubeconfig", &o->kubeconfig},
                 {"--master", &o->server},
                 {"--config", &o->config},
                 {"--resource", &o->resource},
                 {"--why", &o->why}};
    const char *value = NULL;
    *is_used = true;
    if (option_value(argc, argv, i, "--filename", "-f", &value)) {
        vec_push(&o->files, value);
        return value ? 0 : complain_text("queues: -f needs a file");
    }
    if (option_value(argc, argv, i, "--output", "-o", &value))
        return parse_output(o, value) ? 0
                                      : complain_text("queues: --output: \"%s\" is neither table "
                                                      "nor json",
                                                      value ? value : "");
    for (size_t k = 0; k < LEN(texts); k++)
        if (option_value(argc, argv, i, texts[k].name, NULL, texts[k].into))
            return *texts[k].into ? 0 : complain_text("queues: %s needs a value", texts[k].name);
    *is_used = false;
    return 0;
}

static int parse(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        bool is_used;
        int code = parse_option(argc, argv, &i, o, &is_used);
        if (code)
            return code;
        if (is_used)
            continue;
        if (argv[i][0] == '-' || o->name)
            return complain_text("queues: unknown argument \"%s\" (--help says more)", argv[i]);
        o->name = argv[i];
    }
    return o->why && o->name
               ? complain_text("queues: \"%s\" and --why: one queue at a time", o->name)
               : 0;
}

static int print_reports(const struct options *o, const struct queue_reports *all)
{
    AUTO(buf) text = {0};
    const char *asked = o->why ? o->why : o->name;
    const struct queue_report *queue = asked ? queues_find(all, str_of(asked)) : NULL;
    struct queues_view v = {.all = all,
                            .top = str_of(o->name ? o->name : ""),
                            .resource = o->resource ? str_of(o->resource) : queues_resource(all)};
    if (asked && !queue)
        return complain_text("queues: there is no queue %s", asked);
    if (o->why)
        queues_why(all, queue, v.resource, &text);
    else if (o->is_json)
        queues_json(&v, &text);
    else
        queues_table(&v, &text);
    fwrite(text.p, 1, text.n, stdout);
    return 0;
}

static struct queue_report *find(struct queue_reports *all, struct str name)
{
    list_each(&all->at, q)
        if (str_equal(q->name, name))
            return q;
    return NULL;
}

/* A unit that waits and may not start, whatever room there is, is blocked in its queue and all above
 * it. Nobody has been tried here: each is asked about. */
static void count_blocked(struct engine *k, const struct objects *set, struct arena *mem,
                          struct queue_reports *all)
{
    struct intern units = {0};
    list_each(&all->at, q)
        q->blocked = 0;
    vec_each(&set->all, o) {
        struct queue_refusal why;
        bool is_new;
        if (o->kind != KIND_POD ||
            !engine_queue_refusal(k, o->meta->namespace, o->meta->name, mem, &why) ||
            why.rule < QUEUE_RULE_A1 || why.rule > QUEUE_RULE_A7)
            continue;
        intern_get(&units, why.unit, &is_new);
        for (struct queue_report *q = is_new ? find(all, why.queue) : NULL; q;
             q = find(all, q->parent))
            q->blocked++;
    }
    intern_done(&units);
}

static int report(const struct options *o, const struct objects *set,
                  const struct scheduler_config *config)
{
    AUTO(arena) mem = {0};
    struct queue_reports all = {0};
    int64_t now_ms = explain_latest_ms(set);
    struct engine *k = explain_engine(set, config, now_ms);
    explain_line_up(k, now_ms);
    engine_queue_reports(k, now_ms, &mem, &all);
    count_blocked(k, set, &mem, &all);
    int code = all.at.n ? print_reports(o, &all) : 1;
    if (!all.at.n)
        puts("There are no queues (docs/guide/queues.md).");
    engine_free(k);
    return code;
}

/* What there is, of the files or of the cluster. */
static bool read_objects(const struct options *o, struct objects *set, struct buf *cluster,
                         struct error *e)
{
    if (o->files.n)
        return objects_read(set, o->files.at, o->files.n, e);
    return dump_cluster("queues", o->kubeconfig, o->server, cluster, e) &&
           objects_read_text(set, "cluster", buf_str(cluster), e);
}

static int run(const struct options *o)
{
    AUTO(objects) set = {0};
    AUTO(scheduler_config) config = {0};
    AUTO(buf) cluster = {0};
    struct error e = {0};
    if (o->config && !config_read_file(&config, o->config)) {
        config_print_errors(&config, o->config, stderr);
        return 2;
    }
    return read_objects(o, &set, &cluster, &e) ? report(o, &set, &config) : complain("queues", &e);
}

int cmd_queues(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
    int code = parse(argc, argv, &o);
    code = code ? code : run(&o);
    vec_done(&o.files);
    return code;
}
