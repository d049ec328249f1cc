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

static bool exceeds(const struct counts *n, enum pod_limit limit)
{
    return n->of[limit] > pod_limits[limit].most;
}

struct str pod_excess(const struct pod *pod, struct arena *mem)
{
    if (UNLIKELY(pod->unread.n))
        return arena_printf(mem, "cannot be read in full: " STR_FMT, STR_ARG(pod->unread));
    struct counts n = count(pod, mem);
    for (uint32_t i = 0; i < LIMIT_COUNT; i++)
        if (UNLIKELY(exceeds(&n, i)))
            return arena_printf(mem, "%llu %s, of which a pod may have %u",
                                (unsigned long long)n.of[i], pod_limits[i].what,
                                pod_limits[i].most);
    return (struct str){0};
}

/* --- what is left --- */

struct cutting {
    struct counts n;
    bool is_unread; /* what stands for words of Kubernetes may be none */
    bool (*counts)(void *ctx, struct str resource);
    void *ctx;
    struct arena *mem;
};

static amount_list cut_amounts(const struct cutting *x, amount_list from)
{
    if (!exceeds(&x->n, LIMIT_RESOURCES))
        return from;
    amount_list kept = {arena_array(x->mem, struct amount, from.n), 0};
    list_each(&from, a)
        if (x->counts(x->ctx, a->name))
            kept.at[kept.n++] = *a;
    return kept;
}

static struct resource_requirements cut_resources(const struct cutting *x,
                                                  const struct resource_requirements *from)
{
    return (struct resource_requirements){.requests = cut_amounts(x, from->requests),
                                          .has_requests = from->has_requests};
}

static struct resource_requirements *cut_reference(const struct cutting *x,
                                                   const struct resource_requirements *from)
{
    if (!from)
        return NULL;
    struct resource_requirements *kept = arena_array(x->mem, struct resource_requirements, 1);
    *kept = cut_resources(x, from);
    return kept;
}

static bool is_port(const struct container_port *port)
{
    static const struct str protocols[] = {STR(""), STR("TCP"), STR("UDP"), STR("SCTP")};
    bool is = false;
    for (size_t i = 0; i < LEN(protocols); i++)
        is |= str_equal(port->protocol, protocols[i]);
    return is && port->host_port >= 0 && port->host_port <= 65535;
}

static void cut_ports(const struct cutting *x, struct container *c)
{
    struct container_port *kept = arena_array(x->mem, struct container_port, c->ports.n);
    uint32_t n = 0;
    list_each(&c->ports, port)
        if (is_port(port))
            kept[n++] = *port;
    c->ports.at = kept;
    c->ports.n = n;
}

static struct container cut_container(const struct cutting *x, const struct container *from)
{
    struct container kept = *from;
    kept.resources = cut_resources(x, &from->resources);
    if (exceeds(&x->n, LIMIT_CONTAINERS))
        kept.env.n = kept.volume_mounts.n = kept.restart_policy_rules.n = 0;
    if (exceeds(&x->n, LIMIT_CONTAINERS) || exceeds(&x->n, LIMIT_PORTS))
        kept.ports.n = 0;
    else if (x->is_unread)
        cut_ports(x, &kept);
    return kept;
}

static struct container *cut_containers(const struct cutting *x, const struct container *from,
                                        uint32_t n)
{
    struct container *kept = arena_array(x->mem, struct container, n);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = cut_container(x, &from[i]);
    return kept;
}

/* What a resize that is under way takes. */
static struct container_status *cut_statuses(const struct cutting *x,
                                             const struct container_status *from, uint32_t n)
{
    struct container_status *kept = arena_array(x->mem, struct container_status, n);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = (struct container_status){
            .name = from[i].name,
            .has_allocated = from[i].has_allocated,
            .allocated = cut_amounts(x, from[i].allocated),
            .resources = cut_reference(x, from[i].resources),
        };
    return kept;
}

static void cut_volumes(const struct cutting *x, struct pod *pod)
{
    struct volume *kept = arena_array(x->mem, struct volume, pod->spec.volumes.n);
    uint32_t n = 0;
    list_each(&pod->spec.volumes, v)
        if (!v->claim || v->claim->claim_name.n)
            kept[n++] = *v;
    pod->spec.volumes.at = kept;
    pod->spec.volumes.n = n;
}

static void cut_parts(const struct cutting *x, struct pod *pod)
{
    bool are_many =
        x->is_unread || exceeds(&x->n, LIMIT_REQUIREMENTS) || exceeds(&x->n, LIMIT_VALUES);
    if (are_many || exceeds(&x->n, LIMIT_TERMS))
        pod->spec.affinity = NULL;
    if (are_many) {
        pod->spec.node_selector.n = 0;
        pod->spec.has_node_selector = false;
    }
    if (are_many || exceeds(&x->n, LIMIT_SPREAD))
        pod->spec.spread.n = 0;
    if (x->is_unread || exceeds(&x->n, LIMIT_TOLERATIONS))
        pod->spec.tolerations.n = 0;
    if (exceeds(&x->n, LIMIT_VALUES) || exceeds(&x->n, LIMIT_VOLUMES))
        pod->spec.volumes.n = 0;
    else if (x->is_unread)
        cut_volumes(x, pod);
    if (exceeds(&x->n, LIMIT_CLAIMS))
        pod->spec.resource_claims.n = 0;
}

static void cut_room(const struct cutting *x, struct pod *pod)
{
    pod->spec.overhead = cut_amounts(x, pod->spec.overhead);
    pod->spec.resources = cut_reference(x, pod->spec.resources);
    pod->spec.containers.at = cut_containers(x, pod->spec.containers.at, pod->spec.containers.n);
    pod->spec.init_containers.at =
        cut_containers(x, pod->spec.init_containers.at, pod->spec.init_containers.n);
    pod->status.allocated = cut_amounts(x, pod->status.allocated);
    pod->status.resources = cut_reference(x, pod->status.resources);
    uint32_t *n = &pod->status.containers.n, *n_init = &pod->status.init_containers.n;
    if (exceeds(&x->n, LIMIT_CONTAINERS)) /* each container looks for its own */
        *n = *n_init = 0;
    pod->status.containers.at = cut_statuses(x, pod->status.containers.at, *n);
    pod->status.init_containers.at = cut_statuses(x, pod->status.init_containers.at, *n_init);
}

struct pod pod_without_excess(const struct pod *pod, bool (*counts)(void *ctx, struct str resource),
                              void *ctx, struct arena *mem)
{
    const struct cutting x = {count(pod, mem), pod->unread.n > 0, counts, ctx, mem};
    struct pod left = *pod;
    left.spec.gates.n = 0;
    if (exceeds(&x.n, LIMIT_LABELS))
        left.meta.labels.n = 0;
    cut_parts(&x, &left);
    cut_room(&x, &left);
    return left;
}
