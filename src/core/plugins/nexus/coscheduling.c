/* Gangs: pods that name a group are placed together or not at all. The planner is
 * engine/gang/planner.c; here are the order of the queue, and the one question about nodes that
 * gangs add: is the node in the domain that the gang is to stay in?
 *
 * The order: system-critical priorities, then whoever has starved, then priority with the tenant's
 * boost, then age, then the name. */

#include "core/framework/plugin.h"

enum { CRITICAL = 1000000000 };

static int compare_names(const struct queue_key *a, const struct queue_key *b)
{
    int namespaces = str_compare(a->namespace, b->namespace);
    return namespaces ? namespaces : str_compare(a->name, b->name);
}

static int64_t worth(const struct queue_key *s)
{
    return (int64_t)s->priority + s->boost;
}

static bool before(const struct queue_key *a, const struct queue_key *b)
{
    bool a_critical = a->priority >= CRITICAL, b_critical = b->priority >= CRITICAL;
    if (a_critical != b_critical)
        return a_critical;
    if (a->is_starving != b->is_starving && !a_critical)
        return a->is_starving;
    if (worth(a) != worth(b))
        return worth(a) > worth(b);
    if (a->since_ms != b->since_ms)
        return a->since_ms < b->since_ms;
    int names = compare_names(a, b);
    return names ? names < 0 : a->arrival < b->arrival;
}

static void learn(struct learning *l, void *cls)
{
    struct gang_domain *domain = cls;
    if (l->within == SYM_NONE)
        return;
    struct str keys = names_text(&l->cluster->names, l->within);
    domain->elsewhere = learning_reason(l, CODE_UNSCHEDULABLE, "node(s) outside the gang's domain");
    while (keys.n && domain->n < GANG_MOST_LEVELS) {
        sym key = names_get(&l->cluster->names, str_take(&keys, ','));
        intern_hold(&l->cluster->names.text, key);
        domain->keys[domain->n++] = key;
    }
    l->filters = true;
    l->n_keys = domain->n;
}

static void forget(struct cluster *c, void *cls)
{
    struct gang_domain *domain = cls;
    for (uint32_t i = 0; i < domain->n; i++)
        intern_drop(&c->names.text, domain->keys[i]);
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct gang_domain *domain = cls;
    for (uint32_t i = 0; i < domain->n; i++)
        out[i] = cluster_label(c, node, domain->keys[i]);
}

static reason_id key_filter(const struct cluster *c, const void *cls, const uint32_t *key)
{
    (void)c;
    const struct gang_domain *domain = cls;
    for (uint32_t i = 0; i < domain->n; i++)
        if (domain->which >> i & 1 && key[i] != domain->values[i])
            return domain->elsewhere;
    return 0;
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL, NULL},
    {0},
};

/* What both have in common. */
#define GANGS                                                                                      \
    .key_columns = COLUMN_LABELS, .class_size = sizeof(struct gang_domain), .learn = learn,        \
    .forget = forget, .key = key, .key_filter = key_filter, .wakes = wakes, .gangs = true

const struct plugin plugin_coscheduling = {
    .name = "Coscheduling",
    GANGS,
    .before = before,
};

/* kube-scheduler's own, for the gate GenericWorkload: gangs that are PodGroups of Kubernetes, in
 * the order of the profile's queue. */
const struct plugin plugin_gang_scheduling = {
    .name = "GangScheduling",
    GANGS,
    .gangs_natively = true,
};
