/* Room that is kept for gangs, as slots of our own (reservation.h).
 *
 * A member that is lost leaves a slot: what it had, where it had it, is kept for its replacement
 * for a while, since a gang that lacks one of its members is of no use to anybody. When the others
 * have gone, too, and no owner is known that would make them anew, nobody is waited for.
 *
 * And a gang that has starved and still finds too little room keeps what becomes free, so that a
 * stream of small pods cannot keep it waiting for ever: whenever it is tried, it keeps the nodes on
 * which the planner can place some of its members, by all rules that they have, and what is free on
 * the node that the next one needs least more of. So a node whose pods end one by one is kept, too,
 * but no more than one such. One gang at a time does this: two that each kept half would wait for
 * each other. */

#include "core/engine/reservation/reservation.h"
#include "core/model/owner.h"
#include "core/model/reservation.h"

enum { ROOM_S = 600 }; /* a starving gang keeps room for so long, then another may */

static void add_amount(amount_list *list, struct str name, __int128 nano)
{
    if (nano)
        list->at[list->n++] = (struct amount){name, {.nano = nano}};
}

static int64_t part_of(const struct cluster *c, uint32_t node, resource_id resource, int64_t amount)
{
    if (node == ID_NONE)
        return amount;
    return MIN(MAX(engine_free_of(c, (node_id){node}, resource), (int64_t)0), amount);
}

/* No more than is free on the node; ID_NONE: all of it. */
static amount_list amounts_of(const struct cluster *c, const struct spec *spec, uint32_t node,
                              struct arena *mem)
{
    enum { MILLI = 1000000, ONE = 1000000000 };
    const struct pod_request *all = &spec->hold;
    amount_list list = {.at = arena_array(mem, struct amount, all->n_others + 2)};
    add_amount(&list, STR("cpu"), (__int128)part_of(c, node, RESOURCE_CPU, all->cpu_milli) * MILLI);
    add_amount(&list, STR("memory"),
               (__int128)part_of(c, node, RESOURCE_MEMORY, all->memory) * ONE);
    for (uint32_t i = 0; i < all->n_others; i++) {
        const struct need *need = &all->others[i];
        add_amount(&list, names_text(&c->names, c->specs.resources.names.at[need->resource]),
                   (__int128)part_of(c, node, need->resource, need->amount) * ONE);
    }
    return list;
}

amount_list engine_amounts_of(const struct cluster *c, const struct spec *spec, struct arena *mem)
{
    return amounts_of(c, spec, ID_NONE, mem);
}

/* Names with a slash are nobody's but ours. */
static struct reservation reservation_of(const struct engine *k, const struct group *g,
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
        map_find(&k->reservations->of_user, pod.i) != MAP_NONE) /* it gives a slot back */
        return false;
    struct presence m = engine_presence(k, group);
    uint32_t itself = !(row->flags & POD_GOING);
    return m.running > itself || m.ready;
}

void engine_keep_room_of_lost(struct engine *k, pod_id pod)
{
    int64_t repair_ms = engine_gang_args(k, pod).repair_ms;
    if (repair_ms < 1000 || !is_missed(k, pod))
        return;
    const struct cluster *c = k->cluster;
    struct arena mem = {0};
    const struct group *g = &c->groups.at.at[groups_of(&c->groups, pod)];
    struct reservation r =
        reservation_of(k, g, "lost", pod_name(pods_at(&c->pods, pod)), repair_ms / 1000, &mem);
    struct reservation_entry entry = {
        .name = STR("slot"),
        .node = names_text(&c->names, c->nodes.name[pods_at(&c->pods, pod)->node]),
        .resources = engine_amounts_of(c, cluster_spec(c, pod), &mem),
    };
    r.spec.entries.at = &entry;
    r.spec.entries.n = 1;
    engine_reserve_for_lost(k, &r, pod);
    arena_done(&mem);
}

