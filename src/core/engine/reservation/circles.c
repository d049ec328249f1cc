/* Who may use which slots, found by name: the reservations for a group or an application in the
 * order in which they came, and the pods of an application wherever they are. (Those of a group are
 * in cluster/groups.h.) So a decision looks at what concerns its pod, whatever else is reserved. */

#include <stdlib.h>

#include "core/engine/reservation/reservation.h"
#include "core/model/object.h"

struct group_key engine_reservations_key(const struct engine *k, pod_id pod)
{
    const struct cluster *c = k->cluster;
    const struct shape *shape = pods_shape(&c->pods, pod);
    uint32_t group = groups_of(&c->groups, pod);
    sym name = group == ID_NONE ? shape->app : c->groups.at.at[group].name;
    return (struct group_key){shape->namespace, name};
}

static uint64_t pair_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

struct circle *engine_circle(const struct engine *k, sym namespace, sym name)
{
    bool may_be = k->reservations->of_name.n && namespace != SYM_NONE && name != SYM_NONE;
    uint32_t at = may_be ? map_find(&k->reservations->of_name, pair_of(namespace, name)) : MAP_NONE;
    return at == MAP_NONE ? NULL : &k->reservations->circles.at[at];
}

struct circle *engine_circle_of(const struct engine *k, pod_id pod)
{
    struct group_key key = engine_reservations_key(k, pod);
    return engine_circle(k, key.namespace, key.name);
}

static struct circle *circle_get(struct engine *k, sym namespace, sym name)
{
    struct reservations *h = k->reservations;
    struct circle *circle = engine_circle(k, namespace, name);
    if (circle)
        return circle;
    uint32_t at = h->free_circles.n ? vec_pop(&h->free_circles) : h->circles.n;
    if (at == h->circles.n)
        vec_push(&h->circles, (struct circle){0});
    map_put(&h->of_name, pair_of(namespace, name), at);
    intern_hold(&k->cluster->names.text, namespace);
    intern_hold(&k->cluster->names.text, name);
    h->circles.at[at] =
        (struct circle){.namespace = namespace, .name = name, .first = ID_NONE, .last = ID_NONE};
    return &h->circles.at[at];
}

static void leave_if_empty(struct engine *k, struct circle *circle)
{
    struct reservations *h = k->reservations;
    if (circle->first != ID_NONE || circle->pods.n)
        return;
    map_remove(&h->of_name, pair_of(circle->namespace, circle->name));
    intern_drop(&k->cluster->names.text, circle->namespace);
    intern_drop(&k->cluster->names.text, circle->name);
    vec_done(&circle->pods);
    vec_push(&h->free_circles, (uint32_t)(circle - h->circles.at));
}

/* --- reservations --- */

static void join(struct engine *k, struct reservation_info *b)
{
    struct reservations *h = k->reservations;
    struct circle *circle = circle_get(k, b->namespace, b->group);
    uint32_t at = (uint32_t)(b - h->all.at);
    b->before = circle->last;
    b->after = ID_NONE;
    if (circle->last == ID_NONE)
        circle->first = at;
    else
        h->all.at[circle->last].after = at;
    circle->last = at;
}

static void part(struct engine *k, struct reservation_info *b)
{
    struct reservations *h = k->reservations;
    struct circle *circle = engine_circle(k, b->namespace, b->group);
    if (b->before == ID_NONE)
        circle->first = b->after;
    else
        h->all.at[b->before].after = b->after;
    if (b->after == ID_NONE)
        circle->last = b->before;
    else
        h->all.at[b->after].before = b->before;
    leave_if_empty(k, circle);
}

void engine_set_reservation_group(struct engine *k, struct reservation_info *b, struct str group)
{
    struct names *names = &k->cluster->names;
    sym is = group.n ? names_get(names, group) : SYM_NONE;
    if (is == b->group)
        return;
    if (is != SYM_NONE)
        intern_hold(&names->text, is);
    if (b->group != SYM_NONE) {
        part(k, b);
        intern_drop(&names->text, b->group);
    }
    b->group = is;
    if (is != SYM_NONE)
        join(k, b);
}

bool engine_has_reservation(const struct engine *k, pod_id pod)
{
    const struct circle *circle = engine_circle_of(k, pod);
    return circle && circle->first != ID_NONE;
}

/* --- pods of an application --- */

