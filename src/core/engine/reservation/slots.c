#include "core/engine/reservation/reservation.h"

#include "core/cluster/read.h"
#include "core/engine/reservation/reservation.h"
#include "core/model/mirror.h"
#include "core/model/object.h"
#include "core/model/resources.h"

/* The highest priority that users may give a pod: that of what they reserve, and with which every
 * slot stands in the queue. A pod that is more important than what the slot stands for takes its
 * room afterwards. */
enum { RESERVED = 1000000000 };

/* --- who they are for --- */

bool reservation_is_for(const struct reservation_info *b, sym namespace, sym group)
{
    return b->name != SYM_NONE && group != SYM_NONE && b->group == group &&
           b->namespace == namespace;
}

static struct slot *slot_of(const struct engine *k, struct reservation_info *b, uint32_t pod)
{
    return &b->slots.at[map_find(&k->reservations->places, pod)];
}

bool slot_is_left(const struct slot *slot)
{
    return slot->user == ID_NONE && !slot->is_spent && !slot->is_lost;
}

/* --- slots as pods --- */

/* Their resources' taints are no obstacle: GPU nodes are often kept for those who ask for GPUs. */
static void add_tolerations(struct pod *pod, const amount_list *amounts, struct arena *mem)
{
    pod->spec.tolerations.at = arena_array(mem, struct toleration, amounts->n);
    list_each(amounts, a)
        if (resource_is_extended(a->name))
            pod->spec.tolerations.at[pod->spec.tolerations.n++] =
                (struct toleration){.key = a->name, .op = STR("Exists")};
}

/* Where the pods may go for which it is kept, it may stand. */
static void tolerate_all(struct pod *pod, struct arena *mem)
{
    pod->spec.tolerations.at = arena_array(mem, struct toleration, 1);
    pod->spec.tolerations.at[pod->spec.tolerations.n++] = (struct toleration){.op = STR("Exists")};
}

/* As the pods of a DaemonSet name theirs: no other node will do. */
static void add_node(struct pod *pod, struct str node, struct arena *mem)
{
    struct requirement *name = arena_array(mem, struct requirement, 1);
    struct node_selector_term *term = arena_array(mem, struct node_selector_term, 1);
    struct node_selector *required = arena_array(mem, struct node_selector, 1);
    struct str *value = arena_copy(mem, &node, sizeof(node));
    *name = (struct requirement){STR("metadata.name"), STR("In"), {value, 1}};
    term->match_fields.at = name;
    term->match_fields.n = 1;
    required->terms.at = term;
    required->terms.n = 1;
    pod->spec.affinity = arena_array(mem, struct affinity, 1);
    pod->spec.affinity->node = arena_array(mem, struct node_affinity, 1);
    pod->spec.affinity->node->required = required;
}

/* The pod that stands for an entry; lives in `mem`. It goes where the pod `like` may go; NULL:
 * anywhere. */
struct pod *engine_slot_pod(const struct engine *k, const struct reservation *r,
                            const struct reserved *entry, const struct pod *like, int32_t priority,
                            struct arena *mem)
{
    struct pod *pod = arena_array(mem, struct pod, 1);
    struct container *container = arena_array(mem, struct container, 1);
    field_init(kind_info_get(KIND_POD)->fields, pod);
    bool is_own =
        memchr(r->meta.name.p, '/', r->meta.name.n); /* no entry of a user's is called so */
    pod->meta.name =
        arena_printf(mem, "%s" STR_FMT "/" STR_FMT "/" STR_FMT, is_own ? "/" : "",
                     STR_ARG(r->meta.namespace), STR_ARG(r->meta.name), STR_ARG(entry->name));
    pod->meta.uid = r->meta.uid;
    pod->meta.created_ms = r->meta.created_ms;
    pod->spec.scheduler_name = like ? like->spec.scheduler_name : k->config.rules.profiles[0].name;
    pod->spec.has_priority = true;
    pod->spec.priority = priority;
    pod->spec.preemption_policy = STR("Never");
    container->resources.requests = entry->amounts;
    container->resources.has_requests = true;
    pod->spec.containers.at = container;
    pod->spec.containers.n = 1;
    if (entry->node.n)
        add_node(pod, entry->node, mem);
    if (like) {
        pod->spec.tolerations.at = like->spec.tolerations.at;
        pod->spec.tolerations.n = like->spec.tolerations.n;
        pod->spec.node_selector = like->spec.node_selector;
    } else if (is_own && entry->node.n) {
        tolerate_all(pod, mem);
    } else {
        add_tolerations(pod, &entry->amounts, mem);
    }
    return pod;
}

