#include "property/world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "property/world_explain.h"
#include "property/world_nexus.h"
#include "support/test.h"

/* --- saying what went wrong --- */

static struct world *current; /* for a death by assertion */

uint64_t property_number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void say_where(const struct world *w)
{
    printf("# seed %" PRIu64 ", operation %" PRIu64 " (%s)\n", w->seed, w->operation, w->doing);
    printf("# again: PROPERTY_SEED=%" PRIu64 " PROPERTY_SEEDS=1 PROPERTY_OPERATIONS=%" PRIu64
           " [PROPERTY_WITHOUT=operation,…] [PROPERTY_TRACE=1]\n",
           w->seed, w->work + 1);
    fflush(stdout);
}

static void on_abort(int signal_number)
{
    if (current)
        say_where(current); /* not safe in a handler, and the last thing this process does */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void world_fail(struct world *w, const char *fmt, ...)
{
    if (w->has_failed)
        return;
    w->has_failed = true;
    printf("# ");
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    say_where(w);
}

/* --- making and ending --- */

void world_init(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .now_ms = 1000000, .doing = "start"};
    struct rng r = rng_seeded(hash_pair(seed, UINT64_MAX));
    w->most_nodes = 1 + (uint32_t)rng_below(&r, GEN_NODES);
    for (uint32_t i = 0; i < WORLD_TEMPLATES; i++)
        w->templates[i] = rng_next(&r);
    current = w;
    signal(SIGABRT, on_abort);
}

void world_add_engine(struct world *w, struct engine_config config)
{
    config.seed = w->seed;
    config.max_unsettled = 12;
    config.publishes = true;
    struct engine *k = engine_new(&config);
    if (config.keeps_pins)
        w->explainer = k;
    w->engines[w->n_engines++] = k;
}

void world_done(struct world *w)
{
    for (uint32_t i = 0; i < w->n_engines; i++) {
        engine_free(w->engines[i]);
        effects_done(&w->effects[i]);
    }
    for (uint32_t i = 0; i < GEN_NODES; i++)
        arena_done(&w->nodes[i].mem);
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        arena_done(&w->pods[i].mem);
    for (uint32_t i = 0; i < GEN_STORAGE; i++)
        arena_done(&w->storage[i].mem);
    for (uint32_t i = 0; i < GEN_NEXUS; i++)
        arena_done(&w->nexus[i].mem);
    for (uint32_t i = 0; i < GEN_NAMESPACES; i++) {
        arena_done(&w->namespaces[i].mem);
        for (uint32_t k = 0; k < GEN_SERVICES; k++)
            arena_done(&w->services[i][k].mem);
        for (uint32_t k = 0; k < GEN_OWNERS; k++)
            arena_done(&w->owners[i][k].mem);
        for (uint32_t k = 0; k < GEN_BUDGETS; k++)
            arena_done(&w->budgets[i][k].mem);
    }
    vec_done(&w->unsettled);
    arena_done(&w->mem);
    current = NULL;
}

/* --- telling --- */

static void tell(struct world *w, enum change_kind kind, struct object object)
{
    struct change change = {kind, object};
    for (uint32_t i = 0; i < w->n_engines; i++)
        engine_apply(w->engines[i], w->now_ms, &change);
}

static void put_node(struct world *w, struct node_slot *n)
{
    arena_reset(&n->mem);
    n->object = gen_node(&n->mem, &n->plan);
    tell(w, CHANGE_PUT, (struct object){.kind = KIND_NODE, .node = n->object});
}

static void put_pod(struct world *w, struct pod_slot *p)
{
    if (p->plan.is_deleted && p->assumed != GEN_NOWHERE)
        p->plan.nominated = GEN_NOWHERE; /* who was bound is not nominated any more */
    if (p->plan.node != GEN_NOWHERE || p->plan.is_deleted)
        p->assumed = GEN_NOWHERE;
    arena_reset(&p->mem);
    p->object = gen_pod(&p->mem, &p->plan);
    tell(w, CHANGE_PUT, (struct object){.kind = KIND_POD, .pod = p->object});
    if (p->plan.is_finished)
        p->object = NULL;
}

uint32_t world_place(const struct pod_slot *pod)
{
    if (!pod->object)
        return GEN_NOWHERE;
    return pod->plan.node != GEN_NOWHERE ? pod->plan.node : pod->assumed;
}

