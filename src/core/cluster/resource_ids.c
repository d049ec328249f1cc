#include "core/cluster/resource_ids.h"

#include "core/model/resources.h"

resource_id resources_get(struct resources *r, struct names *names, struct str name)
{
    bool is_new;
    resource_id id = intern_get(&r->table, name, &is_new);
    if (!is_new)
        return id;
    if (id >= r->names.n) {
        vec_resize(&r->names, id + 1);
        vec_resize(&r->are_accelerators, id + 1);
        vec_resize(&r->are_offered, id + 1);
        vec_resize(&r->are_kept, id + 1);
    }
    r->names.at[id] = names_get(names, name);
    intern_hold(&names->text, r->names.at[id]);
    r->are_accelerators.at[id] = resource_is_accelerator(name);
    r->are_offered.at[id] = id < RESOURCE_FIRST_SCALAR;
    r->are_kept.at[id] = false;
    return id;
}

resource_id resources_keep(struct resources *r, struct names *names, struct str name)
{
    resource_id id = resources_get(r, names, name);
    if (!r->are_kept.at[id])
        intern_hold(&r->table, id);
    r->are_kept.at[id] = true;
    return id;
}

resource_id resources_find(const struct resources *r, struct str name)
{
    _Static_assert(INTERN_NONE == ID_NONE, "no number, no resource");
    return intern_find(&r->table, name);
}

void resources_offer(struct resources *r, resource_id resource)
{
    r->n_offers += !r->are_offered.at[resource];
    r->are_offered.at[resource] = true;
}

struct sweeping {
    struct resources *resources;
    struct names *names;
};

static void gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    intern_drop(&x->names->text, x->resources->names.at[id]);
}

void resources_tidy(struct resources *r, struct names *names, enum tidy how)
{
    struct sweeping x = {r, names};
    intern_tidy(&r->table, how, gone, &x);
    if (how != TIDY_ALL)
        return;
    intern_fit(&r->table, &r->names);
    intern_fit(&r->table, &r->are_accelerators);
    intern_fit(&r->table, &r->are_offered);
    intern_fit(&r->table, &r->are_kept);
}

void resources_init(struct resources *r, struct names *names)
{
    static const struct str fixed[] = {STR("cpu"), STR("memory"), STR("ephemeral-storage"),
                                       STR("pods")};
    _Static_assert(LEN(fixed) == RESOURCE_FIRST_SCALAR, "each fixed resource has its number");
    for (size_t i = 0; i < LEN(fixed); i++)
        resources_keep(r, names, fixed[i]);
}

void resources_done(struct resources *r)
{
    intern_done(&r->table);
    vec_done(&r->names);
    vec_done(&r->are_accelerators);
    vec_done(&r->are_offered);
    vec_done(&r->are_kept);
}
