/* What evictions would achieve, for every node: more than a decision needs to know. */

#include <stdlib.h>

#include "core/engine/explain.h"
#include "core/engine/inside.h"

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static struct str *name_victims(struct engine *k, struct explanation *out)
{
    const struct cluster *c = k->cluster;
    struct str *names = arena_array(&out->mem, struct str, k->victims.n);
    for (uint32_t i = 0; i < k->victims.n; i++) {
        const struct pod_row *row = pods_at(&c->pods, k->victims.at[i]);
        names[i] =
            arena_printf(&out->mem, STR_FMT "/" STR_FMT,
                         STR_ARG(names_text(&c->names, c->pods.shapes.at[row->shape].namespace)),
                         STR_ARG(pod_name(row)));
    }
    if (k->victims.n > 1)
        qsort(names, k->victims.n, sizeof(*names), by_text);
    return names;
}

static void try_all(struct engine *k, pod_id pod, struct class *class, const uint32_t *ids,
                    struct explanation *out)
{
    struct explained_preemption *p = out->preemption;
    struct harm best = {0};
    why_clear(&k->why);
    k->why.nodes = out->n_nodes;
    for (uint32_t i = 0; i < out->n_nodes; i++) {
        node_id node = {ids[i]};
        vec_clear(&k->victims);
        struct price price = preempt_price(k->cluster, &k->classes, class, node, pod, &k->victims);
        if (price.refusal) {
            why_add(&k->why, price.refusal, 1);
            continue;
        }
        struct explained_candidate *c = &p->candidates[p->n_candidates++];
        *c = (struct explained_candidate){out->nodes[i].name, name_victims(k, out), k->victims.n,
                                          price.harm.violations};
        if (!p->best || harm_is_less(&price.harm, &best)) {
            best = price.harm;
            p->best = c;
            p->n_ties = 0;
        }
        if (!harm_is_less(&best, &price.harm))
            p->ties[p->n_ties++] = c->node;
    }
}

/* The message names the first node by name; which of equals a decision takes, the ranks say. */
static struct str say_found(const struct explained_preemption *p, struct arena *mem)
{
    return arena_printf(mem,
                        "preemption: found a potential placement for pod on node " STR_FMT
                        ", preempting %u victims",
                        STR_ARG(p->best->node), p->best->n_victims);
}

/* By the rules of the profile's own plugin there is one plan, not one for each node. */
static void explain_plan(struct engine *k, pod_id pod, struct class *class, struct explanation *out,
                         struct buf *text)
{
    struct explained_preemption *p = out->preemption;
    struct plan plan = engine_plan(k, pod, class, text);
    if (plan.node == ID_NONE)
        return;
    const struct cluster *c = k->cluster;
    p->candidates[0] = (struct explained_candidate){
        arena_str(&out->mem, names_text(&c->names, c->nodes.name[plan.node])), name_victims(k, out),
        k->victims.n, k->evictor.plan.cost.violations};
    p->n_candidates = 1;
    p->best = &p->candidates[0];
    p->ties[p->n_ties++] = p->best->node;
}

void explain_preemption(struct engine *k, pod_id pod, struct class *class, const uint32_t *ids,
                        struct explanation *out)
{
    struct explained_preemption *p = arena_array(&out->mem, struct explained_preemption, 1);
    p->candidates = arena_array(&out->mem, struct explained_candidate, out->n_nodes);
    p->ties = arena_array(&out->mem, struct str, out->n_nodes);
    out->preemption = p;
    AUTO(buf) text = {0};
    struct plan plan = {.node = ID_NONE};
    if (engine_evicts_by_rules(k, pod, class)) {
        explain_plan(k, pod, class, out, &text);
    } else if (engine_begin_plan(k, pod, class, &plan, &text)) {
        try_all(k, pod, class, ids, out);
        if (!p->best && !why_errors(&k->why, &k->classes.reasons, &text))
            why_histogram(&k->why, &k->classes.reasons, &text);
    }
    p->message = p->best ? say_found(p, &out->mem)
                         : arena_str(&out->mem, str_part(buf_str(&text), 1, text.n)); /* no blank */
    out->summary = arena_printf(&out->mem, STR_FMT " " STR_FMT, STR_ARG(out->filter_summary),
                                STR_ARG(p->message));
}