/* A slot that holds something, from a random start on; NULL if none does. */
static struct node_slot *any_node(struct world *w, struct rng *r)
{
    uint32_t start = (uint32_t)rng_below(r, GEN_NODES);
    for (uint32_t i = 0; i < GEN_NODES; i++)
        if (w->nodes[(start + i) % GEN_NODES].object)
            return &w->nodes[(start + i) % GEN_NODES];
    return NULL;
}

static bool exists(const struct pod_slot *p)
{
    return p->object;
}

static bool is_unbound(const struct pod_slot *p)
{
    return p->object && p->plan.node == GEN_NOWHERE;
}

static bool is_assumed(const struct pod_slot *p)
{
    return p->object && p->assumed != GEN_NOWHERE;
}

static bool is_nominated(const struct pod_slot *p)
{
    return is_unbound(p) && p->plan.nominated != GEN_NOWHERE;
}

static struct pod_slot *any_pod(struct world *w, struct rng *r,
                                bool (*is_wanted)(const struct pod_slot *))
{
    uint32_t start = (uint32_t)rng_below(r, WORLD_PODS);
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        if (is_wanted(&w->pods[(start + i) % WORLD_PODS]))
            return &w->pods[(start + i) % WORLD_PODS];
    return NULL;
}

/* --- operations on nodes --- */

static void add_node(struct world *w, struct rng *r)
{
    uint32_t number = (uint32_t)rng_below(r, w->most_nodes);
    struct node_slot *n = &w->nodes[number];
    if (n->object)
        return;
    n->plan = (struct node_plan){
        .number = number,
        .labels = rng_next(r),
        .taints = rng_next(r),
        .alloc = rng_next(r),
        .images = rng_next(r),
        .is_cordoned = chance(r, 12),
    };
    put_node(w, n);
}

static void change_node(struct world *w, struct rng *r)
{
    struct node_slot *n = any_node(w, r);
    if (!n)
        return;
    uint64_t *aspects[] = {&n->plan.labels, &n->plan.taints, &n->plan.alloc, &n->plan.images};
    uint32_t which = (uint32_t)rng_below(r, LEN(aspects) + 1);
    if (which < LEN(aspects))
        *aspects[which] = rng_next(r);
    else
        n->plan.is_cordoned = chance(r, 5);
    put_node(w, n);
}

/* Some hostnames are shared for a while, then none is. */
static void share_hostnames(struct world *w, struct rng *r)
{
    bool shares = chance(r, 3);
    for (uint32_t i = 0; i < GEN_NODES; i++) {
        struct node_slot *n = &w->nodes[i];
        bool is_shared = shares && chance(r, 8);
        if (!n->object || n->plan.is_named_as_next == is_shared)
            continue;
        n->plan.is_named_as_next = is_shared;
        put_node(w, n);
    }
}

/* What changes nothing is not in the log. (The first may: who alone has an image says its size.) */
static void beat_heart(struct world *w, struct rng *r)
{
    struct node_slot *n = any_node(w, r);
    if (!n)
        return;
    put_node(w, n);
    uint64_t before = w->engines[0]->cluster->log.end;
    put_node(w, n);
    if (w->engines[0]->cluster->log.end != before)
        world_fail(w, "a heartbeat of " STR_FMT " was logged", STR_ARG(n->object->meta.name));
}

static void remove_node(struct world *w, struct rng *r)
{
    struct node_slot *n = any_node(w, r);
    if (!n)
        return;
    tell(w, CHANGE_REMOVE, (struct object){.kind = KIND_NODE, .node = n->object});
    n->object = NULL;
}

static void set_tie_order(struct world *w, struct rng *r)
{
    struct node_slot *n = any_node(w, r);
    if (!n)
        return;
    uint64_t tie_order = chance(r, 2) ? rng_below(r, 3) : rng_next(r);
    for (uint32_t i = 0; i < w->n_engines; i++)
        engine_set_tie_order(w->engines[i], n->object->meta.name, tie_order);
}

static void resize_cluster(struct world *w, struct rng *r)
{
    w->most_nodes = 1 + (uint32_t)rng_below(r, GEN_NODES);
    for (uint32_t i = w->most_nodes; i < GEN_NODES; i++) {
        if (!w->nodes[i].object || chance(r, 3))
            continue;
        tell(w, CHANGE_REMOVE, (struct object){.kind = KIND_NODE, .node = w->nodes[i].object});
        w->nodes[i].object = NULL;
    }
}

/* --- operations on pods --- */

/* There are times without nominations: views of spread pods are used then. */
static bool is_calm(const struct world *w)
{
    return w->operation / 500 % 2;
}