/* The slot is over, wherever it stands. */
void engine_end_slot(struct engine *k, struct slot *slot)
{
    struct reservations *h = k->reservations;
    struct reservation_info *b = &h->all.at[map_remove(&h->of_pod, slot->pod)];
    b->left -= slot_is_left(slot);
    engine_uncount_slot(k, b, slot);
    map_remove(&h->places, slot->pod);
    if (slot->user != ID_NONE)
        map_remove(&h->of_user, slot->user);
    slot->user = ID_NONE;
    engine_remove_slot(k, (pod_id){slot->pod});
    intern_drop(&k->cluster->names.text, slot->entry);
}

/* --- reservations --- */

static uint64_t name_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

struct reservation_info *engine_find_reservation(struct engine *k, sym namespace, sym name)
{
    bool is_known = namespace != SYM_NONE && name != SYM_NONE;
    uint32_t at =
        is_known ? map_find(&k->reservations->by_name, name_of(namespace, name)) : MAP_NONE;
    return at == MAP_NONE ? NULL : &k->reservations->all.at[at];
}

static struct reservation_info *find_reservation(struct engine *k, const struct meta *meta)
{
    const struct names *names = &k->cluster->names;
    return engine_find_reservation(k, names_find(names, meta->namespace),
                                   names_find(names, meta->name));
}

static sym held_name(struct engine *k, struct str text)
{
    sym name = names_get(&k->cluster->names, text);
    intern_hold(&k->cluster->names.text, name);
    return name;
}

static bool ends_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct reservations *h = ctx;
    int64_t x = h->all.at[a].ends_ms, y = h->all.at[b].ends_ms;
    return x != y ? x < y : a < b;
}

void engine_set_end(struct engine *k, struct reservation_info *b, int64_t ends_ms)
{
    struct reservations *h = k->reservations;
    uint32_t at = (uint32_t)(b - h->all.at);
    h->ends.before = ends_before;
    h->ends.ctx = h;
    if (heap_has(&h->ends, at))
        heap_remove(&h->ends, at);
    b->ends_ms = ends_ms;
    if (!b->is_over)
        heap_add(&h->ends, at);
}

static void set_over(struct engine *k, struct reservation_info *b, bool is_over)
{
    b->is_over = is_over;
    engine_set_end(k, b, b->ends_ms);
}

struct reservation_info *engine_add_reservation(struct engine *k, const struct meta *meta)
{
    struct reservations *h = k->reservations;
    uint32_t at = h->free.n ? vec_pop(&h->free) : h->all.n;
    if (at == h->all.n)
        vec_push(&h->all, (struct reservation_info){0});
    struct reservation_info *b = &h->all.at[at];
    vec_done(&b->slots); /* of whoever had the number */
    *b = (struct reservation_info){.namespace = held_name(k, meta->namespace),
                                   .name = held_name(k, meta->name),
                                   .group = SYM_NONE,
                                   .driver = ID_NONE,
                                   .gang = ID_NONE,
                                   .like = ID_NONE,
                                   .work = ID_NONE,
                                   .priority = RESERVED};
    map_put(&h->by_name, name_of(b->namespace, b->name), at);
    return b;
}

/* Slots whose entries are gone are over. */
static void end_slots(struct engine *k, struct reservation_info *b)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < b->slots.n; i++) {
        if (!b->slots.at[i].is_meant) {
            engine_end_slot(k, &b->slots.at[i]);
            continue;
        }
        b->slots.at[left] = b->slots.at[i];
        map_put(&k->reservations->places, b->slots.at[left].pod, left);
        left++;
    }
    b->slots.n = left;
    b->first_left = 0;
}

struct slot *engine_add_entry(struct engine *k, struct reservation_info *b, sym entry)
{
    intern_hold(&k->cluster->names.text, entry);
    vec_push(&b->slots, ((struct slot){.entry = entry, .pod = ID_NONE, .user = ID_NONE}));
    b->left++;
    return &vec_last(&b->slots);
}

