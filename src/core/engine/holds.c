#include "core/engine/holds.h"

#include "core/cluster/read.h"
#include "core/engine/inside.h"
#include "core/model/mirror.h"
#include "core/model/object.h"
#include "core/model/resources.h"

/* --- who they are for --- */

struct group_key engine_holds_key(const struct engine *k, pod_id pod)
{
    static const struct str labels[] = {
        STR("scheduling.kubenexus.io/app-id"),
        STR("spark-app-id"),
        STR("ray.io/cluster"),
    };
    const struct cluster *c = k->cluster;
    const struct shape *shape = pods_shape(&c->pods, pod);
    struct group_key key = {shape->namespace, SYM_NONE};
    uint32_t group = groups_of(&c->groups, pod);
    if (group != ID_NONE)
        key.name = c->groups.at.at[group].name;
    for (size_t i = 0; i < LEN(labels) && key.name == SYM_NONE; i++) {
        sym label = names_find(&c->names, labels[i]);
        if (label != SYM_NONE)
            key.name = names_label(&c->names, shape->labels, label);
    }
    return key;
}

bool booking_is_for(const struct booking *b, sym namespace, sym group)
{
    return b->name != SYM_NONE && group != SYM_NONE && b->group == group &&
           b->namespace == namespace;
}

static bool is_for(const struct booking *b, struct group_key key)
{
    return booking_is_for(b, key.namespace, key.name);
}

static struct hold *hold_of(struct booking *b, pod_id pod)
{
    vec_each(&b->holds, hold)
        if (hold->pod == pod.i)
            return hold;
    return NULL;
}

/* --- holds as pods --- */

/* Their resources' taints are no obstacle: GPU nodes are often kept for those who ask for GPUs. */
static void add_tolerations(struct pod *pod, const amount_list *amounts, struct arena *mem)
{
    pod->spec.tolerations.at = arena_array(mem, struct toleration, amounts->n);
    list_each(amounts, a)
        if (resource_is_extended(a->name))
            pod->spec.tolerations.at[pod->spec.tolerations.n++] =
                (struct toleration){.key = a->name, .op = STR("Exists")};
}

/* As the pods of a DaemonSet name theirs: no other node will do. */
static void add_node(struct pod *pod, struct str node, struct arena *mem)
{
    struct requirement *name = arena_array(mem, struct requirement, 1);
    struct node_selector_term *term = arena_array(mem, struct node_selector_term, 1);
    struct node_selector *required = arena_array(mem, struct node_selector, 1);
    struct str *value = arena_copy(mem, &node, sizeof(node));
    *name = (struct requirement){
        STR("metadata.name"), STR("In"), {value, 1}
    };
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
struct pod *engine_hold_pod(const struct engine *k, const struct reservation *r,
                            const struct reserved *entry, const struct pod *like, struct arena *mem)
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
    pod->spec.scheduler_name = like ? like->spec.scheduler_name : k->config.profiles[0].name;
    pod->spec.has_priority = true;
    pod->spec.priority = INT32_MAX;
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
    } else {
        add_tolerations(pod, &entry->amounts, mem);
    }
    return pod;
}

static void forget_user(struct engine *k, struct hold *hold)
{
    if (hold->user != ID_NONE)
        map_remove(&k->holds.of_user, hold->user);
    hold->user = ID_NONE;
}

/* The hold is over, wherever it stands. */
void engine_end_hold(struct engine *k, int64_t now_ms, struct hold *hold)
{
    forget_user(k, hold);
    map_remove(&k->holds.of_pod, hold->pod);
    engine_remove_pod(k, now_ms, (pod_id){hold->pod}, false);
    intern_drop(&k->cluster->names.text, hold->entry);
}

/* --- reservations --- */

static struct booking *find_booking(struct engine *k, const struct meta *meta)
{
    const struct names *names = &k->cluster->names;
    sym namespace = names_find(names, meta->namespace), name = names_find(names, meta->name);
    vec_each(&k->holds.bookings, b)
        if (b->name != SYM_NONE && b->name == name && b->namespace == namespace)
            return b;
    return NULL;
}

static sym held_name(struct engine *k, struct str text)
{
    sym name = names_get(&k->cluster->names, text);
    intern_hold(&k->cluster->names.text, name);
    return name;
}

