#include "sim/fgd.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "sim/csv.h"

void fgd_trace_done(struct fgd_trace *t)
{
    vec_done(&t->nodes);
    vec_done(&t->pods);
    vec_done(&t->kinds);
    arena_done(&t->mem);
}

void fgd_order_done(struct fgd_order *o)
{
    vec_done(&o->pods);
    vec_done(&o->tie_orders);
}

/* --- reading --- */

enum { GPUS_MOST = 32 };

static const int64_t cpu_most = 10000000, memory_most = 100000000;

static int by_node_name(const void *a, const void *b)
{
    const struct fgd_node *x = a, *y = b;
    return str_compare(x->name, y->name);
}

static int by_pod_name(const void *a, const void *b)
{
    const struct fgd_pod *x = a, *y = b;
    return str_compare(x->name, y->name);
}

bool fgd_read_nodes(struct fgd_trace *t, const char *file, struct str csv, struct error *e)
{
    struct csv c;
    uint32_t name, cpu, memory, gpu, model;
    if (!csv_open(&c, file, csv, e) || !csv_need(&c, "sn", &name) ||
        !csv_need(&c, "cpu_milli", &cpu) || !csv_need(&c, "memory_mib", &memory) ||
        !csv_need(&c, "gpu", &gpu) || !csv_need(&c, "model", &model))
        return false;
    while (csv_next(&c)) {
        struct fgd_node node = {.name = c.cells[name], .model = c.cells[model]};
        int64_t gpus;
        if (!csv_int(&c, cpu, cpu_most, &node.cpu_milli) ||
            !csv_int(&c, memory, memory_most, &node.memory_mib) ||
            !csv_int(&c, gpu, GPUS_MOST, &gpus))
            return false;
        node.gpus = (uint32_t)gpus;
        t->gpu_milli += gpus * 1000;
        vec_push(&t->nodes, node);
    }
    if (e->kind != ERROR_NONE)
        return false;
    if (t->gpu_milli == 0)
        return error_set(e, ERROR_INVALID, "%s: there are no GPUs", file);
    qsort(t->nodes.at, t->nodes.n, sizeof(struct fgd_node), by_node_name);
    return true;
}

static bool is_of_kind(const struct fgd_pod *p, const struct fgd_kind *k)
{
    return p->cpu_milli == k->cpu_milli && p->milli == k->milli && p->gpus == k->gpus &&
           str_equal(p->models, k->models);
}

/* The most frequent first; of two that are equally frequent, the one that asks for more. */
static int by_frequency(const void *a, const void *b)
{
    const struct fgd_kind *x = a, *y = b;
    if (x->pods != y->pods)
        return x->pods > y->pods ? -1 : 1;
    if (x->cpu_milli != y->cpu_milli)
        return x->cpu_milli > y->cpu_milli ? -1 : 1;
    if (x->milli != y->milli)
        return x->milli > y->milli ? -1 : 1;
    if (x->gpus != y->gpus)
        return x->gpus > y->gpus ? -1 : 1;
    return -str_compare(x->models, y->models);
}

static void find_kinds(struct fgd_trace *t)
{
    vec_each(&t->pods, pod) {
        uint32_t i = 0;
        while (i < t->kinds.n && !is_of_kind(pod, &t->kinds.at[i]))
            i++;
        if (i == t->kinds.n)
            vec_push(&t->kinds, (struct fgd_kind){.models = pod->models,
                                                  .cpu_milli = pod->cpu_milli,
                                                  .gpus = pod->gpus,
                                                  .milli = pod->milli});
        t->kinds.at[i].pods++;
    }
    qsort(t->kinds.at, t->kinds.n, sizeof(struct fgd_kind), by_frequency);
    uint32_t n = 0, covered = 0;
    while ((uint64_t)covered * 100 < (uint64_t)t->pods.n * 95)
        covered += t->kinds.at[n++].pods;
    t->kinds.n = n;
    double all = t->pods.n; /* divided twice, as published: the last bit decides some ties */
    vec_each(&t->kinds, k)
        k->share = k->pods / all / (covered / all);
}

bool fgd_read_pods(struct fgd_trace *t, const char *file, struct str csv, struct error *e)
{
    struct csv c;
    uint32_t name, cpu, memory, gpus, milli, models;
    if (!csv_open(&c, file, csv, e) || !csv_need(&c, "name", &name) ||
        !csv_need(&c, "cpu_milli", &cpu) || !csv_need(&c, "memory_mib", &memory) ||
        !csv_need(&c, "num_gpu", &gpus) || !csv_need(&c, "gpu_milli", &milli))
        return false;
    bool has_models = csv_find(&c, "gpu_spec", &models);
    while (csv_next(&c)) {
        struct fgd_pod pod = {.name = c.cells[name]};
        int64_t count, part;
        if (!csv_int(&c, cpu, cpu_most, &pod.cpu_milli) ||
            !csv_int(&c, memory, memory_most, &pod.memory_mib) ||
            !csv_int(&c, gpus, GPUS_MOST, &count) || !csv_int(&c, milli, 1000, &part))
            return false;
        pod.models = has_models ? c.cells[models] : (struct str){0};
        pod.gpus = (uint32_t)count;
        pod.milli = (uint32_t)part;
        vec_push(&t->pods, pod);
    }
    if (e->kind != ERROR_NONE)
        return false;
    if (t->pods.n == 0)
        return error_set(e, ERROR_INVALID, "%s: there are no pods", file);
    qsort(t->pods.at, t->pods.n, sizeof(struct fgd_pod), by_pod_name);
    find_kinds(t);
    return true;
}