/* Could somebody use a slot of the group: one of its pods, or one that its owner makes anew? */
static bool has_future(const struct engine *k, const struct group *g)
{
    bool has_owner = kind_is_owner(g->object) && g->model == SYM_NONE && g->has_object;
    if (has_owner && !g->is_leaving)
        return true;
    vec_each(&g->members, pod)
        if (!(pods_at(&k->cluster->pods, (pod_id){*pod})->flags & POD_GOING))
            return true;
    return false;
}

void engine_free_rooms_of_lost(struct engine *k, uint32_t group)
{
    if (LIKELY(!k->reservations->of_pod.n) || group == ID_NONE)
        return;
    const struct group *g = &k->cluster->groups.at.at[group];
    const struct circle *circle = engine_circle(k, g->namespace, g->name);
    uint32_t at = circle && k->reservations->keeper != group ? circle->first : ID_NONE;
    if (at == ID_NONE || has_future(k, g))
        return;
    for (uint32_t after; at != ID_NONE; at = after) {
        struct reservation_info *b = &k->reservations->all.at[at];
        after = b->after;
        if (b->is_own)
            engine_drop_reservation(k, b);
    }
}

/* --- room for who starves --- */

/* May the gang keep room, or go on keeping it? The head of a line has a head start, and
 * who has others evicted waits for those. */
static bool may_keep(const struct engine *k, uint32_t group)
{
    uint32_t leader = engine_leader_of(k, group);
    return (k->reservations->keeper == ID_NONE || k->reservations->keeper == group) &&
           leader != ID_NONE && k->units.at[leader].is_starving &&
           !k->above->is_in_line(k, leader) && !k->above->waits_for_evictions(k, leader);
}

/* Those who say near whom they must be may be unable to be together anywhere: nobody knows. */
static bool names_pods(const struct engine *k, const struct planner *p)
{
    vec_each(&p->member_classes, member_class)
        if (specs_at(&k->cluster->specs, member_class->class->spec)->n_pod_terms)
            return true;
    return false;
}

enum { ALL = 1000 };

static int64_t share_of(const struct cluster *c, node_id node, resource_id resource, int64_t amount)
{
    int64_t free = amount > 0 ? part_of(c, node.i, resource, amount) : 0;
    return amount > 0 ? (int64_t)((__int128)free * ALL / amount) : ALL;
}

/* So much of what a pod asks for is free on the node: of the scarcest resource. */
static int64_t portion_of(const struct cluster *c, const struct spec *spec, node_id node)
{
    const struct pod_request *ask = &spec->ask;
    int64_t least = MIN(share_of(c, node, RESOURCE_CPU, ask->cpu_milli),
                        share_of(c, node, RESOURCE_MEMORY, ask->memory));
    for (uint32_t i = 0; i < ask->n_others; i++)
        least = MIN(least, share_of(c, node, ask->others[i].resource, ask->others[i].amount));
    return least;
}

/* The node, of those that were asked, where the next member has most of its room already; ID_NONE:
 * none has any of it. */
static uint32_t next_node(const struct engine *k, const struct planner *p,
                          const struct member_class *member_class)
{
    const struct cluster *c = k->cluster;
    const struct spec *spec = specs_at(&c->specs, member_class->class->spec);
    uint32_t best = ID_NONE;
    int64_t most = 0;
    vec_each(&p->domain_nodes, node) {
        int64_t share = portion_of(c, spec, (node_id){*node});
        bool is_part = share > 0 && share < ALL; /* where all of it is free, a rule is against it */
        if (!is_part || share < most ||
            !engine_could_hold(k, member_class->class, (node_id){*node}) ||
            (share == most && c->nodes.tie_order[*node] > c->nodes.tie_order[best]))
            continue;
        best = *node;
        most = share;
    }
    return best;
}

