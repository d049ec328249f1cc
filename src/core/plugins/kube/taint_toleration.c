/* Taints: NoSchedule and NoExecute refuse pods that do not tolerate them; of PreferNoSchedule
 * taints, the fewer untolerated the better. */

#include "core/framework/plugin.h"

struct wants {
    tolerations_id tolerations;
    reason_id untolerated;
};

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    wants->tolerations = l->spec->tolerations;
    wants->untolerated = learning_reason(l, CODE_UNRESOLVABLE, "node(s) had untolerated taint(s)");
    l->filters = l->scores = true;
    l->n_keys = 1;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct wants *wants = cls;
    return cluster_taints_tolerated(c, wants->tolerations, node) ? 0 : wants->untolerated;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct wants *wants = cls;
    *out = cluster_soft_taints(c, wants->tolerations, node);
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    (void)c, (void)cls;
    for (uint32_t i = 0; i < f->n; i++)
        raw[i] = *feasible_key(f, i);
    normalise(raw, normal, f->n, true);
}

static void likeness(const void *cls, struct match_words *out)
{
    vec_push(out, ((const struct wants *)cls)->tolerations);
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    tolerations_id t = specs_at(&c->specs, shape->spec)->tolerations;
    bool was_fine = e->old_row && cluster_tolerates(c, t, e->old_row->taints);
    return e->new_row && !was_fine && cluster_tolerates(c, t, e->new_row->taints);
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_TAINT, hint_node},
    {EVENT_TARGET_POD, ACTION_POD_TOLERATION, NULL},
    {0},
};

const struct plugin plugin_taint_toleration = {
    .name = "TaintToleration",
    .about = ABOUT_TAINTS,
    .row_columns = COLUMN_TAINTS,
    .key_columns = COLUMN_TAINTS,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .row_filter = row_filter,
    .likeness = likeness,
    .key = key,
    .key_score = key_score,
    .wakes = wakes,
};
