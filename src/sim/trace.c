#include "sim/trace.h"

#include "core/model/default.h"
#include "core/model/tables.h"
#include "sim/csv.h"

#define LABEL_MODEL "nvidia.com/gpu.product"

static const int64_t cpu_most = 10000000, memory_most = 100000000, time_most = 10000000000;

/* --- nodes --- */

static amount_list amounts_of(struct plan *p, int64_t cpu_milli, int64_t memory_mib,
                              int64_t gpu_milli, int64_t pods)
{
    amount_list all = {arena_array(&p->mem, struct amount, 4), 0};
    all.at[all.n++] = (struct amount){STR("cpu"), plan_quantity(cpu_milli, NANO_PER_MILLI)};
    all.at[all.n++] =
        (struct amount){STR("memory"), plan_quantity(memory_mib << 20, NANO_PER_UNIT)};
    if (gpu_milli)
        all.at[all.n++] = (struct amount){STR(TRACE_GPU), plan_quantity(gpu_milli, NANO_PER_UNIT)};
    if (pods)
        all.at[all.n++] = (struct amount){STR("pods"), plan_quantity(pods, NANO_PER_UNIT)};
    return all; /* sorted as it is */
}

static void add_node(struct plan *p, struct str name, struct str model, amount_list allocatable)
{
    struct node *node = arena_array(&p->mem, struct node, 1);
    field_init(node_fields, node);
    node->meta.name = name;
    node->meta.labels = (pair_list){arena_array(&p->mem, struct pair, 2), 0};
    node->meta.labels.at[node->meta.labels.n++] = (struct pair){STR(LABEL_HOSTNAME), name};
    if (model.n)
        node->meta.labels.at[node->meta.labels.n++] = (struct pair){STR(LABEL_MODEL), model};
    node->status.allocatable = node->status.capacity = allocatable;
    node->status.has_allocatable = true;
    plan_add_node(p, node, model.n ? model : STR("no GPU"));
}

bool trace_add_nodes(struct plan *p, const char *file, struct str csv, struct error *e)
{
    enum { PODS = 110 };
    struct csv c;
    uint32_t sn, cpu, memory, gpu, model;
    if (!csv_open(&c, file, csv, e) || !csv_need(&c, "sn", &sn) ||
        !csv_need(&c, "cpu_milli", &cpu) || !csv_need(&c, "memory_mib", &memory) ||
        !csv_need(&c, "gpu", &gpu) || !csv_need(&c, "model", &model))
        return false;
    p->group_word = "GPU model";
    while (csv_next(&c)) {
        int64_t cpu_milli, memory_mib, gpus;
        if (!csv_int(&c, cpu, cpu_most, &cpu_milli) ||
            !csv_int(&c, memory, memory_most, &memory_mib) || !csv_int(&c, gpu, 1024, &gpus))
            return false;
        if (c.cells[sn].n == 0)
            return error_set(e, ERROR_INVALID, "%s: line %u: sn: empty", file, c.line);
        add_node(p, c.cells[sn], c.cells[model],
                 amounts_of(p, cpu_milli, memory_mib, gpus * 1000, PODS));
    }
    return e->kind == ERROR_NONE;
}

/* --- pods --- */

struct pod_columns {
    uint32_t name, cpu, memory, gpus, milli;
    bool has_spec, has_scheduled;
    uint32_t spec, created, deleted, scheduled;
};

/* Any of the models, which "|" divides, will do. */
static struct affinity *models_affinity(struct plan *p, struct str models)
{
    struct requirement *r = arena_array(&p->mem, struct requirement, 1);
    uint32_t n = 1;
    for (size_t i = 0; i < models.n; i++)
        n += models.p[i] == '|';
    r->key = STR(LABEL_MODEL);
    r->op = STR("In");
    r->values.at = arena_array(&p->mem, struct str, n);
    r->values.n = n;
    for (uint32_t i = 0; i < n; i++) {
        size_t end = str_find(models, '|');
        r->values.at[i] = str_part(models, 0, end);
        models = str_part(models, end + 1, models.n);
    }
    struct node_selector_term *term = arena_array(&p->mem, struct node_selector_term, 1);
    term->match_expressions.at = r;
    term->match_expressions.n = 1;
    struct node_affinity *node = arena_array(&p->mem, struct node_affinity, 1);
    node->required = arena_array(&p->mem, struct node_selector, 1);
    node->required->terms.at = term;
    node->required->terms.n = 1;
    struct affinity *affinity = arena_array(&p->mem, struct affinity, 1);
    affinity->node = node;
    return affinity;
}