/* The pod stands for the slot from now on. */
void engine_keep_slot_row(struct engine *k, struct reservation_info *b, struct slot *slot,
                          pod_id pod)
{
    slot->pod = pod.i;
    slot->is_meant = true;
    pods_at(&k->cluster->pods, pod)->flags |= POD_SLOT;
    k->units.at[pod.i].priority = RESERVED;
    queue_reorder(k->queue, pod.i);
    map_put(&k->reservations->of_pod, pod.i, (uint32_t)(b - k->reservations->all.at));
    map_put(&k->reservations->places, pod.i, (uint32_t)(slot - b->slots.at));
}

/* The slot of the entry; `places` knows where those are that were there before. */
static struct slot *known_slot(struct engine *k, struct reservation_info *b,
                               const struct map *places, struct str entry)
{
    sym name = names_get(&k->cluster->names, entry);
    uint32_t at = map_find(places, name);
    return at == MAP_NONE ? engine_add_entry(k, b, name) : &b->slots.at[at];
}

/* The slot becomes what its entry says; one that is used up stays so. */
static void put_slot(struct engine *k, struct reservation_info *b, const struct map *places,
                     struct str entry, const struct pod *pod)
{
    struct slot *slot = known_slot(k, b, places, entry);
    slot->is_meant = true;
    b->left += slot->is_lost && b->is_planned; /* there is another plan */
    slot->is_lost = slot->is_lost && !b->is_planned;
    if (!slot_is_left(slot))
        return;
    engine_uncount_slot(k, b, slot); /* of what it was */
    if (slot->pod != ID_NONE) {
        map_remove(&k->reservations->of_pod, slot->pod);
        map_remove(&k->reservations->places, slot->pod);
    }
    engine_keep_slot_row(k, b, slot, engine_put_slot(k, pod));
}

void engine_put_slots(struct engine *k, struct reservation_info *b, const struct reservation *from,
                      const struct pod *like)
{
    struct arena mem = {0};
    reserved_list entries = reservation_read(from, &mem);
    struct map places = {0};
    for (uint32_t i = 0; i < b->slots.n; i++)
        map_put(&places, b->slots.at[i].entry, i);
    b->entries = entries.n;
    list_each(&entries, entry)
        put_slot(k, b, &places, entry->name,
                 engine_slot_pod(k, from, entry, like, b->priority, &mem));
    map_done(&places);
    arena_done(&mem);
    struct circle *circle = engine_circle(k, b->namespace, b->group);
    if (circle)
        circle->is_unmatched = true; /* pods that run already may have the entries */
}

void engine_set_work(struct engine *k, struct reservation_info *b, pod_id like)
{
    struct pods *pods = &k->cluster->pods;
    if (b->work != ID_NONE)
        intern_drop(&pods->shape_table, b->work);
    b->work = like.i == ID_NONE ? ID_NONE : pods_at(pods, like)->shape;
    if (b->work == ID_NONE)
        return;
    intern_hold(&pods->shape_table, b->work);
    b->priority = cluster_spec(k->cluster, like)->priority;
}

static struct reservation_info *put_reservation_info(struct engine *k,
                                                     const struct reservation *from, bool is_own,
                                                     pod_id like)
{
    struct reservation_info *b = find_reservation(k, &from->meta);
    if (!b)
        b = engine_add_reservation(k, &from->meta);
    b->is_own = is_own;
    if (is_own && like.i == ID_NONE)
        b->priority = 0; /* as that of pods of whom nothing is known */
    engine_set_work(k, b, like);
    engine_set_reservation_group(k, b, reservation_group(from));
    int64_t created_ms = from->meta.created_ms == TIME_NONE ? k->now_ms : from->meta.created_ms;
    b->ends_ms = created_ms + reservation_hold_ms(from);
    set_over(k, b, b->ends_ms <= k->now_ms || from->meta.deleted_ms != TIME_NONE);
    vec_each(&b->slots, slot)
        slot->is_meant = false;
    b->entries = b->is_over ? b->entries : 0;
    if (!b->is_over)
        engine_put_slots(k, b, from, NULL);
    end_slots(k, b);
    return b;
}

bool reservation_is_own(const struct reservation_info *b)
{
    return b->is_own || b->driver != ID_NONE;
}

