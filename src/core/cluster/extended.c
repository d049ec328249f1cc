#include "core/cluster/extended.h"

#include <stdlib.h>

#include "core/base/hash.h"

static int by_name(const void *a, const void *b)
{
    const struct backed *x = a, *y = b;
    return str_compare(x->name, y->name);
}

struct backed_set extended_backed(const struct cluster *c, const struct spec *spec,
                                  struct arena *mem)
{
    struct backed_set set = {0};
    if (spec->n_device_asks == 0)
        return set;
    set.at = arena_array(mem, struct backed, spec->ask.n_others);
    for (uint32_t i = 0; i < spec->ask.n_others && set.n < BACKED_MOST; i++) {
        resource_id resource = spec->ask.others[i].resource;
        struct str name = names_text(&c->names, c->specs.resources.names.at[resource]);
        const struct device_class *class = devices_class_of(&c->devices, name);
        if (class)
            set.at[set.n++] = (struct backed){resource, name, class};
    }
    if (set.n > 1)
        qsort(set.at, set.n, sizeof(*set.at), by_name);
    return set;
}

/* --- what is asked for --- */

static struct str request_name(const struct device_need *need, struct arena *mem)
{
    return arena_printf(mem, "container-%u-request-%u", need->container, need->place);
}

/* Does the container of `need` use devices of the same resource that `other` asks for? */
static bool is_reused(const struct device_need *need, const struct device_need *other)
{
    return need->is_short_lived && other->resource == need->resource && !other->is_short_lived &&
           other->amount;
}

/* What a container needs beyond the devices of later ones that it can use. */
static int64_t count_of(const struct spec *spec, uint32_t i)
{
    const struct device_need *need = &spec->device_asks[i];
    int64_t count = need->amount;
    for (uint32_t k = i + 1; k < spec->n_device_asks; k++)
        if (is_reused(need, &spec->device_asks[k]))
            count -= spec->device_asks[k].amount;
    return count;
}

/* Of the init containers that end, the one that needs the most beyond that asks for all; NULL: none
 * does. */
static const struct device_need *greediest(const struct spec *spec, resource_id resource,
                                           int64_t *count)
{
    const struct device_need *most = NULL;
    *count = 0;
    for (uint32_t i = 0; i < spec->n_device_asks; i++) {
        const struct device_need *need = &spec->device_asks[i];
        if (need->resource != resource || !need->is_short_lived || count_of(spec, i) <= *count)
            continue;
        most = need;
        *count = count_of(spec, i);
    }
    return most;
}

static struct device_request request(const struct backed *backed, const struct device_need *need,
                                     int64_t count, struct arena *mem)
{
    struct device_request r = {.name = request_name(need, mem)};
    r.exactly = arena_alloc(mem, sizeof(*r.exactly));
    r.exactly->class = backed->class->meta.name;
    r.exactly->mode = STR("ExactCount");
    r.exactly->count = count;
    return r;
}

static uint32_t add_requests(const struct spec *spec, const struct backed *backed,
                             struct device_request *to, struct arena *mem)
{
    uint32_t n = 0;
    int64_t count;
    const struct device_need *most = greediest(spec, backed->resource, &count);
    if (most)
        to[n++] = request(backed, most, count, mem);
    for (uint32_t i = 0; i < spec->n_device_asks; i++) {
        const struct device_need *need = &spec->device_asks[i];
        if (need->resource == backed->resource && !need->is_short_lived && need->amount)
            to[n++] = request(backed, need, need->amount, mem);
    }
    return n;
}

static int by_request(const void *a, const void *b)
{
    const struct device_request *x = a, *y = b;
    return str_compare(x->name, y->name);
}

const struct resource_claim *extended_claim(const struct spec *spec, struct backed_set set,
                                            uint32_t mask, struct str namespace, struct arena *mem)
{
    struct resource_claim *claim = arena_alloc(mem, sizeof(*claim));
    struct device_request *all = arena_array(mem, struct device_request, spec->n_device_asks + 1);
    uint32_t n = 0;
    claim->meta.namespace = namespace;
    claim->meta.name = STR("<extended-resources>");
    for (uint32_t i = 0; i < set.n; i++)
        if (mask >> i & 1)
            n += add_requests(spec, &set.at[i], all + n, mem);
    if (n > 1)
        qsort(all, n, sizeof(*all), by_request);
    claim->spec.requests.at = all;
    claim->spec.requests.n = n;
    return claim;
}

/* --- who uses what --- */

struct mapper {
    const struct cluster *cluster;
    const struct spec *spec;
    struct arena *mem;
    struct request_mapping *to;
    uint32_t n;
};

static void map_to(struct mapper *m, const struct backed *backed, const struct device_need *user,
                   const struct device_need *asker)
{
    m->to[m->n++] = (struct request_mapping){names_text(&m->cluster->names, user->container_name),
                                             backed->name, request_name(asker, m->mem)};
}

/* An init container that ends uses what later ones ask for, until that is enough. */
static void map_short_lived(struct mapper *m, const struct backed *backed, uint32_t i)
{
    const struct device_need *need = &m->spec->device_asks[i];
    int64_t missing = need->amount, most;
    for (uint32_t k = i + 1; missing > 0 && k < m->spec->n_device_asks; k++) {
        if (!is_reused(need, &m->spec->device_asks[k]))
            continue;
        map_to(m, backed, need, &m->spec->device_asks[k]);
        missing -= m->spec->device_asks[k].amount;
    }
    if (missing > 0)
        map_to(m, backed, need, greediest(m->spec, backed->resource, &most));
}

static void map_resource(struct mapper *m, const struct backed *backed)
{
    const struct device_need *asks = m->spec->device_asks;
    for (uint32_t i = 0; i < m->spec->n_device_asks; i++)
        if (asks[i].resource == backed->resource && !asks[i].is_short_lived && asks[i].amount)
            map_to(m, backed, &asks[i], &asks[i]);
    for (uint32_t i = 0; i < m->spec->n_device_asks; i++)
        if (asks[i].resource == backed->resource && asks[i].is_short_lived)
            map_short_lived(m, backed, i);
}

request_mapping_list extended_mappings(const struct cluster *c, const struct spec *spec,
                                       struct backed_set set, uint32_t mask, struct arena *mem)
{
    uint32_t n = spec->n_device_asks;
    struct mapper m = {c, spec, mem, arena_array(mem, struct request_mapping, n * (n + 1)), 0};
    for (uint32_t i = 0; i < set.n; i++)
        if (mask >> i & 1)
            map_resource(&m, &set.at[i]);
    return (request_mapping_list){m.to, m.n};
}

/* --- its name --- */

struct str extended_name(struct str pod, struct str uid, uint64_t salt, struct arena *mem)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* a server's */
    enum { SUFFIX = 5, STEM_MOST = 63 - SUFFIX };
    struct str stem = arena_join(mem, pod, STR("-extended-resources-"));
    uint64_t left = hash_pair(hash_bytes(uid.p, uid.n), salt);
    char suffix[SUFFIX];
    for (int i = 0; i < SUFFIX; i++) {
        suffix[i] = letters[left % (sizeof(letters) - 1)];
        left /= sizeof(letters) - 1;
    }
    return arena_join(mem, str_part(stem, 0, MIN(stem.n, (size_t)STEM_MOST)),
                      (struct str){suffix, SUFFIX});
}
