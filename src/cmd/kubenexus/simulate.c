#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/simulate_contest.h"
#include "cmd/kubenexus/simulate_input.h"
#include "cmd/kubenexus/simulate_progress.h"
#include "sim/demo.h"
#include "sim/report_html.h"
#include "sim/world.h"

struct options {
    struct simulate_files files;
    const char *report, *config, *decisions;
    bool has_seed, has_until, is_json, is_quiet, hides_host, prints_demo;
    uint64_t seed;
    int64_t until_ms;
    bool has_policy, declares;
    struct simulate_policy policy;
    const char *compared[CONTESTANTS_MOST];
    uint32_t n_compared;
    struct engine_config engine;
};

static void help(void)
{
    puts(
        "Usage: kubenexus simulate [SCENARIO] [OPTIONS]\n\n"
        "Runs the scheduler in virtual time: a day of a cluster in seconds. SCENARIO is a scenario "
        "file\n"
        "(docs/reference/scenario.md) or a cluster dump (`kubenexus dump`), whose "
        "pending "
        "pods are\n"
        "scheduled; - is stdin. Without one, a built-in demo is run: 208 nodes, one day.\n\n"
        "Input:\n"
        "      --cluster DUMP   start with the nodes and pods of this dump\n"
        "      --run-time TIME  of a dump: how long pods run that do not say so (1h)\n"
        "      --nodes CSV      nodes of an openb trace; needs --pods\n"
        "      --pods CSV       pods of an openb trace; needs --nodes\n"
        "      --fill           of a trace: a pod a second in the file's order; none ends\n"
        "      --speed F        of a trace: arrivals F times as densely; run times stay\n"
        "      --jobs CSV       jobs of the Philly trace, on one pool of GPUs\n"
        "      --gpus N         of --jobs: how many there are (640)\n"
        "      --seed N         another day of the same scenario\n"
        "      --until TIME     stop then (90m, 12h, 2d)\n"
        "      --print-demo     print the demo's scenario, to start your own from\n\n"
        "Output:\n"
        "  -o, --output FORMAT  table (default) or json\n"
        "      --report FILE    also write a page with plots, in one HTML file\n"
        "      --decisions FILE also write who started when and why, where there are queues: a\n"
        "                       line of JSON each (docs/reference/scenario.md); - is stdout\n"
        "      --no-host        leave out what the clock and the machine decide\n"
        "      --quiet          no progress on stderr\n\n"
        "Engine:\n"
        "      --config FILE    profiles of a KubeSchedulerConfiguration instead of the built-in "
        "ones\n"
        "      --policy P       who may pass those who wait for room: first-fit, fifo, easy, sjf\n"
        "                       (docs/guide/backfill.md); without it, whoever fits, as in "
        "kube-scheduler\n"
        "      --times T        run times that policies go by: learned (default) or exact\n"
        "      --patience N     of sjf: who waits N times its run time is passed by nobody (2); 0: "
        "no "
        "limit\n"
        "      --compare A B…   the same under each of these, in one table: a built-in profile, a\n"
        "                       policy, both (PROFILE+POLICY) or a configuration file; behind the\n"
        "                       scenario, up to the next option\n"
        "      --no-views       decide every pod by a scan of all nodes (slow, same results)\n"
        "      --check          compare every decision with such a scan (slower)\n\n"
        "Examples:\n"
        "  kubenexus simulate --report demo.html\n"
        "  kubenexus simulate scenarios/small.yaml --seed 7 -o json\n"
        "  kubenexus simulate --compare kubenexus-scheduler default-scheduler\n"
        "  kubenexus dump | kubenexus simulate -\n"
        "  kubenexus simulate --nodes openb_node_list_gpu_node.csv \\\n"
        "    --pods openb_pod_list_default.csv --fill\n"
        "  kubenexus simulate --jobs philly_jobs.csv --policy easy --times exact\n\n"
        "Exit codes: 0 done, 1 the result could not be written, 2 bad usage or input.");
}

static bool parse_seed(const char *text, struct options *o)
{
    int64_t seed;
    if (!text || !str_int(str_of(text), &seed) || seed < 0)
        return false;
    o->seed = (uint64_t)seed;
    return o->has_seed = true;
}

static bool parse_until(const char *text, struct options *o)
{
    return o->has_until = text && scenario_duration(str_of(text), &o->until_ms) && o->until_ms > 0;
}

