/* A pod gets the devices that its resource claims ask for. A claim that has its devices binds the
 * pod to the nodes where they are; one that has none must be able to get some on the node
 * (cluster/allocate.h). Extended resources that a device class stands for are one more claim,
 * which is made for the pod on nodes that do not offer them by a device plugin.
 *
 * Asked after the filters on keys, as upstream does, so the verdict is a key, and the score of the
 * alternatives that were chosen another one. What is learned of claims, slices and classes is true
 * for as long as the class is asked: when one changes, pods get another class.
 *
 * Which devices they are does not matter to the verdict. In a profile that cares which GPUs a pod
 * gets, they are chosen by that when the pod has its node; elsewhere they are upstream's. */

#include "core/cluster/allocate.h"
#include "core/cluster/extended.h"
#include "core/framework/plugin.h"
#include "core/model/claim_write.h"
#include "core/model/resources.h"
#include "core/plugins/args.h"

/* The claims that need devices on nodes which leave these extended resources to them. */
struct variant {
    uint32_t backed; /* as bits */
    struct allocator *allocator;
    struct variant *next;
};

/* Where a claim that has its devices can be used. */
struct allocated {
    bool has_rules;
    rules_id rules;
    bool is_lost;  /* a device could not be made ready: nowhere */
    int64_t score; /* of the alternatives that it has */
    const struct kept_object *kept;
};

struct needs {
    struct cluster *cluster;
    struct arena *mem;
    spec_id spec; /* an id: the table of specs moves as it grows */
    struct str namespace;
    struct allocated *allocated;
    uint32_t n_allocated;
    uint64_t in_the_way; /* of them, as bits: since somebody last asked */
    const struct resource_claim **wanted;
    uint32_t n_wanted, n_claims;
    struct backed_set backed;
    int64_t timeout_ms;                   /* for devices to become ready */
    int64_t filter_ms;                    /* for one decision; 0: as long as it takes */
    bool picks_gpus;                      /* those that are joined best, not upstream's first */
    const struct kept_object *left_claim; /* for extended resources, from an earlier try */
    struct variant *variants;
    struct str failure; /* of the first node by name that cannot be judged */
    struct str failed_node;
    reason_id unavailable, nothing, invalid, left, unfit, failed;
};

/* --- the pod's claims --- */

/* What is wrong with a claim, in upstream's words; empty: nothing. `found` is NULL then. */
static struct str find_claim(const struct cluster *c, const struct shape *shape,
                             const struct claim_use *use, struct arena *mem,
                             const struct kept_object **found)
{
    struct str namespace = names_text(&c->names, shape->namespace);
    struct str name = names_text(&c->names, use->name), pod = names_text(&c->names, use->pod);
    *found = NULL;
    if (use->kind == CLAIM_AWAITED)
        return arena_printf(mem, "pod \"" STR_FMT "/" STR_FMT "\": ResourceClaim not created yet",
                            STR_ARG(namespace), STR_ARG(pod));
    if (use->kind == CLAIM_UNKNOWN)
        return arena_printf(mem,
                            "pod \"" STR_FMT "/" STR_FMT "\", spec.resourceClaim \"" STR_FMT
                            "\": none of the supported fields are set",
                            STR_ARG(namespace), STR_ARG(pod), STR_ARG(name));
    const struct kept_object *k = devices_claim(&c->devices, shape->namespace, use->name);
    if (!k)
        return arena_printf(mem, "could not find ResourceClaim \"" STR_FMT "/" STR_FMT "\"",
                            STR_ARG(namespace), STR_ARG(name));
    if (k->object.meta->deleted_ms != TIME_NONE)
        return arena_printf(mem, "resourceclaim \"" STR_FMT "\" is being deleted", STR_ARG(name));
    bool is_own = use->kind != CLAIM_MADE;
    list_each(&k->object.meta->owners, o)
        is_own |= o->is_controller && str_equal(o->uid, names_text(&c->names, use->pod_uid));
    if (!is_own)
        return arena_printf(mem,
                            "ResourceClaim " STR_FMT "/" STR_FMT " was not created for Pod " STR_FMT
                            "/" STR_FMT " (Pod is not owner)",
                            STR_ARG(namespace), STR_ARG(name), STR_ARG(namespace), STR_ARG(pod));
    *found = k;
    return (struct str){0};
}

