/* Candidates are one flat list per node; a search goes over it with an index, so that "from here
 * on" is a number. What a trial changes (marks, counters, capacity, constraints, results) is taken
 * back in reverse order. Steps are counted: where upstream gives up after ten seconds, we do after
 * so many. */

#include "core/cluster/allocate.h"

#include <stdlib.h>

#include "core/cluster/allocate_inside.h"
#include "core/cluster/capacity.h"
#include "core/cluster/gpu_sets.h"
#include "core/cluster/told.h"

enum { STEPS_MOST = 1000 * 1000 }; /* of one search */
enum { STEPS_ORDERED = 1000 };     /* of it, in which GPUs are chosen anew for a request */

enum verdict { NO, YES, TOO_MANY, FAILED };

/* --- what is asked for --- */

static struct str full_name(const struct resource_claim *claim, struct arena *mem)
{
    return arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(claim->meta.namespace),
                        STR_ARG(claim->meta.name));
}

/* Compiles selectors; false once one is wrong, or of an unknown kind. */
static bool add_selectors(struct allocator *a, struct ask *ask, const device_selector_list *from,
                          struct str owner, uint32_t room)
{
    for (uint32_t i = 0; i < from->n; i++) {
        struct str why = {0};
        assert(ask->n_selectors < room);
        const struct cel *cel = cel_compile(from->at[i].expression, a->mem, &why);
        if (!cel) {
            ask->wrong_at = ask->n_selectors;
            ask->wrong_text =
                arena_printf(a->mem, STR_FMT ": selector #%u: CEL compile error: " STR_FMT,
                             STR_ARG(owner), i, STR_ARG(why));
            return false;
        }
        ask->selectors[ask->n_selectors++] = cel;
    }
    return true;
}

/* What makes a request impossible to judge, wherever it is asked. */
static struct str find_wrong(struct allocator *a, const struct ask *ask,
                             const struct resource_claim *claim)
{
    struct str who = arena_printf(a->mem, "claim " STR_FMT ", request " STR_FMT,
                                  STR_ARG(full_name(claim, a->mem)),
                                  STR_ARG(ask->name.n ? ask->name : ask->request));
    const struct device_ask *from = ask->ask;
    if (from->derived.n)
        return arena_printf(a->mem,
                            STR_FMT ": cannot handle request with derived attributes, the feature "
                                    "is disabled",
                            STR_ARG(who));
    for (uint32_t i = 0; i < from->selectors.n; i++)
        if (from->selectors.at[i].expression.n == 0)
            return arena_printf(a->mem,
                                STR_FMT ", selector #%u: CEL expression empty (unsupported "
                                        "selector type?)",
                                STR_ARG(who), i);
    if (!ask->class)
        return arena_printf(a->mem, STR_FMT ": could not retrieve device class " STR_FMT,
                            STR_ARG(who), STR_ARG(from->class));
    if (!str_equal(from->mode, STR("All")) && !str_equal(from->mode, STR("ExactCount")))
        return arena_printf(a->mem, STR_FMT ": unsupported count mode " STR_FMT, STR_ARG(who),
                            STR_ARG(from->mode));
    return (struct str){0};
}

static void read_ask(struct allocator *a, struct cluster *c, const struct resource_claim *claim,
                     struct str request, const struct device_ask *from)
{
    struct ask *ask = &a->asks[a->n_asks++];
    *ask =
        (struct ask){.ask = from, .request = request, .name = from->name, .wrong_at = UINT32_MAX};
    ask->class = devices_class(&c->devices, names_find(&c->names, from->class));
    ask->wrong = find_wrong(a, ask, claim);
    if (ask->wrong.n)
        return;
    uint32_t room = ask->class->selectors.n + from->selectors.n;
    ask->selectors = arena_array(a->mem, const struct cel *, room);
    struct str class = arena_printf(a->mem, "class " STR_FMT, STR_ARG(ask->class->meta.name));
    struct str own = arena_printf(a->mem, "claim " STR_FMT, STR_ARG(full_name(claim, a->mem)));
    if (add_selectors(a, ask, &ask->class->selectors, class, room))
        add_selectors(a, ask, &from->selectors, own, room);
}