static const struct pod *make_pod(struct plan *p, amount_list requests, struct str models)
{
    struct pod *pod = arena_array(&p->mem, struct pod, 1);
    field_init(pod_fields, pod);
    struct container *main = arena_array(&p->mem, struct container, 1);
    main->name = STR("main");
    main->resources.requests = requests;
    main->resources.has_requests = true;
    pod->meta.namespace = STR("default");
    pod->spec.containers.at = main;
    pod->spec.containers.n = 1;
    if (models.n)
        pod->spec.affinity = models_affinity(p, models);
    struct object object = {.kind = KIND_POD, .pod = pod};
    object_default(&object, &p->mem);
    return pod;
}

static uint32_t class_of(struct plan *p, int64_t gpus, int64_t milli)
{
    if (gpus == 0)
        return plan_class(p, STR("no GPU"));
    if (milli < 1000)
        return plan_class(p, STR("part of a GPU"));
    char name[40];
    snprintf(name, sizeof(name), "%lld GPU%s", (long long)gpus, gpus > 1 ? "s" : "");
    return plan_class(p, str_of(name));
}

/* When it comes and how long it runs. What production did with it says how long it ran: from its
 * binding, or if it never was bound, from its creation. */
static bool read_times(const struct csv *c, const struct pod_columns *at, double speed,
                       struct plan_job *job)
{
    int64_t created, deleted, scheduled;
    if (!csv_int(c, at->created, time_most, &created) ||
        !csv_int(c, at->deleted, time_most, &deleted))
        return false;
    scheduled = created;
    if (at->has_scheduled && c->cells[at->scheduled].n &&
        !csv_int(c, at->scheduled, time_most, &scheduled))
        return false;
    job->at_ms = (int64_t)((double)created * 1000 / speed);
    job->runs_ms = MAX(deleted - scheduled, 1) * 1000;
    return true;
}

static bool add_pod(struct plan *p, const struct csv *c, const struct pod_columns *at,
                    struct trace_options options)
{
    int64_t cpu_milli, memory_mib, gpus, milli;
    if (!csv_int(c, at->cpu, cpu_most, &cpu_milli) ||
        !csv_int(c, at->memory, memory_most, &memory_mib) || !csv_int(c, at->gpus, 1024, &gpus) ||
        !csv_int(c, at->milli, 1000, &milli))
        return false;
    if (c->cells[at->name].n == 0)
        return error_set(c->e, ERROR_INVALID, "%s: line %u: name: empty", c->file, c->line);
    struct str models = at->has_spec ? c->cells[at->spec] : (struct str){0};
    amount_list requests = amounts_of(p, cpu_milli, memory_mib, gpus * milli, 0);
    struct plan_job job = {
        .at_ms = (int64_t)p->jobs.n * 1000,
        .runs_ms = INT64_MAX,
        .name = c->cells[at->name],
        .pods = 1,
        .template = plan_add_template(p, make_pod(p, requests, models)),
        .class = class_of(p, gpus, milli),
    };
    if (!options.is_fill && !read_times(c, at, options.speed, &job))
        return false;
    return plan_add_job(p, job, c->e);
}

static bool find_columns(const struct csv *c, struct pod_columns *at, bool is_fill)
{
    if (!csv_need(c, "name", &at->name) || !csv_need(c, "cpu_milli", &at->cpu) ||
        !csv_need(c, "memory_mib", &at->memory) || !csv_need(c, "num_gpu", &at->gpus) ||
        !csv_need(c, "gpu_milli", &at->milli))
        return false;
    at->has_spec = csv_find(c, "gpu_spec", &at->spec);
    at->has_scheduled = csv_find(c, "scheduled_time", &at->scheduled);
    if (is_fill)
        return true;
    return (csv_find(c, "creation_time", &at->created) &&
            csv_find(c, "deletion_time", &at->deleted)) ||
           error_set(c->e, ERROR_INVALID,
                     "%s: line 1: without creation_time and deletion_time only --fill can use it",
                     c->file);
}

bool trace_add_pods(struct plan *p, const char *file, struct str csv, struct trace_options options,
                    struct error *e)
{
    struct csv c;
    struct pod_columns at = {0};
    if (!csv_open(&c, file, csv, e) || !find_columns(&c, &at, options.is_fill))
        return false;
    while (csv_next(&c)) {
        if (!add_pod(p, &c, &at, options))
            return false;
    }
    if (e->kind != ERROR_NONE)
        return false;
    plan_note(p,
              "GPUs are counted in thousandths per node (" TRACE_GPU
              "), not per device: parts of several GPUs can hold a pod that asks for a whole one");
    return true;
}