struct booking *engine_add_booking(struct engine *k, const struct meta *meta)
{
    struct booking *free = NULL;
    vec_each(&k->holds.bookings, b)
        if (b->name == SYM_NONE)
            free = b;
    if (!free) {
        vec_push(&k->holds.bookings, (struct booking){0});
        free = &vec_last(&k->holds.bookings);
    }
    vec_done(&free->holds); /* of whoever had the number */
    *free = (struct booking){.namespace = held_name(k, meta->namespace),
                             .name = held_name(k, meta->name),
                             .group = SYM_NONE,
                             .driver = ID_NONE,
                             .gang = ID_NONE,
                             .like = ID_NONE};
    return free;
}

void engine_set_booking_group(struct engine *k, struct booking *b, struct str group)
{
    sym is = group.n ? held_name(k, group) : SYM_NONE;
    if (b->group != SYM_NONE)
        intern_drop(&k->cluster->names.text, b->group);
    b->group = is;
}

void holds_find_next_end(struct holds *h)
{
    h->next_ms = INT64_MAX;
    vec_each(&h->bookings, b)
        if (b->name != SYM_NONE && !b->is_over)
            h->next_ms = MIN(h->next_ms, b->ends_ms);
}

/* Holds whose entries are gone are over. */
static void end_holds(struct engine *k, int64_t now_ms, struct booking *b)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < b->holds.n; i++) {
        if (b->holds.at[i].is_meant)
            b->holds.at[left++] = b->holds.at[i];
        else
            engine_end_hold(k, now_ms, &b->holds.at[i]);
    }
    b->holds.n = left;
}

static struct hold *add_hold(struct engine *k, struct booking *b, sym entry)
{
    intern_hold(&k->cluster->names.text, entry);
    vec_push(&b->holds, (struct hold){.entry = entry, .pod = ID_NONE, .user = ID_NONE});
    return &vec_last(&b->holds);
}

struct hold *engine_entry_hold(struct engine *k, struct booking *b, struct str entry)
{
    sym name = names_get(&k->cluster->names, entry);
    vec_each(&b->holds, hold)
        if (hold->entry == name)
            return hold;
    return add_hold(k, b, name);
}

/* The same; `places` knows where those are that were there before. */
static struct hold *known_hold(struct engine *k, struct booking *b, const struct map *places,
                               struct str entry)
{
    sym name = names_get(&k->cluster->names, entry);
    uint32_t at = map_find(places, name);
    return at == MAP_NONE ? add_hold(k, b, name) : &b->holds.at[at];
}

/* The hold becomes what its entry says; one that is used up stays so. */
static void put_hold(struct engine *k, int64_t now_ms, struct booking *b, const struct map *places,
                     struct str entry, const struct pod *pod)
{
    struct hold *hold = known_hold(k, b, places, entry);
    hold->is_meant = true;
    if (hold->user != ID_NONE || hold->is_spent)
        return;
    if (hold->pod != ID_NONE)
        map_remove(&k->holds.of_pod, hold->pod);
    hold->pod = engine_put_hold(k, now_ms, pod).i;
    map_put(&k->holds.of_pod, hold->pod, (uint32_t)(b - k->holds.bookings.at));
}

void engine_put_holds(struct engine *k, int64_t now_ms, struct booking *b,
                      const struct reservation *from, const struct pod *like)
{
    struct arena mem = {0};
    reserved_list entries = reservation_read(from, &mem);
    struct map places = {0};
    for (uint32_t i = 0; i < b->holds.n; i++)
        map_put(&places, b->holds.at[i].entry, i);
    b->entries = entries.n;
    list_each(&entries, entry)
        put_hold(k, now_ms, b, &places, entry->name, engine_hold_pod(k, from, entry, like, &mem));
    map_done(&places);
    arena_done(&mem);
}

static void put_booking(struct engine *k, int64_t now_ms, const struct reservation *from,
                        bool is_own)
{
    struct booking *b = find_booking(k, &from->meta);
    if (!b)
        b = engine_add_booking(k, &from->meta);
    b->is_own = is_own;
    engine_set_booking_group(k, b, reservation_group(from));
    int64_t created_ms = from->meta.created_ms == TIME_NONE ? now_ms : from->meta.created_ms;
    b->ends_ms = created_ms + reservation_hold_ms(from);
    b->is_over = b->ends_ms <= now_ms || from->meta.deleted_ms != TIME_NONE;
    vec_each(&b->holds, hold)
        hold->is_meant = false;
    b->entries = b->is_over ? b->entries : 0;
    if (!b->is_over)
        engine_put_holds(k, now_ms, b, from, NULL);
    end_holds(k, now_ms, b);
    holds_find_next_end(&k->holds);
}

bool booking_is_own(const struct booking *b)
{
    return b->is_own || b->driver != ID_NONE;
}