static void read_claim(struct allocator *a, struct cluster *c, struct claim *to)
{
    const struct resource_claim *claim = to->claim;
    to->requests = arena_array(a->mem, struct request, claim->spec.requests.n);
    to->constraints = arena_array(a->mem, struct constraint, claim->spec.constraints.n);
    for (uint32_t i = 0; i < claim->spec.constraints.n; i++)
        to->constraints[i].from = &claim->spec.constraints.at[i];
    for (uint32_t i = 0; i < claim->spec.requests.n; i++) {
        const struct device_request *r = &claim->spec.requests.at[i];
        struct request *request = &to->requests[i];
        *request = (struct request){.first = a->n_asks, .is_choice = r->first_available.n > 0};
        if (r->exactly && !request->is_choice)
            read_ask(a, c, claim, r->name, r->exactly);
        list_each(&r->first_available, one)
            read_ask(a, c, claim, r->name, one);
        request->n = a->n_asks - request->first;
    }
}

struct allocator *allocator_new(struct cluster *c, const struct resource_claim *const *claims,
                                uint32_t n, struct arena *mem)
{
    struct allocator *a = arena_alloc(mem, sizeof(*a));
    uint32_t asks = 0;
    a->mem = mem;
    a->claims = arena_array(mem, struct claim, n);
    a->n_claims = n;
    for (uint32_t i = 0; i < n; i++)
        list_each(&claims[i]->spec.requests, request)
            asks += MAX(1u, request->first_available.n);
    a->asks = arena_array(mem, struct ask, asks);
    for (uint32_t i = 0; i < n; i++) {
        a->claims[i].claim = claims[i];
        read_claim(a, c, &a->claims[i]);
    }
    return a;
}

/* --- does a device suit a request? --- */

static enum verdict fail(struct allocator *a, struct str text)
{
    a->error = text;
    return FAILED;
}

static struct str device_text(const struct allocator *a, uint32_t candidate)
{
    return names_text(&a->cluster->names, a->pools.candidates[candidate].index->id);
}

/* Who asks: a selector of the class, or of the claim. */
static enum verdict fail_selector(struct allocator *a, const struct claim *claim,
                                  const struct ask *ask, uint32_t selector, uint32_t candidate,
                                  struct str why)
{
    bool is_class = selector < ask->class->selectors.n;
    struct str owner = is_class ? ask->class->meta.name : full_name(claim->claim, &a->run);
    bool is_key = str_starts(why, STR("no such key:"));
    return fail(a, arena_printf(&a->run,
                                "%s " STR_FMT ": selector #%u on device " STR_FMT
                                ": CEL runtime error: " STR_FMT "%s",
                                is_class ? "class" : "claim", STR_ARG(owner),
                                is_class ? selector : selector - ask->class->selectors.n,
                                STR_ARG(device_text(a, candidate)), STR_ARG(why),
                                is_key ? ". consider using CEL optional chaining (.? followed by "
                                         "orValue()) or guarding the check with has() for "
                                         "optional fields"
                                       : ""));
}

static enum verdict select_device(struct allocator *a, const struct claim *claim,
                                  const struct ask *ask, uint32_t candidate)
{
    const struct candidate *x = &a->pools.candidates[candidate];
    for (uint32_t i = 0; i < ask->n_selectors; i++) {
        struct str why = {0};
        enum cel_outcome is =
            cel_match(ask->selectors[i], x->slice->spec.driver, x->device, &a->run, &why);
        if (is == CEL_FAILED)
            return fail_selector(a, claim, ask, i, candidate, why);
        if (is == CEL_NO)
            return NO;
    }
    if (ask->wrong_at != UINT32_MAX)
        return fail(a, ask->wrong_text);
    return pools_device_is_here(a->cluster, x, a->node) ? YES : NO;
}

static enum verdict is_selectable(struct allocator *a, const struct claim *claim, struct ask *ask,
                                  uint32_t candidate)
{
    if (ask->matches[candidate] == 0) {
        enum verdict is = select_device(a, claim, ask, candidate);
        if (is == FAILED)
            return FAILED;
        ask->matches[candidate] = is == YES ? 2 : 1;
    }
    return ask->matches[candidate] == 2 ? YES : NO;
}

