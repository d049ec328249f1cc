/* What evictions would achieve, for every node: more than a decision needs to know. */

#include <stdlib.h>

#include "core/engine/explain.h"
#include "core/engine/step/step.h"

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static struct str *name_victims(const struct engine *k, const struct pod_vec *victims,
                                struct explanation *out)
{
    const struct cluster *c = k->cluster;
    struct str *names = arena_array(&out->mem, struct str, victims->n);
    for (uint32_t i = 0; i < victims->n; i++) {
        const struct pod_row *row = pods_at(&c->pods, victims->at[i]);
        names[i] =
            arena_printf(&out->mem, STR_FMT "/" STR_FMT,
                         STR_ARG(names_text(&c->names, c->pods.shapes.at[row->shape].namespace)),
                         STR_ARG(pod_name(row)));
    }
    if (victims->n > 1)
        qsort(names, victims->n, sizeof(*names), by_text);
    return names;
}

struct str explain_budget(const struct cluster *c, const struct pod_vec *pods, struct arena *mem)
{
    int32_t *allowed = budgets_allowed(&c->budgets, mem);
    vec_each(pods, pod)
        if (!budgets_allow(c, *pod, allowed))
            break;
    for (uint32_t i = 0; i < c->budgets.at.n; i++)
        if (allowed[i] < 0 && allowed[i] < c->budgets.at.at[i].allowed)
            return arena_printf(mem, STR_FMT "/" STR_FMT,
                                STR_ARG(names_text(&c->names, c->budgets.at.at[i].namespace)),
                                STR_ARG(names_text(&c->names, c->budgets.at.at[i].name)));
    return (struct str){0};
}

static void try_all(struct engine *k, pod_id pod, struct class *class, const uint32_t *ids,
                    struct why *why, struct explanation *out)
{
    struct explained_preemption *p = out->preemption;
    struct harm best = {0};
    struct pod_vec victims = {0};
    why->nodes = out->n_nodes;
    for (uint32_t i = 0; i < out->n_nodes; i++) {
        node_id node = {ids[i]};
        vec_clear(&victims);
        struct price price = engine_price(k, class, node, pod, &victims);
        if (price.refusal) {
            why_add(why, price.refusal, 1);
            continue;
        }
        struct explained_candidate *c = &p->candidates[p->n_candidates++];
        *c = (struct explained_candidate){out->nodes[i].name, name_victims(k, &victims, out),
                                          victims.n, price.harm.violations,
                                          explain_budget(k->cluster, &victims, &out->mem)};
        if (!p->best || harm_is_less(&price.harm, &best)) {
            best = price.harm;
            p->best = c;
            p->n_ties = 0;
        }
        if (!harm_is_less(&best, &price.harm))
            p->ties[p->n_ties++] = c->node;
    }
    vec_done(&victims);
}

/* The message names the first node by name; which of equals a decision takes, the tie order
 * says. */
static struct str say_found(const struct explained_preemption *p, struct arena *mem)
{
    return arena_printf(mem,
                        "preemption: found a potential placement for pod on node " STR_FMT
                        ", preempting %u victims",
                        STR_ARG(p->best->node), p->best->n_victims);
}

/* By the rules of the profile's own plugin there is one plan, not one for each node. */
static void explain_plan(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                         struct explanation *out, struct buf *text)
{
    struct explained_preemption *p = out->preemption;
    AUTO(eviction_plan) plan = {0};
    engine_plan(k, pod, class, why, &plan, text);
    if (plan.places.n == 0)
        return;
    struct pod_vec victims = {0};
    vec_each(&plan.victims, v)
        vec_push(&victims, v->pod);
    const struct cluster *c = k->cluster;
    p->candidates[0] = (struct explained_candidate){
        arena_str(&out->mem, names_text(&c->names, c->nodes.name[eviction_plan_node(&plan)])),
        name_victims(k, &victims, out), victims.n, plan.cost.violations,
        explain_budget(c, &victims, &out->mem)};
    vec_done(&victims);
    p->n_candidates = 1;
    p->best = &p->candidates[0];
    p->ties[p->n_ties++] = p->best->node;
}

void explain_preemption(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                        const uint32_t *ids, struct explanation *out)
{
    struct explained_preemption *p = arena_array(&out->mem, struct explained_preemption, 1);
    p->candidates = arena_array(&out->mem, struct explained_candidate, out->n_nodes);
    p->ties = arena_array(&out->mem, struct str, out->n_nodes);
    out->preemption = p;
    AUTO(buf) text = {0};
    AUTO(eviction_plan) plan = {0};
    if (engine_evicts_by_rules(k, pod, class)) {
        explain_plan(k, pod, class, why, out, &text);
    } else if (engine_begin_plan(k, pod, class, &plan, &text)) {
        struct why useless = {0};
        try_all(k, pod, class, ids, &useless, out);
        if (!p->best && !why_errors(&useless, &k->classes.reasons, &text))
            why_histogram(&useless, &k->classes.reasons, &text);
        why_done(&useless);
    }
    p->message = p->best ? say_found(p, &out->mem)
                         : arena_str(&out->mem, str_part(buf_str(&text), 1, text.n)); /* no blank */
    out->summary = arena_printf(&out->mem, STR_FMT " " STR_FMT, STR_ARG(out->filter_summary),
                                STR_ARG(p->message));
}