static void add_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = &w->pods[rng_below(r, WORLD_PODS)];
    if (p->object)
        return;
    p->plan = (struct pod_plan){
        .number = (uint32_t)(p - w->pods),
        .incarnation = p->plan.incarnation + 1,
        .template = w->templates[rng_below(r, WORLD_TEMPLATES)],
        .namespace = (uint32_t)rng_below(r, GEN_NAMESPACES),
        .labels = chance(r, 3) ? 1 + rng_below(r, 6) : 0,
        .node = chance(r, 12) ? (uint32_t)rng_below(r, GEN_GHOSTS) : GEN_NOWHERE,
        .nominated =
            !is_calm(w) && chance(r, 12) ? (uint32_t)rng_below(r, GEN_GHOSTS) : GEN_NOWHERE,
    };
    p->assumed = GEN_NOWHERE;
    put_pod(w, p);
}

static void change_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, exists);
    if (!p)
        return;
    switch (rng_below(r, 6)) {
    case 0:
    case 1:
        p->plan.labels = chance(r, 2) ? rng_next(r) : 1 + rng_below(r, 6);
        break;
    case 2:
        p->plan.requests = rng_next(r);
        break;
    case 3:
        p->plan.is_ungated = true;
        break;
    case 4:
        p->plan.is_tolerant ^= true;
        break;
    case 5: /* nothing */
        break;
    }
    put_pod(w, p);
}

/* Another nominated node, or another size for it. */
static void nominate_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, is_calm(w) ? is_nominated : is_unbound);
    if (!p)
        return;
    if (is_calm(w))
        p->plan.nominated = GEN_NOWHERE;
    else if (p->plan.nominated != GEN_NOWHERE && chance(r, 2))
        p->plan.requests = rng_next(r);
    else
        p->plan.nominated = chance(r, 4) ? GEN_NOWHERE : (uint32_t)rng_below(r, w->most_nodes);
    put_pod(w, p);
}

static void mark_deleted(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, exists);
    if (!p)
        return;
    p->plan.is_deleted = true;
    put_pod(w, p);
}

static void remove_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = &w->pods[rng_below(r, WORLD_PODS)]; /* the fuller, the more often */
    if (!p->object)
        return;
    tell(w, CHANGE_REMOVE, (struct object){.kind = KIND_POD, .pod = p->object});
    p->object = NULL;
}

static void finish_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, exists);
    if (!p)
        return;
    p->plan.is_finished = true;
    put_pod(w, p);
}

/* The same name, another pod. */
static void replace_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, exists);
    if (!p)
        return;
    p->plan.incarnation++;
    p->plan.labels = chance(r, 2) ? rng_next(r) : 0;
    p->plan.is_deleted = false;
    p->plan.node = p->plan.nominated = p->assumed = GEN_NOWHERE;
    put_pod(w, p);
}

/* Somebody else binds it. */
static void bind_elsewhere(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, is_unbound);
    if (!p)
        return;
    p->plan.node = (uint32_t)rng_below(r, chance(r, 4) ? GEN_GHOSTS : w->most_nodes);
    put_pod(w, p);
}

/* An API server that was set back to an older state: the pod was never bound. */
static void lose_node(struct world *w, struct rng *r)
{
    struct pod_slot *p = &w->pods[rng_below(r, WORLD_PODS)];
    if (!p->object || p->plan.node == GEN_NOWHERE)
        return;
    p->plan.node = GEN_NOWHERE;
    vec_each(&w->unsettled, u)
        if (u->pod == p->plan.number)
            u->incarnation = 0; /* whatever comes of it does not concern this pod any more */
    put_pod(w, p);
}

/* The API says what we decided. */
static void confirm_pod(struct world *w, struct rng *r)
{
    struct pod_slot *p = any_pod(w, r, is_assumed);
    if (!p)
        return;
    p->plan.node = p->assumed;
    put_pod(w, p);
}

/* Texts, label sets and shapes that nobody needs: enough of it, and numbers are used again. */
static void litter(struct world *w, struct rng *r)
{
    struct pod_plan plan = {.number = WORLD_PODS, .node = GEN_NOWHERE, .nominated = GEN_NOWHERE};
    for (uint32_t i = 0; i < 300; i++) {
        plan.template = rng_next(r);
        struct pod *pod = gen_pod(&w->mem, &plan);
        pod->spec.scheduler_name = STR("another-scheduler");
        pod->meta.labels.at[0] =
            (struct pair){STR("litter"), arena_printf(&w->mem, "%lx", plan.template)};
        pod->meta.labels.n = 1;
        tell(w, CHANGE_PUT, (struct object){.kind = KIND_POD, .pod = pod});
        tell(w, CHANGE_REMOVE, (struct object){.kind = KIND_POD, .pod = pod});
    }
}