static bool is_tolerated(const struct device_taint *taint, const struct ask *ask)
{
    list_each(&ask->ask->tolerations, t) {
        bool is_about = (t->effect.n == 0 || str_equal(t->effect, taint->effect)) &&
                        (t->key.n == 0 || str_equal(t->key, taint->key));
        bool is_equal = t->op.n == 0 || str_equal(t->op, STR("Equal"));
        if (is_about &&
            ((is_equal && str_equal(t->value, taint->value)) || str_equal(t->op, STR("Exists"))))
            return true;
    }
    return false;
}

static bool forbids(const struct device_taint *taint, const struct ask *ask)
{
    return (str_equal(taint->effect, STR("NoExecute")) ||
            str_equal(taint->effect, STR("NoSchedule"))) &&
           !is_tolerated(taint, ask);
}

static bool rule_applies(const struct device_taint_rule *rule, const struct candidate *x)
{
    const struct device_taint_selector *s = rule->selector;
    return !s || ((!s->has_driver || str_equal(s->driver, x->slice->spec.driver)) &&
                  (!s->has_pool || str_equal(s->pool, x->slice->spec.pool.name)) &&
                  (!s->has_device || str_equal(s->device, x->device->name)));
}

static bool is_tainted(const struct allocator *a, const struct candidate *x, const struct ask *ask)
{
    list_each(&x->device->taints, taint)
        if (forbids(taint, ask))
            return true;
    vec_each(&a->cluster->devices.of[KEPT_TAINT_RULE].at, k)
        if (k->mem && rule_applies(k->object.device_taint_rule, x) &&
            forbids(&k->object.device_taint_rule->taint, ask))
            return true;
    return false;
}

/* --- constraints --- */

static bool concerns(const struct device_constraint *c, const struct ask *ask, struct arena *mem)
{
    struct str full = ask->name.n ? arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(ask->request),
                                                 STR_ARG(ask->name))
                                  : ask->request;
    if (c->requests.n == 0)
        return true;
    list_each(&c->requests, name)
        if (str_equal(*name, ask->request) || str_equal(*name, full))
            return true;
    return false;
}

static const struct device_attribute *find_attribute(const struct device *device, struct str driver,
                                                     struct str name)
{
    size_t slash = str_find(name, '/');
    bool is_own = str_equal(str_part(name, 0, slash), driver);
    const struct device_attribute *bare = NULL;
    list_each(&device->attributes, a) {
        if (str_equal(a->name, name))
            return a;
        if (is_own && slash < name.n && str_equal(a->name, str_part(name, slash + 1, name.n)))
            bare = a;
    }
    return bare;
}

static bool constraint_add(struct constraint *k, const struct candidate *x)
{
    bool is_match = k->from->has_match;
    const struct device_attribute *attribute =
        find_attribute(x->device, x->slice->spec.driver,
                       is_match ? k->from->match_attribute : k->from->distinct_attribute);
    if (!attribute)
        return false;
    if (is_match && k->n && !attribute_equal(attribute, k->attribute))
        return false;
    for (uint32_t i = 0; !is_match && i < k->n; i++)
        if (attribute_type(attribute) == ATTRIBUTE_NONE || attribute_equal(attribute, k->seen[i]))
            return false;
    if (k->n == 0)
        k->attribute = attribute;
    assert(k->n < RESULTS_MOST);
    k->seen[k->n++] = attribute;
    return true;
}

/* --- the search --- */

/* One device of a trial, and what to take back of it. */
struct trial {
    uint32_t candidate;
    bool has_counters, is_marked;
    uint32_t constraints;
    struct capacity_share *share; /* NULL: none */
};

static void take_back(struct allocator *a, struct claim *claim, const struct ask *ask,
                      const struct trial *t)
{
    struct candidate *x = &a->pools.candidates[t->candidate];
    uint64_t bit = (uint64_t)1 << (claim - a->claims);
    if (t->share)
        capacity_take_back(x, t->share);
    if (t->is_marked)
        x->given_to &= ~bit;
    for (uint32_t i = t->constraints; i-- > 0;)
        if (concerns(claim->constraints[i].from, ask, &a->run))
            claim->constraints[i].n--;
    if (t->has_counters)
        pools_count(x, -1);
}

