/* Pods that come when others run: they have room when they come, or the others do not start.
 *
 * A driver makes its workers itself, and says how many. Of a gang whose controller makes one pod
 * after the other (a StatefulSet, a LeaderWorkerSet whose leader must be ready, jobs that have a
 * domain each) those who are there cannot wait for the others. They are placed as a gang all the
 * same: with slots in the place of those to come, which are taken to be like the first pod, or as a
 * driver among them or the object of their set says. When it runs, whoever comes takes the place of
 * a slot, and if those are gone any other. */

#include <stdio.h>

#include "core/cluster/read.h"
#include "core/engine/reservation/reservation.h"
#include "core/model/driver.h"

enum { HOLD_MS = 30 * 60 * 1000 }; /* so long room is held for those to come */

static struct reservation_info *driven_by(struct engine *k, pod_id pod)
{
    uint32_t at = map_find(&k->reservations->of_driver, pod.i);
    return at == MAP_NONE ? NULL : &k->reservations->all.at[at];
}

static struct reservation_info *of_gang(struct engine *k, uint32_t group)
{
    uint32_t at =
        k->reservations->of_gang.n ? map_find(&k->reservations->of_gang, group) : MAP_NONE;
    return at == MAP_NONE ? NULL : &k->reservations->all.at[at];
}

bool reservation_is_early(const struct engine *k, const struct reservation_info *b)
{
    if (b->gang != ID_NONE)
        return engine_presence(k, b->gang).running == 0;
    return b->driver != ID_NONE && pods_at(&k->cluster->pods, (pod_id){b->driver})->node == ID_NONE;
}

void engine_guard_driver(struct engine *k, const struct reservation_info *b)
{
    if (b->driver == ID_NONE)
        return;
    struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){b->driver});
    uint32_t guard = b->left && !b->is_over ? POD_GUARDED : 0;
    uint32_t flags = (row->flags & ~(uint32_t)POD_GUARDED) | guard;
    if (flags != row->flags && row->node != ID_NONE)
        change_log_add(&k->cluster->log, (node_id){row->node}, COLUMN_WORTH);
    row->flags = flags;
}

/* Since when the pod has its node, as the API server has it, so that a restart changes nothing:
 * since it started, or at the latest (its kubelet has not said so) since it was made. */
static int64_t placed_ms(const struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    int64_t since_ms = row->start_ms != TIME_NONE ? row->start_ms : row->created_ms;
    return row->flags & POD_ASSUMED || since_ms == TIME_NONE ? k->now_ms : MIN(since_ms, k->now_ms);
}

/* Of a gang's: that of the last who came. */
static int64_t end_of(const struct engine *k, const struct reservation_info *b, pod_id pod)
{
    int64_t ends_ms = placed_ms(k, pod) + HOLD_MS;
    bool was_set = b->gang != ID_NONE && b->ends_ms != INT64_MAX;
    return was_set ? MAX(b->ends_ms, ends_ms) : ends_ms;
}

void engine_let_company_in(struct engine *k, pod_id pod)
{
    struct reservation_info *b = driven_by(k, pod);
    b = b ? b : of_gang(k, groups_of(&k->cluster->groups, pod));
    if (!b || b->is_over || pods_at(&k->cluster->pods, pod)->node == ID_NONE)
        return;
    engine_set_end(k, b, end_of(k, b, pod));
    bool is_early = reservation_is_early(k, b);
    if (!is_early)
        engine_bound_slots(k, b);
    for (uint32_t i = b->first_left; i < b->slots.n && !is_early; i++)
        if (slot_looks_for_room(k, &b->slots.at[i]))
            engine_stand(k, (pod_id){b->slots.at[i].pod}, true);
    engine_guard_driver(k, b);
    engine_make_stale(k, &b->published);
}

/* --- drivers --- */

/* The room for its workers, as somebody would reserve it. */
static struct reservation room_for(const struct pod *driver, const struct driver_needs *needs,
                                   struct arena *mem)
{
    struct reservation r = {.meta.namespace = driver->meta.namespace};
    r.meta.name = arena_printf(mem, "driver/" STR_FMT, STR_ARG(driver->meta.name));
    r.meta.uid = driver->meta.uid;
    r.meta.created_ms = driver->meta.created_ms;
    r.spec.entries.at = arena_array(mem, struct reservation_entry, needs->workers);
    r.spec.entries.n = needs->workers;
    for (uint32_t i = 0; i < needs->workers; i++) {
        r.spec.entries.at[i].name = arena_printf(mem, "%u", i);
        r.spec.entries.at[i].resources = needs->each;
    }
    return r;
}

