/* Candidates are one flat list per node; a search goes over it with an index, so that "from here
 * on" is a number. What a trial changes (marks, counters, capacity, constraints, results) is taken
 * back in reverse order.
 *
 * A search that is put down takes all back, too, and keeps where each of its loops stood: the
 * *trail*. To go on it makes those trials again, one for each device found so far. The trail of a
 * solution is kept in the same way, where it was hard to find. */

#include "core/cluster/allocate.h"

#include "core/cluster/allocate_inside.h"
#include "core/cluster/capacity.h"
#include "core/cluster/gpu_sets.h"

enum {
    STEPS_NOTED = 64,     /* of what is not searched again */
    STEPS_ORDERED = 8000, /* in which GPUs are chosen anew for a request */
};

/* --- does a device suit a request? --- */

enum verdict allocate_fail(struct allocator *a, struct str text)
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
    struct str owner = is_class ? ask->class->meta.name : allocate_full_name(claim->claim, &a->run);
    bool is_key = str_starts(why, STR("no such key:"));
    return allocate_fail(
        a, arena_printf(&a->run,
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
        return allocate_fail(a, ask->wrong_text);
    return pools_device_is_here(a->cluster, x, a->node) ? YES : NO;
}

enum verdict allocate_selects(struct allocator *a, const struct claim *claim, struct ask *ask,
                              uint32_t candidate)
{
    uint8_t *matches = &ask->matches[candidate];
    if (*matches == 0 || *matches == 3) {
        enum verdict is = select_device(a, claim, ask, candidate);
        *matches = is == FAILED ? 3 : is == YES ? 2 : 1;
        allocate_spend(a, ask->cost);
        return is;
    }
    return *matches == 2 ? YES : NO;
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

bool allocate_is_tainted(const struct allocator *a, const struct candidate *x,
                         const struct ask *ask)
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

const struct device_attribute *allocate_attribute(const struct candidate *x,
                                                  const struct device_constraint *k)
{
    return find_attribute(x->device, x->slice->spec.driver,
                          k->has_match ? k->match_attribute : k->distinct_attribute);
}

static bool constraint_add(struct constraint *k, const struct candidate *x)
{
    bool is_match = k->from->has_match;
    const struct device_attribute *attribute = allocate_attribute(x, k->from);
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
        if (ask->is_under[i])
            claim->constraints[i].n--;
    if (t->has_counters)
        pools_count(x, -1);
}

enum verdict allocate_fail_capacity(struct allocator *a, const struct claim *claim,
                                    const struct ask *ask, const struct candidate *x,
                                    const char *doing, struct str why)
{
    return allocate_fail(a, arena_printf(&a->run,
                                         "claim " STR_FMT ", request " STR_FMT
                                         ": %s for device " STR_FMT ": " STR_FMT,
                                         STR_ARG(allocate_full_name(claim->claim, &a->run)),
                                         STR_ARG(ask->name.n ? ask->name : ask->request), doing,
                                         STR_ARG(names_text(&a->cluster->names, x->index->id)),
                                         STR_ARG(why)));
}

/* Is there room in its capacity? */
static enum verdict has_capacity(struct allocator *a, const struct claim *claim,
                                 const struct ask *ask, const struct candidate *x)
{
    struct str why = {0};
    enum capacity_verdict is = capacity_check(a->cluster, x, &ask->ask->capacity, &a->run, &why);
    if (is == CAPACITY_WRONG)
        return allocate_fail_capacity(a, claim, ask, x, "checking capacity", why);
    return is == CAPACITY_FITS ? YES : NO;
}

/* The device becomes the claim's, for this trial. */
static enum verdict try_device(struct allocator *a, struct claim *claim, const struct ask *ask,
                               uint32_t candidate, bool must, struct trial *t)
{
    struct candidate *x = &a->pools.candidates[candidate];
    *t = (struct trial){.candidate = candidate};
    if (allocate_is_in_use(a, claim, ask, x) && !(x->device->is_shared && ask->ask->is_admin))
        return NO;
    bool is_counted = x->device->is_shared &&
                      (x->shares || devices_is_shared(&a->cluster->devices, x->index->id));
    if (!is_counted && x->device->consumes.n) {
        if (!pools_count(x, +1))
            return NO;
        t->has_counters = true;
    }
    enum verdict is = allocate_is_tainted(a, x, ask) ? NO : YES;
    for (uint32_t i = 0; is == YES && i < claim->claim->spec.constraints.n; i++) {
        struct constraint *k = &claim->constraints[i];
        if (ask->is_under[i] && !constraint_add(k, x)) {
            is = must ? allocate_fail(
                            a, arena_printf(&a->run,
                                            "claim " STR_FMT ", request " STR_FMT
                                            ": cannot add device " STR_FMT
                                            " because a claim constraint would not be satisfied",
                                            STR_ARG(allocate_full_name(claim->claim, &a->run)),
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
        if (!a->gpus[i] || x->device->is_shared || allocate_is_in_use(a, claim, ask, x) ||
            allocate_is_tainted(a, x, ask))
            continue;
        enum verdict is = allocate_selects(a, claim, ask, i);
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

/* Where a loop begins: at `from`, or where it stood when the search was put down. */
static uint32_t pick_up(struct allocator *a, uint32_t from)
{
    return a->trail.n ? vec_pop(&a->trail) : from;
}

/* A part of the search ends with this verdict: with what its loop is to be picked up, should that
 * be. */
static enum verdict put_down(struct allocator *a, enum verdict is, uint32_t at)
{
    if (is == YES || is == PAUSED)
        vec_push(&a->trail, at);
    return is;
}

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

/* May another candidate be tried? Those of many steps are looked at for whether they are alike. */
static enum verdict turn(struct allocator *a)
{
    enum verdict is = allocate_may_go_on(a);
    if (is == YES && a->steps > a->steps_plain && !a->alike.is_ready && !a->gpus)
        is = alike_learn(a);
    allocate_spend(a, 1);
    return is;
}

static enum verdict search_candidates(struct allocator *a, uint32_t claim_number, uint32_t request,
                                      struct ask *ask, uint32_t index, uint32_t from)
{
    struct claim *claim = &a->claims[claim_number];
    for (uint32_t i = pick_up(a, from); i < a->pools.n_candidates; i++) {
        uint32_t candidate = ask->order ? ask->order[i] : i;
        const struct candidate *x = &a->pools.candidates[candidate];
        enum verdict is = turn(a);
        if (is != YES)
            return put_down(a, is, i);
        if (x->pool->is_incomplete || x->pool->is_invalid || allocate_is_in_use(a, claim, ask, x) ||
            alike_was_tried(a, claim, ask, from, i))
            continue;
        is = allocate_selects(a, claim, ask, candidate);
        is = is == YES ? has_capacity(a, claim, ask, x) : is;
        if (is == YES)
            is = search_with(a, claim_number, request, ask, index, candidate, i + 1, false);
        if (is != NO)
            return put_down(a, is, i);
    }
    return NO;
}

static enum verdict search_device(struct allocator *a, uint32_t claim_number, uint32_t request,
                                  struct ask *ask, uint32_t index, uint32_t from)
{
    struct claim *claim = &a->claims[claim_number];
    bool is_all = ask->all != NULL;
    enum verdict is = allocate_may_go_on(a);
    allocate_spend(a, 1);
    if (is != YES)
        return is;
    if (is_all && ask->wanted == 0)
        return NO;
    if (index >= ask->wanted)
        return allocate_search(a, claim_number, request + 1);
    if (claim->n_found + ask->wanted - index > RESULTS_MOST)
        return TOO_MANY;
    if (is_all)
        return search_with(a, claim_number, request, ask, index, ask->all[index], 0, true);
    if (index == 0 && a->gpus)
        order_gpus(a, claim, ask);
    return search_candidates(a, claim_number, request, ask, index, from);
}

/* One of the alternatives. If all of them need too many devices, so does every way to get here. */
static enum verdict search_choice(struct allocator *a, uint32_t claim, uint32_t number)
{
    struct request *request = &a->claims[claim].requests[number];
    uint32_t begin = pick_up(a, 1); /* which, and whether all before it needed too many */
    bool are_too_many = begin & 1;
    for (uint32_t i = begin >> 1; i < request->n; i++) {
        enum verdict is = search_device(a, claim, number, &a->asks[request->first + i], 0, 0);
        if (is == TOO_MANY)
            continue;
        if (is == YES)
            request->chosen = i;
        if (is != NO)
            return put_down(a, is, i << 1 | are_too_many);
        are_too_many = false;
    }
    return are_too_many ? TOO_MANY : NO;
}

enum verdict allocate_search(struct allocator *a, uint32_t claim, uint32_t number)
{
    if (claim == a->n_claims)
        return YES;
    if (number == a->claims[claim].claim->spec.requests.n) {
        enum verdict is = allocate_search(a, claim + 1, 0);
        return is == TOO_MANY ? NO : is;
    }
    struct request *request = &a->claims[claim].requests[number];
    if (alike_is_dead_end(a, claim, number))
        return NO;
    uint64_t before = a->steps;
    enum verdict is = request->is_choice
                          ? search_choice(a, claim, number)
                          : search_device(a, claim, number, &a->asks[request->first], 0, 0);
    if (is == NO && a->steps - before >= STEPS_NOTED)
        alike_note_dead_end(a, claim, number);
    return is;
}