static void renew_template(struct world *w, struct rng *r)
{
    uint64_t *template = &w->templates[rng_below(r, WORLD_TEMPLATES)];
    *template = rng_next(r);
}

/* --- operations on what selects pods --- */

/* It comes, changes or goes. */
static void change_object(struct world *w, struct rng *r, struct object_slot *slot)
{
    slot->exists = !chance(r, 3);
    tell(w, slot->exists ? CHANGE_PUT : CHANGE_REMOVE, slot->object);
}

static void change_service(struct world *w, struct rng *r)
{
    uint32_t namespace = (uint32_t)rng_below(r, GEN_NAMESPACES);
    uint32_t number = (uint32_t)rng_below(r, GEN_SERVICES);
    struct object_slot *slot = &w->services[namespace][number];
    arena_reset(&slot->mem);
    slot->object = gen_service(&slot->mem, r, namespace, number);
    change_object(w, r, slot);
}

static void change_owner(struct world *w, struct rng *r)
{
    uint32_t namespace = (uint32_t)rng_below(r, GEN_NAMESPACES);
    uint32_t number = (uint32_t)rng_below(r, GEN_OWNERS);
    struct object_slot *slot = &w->owners[namespace][number];
    arena_reset(&slot->mem);
    slot->object = gen_owner(&slot->mem, r, namespace, number);
    change_object(w, r, slot);
}

static void change_budget(struct world *w, struct rng *r)
{
    uint32_t namespace = (uint32_t)rng_below(r, GEN_NAMESPACES);
    uint32_t number = (uint32_t)rng_below(r, GEN_BUDGETS);
    struct object_slot *slot = &w->budgets[namespace][number];
    arena_reset(&slot->mem);
    slot->object = gen_budget(&slot->mem, r, namespace, number);
    change_object(w, r, slot);
}

static void change_namespace(struct world *w, struct rng *r)
{
    uint32_t namespace = (uint32_t)rng_below(r, GEN_NAMESPACES);
    struct object_slot *slot = &w->namespaces[namespace];
    arena_reset(&slot->mem);
    slot->object = gen_namespace(&slot->mem, r, namespace);
    change_object(w, r, slot);
}

static void change_storage(struct world *w, struct rng *r)
{
    uint32_t number = (uint32_t)rng_below(r, GEN_STORAGE);
    struct object_slot *slot = &w->storage[number];
    arena_reset(&slot->mem);
    slot->object = gen_storage(&slot->mem, r, number);
    change_object(w, r, slot);
}

/* Now and then a report speaks of the very pods that are there. */
static void change_nexus(struct world *w, struct rng *r)
{
    uint32_t number = (uint32_t)rng_below(r, GEN_NEXUS);
    struct object_slot *slot = &w->nexus[number];
    if (slot->exists && slot->object.kind != KIND_NODE_TOPOLOGY)
        tell(w, CHANGE_REMOVE, slot->object); /* it may come under another name */
    arena_reset(&slot->mem);
    slot->object = gen_nexus(&slot->mem, r, number);
    const struct cluster *c = w->engines[0]->cluster;
    sym name = names_find(&c->names, slot->object.meta->name);
    node_id node = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, name);
    if (slot->object.kind == KIND_NODE_TOPOLOGY && node.i != ID_NONE && chance(r, 2)) {
        const struct numa_report *known = numa_reports_find(c, node);
        struct numa_report of_all = {0};
        gen_print(&slot->mem, numa_reports_fingerprint(c, node, known ? known : &of_all),
                  &slot->object);
    }
    change_object(w, r, slot);
}

/* --- what the engines run with --- */

struct engine_config world_config(const struct world *w)
{
    if (w->renewals == 0)
        return (struct engine_config){0};
    const struct world_profiles *present = &w->profiles[w->renewals % 2];
    return (struct engine_config){
        .rules = {.profiles = present->at, .n_profiles = LEN(present->at)}};
}

static const struct fragmentation_args observing = {.all_pods = true, .observes_demand = true};