void engine_join_app(struct engine *k, pod_id pod)
{
    const struct shape *shape = pods_shape(&k->cluster->pods, pod);
    if (LIKELY(shape->app == SYM_NONE))
        return;
    struct circle *circle = circle_get(k, shape->namespace, shape->app);
    map_put(&k->reservations->app_places, pod.i, circle->pods.n);
    vec_push(&circle->pods, pod.i);
    engine_note_without(k, pod);
}

void engine_leave_app(struct engine *k, pod_id pod)
{
    const struct shape *shape = pods_shape(&k->cluster->pods, pod);
    if (LIKELY(shape->app == SYM_NONE))
        return;
    struct circle *circle = engine_circle(k, shape->namespace, shape->app);
    uint32_t slot = map_remove(&k->reservations->app_places, pod.i);
    uint32_t moved = vec_pop(&circle->pods);
    if (moved != pod.i) {
        circle->pods.at[slot] = moved;
        map_put(&k->reservations->app_places, moved, slot);
    }
    leave_if_empty(k, circle);
}

/* --- who runs and uses no slot --- */

void engine_note_without(struct engine *k, pod_id pod)
{
    bool runs = pods_at(&k->cluster->pods, pod)->node != ID_NONE;
    struct circle *circle = runs ? engine_circle_of(k, pod) : NULL;
    if (circle && map_find(&k->reservations->of_user, pod.i) == MAP_NONE)
        circle->is_unmatched = circle->has_without = true;
}

VEC_TYPE(
    finds, struct find {
        pod_id pod;
        uint64_t arrival;
    });

static void consider(const struct engine *k, const struct circle *circle, pod_id pod,
                     struct finds *out)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    struct group_key key = engine_reservations_key(k, pod);
    if (row->node != ID_NONE && !(row->flags & POD_TERMINATING) &&
        map_find(&k->reservations->of_user, pod.i) == MAP_NONE && key.name == circle->name)
        vec_push(out, ((struct find){pod, k->units.at[pod.i].arrival}));
}

static int by_arrival(const void *a, const void *b)
{
    const struct find *x = a, *y = b;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

/* In the order in which they came. */
static void find_without(const struct engine *k, const struct circle *circle, struct finds *out)
{
    const struct groups *groups = &k->cluster->groups;
    vec_each(&circle->pods, pod)
        consider(k, circle, (pod_id){*pod}, out);
    for (enum kind kind = KIND_NONE; kind < KIND_COUNT; kind++) {
        uint32_t group = groups_named(groups, circle->namespace, circle->name, kind);
        for (uint32_t i = 0; group != ID_NONE && i < groups->at.at[group].members.n; i++)
            consider(k, circle, (pod_id){groups->at.at[group].members.at[i]}, out);
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_arrival);
}

/* The pod runs already: the slot need not look for room any more. */
static void give(struct engine *k, struct reservation_info *b, struct slot *slot, pod_id user)
{
    engine_take_slot(k, b, slot, user);
    if (queue_where(k->queue, slot->pod) != QUEUE_IN_FLIGHT)
        engine_leave(k, (pod_id){slot->pod});
}

/* The next of them that may use the reservation: its own driver may not. */
static bool next_for(const struct reservation_info *b, struct finds *all, uint32_t n)
{
    if (n < all->n && all->at[n].pod.i == b->driver && n + 1 < all->n) {
        struct find driver = all->at[n];
        all->at[n] = all->at[n + 1];
        all->at[n + 1] = driver;
    }
    return n < all->n && all->at[n].pod.i != b->driver;
}

void engine_match(struct engine *k, struct circle *circle)
{
    struct finds all = {0};
    uint32_t n = 0;
    if (!circle->is_unmatched)
        return;
    circle->is_unmatched = false;
    find_without(k, circle, &all);
    for (uint32_t at = circle->first; at != ID_NONE; at = k->reservations->all.at[at].after) {
        struct reservation_info *b = &k->reservations->all.at[at];
        for (uint32_t i = b->first_left; i < b->slots.n && !b->is_own && next_for(b, &all, n); i++)
            if (slot_looks_for_room(k, &b->slots.at[i]))
                give(k, b, &b->slots.at[i], all.at[n++].pod);
    }
    circle->has_without = n < all.n;
    vec_done(&all);
}

void circles_done(struct reservations *h)
{
    vec_each(&h->circles, circle)
        vec_done(&circle->pods);
    vec_done(&h->circles);
    vec_done(&h->free_circles);
    map_done(&h->of_name);
    map_done(&h->app_places);
}
