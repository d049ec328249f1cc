#include "core/cluster/groups.h"

#include <stdio.h>

#include "core/model/owner.h"

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
                                  .model = SYM_NONE};
    hold(names, namespace);
    hold(names, name);
    return id;
}

uint32_t groups_named(const struct groups *g, sym namespace, sym name, enum kind object)
{
    struct group key = {.namespace = namespace, .name = name, .object = object};
    return namespace == SYM_NONE || name == SYM_NONE
               ? ID_NONE
               : intern_find(&g->table, (struct str){(const char *)&key, GROUP_KEY_BYTES});
}

enum { NAME_MOST = 600 };

/* What the group is called: of a Workload's NAME/PART, and /REPLICA if there are several. */
static struct str name_of(const struct gang_identity *identity, bool is_whole, char *room)
{
    if (identity->object != KIND_WORKLOAD)
        return identity->group.value;
    bool has_replica = is_whole && identity->replica.n;
    int n = snprintf(room, NAME_MOST, STR_FMT "/" STR_FMT "%s" STR_FMT,
                     STR_ARG(identity->group.value), STR_ARG(identity->part),
                     has_replica ? "/" : "", STR_ARG(has_replica ? identity->replica : STR("")));
    return (struct str){room, MIN((size_t)n, (size_t)NAME_MOST - 1)};
}

uint32_t groups_find(const struct groups *g, const struct names *names,
                     const struct group_claim *claim)
{
    char room[NAME_MOST];
    return groups_named(g, claim->namespace,
                        names_find(names, name_of(claim->identity, true, room)),
                        claim->identity->object);
}

bool groups_has(const struct groups *g, const struct names *names, pod_id pod,
                const struct group_claim *claim)
{
    uint32_t is = claim->identity ? groups_find(g, names, claim) : ID_NONE;
    return is == groups_of(g, pod) && (is != ID_NONE || !claim->identity);
}

/* Operators write a role once with a capital and once without. */
static sym role_of(struct names *names, struct str text)
{
    char low[256];
    size_t n = MIN(text.n, sizeof(low));
    for (size_t i = 0; i < n; i++)
        low[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] | 0x20) : text.p[i];
    return names_get(names, (struct str){low, n});
}

static bool has_role(const struct group *group, sym role)
{
    vec_each(&group->roles, is)
        if (*is == role)
            return true;
    return false;
}

static void forget_roles(struct names *names, struct group *group)
{
    vec_each(&group->roles, role)
        drop(names, *role);
    vec_clear(&group->roles);
}

static void forget_shares(struct names *names, struct group *group)
{
    vec_each(&group->shares, share)
        drop(names, share->role);
    vec_clear(&group->shares);
}

/* Nobody is left: what they said goes with them. */
static void forget_members(struct names *names, struct group *group)
{
    forget_roles(names, group);
    group->said = 0;
    group->n_say = group->n_troubled = 0;
    group->comes_in_turn = false;
    replace(names, &group->preferred, SYM_NONE);
    if (!group->has_object || kind_is_owner(group->object))
        replace(names, &group->required, SYM_NONE);
    buf_clear(&group->trouble);
    buf_clear(&group->conflict);
    vec_trim(&group->members);
}

/* --- members --- */

/* The size is the largest that present members name; `if_none`: none of them names one. */
static void count_sizes(const struct groups *g, struct group *group, int32_t if_none)
{
    group->said = 0;
    vec_each(&group->members, pod)
        group->said = MAX(group->said, g->of.at[*pod].said);
    group->n_say = 0;
    vec_each(&group->members, pod)
        group->n_say += group->said && g->of.at[*pod].said == group->said;
    group->said = group->said ? group->said : if_none;
}

/* What the member said counts no more. Only the last member that names the size changes it. */
static void unsay(struct group *group, const struct membership *m)
{
    group->n_say -= m->said && m->said == group->said;
    group->n_troubled -= m->is_trouble;
    if (group->n_troubled == 0)
        buf_clear(&group->trouble);
}

static void leave(struct groups *g, struct names *names, pod_id pod)
{
    struct membership *m = &g->of.at[pod.i];
    uint32_t id = m->group;
    struct group *group = &g->at.at[id];
    g->changes++;
    uint32_t last = vec_pop(&group->members);
    group->members.at[m->slot] = last;
    g->of.at[last].slot = m->slot;
    m->group = ID_NONE;
    if (group->members.n == 0)
        forget_members(names, group);
    else
        unsay(group, m);
    if (group->members.n && m->said == group->said && group->n_say == 0)
        count_sizes(g, group, group->said); /* the member that alone knew it may come again */
    intern_drop(&g->table, id);
}