static bool parse_speed(const char *text, struct options *o)
{
    char *end = NULL;
    o->files.trace.speed = text ? strtod(text, &end) : 0;
    return end && *end == '\0' && o->files.trace.speed >= 1e-6 && o->files.trace.speed <= 1e6;
}

static bool parse_run_time(const char *text, struct options *o)
{
    int64_t *run_ms = &o->files.dump.run_ms;
    return text && scenario_duration(str_of(text), run_ms) && *run_ms > 0;
}

static bool parse_gpus(const char *text, struct options *o)
{
    return text && str_int(str_of(text), &o->files.gpus) && o->files.gpus > 0 &&
           o->files.gpus <= 1000000;
}

static bool parse_policy(const char *text, struct options *o)
{
    return o->has_policy = text && simulate_policy_parse(&o->policy, text);
}

static bool parse_times(const char *text, struct options *o)
{
    o->declares = text && !strcmp(text, "exact");
    return o->declares || (text && !strcmp(text, "learned"));
}

static bool parse_patience(const char *text, struct options *o)
{
    int64_t *patience = &o->policy.args.patience;
    return text && str_int(str_of(text), patience) && *patience >= 0 &&
           *patience <= LINE_PATIENCE_MOST;
}

static bool parse_output(const char *text, struct options *o)
{
    o->is_json = text && !strcmp(text, "json");
    return o->is_json || (text && !strcmp(text, "table"));
}

/* Options with a value that means more than itself. */
static const struct {
    const char *name, *brief, *what;
    bool (*parse)(const char *text, struct options *o);
} valued[] = {
    {"--seed", NULL, "a whole number of at least 0", parse_seed},
    {"--until", NULL, "a time above 0 (90m, 12h, 2d)", parse_until},
    {"--run-time", NULL, "a time above 0 (90m, 12h, 2d)", parse_run_time},
    {"--speed", NULL, "a number from 0.000001 to 1000000", parse_speed},
    {"--gpus", NULL, "a whole number from 1 to 1000000", parse_gpus},
    {"--policy", NULL, "first-fit, fifo, easy or sjf", parse_policy},
    {"--times", NULL, "learned or exact", parse_times},
    {"--patience", NULL, "a whole number from 0 to 1000", parse_patience},
    {"--output", "-o", "table or json", parse_output},
};

/* 0, or the exit code; *is_used says whether argv[*i] was such an option. */
static int parse_valued(int argc, char **argv, int *i, struct options *o, bool *is_used)
{
    for (size_t k = 0; k < LEN(valued); k++) {
        const char *value;
        if (!option_value(argc, argv, i, valued[k].name, valued[k].brief, &value))
            continue;
        *is_used = true;
        if (!valued[k].parse(value, o))
            return complain_text("simulate: %s: \"%s\" is not %s", valued[k].name,
                                 value ? value : "", valued[k].what);
        return 0;
    }
    return 0;
}

static int parse_file(int argc, char **argv, int *i, struct options *o, bool *is_used)
{
    const struct {
        const char *name;
        const char **value;
    } files[] = {
        {"--cluster", &o->files.cluster}, {"--nodes", &o->files.nodes}, {"--pods", &o->files.pods},
        {"--jobs", &o->files.jobs},       {"--report", &o->report},     {"--config", &o->config},
        {"--decisions", &o->decisions},
    };
    for (size_t k = 0; k < LEN(files); k++) {
        const char *value;
        if (!option_value(argc, argv, i, files[k].name, NULL, &value))
            continue;
        *is_used = true;
        if (!value || !*value)
            return complain_text("simulate: %s needs a file", files[k].name);
        *files[k].value = value;
        return 0;
    }
    return 0;
}

/* All that follows, up to the next option. */
static int parse_compared(int argc, char **argv, int *i, struct options *o, bool *is_used)
{
    if (strcmp(argv[*i], "--compare") != 0)
        return 0;
    *is_used = true;
    while (*i + 1 < argc && argv[*i + 1][0] != '-') {
        if (o->n_compared == CONTESTANTS_MOST)
            return complain_text("simulate: --compare: more than %d contestants", CONTESTANTS_MOST);
        o->compared[o->n_compared++] = argv[++*i];
    }
    return o->n_compared > 1 ? 0 : complain_text("simulate: --compare needs two contestants");
}

