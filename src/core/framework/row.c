#include "core/framework/row.h"

reason_id row_filter(const struct cluster *c, const struct class *class, node_id node,
                     uint32_t columns)
{
    bool is_use = !(columns & ~(COLUMN_USED | COLUMN_TALLIES)); /* a pod came or went: mostly */
    const struct class_filter *filter = is_use ? class->use_filters : class->filters;
    const struct class_filter *end = filter + (is_use ? class->n_use_filters : class->n_filters);
    for (; filter < end; filter++) {
        reason_id reason = filter->columns & columns ? filter->ask(c, filter->state, node) : 0;
        if (reason)
            return reason;
    }
    return 0;
}

int32_t row_score(const struct cluster *c, const struct class *class, node_id node)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < class->n_scores; i++)
        sum += class->scores[i].weight * class->scores[i].ask(c, class->scores[i].state, node);
    return (int32_t)sum;
}

void row_key(const struct cluster *c, const struct class *class, node_id node, uint32_t columns,
             uint32_t *out)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        const struct class_part *part = &class->parts[i];
        if (part->key_columns & columns)
            part->plugin->key(c, part->state, node, out + part->key_at);
    }
}

reason_id row_judge(const struct cluster *c, const struct class *class, node_id node)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        const struct class_part *part = &class->parts[i];
        if (!part->filters)
            continue;
        reason_id reason = 0;
        if (part->plugin->row_filter)
            reason = part->plugin->row_filter(c, part->state, node);
        if (!reason && part->plugin->key_filter) {
            uint32_t key[PLUGIN_MOST_KEYS];
            part->plugin->key(c, part->state, node, key);
            reason = part->plugin->key_filter(c, part->state, key);
        }
        if (reason)
            return reason;
    }
    return 0;
}

static bool counts_here(const struct cluster *c, const struct class *class, struct nomination n,
                        node_id node, pod_id self)
{
    return n.node == c->nodes.name[node.i] && n.pod.i != self.i &&
           pods_at(&c->pods, n.pod)->node == ID_NONE &&
           cluster_spec(c, n.pod)->priority >= specs_at(&c->specs, class->spec)->priority;
}

bool row_has_nominated(const struct cluster *c, const struct class *class, node_id node,
                       pod_id self)
{
    if (LIKELY(!(c->nodes.flags[node.i] & NODE_NOMINATED)))
        return false;
    vec_each(&c->nominations, n)
        if (counts_here(c, class, *n, node, self))
            return true;
    return false;
}

reason_id row_judge_nominated(struct cluster *c, const struct class *class, node_id node,
                              pod_id self)
{
    struct txn trial = txn_begin(c);
    vec_each(&c->nominations, n)
        if (counts_here(c, class, *n, node, self))
            cluster_place(c, n->pod, node);
    reason_id reason = row_judge(c, class, node);
    txn_undo(c, trial);
    return reason ? reason : row_judge(c, class, node);
}
