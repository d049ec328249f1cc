#include "sim/workload.h"

#include "core/model/check.h"
#include "core/model/default.h"
#include "core/model/tables.h"

enum { DAY_MS = 86400000 };

/* --- nodes --- */

static const struct pair *find_label(pair_list labels, struct str key)
{
    list_each(&labels, label) {
        if (str_equal(label->key, key))
            return label;
    }
    return NULL;
}

/* The file's own labels win. */
static void add_label(pair_list *labels, struct str key, struct str value)
{
    if (!find_label(*labels, key))
        labels->at[labels->n++] = (struct pair){key, value};
}

static void add_amount(amount_list *amounts, struct str name, struct quantity quantity)
{
    amounts->at[amounts->n++] = (struct amount){name, quantity};
}

static amount_list shape_allocatable(struct plan *p, const struct scenario_nodes *shape)
{
    amount_list all = {arena_array(&p->mem, struct amount, shape->resources.n + 4), 0};
    add_amount(&all, STR("cpu"), shape->cpu);
    add_amount(&all, STR("memory"), shape->memory);
    add_amount(&all, STR("pods"), shape->pods);
    if (shape->gpus)
        add_amount(&all, shape->gpu_resource, plan_quantity(shape->gpus, NANO_PER_UNIT));
    list_each(&shape->resources, amount)
        add_amount(&all, amount->name, amount->quantity);
    plan_sort_amounts(&all);
    return all;
}

/* How many digits the largest of `count` numbers from 0 has. */
static int digits_of(int64_t count)
{
    int digits = 1;
    for (int64_t most = count - 1; most >= 10; most /= 10)
        digits++;
    return digits;
}

static int64_t rack_count(const struct scenario_nodes *shape)
{
    if (shape->racks.size)
        return (shape->count + shape->racks.size - 1) / shape->racks.size;
    return MIN(shape->racks.count, shape->count);
}

static void add_shape_node(struct plan *p, const struct scenario_nodes *shape, int64_t i,
                           amount_list allocatable)
{
    struct node *node = arena_array(&p->mem, struct node, 1);
    field_init(node_fields, node);
    node->meta.name = arena_printf(&p->mem, STR_FMT "-%0*d", STR_ARG(shape->name),
                                   digits_of(shape->count), (int)i);
    pair_list labels = {arena_array(&p->mem, struct pair, shape->labels.n + 4), 0};
    list_each(&shape->labels, label)
        labels.at[labels.n++] = *label;
    add_label(&labels, STR(LABEL_HOSTNAME), node->meta.name);

    struct str group = shape->name;
    int64_t racks = rack_count(shape), zone = i;
    if (racks) {
        int64_t rack = shape->racks.size ? i / shape->racks.size : i * racks / shape->count;
        group = arena_printf(&p->mem, STR_FMT "-r%0*d", STR_ARG(shape->name), digits_of(racks),
                             (int)rack);
        add_label(&labels, STR(LABEL_RACK), group);
        if (shape->has_cliques)
            add_label(&labels, STR(LABEL_CLIQUE),
                      arena_printf(&p->mem, STR_FMT ".0", STR_ARG(group)));
        zone = rack; /* a rack stands in one zone */
    }
    if (shape->zones.n)
        add_label(&labels, STR(LABEL_ZONE), shape->zones.at[zone % shape->zones.n]);
    plan_sort_labels(&labels);

    node->meta.labels = labels;
    node->spec.taints.at = shape->taints.at;
    node->spec.taints.n = shape->taints.n;
    node->status.allocatable = node->status.capacity = allocatable;
    node->status.has_allocatable = true;
    plan_add_node(p, node, group);
    vec_last(&p->nodes).has_tie_order = shape->has_tie_order;
    vec_last(&p->nodes).tie_order = (uint64_t)shape->tie_order + (uint64_t)i;
}

/* --- pods --- */

/* The pairs and one more, in order, in a list of their own; those that are there already win. */
static pair_list with_pair(struct plan *p, pair_list old, struct str key, struct str value)
{
    pair_list pairs = {arena_array(&p->mem, struct pair, old.n + 1), 0};
    list_each(&old, pair)
        pairs.at[pairs.n++] = *pair;
    add_label(&pairs, key, value);
    plan_sort_labels(&pairs);
    return pairs;
}

/* Whose it is: the class, its queue, its user. */
static void add_names(struct plan *p, struct pod *pod, const struct scenario_job *j)
{
    struct meta *meta = &pod->meta;
    meta->labels = with_pair(p, meta->labels, STR("app"), j->name);
    if (j->queue.n)
        meta->labels = with_pair(p, meta->labels, STR(LABEL_QUEUE), j->queue);
    if (j->user.n)
        meta->annotations = with_pair(p, meta->annotations, STR(ANNOTATION_USER), j->user);
}

