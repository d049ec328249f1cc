/* Objects of our own: what is held for drivers, lost members and gangs that starve stands in the
 * API as ResourceReservations, for people to see. They are made and taken away in time, behind
 * everything else; a binding never waits for one.
 *
 * What we hold is worked out from the pods, not read from these objects; so they are never counted
 * beside it. Only the slot of a lost member cannot be worked out after a restart: it is taken over
 * from its object. All others that stand for nothing are deleted, those of earlier releases
 * included. */

#include "core/engine/reservation/holds.h"
#include "core/model/mirror.h"

static const struct {
    struct str kind;   /* a booking is called kind/name, */
    struct str suffix; /* and its object name + suffix */
} sorts[] = {
    {STR("gang/"), STR("-reservation")},
    {STR("driver/"), STR("-workers")},
    {STR("lost/"), STR("-slot")},
    {STR("turn/"), STR("-to-come")},
};

enum { LOST = 2, NAME_MOST = 253 };

struct str engine_mirror_name(const struct engine *k, const struct booking *b, struct arena *mem)
{
    struct str name = names_text(&k->cluster->names, b->name);
    for (size_t i = 0; i < LEN(sorts); i++)
        if (str_starts(name, sorts[i].kind))
            return arena_join(mem, str_part(name, sorts[i].kind.n, name.n), sorts[i].suffix);
    return name;
}

/* What the object stands for; NULL: nothing. */
static struct booking *find(struct engine *k, sym namespace, struct str name)
{
    for (size_t i = 0; i < LEN(sorts); i++) {
        if (!str_ends(name, sorts[i].suffix))
            continue;
        struct str of = str_part(name, 0, name.n - sorts[i].suffix.n);
        sym known = names_find(&k->cluster->names, arena_join(&k->mem, sorts[i].kind, of));
        struct booking *b = engine_find_booking(k, namespace, known);
        if (b && booking_is_own(b))
            return b;
    }
    return NULL;
}

static void look_soon(struct engine *k)
{
    struct exhibit none = {0};
    engine_make_stale(k, &none);
}

/* --- strays --- */

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

static struct stray *find_stray(struct engine *k, sym namespace, sym name)
{
    vec_each(&k->holds->strays, stray)
        if (stray->namespace == namespace && stray->name == name)
            return stray;
    return NULL;
}

static struct stray *add_stray(struct engine *k, struct str namespace, struct str name,
                               struct str uid)
{
    const struct names *names = &k->cluster->names;
    struct stray *stray = find_stray(k, names_find(names, namespace), names_find(names, name));
    if (!stray) {
        vec_push(&k->holds->strays,
                 ((struct stray){.namespace = held(k, namespace), .name = held(k, name)}));
        stray = &vec_last(&k->holds->strays);
    }
    mem_free(stray->uid);
    mem_free(stray->finalizers);
    stray->uid = copy(uid);
    stray->finalizers = NULL;
    look_soon(k);
    return stray;
}