static bool gate(const struct cluster *c, const struct shape *shape, struct arena *mem,
                 struct str *why)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    const struct kept_object *ignored;
    for (uint32_t i = 0; i < spec->n_claims; i++) {
        *why = find_claim(c, shape, &spec->claims[i], mem, &ignored);
        if (why->n)
            return true;
    }
    return false;
}

/* --- learning --- */

static bool is_true(const struct device_state *state, struct str type)
{
    list_each(&state->conditions, condition)
        if (str_equal(condition->type, type))
            return str_equal(condition->status, STR("True"));
    return false;
}

enum readiness { READY, NOT_READY, LOST };

/* Are the devices that were given ready to be used, or has one failed to become so? */
static enum readiness readiness_of(const struct resource_claim *claim)
{
    list_each(&claim->status.allocation->results, r) {
        const struct device_state *state = NULL;
        list_each(&claim->status.devices, d)
            if (!state && str_equal(d->driver, r->driver) && str_equal(d->pool, r->pool) &&
                str_equal(d->device, r->device))
                state = d;
        if (r->binding_conditions.n == 0)
            continue;
        if (!state)
            return NOT_READY;
        list_each(&r->binding_failure_conditions, failure)
            if (is_true(state, *failure))
                return LOST;
        list_each(&r->binding_conditions, condition)
            if (!is_true(state, *condition))
                return NOT_READY;
    }
    return READY;
}

static bool is_lost(const struct resource_claim *claim)
{
    return readiness_of(claim) == LOST;
}

/* The score of the alternatives that the claim was given. */
static int64_t score_of(const struct resource_claim *claim)
{
    int64_t score = 0;
    list_each(&claim->spec.requests, request)
        for (uint32_t i = 0; i < request->first_available.n; i++) {
            bool is_chosen = false;
            list_each(&claim->status.allocation->results, r) {
                struct str rest = r->request;
                bool is_request = str_equal(str_take(&rest, '/'), request->name);
                is_chosen |= is_request && str_equal(rest, request->first_available.at[i].name);
            }
            score += is_chosen ? ALTERNATIVES_MOST - (int64_t)i : 0;
        }
    return score;
}

/* The text that keeps a claim from being given devices anywhere; empty: nothing does. */
static struct str check_classes(struct learning *l, const struct resource_claim *claim)
{
    const struct cluster *c = l->cluster;
    list_each(&claim->spec.requests, request) {
        uint32_t n = request->exactly ? 1 : request->first_available.n;
        if (n == 0)
            return arena_printf(
                l->mem,
                "resource claim " STR_FMT "/" STR_FMT ", request " STR_FMT ": unknown request type",
                STR_ARG(claim->meta.namespace), STR_ARG(claim->meta.name), STR_ARG(request->name));
        for (uint32_t i = 0; i < n; i++) {
            const struct device_ask *ask =
                request->exactly ? request->exactly : &request->first_available.at[i];
            if (devices_class(&c->devices, names_find(&c->names, ask->class)))
                continue;
            return arena_printf(
                l->mem, "request " STR_FMT "%s" STR_FMT ": device class " STR_FMT " does not exist",
                STR_ARG(request->name), request->exactly ? "" : "/",
                STR_ARG(request->exactly ? STR("") : ask->name), STR_ARG(ask->class));
        }
    }
    return (struct str){0};
}

/* False if the pod must wait, wherever it would go. */
static bool learn_claim(struct learning *l, struct needs *needs, const struct kept_object *k)
{
    const struct resource_claim *claim = k->object.resource_claim;
    needs->n_claims++;
    if (claim->status.allocation) {
        needs->allocated[needs->n_allocated++] =
            (struct allocated){.has_rules = claim->status.allocation->node_selector,
                               .rules = k->rules,
                               .is_lost = is_lost(claim),
                               .score = score_of(claim),
                               .kept = k};
        return true;
    }
    struct str wrong = {0};
    if (devices_promise(&l->cluster->devices, k->namespace, k->name))
        wrong = arena_printf(
            l->mem, "resource claim " STR_FMT "/" STR_FMT " is in the process of being allocated",
            STR_ARG(claim->meta.namespace), STR_ARG(claim->meta.name));
    else
        wrong = check_classes(l, claim);
    if (wrong.n) {
        learning_refuse(l, wrong);
        return false;
    }
    needs->wanted[needs->n_wanted++] = claim;
    return true;
}

