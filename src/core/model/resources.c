/* Follows PodRequests of k8s.io/component-helpers/resource. Pods name a handful of resources, so a
 * list is searched from its start. */

#include "core/model/resources.h"

#include "core/model/selector.h"

/* A list that grows in an arena. */
struct total {
    struct arena *mem;
    struct amount *at;
    uint32_t n, cap;
};

static const struct amount *find(const struct amount *at, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_equal(at[i].name, name))
            return &at[i];
    }
    return NULL;
}

/* The entry of this name, made if it is not there. */
static struct quantity *entry(struct total *t, struct str name, bool *is_new)
{
    const struct amount *known = find(t->at, t->n, name);
    *is_new = !known;
    if (known)
        return &t->at[known - t->at].quantity;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 8;
        struct amount *larger = arena_array(t->mem, struct amount, t->cap);
        if (t->n)
            memcpy(larger, t->at, t->n * sizeof(*larger));
        t->at = larger;
    }
    t->at[t->n] = (struct amount){.name = name};
    return &t->at[t->n++].quantity;
}

static void add_one(struct total *t, struct str name, struct quantity q)
{
    bool is_new;
    struct quantity *sum = entry(t, name, &is_new);
    *sum = is_new ? q : quantity_sum(*sum, q);
}

static void add(struct total *t, amount_list amounts)
{
    list_each(&amounts, a)
        add_one(t, a->name, a->quantity);
}

static void raise(struct total *t, amount_list amounts)
{
    list_each(&amounts, a) {
        bool is_new;
        struct quantity *most = entry(t, a->name, &is_new);
        if (is_new || a->quantity.nano > most->nano)
            *most = a->quantity;
    }
}

static amount_list list_of(const struct total *t)
{
    return (amount_list){t->at, t->n};
}

/* Which of a container's three sets of requests is summed up. */
enum view { VIEW_SPEC, VIEW_ALLOCATED, VIEW_ACTUATED };

struct reading {
    const struct pod *pod;
    struct arena *mem;
    enum view view;
    bool status_aware;
    bool is_infeasible; /* the resize that spec asks for was refused: spec does not count */
    bool wants_cpu, wants_memory; /* a container without counts as 100m, 200Mi */
};

static bool resize_is_infeasible(const struct pod *pod)
{
    list_each(&pod->status.conditions, c) {
        if (str_equal(c->type, STR("PodResizePending")))
            return str_equal(c->reason, STR("Infeasible"));
    }
    return false;
}

static const struct container_status *status_of(const struct pod *pod, struct str name)
{
    list_each(&pod->status.containers, s) {
        if (str_equal(s->name, name))
            return s;
    }
    list_each(&pod->status.init_containers, s) {
        if (str_equal(s->name, name))
            return s;
    }
    return NULL;
}

static amount_list view_of(const struct reading *r, const struct container *c)
{
    if (r->view == VIEW_SPEC)
        return c->resources.requests;
    const struct container_status *s = status_of(r->pod, c->name);
    if (r->view == VIEW_ACTUATED && s && s->resources && s->resources->has_requests)
        return s->resources->requests;
    if (s && s->has_allocated)
        return s->allocated;
    return r->is_infeasible ? (amount_list){0} : c->resources.requests;
}

static amount_list container_requests(const struct reading *r, const struct container *c)
{
    amount_list given = view_of(r, c);
    bool adds_cpu = r->wants_cpu && !find(given.at, given.n, STR("cpu"));
    bool adds_memory = r->wants_memory && !find(given.at, given.n, STR("memory"));
    if (!adds_cpu && !adds_memory)
        return given;
    struct total t = {.mem = r->mem};
    add(&t, given);
    if (adds_cpu)
        add_one(&t, STR("cpu"), (struct quantity){.nano = (__int128)100 * 1000000});
    if (adds_memory)
        add_one(&t, STR("memory"), (struct quantity){.nano = (__int128)(200 << 20) * 1000000000});
    return list_of(&t);
}

/* Containers run side by side; before them init containers one after the other, each beside the
 * sidecars that started earlier. */
static struct total aggregate(const struct reading *r)
{
    struct total all = {.mem = r->mem}, sidecars = {.mem = r->mem}, peak = {.mem = r->mem};
    list_each(&r->pod->spec.containers, c)
        add(&all, container_requests(r, c));
    list_each(&r->pod->spec.init_containers, c) {
        amount_list own = container_requests(r, c);
        if (str_equal(c->restart_policy, STR("Always"))) {
            add(&all, own);
            add(&sidecars, own);
            raise(&peak, list_of(&sidecars));
            continue;
        }
        struct total use = {.mem = r->mem};
        add(&use, own);
        add(&use, list_of(&sidecars));
        raise(&peak, list_of(&use));
    }
    raise(&all, list_of(&peak));
    return all;
}

