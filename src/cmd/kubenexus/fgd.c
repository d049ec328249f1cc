/* The FGD experiment (sim/fgd.h) from files: which traces, policies and seeds, and a profile for
 * each policy in which nothing but room and that policy counts. */

#include "sim/fgd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "cmd/kubenexus/fgd_report.h"
#include "core/plugins/plugins.h"

/* Those that results were published for. */
static const char *const all_traces[] = {
    "default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",     "gpushare40",
    "gpushare60", "gpushare80", "gpushare100", "multigpu20", "multigpu30", "multigpu40",
    "multigpu50", "gpuspec10",  "gpuspec20",   "gpuspec25",  "gpuspec33",
};

struct options {
    const char *dir;
    const char *traces[64];
    uint32_t n_traces;
    bool policies[N_GPU_POLICIES], has_policy;
    int64_t first_seed, last_seed;
    struct engine_config engine;
};

/* Files, and what was read of them. */
struct input {
    VEC(struct buf) texts;
    struct fgd_seeds seeds;
    struct fgd_report report;
};

static void help(void)
{
    puts(
        "Usage: kubenexus fgd [TRACE…] [OPTIONS]\n\n"
        "Repeats the experiment of \"Beware of Fragmentation\" (USENIX ATC 2023) with the real\n"
        "engine: pods that ask for parts of a GPU, one or several arrive until they have asked "
        "for\n"
        "130 % of a cluster's GPUs. Prints how many GPUs each policy could give away, beside what\n"
        "was published. TRACE: default, cpu050, gpushare40, … (all 17).\n\n"
        "Options:\n"
        "      --traces DIR     where the openb files are (default: build/traces, where\n"
        "                       `make fgd` puts them)\n"
        "      --policy NAME    SnugFGD (ours), FGD, BestFit, DotProd, GpuPacking,\n"
        "                       GpuClustering; may be given several times (default: all)\n"
        "      --seeds A-B      which of the published orders (default: 42-51)\n"
        "      --no-views       decide every pod by a scan of all nodes (slow, same results)\n"
        "      --check          compare every decision with such a scan (slower)\n\n"
        "Examples:\n"
        "  kubenexus fgd default --policy FGD --seeds 42\n"
        "  make fgd TRACES=~/openb\n\n"
        "Exit codes: 0 every run is as published within 0.05 points, 1 some are not,\n"
        "2 bad usage or input.");
}

/* --- options --- */

static bool parse_policy(const char *text, struct options *o)
{
    o->has_policy = true;
    for (uint32_t i = 0; text && i < N_GPU_POLICIES; i++)
        if (!strcmp(text, gpu_policy_names[i]))
            return o->policies[i] = true;
    return false;
}

static bool parse_seeds(const char *text, struct options *o)
{
    struct str rest = str_of(text ? text : "");
    struct str first = str_take(&rest, '-');
    struct str last = rest.n ? rest : first;
    return str_int(first, &o->first_seed) && str_int(last, &o->last_seed) &&
           o->first_seed <= o->last_seed;
}

static int parse_one(int argc, char **argv, int *i, struct options *o)
{
    const char *value, *arg = argv[*i];
    if (!strcmp(arg, "--no-views"))
        o->engine.no_views = true;
    else if (!strcmp(arg, "--check"))
        o->engine.checks_views = true;
    else if (option_value(argc, argv, i, "--traces", NULL, &value)) {
        if (!value || !*value)
            return complain_text("fgd: --traces needs a folder");
        o->dir = value;
    } else if (option_value(argc, argv, i, "--policy", NULL, &value)) {
        if (!parse_policy(value, o))
            return complain_text("fgd: --policy: \"%s\" is none (--help lists them)",
                                 value ? value : "");
    } else if (option_value(argc, argv, i, "--seeds", NULL, &value)) {
        if (!parse_seeds(value, o))
            return complain_text("fgd: --seeds: \"%s\" is not like 42 or 42-51",
                                 value ? value : "");
    } else if (arg[0] == '-')
        return complain_text("fgd: unknown option \"%s\" (--help says more)", arg);
    else if (o->n_traces == LEN(o->traces))
        return complain_text("fgd: \"%s\": more than %zu traces", arg, LEN(o->traces));
    else
        o->traces[o->n_traces++] = arg;
    return 0;
}

static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.dir = "build/traces", .first_seed = 42, .last_seed = 51};
    for (int i = 1; i < argc; i++) {
        int code = parse_one(argc, argv, &i, o);
        if (code)
            return code;
    }
    for (uint32_t i = 0; !o->has_policy && i < N_GPU_POLICIES; i++)
        o->policies[i] = true;
    for (uint32_t i = 0; o->n_traces == i && i < LEN(all_traces); i++)
        o->traces[o->n_traces++] = all_traces[i];
    return 0;
}

/* --- files --- */

static void input_done(struct input *in)
{
    vec_each(&in->texts, text)
        buf_done(text);
    vec_done(&in->texts);
    vec_done(&in->seeds);
    fgd_report_done(&in->report);
}

/* The text of a file in the folder, which `in` keeps; `path` receives its name. */
static bool read_text(struct input *in, const struct options *o, const char *name, char path[512],
                      struct str *text, struct error *e)
{
    struct buf all = {0};
    snprintf(path, 512, "%s/%s", o->dir, name);
    bool is_read = config_read_bytes(path, &all);
    int why = errno;
    vec_push(&in->texts, all);
    *text = buf_str(&all);
    if (!is_read)
        return error_set(e, ERROR_INVALID, "%s: %s%s", path, strerror(why),
                         why == ENOENT ? " (`make fgd` unpacks the traces)" : "");
    return all.n <= CONFIG_BYTES_MOST ||
           error_set(e, ERROR_INVALID, "%s: larger than %d bytes", path, CONFIG_BYTES_MOST);
}