static uint32_t bytes_of(const device_selector_list *selectors)
{
    uint32_t bytes = 0;
    list_each(selectors, s)
        bytes += (uint32_t)s->expression.n;
    return bytes;
}

/* Selectors are compiled whenever something about devices changes. False if they are too many. */
static bool learn_price(struct learning *l, struct needs *needs)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        list_each(&needs->wanted[i]->spec.requests, request) {
            uint32_t n = request->exactly ? 1 : request->first_available.n;
            for (uint32_t k = 0; k < n; k++) {
                const struct device_ask *ask =
                    request->exactly ? request->exactly : &request->first_available.at[k];
                struct names *names = &l->cluster->names;
                bytes +=
                    bytes_of(&ask->selectors) +
                    bytes_of(&devices_class(&l->cluster->devices, names_find(names, ask->class))
                                  ->selectors);
            }
        }
    if (bytes <= SELECTOR_BYTES_MOST)
        return true;
    learning_refuse(l, arena_printf(l->mem,
                                    "selectors of %llu bytes in the pod's resource claims and "
                                    "their classes, which may have %d",
                                    (unsigned long long)bytes, SELECTOR_BYTES_MOST));
    return false;
}

static bool learn_claims(struct learning *l, struct needs *needs)
{
    uint32_t n = l->spec->n_claims;
    const struct kept_object **found = arena_array(l->mem, const struct kept_object *, n);
    needs->allocated = arena_array(l->mem, struct allocated, n);
    needs->wanted = arena_array(l->mem, const struct resource_claim *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct str wrong = find_claim(l->cluster, l->shape, &l->spec->claims[i], l->mem, &found[i]);
        if (wrong.n) {
            learning_refuse(l, wrong);
            return false;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (!learn_claim(l, needs, found[i]))
            return false;
    return learn_price(l, needs);
}

/* Extended resources of the pod that a class stands for. A claim for them that an earlier try left
 * must go before there can be another. */
static void learn_backed(struct learning *l, struct needs *needs)
{
    const struct devices *d = &l->cluster->devices;
    needs->backed = extended_backed(l->cluster, l->spec, l->mem);
    if (needs->backed.n && l->spec->left_claim != SYM_NONE)
        needs->left_claim = devices_claim(d, l->shape->namespace, l->spec->left_claim);
}

static void learn(struct learning *l, void *cls)
{
    struct needs *needs = cls;
    needs->cluster = l->cluster;
    needs->mem = l->mem;
    needs->spec = l->shape->spec;
    const struct device_args *args = l->args;
    needs->picks_gpus = l->picks_gpus;
    needs->timeout_ms = args ? args->timeout_ms : DEVICE_TIMEOUT_MS;
    needs->filter_ms = args ? args->filter_ms : DEVICE_FILTER_MS;
    needs->namespace = names_text(&l->cluster->names, l->shape->namespace);
    l->scores = l->scores_nothing = true;
    if (!learn_claims(l, needs))
        return;
    learn_backed(l, needs);
    if (needs->n_claims == 0 && needs->backed.n == 0)
        return;
    needs->unavailable =
        learning_reason(l, CODE_UNRESOLVABLE, "resourceclaim not available on the node");
    needs->nothing = learning_reason(l, CODE_UNRESOLVABLE, "cannot allocate all claims");
    needs->invalid =
        learning_reason(l, CODE_UNRESOLVABLE, "invalid resource pools were encountered");
    needs->left = learning_reason(l, CODE_UNRESOLVABLE, "cannot schedule extended resource claim");
    needs->unfit = learning_reason(l, CODE_UNRESOLVABLE, "cannot fit resource");
    needs->failed = learning_reason(l, CODE_ERROR, "running \"DynamicResources\" filter plugin");
    l->filters = l->may_fail = l->reserves = true;
    l->scores_nothing = false;
    l->failure = &needs->failure;
    l->n_keys = 4;
}

static void forget(struct cluster *c, void *cls)
{
    struct needs *needs = cls;
    (void)c;
    for (struct variant *v = needs->variants; v; v = v->next)
        allocator_done(v->allocator);
}

/* --- the claims that need devices on a node --- */

static const struct spec *spec_of(const struct needs *needs)
{
    return specs_at(&needs->cluster->specs, needs->spec);
}

static struct allocator *allocator_for(struct needs *needs, uint32_t mask)
{
    for (struct variant *v = needs->variants; v; v = v->next)
        if (v->backed == mask)
            return v->allocator;
    struct variant *v = arena_alloc(needs->mem, sizeof(*v));
    const struct resource_claim **all =
        arena_array(needs->mem, const struct resource_claim *, needs->n_wanted + 1);
    uint32_t n = needs->n_wanted;
    if (n)
        memcpy(all, needs->wanted, n * sizeof(*all));
    if (needs->backed.n)
        all[n++] =
            extended_claim(spec_of(needs), needs->backed, mask, needs->namespace, needs->mem);
    v->backed = mask;
    v->allocator = allocator_new(needs->cluster, all, n, needs->mem);
    allocator_set_time(v->allocator, needs->filter_ms);
    v->next = needs->variants;
    needs->variants = v;
    return v->allocator;
}

/* --- one node --- */

/* Which backed resources the node leaves to devices; false if it has no use for one at all. */
static bool split_resources(const struct cluster *c, const struct needs *needs, node_id node,
                            uint32_t *mask)
{
    const struct spec *spec = spec_of(needs);
    *mask = 0;
    for (uint32_t i = 0; needs->backed.n && i < spec->ask.n_others; i++) {
        resource_id resource = spec->ask.others[i].resource;
        const struct cell *cell = nodes_cell(&c->nodes, node, resource);
        if (cell && cell->alloc)
            continue;
        uint32_t at = 0;
        while (at < needs->backed.n && needs->backed.at[at].resource != resource)
            at++;
        if (at < needs->backed.n)
            *mask |= (uint32_t)1 << at;
        else if (!cell &&
                 resource_is_extended(names_text(&c->names, c->specs.resources.names.at[resource])))
            return false;
    }
    return true;
}

static reason_id allocate(const struct cluster *c, struct needs *needs, struct allocator *allocator,
                          node_id node, int64_t *score)
{
    switch (allocator_judge(allocator, c, node, score)) {
    case ALLOCATE_DONE:
        return 0;
    case ALLOCATE_NOTHING:
    case ALLOCATE_UNFINISHED: /* the decision does not count */
        return needs->nothing;
    case ALLOCATE_INVALID:
        return needs->invalid;
    case ALLOCATE_FAILED:
        break;
    }
    struct str name = names_text(&c->names, c->nodes.name[node.i]);
    if (needs->failure.n && str_compare(needs->failed_node, name) <= 0)
        return needs->failed;
    needs->failed_node = arena_str(needs->mem, name);
    needs->failure =
        arena_printf(needs->mem, "running \"DynamicResources\" filter plugin: " STR_FMT,
                     STR_ARG(allocator_error(allocator)));
    return needs->failed;
}

/* `in_the_way` receives the claims, as bits, that cannot be used there. */
static reason_id judge(const struct cluster *c, struct needs *needs, node_id node, int64_t *score,
                       uint64_t *in_the_way)
{
    uint32_t mask;
    *score = 0;
    *in_the_way = 0;
    if (needs->left_claim)
        return needs->left;
    if (!split_resources(c, needs, node, &mask))
        return needs->unfit;
    if (needs->n_claims == 0 && mask == 0)
        return 0;
    if (needs->n_wanted || needs->backed.n) {
        struct allocator *allocator = allocator_for(needs, mask);
        reason_id reason = allocate(c, needs, allocator, node, score);
        if (reason)
            return reason;
    }
    for (uint32_t i = 0; i < needs->n_allocated; i++) {
        const struct allocated *a = &needs->allocated[i];
        bool is_here = !a->has_rules || cluster_rules_allow(c, a->rules, node, SYM_NONE);
        if (a->is_lost || !is_here)
            *in_the_way |= (uint64_t)1 << i;
        *score += needs->n_wanted || needs->backed.n ? a->score : 0;
    }
    return *in_the_way ? needs->unavailable : 0;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    struct needs *needs = (struct needs *)cls;
    int64_t score;
    uint64_t in_the_way;
    out[0] = judge(c, needs, node, &score, &in_the_way);
    out[1] = (uint32_t)score;
    out[2] = (uint32_t)in_the_way;
    out[3] = (uint32_t)(in_the_way >> 32);
}

/* Only claims of nodes that other plugins would have let pass are in the way. */
static reason_id key_filter(const struct cluster *c, const void *cls, const uint32_t *key)
{
    (void)c;
    ((struct needs *)cls)->in_the_way |= key[2] | (uint64_t)key[3] << 32;
    return key[0];
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    (void)c, (void)cls;
    for (uint32_t i = 0; i < f->n; i++)
        raw[i] = feasible_key(f, i)[1];
    normalise(raw, normal, f->n, false);
}

/* --- before the pod is bound --- */

static uint64_t version_of(const struct meta *meta)
{
    int64_t version;
    return str_int(meta->resource_version, &version) ? (uint64_t)version : 0;
}

static struct claim_consumer consumer_of(const struct cluster *c, pod_id pod)
{
    const struct pod_row *row = pods_at(&c->pods, pod);
    return (struct claim_consumer){
        .resource = STR("pods"), .name = pod_name(row), .uid = pod_uid(row)};
}

static bool is_reserved(const struct resource_claim *claim, struct claim_consumer consumer)
{
    list_each(&claim->status.reserved_for, r)
        if (str_equal(r->uid, consumer.uid))
            return true;
    return false;
}

static struct patch status_patch(struct str meta, const struct device_allocation *given,
                                 struct claim_consumer consumer, struct arena *mem)
{
    return (struct patch){
        .part = STR("status"), .meta = meta, .body = claim_write_status(given, consumer, mem)};
}

/* The claim is told whose it is, and with `given` which devices it has. */
static void add_prebind_task(struct reserving *r, const struct resource_claim *claim,
                             const struct device_allocation *given)
{
    struct names *names = &r->cluster->names;
    struct claim_consumer consumer = consumer_of(r->cluster, r->pod);
    struct patch *patches = arena_array(r->mem, struct patch, 2);
    struct prebind_task prebind_task = {
        .kind = KIND_RESOURCE_CLAIM,
        .namespace = names_get(names, claim->meta.namespace),
        .name = names_get(names, claim->meta.name),
        .version =
            given ? version_of(&claim->meta) : 0, /* others may reserve it at the same time */
        .patches = patches,
    };
    if (given && !claim_has_finalizer(claim))
        patches[prebind_task.n_patches++].meta = claim_write_finalizer(r->mem);
    if (given || !is_reserved(claim, consumer))
        patches[prebind_task.n_patches++] = status_patch(
            given ? STR("") : patch_uid(claim->meta.uid, r->mem), given, consumer, r->mem);
    vec_push(&r->prebind_tasks, prebind_task);
}

/* The devices are the claim's from now on. */
static void promise(struct reserving *r, struct str namespace, struct str claim, struct arena *mem,
                    struct device_allocation *given)
{
    struct names *names = &r->cluster->names;
    given->config.n = 0; /* it is of objects that may change before the promise ends */
    device_allocation_keep(given, mem);
    cluster_promise(r->cluster, (struct promise){names_get(names, namespace),
                                                 names_get(names, claim), mem, given});
}

/* The allocator has found devices for the claim on the pod's node. */
static void give(struct reserving *r, const struct allocator *allocator, uint32_t i,
                 const struct resource_claim *claim)
{
    struct cluster *c = r->cluster;
    struct arena *mem = mem_alloc(sizeof(*mem));
    struct str share = arena_printf(
        r->mem, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(pod_uid(pods_at(&c->pods, r->pod))),
        STR_ARG(claim->meta.uid), STR_ARG(claim->meta.resource_version));
    struct device_allocation *given = allocator_result(allocator, c, i, r->node, share, mem);
    add_prebind_task(r, claim, given);
    promise(r, claim->meta.namespace, claim->meta.name, mem, given);
}

/* A claim for what the node leaves to devices: it is made, the pod is told of it, and then it gets
 * its devices. So a claim that has some is one that its pod knows. */
static void make(struct reserving *r, const struct needs *needs, const struct allocator *allocator,
                 uint32_t mask)
{
    struct cluster *c = r->cluster;
    struct claim_consumer pod = consumer_of(c, r->pod);
    struct arena *mem = mem_alloc(sizeof(*mem));
    struct patch *patches = arena_array(r->mem, struct patch, 3);
    struct str name = extended_name(pod.name, pod.uid, c->devices.generation, r->mem);
    struct device_allocation *given =
        allocator_result(allocator, c, needs->n_wanted, r->node, name, mem);
    const struct resource_claim *claim =
        extended_claim(spec_of(needs), needs->backed, mask, needs->namespace, r->mem);
    request_mapping_list uses = extended_mappings(c, spec_of(needs), needs->backed, mask, r->mem);
    patches[0] = (struct patch){.verb = OBJECT_CREATE,
                                .meta = claim_write_meta(name, pod, r->mem),
                                .body = claim_write_spec(claim, r->mem)};
    patches[1] = (struct patch){
        .kind = KIND_POD,
        .name = pod.name,
        .part = STR("status"),
        .meta = patch_uid(pod.uid, r->mem),
        .body = claim_write_use(name, uses, r->mem),
    };
    patches[2] = status_patch(STR(""), given, pod, r->mem);
    vec_push(&r->prebind_tasks, ((struct prebind_task){
                                    .kind = KIND_RESOURCE_CLAIM,
                                    .namespace = names_get(&c->names, needs->namespace),
                                    .name = names_get(&c->names, name),
                                    .patches = patches,
                                    .n_patches = 3,
                                }));
    promise(r, needs->namespace, name, mem, given);
}

static void reserve(struct reserving *r, const void *cls)
{
    struct needs *needs = (struct needs *)cls;
    uint32_t mask;
    bool fits = split_resources(r->cluster, needs, r->node, &mask);
    assert(fits);
    r->timeout_ms = needs->timeout_ms;
    for (uint32_t i = 0; i < needs->n_allocated; i++)
        add_prebind_task(r, needs->allocated[i].kept->object.resource_claim, NULL);
    if (needs->n_wanted == 0 && mask == 0)
        return;
    struct allocator *allocator = allocator_for(needs, mask);
    enum allocate_outcome (*run)(struct allocator *, const struct cluster *, node_id) =
        needs->picks_gpus ? allocator_run_joined : allocator_run;
    struct effort effort = r->cluster->effort;
    r->cluster->effort = (struct effort){0}; /* there is a solution: nobody needs to wait for it */
    bool is_done = run(allocator, r->cluster, r->node) == ALLOCATE_DONE;
    r->cluster->effort = effort;
    assert(is_done);
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        give(r, allocator, i, needs->wanted[i]);
    if (mask)
        make(r, needs, allocator, mask);
}

static void release(struct cluster *c, const struct prebind_task *e)
{
    devices_break(c, e->namespace, e->name);
}

static enum prebind_state fail(struct prebind_ask *ask, const char *what,
                               const struct resource_claim *claim, const char *rest)
{
    ask->why = arena_printf(ask->mem, "%s" STR_FMT "/" STR_FMT "%s", what,
                            STR_ARG(claim->meta.namespace), STR_ARG(claim->meta.name), rest);
    return PREBIND_FAILED;
}

/* It stands when the claim says so itself; then a device may have to be made ready first. */
static enum prebind_state look(struct prebind_ask *ask)
{
    const struct devices *d = &ask->cluster->devices;
    const struct prebind_task *e = ask->prebind_task;
    const struct kept_object *k = devices_claim(d, e->namespace, e->name);
    if (!k && !ask->is_late && devices_promise(d, e->namespace, e->name))
        return PREBIND_OPEN; /* it was made, and we have not seen it */
    if (!k) {
        ask->is_void = true;
        ask->why = STR("the claim is gone");
        return PREBIND_FAILED;
    }
    const struct resource_claim *claim = k->object.resource_claim;
    bool is_given = claim->status.allocation;
    bool is_ours = is_given && is_reserved(claim, consumer_of(ask->cluster, ask->pod));
    bool may_come = devices_promise(d, e->namespace, e->name) || (is_given && e->version == 0);
    if (!is_ours && !may_come)
        return fail(ask, "claim ", claim,
                    is_given ? " got allocated elsewhere in the meantime"
                             : " got deallocated elsewhere in the meantime");
    if (is_ours && readiness_of(claim) == READY)
        return PREBIND_DONE;
    if (is_ours && readiness_of(claim) == LOST)
        return fail(ask, "device binding failed: claim=", claim, "");
    return ask->is_late ? fail(ask, "device binding timeout: claim=", claim, "") : PREBIND_OPEN;
}

/* --- nowhere to go --- */

/* Only this pod has it, or nobody. */
static bool is_free_but_for(const struct cluster *c, const struct resource_claim *claim, pod_id pod)
{
    return claim->status.reserved_for.n == 0 ||
           (claim->status.reserved_for.n == 1 &&
            str_equal(claim->status.reserved_for.at[0].uid, pod_uid(pods_at(&c->pods, pod))));
}

static struct post_filter_result remove_claim(const struct kept_object *k, struct arena *mem)
{
    struct patch *patches = arena_array(mem, struct patch, 2);
    uint32_t n = 0;
    if (claim_has_finalizer(k->object.resource_claim))
        patches[n++].meta = claim_write_unprotected(k->object.meta, mem);
    patches[n++] = patch_delete(k->object.meta->uid, mem);
    return (struct post_filter_result){"deletion of ResourceClaim completed",
                                       {.kind = KIND_RESOURCE_CLAIM,
                                        .namespace = k->namespace,
                                        .name = k->name,
                                        .patches = patches,
                                        .n_patches = n}};
}

static bool post_filter(const struct cluster *c, const void *cls, pod_id pod,
                        struct post_filter_result *out)
{
    static const struct patch nothing_given = {
        .part = {"status", 6},
        .body = STR("\"status\":{\"allocation\":null,\"devices\":null,\"reservedFor\":null}"),
    };
    struct needs *needs = (struct needs *)cls;
    bool is_found = false;
    for (uint32_t i = 0; i < needs->n_allocated && !is_found; i++) {
        const struct allocated *a = &needs->allocated[i];
        if (needs->in_the_way >> i & 1 && is_free_but_for(c, a->kept->object.resource_claim, pod)) {
            *out = (struct post_filter_result){"deallocation of ResourceClaim completed",
                                               {.kind = KIND_RESOURCE_CLAIM,
                                                .namespace = a->kept->namespace,
                                                .name = a->kept->name,
                                                .version = version_of(a->kept->object.meta),
                                                .patches = &nothing_given,
                                                .n_patches = 1}};
            is_found = true;
        }
    }
    needs->in_the_way = 0;
    if (is_found || !needs->left_claim)
        return is_found;
    *out = remove_claim(needs->left_claim, needs->mem);
    return true;
}

/* --- hints --- */

static bool resolves(const struct cluster *c, const struct shape *shape)
{
    struct arena mem = {0};
    struct str why;
    bool is_gated = gate(c, shape, &mem, &why);
    arena_done(&mem);
    return !is_gated;
}

static bool hint_claim(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    bool is_freed = e->actions & ACTION_CLAIM_FREED, is_own = false;
    if (e->actions & ACTION_DELETE)
        return is_freed;
    if (!resolves(c, shape))
        return false;
    for (uint32_t i = 0; i < spec->n_claims; i++)
        is_own |= spec->claims[i].name == e->name && shape->namespace == e->namespace;
    return is_freed || (is_own && e->actions & (ACTION_ADD | ACTION_CLAIM_STATUS));
}

static bool hint_pod(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)shape;
    return e->new_shape && resolves(c, e->new_shape);
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_ALLOCATABLE, NULL},
    {EVENT_RESOURCE_CLAIM,
     ACTION_ADD | ACTION_UPDATE | ACTION_DELETE | ACTION_CLAIM_FREED | ACTION_CLAIM_STATUS,
     hint_claim},
    {EVENT_TARGET_POD, ACTION_POD_CLAIMS, hint_pod},
    {EVENT_DEVICE_CLASS, ACTION_ADD | ACTION_UPDATE, NULL},
    {EVENT_RESOURCE_SLICE, ACTION_ADD | ACTION_UPDATE, NULL},
    {0},
};

const struct plugin plugin_dynamic_resources = {
    .name = "DynamicResources",
    .key_columns = COLUMN_ALL,
    .class_size = sizeof(struct needs),
    .learn = learn,
    .forget = forget,
    .key = key,
    .key_filter = key_filter,
    .key_score = key_score,
    .gate = gate,
    .post_filter = post_filter,
    .reserve = reserve,
    .look = look,
    .release = release,
    .wakes = wakes,
};