static struct total aggregate_view(struct reading r, enum view view)
{
    r.view = view;
    return aggregate(&r);
}

static struct total all_containers(const struct reading *r)
{
    if (!r->status_aware)
        return aggregate_view(*r, VIEW_SPEC);
    const struct pod *pod = r->pod;
    struct total t = {.mem = r->mem};
    if (!r->is_infeasible)
        t = aggregate_view(*r, VIEW_SPEC);
    if (pod->status.has_allocated && pod->status.resources && pod->status.resources->has_requests) {
        raise(&t, pod->status.resources->requests);
        raise(&t, pod->status.allocated);
        return t;
    }
    struct total actuated = aggregate_view(*r, VIEW_ACTUATED);
    struct total allocated = aggregate_view(*r, VIEW_ALLOCATED);
    raise(&t, list_of(&actuated));
    raise(&t, list_of(&allocated));
    return t;
}

/* What spec.resources can speak for. */
static bool is_pod_level(struct str name)
{
    return str_equal(name, STR("cpu")) || str_equal(name, STR("memory")) ||
           str_starts(name, STR("hugepages-"));
}

static bool has_pod_level(const struct pod *pod)
{
    if (pod->spec.resources) {
        list_each(&pod->spec.resources->requests, a) {
            if (is_pod_level(a->name))
                return true;
        }
    }
    return false;
}

/* What earlier sums have left in the pod. */
static void add_drift(struct total *level, const struct pod *pod, int32_t drift)
{
    list_each(&pod->spec.overhead, extra) {
        const struct amount *a = find(level->at, level->n, extra->name);
        bool drifts = a && a->quantity.is_big && is_pod_level(a->name);
        for (int32_t i = 0; drifts && i < drift; i++)
            add_one(level, extra->name, extra->quantity);
    }
}

static void override(struct total *t, const struct reading *r, int32_t drift)
{
    const struct pod *pod = r->pod;
    struct total level = {.mem = r->mem};
    bool has_status = r->status_aware && pod->status.resources;
    if (!has_status || !r->is_infeasible) {
        add(&level, pod->spec.resources->requests);
        add_drift(&level, pod, drift);
    }
    if (has_status) {
        raise(&level, pod->status.resources->requests);
        raise(&level, pod->status.allocated);
    }
    amount_list list = list_of(&level);
    list_each(&list, a) {
        bool is_new;
        if (is_pod_level(a->name))
            *entry(t, a->name, &is_new) = a->quantity;
    }
}

static struct total sum_up(const struct reading *r, struct request_rules rules)
{
    struct total t = all_containers(r);
    if (rules.pod_level && has_pod_level(r->pod))
        override(&t, r, rules.drift);
    add(&t, r->pod->spec.overhead);
    return t;
}

amount_list pod_requests(const struct pod *pod, struct request_rules rules, struct arena *mem)
{
    struct reading r = {.pod = pod, .mem = mem, .status_aware = rules.status_aware};
    r.is_infeasible = rules.status_aware && resize_is_infeasible(pod);
    if (rules.default_missing) {
        r.wants_cpu = r.wants_memory = true;
        if (rules.pod_level && has_pod_level(pod)) { /* only what is missing from the whole pod */
            struct request_rules plain = rules;
            plain.default_missing = false;
            amount_list given = pod_requests(pod, plain, mem);
            r.wants_cpu = !find(given.at, given.n, STR("cpu"));
            r.wants_memory = !find(given.at, given.n, STR("memory"));
        }
    }
    struct total t = sum_up(&r, rules);
    return list_of(&t);
}

int32_t pod_drift_held(const struct pod *pod, struct arena *mem)
{
    int32_t before = pod->spec.node_name.n ? 0 : DRIFT_FILTER;
    amount_list given =
        pod_requests(pod, (struct request_rules){.status_aware = true, .pod_level = true}, mem);
    bool names_both = find(given.at, given.n, STR("cpu")) && find(given.at, given.n, STR("memory"));
    return before + (has_pod_level(pod) && !names_both && !pod->status.resources);
}

int32_t pod_drift_scored(const struct pod *pod, bool is_memory)
{
    return DRIFT_SCORE + (is_memory && !pod->status.resources);
}