void engine_put_reservation(struct engine *k, const struct reservation *from)
{
    if (reservation_is_mirror(from)) {
        engine_put_mirror(k, from);
        return;
    }
    struct reservation_info *b = put_reservation_info(k, from, false, (pod_id){ID_NONE});
    engine_see_reservation(k, b, from);
}

/* It holds nothing any more. */
static void end_reservation(struct engine *k, struct reservation_info *b)
{
    set_over(k, b, true);
    vec_each(&b->slots, slot)
        slot->is_meant = false;
    end_slots(k, b);
    engine_make_stale(k, &b->published);
}

void engine_drop_reservation(struct engine *k, struct reservation_info *b)
{
    end_reservation(k, b);
    if (b->like != ID_NONE)
        intern_drop(&k->cluster->pods.shape_table, b->like);
    engine_set_work(k, b, (pod_id){ID_NONE});
    engine_set_reservation_group(k, b, (struct str){0});
    if (reservation_is_own(b))
        engine_drop_mirror(k, b);
    published_status_done(&b->published);
    mem_free(b->finalizers);
    b->finalizers = NULL;
    map_remove(&k->reservations->by_name, name_of(b->namespace, b->name));
    vec_push(&k->reservations->free, (uint32_t)(b - k->reservations->all.at));
    intern_drop(&k->cluster->names.text, b->namespace);
    intern_drop(&k->cluster->names.text, b->name);
    b->name = SYM_NONE;
}

void engine_remove_reservation(struct engine *k, const struct meta *meta)
{
    struct reservation_info *b = find_reservation(k, meta);
    if (b)
        engine_drop_reservation(k, b);
    else
        engine_remove_mirror(k, meta);
}

void engine_end_reservations(struct engine *k)
{
    while (reservations_next_ms(k->reservations) <= k->now_ms) {
        struct reservation_info *b = &k->reservations->all.at[k->reservations->ends.at[0]];
        end_reservation(k, b);
        engine_guard_driver(k, b);
        if (b->is_own)
            engine_drop_reservation(k, b);
    }
}

/* --- looking for room --- */

void engine_take_slot(struct engine *k, struct reservation_info *b, struct slot *slot, pod_id user)
{
    engine_uncount_slot(k, b, slot);
    slot->user = user.i;
    b->left--;
    map_put(&k->reservations->of_user, user.i, slot->pod);
    while (b->first_left < b->slots.n && !slot_is_left(&b->slots.at[b->first_left]))
        b->first_left++;
    engine_guard_driver(k, b);
    engine_make_stale(k, &b->published);
}

void engine_lose_slot(struct engine *k, pod_id pod)
{
    struct reservation_info *b =
        &k->reservations->all.at[map_find(&k->reservations->of_pod, pod.i)];
    struct slot *slot = slot_of(k, b, pod.i);
    node_id node = {pods_at(&k->cluster->pods, pod)->node};
    assert(slot_is_left(slot));
    engine_uncount_slot(k, b, slot);
    slot->is_lost = true;
    b->left--;
    engine_leave(k, pod);
    cluster_nominate(k->cluster, pod, SYM_NONE);
    engine_guard_driver(k, b);
    engine_make_stale(k, &b->published);
    if (node.i == ID_NONE)
        return;
    cluster_take(k->cluster, pod);
    pods_at(&k->cluster->pods, pod)->flags &= ~(uint32_t)POD_BOUND;
    engine_tell_free(k, pod, node);
}

const struct shape *engine_work_of(const struct engine *k, pod_id pod)
{
    const struct pods *pods = &k->cluster->pods;
    uint32_t at = k->reservations->of_pod.n ? map_find(&k->reservations->of_pod, pod.i) : MAP_NONE;
    const struct reservation_info *b = at == MAP_NONE ? NULL : &k->reservations->all.at[at];
    return b && b->work != ID_NONE ? &pods->shapes.at[b->work] : pods_shape(pods, pod);
}

/* Finds room for the slot; false: there is none, for the plugins' reasons. */
static bool find_room(struct engine *k, pod_id pod, uint64_t *rejected)
{
    struct cluster *c = k->cluster;
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    struct verdict v = engine_decide(k, pod, class);
    if (v.node == ID_NONE || v.error) {
        *rejected = verdict_plugins(&v, &k->classes.reasons, class);
        return false;
    }
    cluster_nominate(c, pod, SYM_NONE);
    cluster_place(c, pod, (node_id){v.node});
    return true;
}