/* The same names in another order, all with the plugins of one, with other weights. */
static void renew_profiles(struct world *w, struct rng *r)
{
    const struct profile *from = &built_in_profiles[rng_below(r, n_built_in_profiles)];
    struct world_profiles *next = &w->profiles[++w->renewals % 2];
    assert(from->n <= LEN(next->plugins) && n_built_in_profiles == LEN(next->at));
    uint64_t first = rng_below(r, 2);
    for (uint32_t i = 0; i < from->n; i++) {
        next->plugins[i] = from->plugins[i];
        if (from->plugins[i].weight)
            next->plugins[i].weight = 1 + (int64_t)rng_below(r, 5);
        if (from->plugins[i].plugin == &plugin_resource_fragmentation_score && chance(r, 2))
            next->plugins[i].args = &observing;
    }
    for (uint32_t i = 0; i < LEN(next->at); i++)
        next->at[i] = (struct profile){built_in_profiles[i ^ first].name, next->plugins, from->n};
    struct engine_config config = world_config(w);
    for (uint32_t i = 0; i < w->n_engines; i++)
        engine_configure(w->engines[i], w->now_ms, &config.rules);
}

/* --- time, decisions, outcomes --- */

static void pass_time(struct world *w, struct rng *r)
{
    static const int64_t jumps_ms[] = {200, 1000, 1000, 3000, 10000, 5 * 60 * 1000 + 1};
    w->now_ms += jumps_ms[rng_below(r, LEN(jumps_ms))];
}

static void settle(struct world *w, struct rng *r)
{
    static const struct error conflict = {ERROR_CONFLICT, "somebody was faster"};
    if (w->unsettled.n == 0)
        return;
    uint32_t i = (uint32_t)rng_below(r, w->unsettled.n);
    struct unsettled u = w->unsettled.at[i];
    vec_remove(&w->unsettled, i);
    const struct error *why = chance(r, 4) ? &conflict : NULL;
    struct pod_slot *p = &w->pods[u.pod];
    bool is_same = p->object && p->plan.incarnation == u.incarnation;
    if (u.is_eviction && !why && is_same) {
        p->plan.is_deleted = p->plan.is_preempted = true;
        put_pod(w, p);
    }
    if (!u.is_eviction && why && is_same && p->assumed != GEN_NOWHERE)
        p->assumed = p->plan.nominated = GEN_NOWHERE;
    for (uint32_t k = 0; k < w->n_engines; k++)
        engine_settle(w->engines[k], w->now_ms, u.effect, why);
}

static bool same_effect(const struct effect *a, const struct effect *b)
{
    return a->id == b->id && a->kind == b->kind && str_equal(a->namespace, b->namespace) &&
           str_equal(a->pod, b->pod) && str_equal(a->uid, b->uid) && str_equal(a->node, b->node) &&
           a->waited_ms == b->waited_ms && a->attempt == b->attempt &&
           str_equal(a->message, b->message) && a->rejected_by == b->rejected_by;
}

static void compare(struct world *w, uint32_t other)
{
    const struct effects *a = &w->effects[0], *b = &w->effects[other];
    if (a->list.n != b->list.n) {
        world_fail(w, "engine %u has %u effects, engine 0 has %u", other, b->list.n, a->list.n);
        return;
    }
    for (uint32_t i = 0; i < a->list.n; i++) {
        const struct effect *x = &a->list.at[i], *y = &b->list.at[i];
        if (!same_effect(x, y))
            world_fail(w,
                       "engine 0: %d " STR_FMT " on " STR_FMT ": " STR_FMT
                       "\n# engine %u: %d " STR_FMT " on " STR_FMT ": " STR_FMT,
                       x->kind, STR_ARG(x->pod), STR_ARG(x->node), STR_ARG(x->message), other,
                       y->kind, STR_ARG(y->pod), STR_ARG(y->node), STR_ARG(y->message));
    }
}

static uint32_t number_in(struct str name)
{
    int64_t number;
    bool is_number = str_int(str_part(name, 1, name.n), &number);
    assert(is_number);
    return (uint32_t)number;
}

static bool names_nodes(const struct pod *pod)
{
    const struct affinity *a = pod->spec.affinity;
    if (!a || !a->node || !a->node->required)
        return false;
    list_each(&a->node->required->terms, t)
        if (t->match_fields.n)
            return true;
    return false;
}

