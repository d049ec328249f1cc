/* nodeSelector and node affinity: required rules refuse, preferred ones add their weights. A pod
 * whose every required term names nodes can go to those alone. */

#include "core/framework/plugin.h"

struct wants {
    rules_id rules;
    reason_id mismatch;
};

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    const struct rules *rules = matches_rules_at(&l->cluster->matches, l->spec->rules);
    wants->rules = l->spec->rules;
    wants->mismatch =
        learning_reason(l, CODE_UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector");
    l->filters = rules->has_required || rules->n_selector;
    l->scores = rules->n_preferred > 0;
    l->is_pinned = rules->is_pinned;
    l->n_keys = l->scores ? 1 : 0;
    if (rules->is_restricted && rules->n_names) {
        l->only = rules->names;
        l->n_only = rules->n_names;
    } else if (rules->is_restricted) {
        l->refusal = learning_reason(l, CODE_UNRESOLVABLE, "pod affinity terms conflict");
    }
    if (rules->error.n)
        l->score_error = arena_printf(l->mem, "running PreScore plugin \"NodeAffinity\": " STR_FMT,
                                      STR_ARG(rules->error));
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct wants *wants = cls; /* a pinned pod is only ever asked about the node it names */
    return cluster_rules_allow(c, wants->rules, node, c->nodes.name[node.i]) ? 0 : wants->mismatch;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct wants *wants = cls;
    *out = (uint32_t)rules_prefer(matches_rules_at(&c->matches, wants->rules), &c->matches,
                                  &c->names, cluster_node_labels(c, node), c->nodes.name[node.i]);
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    (void)c, (void)cls;
    for (uint32_t i = 0; i < f->n; i++)
        raw[i] = (int32_t)*feasible_key(f, i);
    normalise(raw, normal, f->n, false);
}

static void likeness(const void *cls, struct match_words *out)
{
    vec_push(out, ((const struct wants *)cls)->rules);
}

static bool allows(const struct cluster *c, rules_id rules, const struct event *e,
                   const struct node_row *row)
{
    const struct rules *r = matches_rules_at(&c->matches, rules);
    struct node_labels labels = {row->labels, row->hostname, c->nodes.name[e->node.i]};
    return rules == 0 || rules_require(r, &c->matches, &c->names, labels, e->pin);
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    rules_id rules = specs_at(&c->specs, shape->spec)->rules;
    bool was_fine = e->old_row && allows(c, rules, e, e->old_row);
    return e->new_row && !was_fine && allows(c, rules, e, e->new_row);
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL, hint_node},
    {0},
};

const struct plugin plugin_node_affinity = {
    .name = "NodeAffinity",
    .about = ABOUT_LABELS,
    .row_columns = COLUMN_LABELS,
    .key_columns = COLUMN_LABELS,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .row_filter = row_filter,
    .likeness = likeness,
    .key = key,
    .key_score = key_score,
    .wakes = wakes,
};
