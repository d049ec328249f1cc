/* A cordoned node takes only pods that tolerate the taint which cordoning stands for. */

#include "core/framework/plugin.h"

struct wants {
    bool tolerates;
    reason_id cordoned;
};

static bool tolerates_cordon(const struct cluster *c, tolerations_id tolerations)
{
    uint32_t n;
    const struct toleration_sym *t = lists_at(&c->names.tolerations, tolerations, sizeof(*t), &n);
    struct taint_sym cordon = {c->unschedulable, c->empty, TAINT_NO_SCHEDULE};
    return tolerations_cover(t, n, cordon, NULL); /* its value is no number to compare */
}

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    wants->tolerates = tolerates_cordon(l->cluster, l->spec->tolerations);
    wants->cordoned = learning_reason(l, CODE_UNRESOLVABLE, "node(s) were unschedulable");
    l->filters = true;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct wants *wants = cls;
    return c->nodes.flags[node.i] & NODE_CORDONED && !wants->tolerates ? wants->cordoned : 0;
}

static void likeness(const void *cls, struct match_words *out)
{
    vec_push(out, ((const struct wants *)cls)->tolerates);
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)c, (void)shape;
    return e->new_row && !e->new_row->is_cordoned && (!e->old_row || e->old_row->is_cordoned);
}

static bool hint_toleration(const struct cluster *c, const struct shape *shape,
                            const struct event *e)
{
    (void)e;
    return tolerates_cordon(c, specs_at(&c->specs, shape->spec)->tolerations);
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_TAINT, hint_node},
    {EVENT_TARGET_POD, ACTION_POD_TOLERATION, hint_toleration},
    {0},
};

const struct plugin plugin_node_unschedulable = {
    .name = "NodeUnschedulable",
    .about = ABOUT_CORDONS,
    .row_columns = COLUMN_CORDON,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .row_filter = row_filter,
    .likeness = likeness,
    .wakes = wakes,
};
