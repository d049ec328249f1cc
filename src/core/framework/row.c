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
    for (uint32_t i = 0; i < class->n_scores; i++) {
        int64_t score = class->scores[i].ask(c, class->scores[i].state, node);
        if (UNLIKELY((uint64_t)score > 100))
            return ROW_BROKEN;
        sum += class->scores[i].weight * score;
    }
    return (int32_t)sum;
}

/* The score that the node would have if there were no other. */
static int64_t score_alone(const struct cluster *c, const struct class_part *part, node_id node)
{
    uint32_t key[PLUGIN_MOST_KEYS], which = 0, nodes = 1;
    int64_t raw = 0, normal = 0;
    double sum = 0;
    int64_t row = part->plugin->row_score ? part->plugin->row_score(c, part->state, node) : 0;
    if (!class_part_scores_keys(part))
        return row;
    part->plugin->key(c, part->state, node, key);
    struct feasible alone = {1, &which, &nodes, key, part->n_keys, &sum};
    part->plugin->key_score(c, part->state, &alone, &raw, &normal);
    return row + normal;
}

int64_t row_suits(const struct cluster *c, const struct class *class, node_id node)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].scores && class->parts[i].plugin->suits)
            sum += class->parts[i].weight * score_alone(c, &class->parts[i], node);
    return sum;
}

struct str row_broken_text(const struct cluster *c, const struct class *class, node_id node,
                           struct arena *mem)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        const struct class_part *part = &class->parts[i];
        bool is_row = part->scores && part->plugin->row_score;
        int64_t score = is_row ? part->plugin->row_score(c, part->state, node) : 0;
        if (score < 0 || score > 100)
            return arena_printf(
                mem,
                "applying score defaultWeights on Score plugins: plugin \"%s\" returns "
                "an invalid score %ld, it should in the range of [0, 100] after normalizing",
                part->plugin->name, (long)score);
    }
    return (struct str){0};
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
    reason_id reason = row_filter(c, class, node, COLUMN_ALL);
    for (uint32_t i = 0; class->has_key_filter && i < class->n_parts && !reason; i++) {
        const struct class_part *part = &class->parts[i];
        if (!part->filters || !part->plugin->key_filter)
            continue;
        uint32_t key[PLUGIN_MOST_KEYS];
        part->plugin->key(c, part->state, node, key);
        reason = part->plugin->key_filter(c, part->state, key);
    }
    return reason;
}

void row_place(struct cluster *c, const struct class *class, pod_id pod, node_id node)
{
    const struct class_part *picker = class->picker;
    gpu_mask gpus = picker ? picker->plugin->pick(c, picker->state, node) : 0;
    cluster_place_near(c, pod, node, gpus);
}

bool row_heeds(const struct cluster *c, const struct class *class, pod_id nominated)
{
    int32_t priority = specs_at(&c->specs, class->spec)->priority;
    return pods_at(&c->pods, nominated)->flags & POD_FIRM || priority == INT32_MAX ||
           cluster_spec(c, nominated)->priority >= priority;
}

static bool counts_here(const struct cluster *c, const struct class *class, struct nomination n,
                        pod_id self)
{
    const struct pod_row *row = pods_at(&c->pods, n.pod);
    return n.pod.i != self.i && row->node == ID_NONE && row_heeds(c, class, n.pod);
}

bool row_has_nominated(const struct cluster *c, const struct class *class, node_id node,
                       pod_id self)
{
    if (LIKELY(!(c->nodes.flags[node.i] & NODE_NOMINATED)))
        return false;
    struct nominations all = cluster_nominated(c, c->nodes.name[node.i]);
    vec_each(&all, n)
        if (counts_here(c, class, *n, self))
            return true;
    return false;
}

/* Marks the nominated pods as supposed to be here, or takes the mark off: upstream counts them in
 * spread constraints even if they are being deleted. */
static void suppose(struct cluster *c, const struct class *class, struct nominations all,
                    pod_id self, bool is_so)
{
    vec_each(&all, n) {
        if (!counts_here(c, class, *n, self))
            continue;
        struct pod_row *row = pods_at(&c->pods, n->pod);
        row->flags = is_so ? row->flags | POD_SUPPOSED : row->flags & ~(uint32_t)POD_SUPPOSED;
    }
}

reason_id row_judge_nominated(struct cluster *c, const struct class *class, node_id node,
                              pod_id self)
{
    struct nominations all = cluster_nominated(c, c->nodes.name[node.i]);
    suppose(c, class, all, self, true);
    struct txn trial = txn_begin(c);
    vec_each(&all, n)
        if (counts_here(c, class, *n, self))
            cluster_place(c, n->pod, node);
    reason_id reason = row_judge(c, class, node);
    txn_undo(c, trial);
    suppose(c, class, all, self, false);
    return reason ? reason : row_judge(c, class, node);
}

reason_id row_look(struct cluster *c, const struct class *class, node_id node, uint32_t columns,
                   bool did_fit)
{
    static const pod_id nobody = {ID_NONE};
    bool is_nominated = c->nodes.flags[node.i] & NODE_NOMINATED;
    if (UNLIKELY(is_nominated) && !class->has_key_filter &&
        row_has_nominated(c, class, node, nobody))
        return row_judge_nominated(c, class, node, nobody);
    bool all = columns & (COLUMN_PRESENCE | COLUMN_NOMINATED) || !did_fit || is_nominated;
    return row_filter(c, class, node, all ? COLUMN_ALL : columns);
}
