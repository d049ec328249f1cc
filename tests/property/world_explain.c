#include "property/world_explain.h"

#include "core/engine/explain.h"
#include "core/engine/step/step.h"

static bool would_choose(const struct explanation *x, struct str node)
{
    for (uint32_t i = 0; i < x->n_would_choose; i++)
        if (str_equal(x->would_choose[i], node))
            return true;
    return false;
}

/* Does the profile say the cause before kube-scheduler's words? */
static bool says_cause(const struct engine *k, const struct explanation *x)
{
    const struct profile *profile = classes_profile(&k->classes, x->profile);
    const struct profile_plugin *gangs = profile_gangs(profile);
    return gangs && !gangs->plugin->gangs_natively && x->n_nodes;
}

static bool is_said(const struct engine *k, const struct explanation *x, struct str cause,
                    struct str words, struct str message)
{
    AUTO(buf) text = {0};
    if (says_cause(k, x))
        buf_printf(&text, STR_FMT ". ", STR_ARG(cause));
    buf_add(&text, words);
    return str_equal(buf_str(&text), message);
}

/* Of nodes where the harm is equal, a decision takes any and an explanation names the first. */
static bool says_the_same(const struct engine *k, struct explanation *x, struct str message)
{
    const struct explained_preemption *p = x->preemption;
    bool is_same = false;
    if (!p || !p->best)
        return is_said(k, x, x->verdict.headline, x->summary, message);
    for (uint32_t i = 0; i < p->n_ties; i++)
        for (uint32_t c = 0; c < p->n_candidates; c++) {
            const struct explained_candidate *candidate = &p->candidates[c];
            AUTO(buf) cause = {0};
            if (!str_equal(candidate->node, p->ties[i]))
                continue;
            engine_word_way(candidate->n_victims, candidate->node, &cause);
            struct str words = arena_printf(
                &x->mem,
                STR_FMT " preemption: found a potential placement for pod on node " STR_FMT
                        ", preempting %u victims",
                STR_ARG(x->filter_summary), STR_ARG(candidate->node), candidate->n_victims);
            is_same |= is_said(k, x, buf_str(&cause), words, message);
        }
    return is_same;
}

/* It is reviewed when a step begins, by those who have seen who came and went. */
static void tell_what_is_asked_for(struct engine *k, const struct engine *by)
{
    k->cluster->demand.mix = by->cluster->demand.mix;
    k->cluster->demand.generation = by->cluster->demand.generation;
}

void world_check_explained(struct world *w, struct engine *by, const struct effect *e)
{
    struct explanation x = {0};
    tell_what_is_asked_for(by, w->engines[0]);
    bool is_known = engine_explain(by, e->namespace, e->pod, &x);
    bool agrees = is_known && !x.gated.n;
    if (x.error.n) /* a choice that cannot be made does not matter if there is none to make */
        agrees = agrees && (e->kind == EFFECT_BIND || str_equal(e->message, x.error));
    else if (e->kind == EFFECT_BIND)
        agrees = agrees && would_choose(&x, e->node);
    else
        agrees = agrees && e->kind == EFFECT_REFUSE && says_the_same(by, &x, e->message);
    if (!agrees)
        world_fail(w,
                   "decided %d " STR_FMT " on " STR_FMT ": " STR_FMT "\n# explained as: " STR_FMT
                   ". " STR_FMT STR_FMT " %u to choose from",
                   e->kind, STR_ARG(e->pod), STR_ARG(e->node), STR_ARG(e->message),
                   STR_ARG(x.verdict.headline), STR_ARG(x.summary), STR_ARG(x.error),
                   x.n_would_choose);
    explanation_done(&x);
    w->explained++;
}

static void tell_one(struct engine *k, struct object object)
{
    struct change change = {CHANGE_PUT, object};
    engine_apply(k, 0, &change);
}

static void tell_slot(struct engine *k, const struct object_slot *slot)
{
    if (slot->exists)
        tell_one(k, slot->object);
}

/* Which GPUs and which NUMA node a pod got hangs on who was there before it: it was told, with its
 * binding, and so can tell. */