static void take_driver(struct engine *k, pod_id pod, const struct pod *from,
                        const struct reservation *room)
{
    struct reservation_info *b = engine_add_reservation(k, &room->meta);
    engine_set_reservation_group(
        k, b, names_text(&k->cluster->names, engine_reservations_key(k, pod).name));
    b->driver = pod.i;
    engine_set_work(k, b, pod);
    engine_set_end(k, b, INT64_MAX);
    map_put(&k->reservations->of_driver, pod.i, (uint32_t)(b - k->reservations->all.at));
    engine_put_slots(k, b, room, from);
    vec_each(&b->slots, slot)
        engine_leave(k, (pod_id){slot->pod});
    engine_let_company_in(k, pod);
}

/* --- one after the other --- */

/* What a slot is like that goes where `from` may go, and takes so much. */
static shape_id shape_of(struct engine *k, const struct reservation_info *b,
                         const struct reservation *r, const struct pod *from, amount_list amounts,
                         struct arena *mem)
{
    struct reserved entry = {.amounts = amounts};
    sym pin;
    return read_pod_shape(k->cluster, engine_slot_pod(k, r, &entry, from, b->priority, mem), &pin);
}

/* The same for a worker of the set, whom the same profile places as the first of its group. */
static shape_id shape_of_worker(struct engine *k, const struct reservation_info *b,
                                const struct reservation *r, pod_id first, const struct workers *w,
                                struct arena *mem)
{
    const struct cluster *c = k->cluster;
    struct pod like = w->like;
    like.spec.scheduler_name = names_text(&c->names, cluster_spec(c, first)->scheduler_name);
    return shape_of(k, b, r, &like, w->each, mem);
}

static struct reservation turn_of(const struct engine *k, uint32_t group, struct arena *mem)
{
    const struct names *names = &k->cluster->names;
    const struct group *g = &k->cluster->groups.at.at[group];
    struct reservation r = {.meta.namespace = names_text(names, g->namespace)};
    r.meta.name = arena_printf(mem, "turn/" STR_FMT, STR_ARG(names_text(names, g->name)));
    return r;
}

static struct reservation_info *begin_turn(struct engine *k, pod_id first, uint32_t group,
                                           const struct pod *from, const struct driver_needs *needs)
{
    struct cluster *c = k->cluster;
    struct arena mem = {0};
    const struct group *g = &c->groups.at.at[group];
    const struct workers *workers = engine_workers_of(k, group);
    struct reservation r = turn_of(k, group, &mem);
    struct reservation_info *b = engine_add_reservation(k, &r.meta);
    engine_set_work(k, b, first);
    if (workers && !needs)
        b->like = shape_of_worker(k, b, &r, first, workers, &mem);
    else
        b->like = shape_of(k, b, &r, from,
                           needs ? needs->each : engine_amounts_of(c, cluster_spec(c, first), &mem),
                           &mem);
    intern_hold(&c->pods.shape_table, b->like);
    engine_set_reservation_group(k, b, names_text(&c->names, g->name));
    b->driver = first.i;
    b->gang = group;
    b->told = needs ? needs->workers : 0;
    engine_set_end(k, b, INT64_MAX);
    map_put(&k->reservations->of_driver, first.i, (uint32_t)(b - k->reservations->all.at));
    map_put(&k->reservations->of_gang, group, (uint32_t)(b - k->reservations->all.at));
    arena_done(&mem);
    return b;
}

static void add_slot(struct engine *k, struct reservation_info *b)
{
    AUTO(buf) name = {0}; /* the entry's is the end of it */
    int entry = snprintf(NULL, 0, "%u", b->slots.n);
    buf_printf(&name, "/turn/%u/%u", b->gang, b->slots.n);
    struct str text = buf_str(&name);
    struct str number = str_part(text, text.n - (uint32_t)entry, text.n);
    struct slot *slot = engine_add_entry(k, b, names_get(&k->cluster->names, number));
    engine_keep_slot_row(k, b, slot, engine_add_slot(k, b->like, text));
}

