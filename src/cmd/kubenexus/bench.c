/* Measures the engine on a stated load (bench_load.h): all nodes are applied, all pods are queued,
 * then the clock runs while they are decided, committed, emitted and settled. */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/kubenexus/bench_load.h"
#include "cmd/kubenexus/commands.h"
#include "core/engine/open.h"
#include "core/wire/json_write.h"

enum { SCANS = 200, QUEUED = 100000 };

struct result {
    enum bench_shape shape;
    uint32_t nodes, pods, bound;
    double decisions_per_s, scans_per_s;
    double bytes_per_node, bytes_per_pod, bytes_total;
    double apply_node_ns, apply_pod_ns, queue_ns, decide_ns, step_ns;
    double gang_us[BENCH_GANGS],
        parked_us;            /* of BENCH_GANG_1000: what each gang cost, and nothing to do */
    double first_us, last_us; /* of BENCH_GANG_64: what a gang of the first and last hundred cost */
    double longest_s;         /* step of the engine */
    struct engine_stats stats;
};

struct options {
    uint32_t nodes, pods;
    int shape; /* -1: all */
    bool is_json, no_views;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What we used of the processor: a step of a millisecond must not count others' turns. */
static double worked_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What one look at the clock costs: some clocks take as long as a good part of a step. */
static double look_s(void)
{
    enum { LOOKS = 1000 };
    double start = now_s(), end = start;
    for (uint32_t i = 0; i < LOOKS; i++)
        end = now_s();
    return (end - start) / LOOKS;
}

static double heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

/* --- stages --- */

static void apply_all(struct engine *k, struct result *r)
{
    struct arena mem = {0};
    double heap = heap_bytes(), start = now_s();
    for (uint32_t i = 0; i < r->nodes; i++) {
        struct object o = {.kind = KIND_NODE, .node = bench_node(&mem, r->shape, i)};
        engine_apply(k, 0, &(struct change){CHANGE_PUT, o});
        arena_reset(&mem);
    }
    r->apply_node_ns = (now_s() - start) * 1e9 / r->nodes;
    r->bytes_per_node = (heap_bytes() - heap) / r->nodes;
    for (uint32_t i = 0;; i++) {
        struct object o = {.kind = KIND_SERVICE, .service = bench_service(&mem, r->shape, i)};
        if (!o.service)
            break;
        engine_apply(k, 0, &(struct change){CHANGE_PUT, o});
        arena_reset(&mem);
    }
    for (uint32_t i = 0;; i++) {
        struct object o = {.kind = KIND_QUEUE, .queue = bench_queue(&mem, r->shape, i)};
        if (!o.queue)
            break;
        engine_apply(k, 0, &(struct change){CHANGE_PUT, o});
        arena_reset(&mem);
    }
    struct effects unused = {0};
    engine_step(k, 0, &unused); /* queues are there before their pods are */
    effects_done(&unused);
    for (uint32_t i = 0;; i++) {
        struct object o = {.kind = KIND_POD, .pod = bench_placed(&mem, r->shape, r->nodes, i)};
        if (!o.pod)
            break;
        engine_apply(k, 0, &(struct change){CHANGE_PUT, o});
        arena_reset(&mem);
    }
    heap = heap_bytes();
    start = now_s();
    for (uint32_t i = 0; i < r->pods; i++) {
        struct object o = {.kind = KIND_POD, .pod = bench_pod(&mem, r->shape, i)};
        engine_apply(k, 0, &(struct change){CHANGE_PUT, o});
        arena_reset(&mem);
    }
    r->apply_pod_ns = (now_s() - start) * 1e9 / r->pods;
    r->bytes_per_pod = (heap_bytes() - heap) / r->pods;
    arena_done(&mem);
}

/* The queue alone: take, and put back by refusing and waking. */
static void measure_queue(struct engine *k, struct result *r)
{
    struct queue *q = engine_open(k).queue;
    uint32_t n = MIN(r->pods, (uint32_t)QUEUED), *units = mem_alloc(n * sizeof(*units));
    double start = now_s();
    for (uint32_t i = 0; i < n; i++)
        if (!queue_take(q, 0, &units[i]))
            abort();
    for (uint32_t i = 0; i < n; i++)
        queue_settle(q, units[i]);
    r->queue_ns = (now_s() - start) * 1e9 / n;
    for (uint32_t i = 0; i < n; i++)
        queue_add(q, 0, units[i]);
    mem_free(units);
}

/* Scans and warm decisions, without placing anything. */
static void measure_decisions(struct engine *k, struct result *r)
{
    struct engine_open open = engine_open(k);
    struct cluster *c = open.cluster;
    uint32_t n = r->nodes > 100000 ? 20 : SCANS;
    double start = now_s();
    for (uint32_t i = 0; i < n; i++) {
        pod_id pod = {i % r->pods};
        struct class *class = classes_of(open.classes, pods_at(&c->pods, pod)->shape);
        scan_run(open.scan, c, class, pod, false);
    }
    r->scans_per_s = n / (now_s() - start);
}

/* Everything succeeds at once; evicted pods are gone. */
static void obey(struct engine *k, const struct effects *effects)
{
    vec_each(&effects->list, e)
        if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT)
            engine_settle(k, 0, e->id, NULL);
    vec_each(&effects->list, e)
        if (e->kind == EFFECT_EVICT) {
            struct pod gone = {.meta = {.namespace = e->namespace, .name = e->pod}};
            struct object o = {.kind = KIND_POD, .pod = &gone};
            engine_apply(k, 0, &(struct change){CHANGE_REMOVE, o});
        }
}