void engine_put_reservation(struct engine *k, int64_t now_ms, const struct reservation *from)
{
    if (reservation_is_mirror(from)) {
        if (!engine_recall(k, now_ms, from))
            engine_put_mirror(k, now_ms, from);
        return;
    }
    put_booking(k, now_ms, from, false);
    engine_see_booking(k, now_ms, find_booking(k, &from->meta), from);
}

void engine_book(struct engine *k, int64_t now_ms, const struct reservation *from)
{
    put_booking(k, now_ms, from, true);
    engine_make_stale(k, now_ms, &find_booking(k, &from->meta)->shown);
}

void engine_dress_hold(struct engine *k, const struct meta *meta, uint32_t number, pod_id like)
{
    pod_id pod = {find_booking(k, meta)->holds.at[number].pod};
    pods_reshape(&k->cluster->pods, pod, read_dressed(k->cluster, pod, like));
}

/* It holds nothing any more. */
static void end_booking(struct engine *k, int64_t now_ms, struct booking *b)
{
    b->is_over = true;
    vec_each(&b->holds, hold)
        hold->is_meant = false;
    end_holds(k, now_ms, b);
    engine_make_stale(k, now_ms, &b->shown);
}

void engine_drop_booking(struct engine *k, int64_t now_ms, struct booking *b)
{
    end_booking(k, now_ms, b);
    if (b->like != ID_NONE)
        intern_drop(&k->cluster->pods.shape_table, b->like);
    engine_set_booking_group(k, b, (struct str){0});
    if (booking_is_own(b))
        engine_drop_mirror(k, now_ms, b);
    exhibit_done(&b->shown);
    mem_free(b->finalizers);
    b->finalizers = NULL;
    intern_drop(&k->cluster->names.text, b->namespace);
    intern_drop(&k->cluster->names.text, b->name);
    b->name = SYM_NONE;
    holds_find_next_end(&k->holds);
}

void engine_remove_reservation(struct engine *k, int64_t now_ms, const struct meta *meta)
{
    struct booking *b = find_booking(k, meta);
    if (b)
        engine_drop_booking(k, now_ms, b);
    else if (!engine_lose_memory(k, now_ms, meta))
        engine_remove_mirror(k, now_ms, meta);
}

void engine_end_holds(struct engine *k, int64_t now_ms)
{
    vec_each(&k->holds.bookings, b)
        if (b->name != SYM_NONE && !b->is_over && b->ends_ms <= now_ms) {
            end_booking(k, now_ms, b);
            engine_guard_driver(k, b);
            if (b->is_own)
                engine_drop_booking(k, now_ms, b);
        }
    holds_find_next_end(&k->holds);
}

/* --- looking for room --- */

static void use_up(struct engine *k, struct booking *b, struct hold *hold, pod_id user)
{
    hold->user = user.i;
    map_put(&k->holds.of_user, user.i, (uint32_t)(b - k->holds.bookings.at));
    engine_guard_driver(k, b);
    engine_make_stale(k, k->now_ms, &b->shown);
}

/* A pod of the group that runs and uses no hold; ID_NONE: there is none. */
static pod_id runs_without(const struct engine *k, const struct booking *b)
{
    const struct pods *pods = &k->cluster->pods;
    for (uint32_t i = 0; i < pods->rows.n; i++) {
        pod_id pod = {i};
        const struct pod_row *row = pods_at(pods, pod);
        if (row->text && row->node != ID_NONE && !(row->flags & POD_TERMINATING) &&
            i != b->driver && map_find(&k->holds.of_pod, i) == MAP_NONE &&
            map_find(&k->holds.of_user, i) == MAP_NONE && is_for(b, engine_holds_key(k, pod)))
            return pod;
    }
    return (pod_id){ID_NONE};
}

/* Finds room for the hold, or somebody who has it; false: neither, for the plugins' reasons. */
static bool settle_hold(struct engine *k, struct booking *b, struct hold *hold, uint64_t *rejected)
{
    struct cluster *c = k->cluster;
    pod_id pod = {hold->pod}, user = b->is_own ? (pod_id){ID_NONE} : runs_without(k, b);
    if (user.i != ID_NONE) {
        use_up(k, b, hold, user);
        return true;
    }
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    struct verdict v = engine_decide(k, pod, class);
    if (v.node == ID_NONE || v.error) {
        *rejected = k->why.nodes ? why_plugins(&k->why, &k->classes.reasons, class) : 0;
        return false;
    }
    cluster_nominate(c, pod, SYM_NONE);
    cluster_place(c, pod, (node_id){v.node});
    pods_at(&c->pods, pod)->flags |= POD_BOUND;
    engine_make_stale(k, k->now_ms, &b->shown);
    return true;
}

