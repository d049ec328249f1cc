/* Objects of our own: what is held for drivers, lost members and gangs that starve stands in the
 * API as ResourceReservations, for people to see. They are made and taken away in time, behind
 * everything else; a binding never waits for one.
 *
 * What we hold is worked out from the pods, not read from these objects; so they are never counted
 * beside it. Only the slot of a lost member cannot be worked out after a restart: it is taken over
 * from its object. All others that stand for nothing are deleted, those of earlier releases
 * included. */

#include "core/engine/reservation/reservation.h"
#include "core/model/mirror.h"

static const struct {
    struct str kind;   /* a reservation is called kind/name, */
    struct str suffix; /* and its object name + suffix */
} sorts[] = {
    {STR("gang/"), STR("-reservation")},
    {STR("driver/"), STR("-workers")},
    {STR("lost/"), STR("-slot")},
    {STR("turn/"), STR("-to-come")},
};

enum { LOST = 2, NAME_MOST = 253 };

struct str engine_mirror_name(const struct engine *k, const struct reservation_info *b,
                              struct arena *mem)
{
    struct str name = names_text(&k->cluster->names, b->name);
    for (size_t i = 0; i < LEN(sorts); i++)
        if (str_starts(name, sorts[i].kind))
            return arena_join(mem, str_part(name, sorts[i].kind.n, name.n), sorts[i].suffix);
    return name;
}

/* What the object stands for; NULL: nothing. */
static struct reservation_info *find(struct engine *k, sym namespace, struct str name)
{
    for (size_t i = 0; i < LEN(sorts); i++) {
        if (!str_ends(name, sorts[i].suffix))
            continue;
        struct str of = str_part(name, 0, name.n - sorts[i].suffix.n);
        sym known = names_find(&k->cluster->names, arena_join(&k->mem, sorts[i].kind, of));
        struct reservation_info *b = engine_find_reservation(k, namespace, known);
        if (b && reservation_is_own(b))
            return b;
    }
    return NULL;
}

static void look_soon(struct engine *k)
{
    struct published_status none = {0};
    engine_make_stale(k, &none);
}

/* --- mirrors that stand for nothing --- */

static sym held(struct engine *k, struct str text)
{
    sym name = names_get(&k->cluster->names, text);
    intern_hold(&k->cluster->names.text, name);
    return name;
}

static char *copy(struct str text)
{
    char *to = mem_alloc(text.n + 1);
    memcpy(to, text.p, text.n);
    return to;
}

static struct orphan_mirror *find_orphan_mirror(struct engine *k, sym namespace, sym name)
{
    vec_each(&k->reservations->orphan_mirrors, orphan_mirror)
        if (orphan_mirror->namespace == namespace && orphan_mirror->name == name)
            return orphan_mirror;
    return NULL;
}

static struct orphan_mirror *add_orphan_mirror(struct engine *k, struct str namespace,
                                               struct str name, struct str uid)
{
    const struct names *names = &k->cluster->names;
    struct orphan_mirror *orphan_mirror =
        find_orphan_mirror(k, names_find(names, namespace), names_find(names, name));
    if (!orphan_mirror) {
        vec_push(&k->reservations->orphan_mirrors,
                 ((struct orphan_mirror){.namespace = held(k, namespace), .name = held(k, name)}));
        orphan_mirror = &vec_last(&k->reservations->orphan_mirrors);
    }
    mem_free(orphan_mirror->uid);
    mem_free(orphan_mirror->finalizers);
    orphan_mirror->uid = copy(uid);
    orphan_mirror->finalizers = NULL;
    look_soon(k);
    return orphan_mirror;
}

static void forget_orphan_mirror(struct engine *k, struct orphan_mirror *orphan_mirror)
{
    intern_drop(&k->cluster->names.text, orphan_mirror->namespace);
    intern_drop(&k->cluster->names.text, orphan_mirror->name);
    mem_free(orphan_mirror->uid);
    mem_free(orphan_mirror->finalizers);
    vec_remove(&k->reservations->orphan_mirrors,
               (uint32_t)(orphan_mirror - k->reservations->orphan_mirrors.at));
}

/* --- what is seen --- */

/* For whom a slot is that was kept before we came: of the members that are known by now, the least
 * important one, for who it was that was lost is not written down. */
