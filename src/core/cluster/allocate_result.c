/* A solution as a claim's status says it: devices, their configuration, and where they are good. */

#include "core/base/hash.h"
#include "core/cluster/allocate_inside.h"
#include "core/cluster/capacity.h"

/* --- what it comes to --- */

static bool has_requirement(const struct requirement *all, uint32_t n, const struct requirement *r)
{
    for (uint32_t i = 0; i < n; i++) {
        bool is_same = str_equal(all[i].key, r->key) && str_equal(all[i].op, r->op) &&
                       all[i].values.n == r->values.n;
        for (uint32_t v = 0; is_same && v < r->values.n; v++)
            is_same = str_equal(all[i].values.at[v], r->values.at[v]);
        if (is_same)
            return true;
    }
    return false;
}

/* Appends what is new, in room for `n` more. */
static void merge(struct requirement **all, uint32_t *n_all, const struct requirement *more,
                  uint32_t n, struct arena *mem)
{
    struct requirement *both = arena_array(mem, struct requirement, *n_all + n);
    if (*n_all)
        memcpy(both, *all, *n_all * sizeof(*both));
    for (uint32_t i = 0; i < n; i++)
        if (!has_requirement(both, *n_all, &more[i]))
            both[(*n_all)++] = more[i];
    *all = both;
}

static struct node_selector *this_node(struct str name, struct arena *mem)
{
    struct node_selector *s = arena_alloc(mem, sizeof(*s));
    struct requirement *is = arena_alloc(mem, sizeof(*is));
    struct str *value = arena_alloc(mem, sizeof(*value));
    s->terms.at = arena_array(mem, struct node_selector_term, 1);
    s->terms.n = 1;
    *value = name;
    *is = (struct requirement){STR("metadata.name"), STR("In"), {value, 1}};
    s->terms.at[0].match_fields.at = is;
    s->terms.at[0].match_fields.n = 1;
    return s;
}

/* Where the devices can be used: on this node, or wherever all of them are; NULL: anywhere. */
static struct node_selector *where(const struct allocator *a, const struct claim *claim,
                                   struct str node, struct arena *mem)
{
    struct node_selector *s = arena_alloc(mem, sizeof(*s));
    s->terms.at = arena_array(mem, struct node_selector_term, 1);
    s->terms.n = 1;
    struct node_selector_term *term = s->terms.at;
    for (uint32_t i = 0; i < claim->n_found; i++) {
        const struct candidate *x = &a->pools.candidates[claim->found[i].candidate];
        bool is_own = x->slice->spec.per_device;
        struct str name = is_own ? x->device->node_name : x->slice->spec.node_name;
        const struct node_selector *more =
            is_own ? x->device->node_selector : x->slice->spec.node_selector;
        if (name.n || x->device->binds_to_node)
            return this_node(node, mem);
        for (uint32_t t = 0; more && t < more->terms.n; t++) {
            const struct node_selector_term *from = &more->terms.at[t];
            merge(&term->match_fields.at, &term->match_fields.n, from->match_fields.at,
                  from->match_fields.n, mem);
            merge(&term->match_expressions.at, &term->match_expressions.n,
                  from->match_expressions.at, from->match_expressions.n, mem);
        }
    }
    return term->match_fields.n || term->match_expressions.n ? s : NULL;
}

/* In the form of a UUID. */
static struct str share_id(struct str share, uint32_t claim, uint32_t i, struct arena *mem)
{
    uint64_t a = hash_pair(hash_bytes(share.p, share.n), (uint64_t)claim << 32 | i);
    uint64_t b = hash_pair(a, share.n);
    return arena_printf(mem, "%08x-%04x-4%03x-%04x-%012lx", (unsigned)(a >> 32),
                        (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                        (unsigned)(b >> 48 & 0x3fff) | 0x8000, (unsigned long)(b & 0xffffffffffff));
}

/* --- configuration --- */

static struct str chosen_name(const struct allocator *a, const struct claim *claim, uint32_t r,
                              struct arena *mem)
{
    const struct request *request = &claim->requests[r];
    const struct ask *ask = &a->asks[request->first + request->chosen];
    return ask->name.n
               ? arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(ask->request), STR_ARG(ask->name))
               : ask->request;
}

