#include "core/cluster/groups.h"

/* --- finding --- */

static void hold(struct names *names, sym s)
{
    if (s != SYM_NONE)
        intern_hold(&names->text, s);
}

static void drop(struct names *names, sym s)
{
    if (s != SYM_NONE)
        intern_drop(&names->text, s);
}

static void replace(struct names *names, sym *at, sym s)
{
    hold(names, s);
    drop(names, *at);
    *at = s;
}

/* The number of the group; nobody holds a new one yet. */
static uint32_t get(struct groups *g, struct names *names, sym namespace, sym name,
                    enum kind object)
{
    _Static_assert(offsetof(struct group, members) >= GROUP_KEY_BYTES, "the key comes first");
    struct group key = {.namespace = namespace, .name = name, .object = object};
    bool is_new;
    uint32_t id = intern_get(&g->table, (struct str){(const char *)&key, GROUP_KEY_BYTES}, &is_new);
    if (!is_new)
        return id;
    if (id >= g->at.n)
        vec_resize(&g->at, id + 1);
    g->at.at[id] = (struct group){.namespace = namespace,
                                  .name = name,
                                  .object = object,
                                  .required = SYM_NONE,
                                  .preferred = SYM_NONE,
                                  .born_ms = INT64_MAX,
                                  .troubled = ID_NONE};
    hold(names, namespace);
    hold(names, name);
    return id;
}

uint32_t groups_find(const struct groups *g, const struct names *names,
                     const struct group_claim *claim)
{
    sym name = names_find(names, claim->identity->group.value);
    struct group key = {
        .namespace = claim->namespace, .name = name, .object = claim->identity->object};
    return name == SYM_NONE
               ? ID_NONE
               : intern_find(&g->table, (struct str){(const char *)&key, GROUP_KEY_BYTES});
}

bool groups_has(const struct groups *g, const struct names *names, pod_id pod,
                const struct group_claim *claim)
{
    uint32_t is = claim->identity ? groups_find(g, names, claim) : ID_NONE;
    return is == groups_of(g, pod) && (is != ID_NONE || !claim->identity);
}

/* Nobody is left: what they said goes with them. */
static void forget_members(struct names *names, struct group *group)
{
    group->said = 0;
    group->born_ms = INT64_MAX;
    replace(names, &group->preferred, SYM_NONE);
    if (!group->has_object)
        replace(names, &group->required, SYM_NONE);
    group->troubled = ID_NONE;
    buf_clear(&group->trouble);
    buf_clear(&group->conflict);
    vec_trim(&group->members);
}

/* --- members --- */

static void leave(struct groups *g, struct names *names, pod_id pod)
{
    struct membership *m = &g->of.at[pod.i];
    uint32_t id = m->group;
    struct group *group = &g->at.at[id];
    uint32_t last = vec_pop(&group->members);
    group->members.at[m->slot] = last;
    g->of.at[last].slot = m->slot;
    m->group = ID_NONE;
    if (group->troubled == pod.i) {
        group->troubled = ID_NONE;
        buf_clear(&group->trouble);
    }
    if (group->members.n == 0)
        forget_members(names, group);
    intern_drop(&g->table, id);
}

static void join(struct groups *g, pod_id pod, uint32_t id, const struct group_claim *claim)
{
    struct group *group = &g->at.at[id];
    if (group->members.n == 0 && (group->owner != claim->owner || claim->owner == 0))
        group->ended = 0; /* another run of the same name */
    group->owner = claim->owner;
    while (g->of.n <= pod.i)
        vec_push(&g->of, ((struct membership){ID_NONE, 0}));
    g->of.at[pod.i] = (struct membership){id, group->members.n};
    vec_push(&group->members, pod.i);
    intern_hold(&g->table, id);
}

static void hear_size(struct group *group, pod_id pod, const struct gang_identity *identity)
{
    if (identity->malformed.where) {
        group->troubled = pod.i;
        buf_clear(&group->trouble);
        struct arena mem = {0};
        struct str where = gang_place_text(&identity->malformed, &mem);
        buf_printf(&group->trouble, STR_FMT ": \"" STR_FMT "\" is no number of members: 1 or more",
                   STR_ARG(where), STR_ARG(str_part(identity->malformed.value, 0, 80)));
        arena_done(&mem);
    } else if (group->troubled == pod.i) {
        group->troubled = ID_NONE;
        buf_clear(&group->trouble);
    }
    if (identity->minimum > group->said)
        group->sized = (struct gang_place){identity->size.where, identity->size.key, {0}};
    group->said = MAX(group->said, identity->minimum);
}

