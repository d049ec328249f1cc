#include <inttypes.h>

#include "core/model/default.h"
#include "core/model/tables.h"
#include "sim/fgd.h"
#include "sim/plan.h"

#define LABEL_MODEL "nvidia.com/gpu.product"
#define FRACTION    "scheduling.kubenexus.io/gpu-fraction"

struct replay {
    const struct fgd_trace *trace;
    struct engine *engine;
    struct effects effects;
    struct arena mem; /* of nodes */
    struct buf name;  /* of the pod that arrives */
};

/* --- objects --- */

static amount_list amounts(struct arena *mem, int64_t cpu_milli, int64_t memory_mib, int64_t gpus,
                           int64_t pods)
{
    amount_list all = {arena_array(mem, struct amount, 4), 0};
    all.at[all.n++] = (struct amount){STR("cpu"), plan_quantity(cpu_milli, NANO_PER_MILLI)};
    all.at[all.n++] =
        (struct amount){STR("memory"), plan_quantity(memory_mib << 20, NANO_PER_UNIT)};
    if (gpus)
        all.at[all.n++] =
            (struct amount){STR("nvidia.com/gpu"), plan_quantity(gpus, NANO_PER_UNIT)};
    if (pods)
        all.at[all.n++] = (struct amount){STR("pods"), plan_quantity(pods, NANO_PER_UNIT)};
    return all; /* sorted as it is */
}

static void tell_node(struct replay *r, const struct fgd_node *from, uint32_t tie_order)
{
    enum { PODS = 1001 };
    struct node node = {0};
    field_init(node_fields, &node);
    struct pair labels[] = {
        {STR(LABEL_HOSTNAME), from->name},
        {STR(LABEL_MODEL), from->model},
    };
    node.meta.name = from->name;
    node.meta.labels = (pair_list){labels, from->model.n ? 2 : 1};
    node.status.allocatable = amounts(&r->mem, from->cpu_milli, from->memory_mib, from->gpus, PODS);
    node.status.has_allocatable = true;
    struct change change = {CHANGE_PUT, {.kind = KIND_NODE, .node = &node}};
    engine_set_tie_order(r->engine, from->name, (uint64_t)tie_order << 48);
    engine_apply(r->engine, 0, &change);
}

/* Any of the models will do. */
static struct affinity *affinity_of(struct arena *mem, struct str models)
{
    struct affinity *affinity = arena_array(mem, struct affinity, 1);
    struct node_selector_term *term = arena_array(mem, struct node_selector_term, 1);
    struct requirement *r = arena_array(mem, struct requirement, 1);
    affinity->node = arena_array(mem, struct node_affinity, 1);
    affinity->node->required = arena_array(mem, struct node_selector, 1);
    affinity->node->required->terms.at = term;
    affinity->node->required->terms.n = 1;
    term->match_expressions.at = r;
    term->match_expressions.n = 1;
    r->key = STR(LABEL_MODEL);
    r->op = STR("In");
    r->values.at = arena_array(mem, struct str, models.n); /* more than there can be */
    while (models.n)
        r->values.at[r->values.n++] = str_take(&models, '|');
    return affinity;
}

static const struct pod *make_pod(struct arena *mem, const struct fgd_pod *from)
{
    bool is_share = from->gpus && from->milli < 1000;
    struct pod *pod = arena_array(mem, struct pod, 1);
    struct container *main = arena_array(mem, struct container, 1);
    field_init(pod_fields, pod);
    main->name = STR("main");
    main->resources.requests =
        amounts(mem, from->cpu_milli, from->memory_mib, is_share ? 0 : from->gpus, 0);
    main->resources.has_requests = true;
    pod->meta.namespace = STR("default");
    pod->spec.containers.at = main;
    pod->spec.containers.n = 1;
    if (from->models.n)
        pod->spec.affinity = affinity_of(mem, from->models);
    if (is_share) {
        struct pair *share = arena_array(mem, struct pair, 1);
        *share = (struct pair){STR(FRACTION), arena_printf(mem, "0.%03u", from->milli)};
        pod->meta.annotations = (pair_list){share, 1};
    }
    struct object object = {.kind = KIND_POD, .pod = pod};
    object_default(&object, mem);
    pod->template =
        arena_printf(mem, "%" PRId64 " %" PRId64 " %u " STR_FMT, from->cpu_milli, from->memory_mib,
                     is_share ? 0 : from->gpus, STR_ARG(from->models));
    return pod;
}

void fgd_prepare(struct fgd_trace *t)
{
    t->objects = arena_array(&t->mem, const struct pod *, t->pods.n);
    for (uint32_t i = 0; i < t->pods.n; i++)
        t->objects[i] = make_pod(&t->mem, &t->pods.at[i]);
}

/* --- arrivals --- */

/* The pod comes, and is bound or goes again. */
static bool arrive(struct replay *r, uint32_t number, uint32_t which)
{
    struct pod pod = *r->trace->objects[which];
    buf_clear(&r->name);
    buf_add_number(&r->name, number, 10);
    pod.meta.name = pod.meta.uid = buf_str(&r->name);
    struct change change = {CHANGE_PUT, {.kind = KIND_POD, .pod = &pod}};
    effects_clear(&r->effects);
    engine_apply(r->engine, number, &change);
    bool is_decided = engine_step(r->engine, number, &r->effects);
    assert(is_decided && r->effects.list.n == 1);
    if (r->effects.list.at[0].kind == EFFECT_BIND) {
        engine_settle(r->engine, number, r->effects.list.at[0].id, NULL);
        return true;
    }
    change.kind = CHANGE_REMOVE;
    engine_apply(r->engine, number, &change);
    return false;
}

struct fgd_result fgd_run(const struct fgd_trace *t, const struct fgd_order *o,
                          const struct engine_config *config)
{
    struct fgd_result result = {.decisions = o->pods.n};
    uint32_t arrivals[FGD_PERCENT_MOST + 1] = {0};
    struct replay r = {.trace = t, .engine = engine_new(config)};
    assert(t->objects);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        tell_node(&r, &t->nodes.at[i], o->tie_orders.at[i]);
    int64_t asked = 0, given = 0;
    for (uint32_t i = 0; i < o->pods.n; i++) {
        const struct fgd_pod *pod = &t->pods.at[o->pods.at[i]];
        int64_t demand = (int64_t)pod->gpus * pod->milli;
        bool is_bound = arrive(&r, i, o->pods.at[i]);
        result.bound += is_bound;
        asked += demand;
        given += is_bound ? demand : 0;
        int64_t percent = (200 * asked + t->gpu_milli) / (2 * t->gpu_milli);
        percent = MIN(percent, (int64_t)FGD_PERCENT_MOST);
        result.given[percent] += 100.0 * (double)given / (double)t->gpu_milli;
        arrivals[percent]++;
    }
    for (uint32_t i = 0; i <= FGD_PERCENT_MOST; i++)
        result.given[i] = arrivals[i] ? result.given[i] / arrivals[i] : 0;
    effects_done(&r.effects);
    buf_done(&r.name);
    engine_free(r.engine);
    arena_done(&r.mem);
    return result;
}
