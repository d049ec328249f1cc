/* The plan that a gang or a pod would evict by: where it would go, who for its sake, why each of
 * them, and what it costs. */

#include "core/engine/explain.h"

#include <stdlib.h>

#include "core/engine/step/step.h"

static struct str full_name(const struct cluster *c, pod_id pod, struct arena *mem)
{
    return arena_printf(mem, STR_FMT "/" STR_FMT,
                        STR_ARG(names_text(&c->names, pods_shape(&c->pods, pod)->namespace)),
                        STR_ARG(pod_name(pods_at(&c->pods, pod))));
}

static struct str node_name(const struct cluster *c, uint32_t node, struct arena *mem)
{
    return arena_str(mem, names_text(&c->names, c->nodes.name[node]));
}

static struct str why_it(const struct victim_note *v, struct str gang, struct arena *mem)
{
    struct str why = STR("it is in the way");
    if (v->group != ID_NONE && v->is_surplus)
        why = arena_printf(mem, "gang " STR_FMT " has more than its minimum", STR_ARG(gang));
    else if (v->group != ID_NONE)
        why = arena_printf(mem, "gang " STR_FMT " goes as a whole", STR_ARG(gang));
    return v->is_protected
               ? arena_printf(mem, STR_FMT ", against a disruption budget", STR_ARG(why))
               : why;
}

static struct explained_victim victim_of(const struct engine *k, const struct victim_note *v,
                                         struct arena *mem)
{
    const struct cluster *c = k->cluster;
    struct str gang = {0};
    if (v->group != ID_NONE)
        gang = arena_str(mem, names_text(&c->names, c->groups.at.at[v->group].name));
    return (struct explained_victim){
        .pod = full_name(c, v->pod, mem),
        .node = node_name(c, v->node, mem),
        .gang = gang,
        .why = why_it(v, gang, mem),
        .tier = tier_name(v->importance.tier),
        .workload = work_name(v->worth),
        .priority = cluster_spec(c, v->pod)->priority,
        .lost_s = v->lost_ms / 1000,
    };
}

static int by_pod(const void *a, const void *b)
{
    const struct explained_victim *x = a, *y = b; /* the name comes first, of places, too */
    return str_compare(x->pod, y->pod);
}

static void list_plan(const struct engine *k, const struct eviction_plan *plan,
                      struct explained_eviction *x, struct arena *mem)
{
    x->places = arena_array(mem, struct explained_place, plan->places.n);
    vec_each(&plan->places, place)
        x->places[x->n_places++] =
            (struct explained_place){full_name(k->cluster, (pod_id){place->pod}, mem),
                                     node_name(k->cluster, place->node, mem)};
    x->victims = arena_array(mem, struct explained_victim, plan->victims.n);
    vec_each(&plan->victims, v)
        x->victims[x->n_victims++] = victim_of(k, v, mem);
    if (x->n_places > 1)
        qsort(x->places, x->n_places, sizeof(*x->places), by_pod);
    if (x->n_victims > 1)
        qsort(x->victims, x->n_victims, sizeof(*x->victims), by_pod);
    struct pod_vec victims = {0};
    vec_each(&plan->victims, v)
        vec_push(&victims, v->pod);
    x->budget = explain_budget(k->cluster, &victims, mem);
    vec_done(&victims);
    x->violations = plan->cost.violations;
    x->victim_groups = plan->cost.victim_groups;
    x->lost_s = plan->cost.lost_ms / 1000;
}

/* Nobody need go for a unit that fits. */
static bool fits(struct engine *k, pod_id pod, struct class *class, bool is_gang)
{
    if (!is_gang)
        return !class->error.n && engine_decide(k, pod, class).node != ID_NONE;
    struct effects said = {0};
    struct planner planner = {0};
    enum gang_outcome outcome = engine_try_gang(k, &planner, engine_gang_of(k, pod), &said);
    planner_done(&planner);
    effects_done(&said);
    return outcome == GANG_PLACED;
}

/* Why nobody goes, in a few words. */
static struct str hint_of(const struct engine *k, const struct eviction_plan *plan,
                          struct arena *mem)
{
    const struct names *names = &k->cluster->names;
    switch (plan->outcome) {
    case EVICTION_NONE:
        return STR("; nobody there is less important");
    case EVICTION_NEVER:
        return STR("; it may evict nobody (preemptionPolicy Never)");
    case EVICTION_WAITS:
    case EVICTION_PENDING:
        return STR("; it waits for pods that are leaving");
    case EVICTION_USELESS:
        return STR("; evicting all who may be evicted would not do");
    case EVICTION_KEPT:
        return arena_printf(
            mem,
            "; PodDisruptionBudget " STR_FMT "/" STR_FMT
            " keeps those who would make room (budgets: never)",
            STR_ARG(names_text(names, k->cluster->budgets.at.at[plan->keeper].namespace)),
            STR_ARG(names_text(names, k->cluster->budgets.at.at[plan->keeper].name)));
    case EVICTION_TOO_MANY:
        return STR("; more pods would have to go than maxVictims allows");
    case EVICTION_FOUND:
        break;
    }
    return (struct str){0};
}

static void explain(struct engine *k, pod_id pod, struct explanation *out)
{
    struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    struct explained_eviction *x = arena_array(&out->mem, struct explained_eviction, 1);
    struct eviction_args rules;
    bool is_gang = engine_gang_of(k, pod) != ID_NONE;
    out->eviction = x;
    if (!engine_eviction_rules(class->profile, !is_gang, &rules)) {
        x->message = STR("its profile evicts as kube-scheduler does, or not at all");
    } else if (!is_gang && !engine_evicts_by_rules(k, pod, class)) {
        x->message = STR("nobody has to go, or plain pods alone: as kube-scheduler says");
    } else if (class->error.n || fits(k, pod, class, is_gang)) {
        x->message = class->error.n ? STR("it cannot be judged") : STR("it fits: nobody has to go");
    } else {
        AUTO(buf) text = {0};
        AUTO(eviction_plan) plan = {0};
        enum eviction_outcome outcome =
            engine_find_eviction(k, pod.i, is_gang ? NULL : class, &plan);
        engine_word_eviction(k, &plan, pods_shape(&k->cluster->pods, pod)->namespace, &text);
        x->message = outcome == EVICTION_NONE ? STR("nobody is less important")
                                              : arena_str(&out->mem, buf_str(&text));
        x->hint = hint_of(k, &plan, &out->mem);
        x->is_found = outcome == EVICTION_FOUND;
        if (x->is_found)
            list_plan(k, &plan, x, &out->mem);
    }
}

bool engine_explain_eviction(struct engine *k, int64_t now_ms, struct str namespace,
                             struct str name, struct explanation *out)
{
    struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, namespace), name);
    k->now_ms = now_ms;
    if (pod.i == ID_NONE || pods_at(&c->pods, pod)->node != ID_NONE ||
        !classes_of(&k->classes, pods_at(&c->pods, pod)->shape))
        return false;
    struct explain_trial trial = explain_begin(k, pod);
    explain(k, pod, out);
    explain_end(k, &trial);
    return true;
}