static bool read_common(struct input *in, const struct options *o, struct error *e)
{
    char path[512];
    struct str text;
    return read_text(in, o, "go-rand-seeds.csv", path, &text, e) &&
           fgd_read_seeds(&in->seeds, path, text, e) &&
           read_text(in, o, "fgd-expected.csv", path, &text, e) &&
           fgd_report_read(&in->report, path, text, e);
}

static bool read_trace(struct input *in, const struct options *o, const char *trace,
                       struct fgd_trace *t, struct error *e)
{
    char path[512], name[128];
    struct str text;
    snprintf(name, sizeof(name), "openb_pod_list_%s.csv", trace);
    return read_text(in, o, "openb_node_list_gpu_node.csv", path, &text, e) &&
           fgd_read_nodes(t, path, text, e) && read_text(in, o, name, path, &text, e) &&
           fgd_read_pods(t, path, text, e);
}

/* --- running --- */

/* A profile that weighs GPUs by one policy; its arguments live in `mem`. */
struct policy_profile {
    struct arena mem;
    struct fragmentation_args args;
    struct profile_plugin plugins[4];
    struct profile profile;
};

static struct profile_plugin plugin_named(const char *name, const void *args, uint32_t off)
{
    uint32_t i = 0;
    while (strcmp(plugins[i]->name, name) != 0)
        i++;
    return (struct profile_plugin){plugins[i], i, 1, args, off};
}

static void read_demand(struct policy_profile *p, const struct fgd_trace *t)
{
    struct gpu_demand *all = arena_array(&p->mem, struct gpu_demand, t->kinds.n);
    for (uint32_t i = 0; i < t->kinds.n; i++) {
        const struct fgd_kind *kind = &t->kinds.at[i];
        struct str *models = arena_array(&p->mem, struct str, kind->models.n);
        uint32_t n = 0;
        for (struct str rest = kind->models; rest.n;)
            models[n++] = str_take(&rest, '|');
        all[i] = (struct gpu_demand){.cpu_milli = kind->cpu_milli,
                                     .count = kind->gpus,
                                     .milli = kind->milli,
                                     .models = {models, n},
                                     .share = kind->share};
    }
    p->args.demand.at = all;
    p->args.demand.n = t->kinds.n;
}

static void policy_profile_init(struct policy_profile *p, const struct fgd_trace *t,
                                enum gpu_policy policy)
{
    *p = (struct policy_profile){.args = {.policy = policy, .all_pods = true}};
    read_demand(p, t);
    p->plugins[0] = plugin_named("PrioritySort", NULL, 0);
    p->plugins[1] = plugin_named("NodeAffinity", NULL, PROFILE_NO_SCORE);
    p->plugins[2] = plugin_named("NodeResourcesFit", NULL, PROFILE_NO_SCORE);
    p->plugins[3] = plugin_named("ResourceFragmentationScore", &p->args, 0);
    p->profile = (struct profile){STR("default-scheduler"), p->plugins, LEN(p->plugins)};
}

static void run_policy(struct input *in, const struct options *o, const char *trace,
                       const struct fgd_trace *t, enum gpu_policy policy)
{
    struct policy_profile p;
    struct fgd_order order = {0};
    struct engine_config config = o->engine;
    uint64_t decisions = 0;
    double seconds = 0; /* of this processor */
    policy_profile_init(&p, t, policy);
    config.rules.profiles = &p.profile;
    config.rules.n_profiles = 1;
    config.view_bytes = (size_t)64 << 20; /* hundreds of classes on few nodes: one each */
    fgd_report_begin(&in->report, policy);
    vec_each(&in->seeds, seed) {
        if (seed->seed < o->first_seed || seed->seed > o->last_seed)
            continue;
        fgd_order_make(&order, t, seed);
        clock_t start = clock();
        struct fgd_result result = fgd_run(t, &order, &config);
        seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
        decisions += result.decisions;
        struct fgd_figures f = {result.given[100], result.given[130]};
        fgd_report_add(&in->report, trace, seed->seed, f);
    }
    fgd_report_end(&in->report, trace, (double)decisions / seconds);
    fgd_order_done(&order);
    arena_done(&p.mem);
}

static bool has_seed(const struct input *in, const struct options *o)
{
    vec_each(&in->seeds, seed)
        if (seed->seed >= o->first_seed && seed->seed <= o->last_seed)
            return true;
    return false;
}

static int run(struct input *in, const struct options *o)
{
    struct error e = {0};
    if (!read_common(in, o, &e))
        return complain("fgd", &e);
    if (!has_seed(in, o))
        return complain_text("fgd: --seeds: none of these is in go-rand-seeds.csv");
    fgd_report_head();
    for (uint32_t i = 0; i < o->n_traces; i++) {
        struct fgd_trace t = {0};
        bool is_read = read_trace(in, o, o->traces[i], &t, &e);
        if (is_read)
            fgd_prepare(&t);
        for (enum gpu_policy policy = 0; is_read && policy < N_GPU_POLICIES; policy++)
            if (o->policies[policy])
                run_policy(in, o, o->traces[i], &t, policy);
        fgd_trace_done(&t);
        if (!is_read)
            return complain("fgd", &e);
    }
    return fgd_report_table(&in->report) ? 0 : 1;
}

int cmd_fgd(int argc, char **argv)
{
    struct options o;
    struct input in = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            help();
            return 0;
        }
    }
    int code = parse(argc, argv, &o);
    if (code == 0)
        code = run(&in, &o);
    input_done(&in);
    return code;
}