static void hear(struct groups *g, struct names *names, pod_id pod, uint32_t id,
                 const struct group_claim *claim)
{
    struct group *group = &g->at.at[id];
    const struct gang_identity *identity = claim->identity;
    hear_size(group, pod, identity);
    group->named = (struct gang_place){identity->group.where, identity->group.key, {0}};
    group->born_ms = MIN(group->born_ms, claim->created_ms);
    if (identity->required.where && !group->has_object)
        replace(names, &group->required, names_get(names, identity->required.value));
    if (identity->preferred.where)
        replace(names, &group->preferred, names_get(names, identity->preferred.value));
    if (identity->conflict.where && group->conflict.n == 0)
        buf_printf(&group->conflict, STR_FMT ": \"" STR_FMT "\"", STR_ARG(identity->conflict.key),
                   STR_ARG(str_part(identity->conflict.value, 0, 80)));
}

uint32_t groups_put(struct groups *g, struct names *names, pod_id pod,
                    const struct group_claim *claim)
{
    uint32_t was = groups_of(g, pod);
    if (!claim->identity) {
        if (was != ID_NONE)
            leave(g, names, pod);
        return ID_NONE;
    }
    uint32_t id = get(g, names, claim->namespace, names_get(names, claim->identity->group.value),
                      claim->identity->object);
    if (was != id) {
        if (was != ID_NONE)
            leave(g, names, pod);
        join(g, pod, id, claim);
    }
    hear(g, names, pod, id, claim);
    return id;
}

void groups_remove(struct groups *g, struct names *names, pod_id pod, bool has_ended)
{
    uint32_t id = groups_of(g, pod);
    if (id == ID_NONE)
        return;
    g->at.at[id].ended += has_ended;
    leave(g, names, pod);
}

/* --- objects --- */

uint32_t groups_put_object(struct groups *g, struct names *names, enum kind kind,
                           const struct meta *meta, const struct pod_group *object, bool *differs)
{
    uint32_t id =
        get(g, names, names_get(names, meta->namespace), names_get(names, meta->name), kind);
    struct group *group = &g->at.at[id];
    if (!object && !group->has_object)
        return ID_NONE;
    if (object && !group->has_object)
        intern_hold(&g->table, id);
    int32_t written = object ? object->minimum : 0;
    bool is_constrained = object && object->topology.n;
    sym required = is_constrained ? names_get(names, object->topology.at[0].key) : SYM_NONE;
    *differs = group->has_object != (object != NULL) || group->written != written ||
               group->required != required;
    group->has_object = object != NULL;
    group->written = written;
    replace(names, &group->required, required);
    if (!object)
        intern_drop(&g->table, id);
    return id;
}

/* --- what it comes to --- */

int32_t group_minimum(const struct group *group)
{
    int32_t first =
        group->object == KIND_POD_GROUP && group->has_object ? group->written : group->said;
    int32_t minimum = first ? first : group->written ? group->written : group->said;
    return MAX(minimum, 1);
}

bool group_lacks_object(const struct group *group)
{
    return group->object != KIND_NONE && !group->has_object && group->said == 0;
}

bool group_is_gang(const struct group *group)
{
    return group_minimum(group) > 1 || group->required != SYM_NONE || group_lacks_object(group);
}

/* --- housekeeping --- */

struct sweeping {
    struct groups *groups;
    struct names *names;
};

static void done(struct group *group)
{
    vec_done(&group->members);
    buf_done(&group->trouble);
    buf_done(&group->conflict);
}

static void gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    struct group *group = &x->groups->at.at[id];
    drop(x->names, group->namespace);
    drop(x->names, group->name);
    drop(x->names, group->required);
    drop(x->names, group->preferred);
    done(group);
    *group = (struct group){0};
}

void groups_sweep(struct groups *g, struct names *names)
{
    struct sweeping x = {g, names};
    if (intern_wants_sweep(&g->table))
        intern_sweep(&g->table, gone, &x);
}

void groups_trim(struct groups *g, uint32_t pods)
{
    g->of.n = MIN(g->of.n, pods);
    vec_trim(&g->of);
}

void groups_done(struct groups *g)
{
    vec_each(&g->at, group)
        done(group);
    vec_done(&g->at);
    vec_done(&g->of);
    intern_done(&g->table);
}
