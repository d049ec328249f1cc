#include "core/model/limits.h"

#include <stdlib.h>

const struct limit pod_limits[LIMIT_COUNT] = {
#define POD_LIMIT(name, what, most, why) {what, most, why},
#include "core/model/limits.def"
#undef POD_LIMIT
};

/* --- counting --- */

struct counts {
    uint64_t of[LIMIT_COUNT];
};

static void add_lines(struct counts *n, const struct requirement *lines, uint32_t n_lines)
{
    n->of[LIMIT_REQUIREMENTS] += n_lines;
    for (uint32_t i = 0; i < n_lines; i++)
        n->of[LIMIT_VALUES] += lines[i].values.n;
}

static void add_node_term(struct counts *n, const struct node_selector_term *term)
{
    n->of[LIMIT_REQUIREMENTS]++; /* one without lines is looked at, too */
    add_lines(n, term->match_expressions.at, term->match_expressions.n);
    add_lines(n, term->match_fields.at, term->match_fields.n);
}

static void add_selector(struct counts *n, const struct label_selector *selector)
{
    if (!selector)
        return;
    n->of[LIMIT_REQUIREMENTS] += selector->match_labels.n;
    add_lines(n, selector->match_expressions.at, selector->match_expressions.n);
}

static void add_pod_term(struct counts *n, const struct pod_affinity_term *term)
{
    n->of[LIMIT_TERMS]++;
    n->of[LIMIT_VALUES] +=
        term->namespaces.n + term->match_label_keys.n + term->mismatch_label_keys.n;
    add_selector(n, term->label_selector);
    add_selector(n, term->namespace_selector);
}

static void add_pod_affinity(struct counts *n, const struct pod_affinity *affinity)
{
    if (!affinity)
        return;
    list_each(&affinity->required, term)
        add_pod_term(n, term);
    list_each(&affinity->preferred, preferred)
        add_pod_term(n, &preferred->term);
}

static void add_affinity(struct counts *n, const struct affinity *affinity)
{
    const struct node_affinity *node = affinity->node;
    for (uint32_t i = 0; node && node->required && i < node->required->terms.n; i++)
        add_node_term(n, &node->required->terms.at[i]);
    for (uint32_t i = 0; node && i < node->preferred.n; i++)
        add_node_term(n, &node->preferred.at[i].preference);
    add_pod_affinity(n, affinity->pod);
    add_pod_affinity(n, affinity->anti);
}

static void add_spread(struct counts *n, const struct pod *pod)
{
    n->of[LIMIT_SPREAD] = pod->spec.spread.n;
    list_each(&pod->spec.spread, constraint) {
        add_selector(n, constraint->label_selector);
        n->of[LIMIT_VALUES] += constraint->match_label_keys.n;
    }
}

static void add_volumes(struct counts *n, const struct pod *pod)
{
    n->of[LIMIT_VOLUMES] = pod->spec.volumes.n;
    list_each(&pod->spec.volumes, volume)
        if (volume->rbd)
            n->of[LIMIT_VALUES] += volume->rbd->monitors.n;
}

/* --- names of resources --- */

static uint64_t amounts_of(const struct resource_requirements *r)
{
    return r->requests.n + r->limits.n;
}

/* Of all containers, the pod itself and its overhead; names that stand several times count so. */
static uint64_t amounts_in(const struct pod *pod)
{
    uint64_t n = pod->spec.overhead.n + (pod->spec.resources ? amounts_of(pod->spec.resources) : 0);
    list_each(&pod->spec.containers, c)
        n += amounts_of(&c->resources);
    list_each(&pod->spec.init_containers, c)
        n += amounts_of(&c->resources);
    return n;
}

static struct str *put_names(struct str *at, const amount_list *amounts)
{
    list_each(amounts, a)
        *at++ = a->name;
    return at;
}