/* Pods that run and use no slot get those for them, before any of them looks for room. */
static void match(struct engine *k, const struct reservation_info *b)
{
    struct circle *circle = b->is_own ? NULL : engine_circle(k, b->namespace, b->group);
    if (circle)
        engine_match(k, circle);
}

/* Finds room for the slot, or somebody who has it; false: neither, for the plugins' reasons. */
static bool settle_slot(struct engine *k, struct reservation_info *b, struct slot *slot,
                        uint64_t *rejected)
{
    struct cluster *c = k->cluster;
    pod_id pod = {slot->pod};
    match(k, b);
    if (!slot_is_left(slot))
        return true;
    if (!find_room(k, pod, rejected))
        return false;
    pods_at(&c->pods, pod)->flags |= POD_BOUND;
    engine_make_stale(k, &b->published);
    return true;
}

bool engine_step_slot(struct engine *k, pod_id pod)
{
    uint32_t at = map_find(&k->reservations->of_pod, pod.i);
    if (at == MAP_NONE)
        return false;
    struct reservation_info *b = &k->reservations->all.at[at];
    uint64_t rejected = 0;
    if (settle_slot(k, b, slot_of(k, b, pod.i), &rejected)) {
        queue_settle(k->queue, pod.i);
        engine_stop_timer(k, pod.i);
    } else if (rejected) {
        queue_refuse(k->queue, k->now_ms, pod.i, rejected, 0);
    } else if (k->cluster->nodes.present) {
        queue_fail(k->queue, k->now_ms, pod.i);
    } else {
        k->above->try_later(k, pod.i);
    }
    return true;
}

bool slot_looks_for_room(const struct engine *k, const struct slot *slot)
{
    return slot_is_left(slot) &&
           engine_profile_of(k, (pod_id){slot->pod}) && /* it may be gone by now */
           pods_at(&k->cluster->pods, (pod_id){slot->pod})->node == ID_NONE;
}

static bool is_idle(const struct engine *k, const struct reservation_info *b,
                    const struct slot *slot)
{
    bool has_plan =
        !b->is_planned || pods_at(&k->cluster->pods, (pod_id){slot->pod})->pin != SYM_NONE;
    return !has_plan || reservation_is_early(k, b) || b->is_over || !slot_looks_for_room(k, slot);
}

bool engine_is_idle_slot(const struct engine *k, pod_id pod)
{
    uint32_t at = map_find(&k->reservations->of_pod, pod.i);
    if (at == MAP_NONE)
        return false;
    struct reservation_info *b = &k->reservations->all.at[at];
    return is_idle(k, b, slot_of(k, b, pod.i));
}

static void place_slots(struct engine *k, struct reservation_info *b)
{
    uint64_t rejected;
    vec_each(&b->slots, slot)
        if (!is_idle(k, b, slot) && settle_slot(k, b, slot, &rejected))
            engine_leave(k, (pod_id){slot->pod});
}

/* Those that have a plan are where it says, or wait for it; the others are nowhere. */
static void stand_as_planned(struct engine *k, struct reservation_info *b)
{
    vec_each(&b->slots, slot) {
        if (is_idle(k, b, slot))
            engine_leave(k, (pod_id){slot->pod});
        else
            engine_stand(k, (pod_id){slot->pod}, true); /* it was lost, and has a plan again */
    }
    place_slots(k, b);
}

void engine_reserve_plan(struct engine *k, const struct reservation *from, pod_id leader)
{
    struct reservation_info *b = put_reservation_info(k, from, true, leader);
    b->is_planned = true;
    stand_as_planned(k, b);
    engine_make_stale(k, &b->published);
}

void engine_reserve_for_lost(struct engine *k, const struct reservation *from, pod_id like)
{
    struct coscheduling_args defaults = COSCHEDULING_DEFAULTS;
    struct coscheduling_args args = like.i == ID_NONE ? defaults : engine_gang_args(k, like);
    struct reservation_info *b = put_reservation_info(k, from, true, like);
    b->lost_percent = MAX(args.held_percent, (int64_t)1);
    engine_bound_slots(k, b);
    engine_make_stale(k, &b->published);
}