static void add_container(struct plan *p, struct pod *pod, amount_list requests)
{
    struct container *c = arena_array(&p->mem, struct container, 1);
    c->name = STR("main");
    c->resources.requests = requests;
    c->resources.has_requests = true;
    pod->spec.containers.at = c;
    pod->spec.containers.n = 1;
}

static bool make_pod(struct plan *p, struct str scheduler, const struct scenario_job *j,
                     const struct scenario_size *size, const struct pod **out, struct error *e)
{
    struct pod *pod = arena_array(&p->mem, struct pod, 1);
    if (j->template)
        *pod = *j->template;
    else
        field_init(pod_fields, pod);
    pod->meta.name = j->name;
    if (pod->meta.namespace.n == 0)
        pod->meta.namespace = STR("default");
    if (pod->spec.scheduler_name.n == 0)
        pod->spec.scheduler_name = scheduler;
    add_names(p, pod, j);
    if (pod->spec.containers.n == 0)
        add_container(p, pod, size->requests);
    if (j->has_priority) {
        pod->spec.has_priority = true;
        pod->spec.priority = j->priority;
    }
    struct object object = {.kind = KIND_POD, .pod = pod};
    object_default(&object, &p->mem);
    *out = pod;
    return object_check(&object, e);
}

static void add_service(struct plan *p, const struct scenario_job *j, const struct pod *pod)
{
    struct service *service = arena_array(&p->mem, struct service, 1);
    field_init(service_fields, service);
    service->meta.name = j->name;
    service->meta.namespace = pod->meta.namespace;
    service->selector = (pair_list){arena_array(&p->mem, struct pair, 1), 1};
    service->selector.at[0] = *find_label(pod->meta.labels, STR("app"));
    vec_push(&p->objects, (struct object){.kind = KIND_SERVICE, .service = service});
}

/* --- arrivals --- */

/* The clock of a class: it runs faster when the day's profile is high, so that arrivals which are
 * even on it follow the profile. On average it runs like ours. */
struct clock {
    const double *weights; /* of equal parts of the day; NULL: it is our clock */
    uint32_t parts;
    double mean;   /* of the weights */
    double at_ms;  /* our time … */
    double own_ms; /* … and its own, both only forward */
};

static struct clock clock_start(const struct scenario_arrival *a)
{
    struct clock c = {.at_ms = (double)a->from_ms};
    if (a->profile.n) {
        c.weights = a->profile.at;
        c.parts = a->profile.n;
        for (uint32_t i = 0; i < c.parts; i++)
            c.mean += c.weights[i] / c.parts;
    }
    return c;
}

/* Our time when the clock shows `own_ms`, or `until_ms` if that comes first. */
static double clock_advance(struct clock *c, double own_ms, double until_ms)
{
    while (c->weights && c->at_ms < until_ms) {
        double part_ms = (double)DAY_MS / c->parts;
        int64_t part = (int64_t)(c->at_ms / part_ms);
        double end_ms = MIN((double)(part + 1) * part_ms, until_ms);
        double speed = c->weights[(uint64_t)part % c->parts] / c->mean;
        double own_end_ms = c->own_ms + (end_ms - c->at_ms) * speed;
        if (own_end_ms > own_ms) {
            c->at_ms += (own_ms - c->own_ms) / speed;
            c->own_ms = own_ms;
            return c->at_ms;
        }
        c->at_ms = end_ms;
        c->own_ms = own_end_ms;
    }
    if (!c->weights) {
        c->at_ms += own_ms - c->own_ms;
        c->own_ms = own_ms;
    }
    return MIN(c->at_ms, until_ms);
}

/* How much time passes on the clock between the class's first and last moment. */
static double clock_span(const struct scenario_arrival *a)
{
    struct clock c = clock_start(a);
    if (!c.weights)
        return (double)(a->until_ms - a->from_ms);
    clock_advance(&c, 1e300, (double)a->until_ms);
    return c.own_ms;
}

struct drawing {
    struct plan *p;
    const struct scenario_job *job;
    uint32_t class;
    uint32_t *templates; /* by size */
    struct rng rng;
    uint32_t n; /* jobs so far */
    struct error *e;
};

static uint32_t draw_size(struct drawing *d)
{
    int64_t weights = 0;
    list_each(&d->job->sizes, size)
        weights += size->weight;
    int64_t x = (int64_t)rng_below(&d->rng, (uint64_t)weights);
    uint32_t i = 0;
    while (x >= d->job->sizes.at[i].weight)
        x -= d->job->sizes.at[i++].weight;
    return i;
}

static bool arrive(struct drawing *d, double at_ms)
{
    uint32_t size = draw_size(d);
    struct plan_job job = {
        .at_ms = (int64_t)at_ms,
        .runs_ms = draw_span_ms(&d->rng, d->job->duration),
        .name = arena_printf(&d->p->mem, STR_FMT "-%u", STR_ARG(d->job->name), d->n++),
        .pods = (uint32_t)d->job->sizes.at[size].pods,
        .minimum = d->job->gang
                       ? (uint32_t)MIN(d->job->gang->min_available, d->job->sizes.at[size].pods)
                       : 0,
        .template = d->templates[size],
        .node = d->p->templates.at[d->templates[size]]->spec.node_name,
        .class = d->class,
    };
    return plan_add_job(d->p, job, d->e);
}