static bool names_one(const str_list *all, struct str a, struct str b)
{
    list_each(all, name)
        if (str_equal(*name, a) || str_equal(*name, b))
            return true;
    return false;
}

/* A list of requests that covers all of them is none. */
static void shorten(const struct allocator *a, const struct claim *claim, str_list *requests,
                    struct arena *mem)
{
    for (uint32_t r = 0; r < claim->claim->spec.requests.n; r++)
        if (!names_one(requests, claim->claim->spec.requests.at[r].name,
                       chosen_name(a, claim, r, mem)))
            return;
    requests->n = 0;
}

/* The requests that got devices of this class. */
static str_list requests_of(const struct allocator *a, const struct claim *claim,
                            const struct device_class *class, struct arena *mem)
{
    uint32_t n = claim->claim->spec.requests.n;
    str_list all = {arena_array(mem, struct str, n), 0};
    for (uint32_t r = 0; r < n; r++) {
        const struct request *request = &claim->requests[r];
        if (a->asks[request->first + request->chosen].class == class)
            all.at[all.n++] = chosen_name(a, claim, r, mem);
    }
    return all;
}

static void add_config(const struct allocator *a, const struct claim *claim,
                       struct device_allocation *out, struct given_config config, struct arena *mem)
{
    if (config.requests.n)
        shorten(a, claim, &config.requests, mem);
    out->config.at[out->config.n++] = config;
}

/* What the classes say, each once, then what the claim says about requests as they were chosen. */
static void list_config(const struct allocator *a, const struct claim *claim,
                        struct device_allocation *out, struct arena *mem)
{
    uint32_t n = claim->claim->spec.requests.n, most = claim->claim->spec.config.n;
    for (uint32_t r = 0; r < n; r++)
        most += a->asks[claim->requests[r].first + claim->requests[r].chosen].class->config.n;
    out->config.at = arena_array(mem, struct given_config, most);
    for (uint32_t r = 0; r < n; r++) {
        const struct device_class *class =
            a->asks[claim->requests[r].first + claim->requests[r].chosen].class;
        bool is_new = true;
        for (uint32_t k = 0; k < r; k++)
            is_new &= a->asks[claim->requests[k].first + claim->requests[k].chosen].class != class;
        for (uint32_t i = 0; is_new && i < class->config.n; i++)
            add_config(a, claim, out,
                       (struct given_config){true, requests_of(a, claim, class, mem),
                                             &class->config.at[i]},
                       mem);
    }
    list_each(&claim->claim->spec.config, config) {
        bool is_about = config->requests.n == 0;
        for (uint32_t r = 0; r < n; r++)
            is_about |= names_one(&config->requests, claim->claim->spec.requests.at[r].name,
                                  chosen_name(a, claim, r, mem));
        if (is_about)
            add_config(a, claim, out, (struct given_config){false, config->requests, config}, mem);
    }
}

struct device_allocation *allocator_result(const struct allocator *a, const struct cluster *c,
                                           uint32_t claim, node_id node, struct str share,
                                           struct arena *mem)
{
    const struct claim *from = &a->claims[claim];
    struct device_allocation *out = arena_alloc(mem, sizeof(*out));
    out->allocated_ms = TIME_NONE;
    out->results.n = from->n_found;
    out->results.at = arena_array(mem, struct device_result, from->n_found);
    for (uint32_t i = 0; i < from->n_found; i++) {
        const struct ask *ask = from->found[i].ask;
        const struct candidate *x = &a->pools.candidates[from->found[i].candidate];
        struct device_result *r = &out->results.at[i];
        *r = (struct device_result){
            .request = ask->name.n ? arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(ask->request),
                                                  STR_ARG(ask->name))
                                   : ask->request,
            .driver = x->slice->spec.driver,
            .pool = x->slice->spec.pool.name,
            .device = x->device->name,
            .is_admin = ask->ask->is_admin,
            .tolerations = ask->ask->tolerations,
            .binding_conditions = x->device->binding_conditions,
            .binding_failure_conditions = x->device->binding_failure_conditions,
        };
        if (!x->device->is_shared)
            continue;
        r->share_id = share_id(share, claim, i, mem);
        r->consumed = capacity_amounts(x, &ask->ask->capacity, mem);
    }
    list_config(a, from, out, mem);
    out->node_selector = where(a, from, names_text(&c->names, c->nodes.name[node.i]), mem);
    return out;
}