static struct str *put_both(struct str *at, const struct resource_requirements *r)
{
    return put_names(put_names(at, &r->requests), &r->limits);
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static uint64_t names_in(const struct pod *pod, struct arena *mem)
{
    uint64_t n = amounts_in(pod), distinct = 0;
    if (LIKELY(n <= pod_limits[LIMIT_RESOURCES].most))
        return n;
    struct str *names = arena_array(mem, struct str, n), *end = names;
    end = put_names(end, &pod->spec.overhead);
    if (pod->spec.resources)
        end = put_both(end, pod->spec.resources);
    list_each(&pod->spec.containers, c)
        end = put_both(end, &c->resources);
    list_each(&pod->spec.init_containers, c)
        end = put_both(end, &c->resources);
    assert((uint64_t)(end - names) == n);
    qsort(names, n, sizeof(*names), by_text);
    for (uint64_t i = 0; i < n; i++)
        distinct += i == 0 || !str_equal(names[i], names[i - 1]);
    return distinct;
}

/* --- the answer --- */

static struct counts count(const struct pod *pod, struct arena *mem)
{
    struct counts n = {0};
    n.of[LIMIT_GATES] = pod->spec.gates.n;
    n.of[LIMIT_TOLERATIONS] = pod->spec.tolerations.n;
    n.of[LIMIT_CONTAINERS] = (uint64_t)pod->spec.containers.n + pod->spec.init_containers.n;
    n.of[LIMIT_CLAIMS] = pod->spec.resource_claims.n;
    n.of[LIMIT_LABELS] = pod->meta.labels.n;
    n.of[LIMIT_REQUIREMENTS] = pod->spec.node_selector.n;
    n.of[LIMIT_RESOURCES] = names_in(pod, mem);
    if (pod->spec.affinity)
        add_affinity(&n, pod->spec.affinity);
    add_spread(&n, pod);
    add_volumes(&n, pod);
    list_each(&pod->spec.containers, c)
        n.of[LIMIT_PORTS] += c->ports.n;
    list_each(&pod->spec.init_containers, c)
        n.of[LIMIT_PORTS] += c->ports.n;
    return n;
}

struct str pod_excess(const struct pod *pod, struct arena *mem)
{
    struct counts n = count(pod, mem);
    for (uint32_t i = 0; i < LIMIT_COUNT; i++)
        if (UNLIKELY(n.of[i] > pod_limits[i].most))
            return arena_printf(mem, "%llu %s, of which a pod may have %u",
                                (unsigned long long)n.of[i], pod_limits[i].what,
                                pod_limits[i].most);
    return (struct str){0};
}

/* --- what is left --- */

struct cutting {
    bool (*counts)(void *ctx, struct str resource);
    void *ctx;
    struct arena *mem;
};

static amount_list cut_amounts(const struct cutting *x, amount_list from)
{
    amount_list kept = {arena_array(x->mem, struct amount, from.n), 0};
    list_each(&from, a)
        if (x->counts(x->ctx, a->name))
            kept.at[kept.n++] = *a;
    return kept;
}

static struct container cut_container(const struct cutting *x, const struct container *from)
{
    return (struct container){
        .restart_policy = from->restart_policy,
        .resources = {.requests = cut_amounts(x, from->resources.requests),
                      .has_requests = from->resources.has_requests},
    };
}

struct pod pod_without_excess(const struct pod *pod, bool (*counts)(void *ctx, struct str resource),
                              void *ctx, struct arena *mem)
{
    const struct cutting x = {counts, ctx, mem};
    struct pod left = {.meta = pod->meta, .digest = pod->digest};
    left.meta.labels = (pair_list){0};
    left.spec.scheduler_name = pod->spec.scheduler_name;
    left.spec.node_name = pod->spec.node_name;
    left.spec.has_priority = pod->spec.has_priority;
    left.spec.priority = pod->spec.priority;
    left.spec.priority_class_name = pod->spec.priority_class_name;
    left.spec.preemption_policy = pod->spec.preemption_policy;
    left.spec.overhead = cut_amounts(&x, pod->spec.overhead);
    left.spec.containers.at = arena_array(mem, struct container, pod->spec.containers.n);
    list_each(&pod->spec.containers, c)
        left.spec.containers.at[left.spec.containers.n++] = cut_container(&x, c);
    left.spec.init_containers.at = arena_array(mem, struct container, pod->spec.init_containers.n);
    list_each(&pod->spec.init_containers, c)
        left.spec.init_containers.at[left.spec.init_containers.n++] = cut_container(&x, c);
    if (pod->spec.resources) {
        left.spec.resources = arena_array(mem, struct resource_requirements, 1);
        left.spec.resources->requests = cut_amounts(&x, pod->spec.resources->requests);
    }
    return left;
}