static bool arrive_in_bursts(struct drawing *d)
{
    const struct scenario_arrival *a = &d->job->arrival;
    uint32_t bursts = a->at_ms.n ? a->at_ms.n : 1;
    for (uint32_t i = 0; i < bursts; i++) {
        int64_t at_ms = a->at_ms.n ? a->at_ms.at[i] : a->from_ms;
        for (int64_t k = 0; k < a->count; k++) {
            if (!arrive(d, (double)at_ms))
                return false;
        }
    }
    return true;
}

/* So many a time unit; the gaps even, or drawn. */
static bool arrive_at_rate(struct drawing *d)
{
    const struct scenario_arrival *a = &d->job->arrival;
    bool is_even = a->process == ARRIVAL_UNIFORM;
    struct clock clock = clock_start(a);
    double own_ms = 0, gap_ms = 1 / a->per_ms, until_ms = (double)a->until_ms;
    for (;;) {
        own_ms += is_even ? gap_ms : gap_ms * draw_exponential(&d->rng);
        double at_ms = clock_advance(&clock, own_ms, until_ms);
        if (at_ms >= until_ms)
            return true;
        if (!arrive(d, at_ms))
            return false;
    }
}

/* So many in all. Drawn gaps, scaled to fill the time, leave arrivals as if each had chosen its
 * moment by itself. */
static bool arrive_in_number(struct drawing *d)
{
    const struct scenario_arrival *a = &d->job->arrival;
    bool is_even = a->process == ARRIVAL_UNIFORM;
    VEC(double) gaps = {0};
    double sum = 0;
    for (int64_t i = 0; i <= a->count; i++) {
        double gap = is_even ? 1 : draw_exponential(&d->rng);
        vec_push(&gaps, gap);
        sum += gap;
    }
    struct clock clock = clock_start(a);
    double own_ms = 0, scale = clock_span(a) / sum;
    bool is_fine = true;
    for (uint32_t i = 0; i + 1 < gaps.n && is_fine; i++) {
        own_ms += gaps.at[i] * scale;
        is_fine = arrive(d, clock_advance(&clock, own_ms, (double)a->until_ms));
    }
    vec_done(&gaps);
    return is_fine;
}

static bool add_arrivals(struct drawing *d)
{
    const struct scenario_arrival *a = &d->job->arrival;
    if (a->process == ARRIVAL_BURST)
        return arrive_in_bursts(d);
    return a->per_ms > 0 ? arrive_at_rate(d) : arrive_in_number(d);
}

/* A class's own random numbers. (A hash would do, but hashes decide nothing here.) */
static struct rng class_rng(uint64_t seed, struct str name)
{
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < name.n; i++)
        r = rng_seeded(rng_next(&r) ^ (unsigned char)name.p[i]);
    return r;
}

static bool add_job_class(struct plan *p, struct str scheduler, const struct scenario_job *j,
                          struct error *e)
{
    struct drawing d = {.p = p, .job = j, .class = plan_class(p, j->name), .e = e};
    d.rng = class_rng(p->seed, j->name);
    d.templates = arena_array(&p->mem, uint32_t, j->sizes.n);
    const struct pod *pod = NULL;
    for (uint32_t i = 0; i < j->sizes.n; i++) {
        if (!make_pod(p, scheduler, j, &j->sizes.at[i], &pod, e))
            return false;
        d.templates[i] = plan_add_template(p, pod);
    }
    if (j->has_service)
        add_service(p, j, pod);
    return add_arrivals(&d);
}

bool workload_add(struct plan *p, const struct scenario *s, struct error *e)
{
    bool has_racks = false;
    list_each(&s->nodes, shape) {
        amount_list allocatable = shape_allocatable(p, shape);
        for (int64_t i = 0; i < shape->count; i++)
            add_shape_node(p, shape, i, allocatable);
        has_racks = has_racks || rack_count(shape);
    }
    if (s->nodes.n)
        p->group_word = has_racks ? "rack" : "node shape";
    p->bind_fault_share = s->faults.bind_share;
    p->node_between_ms = s->faults.nodes.between_ms;
    p->node_repair_ms = s->faults.nodes.repair_ms;
    if (s->until_ms)
        p->until_ms = s->until_ms;
    p->title = s->name;
    p->summary = s->summary;
    list_each(&s->queues, queue)
        vec_push(&p->objects, (struct object){.kind = KIND_QUEUE, .queue = queue});
    list_each(&s->jobs, job) {
        if (!add_job_class(p, s->scheduler, job, e))
            return error_wrap(e, "job class " STR_FMT, STR_ARG(job->name));
    }
    return true;
}