static pod_id heir_of(const struct engine *k, const struct reservation *from)
{
    const struct cluster *c = k->cluster;
    sym namespace = names_find(&c->names, from->meta.namespace),
        name = names_find(&c->names, reservation_group(from));
    pod_id least = {ID_NONE};
    for (enum kind kind = KIND_NONE; kind < KIND_COUNT && name != SYM_NONE; kind++) {
        uint32_t group = groups_named(&c->groups, namespace, name, kind);
        for (uint32_t i = 0; group != ID_NONE && i < c->groups.at.at[group].members.n; i++) {
            pod_id pod = {c->groups.at.at[group].members.at[i]};
            if (least.i == ID_NONE ||
                cluster_spec(c, pod)->priority < cluster_spec(c, least)->priority)
                least = pod;
        }
    }
    return least;
}

/* A slot that was kept before we came: it is kept on. */
static struct reservation_info *take_over(struct engine *k, const struct reservation *from)
{
    struct str name = from->meta.name, suffix = sorts[LOST].suffix;
    if (k->reservations->has_begun || !str_ends(name, suffix) || from->meta.deleted_ms != TIME_NONE)
        return NULL;
    struct reservation own = *from;
    own.meta.name = arena_join(&k->mem, sorts[LOST].kind, str_part(name, 0, name.n - suffix.n));
    engine_reserve_for_lost(k, &own, heir_of(k, from));
    return find(k, names_find(&k->cluster->names, from->meta.namespace), name);
}

void engine_put_mirror(struct engine *k, const struct reservation *from)
{
    struct reservation_info *b =
        find(k, names_find(&k->cluster->names, from->meta.namespace), from->meta.name);
    if (!b)
        b = take_over(k, from);
    if (b) {
        b->is_mirrored = true;
        engine_see_reservation(k, b, from);
    } else {
        int64_t version;
        struct orphan_mirror *orphan_mirror =
            add_orphan_mirror(k, from->meta.namespace, from->meta.name, from->meta.uid);
        orphan_mirror->finalizers = engine_other_finalizers(from);
        orphan_mirror->version =
            str_int(from->meta.resource_version, &version) ? (uint64_t)version : 0;
        orphan_mirror->is_leaving = from->meta.deleted_ms != TIME_NONE;
    }
    arena_reset(&k->mem);
}

void engine_remove_mirror(struct engine *k, const struct meta *meta)
{
    const struct names *names = &k->cluster->names;
    sym namespace = names_find(names, meta->namespace);
    struct orphan_mirror *orphan_mirror =
        find_orphan_mirror(k, namespace, names_find(names, meta->name));
    struct reservation_info *b = find(k, namespace, meta->name);
    if (orphan_mirror)
        forget_orphan_mirror(k, orphan_mirror);
    if (b) { /* it is made anew if there is something left to show */
        published_status_done(&b->published);
        b->is_mirrored = false;
        engine_make_stale(k, &b->published);
    }
    arena_reset(&k->mem);
}

void engine_drop_mirror(struct engine *k, struct reservation_info *b)
{
    if (b->published.uid)
        add_orphan_mirror(k, names_text(&k->cluster->names, b->namespace),
                          engine_mirror_name(k, b, &k->mem), str_of(b->published.uid));
    published_status_done(&b->published);
    b->is_mirrored = false;
}

/* --- what is shown --- */

static reserved_list slots_of(const struct engine *k, const struct reservation_info *b,
                              struct arena *mem)
{
    const struct cluster *c = k->cluster;
    reserved_list list = {.at = arena_array(mem, struct reserved, b->slots.n)};
    vec_each(&b->slots, slot) {
        pod_id pod = {slot->pod};
        uint32_t node = pods_at(&c->pods, pod)->node;
        list.at[list.n++] = (struct reserved){
            .name = names_text(&c->names, slot->entry),
            .node = node == ID_NONE ? STR("") : names_text(&c->names, c->nodes.name[node]),
            .amounts = engine_amounts_of(c, cluster_spec(c, pod), mem),
        };
    }
    return list;
}