static void add_told(struct world *w, struct pod *pod)
{
    const struct cluster *c = w->engines[0]->cluster;
    pod_id id = pods_find(&c->pods, names_find(&c->names, pod->meta.namespace), pod->meta.name);
    if (id.i == ID_NONE || c->pods.rows.at[id.i].node == ID_NONE)
        return;
    const struct pod_row *row = &c->pods.rows.at[id.i];
    const struct hardware *h = nodes_hardware(&c->nodes, (node_id){row->node});
    struct str gpus = {0};
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if (row->gpus >> i & 1)
            gpus = arena_printf(&w->mem, STR_FMT "%s%u", STR_ARG(gpus), gpus.n ? "," : "", i);
    pair_list all = {arena_array(&w->mem, struct pair, pod->meta.annotations.n + 2), 0};
    list_each(&pod->meta.annotations, pair)
        all.at[all.n++] = *pair;
    if (gpus.n)
        all.at[all.n++] = (struct pair){STR("kubenexus.io/gpus"), gpus};
    if (row->zone && row->zone <= h->n_zones)
        all.at[all.n++] = (struct pair){STR("kubenexus.io/numa"),
                                        arena_printf(&w->mem, "%u", h->zones[row->zone - 1].id)};
    pod->meta.annotations = all;
}

/* Has somebody been asked to leave, and the API does not know it yet? */
static bool waits_for_evictions(const struct world *w)
{
    vec_each(&w->unsettled, u)
        if (u->is_eviction)
            return true;
    return false;
}

static uint32_t n_of(gpu_mask gpus)
{
    return (uint32_t)__builtin_popcount(gpus);
}

/* Is there a pod for which no NUMA node had room when it came, or whose node had too few GPUs then,
 * while it would get them by now? Nobody told it a number, so who has seen only the present gives
 * it one. */
static bool has_unplaced(const struct world *w, const struct engine *present)
{
    const struct cluster *past = w->engines[0]->cluster, *now = present->cluster;
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct pod *pod = w->pods[i].object;
        if (!pod)
            continue;
        pod_id before =
            pods_find(&past->pods, names_find(&past->names, pod->meta.namespace), pod->meta.name);
        pod_id after =
            pods_find(&now->pods, names_find(&now->names, pod->meta.namespace), pod->meta.name);
        if (before.i == ID_NONE || after.i == ID_NONE)
            continue;
        const struct pod_row *was = &past->pods.rows.at[before.i];
        const struct pod_row *is = &now->pods.rows.at[after.i];
        bool lacks_gpus = n_of(was->gpus) < cluster_spec(past, before)->gpus.count &&
                          n_of(is->gpus) > n_of(was->gpus);
        if (was->node != ID_NONE && ((is->zone && !was->zone) || lacks_gpus))
            return true;
    }
    return false;
}

void world_check_present(struct world *w, const struct effect *e)
{
    if (waits_for_evictions(w))
        return;
    struct engine_config config = world_config(w);
    config.keeps_pins = true;
    struct engine *k = engine_new(&config);
    for (uint32_t i = 0; i < GEN_STORAGE; i++)
        tell_slot(k, &w->storage[i]);
    for (uint32_t i = 0; i < GEN_NEXUS; i++)
        tell_slot(k, &w->nexus[i]);
    for (uint32_t i = 0; i < GEN_NAMESPACES; i++) {
        tell_slot(k, &w->namespaces[i]);
        for (uint32_t s = 0; s < GEN_SERVICES; s++)
            tell_slot(k, &w->services[i][s]);
        for (uint32_t o = 0; o < GEN_OWNERS; o++)
            tell_slot(k, &w->owners[i][o]);
        for (uint32_t b = 0; b < GEN_BUDGETS; b++)
            tell_slot(k, &w->budgets[i][b]);
    }
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        struct pod_plan plan = w->pods[i].plan;
        plan.node = world_place(&w->pods[i]);
        if (!w->pods[i].object)
            continue;
        struct pod *pod = gen_pod(&w->mem, &plan);
        add_told(w, pod);
        tell_one(k, (struct object){.kind = KIND_POD, .pod = pod});
    }
    for (uint32_t i = 0; i < GEN_NODES; i++)
        if (w->nodes[i].object)
            tell_one(k, (struct object){.kind = KIND_NODE, .node = w->nodes[i].object});
    if (!has_unplaced(w, k))
        world_check_explained(w, k, e);
    engine_free(k);
}