bool engine_step_hold(struct engine *k, int64_t now_ms, pod_id pod)
{
    uint32_t at = map_find(&k->holds.of_pod, pod.i);
    if (at == MAP_NONE)
        return false;
    struct booking *b = &k->holds.bookings.at[at];
    uint64_t rejected = 0;
    if (settle_hold(k, b, hold_of(b, pod), &rejected)) {
        queue_settle(k->queue, pod.i);
        engine_stop_timer(k, pod.i);
    } else if (rejected) {
        queue_refuse(k->queue, now_ms, pod.i, rejected, 0);
    } else if (k->cluster->nodes.present) {
        queue_fail(k->queue, now_ms, pod.i);
    } else {
        engine_try_later(k, now_ms, pod.i);
    }
    return true;
}

bool hold_looks_for_room(const struct engine *k, const struct hold *hold)
{
    return hold->user == ID_NONE && !hold->is_spent &&
           engine_profile_of(k, (pod_id){hold->pod}) && /* it may be gone by now */
           pods_at(&k->cluster->pods, (pod_id){hold->pod})->node == ID_NONE;
}

bool engine_is_idle_hold(const struct engine *k, pod_id pod)
{
    uint32_t at = map_find(&k->holds.of_pod, pod.i);
    if (at == MAP_NONE)
        return false;
    struct booking *b = &k->holds.bookings.at[at];
    const struct hold *hold = hold_of(b, pod);
    return booking_is_early(k, b) || b->is_over || !hold || !hold_looks_for_room(k, hold);
}

void engine_place_holds(struct engine *k)
{
    vec_each(&k->holds.bookings, b)
        vec_each(&b->holds, hold) {
            uint64_t rejected;
            if (!booking_is_early(k, b) && hold_looks_for_room(k, hold) &&
                settle_hold(k, b, hold, &rejected))
                queue_remove(k->queue, hold->pod);
        }
}

/* --- making way --- */

bool engine_has_booking(const struct engine *k, pod_id pod)
{
    struct group_key key = engine_holds_key(k, pod);
    vec_each(&k->holds.bookings, b)
        if (is_for(b, key))
            return true;
    return false;
}

void engine_lift(struct engine *k, pod_id pod)
{
    struct cluster *c = k->cluster;
    struct holds *h = &k->holds;
    struct group_key key = engine_holds_key(k, pod);
    vec_clear(&h->lifted);
    for (uint32_t i = 0; i < h->bookings.n; i++) {
        struct booking *b = &h->bookings.at[i];
        bool is_its_own = b->driver == pod.i && b->gang == ID_NONE;
        bool makes_way = is_for(b, key) && !is_its_own && !booking_is_early(k, b);
        for (uint32_t j = 0; j < b->holds.n && makes_way; j++) {
            struct hold *hold = &b->holds.at[j];
            if (hold->user != ID_NONE || hold->is_spent)
                continue;
            uint32_t node = pods_at(&c->pods, (pod_id){hold->pod})->node;
            if (node != ID_NONE)
                cluster_take(c, (pod_id){hold->pod});
            vec_push(&h->lifted, (struct lifted){i, j, node});
        }
    }
}

/* Do both ask for the same devices? */
static bool are_alike(const struct pod_request *a, const struct pod_request *b)
{
    for (uint32_t i = 0; i < a->n_others; i++)
        if (request_amount(b, a->others[i].resource) == 0)
            return false;
    return a->n_others == b->n_others;
}

/* The hold that the pod uses up, the first of those that suit it best: one like it, on its node,
 * held anywhere, any; NULL: none is left. */
static struct lifted *used_by(struct engine *k, pod_id pod)
{
    enum { IS_HELD = 1, IS_HERE = 2, IS_ALIKE = 4 };
    uint32_t node = pods_at(&k->cluster->pods, pod)->node, most = 0;
    struct lifted *best = NULL;
    vec_each(&k->holds.lifted, l) {
        const struct hold *hold = &k->holds.bookings.at[l->booking].holds.at[l->hold];
        if (hold->user != ID_NONE)
            continue;
        bool is_alike = are_alike(&cluster_spec(k->cluster, pod)->ask,
                                  &cluster_spec(k->cluster, (pod_id){hold->pod})->ask);
        uint32_t worth = (l->node != ID_NONE ? IS_HELD : 0) | (l->node == node ? IS_HERE : 0) |
                         (is_alike ? IS_ALIKE : 0);
        if (!best || worth > most) {
            best = l;
            most = worth;
        }
    }
    return best;
}

