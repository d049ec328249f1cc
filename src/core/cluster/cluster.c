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
    volumes_init(&c->volumes, &c->names);
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
    budgets_done(&c->budgets);
    groups_done(&c->groups);
    kueue_done(&c->kueue);
    quotas_done(&c->quotas);
    idlers_done(&c->idlers);
    cliques_done(&c->cliques);
    workloads_done(&c->workloads);
    volumes_done(&c->volumes);
    devices_done(&c->devices);
    numa_reports_done(&c->numa_reports);
    pods_done(&c->pods);
    nodes_done(&c->nodes);
    terms_done(&c->terms);
    spec_cache_done(&c->spec_cache);
    specs_done(&c->specs);
    matches_done(&c->matches);
    names_done(&c->names);
    change_log_done(&c->log);
    vec_done(&c->nominations);
    vec_done(&c->priorities);
    map_done(&c->namespaces);
    vec_done(&c->journal);
    arena_done(&c->journal_mem);
    arena_done(&c->mem);
    mem_free(c);
}

void cluster_tidy(struct cluster *c, enum tidy how)
{
    assert(c->depth == 0);
    if (how == TIDY_ALL)
        spec_cache_clear(&c->spec_cache, &c->pods);
    pods_tidy(&c->pods, &c->names, &c->specs, &c->terms, how);
    counts_tidy(&c->counts, how);
    terms_tidy(&c->terms, &c->names, &c->matches, how);
    specs_tidy(&c->specs, &c->names, &c->matches, how);
    nodes_tidy(&c->nodes, how);
    volumes_tidy(&c->volumes, &c->names, &c->matches, how);
    matches_tidy(&c->matches, &c->names, how);
    groups_tidy(&c->groups, &c->names, how);
    names_tidy(&c->names, how);
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
        if ((taint[i].effect == TAINT_NO_SCHEDULE || taint[i].effect == TAINT_NO_EXECUTE) &&
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
        if (taint[i].effect == TAINT_PREFER_NO_SCHEDULE)
            count += !tolerations_cover(t, n, taint[i], compared_names(c));
    return count;
}

bool cluster_put_namespace(struct cluster *c, sym name, label_set_id labels)
{
    assert(c->depth == 0);
    uint32_t was = name == SYM_NONE ? MAP_NONE : map_find(&c->namespaces, name);
    _Static_assert(MAP_NONE == ID_NONE, "no value, no labels");
    if (was == labels)
        return false;
    counts_namespace(c, name, -1);
    if (labels != ID_NONE) {
        intern_hold(&c->names.label_sets.table, labels);
        intern_hold(&c->names.text, name);
        map_put(&c->namespaces, name, labels);
    } else {
        map_remove(&c->namespaces, name);
    }
    counts_namespace(c, name, +1);
    workloads_put_namespace(&c->workloads, &c->names, name, labels != ID_NONE);
    terms_look_again(c);
    if (was != ID_NONE) {
        intern_drop(&c->names.label_sets.table, was);
        intern_drop(&c->names.text, name);
    }
    return true;
}