static void join(struct groups *g, pod_id pod, uint32_t id, const struct group_claim *claim)
{
    struct group *group = &g->at.at[id];
    g->changes++;
    if (group->members.n == 0 && (group->owner != claim->owner || claim->owner == 0))
        group->ended = 0; /* another run of the same name */
    group->owner = claim->owner;
    while (g->of.n <= pod.i)
        vec_push(&g->of, ((struct membership){.group = ID_NONE}));
    g->of.at[pod.i] = (struct membership){.group = id, .slot = group->members.n};
    vec_push(&group->members, pod.i);
    intern_hold(&g->table, id);
}

static void word_trouble(struct group *group, const struct gang_identity *identity)
{
    struct arena mem = {0};
    struct str where = gang_place_text(&identity->malformed, &mem);
    buf_clear(&group->trouble);
    buf_printf(&group->trouble, STR_FMT ": \"" STR_FMT "\" is no number of members: 1 or more",
               STR_ARG(where), STR_ARG(str_part(identity->malformed.value, 0, 80)));
    arena_done(&mem);
}

static void hear_size(struct groups *g, struct group *group, pod_id pod,
                      const struct gang_identity *identity)
{
    struct membership *m = &g->of.at[pod.i], was = *m;
    unsay(group, &was);
    m->said = identity->minimum;
    m->is_trouble = identity->malformed.where != GANG_NOWHERE;
    group->n_troubled += m->is_trouble;
    if (m->is_trouble)
        word_trouble(group, identity);
    if (m->said > group->said) {
        group->sized = (struct gang_place){identity->size.where, identity->size.key, {0}};
        group->said = m->said;
        group->n_say = 0;
    }
    group->n_say += m->said && m->said == group->said;
    bool lowers = m->said != was.said && m->said < group->said;
    if (group->n_say == 0 && (lowers || (was.is_trouble && !m->is_trouble)))
        count_sizes(g, group, 0);
}

