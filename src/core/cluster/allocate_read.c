/* What claims ask for, read once: selectors compiled, classes looked up, and which constraints are
 * about which request. */

#include "core/cluster/allocate_inside.h"

struct str allocate_full_name(const struct resource_claim *claim, struct arena *mem)
{
    return arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(claim->meta.namespace),
                        STR_ARG(claim->meta.name));
}

/* Is the constraint about the request, or this alternative of it? */
static bool concerns(const struct device_constraint *c, const struct ask *ask, struct arena *mem)
{
    struct str full = ask->name.n ? arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(ask->request),
                                                 STR_ARG(ask->name))
                                  : ask->request;
    list_each(&c->requests, name)
        if (str_equal(*name, ask->request) || str_equal(*name, full))
            return true;
    return c->requests.n == 0;
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
        ask->cost += 1 + (uint32_t)(from->at[i].expression.n / 32);
    }
    return true;
}

/* What makes a request impossible to judge, wherever it is asked. */
static struct str find_wrong(struct allocator *a, const struct ask *ask,
                             const struct resource_claim *claim)
{
    struct str who = arena_printf(a->mem, "claim " STR_FMT ", request " STR_FMT,
                                  STR_ARG(allocate_full_name(claim, a->mem)),
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
    ask->is_under = arena_array(a->mem, bool, claim->spec.constraints.n);
    for (uint32_t i = 0; i < claim->spec.constraints.n; i++)
        ask->is_under[i] = concerns(&claim->spec.constraints.at[i], ask, a->mem);
    ask->class = devices_class(&c->devices, names_find(&c->names, from->class));
    ask->wrong = find_wrong(a, ask, claim);
    if (ask->wrong.n)
        return;
    uint32_t room = ask->class->selectors.n + from->selectors.n;
    ask->selectors = arena_array(a->mem, const struct cel *, room);
    struct str class = arena_printf(a->mem, "class " STR_FMT, STR_ARG(ask->class->meta.name));
    struct str own =
        arena_printf(a->mem, "claim " STR_FMT, STR_ARG(allocate_full_name(claim, a->mem)));
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

void allocator_set_time(struct allocator *a, int64_t ms)
{
    a->most = (uint64_t)MIN(ms, INT64_MAX / STEPS_A_MS) * STEPS_A_MS;
}

struct allocator *allocator_new(struct cluster *c, const struct resource_claim *const *claims,
                                uint32_t n, struct arena *mem)
{
    struct allocator *a = arena_alloc(mem, sizeof(*a));
    uint32_t asks = 0;
    a->mem = mem;
    a->effort = &c->effort;
    a->steps_plain = 64; /* most searches have ended by then */
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