static bool is_in_use(const struct allocator *a, const struct claim *claim, const struct ask *ask,
                      const struct candidate *x)
{
    uint64_t bit = (uint64_t)1 << (claim - a->claims);
    if (ask->ask->is_admin)
        return x->given_to & bit;
    return x->given_to || devices_is_taken(&a->cluster->devices, x->index->id);
}

static enum verdict fail_capacity(struct allocator *a, const struct claim *claim,
                                  const struct ask *ask, const struct candidate *x,
                                  const char *doing, struct str why)
{
    return fail(a,
                arena_printf(&a->run,
                             "claim " STR_FMT ", request " STR_FMT ": %s for device " STR_FMT
                             ": " STR_FMT,
                             STR_ARG(full_name(claim->claim, &a->run)),
                             STR_ARG(ask->name.n ? ask->name : ask->request), doing,
                             STR_ARG(names_text(&a->cluster->names, x->index->id)), STR_ARG(why)));
}

/* Is there room in its capacity? */
static enum verdict has_capacity(struct allocator *a, const struct claim *claim,
                                 const struct ask *ask, const struct candidate *x)
{
    struct str why = {0};
    enum capacity_verdict is = capacity_check(a->cluster, x, &ask->ask->capacity, &a->run, &why);
    if (is == CAPACITY_WRONG)
        return fail_capacity(a, claim, ask, x, "checking capacity", why);
    return is == CAPACITY_FITS ? YES : NO;
}

/* The device becomes the claim's, for this trial. */
static enum verdict try_device(struct allocator *a, struct claim *claim, const struct ask *ask,
                               uint32_t candidate, bool must, struct trial *t)
{
    struct candidate *x = &a->pools.candidates[candidate];
    *t = (struct trial){.candidate = candidate};
    if (is_in_use(a, claim, ask, x) && !(x->device->is_shared && ask->ask->is_admin))
        return NO;
    bool is_counted = x->device->is_shared &&
                      (x->shares || devices_is_shared(&a->cluster->devices, x->index->id));
    if (!is_counted && x->device->consumes.n) {
        if (!pools_count(x, +1))
            return NO;
        t->has_counters = true;
    }
    enum verdict is = is_tainted(a, x, ask) ? NO : YES;
    for (uint32_t i = 0; is == YES && i < claim->claim->spec.constraints.n; i++) {
        struct constraint *k = &claim->constraints[i];
        if (concerns(k->from, ask, &a->run) && !constraint_add(k, x)) {
            is = must ? fail(a, arena_printf(&a->run,
                                             "claim " STR_FMT ", request " STR_FMT
                                             ": cannot add device " STR_FMT
                                             " because a claim constraint would not be satisfied",
                                             STR_ARG(full_name(claim->claim, &a->run)),
                                             STR_ARG(ask->name.n ? ask->name : ask->request),
                                             STR_ARG(device_text(a, candidate))))
                      : NO;
            break;
        }
        t->constraints++;
    }
    if (is == YES && !x->device->is_shared) {
        x->given_to |= (uint64_t)1 << (claim - a->claims);
        t->is_marked = true;
    }
    if (is == YES)
        is = has_capacity(a, claim, ask, x);
    if (is == YES && x->device->is_shared)
        t->share = capacity_take(x, &ask->ask->capacity, &a->run);
    if (is != YES) {
        take_back(a, claim, ask, t);
        return is;
    }
    claim->found[claim->n_found++] = (struct found){candidate, ask};
    return YES;
}

/* --- the best GPUs first --- */

/* The node's GPUs that the request could have now; false: one of them cannot be judged. */
static bool gpus_for(struct allocator *a, const struct claim *claim, struct ask *ask, gpu_mask *out)
{
    *out = 0;
    for (uint32_t i = 0; i < a->pools.n_candidates; i++) {
        const struct candidate *x = &a->pools.candidates[i];
        if (!a->gpus[i] || x->device->is_shared || is_in_use(a, claim, ask, x) ||
            is_tainted(a, x, ask))
            continue;
        enum verdict is = is_selectable(a, claim, ask, i);
        if (is == FAILED)
            return false;
        *out |= (gpu_mask)(is == YES) << (a->gpus[i] - 1);
    }
    return true;
}