void engine_count_company(struct engine *k, uint32_t group)
{
    enum { MOST = 10000 };
    struct reservation_info *b = of_gang(k, group);
    if (!b || (b->slots.n && !reservation_is_early(k, b)))
        return;
    const struct group *g = &k->cluster->groups.at.at[group];
    uint32_t lacks = b->told ? b->told : (uint32_t)group_minimum(g) - 1;
    uint32_t want = group_comes_in_turn(g) ? MIN(lacks, (uint32_t)MOST) : 0;
    while (b->slots.n > want) {
        engine_end_slot(k, &vec_last(&b->slots));
        b->slots.n--;
    }
    while (b->slots.n < want)
        add_slot(k, b);
    b->entries = want;
    k->above->followed(k, group); /* one of those that are gone may be among them */
    engine_let_company_in(k, (pod_id){b->driver});
}

static void liken(struct engine *k, uint32_t group)
{
    struct reservation_info *b = of_gang(k, group);
    const struct workers *workers = engine_workers_of(k, group);
    if (!b || !workers || b->told || !reservation_is_early(k, b))
        return;
    struct intern *shapes = &k->cluster->pods.shape_table;
    struct arena mem = {0};
    struct reservation r = turn_of(k, group, &mem);
    shape_id was = b->like;
    b->like = shape_of_worker(k, b, &r, (pod_id){b->driver}, workers, &mem);
    arena_done(&mem);
    intern_hold(shapes, b->like);
    for (; b->like != was && b->slots.n; b->slots.n--)
        engine_end_slot(k, &vec_last(&b->slots));
    bool differs = b->like != was;
    intern_drop(shapes, was);
    engine_count_company(k, group);
    uint32_t leader = engine_leader_of(k, group);
    if (differs && leader != ID_NONE && queue_where(k->queue, leader) == QUEUE_PARKED)
        queue_activate(k->queue, k->now_ms, leader);
}

void engine_liken_company(struct engine *k, uint32_t set)
{
    for (uint32_t i = 0; i < k->cluster->groups.at.n; i++)
        if (k->cluster->groups.at.at[i].members.n && engine_set_of(k, i) == set)
            liken(k, i);
}

void engine_end_turn(struct engine *k, uint32_t group)
{
    struct reservation_info *b = of_gang(k, group);
    if (!b || !reservation_is_early(k, b))
        return;
    b->first_left = 0;
    vec_each(&b->slots, slot) {
        pod_id pod = {slot->pod};
        uint32_t node = pods_at(&k->cluster->pods, pod)->node;
        engine_uncount_slot(k, b, slot);
        b->left += slot->is_lost;
        slot->is_lost = false;
        engine_leave(k, pod);
        if (node == ID_NONE)
            continue;
        cluster_take(k->cluster, pod);
        pods_at(&k->cluster->pods, pod)->flags &= ~(uint32_t)POD_BOUND;
        engine_tell_free(k, pod, (node_id){node});
    }
}

const struct reservation_info *engine_company_of(const struct engine *k, uint32_t group,
                                                 uint32_t *wants)
{
    uint32_t at =
        k->reservations->of_gang.n ? map_find(&k->reservations->of_gang, group) : MAP_NONE;
    const struct reservation_info *b = at == MAP_NONE ? NULL : &k->reservations->all.at[at];
    if (!b || b->slots.n == 0 || !reservation_is_early(k, b))
        return NULL;
    *wants = (uint32_t)group_minimum(&k->cluster->groups.at.at[group]);
    *wants = b->told ? MAX(*wants, b->told + 1) : *wants;
    return b;
}

void engine_list_company(struct engine *k, uint32_t group, struct planner *p)
{
    p->wants = p->held = 0;
    vec_clear(&p->company);
    const struct reservation_info *b = engine_company_of(k, group, &p->wants);
    if (LIKELY(!b) || p->members.n == 0)
        return;
    for (uint32_t i = b->slots.n; i-- > 0;) {
        p->held += pods_at(&k->cluster->pods, (pod_id){b->slots.at[i].pod})->node != ID_NONE;
        if (slot_looks_for_room(k, &b->slots.at[i]))
            vec_push(&p->company, b->slots.at[i].pod);
    }
}

/* --- who leads them --- */

/* A LeaderWorkerSet may still say so. */
static bool may_come_in_turn(const struct group *g)
{
    return group_comes_in_turn(g) || g->object == KIND_LEADER_WORKER_SET;
}