static void hear(struct groups *g, struct names *names, pod_id pod, uint32_t id,
                 const struct group_claim *claim)
{
    struct group *group = &g->at.at[id];
    const struct gang_identity *identity = claim->identity;
    hear_size(g, group, pod, identity);
    group->named = (struct gang_place){identity->group.where, identity->group.key, {0}};
    group->comes_in_turn |= identity->comes_in_turn;
    if (identity->role.where && kind_is_owner(group->object)) {
        sym role = role_of(names, identity->role.value);
        if (!has_role(group, role)) {
            hold(names, role);
            vec_push(&group->roles, role);
        }
    }
    bool is_said_here = !group->has_object || kind_is_owner(group->object);
    if (identity->required.where && is_said_here)
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
    char room[NAME_MOST];
    uint32_t id =
        get(g, names, claim->namespace, names_get(names, name_of(claim->identity, true, room)),
            claim->identity->object);
    bool is_of_set = claim->identity->object == KIND_LEADER_WORKER_SET;
    if (UNLIKELY(claim->identity->replica.n || is_of_set)) {
        replace(names, &g->at.at[id].model,
                names_get(names, is_of_set ? claim->identity->set
                                           : name_of(claim->identity, false, room)));
        groups_follow(g, id);
    }
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

/* Sets what the object says of each role; true if that is another thing. */
static bool set_shares(struct names *names, struct group *group, const struct pod_group *object)
{
    uint32_t n = object ? object->parts.n : 0;
    bool differs = n != group->shares.n;
    for (uint32_t i = 0; i < n && !differs; i++) {
        const struct group_part *part = &object->parts.at[i];
        const struct group_share *share = &group->shares.at[i];
        differs = share->minimum != part->minimum || share->role != role_of(names, part->role);
    }
    if (!differs)
        return false;
    forget_shares(names, group);
    for (uint32_t i = 0; i < n; i++) {
        sym role = role_of(names, object->parts.at[i].role);
        hold(names, role);
        vec_push(&group->shares, ((struct group_share){role, object->parts.at[i].minimum}));
    }
    return true;
}

bool groups_are_named(const struct groups *g, const struct names *names, enum kind kind,
                      const struct meta *meta)
{
    uint32_t id =
        groups_named(g, names_find(names, meta->namespace), names_find(names, meta->name), kind);
    return id != ID_NONE && g->at.at[id].members.n;
}

uint32_t groups_put_object(struct groups *g, struct names *names, enum kind kind,
                           const struct meta *meta, const struct pod_group *object, bool *differs)
{
    uint32_t id = object ? get(g, names, names_get(names, meta->namespace),
                               names_get(names, meta->name), kind)
                         : groups_named(g, names_find(names, meta->namespace),
                                        names_find(names, meta->name), kind);
    if (id == ID_NONE || (!object && !g->at.at[id].has_object))
        return ID_NONE;
    struct group *group = &g->at.at[id];
    if (object && !group->has_object)
        intern_hold(&g->table, id);
    int32_t written = object ? object->minimum : 0;
    bool is_constrained = object && object->topology.n, goes_whole = object && object->goes_whole;
    sym required = is_constrained ? names_get(names, object->topology.at[0].key) : SYM_NONE;
    bool says_required = !kind_is_owner(kind); /* an owner leaves that to its pods */
    bool in_turn = object && object->comes_in_turn;
    *differs = set_shares(names, group, object) || group->has_object != (object != NULL) ||
               group->written != written || group->goes_whole != goes_whole ||
               group->is_written_in_turn != in_turn ||
               (says_required && group->required != required);
    g->changes++;
    group->has_object = object != NULL;
    group->is_leaving = object && meta->deleted_ms != TIME_NONE;
    group->written = written;
    group->goes_whole = goes_whole;
    group->is_written_in_turn = in_turn;
    group->ended_before = object ? object->ended : 0;
    if (says_required)
        replace(names, &group->required, required);
    if (!object)
        intern_drop(&g->table, id);
    return id;
}

bool groups_follow(struct groups *g, uint32_t id)
{
    struct group *group = &g->at.at[id];
    uint32_t model = groups_named(g, group->namespace, group->model, group->object);
    const struct group *of = model == ID_NONE ? NULL : &g->at.at[model];
    bool has_object = of && of->has_object;
    int32_t written = has_object ? of->written : 0;
    bool in_turn = has_object && of->is_written_in_turn;
    bool differs = group->has_object != has_object || group->written != written ||
                   group->is_written_in_turn != in_turn;
    group->has_object = has_object;
    group->written = written;
    group->is_written_in_turn = in_turn;
    return differs;
}

/* --- what it comes to --- */

/* What its object says: of all, or of the roles that are there. */
static int32_t written_of(const struct group *group)
{
    if (group->shares.n == 0)
        return group->written;
    int64_t sum = 0;
    vec_each(&group->shares, share)
        if (has_role(group, share->role))
            sum += share->minimum;
    return (int32_t)MAX(MIN(sum, (int64_t)INT32_MAX), (int64_t)1);
}

bool group_heeds_object(const struct group *group)
{
    return group->object == KIND_POD_GROUP || group->object == KIND_WORKLOAD ||
           kind_is_owner(group->object);
}

int32_t group_minimum(const struct group *group)
{
    int32_t written = written_of(group),
            first = group_heeds_object(group) && group->has_object ? written : group->said;
    int32_t minimum = first ? first : written ? written : group->said;
    return MAX(minimum, 1);
}

bool group_lacks_object(const struct group *group)
{
    return group->object != KIND_NONE && !group->has_object && group->said == 0;
}

bool group_is_gang(const struct group *group)
{
    return group_minimum(group) > 1 || group->required != SYM_NONE || group->trouble.n ||
           group_lacks_object(group);
}

/* --- housekeeping --- */

struct sweeping {
    struct groups *groups;
    struct names *names;
};

static void done(struct group *group)
{
    vec_done(&group->shares);
    vec_done(&group->roles);
    vec_done(&group->members);
    buf_done(&group->trouble);
    buf_done(&group->conflict);
}

static void gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    struct group *group = &x->groups->at.at[id];
    forget_roles(x->names, group);
    forget_shares(x->names, group);
    drop(x->names, group->namespace);
    drop(x->names, group->name);
    drop(x->names, group->required);
    drop(x->names, group->preferred);
    drop(x->names, group->model);
    done(group);
    *group = (struct group){0};
}

void groups_tidy(struct groups *g, struct names *names, enum tidy how)
{
    struct sweeping x = {g, names};
    intern_tidy(&g->table, how, gone, &x);
    if (how == TIDY_ALL)
        intern_fit(&g->table, &g->at);
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