static bool parse_flag(const char *arg, struct options *o)
{
    const struct {
        const char *name;
        bool *value;
    } flags[] = {
        {"--fill", &o->files.trace.is_fill},
        {"--no-host", &o->hides_host},
        {"--quiet", &o->is_quiet},
        {"--no-views", &o->engine.no_views},
        {"--check", &o->engine.checks_views},
        {"--print-demo", &o->prints_demo},
    };
    for (size_t k = 0; k < LEN(flags); k++) {
        if (!strcmp(arg, flags[k].name))
            return *flags[k].value = true;
    }
    return false;
}

static int check_options(const struct options *o)
{
    const struct simulate_files *f = &o->files;
    if (o->config && o->has_policy)
        return complain_text(
            "simulate: --config and --policy: one or the other says how to decide");
    if (o->n_compared && (o->config || o->has_policy))
        return complain_text("simulate: --compare says how to decide; name the %s there",
                             o->config ? "file" : "policy");
    if (o->n_compared && o->decisions)
        return complain_text("simulate: --compare and --decisions: of one contestant at a time");
    if (!f->nodes != !f->pods)
        return complain_text("simulate: --nodes and --pods go together");
    if (f->nodes && (f->scenario || f->cluster))
        return complain_text(
            "simulate: a trace (--nodes, --pods) is a whole cluster; \"%s\" is one "
            "too many",
            f->scenario ? f->scenario : f->cluster);
    if (f->jobs && (f->nodes || f->scenario || f->cluster))
        return complain_text("simulate: --jobs is a whole workload; \"%s\" is one too many",
                             f->nodes      ? f->nodes
                             : f->scenario ? f->scenario
                                           : f->cluster);
    if (!f->nodes && (f->trace.is_fill || f->trace.speed != 1))
        return complain_text("simulate: --fill and --speed are for traces (--nodes, --pods)");
    return 0;
}

static int parse(int argc, char **argv, struct options *o)
{
    o->files.trace.speed = 1;
    o->files.gpus = 640;
    o->files.dump.run_ms = DUMP_RUN_MS;
    o->policy.args = LINE_DEFAULTS;
    for (int i = 1; i < argc; i++) {
        bool is_used = parse_flag(argv[i], o);
        int code = is_used ? 0 : parse_valued(argc, argv, &i, o, &is_used);
        if (!is_used)
            code = parse_file(argc, argv, &i, o, &is_used);
        if (!is_used)
            code = parse_compared(argc, argv, &i, o, &is_used);
        if (code)
            return code;
        if (is_used)
            continue;
        if (argv[i][0] == '-' && argv[i][1])
            return complain_text("simulate: unknown option \"%s\" (--help says more)", argv[i]);
        if (o->files.scenario)
            return complain_text("simulate: \"%s\" and \"%s\": one scenario at a time",
                                 o->files.scenario, argv[i]);
        o->files.scenario = argv[i];
    }
    return check_options(o);
}

/* --- results --- */

static struct host host_since(double start_s, const struct world *w)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct host){
        .wall_s = progress_clock_s() - start_s,
        .longest_step_s = world_longest_step_s(w),
        .peak_bytes = (uint64_t)usage.ru_maxrss << 10,
    };
}

static int write_page(const char *file, struct str page)
{
    FILE *out = fopen(file, "wb");
    bool is_written = out && fwrite(page.p, 1, page.n, out) == page.n;
    if (out && fclose(out) != 0)
        is_written = false;
    if (is_written)
        return 0;
    complain_text("simulate: --report: %s: cannot be written", file);
    return 1;
}

/* The lines that --decisions wants. */
struct record {
    FILE *file; /* NULL: none */
    struct buf lines;
    bool is_broken;
};

static bool record_open(struct record *r, const char *name)
{
    if (name)
        r->file = strcmp(name, "-") ? fopen(name, "wb") : stdout;
    if (!name || r->file)
        return true;
    complain_text("simulate: --decisions: %s: cannot be written", name);
    return false;
}

static void record_turn(struct record *r)
{
    r->is_broken |= r->lines.n && fwrite(r->lines.p, 1, r->lines.n, r->file) != r->lines.n;
    buf_clear(&r->lines);
}

static bool record_close(struct record *r, const char *name)
{
    if (r->file)
        r->is_broken |= r->file == stdout ? fflush(stdout) : fclose(r->file);
    buf_done(&r->lines);
    if (r->is_broken)
        complain_text("simulate: --decisions: %s: cannot be written", name);
    return !r->is_broken;
}

/* One or several runs of one plan. */
struct contest {
    struct simulate_contestant contestants[CONTESTANTS_MOST];
    struct world *worlds[CONTESTANTS_MOST];
    struct summary summaries[CONTESTANTS_MOST];
    struct host hosts[CONTESTANTS_MOST];
    uint32_t n;
    struct record record;
};