/* One look at the clock a step, which is taken off the time again: a step reaches from one look to
 * the next, and what becomes of its effects is in it. */
static void run(struct engine *k, struct result *r)
{
    struct effects effects = {0};
    double look = look_s(), start = now_s(), before = start;
    uint32_t steps = 0;
    while (engine_step(k, 0, &effects)) {
        obey(k, &effects);
        effects_clear(&effects);
        double now = now_s();
        r->longest_s = MAX(r->longest_s, now - before);
        before = now;
        steps++;
    }
    double seconds = now_s() - start - steps * look;
    r->step_ns = seconds * 1e9 / MAX(steps, 1u);
    bool counts_bound = r->shape == BENCH_PREEMPT || bench_has_queues(r->shape);
    r->decisions_per_s = (counts_bound ? (double)engine_stats(k).bound : steps) / seconds;
    effects_done(&effects);
}

/* A step is a gang. */
static void run_gangs(struct engine *k, struct result *r)
{
    struct effects effects = {0};
    double total = 0;
    for (uint32_t i = 0; i < BENCH_GANGS; i++) {
        double start = worked_s();
        bool has_stepped = engine_step(k, 0, &effects);
        double seconds = worked_s() - start;
        r->gang_us[i] = has_stepped ? seconds * 1e6 : 0;
        r->longest_s = MAX(r->longest_s, seconds);
        total += seconds;
        obey(k, &effects);
        effects_clear(&effects);
    }
    double start = worked_s();
    while (engine_step(k, 0, &effects))
        continue;
    r->parked_us = (worked_s() - start) * 1e6;
    r->step_ns = total * 1e9 / BENCH_GANGS;
    r->decisions_per_s = (double)engine_stats(k).bound / total;
    effects_done(&effects);
}

/* What a gang costs while all the others wait, and when nobody does any more. */
static void run_many_gangs(struct engine *k, struct result *r)
{
    enum { SOME = BENCH_MANY_GANGS / 10 };
    struct effects effects = {0};
    double start = worked_s(), mark = start, before = start;
    for (uint32_t i = 0; i < BENCH_MANY_GANGS; i++) {
        if (i == BENCH_MANY_GANGS - SOME)
            mark = before;
        engine_step(k, 0, &effects);
        obey(k, &effects);
        effects_clear(&effects);
        double now = worked_s();
        r->longest_s = MAX(r->longest_s, now - before);
        before = now;
        if (i + 1 == SOME)
            r->first_us = (now - start) * 1e6 / SOME;
    }
    r->last_us = (before - mark) * 1e6 / SOME;
    r->step_ns = (before - start) * 1e9 / BENCH_MANY_GANGS;
    r->decisions_per_s = (double)engine_stats(k).bound / (before - start);
    effects_done(&effects);
}

static void measure(struct result *r, const struct options *o)
{
    double heap = heap_bytes();
    struct engine *k = engine_new(&(struct engine_config){.no_views = o->no_views});
    apply_all(k, r);
    if (r->shape == BENCH_GANG_1000) {
        run_gangs(k, r);
    } else if (r->shape == BENCH_GANG_64) {
        run_many_gangs(k, r);
    } else {
        measure_queue(k, r);
        measure_decisions(k, r);
        run(k, r);
    }
    r->stats = engine_stats(k);
    r->bound = (uint32_t)r->stats.bound;
    r->bytes_total = heap_bytes() - heap;
    engine_free(k);
}

/* --- printing --- */

static void put(struct json_writer *w, const char *key, double value)
{
    json_put_key(w, str_of(key));
    json_put_int(w, (int64_t)(value + 0.5));
}