static bool names_both(const struct container *c)
{
    const amount_list *given = &c->resources.requests;
    return find(given->at, given->n, STR("cpu")) && find(given->at, given->n, STR("memory"));
}

static bool says_nothing(const struct container_status *s)
{
    return !s->has_allocated && !s->resources;
}

bool pod_status_is_silent(const struct pod *pod)
{
    bool is_silent =
        !pod->status.has_allocated && !pod->status.resources && !resize_is_infeasible(pod);
    list_each(&pod->status.containers, s)
        is_silent = is_silent && says_nothing(s);
    list_each(&pod->status.init_containers, s)
        is_silent = is_silent && says_nothing(s);
    return is_silent;
}

bool pod_requests_agree(const struct pod *pod)
{
    bool agree = pod_status_is_silent(pod) && !has_pod_level(pod);
    list_each(&pod->spec.containers, c)
        agree = agree && names_both(c);
    list_each(&pod->spec.init_containers, c)
        agree = agree && names_both(c);
    return agree;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Lower-case labels with dots between them. */
static bool is_domain(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool is_lower = is_alnum(s.p[i]) && !(s.p[i] >= 'A' && s.p[i] <= 'Z');
        bool is_edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';
        if (!is_lower && (is_edge || (s.p[i] != '-' && s.p[i] != '.')))
            return false;
    }
    return s.n > 0;
}

static bool is_kubernetes(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (str_starts(str_part(name, i, name.n), STR("kubernetes.io/")))
            return true;
    }
    return false;
}

bool resource_is_extended(struct str name)
{
    enum { DOMAIN_MOST = 253 - sizeof("requests.") + 1 }; /* upstream checks the quota's name */
    size_t slash = str_find(name, '/');
    return slash < name.n && !is_kubernetes(name) && !str_starts(name, STR("requests.")) &&
           slash <= DOMAIN_MOST && is_domain(str_part(name, 0, slash)) && slash + 1 < name.n &&
           is_label_value(str_part(name, slash + 1, name.n));
}

/* Adds what it requests and what it is limited to; false if it has no limit of one of the two. */
static bool add_limits(const struct resource_requirements *r, __int128 *requested,
                       __int128 *limited)
{
    static const struct str names[] = {STR("cpu"), STR("memory")};
    bool has_all = true;
    for (size_t i = 0; i < LEN(names); i++) {
        const struct amount *limit = find(r->limits.at, r->limits.n, names[i]);
        const struct amount *request = find(r->requests.at, r->requests.n, names[i]);
        has_all &= limit && limit->quantity.nano > 0;
        request = request ? request : limit; /* which stands for it */
        limited[i] += limit ? limit->quantity.nano : 0;
        requested[i] += request ? request->quantity.nano : 0;
    }
    return has_all;
}

bool pod_is_guaranteed(const struct pod *pod)
{
    __int128 requested[2] = {0}, limited[2] = {0};
    bool has_all = true;
    if (pod->spec.resources && (pod->spec.resources->limits.n || pod->spec.resources->requests.n)) {
        has_all = add_limits(pod->spec.resources, requested, limited);
    } else {
        list_each(&pod->spec.containers, c)
            has_all &= add_limits(&c->resources, requested, limited);
        list_each(&pod->spec.init_containers, c)
            has_all &= add_limits(&c->resources, requested, limited);
    }
    return has_all && pod->spec.containers.n && requested[0] == limited[0] &&
           requested[1] == limited[1];
}

bool resource_is_scalar(struct str name)
{
    return resource_is_extended(name) || is_kubernetes(name) ||
           str_starts(name, STR("hugepages-")) || str_starts(name, STR("attachable-volumes-"));
}

/* A vendor's name and how the device's begins. */
static const struct str devices[] = {
    STR("nvidia.com/gpu"), STR("nvidia.com/mig-"),       STR("amd.com/gpu"),
    STR("gpu.intel.com/"), STR("intel.com/gpu"),         STR("habana.ai/gaudi"),
    STR("google.com/tpu"), STR("aws.amazon.com/neuron"), STR("huawei.com/Ascend"),
    STR("cambricon.com/"), STR("metax-tech.com/gpu"),    STR("iluvatar.ai/"),
    STR("mthreads.com/"),
};

bool resource_is_well_known(struct str name)
{
    for (size_t i = 0; i < LEN(devices); i++)
        if (str_equal(name, devices[i]))
            return true;
    return false;
}

bool resource_is_accelerator(struct str name)
{
    for (size_t i = 0; i < LEN(devices); i++)
        if (str_starts(name, devices[i]))
            return true;
    return false;
}