static void add_results(const struct options *o, const struct comparison *c,
                        const struct host *hosts, struct buf *out)
{
    if (c->n == 1 && o->is_json)
        report_json(&c->all[0], hosts, out);
    else if (c->n == 1)
        report_table(&c->all[0], hosts, out);
    else if (o->is_json)
        comparison_json(c, hosts, out);
    else
        comparison_table(c, hosts, out);
}

static int print_results(const struct options *o, const struct contest *contest)
{
    AUTO(comparison) c = {0};
    AUTO(buf) text = {0};
    AUTO(buf) page = {0};
    const struct host *hosts = o->hides_host ? NULL : contest->hosts;
    comparison_init(&c, contest->summaries, contest->n);
    add_results(o, &c, hosts, &text);
    if (fwrite(text.p, 1, text.n, stdout) != text.n || fflush(stdout) != 0) {
        complain_text("simulate: stdout: cannot be written");
        return 1;
    }
    if (!o->report)
        return 0;
    report_html(&c, hosts, &page);
    return write_page(o->report, buf_str(&page));
}

/* --- running --- */

static void run(struct contest *contest, uint32_t i, const struct options *o, struct plan *plan)
{
    struct progress progress;
    struct simulate_contestant *c = &contest->contestants[i];
    simulate_contestant_prepare(c, plan, &o->engine);
    plan->scheduler = c->scheduler;
    plan->patience_ms = simulate_contestant_patience_ms(c);
    if (contest->n > 1 && !o->is_quiet)
        fprintf(stderr, STR_FMT ":\n", STR_ARG(c->who.name));
    struct world *w = contest->worlds[i] = world_new(plan, &c->engine);
    world_watch(w, progress_clock_s);
    progress_start(&progress, plan, o->is_quiet);
    if (contest->record.file)
        world_record(w, &contest->record.lines);
    while (world_turn(w)) {
        progress_turn(&progress, w);
        record_turn(&contest->record);
    }
    progress_end(&progress);
    contest->hosts[i] = host_since(progress.start_s, w);
    summary_init(&contest->summaries[i], world_books(w), world_engine_stats(w));
    contest->summaries[i].who = c->who;
}

static int simulate(const struct options *o, struct contest *contest, struct plan *plan)
{
    plan->declares_run_times = o->declares;
    if (o->has_until)
        plan->until_ms = o->until_ms;
    if (!record_open(&contest->record, o->decisions))
        return 1;
    for (uint32_t i = 0; i < contest->n; i++)
        run(contest, i, o, plan);
    int code = record_close(&contest->record, o->decisions) ? print_results(o, contest) : 1;
    for (uint32_t i = 0; i < contest->n; i++) {
        summary_done(&contest->summaries[i]);
        world_free(contest->worlds[i]);
    }
    return code;
}

/* The contestants of --compare; else the one that --config, --policy or nothing says. */
static bool read_contestants(struct contest *contest, const struct options *o)
{
    contest->n = MAX(o->n_compared, 1u);
    for (uint32_t i = 0; i < contest->n; i++) {
        struct simulate_contestant *c = &contest->contestants[i];
        if (!simulate_contestant_read(c, o->n_compared ? o->compared[i] : NULL))
            return false;
    }
    struct simulate_contestant *first = &contest->contestants[0];
    if (o->has_policy) {
        first->policy = o->policy;
        first->has_policy = true;
    }
    return !o->config || simulate_contestant_configure(first, o->config);
}

static int read_and_simulate(const struct options *o, struct contest *contest)
{
    struct simulate_input in = {0};
    struct error e = {0};
    const uint64_t *seed = o->has_seed ? &o->seed : NULL;
    int code = simulate_input_read(&in, &o->files, seed, &e) ? simulate(o, contest, &in.plan)
                                                             : complain("simulate", &e);
    simulate_input_done(&in);
    return code;
}

int cmd_simulate(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            help();
            return 0;
        }
    }
    int code = parse(argc, argv, &o);
    if (code)
        return code;
    if (o.prints_demo) {
        fwrite(demo_scenario().p, 1, demo_scenario().n, stdout);
        return 0;
    }
    struct contest contest = {0};
    code = read_contestants(&contest, &o) ? read_and_simulate(&o, &contest) : 2;
    for (uint32_t i = 0; i < contest.n; i++)
        simulate_contestant_done(&contest.contestants[i]);
    return code;
}