static void add_entry(struct reservation *r, const struct cluster *c, uint32_t node,
                      amount_list amounts, struct arena *mem)
{
    uint32_t n = r->spec.entries.n++;
    r->spec.entries.at[n] = (struct reservation_entry){
        .name = arena_printf(mem, "%u", n),
        .node = node == ID_NONE ? STR("") : names_text(&c->names, c->nodes.name[node]),
        .resources = amounts,
    };
}

/* The planner's members: those that have a node, the one that is next, and the others. */
static void add_entries(const struct engine *k, const struct planner *p, struct reservation *r,
                        struct arena *mem)
{
    const struct cluster *c = k->cluster;
    bool has_next = false;
    r->spec.entries.at = arena_array(mem, struct reservation_entry, p->need);
    for (uint32_t stands = 0; stands < 2; stands++)
        vec_each(&p->members, member) {
            const struct spec *spec = cluster_spec(c, (pod_id){member->pod});
            uint32_t node = member->node;
            if (r->spec.entries.n == p->need || (node == ID_NONE) != stands)
                continue;
            if (stands && !has_next)
                node = next_node(k, p, &p->member_classes.at[member->order]);
            has_next = stands;
            add_entry(r, c, node, amounts_of(c, spec, stands ? node : ID_NONE, mem), mem);
        }
}

static void keep(struct engine *k, uint32_t group, struct reservation *r)
{
    if (k->reservations->keeper == ID_NONE) {
        k->reservations->keeper = group;
        k->reservations->keeps_until_ms = k->now_ms + ROOM_S * 1000;
        intern_hold(&k->cluster->groups.table, group); /* its number must not become another's */
    }
    r->meta.created_ms = k->reservations->keeps_until_ms - ROOM_S * 1000;
    engine_put_slots_back(k); /* it has made way for the search */
    engine_reserve_plan(k, r, (pod_id){engine_leader_of(k, group)});
}

void engine_keep_room(struct engine *k, struct planner *p, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    if (!may_keep(k, group))
        return;
    struct arena mem = {0};
    struct reservation r =
        reservation_of(k, g, "gang", names_text(&k->cluster->names, g->name), ROOM_S, &mem);
    struct txn t = txn_begin(k->cluster);
    bool has_plan = engine_list_and_place_some(k, p, group) && p->need && !names_pods(k, p);
    if (has_plan)
        add_entries(k, p, &r, &mem);
    engine_undo_gang(k, p, t);
    if (has_plan)
        keep(k, group, &r);
    arena_done(&mem);
}

void engine_let_keep(struct engine *k, uint32_t unit)
{
    bool may = k->reservations->keeper == ID_NONE && k->units.at[unit].is_starving &&
               engine_gang_led_by(k, unit) && !k->above->is_in_line(k, unit);
    if (may && queue_where(k->queue, unit) == QUEUE_PARKED)
        queue_activate(k->queue, k->now_ms, unit);
}

/* Others who starve look whether they may keep room now. */
static void call_others(struct engine *k, uint32_t but)
{
    for (uint32_t i = 0; i < k->cluster->groups.at.n; i++)
        if (i != but && engine_leader_of(k, i) != ID_NONE)
            engine_let_keep(k, engine_leader_of(k, i));
}

void engine_review_keeper(struct engine *k)
{
    uint32_t group = k->reservations->keeper;
    const struct group *g = &k->cluster->groups.at.at[group];
    bool waits = engine_leader_of(k, group) != ID_NONE &&
                 engine_presence(k, group).running + group_ended(g) < (uint32_t)group_minimum(g);
    if (waits && k->now_ms < k->reservations->keeps_until_ms)
        return;
    k->reservations->keeper = ID_NONE;
    struct arena mem = {0};
    struct reservation r =
        reservation_of(k, g, "gang", names_text(&k->cluster->names, g->name), ROOM_S, &mem);
    engine_remove_reservation(k, &r.meta);
    arena_done(&mem);
    intern_drop(&k->cluster->groups.table, group);
    call_others(k, group);
}