void engine_match_slots(struct engine *k)
{
    vec_each(&k->reservations->all, b)
        if (b->slots.n)
            match(k, b);
}

void engine_try_slots(struct engine *k)
{
    uint64_t rejected;
    vec_each(&k->reservations->all, b)
        vec_each(&b->slots, slot)
            if (slot_is_left(slot) && !is_idle(k, b, slot))
                (void)find_room(k, (pod_id){slot->pod}, &rejected);
}

int64_t engine_reserved_until_ms(const struct engine *k, pod_id pod)
{
    uint32_t slot =
        k->reservations->of_user.n ? map_find(&k->reservations->of_user, pod.i) : MAP_NONE;
    const struct reservation_info *b =
        slot == MAP_NONE ? NULL
                         : &k->reservations->all.at[map_find(&k->reservations->of_pod, slot)];
    return b && !b->is_own ? b->ends_ms : 0;
}

/* Nobody uses the slot any more: it looks for room again, first where it was. */
static void set_free(struct engine *k, struct reservation_info *b, struct slot *slot, sym node)
{
    pod_id ghost = {slot->pod};
    struct circle *circle = engine_circle(k, b->namespace, b->group);
    b->left++;
    b->first_left = MIN(b->first_left, (uint32_t)(slot - b->slots.at));
    if (circle)
        circle->is_unmatched |= circle->has_without;
    pods_at(&k->cluster->pods, ghost)->flags &= ~(uint32_t)POD_BOUND;
    engine_bound_slot(k, b, slot);
    if (slot->is_lost)
        return;
    if (b->gang == ID_NONE) /* whose members may go anywhere */
        cluster_nominate(k->cluster, ghost, node);
    engine_stand(k, ghost, true);
}

void engine_give_back(struct engine *k, pod_id pod, sym node, enum leaving why)
{
    uint32_t ghost =
        k->reservations->of_user.n ? map_remove(&k->reservations->of_user, pod.i) : MAP_NONE;
    if (ghost == MAP_NONE)
        return;
    struct reservation_info *b =
        &k->reservations->all.at[map_find(&k->reservations->of_pod, ghost)];
    struct slot *slot = slot_of(k, b, ghost);
    engine_make_stale(k, &b->published);
    slot->user = ID_NONE;
    slot->is_spent = why == LEAVING_ENDED || (why == LEAVING_EVICTED && b->is_own);
    if (!slot->is_spent)
        set_free(k, b, slot, node);
}

uint32_t engine_n_reservations(const struct engine *k)
{
    return k->reservations->all.n;
}

const struct reservation_info *engine_reservation_at(const struct engine *k, uint32_t i)
{
    return &k->reservations->all.at[i];
}

const struct reservation_info *engine_reservation_of_slot(const struct engine *k, uint32_t pod)
{
    uint32_t at = k->reservations->of_pod.n ? map_find(&k->reservations->of_pod, pod) : MAP_NONE;
    return at == MAP_NONE ? NULL : &k->reservations->all.at[at];
}

bool engine_has_drivers(const struct engine *k)
{
    return k->reservations->of_driver.n || k->reservations->of_gang.n;
}

uint32_t engine_keeper(const struct engine *k)
{
    return k->reservations->keeper;
}

uint32_t engine_n_slots(const struct engine *k)
{
    return k->reservations->of_pod.n;
}

struct reservations *reservations_new(void)
{
    struct reservations *h = mem_alloc(sizeof(*h));
    h->keeper = ID_NONE;
    return h;
}

void reservations_free(struct reservations *h)
{
    vec_each(&h->all, b) {
        vec_done(&b->slots);
        published_status_done(&b->published);
        mem_free(b->finalizers);
    }
    vec_each(&h->orphan_mirrors, orphan_mirror) {
        mem_free(orphan_mirror->uid);
        mem_free(orphan_mirror->finalizers);
    }
    circles_done(h);
    tenures_done(h);
    vec_done(&h->orphan_mirrors);
    vec_done(&h->all);
    vec_done(&h->free);
    heap_done(&h->ends);
    map_done(&h->by_name);
    map_done(&h->of_pod);
    map_done(&h->places);
    map_done(&h->of_user);
    map_done(&h->of_driver);
    map_done(&h->of_gang);
    vec_done(&h->off_nodes);
    map_done(&h->off_by_node);
    mem_free(h);
}