void engine_use_hold(struct engine *k, pod_id pod)
{
    struct lifted *l = used_by(k, pod);
    if (!l || map_find(&k->holds.of_user, pod.i) != MAP_NONE)
        return;
    struct booking *b = &k->holds.bookings.at[l->booking];
    use_up(k, b, &b->holds.at[l->hold], pod);
    engine_leave(k, (pod_id){b->holds.at[l->hold].pod});
}

/* Back where it was; if the group's own pods have taken the room, it looks for another. */
static void put_back(struct engine *k, pod_id pod, node_id node)
{
    struct cluster *c = k->cluster;
    if (engine_node_room(c, cluster_spec(c, pod), node, false)) {
        cluster_place(c, pod, node);
        return;
    }
    pods_at(&c->pods, pod)->flags &= ~(uint32_t)POD_BOUND;
    engine_stand(k, k->now_ms, pod, true);
    engine_tell_free(k, pod, node); /* what is left of its room may do for others */
}

/* Does its user leave room where the hold was? */
static bool leaves_room(const struct engine *k, const struct hold *hold, uint32_t node)
{
    const struct cluster *c = k->cluster;
    pod_id user = {hold->user};
    return pods_at(&c->pods, user)->node != node ||
           engine_shrinks(&cluster_spec(c, (pod_id){hold->pod})->hold,
                          &cluster_spec(c, user)->hold);
}

void engine_tell_free(struct engine *k, pod_id pod, node_id node)
{
    struct event gone = {
        .resource = EVENT_ASSIGNED_POD,
        .actions = ACTION_DELETE,
        .old_shape = pods_shape(&k->cluster->pods, pod),
        .pod_node = k->cluster->nodes.name[node.i],
    };
    engine_event(k, k->now_ms, &gone);
}

void engine_lower(struct engine *k)
{
    struct holds *h = &k->holds;
    vec_each(&h->lifted, l) {
        const struct hold *hold = &h->bookings.at[l->booking].holds.at[l->hold];
        if (l->node == ID_NONE)
            continue;
        if (hold->user == ID_NONE)
            put_back(k, (pod_id){hold->pod}, (node_id){l->node});
        else if (leaves_room(k, hold, l->node))
            engine_tell_free(k, (pod_id){hold->pod}, (node_id){l->node});
    }
    vec_clear(&h->lifted);
}

int64_t engine_reserved_until_ms(const struct engine *k, pod_id pod)
{
    uint32_t at = k->holds.of_user.n ? map_find(&k->holds.of_user, pod.i) : MAP_NONE;
    const struct booking *b = at == MAP_NONE ? NULL : &k->holds.bookings.at[at];
    return b && !b->is_own ? b->ends_ms : 0;
}

void engine_give_back(struct engine *k, int64_t now_ms, pod_id pod, sym node, enum leaving why)
{
    uint32_t at = k->holds.of_user.n ? map_remove(&k->holds.of_user, pod.i) : MAP_NONE;
    if (at == MAP_NONE)
        return;
    engine_make_stale(k, now_ms, &k->holds.bookings.at[at].shown);
    vec_each(&k->holds.bookings.at[at].holds, hold) {
        if (hold->user != pod.i)
            continue;
        hold->user = ID_NONE;
        hold->is_spent =
            why == LEAVING_ENDED || (why == LEAVING_EVICTED && k->holds.bookings.at[at].is_own);
        if (hold->is_spent)
            return;
        pod_id ghost = {hold->pod};
        pods_at(&k->cluster->pods, ghost)->flags &= ~(uint32_t)POD_BOUND;
        if (k->holds.bookings.at[at].gang == ID_NONE) /* whose members may go anywhere */
            cluster_nominate(k->cluster, ghost, node);
        engine_stand(k, now_ms, ghost, true);
        return;
    }
}

void holds_done(struct holds *h)
{
    vec_each(&h->bookings, b) {
        vec_done(&b->holds);
        exhibit_done(&b->shown);
        mem_free(b->finalizers);
    }
    vec_each(&h->strays, stray) {
        mem_free(stray->uid);
        mem_free(stray->finalizers);
    }
    vec_done(&h->strays);
    vec_done(&h->bookings);
    map_done(&h->of_pod);
    map_done(&h->of_user);
    map_done(&h->of_driver);
    map_done(&h->of_gang);
    vec_done(&h->lifted);
}
