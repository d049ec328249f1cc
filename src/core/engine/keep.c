/* Room that is kept for gangs, as holds of our own (holds.h).
 *
 * A member that is lost leaves a slot: what it had, where it had it, is kept for its replacement
 * for a while, since a gang that lacks one of its members is of no use to anybody. When the others
 * have gone, too, and no owner is known that would make them anew, nobody is waited for. And a gang
 * that has starved and still finds too little room keeps what becomes free, so that a stream of
 * small pods cannot keep it waiting for ever. One gang at a time does so: two that each kept half
 * would wait for each other. */

#include "core/engine/inside.h"
#include "core/model/crew.h"
#include "core/model/reservation.h"

enum { ROOM_S = 600 }; /* a starving gang keeps room for so long, then another may */

static void add_amount(amount_list *list, struct str name, __int128 nano)
{
    if (nano)
        list->at[list->n++] = (struct amount){name, {.nano = nano}};
}

amount_list engine_amounts_of(const struct cluster *c, const struct spec *spec, struct arena *mem)
{
    enum { MILLI = 1000000, ONE = 1000000000 };
    amount_list list = {.at = arena_array(mem, struct amount, spec->hold.n_others + 2)};
    add_amount(&list, STR("cpu"), (__int128)spec->hold.cpu_milli * MILLI);
    add_amount(&list, STR("memory"), (__int128)spec->hold.memory * ONE);
    for (uint32_t i = 0; i < spec->hold.n_others; i++) {
        sym name = c->specs.resources.names.at[spec->hold.others[i].resource];
        add_amount(&list, names_text(&c->names, name), (__int128)spec->hold.others[i].amount * ONE);
    }
    return list;
}

/* Names with a slash are nobody's but ours. */
static struct reservation booking_of(const struct engine *k, const struct group *g,
                                     const char *kind, struct str name, int64_t seconds,
                                     struct arena *mem)
{
    const struct names *names = &k->cluster->names;
    struct reservation r = {
        .meta = {.namespace = names_text(names, g->namespace),
                 .name = arena_printf(mem, "%s/" STR_FMT, kind, STR_ARG(name)),
                 .created_ms = TIME_NONE,
                 .deleted_ms = TIME_NONE},
    };
    r.spec.group = names_text(names, g->name);
    r.spec.duration = arena_printf(mem, "%llds", (long long)seconds);
    return r;
}

/* --- slots --- */

/* Is the pod, which goes, missed by others of its gang? */
static bool is_missed(const struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    uint32_t group = engine_gang_of(k, pod);
    if (group == ID_NONE || row->node == ID_NONE || !(row->flags & POD_BOUND) ||
        row->flags & (POD_PREEMPTED | POD_EVICTED) ||
        map_find(&k->holds.of_user, pod.i) != MAP_NONE) /* it gives a hold back */
        return false;
    struct muster m = engine_muster(k, group);
    uint32_t itself = !(row->flags & POD_GOING);
    return m.running > itself || m.ready;
}

void engine_keep_slot(struct engine *k, int64_t now_ms, pod_id pod)
{
    int64_t repair_ms = engine_gang_args(k, pod).repair_ms;
    if (repair_ms < 1000 || !is_missed(k, pod))
        return;
    const struct cluster *c = k->cluster;
    struct arena mem = {0};
    const struct group *g = &c->groups.at.at[groups_of(&c->groups, pod)];
    struct reservation r =
        booking_of(k, g, "lost", pod_name(pods_at(&c->pods, pod)), repair_ms / 1000, &mem);
    struct reservation_entry entry = {
        .name = STR("slot"),
        .node = names_text(&c->names, c->nodes.name[pods_at(&c->pods, pod)->node]),
        .resources = engine_amounts_of(c, cluster_spec(c, pod), &mem),
    };
    r.spec.entries.at = &entry;
    r.spec.entries.n = 1;
    engine_book(k, now_ms, &r);
    arena_done(&mem);
}

/* Could somebody use a slot of the group: one of its pods, or one that its owner makes anew? */
static bool has_future(const struct engine *k, const struct group *g)
{
    bool has_owner = kind_is_crew(g->object) && g->model == SYM_NONE && g->has_object;
    if (has_owner && !g->is_leaving)
        return true;
    vec_each(&g->members, pod)
        if (!(pods_at(&k->cluster->pods, (pod_id){*pod})->flags & POD_GOING))
            return true;
    return false;
}