static void take_note(struct world *w, const struct effect *e)
{
    if (e->kind == EFFECT_PUBLISH)
        return; /* about no pod */
    struct pod_slot *p = &w->pods[number_in(e->pod)];
    struct unsettled u = {e->id, p->plan.number, p->plan.incarnation, e->kind == EFFECT_EVICT};
    if (e->kind == EFFECT_NOMINATE)
        p->plan.nominated = e->node.n ? number_in(e->node) : GEN_NOWHERE;
    if (e->kind == EFFECT_EVICT) {
        w->evicted++;
        vec_push(&w->unsettled, u);
    }
    if (e->kind > EFFECT_FAIL)
        return;
    if (!p->object || world_place(p) != GEN_NOWHERE)
        world_fail(w, "decided about " STR_FMT ", which does not wait", STR_ARG(e->pod));
    w->bound += e->kind == EFFECT_BIND;
    w->refused += e->kind == EFFECT_REFUSE;
    w->failed += e->kind == EFFECT_FAIL;
    if (e->kind != EFFECT_BIND)
        return;
    p->assumed = number_in(e->node);
    vec_push(&w->unsettled, u);
}

static void step(struct world *w, struct rng *r)
{
    bool explains = chance(r, 8), forgets = chance(r, 4);
    for (uint32_t i = 0; i < w->n_engines; i++) {
        effects_clear(&w->effects[i]);
        if (w->engines[i] == w->explainer)
            vec_each(&w->effects[0].list, e)
                if (e->kind <= EFFECT_FAIL &&
                    (explains || names_nodes(w->pods[number_in(e->pod)].object)))
                    world_check_explained(w, w->explainer, e);
        engine_step(w->engines[i], w->now_ms, &w->effects[i]);
        compare(w, i);
    }
    vec_each(&w->effects[0].list, e) {
        if (forgets && e->kind <= EFFECT_FAIL)
            world_check_present(w, e);
        take_note(w, e);
    }
}

/* Of some engines, and not of the others. Pods have other numbers then, so those whose books are
 * compared as text go together. */
static void trim(struct world *w, struct rng *r)
{
    uint64_t one = rng_below(r, w->n_engines);
    for (uint32_t i = 0; i < w->n_engines; i++)
        if (i == one || (i % 2 == 0 && one % 2 == 0))
            engine_trim(w->engines[i]);
}

static const struct operation {
    const char *name;
    uint32_t weight;
    void (*run)(struct world *, struct rng *);
} operations[] = {
    {"step", 400, step},
    {"add_pod", 150, add_pod},
    {"settle", 130, settle},
    {"confirm_pod", 100, confirm_pod},
    {"remove_pod", 120, remove_pod},
    {"change_pod", 50, change_pod},
    {"change_node", 40, change_node},
    {"pass_time", 30, pass_time},
    {"add_node", 30, add_node},
    {"nominate_pod", 20, nominate_pod},
    {"mark_deleted", 15, mark_deleted},
    {"finish_pod", 15, finish_pod},
    {"bind_elsewhere", 15, bind_elsewhere},
    {"change_service", 12, change_service},
    {"change_owner", 12, change_owner},
    {"remove_node", 10, remove_node},
    {"replace_pod", 8, replace_pod},
    {"beat_heart", 8, beat_heart},
    {"rank_node", 3, set_tie_order},
    {"trim", 5, trim},
    {"renew_template", 8, renew_template},
    {"change_namespace", 3, change_namespace},
    {"change_budget", 8, change_budget},
    {"change_storage", 6, change_storage},
    {"change_nexus", 8, change_nexus},
    {"lose_node", 4, lose_node},
    {"litter", 4, litter},
    {"share_hostnames", 2, share_hostnames},
    {"resize_cluster", 1, resize_cluster},
    {"renew_profiles", 2, renew_profiles},
};

static const struct operation *draw(struct rng *r)
{
    uint64_t sum = 0, at;
    for (uint32_t i = 0; i < LEN(operations); i++)
        sum += operations[i].weight;
    at = rng_below(r, sum);
    for (uint32_t i = 0;; i++) {
        if (at < operations[i].weight)
            return &operations[i];
        at -= operations[i].weight;
    }
}

static bool is_left_out(const char *name)
{
    const char *without = getenv("PROPERTY_WITHOUT");
    const char *found = without ? strstr(without, name) : NULL;
    return found && (found[strlen(name)] == ',' || found[strlen(name)] == '\0');
}

void world_operate(struct world *w)
{
    struct rng r = rng_seeded(hash_pair(w->seed, w->operation));
    const struct operation *o = draw(&r);
    w->doing = o->name;
    w->now_ms += (int64_t)rng_below(&r, 20);
    arena_reset(&w->mem);
    if (is_left_out(o->name))
        return;
    if (getenv("PROPERTY_TRACE"))
        printf("# %" PRIu64 " %s\n", w->operation, o->name);
    o->run(w, &r);
}