static void forget_stray(struct engine *k, struct stray *stray)
{
    intern_drop(&k->cluster->names.text, stray->namespace);
    intern_drop(&k->cluster->names.text, stray->name);
    mem_free(stray->uid);
    mem_free(stray->finalizers);
    vec_remove(&k->holds->strays, (uint32_t)(stray - k->holds->strays.at));
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
static struct booking *take_over(struct engine *k, const struct reservation *from)
{
    struct str name = from->meta.name, suffix = sorts[LOST].suffix;
    if (k->holds->has_begun || !str_ends(name, suffix) || from->meta.deleted_ms != TIME_NONE)
        return NULL;
    struct reservation own = *from;
    own.meta.name = arena_join(&k->mem, sorts[LOST].kind, str_part(name, 0, name.n - suffix.n));
    engine_book_slot(k, &own, heir_of(k, from));
    return find(k, names_find(&k->cluster->names, from->meta.namespace), name);
}

void engine_put_mirror(struct engine *k, const struct reservation *from)
{
    struct booking *b =
        find(k, names_find(&k->cluster->names, from->meta.namespace), from->meta.name);
    if (!b)
        b = take_over(k, from);
    if (b) {
        b->is_mirrored = true;
        engine_see_booking(k, b, from);
    } else {
        int64_t version;
        struct stray *stray = add_stray(k, from->meta.namespace, from->meta.name, from->meta.uid);
        stray->finalizers = engine_other_finalizers(from);
        stray->version = str_int(from->meta.resource_version, &version) ? (uint64_t)version : 0;
        stray->is_leaving = from->meta.deleted_ms != TIME_NONE;
    }
    arena_reset(&k->mem);
}

void engine_remove_mirror(struct engine *k, const struct meta *meta)
{
    const struct names *names = &k->cluster->names;
    sym namespace = names_find(names, meta->namespace);
    struct stray *stray = find_stray(k, namespace, names_find(names, meta->name));
    struct booking *b = find(k, namespace, meta->name);
    if (stray)
        forget_stray(k, stray);
    if (b) { /* it is made anew if there is something left to show */
        exhibit_done(&b->shown);
        b->is_mirrored = false;
        engine_make_stale(k, &b->shown);
    }
    arena_reset(&k->mem);
}

void engine_drop_mirror(struct engine *k, struct booking *b)
{
    if (b->shown.uid)
        add_stray(k, names_text(&k->cluster->names, b->namespace),
                  engine_mirror_name(k, b, &k->mem), str_of(b->shown.uid));
    exhibit_done(&b->shown);
    b->is_mirrored = false;
}

/* --- what is shown --- */

static reserved_list holds_of(const struct engine *k, const struct booking *b, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    reserved_list list = {.at = arena_array(mem, struct reserved, b->holds.n)};
    vec_each(&b->holds, hold) {
        pod_id pod = {hold->pod};
        uint32_t node = pods_at(&c->pods, pod)->node;
        list.at[list.n++] = (struct reserved){
            .name = names_text(&c->names, hold->entry),
            .node = node == ID_NONE ? STR("") : names_text(&c->names, c->nodes.name[node]),
            .amounts = engine_amounts_of(c, cluster_spec(c, pod), mem),
        };
    }
    return list;
}

/* With whom it goes: the driver, or who made the gang. */
static struct owner owner_of(const struct engine *k, const struct booking *b)
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

static void create(struct engine *k, struct booking *b, struct effects *out)
{
    enum { SECOND_MS = 1000 };
    struct mirror m = {
        .namespace = names_text(&k->cluster->names, b->namespace),
        .name = engine_mirror_name(k, b, &out->mem),
        .group = b->group == SYM_NONE ? STR("") : names_text(&k->cluster->names, b->group),
        .owner = owner_of(k, b),
        .seconds = MAX((b->ends_ms - k->now_ms) / SECOND_MS, (int64_t)1),
        .holds = holds_of(k, b, &k->mem),
    };
    struct object_write write = {
        .kind = KIND_RESERVATION, .namespace = m.namespace, .name = m.name};
    b->is_mirrored = true;
    if (m.name.n <= NAME_MOST)
        engine_add_publication(k, &write, STR(""), mirror_write(&m, &out->mem), out);
}

/* Is there something to see of it? */
static bool is_worth_showing(const struct engine *k, const struct booking *b)
{
    bool is_under_way =
        b->driver == ID_NONE || pods_at(&k->cluster->pods, (pod_id){b->driver})->node != ID_NONE;
    return !b->is_over && is_under_way && b->left;
}

/* One that has our finalizer goes in two steps: the server says so in between. */
static void clear_away(struct engine *k, const struct stray *stray, struct effects *out)
{
    struct object_write write = {.kind = KIND_RESERVATION,
                                 .namespace = names_text(&k->cluster->names, stray->namespace),
                                 .name = names_text(&k->cluster->names, stray->name)};
    struct str uid = str_of(stray->uid);
    if (!stray->is_leaving) {
        engine_add_publication(k, &write, uid, patch_delete(uid, &out->mem), out);
    } else if (stray->finalizers) {
        write.version = stray->version;
        struct patch patch = {.meta =
                                  arena_printf(&out->mem, "\"finalizers\":%s", stray->finalizers)};
        engine_add_publication(k, &write, uid, patch, out);
    }
}

/* Objects of an earlier life stand for what we hold again. */
static void find_again(struct engine *k)
{
    for (uint32_t i = k->holds->strays.n; i-- > 0;) {
        struct stray *stray = &k->holds->strays.at[i];
        struct booking *b = find(k, stray->namespace, names_text(&k->cluster->names, stray->name));
        if (!b || b->shown.uid || stray->is_leaving || !is_worth_showing(k, b))
            continue;
        b->is_mirrored = true; /* what it says is seen with its next change */
        b->shown.uid = copy(str_of(stray->uid));
        b->shown.is_stale = true;
        forget_stray(k, stray);
    }
}

void engine_show_mirrors(struct engine *k, struct effects *out)
{
    k->holds->has_begun = true;
    find_again(k);
    vec_each(&k->holds->bookings, b) {
        if (b->name == SYM_NONE || !booking_is_own(b) || !b->shown.is_stale)
            continue;
        b->shown.is_stale = b->shown.uid != NULL;
        if (!is_worth_showing(k, b))
            engine_drop_mirror(k, b);
        else if (!b->is_mirrored)
            create(k, b, out);
    }
    while (k->holds->strays.n) {
        clear_away(k, &vec_last(&k->holds->strays), out);
        forget_stray(k, &vec_last(&k->holds->strays));
    }
}
