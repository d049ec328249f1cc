#include "core/cluster/cluster.h"

#include "core/cluster/txn.h"

static sym fixed(struct cluster *c, struct str text)
{
    sym s = names_get(&c->names, text);
    intern_hold(&c->names.text, s);
    return s;
}

struct cluster *cluster_new(uint64_t seed)
{
    struct cluster *c = mem_alloc(sizeof(*c));
    c->seed = seed;
    names_init(&c->names);
    matches_init(&c->matches, &c->names);
    specs_init(&c->specs, &c->names);
    change_log_grow(&c->log, 0);
    c->any_ip = fixed(c, STR("0.0.0.0"));
    c->unschedulable = fixed(c, STR("node.kubernetes.io/unschedulable"));
    c->empty = fixed(c, STR(""));
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    counts_done(&c->counts);
    workloads_done(&c->workloads);
    pods_done(&c->pods);
    nodes_done(&c->nodes);
    specs_done(&c->specs);
    matches_done(&c->matches);
    names_done(&c->names);
    change_log_done(&c->log);
    vec_done(&c->nominations);
    vec_done(&c->affine);
    map_done(&c->namespaces);
    vec_done(&c->journal);
    arena_done(&c->journal_mem);
    arena_done(&c->mem);
    mem_free(c);
}

void cluster_sweep(struct cluster *c)
{
    assert(c->depth == 0);
    pods_sweep(&c->pods, &c->names, &c->specs);
    specs_sweep(&c->specs, &c->names, &c->matches);
    matches_sweep(&c->matches, &c->names);
    names_sweep(&c->names);
}

static const struct names *compared_names(const struct cluster *c)
{
    return c->compares_tolerations ? &c->names : NULL;
}

bool cluster_tolerates(const struct cluster *c, tolerations_id tolerations, taint_set_id taints)
{
    uint32_t n_taints, n;
    const struct taint_sym *taint =
        lists_at(&c->names.taint_sets, taints, sizeof(*taint), &n_taints);
    const struct toleration_sym *t = lists_at(&c->names.tolerations, tolerations, sizeof(*t), &n);
    for (uint32_t i = 0; i < n_taints; i++)
        if ((taint[i].effect == EFFECT_NO_SCHEDULE || taint[i].effect == EFFECT_NO_EXECUTE) &&
            !tolerations_cover(t, n, taint[i], compared_names(c)))
            return false;
    return true;
}

uint32_t cluster_soft_taints(const struct cluster *c, tolerations_id tolerations, node_id node)
{
    if (c->nodes.taints[node.i] == 0)
        return 0;
    uint32_t n_taints, n, count = 0;
    const struct taint_sym *taint =
        lists_at(&c->names.taint_sets, c->nodes.taints[node.i], sizeof(*taint), &n_taints);
    const struct toleration_sym *t = lists_at(&c->names.tolerations, tolerations, sizeof(*t), &n);
    for (uint32_t i = 0; i < n_taints; i++)
        if (taint[i].effect == EFFECT_PREFER_NO_SCHEDULE)
            count += !tolerations_cover(t, n, taint[i], compared_names(c));
    return count;
}

bool cluster_affinity_concerns(const struct cluster *c, const struct shape *shape)
{
    vec_each(&c->affine, a) {
        const struct shape *other = &c->pods.shapes.at[a->shape];
        const struct spec *spec = specs_at(&c->specs, other->spec);
        for (uint32_t i = 0; i < spec->n_pod_terms; i++) {
            const struct pod_term *term = &spec->pod_terms[i];
            if ((term->is_unbounded || other->namespace == shape->namespace) &&
                selector_matches(matches_selector_at(&c->matches, term->selector), &c->names,
                                 shape->labels))
                return true;
        }
    }
    return false;
}