/* --- the published program's random numbers --- */

static bool read_word(struct str text, uint64_t *out)
{
    *out = 0;
    if (text.n == 0 || text.n > 16)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool is_digit = c >= '0' && c <= '9', is_letter = c >= 'a' && c <= 'f';
        if (!is_digit && !is_letter)
            return false;
        *out = *out << 4 | (uint64_t)(is_digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

bool fgd_read_seeds(struct fgd_seeds *out, const char *file, struct str csv, struct error *e)
{
    for (uint32_t line = 1; csv.n; line++) {
        struct str rest = str_take(&csv, '\n');
        struct fgd_seed seed;
        if (rest.n == 0 || rest.p[0] == '#')
            continue;
        if (!str_int(str_take(&rest, ','), &seed.seed))
            return error_set(e, ERROR_INVALID, "%s: line %u: begins with no seed", file, line);
        for (uint32_t i = 0; i < FGD_SEED_WORDS; i++)
            if (!read_word(str_take(&rest, ','), &seed.first[i]))
                return error_set(e, ERROR_INVALID, "%s: line %u: number %u is not hexadecimal",
                                 file, line, i + 1);
        vec_push(out, seed);
    }
    return true;
}

/* An additive generator: each output is the sum of two earlier ones. */
struct generator {
    uint64_t last[FGD_SEED_WORDS];
    uint64_t drawn;
};

static uint64_t draw(struct generator *g)
{
    enum { LAG = 273 };
    uint64_t i = g->drawn % FGD_SEED_WORDS;
    if (g->drawn >= FGD_SEED_WORDS)
        g->last[i] += g->last[(i + FGD_SEED_WORDS - LAG) % FGD_SEED_WORDS];
    g->drawn++;
    return g->last[i] & INT64_MAX;
}

/* A number below n, by remainder. */
static uint32_t draw_below(struct generator *g, uint32_t n)
{
    uint32_t most = ((uint32_t)1 << 31) - 1 - ((uint32_t)1 << 31) % n;
    uint32_t v;
    do
        v = (uint32_t)(draw(g) >> 32);
    while (v > most && n & (n - 1));
    return v % n;
}

/* The same by product, as shuffling does it. */
static uint32_t draw_place(struct generator *g, uint32_t n)
{
    uint64_t product;
    do
        product = (uint64_t)(uint32_t)(draw(g) >> 31) * n;
    while ((uint32_t)product < -n % n);
    return (uint32_t)(product >> 32);
}

/* --- the order --- */

static int64_t demand_of(const struct fgd_pod *p)
{
    return (int64_t)p->gpus * p->milli;
}

/* Removes pods, or draws more, until they ask for 130 % of the GPUs. */
static void tune(struct fgd_order *o, const struct fgd_trace *t, struct generator *g)
{
    int64_t target = t->gpu_milli * FGD_PERCENT_MOST / 100, demand = 0;
    vec_each(&t->pods, pod)
        demand += demand_of(pod);
    bool is_above = demand > target;
    while (is_above && demand > target) {
        uint32_t at = draw_below(g, o->pods.n);
        demand -= demand_of(&t->pods.at[o->pods.at[at]]);
        vec_remove(&o->pods, at);
    }
    while (!is_above) {
        uint32_t pod = draw_below(g, t->pods.n);
        if (demand + t->pods.at[pod].milli > target)
            break;
        demand += demand_of(&t->pods.at[pod]);
        vec_push(&o->pods, pod);
    }
}

void fgd_order_make(struct fgd_order *o, const struct fgd_trace *t, const struct fgd_seed *seed)
{
    struct generator g = {0};
    memcpy(g.last, seed->first, sizeof(g.last));
    vec_clear(&o->pods);
    for (uint32_t i = 0; i < t->pods.n; i++)
        vec_push(&o->pods, i);
    draw(&g);
    for (uint32_t i = t->pods.n - 1; i > 0; i--) {
        uint32_t k = draw_place(&g, i + 1), was = o->pods.at[i];
        o->pods.at[i] = o->pods.at[k];
        o->pods.at[k] = was;
    }
    tune(o, t, &g);
    for (uint32_t i = 0; i < 10; i++) /* that the published program draws for something else */
        draw(&g);
    vec_clear(&o->tie_orders);
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        uint32_t k = draw_below(&g, i + 1);
        vec_push(&o->tie_orders, i);
        o->tie_orders.at[i] = o->tie_orders.at[k];
        o->tie_orders.at[k] = i;
    }
}