/* The candidates that are of the set come first, all others after them. */
static void order_gpus(struct allocator *a, const struct claim *claim, struct ask *ask)
{
    const struct node_gpus *g = a->cluster->nodes.gpus[a->node.i];
    gpu_mask any, best = 0;
    uint32_t n = 0;
    if (ask->order && a->steps > STEPS_ORDERED)
        return;
    if (gpus_for(a, claim, ask, &any)) {
        gpu_mask idle = any & gpus_idle(g);
        any = (uint32_t)__builtin_popcount(idle) >= ask->wanted ? idle : any;
        if ((uint32_t)__builtin_popcount(any) >= ask->wanted)
            best = gpu_sets_best(g, any, ask->wanted);
    }
    if (!ask->order)
        ask->order = arena_array(&a->run, uint32_t, a->pools.n_candidates + 1);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < a->pools.n_candidates; i++) {
            bool is_best = a->gpus[i] && best >> (a->gpus[i] - 1) & 1;
            if (is_best == (pass == 0))
                ask->order[n++] = i;
        }
}

/* --- the search itself --- */

static enum verdict search_request(struct allocator *a, uint32_t claim, uint32_t request);

/* Device number `index` of the ask, from candidate `from` on; then all that follows. */
static enum verdict search_device(struct allocator *a, uint32_t claim_number, uint32_t request,
                                  struct ask *ask, uint32_t index, uint32_t from);

/* Tries one candidate, and all that follows from `next` on; what did not work out is taken back. */
static enum verdict search_with(struct allocator *a, uint32_t claim_number, uint32_t request,
                                struct ask *ask, uint32_t index, uint32_t candidate, uint32_t next,
                                bool must)
{
    struct claim *claim = &a->claims[claim_number];
    struct trial trial;
    enum verdict is = try_device(a, claim, ask, candidate, must, &trial);
    if (is != YES)
        return is;
    is = search_device(a, claim_number, request, ask, index + 1, next);
    if (is != YES) {
        claim->n_found--;
        take_back(a, claim, ask, &trial);
    }
    return is;
}

static enum verdict search_device(struct allocator *a, uint32_t claim_number, uint32_t request,
                                  struct ask *ask, uint32_t index, uint32_t from)
{
    struct claim *claim = &a->claims[claim_number];
    bool is_all = ask->all != NULL;
    if (++a->steps > STEPS_MOST)
        return fail(
            a, arena_printf(
                   &a->run, "node " STR_FMT ": timed out trying to allocate devices",
                   STR_ARG(names_text(&a->cluster->names, a->cluster->nodes.name[a->node.i]))));
    if (is_all && ask->wanted == 0)
        return NO;
    if (index >= ask->wanted)
        return search_request(a, claim_number, request + 1);
    if (claim->n_found + ask->wanted - index > RESULTS_MOST)
        return TOO_MANY;
    if (is_all)
        return search_with(a, claim_number, request, ask, index, ask->all[index], 0, true);
    if (index == 0 && a->gpus)
        order_gpus(a, claim, ask);
    for (uint32_t i = from; i < a->pools.n_candidates; i++) {
        uint32_t candidate = ask->order ? ask->order[i] : i;
        const struct candidate *x = &a->pools.candidates[candidate];
        if (x->pool->is_incomplete || x->pool->is_invalid || is_in_use(a, claim, ask, x))
            continue;
        enum verdict is = is_selectable(a, claim, ask, candidate);
        is = is == YES ? has_capacity(a, claim, ask, x) : is;
        if (is == YES)
            is = search_with(a, claim_number, request, ask, index, candidate, i + 1, false);
        if (is != NO)
            return is;
    }
    return NO;
}