void engine_free_slots(struct engine *k, int64_t now_ms, uint32_t group)
{
    if (LIKELY(!k->holds.of_pod.n) || group == ID_NONE)
        return;
    const struct group *g = &k->cluster->groups.at.at[group];
    vec_each(&k->holds.bookings, b)
        if (b->is_own && k->keeper != group && booking_is_for(b, g->namespace, g->name) &&
            !has_future(k, g))
            engine_drop_booking(k, now_ms, b);
}

/* --- room for who starves --- */

/* Holds ask for amounts, and for nodes that are fit for the pods: where more than that matters they
 * could stand in the way. */
static bool could_be_held(const struct engine *k)
{
    vec_each(&k->planner.benches, bench) {
        const struct spec *spec = specs_at(&k->cluster->specs, bench->class->spec);
        if (spec->n_pod_terms || spec->n_spread || spec->n_ports || spec->n_volumes)
            return false;
    }
    return true;
}

void engine_keep_room(struct engine *k, int64_t now_ms, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    uint32_t leader = k->gangs.at[group].leader, n = k->planner.need;
    if (k->keeper != ID_NONE || !k->units.at[leader].is_starving || n == 0 ||
        k->planner.required != SYM_NONE || !could_be_held(k) || engine_line_of(k, leader))
        return; /* the head of a line has a reservation of its own */
    k->keeper = group;
    intern_hold(&k->cluster->groups.table, group); /* its number must not become another's */
    struct arena mem = {0};
    struct reservation r =
        booking_of(k, g, "gang", names_text(&k->cluster->names, g->name), ROOM_S, &mem);
    r.spec.entries.at = arena_array(&mem, struct reservation_entry, n);
    vec_each(&k->planner.seats, seat) {
        if (r.spec.entries.n == n)
            break;
        const struct spec *spec = cluster_spec(k->cluster, (pod_id){seat->pod});
        r.spec.entries.at[r.spec.entries.n] = (struct reservation_entry){
            .name = arena_printf(&mem, "%u", r.spec.entries.n),
            .resources = engine_amounts_of(k->cluster, spec, &mem),
        };
        r.spec.entries.n++;
    }
    k->keeps_until_ms = now_ms + ROOM_S * 1000;
    engine_book(k, now_ms, &r);
    for (uint32_t i = 0; i < n; i++)
        engine_dress_hold(k, &r.meta, i, (pod_id){k->planner.seats.at[i].pod});
    arena_done(&mem);
}

void engine_let_keep(struct engine *k, int64_t now_ms, uint32_t unit)
{
    bool may = k->keeper == ID_NONE && k->units.at[unit].is_starving &&
               engine_gang_led_by(k, unit) && !engine_line_of(k, unit);
    if (may && queue_where(k->queue, unit) == QUEUE_PARKED)
        queue_activate(k->queue, now_ms, unit);
}

/* Others who starve look whether they may keep room now. */
static void call_others(struct engine *k, int64_t now_ms, uint32_t but)
{
    for (uint32_t i = 0; i < k->gangs.n; i++)
        if (i != but && k->gangs.at[i].leader != ID_NONE)
            engine_let_keep(k, now_ms, k->gangs.at[i].leader);
}

void engine_review_keeper(struct engine *k, int64_t now_ms)
{
    uint32_t group = k->keeper;
    const struct group *g = &k->cluster->groups.at.at[group];
    bool waits = k->gangs.at[group].leader != ID_NONE &&
                 engine_muster(k, group).running + group_ended(g) < (uint32_t)group_minimum(g);
    if (waits && now_ms < k->keeps_until_ms)
        return;
    k->keeper = ID_NONE;
    struct arena mem = {0};
    struct reservation r =
        booking_of(k, g, "gang", names_text(&k->cluster->names, g->name), ROOM_S, &mem);
    engine_remove_reservation(k, now_ms, &r.meta);
    arena_done(&mem);
    intern_drop(&k->cluster->groups.table, group);
    call_others(k, now_ms, group);
}