/* With whom it goes: the driver, or who made the gang. */
static struct owner owner_of(const struct engine *k, const struct reservation_info *b)
{
    if (b->driver != ID_NONE) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){b->driver});
        return (struct owner){.api_version = STR("v1"),
                              .kind = STR("Pod"),
                              .name = pod_name(row),
                              .uid = pod_uid(row)};
    }
    for (enum kind kind = KIND_NONE; kind < KIND_COUNT; kind++) {
        const struct groups *groups = &k->cluster->groups;
        uint32_t group = groups_named(groups, b->namespace, b->group, kind);
        const struct gang *gang = engine_gang_at(k, group);
        if (gang && groups->at.at[group].members.n)
            return gang->made_by;
    }
    return (struct owner){0};
}

static void create(struct engine *k, struct reservation_info *b, struct effects *out)
{
    enum { SECOND_MS = 1000 };
    struct mirror m = {
        .namespace = names_text(&k->cluster->names, b->namespace),
        .name = engine_mirror_name(k, b, &out->mem),
        .group = b->group == SYM_NONE ? STR("") : names_text(&k->cluster->names, b->group),
        .owner = owner_of(k, b),
        .seconds = MAX((b->ends_ms - k->now_ms) / SECOND_MS, (int64_t)1),
        .slots = slots_of(k, b, &k->mem),
    };
    struct object_write write = {
        .kind = KIND_RESERVATION, .namespace = m.namespace, .name = m.name};
    b->is_mirrored = true;
    if (m.name.n <= NAME_MOST)
        engine_add_publication(k, &write, STR(""), mirror_write(&m, &out->mem), out);
}

/* Is there something to see of it? */
static bool is_worth_publishing(const struct engine *k, const struct reservation_info *b)
{
    bool is_under_way =
        b->driver == ID_NONE || pods_at(&k->cluster->pods, (pod_id){b->driver})->node != ID_NONE;
    return !b->is_over && is_under_way && b->left;
}

/* One that has our finalizer goes in two steps: the server says so in between. */
static void clear_away(struct engine *k, const struct orphan_mirror *orphan_mirror,
                       struct effects *out)
{
    struct object_write write = {.kind = KIND_RESERVATION,
                                 .namespace =
                                     names_text(&k->cluster->names, orphan_mirror->namespace),
                                 .name = names_text(&k->cluster->names, orphan_mirror->name)};
    struct str uid = str_of(orphan_mirror->uid);
    if (!orphan_mirror->is_leaving) {
        engine_add_publication(k, &write, uid, patch_delete(uid, &out->mem), out);
    } else if (orphan_mirror->finalizers) {
        write.version = orphan_mirror->version;
        struct patch patch = {
            .meta = arena_printf(&out->mem, "\"finalizers\":%s", orphan_mirror->finalizers)};
        engine_add_publication(k, &write, uid, patch, out);
    }
}

/* Objects of an earlier life stand for what we hold again. */
static void find_again(struct engine *k)
{
    for (uint32_t i = k->reservations->orphan_mirrors.n; i-- > 0;) {
        struct orphan_mirror *orphan_mirror = &k->reservations->orphan_mirrors.at[i];
        struct reservation_info *b =
            find(k, orphan_mirror->namespace, names_text(&k->cluster->names, orphan_mirror->name));
        if (!b || b->published.uid || orphan_mirror->is_leaving || !is_worth_publishing(k, b))
            continue;
        b->is_mirrored = true; /* what it says is seen with its next change */
        b->published.uid = copy(str_of(orphan_mirror->uid));
        b->published.is_stale = true;
        forget_orphan_mirror(k, orphan_mirror);
    }
}

void engine_publish_mirrors(struct engine *k, struct effects *out)
{
    k->reservations->has_begun = true;
    find_again(k);
    vec_each(&k->reservations->all, b) {
        if (b->name == SYM_NONE || !reservation_is_own(b) || !b->published.is_stale)
            continue;
        b->published.is_stale = b->published.uid != NULL;
        if (!is_worth_publishing(k, b))
            engine_drop_mirror(k, b);
        else if (!b->is_mirrored)
            create(k, b, out);
    }
    while (k->reservations->orphan_mirrors.n) {
        clear_away(k, &vec_last(&k->reservations->orphan_mirrors), out);
        forget_orphan_mirror(k, &vec_last(&k->reservations->orphan_mirrors));
    }
}