/* One of the alternatives. If all of them need too many devices, so does every way to get here. */
static enum verdict search_choice(struct allocator *a, uint32_t claim, uint32_t number)
{
    struct request *request = &a->claims[claim].requests[number];
    bool are_too_many = true;
    for (uint32_t i = 0; i < request->n; i++) {
        enum verdict is = search_device(a, claim, number, &a->asks[request->first + i], 0, 0);
        if (is == TOO_MANY)
            continue;
        are_too_many = false;
        if (is == YES)
            request->chosen = i;
        if (is != NO)
            return is;
    }
    return are_too_many ? TOO_MANY : NO;
}

static enum verdict search_request(struct allocator *a, uint32_t claim, uint32_t number)
{
    if (claim == a->n_claims)
        return YES;
    if (number == a->claims[claim].claim->spec.requests.n) {
        enum verdict is = search_request(a, claim + 1, 0);
        return is == TOO_MANY ? NO : is;
    }
    struct request *request = &a->claims[claim].requests[number];
    if (request->is_choice)
        return search_choice(a, claim, number);
    return search_device(a, claim, number, &a->asks[request->first], 0, 0);
}

/* --- one node --- */

/* Mode All: which devices that is. */
static enum verdict list_all(struct allocator *a, const struct claim *claim, struct ask *ask)
{
    struct str who = arena_printf(&a->run, "claim " STR_FMT ", request " STR_FMT,
                                  STR_ARG(full_name(claim->claim, &a->run)),
                                  STR_ARG(ask->name.n ? ask->name : ask->request));
    ask->all = arena_array(&a->run, uint32_t, a->pools.n_candidates + 1);
    ask->wanted = 0;
    for (uint32_t p = 0, i = 0; p < a->pools.n; p++) {
        const struct pool *pool = &a->pools.at[p];
        if (pool->is_incomplete || pool->is_invalid)
            return fail(a, arena_printf(&a->run,
                                        STR_FMT ": asks for all devices, but resource pool " STR_FMT
                                                "/" STR_FMT " is currently %s",
                                        STR_ARG(who), STR_ARG(pool->driver), STR_ARG(pool->name),
                                        pool->is_incomplete ? "being updated" : "invalid"));
        for (; i < a->pools.n_candidates && a->pools.candidates[i].pool == pool; i++) {
            enum verdict is = is_selectable(a, claim, ask, i);
            struct str why = {0};
            if (is == FAILED)
                return is;
            enum capacity_verdict fits = CAPACITY_LACKS;
            if (is == YES)
                fits = capacity_check_alone(&a->pools.candidates[i], &ask->ask->capacity, &a->run,
                                            &why);
            if (fits == CAPACITY_WRONG)
                return fail_capacity(a, claim, ask, &a->pools.candidates[i], "checking capacity",
                                     why);
            if (fits == CAPACITY_FITS)
                ask->all[ask->wanted++] = i;
        }
    }
    return YES;
}

/* Reads what depends on the node; counts the fewest devices that the request needs. */
static enum verdict prepare_request(struct allocator *a, const struct claim *claim,
                                    const struct request *request, uint32_t *fewest)
{
    *fewest = UINT32_MAX;
    for (uint32_t i = 0; i < request->n; i++) {
        struct ask *ask = &a->asks[request->first + i];
        ask->matches = arena_array(&a->run, uint8_t, a->pools.n_candidates + 1);
        ask->all = ask->order = NULL;
        if (ask->wrong.n)
            return fail(a, ask->wrong);
        ask->wanted = (uint32_t)MIN(MAX(ask->ask->count, 0), INT32_MAX);
        if (str_equal(ask->ask->mode, STR("All")) && list_all(a, claim, ask) == FAILED)
            return FAILED;
        *fewest = MIN(*fewest, ask->wanted);
    }
    return YES;
}