void engine_put_driver(struct engine *k, pod_id pod, const struct pod *from)
{
    struct arena mem = {0};
    struct driver_needs needs;
    uint32_t group = engine_gang_of(k, pod);
    bool has_turn = group != ID_NONE && may_come_in_turn(&k->cluster->groups.at.at[group]);
    struct reservation_info *b = driven_by(k, pod);
    if (b && b->gang != ID_NONE && (!has_turn || b->gang != group))
        engine_remove_driver(k, pod);
    bool may_lead = has_turn ? !of_gang(k, group)
                             : engine_gangs_of(k, pod) && !b &&
                                   engine_reservations_key(k, pod).name != SYM_NONE;
    bool is_driver = may_lead && driver_needs(from, &mem, &needs);
    bool has_ended = pods_at(&k->cluster->pods, pod)->node != ID_NONE &&
                     placed_ms(k, pod) + HOLD_MS <= k->now_ms;
    if (has_turn && may_lead) {
        begin_turn(k, pod, group, from, is_driver ? &needs : NULL);
    } else if (is_driver && !has_ended) {
        struct reservation room = room_for(from, &needs, &mem);
        take_driver(k, pod, from, &room);
    }
    if (has_turn)
        engine_count_company(k, group);
    arena_done(&mem);
}

/* Who of the gang goes on leading those to come: of those on a node, or else of all, the first. */
static uint32_t heir_of(const struct engine *k, uint32_t group, pod_id leader)
{
    uint32_t heir = ID_NONE;
    bool is_on_node = false;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        bool is = pods_at(&k->cluster->pods, (pod_id){*i})->node != ID_NONE;
        bool is_first = heir == ID_NONE || k->units.at[*i].arrival < k->units.at[heir].arrival;
        if (*i == leader.i || (is_on_node && !is) || (is == is_on_node && !is_first))
            continue;
        heir = *i;
        is_on_node = is;
    }
    return heir;
}

void engine_remove_driver(struct engine *k, pod_id pod)
{
    struct reservation_info *b = driven_by(k, pod);
    if (!b)
        return;
    uint32_t heir = b->gang == ID_NONE ? ID_NONE : heir_of(k, b->gang, pod);
    map_remove(&k->reservations->of_driver, pod.i);
    if (heir != ID_NONE) {
        map_put(&k->reservations->of_driver, heir, (uint32_t)(b - k->reservations->all.at));
        b->driver = heir;
        engine_guard_driver(k, b);
        return;
    }
    if (b->gang != ID_NONE)
        map_remove(&k->reservations->of_gang, b->gang);
    engine_drop_reservation(k, b);
    b->driver = ID_NONE;
}

/* --- a driver that is in no gang --- */

/* How many of those who look for room find it; `*rejected`: who refuses the next. */
static uint32_t place_company(struct engine *k, struct reservation_info *b, uint64_t *rejected)
{
    struct cluster *c = k->cluster;
    uint32_t placed = 0;
    vec_each(&b->slots, slot) {
        pod_id pod = {slot->pod};
        if (!slot_looks_for_room(k, slot))
            continue;
        struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
        struct verdict v = engine_decide(k, pod, class);
        if (v.node == ID_NONE || v.error) {
            *rejected = verdict_plugins(&v, &k->classes.reasons, class);
            return placed;
        }
        cluster_place(c, pod, (node_id){v.node});
        placed++;
    }
    return placed;
}

bool engine_has_company(struct engine *k, pod_id pod, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct reservation_info *b = driven_by(k, pod);
    struct class *class = b ? classes_of(&k->classes, pods_at(&c->pods, pod)->shape) : NULL;
    if (!b || class->error.n)
        return true;
    k->units.at[pod.i].profile =
        (uint8_t)k->figures->counts.of.at[class->profile - k->config.rules.profiles];
    uint32_t looking = 0, placed = 0;
    uint64_t rejected = 0;
    vec_each(&b->slots, slot)
        looking += slot_looks_for_room(k, slot);
    struct txn t = txn_begin(c);
    struct verdict v = engine_decide(k, pod, class);
    bool finds_room = v.node != ID_NONE && !v.error;
    if (finds_room) {
        cluster_nominate(c, pod, SYM_NONE);
        cluster_place(c, pod, (node_id){v.node});
        placed = place_company(k, b, &rejected);
    }
    txn_undo(c, t);
    if (!finds_room || placed == looking) /* else it is told why, like any pod */
        return true;
    struct str text =
        arena_printf(&out->mem, "needs room for %u workers beside it; %u fit now", looking, placed);
    k->above->refuse(k, pod, text, rejected, out);
    return false;
}