static void put_result(struct json_writer *w, const struct result *r)
{
    json_put_open(w, '{');
    put(w, "nodes", r->nodes);
    put(w, "classes", bench_shape_classes(r->shape));
    json_put_key(w, STR("shape"));
    json_put_str(w, str_of(bench_shape_name(r->shape)));
    put(w, "decisions_per_s", r->decisions_per_s);
    put(w, "bytes_per_node", r->bytes_per_node);
    put(w, "bytes_per_pod", r->bytes_per_pod);
    put(w, "bytes_total", r->bytes_total);
    put(w, "pods", r->pods);
    put(w, "bound", r->bound);
    put(w, "scans_per_s", r->scans_per_s);
    put(w, "longest_step_us", r->longest_s * 1e6);
    json_put_key(w, STR("stages_ns"));
    json_put_open(w, '{');
    put(w, "apply_node", r->apply_node_ns);
    put(w, "apply_pod", r->apply_pod_ns);
    put(w, "queue", r->queue_ns);
    put(w, "step", r->step_ns);
    json_put_close(w, '}');
    if (r->shape == BENCH_GANG_1000) {
        static const char *const keys[BENCH_GANGS] = {"four_classes_three_levels", "one_class_cold",
                                                      "one_class_warm", "fits_nowhere"};
        json_put_key(w, STR("gang_us"));
        json_put_open(w, '{');
        for (uint32_t i = 0; i < BENCH_GANGS; i++)
            put(w, keys[i], r->gang_us[i]);
        put(w, "parked", r->parked_us);
        json_put_close(w, '}');
    }
    if (r->shape == BENCH_GANG_64) {
        put(w, "first_gangs_us", r->first_us);
        put(w, "last_gangs_us", r->last_us);
    }
    json_put_key(w, STR("views"));
    json_put_open(w, '{');
    put(w, "kept", r->stats.views);
    put(w, "built", (double)r->stats.views_built);
    put(w, "evicted", (double)r->stats.views_evicted);
    put(w, "rows", (double)r->stats.rows_caught_up);
    put(w, "decisions", (double)r->stats.by_view);
    json_put_close(w, '}');
    json_put_close(w, '}');
}

static void print_head(FILE *to)
{
    fprintf(to, "%9s %-13s %9s %11s %8s %6s %6s %8s %7s %7s %6s %7s %7s\n", "nodes", "shape",
            "pods", "decisions/s", "scans/s", "B/node", "B/pod", "MiB", "node ns", "pod ns",
            "queue", "rows", "step ms");
}

static void print_line(FILE *to, const struct result *r)
{
    fprintf(to, "%9u %-13s %9u %11.0f %8.0f %6.0f %6.0f %8.0f %7.0f %7.0f %6.0f %7.1f %7.2f\n",
            r->nodes, bench_shape_name(r->shape), r->pods, r->decisions_per_s, r->scans_per_s,
            r->bytes_per_node, r->bytes_per_pod, r->bytes_total / (1 << 20), r->apply_node_ns,
            r->apply_pod_ns, r->queue_ns, (double)r->stats.rows_caught_up / MAX(r->bound, 1u),
            r->longest_s * 1e3);
    if (r->shape == BENCH_GANG_1000)
        fprintf(
            to,
            "%9s a gang of 1,000: %.0f us of four classes over three levels, %.0f us of one class "
            "(%.0f us warm), %.0f us that fits nowhere\n",
            "", r->gang_us[0], r->gang_us[1], r->gang_us[2], r->gang_us[3]);
    if (r->shape == BENCH_GANG_64)
        fprintf(to, "%9s a gang of 64: %.0f us while 1,000 wait, %.0f us when few are left\n", "",
                r->first_us, r->last_us);
    fflush(to); /* a line may take a minute */
}

/* --- command --- */

static void help(void)
{
    puts("Usage: kubenexus bench [--nodes N] [--shape S] [--pods N] [--no-views] [-o json]\n\n"
         "Measures decisions a second through the whole engine (queue, view, transaction, effect), "
         "memory\n"
         "and the cost of each stage, on a stated load. Without options: every shape at the sizes "
         "where it\n"
         "makes sense, some minutes in all.\n\n"
         "Options:\n"
         "      --nodes N        one cluster size instead of 1000, 5000, 100000, 1000000\n"
         "      --shape S        basic, gpu, spread-zone, spread-host, affinity, anti, preferred,\n"
         "                       preempt (pods placed a second), daemonset, classes-1000, "
         "classes-5000,\n"
         "                       full-profile (kubenexus-scheduler, all it has to say),\n"
         "                       gang-1000 (microseconds for gangs of 1,000 pods),\n"
         "                       gang-64 (1,000 gangs of 64 that wait at once),\n"
         "                       queues-0, queues-1000, queues-10000, queues-full (pods placed a "
         "second)\n"
         "      --pods N         so many pods instead of as many as fill 70 %\n"
         "      --no-views       decide everything by scanning, for comparison\n"
         "  -o, --output FORMAT  table (default) or json, on stdout; progress goes to stderr\n\n"
         "Examples:\n"
         "  kubenexus bench --nodes 5000 --shape basic\n"
         "  kubenexus bench -o json > results.json");
}

