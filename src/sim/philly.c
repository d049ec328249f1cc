#include "sim/philly.h"

#include "core/model/default.h"
#include "core/model/tables.h"
#include "sim/csv.h"

enum { SIZES_MOST = 16 };

static const struct str gpu = STR("nvidia.com/gpu");

static void add_node(struct plan *p, int64_t gpus)
{
    struct node *node = arena_array(&p->mem, struct node, 1);
    field_init(node_fields, node);
    node->meta.name = STR("pool");
    amount_list room = {arena_array(&p->mem, struct amount, 2), 0};
    room.at[room.n++] = (struct amount){gpu, plan_quantity(gpus, NANO_PER_UNIT)};
    room.at[room.n++] = (struct amount){STR("pods"), plan_quantity(gpus, NANO_PER_UNIT)};
    node->status.allocatable = node->status.capacity = room;
    node->status.has_allocatable = true;
    plan_add_node(p, node, STR("pool"));
    p->group_word = "pool";
}

static struct str size_name(struct plan *p, int64_t gpus)
{
    if (gpus > SIZES_MOST)
        return STR("more than 16 GPUs");
    return arena_printf(&p->mem, "%2lld GPU%s", (long long)gpus, gpus == 1 ? "" : "s");
}

/* Classes in the order of their sizes, whatever comes first. */
static void add_classes(struct plan *p)
{
    static const int64_t sizes[] = {1, 2, 4, 8, 12, 16, SIZES_MOST + 1};
    for (size_t i = 0; i < LEN(sizes); i++)
        plan_class(p, size_name(p, sizes[i]));
}

static const struct pod *make_pod(struct plan *p, struct str namespace, int64_t gpus)
{
    struct pod *pod = arena_array(&p->mem, struct pod, 1);
    field_init(pod_fields, pod);
    pod->meta.namespace = namespace;
    pod->spec.scheduler_name = STR("kubenexus-scheduler");
    struct container *c = arena_array(&p->mem, struct container, 1);
    c->name = STR("main");
    c->resources.requests = (amount_list){arena_array(&p->mem, struct amount, 1), 1};
    c->resources.requests.at[0] = (struct amount){gpu, plan_quantity(gpus, NANO_PER_UNIT)};
    c->resources.has_requests = true;
    pod->spec.containers.at = c;
    pod->spec.containers.n = 1;
    struct object object = {.kind = KIND_POD, .pod = pod};
    object_default(&object, &p->mem);
    return pod;
}

/* One for all jobs of a virtual cluster and size. */
static uint32_t template_of(struct plan *p, struct str namespace, int64_t gpus)
{
    struct quantity size = plan_quantity(gpus, NANO_PER_UNIT);
    for (uint32_t i = 0; i < p->templates.n; i++) {
        const struct pod *pod = p->templates.at[i];
        if (str_equal(pod->meta.namespace, namespace) &&
            pod->spec.containers.at[0].resources.requests.at[0].quantity.nano == size.nano)
            return i;
    }
    return plan_add_template(p, make_pod(p, namespace, gpus));
}

struct columns {
    uint32_t submit, duration, gpus, vc;
};

static bool add_job(struct plan *p, const struct csv *c, const struct columns *at, int64_t room)
{
    static const int64_t seconds_most = 10000000000;
    int64_t submit_s, duration_s, gpus;
    if (!csv_int(c, at->submit, seconds_most, &submit_s) ||
        !csv_int(c, at->duration, seconds_most, &duration_s) || !csv_int(c, at->gpus, room, &gpus))
        return false;
    struct str vc = c->cells[at->vc];
    if (gpus == 0 || duration_s == 0 || vc.n == 0)
        return error_set(c->e, ERROR_INVALID,
                         "%s: line %u: a job needs at least a GPU, a second and a vc", c->file,
                         c->line);
    struct plan_job job = {
        .at_ms = submit_s * 1000,
        .runs_ms = duration_s * 1000,
        .name = arena_printf(&p->mem, "job-%u", c->line - 1),
        .pods = 1,
        .template = template_of(p, vc, gpus),
        .class = plan_class(p, size_name(p, gpus)),
    };
    return plan_add_job(p, job, c->e);
}

bool philly_add(struct plan *p, const char *file, struct str csv, int64_t gpus, struct error *e)
{
    struct csv c;
    struct columns at;
    if (!csv_open(&c, file, csv, e) || !csv_need(&c, "submit_s", &at.submit) ||
        !csv_need(&c, "duration_s", &at.duration) || !csv_need(&c, "gpus", &at.gpus) ||
        !csv_need(&c, "vc", &at.vc))
        return false;
    add_node(p, gpus);
    add_classes(p);
    while (csv_next(&c)) {
        if (!add_job(p, &c, &at, gpus))
            return false;
    }
    return e->kind == ERROR_NONE;
}
