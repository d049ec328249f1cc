/* Rows of pods and nodes, below all that happens when they come and go. */

#include "core/engine/unit/unit.h"

void engine_release_node(struct engine *k, node_id node)
{
    struct nodes *n = &k->cluster->nodes;
    if (nodes_is_present(n, node) || n->first_pod[node.i] != ID_NONE)
        return;
    n->flags[node.i] = NODE_CLAIMED;
    nodes_release(n, &k->cluster->names, node);
}

void engine_add_unit(struct engine *k, pod_id pod)
{
    if (pod.i >= k->units.n)
        vec_resize(&k->units, pod.i + 1);
    struct unit *unit = &k->units.at[pod.i];
    *unit = (struct unit){
        .arrival = ++k->last.arrival,
        .first_ms = k->now_ms,
        .priority = cluster_spec(k->cluster, pod)->priority,
    };
    k->last.lowest = MIN(k->last.lowest, unit->priority);
    k->above->added(k, pod);
}

void engine_set_pin(struct engine *k, pod_id pod, sym pin)
{
    struct pod_row *row = pods_at(&k->cluster->pods, pod);
    if (pin != SYM_NONE)
        intern_hold(&k->cluster->names.text, pin);
    if (row->pin != SYM_NONE)
        intern_drop(&k->cluster->names.text, row->pin);
    row->pin = pin;
}

bool engine_shrinks(const struct pod_request *was, const struct pod_request *is)
{
    if (is->cpu_milli < was->cpu_milli || is->memory < was->memory)
        return true;
    for (uint32_t i = 0; i < was->n_others; i++)
        if (request_amount(is, was->others[i].resource) < was->others[i].amount)
            return true;
    return false;
}