static enum verdict prepare_claim(struct allocator *a, struct claim *claim)
{
    uint64_t fewest = 0;
    claim->n_found = 0;
    for (uint32_t i = 0; i < claim->claim->spec.requests.n; i++) {
        uint32_t of_request;
        if (prepare_request(a, claim, &claim->requests[i], &of_request) == FAILED)
            return FAILED;
        fewest += of_request;
    }
    if (fewest > RESULTS_MOST)
        return fail(a, arena_printf(&a->run,
                                    "claim " STR_FMT ": number of requested devices %lu exceeds "
                                    "the claim limit of %d",
                                    STR_ARG(full_name(claim->claim, &a->run)),
                                    (unsigned long)fewest, RESULTS_MOST));
    for (uint32_t i = 0; i < claim->claim->spec.constraints.n; i++) {
        const struct device_constraint *from = claim->constraints[i].from;
        claim->constraints[i].n = 0;
        if (!from->has_match && !from->has_distinct)
            return fail(a, arena_printf(&a->run,
                                        "claim " STR_FMT ", constraint #%u: empty constraint "
                                        "(unsupported constraint type?)",
                                        STR_ARG(full_name(claim->claim, &a->run)), i));
    }
    return YES;
}

/* Which candidates are GPUs that the node has books of. */
static void number_gpus(struct allocator *a)
{
    struct told_gpus told;
    const struct node_gpus *g = a->cluster->nodes.gpus[a->node.i];
    if (!g || g->n == 0)
        return;
    told_read(a->cluster, a->node, &a->run, &told);
    a->gpus = arena_array(&a->run, uint8_t, a->pools.n_candidates + 1);
    for (uint32_t i = 0; i < a->pools.n_candidates; i++)
        for (uint32_t k = 0; k < told.n; k++)
            if (told.there >> k & g->there >> k & 1 &&
                told.at[k].id == a->pools.candidates[i].index->id)
                a->gpus[i] = (uint8_t)(k + 1);
}

static enum allocate_outcome run(struct allocator *a, const struct cluster *c, node_id node,
                                 bool is_joined)
{
    arena_reset(&a->run);
    a->cluster = c;
    a->node = node;
    a->steps = 0;
    a->gpus = NULL;
    if (a->n_claims > 64) {
        fail(a, STR("not supported yet: more than 64 claims"));
        return ALLOCATE_FAILED;
    }
    a->pools = pools_gather(c, node, &a->run);
    if (is_joined)
        number_gpus(a);
    for (uint32_t i = 0; i < a->n_claims; i++)
        if (prepare_claim(a, &a->claims[i]) == FAILED)
            return ALLOCATE_FAILED;
    enum verdict is = search_request(a, 0, 0);
    if (is == TOO_MANY)
        is = fail(a, STR("allocation max size exceeded"));
    if (is == FAILED)
        return ALLOCATE_FAILED;
    for (uint32_t i = 0; is != YES && i < a->pools.n; i++)
        if (a->pools.at[i].is_invalid)
            return ALLOCATE_INVALID;
    return is == YES ? ALLOCATE_DONE : ALLOCATE_NOTHING;
}

enum allocate_outcome allocator_run(struct allocator *a, const struct cluster *c, node_id node)
{
    return run(a, c, node, false);
}

static bool has_choices(const struct allocator *a)
{
    for (uint32_t i = 0; i < a->n_claims; i++)
        for (uint32_t r = 0; r < a->claims[i].claim->spec.requests.n; r++)
            if (a->claims[i].requests[r].is_choice)
                return true;
    return false;
}

enum allocate_outcome allocator_run_joined(struct allocator *a, const struct cluster *c,
                                           node_id node)
{
    enum allocate_outcome is = run(a, c, node, true);
    if (is == ALLOCATE_DONE && !has_choices(a))
        return is;
    int64_t rank = is == ALLOCATE_DONE ? allocator_score(a) : -1;
    is = run(a, c, node, false);
    if (is == ALLOCATE_DONE && rank >= allocator_score(a))
        is = run(a, c, node, true);
    return is;
}

void allocator_done(struct allocator *a)
{
    arena_done(&a->run);
}

struct str allocator_error(const struct allocator *a)
{
    return a->error;
}

int64_t allocator_score(const struct allocator *a)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < a->n_claims; i++)
        for (uint32_t r = 0; r < a->claims[i].claim->spec.requests.n; r++)
            if (a->claims[i].requests[r].is_choice)
                score += ALTERNATIVES_MOST - (int64_t)a->claims[i].requests[r].chosen;
    return score;
}