static bool parse_count(const char *text, uint32_t *out)
{
    int64_t n;
    if (!text || !str_int(str_of(text), &n) || n < 1 || n > 4000000)
        return false;
    *out = (uint32_t)n;
    return true;
}

static int parse(int argc, char **argv, struct options *o)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (option_value(argc, argv, &i, "--nodes", NULL, &value)) {
            if (!parse_count(value, &o->nodes))
                return complain_text("bench: --nodes: \"%s\" is not a number from 1 to 4000000",
                                     value ? value : "");
        } else if (option_value(argc, argv, &i, "--pods", NULL, &value)) {
            if (!parse_count(value, &o->pods))
                return complain_text("bench: --pods: \"%s\" is not a number from 1 to 4000000",
                                     value ? value : "");
        } else if (option_value(argc, argv, &i, "--shape", NULL, &value)) {
            for (o->shape = 0; o->shape < BENCH_SHAPES; o->shape++)
                if (value && strcmp(value, bench_shape_name((enum bench_shape)o->shape)) == 0)
                    break;
            if (o->shape == BENCH_SHAPES)
                return complain_text("bench: --shape: no shape \"%s\"", value ? value : "");
        } else if (option_value(argc, argv, &i, "--output", "-o", &value)) {
            if (!value || (strcmp(value, "json") != 0 && strcmp(value, "table") != 0))
                return complain_text("bench: --output: \"%s\" is neither table nor json",
                                     value ? value : "");
            o->is_json = strcmp(value, "json") == 0;
        } else if (strcmp(argv[i], "--no-views") == 0) {
            o->no_views = true;
        } else {
            return complain_text("bench: unknown argument \"%s\" (--help says more)", argv[i]);
        }
    }
    return 0;
}

/* Scanned classes at 100,000 nodes and more would take hours and say nothing new. */
static bool is_sensible(enum bench_shape shape, uint32_t nodes)
{
    switch (shape) {
    case BENCH_BASIC:
        return true;
    case BENCH_GPU:
    case BENCH_SPREAD_ZONE:
    case BENCH_SPREAD_HOST:
    case BENCH_AFFINITY:
    case BENCH_ANTI:
    case BENCH_PREFERRED:
    case BENCH_PREEMPT:
    case BENCH_DAEMONSET:
    case BENCH_FULL_PROFILE:
    case BENCH_GANG_1000:
    case BENCH_GANG_64:
    case BENCH_NO_QUEUES:
    case BENCH_QUEUES_1000:
        return nodes <= 100000;
    case BENCH_CLASSES_1000:
    case BENCH_CLASSES_5000:
    case BENCH_QUEUES_10000:
    case BENCH_QUEUES_FULL:
    case BENCH_SHAPES:
        break;
    }
    return nodes <= 5000;
}

int cmd_bench(int argc, char **argv)
{
    static const uint32_t sizes[] = {1000, 5000, 100000, 1000000};
    struct options o = {.shape = -1};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
    int code = parse(argc, argv, &o);
    if (code)
        return code;

    AUTO(buf) text = {0};
    struct json_writer w = {.out = &text, .is_pretty = true};
    json_put_open(&w, '{');
    json_put_key(&w, STR("results"));
    json_put_open(&w, '[');
    FILE *lines = o.is_json ? stderr : stdout; /* beside JSON the table is progress */
    print_head(lines);
    for (size_t s = 0; s < (o.nodes ? 1 : LEN(sizes)); s++)
        for (int shape = 0; shape < BENCH_SHAPES; shape++) {
            uint32_t nodes = o.nodes ? o.nodes : sizes[s];
            bool is_asked =
                o.shape < 0 ? is_sensible((enum bench_shape)shape, nodes) : shape == o.shape;
            if (!is_asked)
                continue;
            struct result r = {.shape = (enum bench_shape)shape, .nodes = nodes};
            r.pods = o.pods ? o.pods : bench_pods(r.shape, nodes);
            if (!o.is_json && !isatty(STDOUT_FILENO))
                fprintf(stderr, "bench: %u nodes, %s\n", nodes, bench_shape_name(r.shape));
            measure(&r, &o);
            print_line(lines, &r);
            put_result(&w, &r);
        }
    json_put_close(&w, ']');
    json_put_close(&w, '}');
    buf_add_char(&text, '\n');
    if (o.is_json)
        fwrite(text.p, 1, text.n, stdout);
    return 0;
}
