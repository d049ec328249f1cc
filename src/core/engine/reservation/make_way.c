/* Slots make way for the pods of their group: the slots are taken off their nodes before a decision
 * and put back after it, less those that are used up. */

#include "core/engine/reservation/reservation.h"
#include "core/framework/row.h"

/* Do both ask for the same devices? */
static bool are_alike(const struct pod_request *a, const struct pod_request *b)
{
    for (uint32_t i = 0; i < a->n_others; i++)
        if (request_amount(b, a->others[i].resource) == 0)
            return false;
    return a->n_others == b->n_others;
}

static bool suits(const struct engine *k, const struct slot *slot, pod_id pod)
{
    return are_alike(&cluster_spec(k->cluster, pod)->ask,
                     &cluster_spec(k->cluster, (pod_id){slot->pod})->ask);
}

static void take_off(struct engine *k, uint32_t reservation, uint32_t number)
{
    pod_id pod = {k->reservations->all.at[reservation].slots.at[number].pod};
    uint32_t node = pods_at(&k->cluster->pods, pod)->node;
    if (node != ID_NONE)
        cluster_take(k->cluster, pod);
    vec_push(&k->reservations->off_nodes, (struct slot_off){reservation, number, node, ID_NONE});
}

/* Do the reservation's slots make way for the pod? */
static bool makes_way(const struct engine *k, const struct reservation_info *b, pod_id pod)
{
    bool is_its_own = b->driver == pod.i && b->gang == ID_NONE;
    return b->left && !is_its_own && !reservation_is_early(k, b);
}

/* Lifts the first that suits the pod best of those that stand in front; true if there are others.
 */
static bool take_one_off(struct engine *k, const struct circle *circle, pod_id pod)
{
    enum { IS_HELD = 1, IS_ALIKE = 2, MOST = 64 };
    uint32_t seen = 0, worth = 0, reservation = ID_NONE, number = 0;
    for (uint32_t at = circle->first; at != ID_NONE; at = k->reservations->all.at[at].after) {
        const struct reservation_info *b = &k->reservations->all.at[at];
        bool may = makes_way(k, b, pod);
        for (uint32_t i = b->first_left; i < b->slots.n && may && seen < MOST; i++) {
            const struct slot *slot = &b->slots.at[i];
            if (!slot_is_left(slot))
                continue;
            bool is_held = pods_at(&k->cluster->pods, (pod_id){slot->pod})->node != ID_NONE;
            uint32_t its = (is_held ? IS_HELD : 0) | (suits(k, slot, pod) ? IS_ALIKE : 0);
            if (seen++ && its <= worth)
                continue;
            worth = its;
            reservation = at;
            number = i;
        }
        if (seen == MOST)
            break;
    }
    if (seen)
        take_off(k, reservation, number);
    return seen > 1;
}

/* But for one that is. */
static void take_all_off(struct engine *k, const struct circle *circle, pod_id pod)
{
    const struct reservations *h = k->reservations;
    struct slot_off one =
        h->off_nodes.n ? h->off_nodes.at[0] : (struct slot_off){.reservation = ID_NONE};
    for (uint32_t at = circle->first; at != ID_NONE; at = h->all.at[at].after) {
        const struct reservation_info *b = &h->all.at[at];
        bool may = makes_way(k, b, pod);
        for (uint32_t i = b->first_left; i < b->slots.n && may; i++)
            if (slot_is_left(&b->slots.at[i]) && !(at == one.reservation && i == one.slot))
                take_off(k, at, i);
    }
}

/* Does the pod find a node, perhaps the one where its slot was? */
static bool finds_node(struct engine *k, pod_id pod)
{
    struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    node_id node = {k->reservations->off_nodes.at[0].node};
    if (!class || class->error.n)
        return false;
    if (node.i != ID_NONE && !class->refusal && !row_verdict(k->cluster, class, node, pod))
        return true;
    struct verdict v = engine_decide(k, pod, class);
    return v.node != ID_NONE && !v.error;
}

/* So that those on a node are found. */
static void chain_slots_off(struct reservations *h)
{
    h->first_off = 0;
    if (h->off_nodes.n < 2)
        return;
    map_clear(&h->off_by_node);
    for (uint32_t i = h->off_nodes.n; i-- > 0;) {
        struct slot_off *l = &h->off_nodes.at[i];
        if (l->node == ID_NONE)
            continue;
        l->next = map_find(&h->off_by_node, l->node);
        map_put(&h->off_by_node, l->node, i);
    }
}

void engine_take_slots_off(struct engine *k, pod_id pod)
{
    const struct circle *circle = engine_circle_of(k, pod);
    assert(!engine_has_lifted(k)); /* whoever takes slots off puts them back */
    if (!circle || circle->first == ID_NONE)
        return;
    bool is_gang = engine_gang_of(k, pod) != ID_NONE;
    if (is_gang || (take_one_off(k, circle, pod) && !finds_node(k, pod)))
        take_all_off(k, circle, pod);
    chain_slots_off(k->reservations);
}

static bool is_used(const struct engine *k, const struct slot_off *l)
{
    return k->reservations->all.at[l->reservation].slots.at[l->slot].user != ID_NONE;
}

static const struct slot *slot_off(const struct engine *k, const struct slot_off *l)
{
    return &k->reservations->all.at[l->reservation].slots.at[l->slot];
}

/* One that suits the pod and was on its node; NULL: there was none, or none is left. */
static struct slot_off *used_here(struct engine *k, pod_id pod)
{
    struct reservations *h = k->reservations;
    uint32_t node = pods_at(&k->cluster->pods, pod)->node, at = map_find(&h->off_by_node, node);
    while (at != MAP_NONE && is_used(k, &h->off_nodes.at[at])) {
        at = h->off_nodes.at[at].next;
        if (at == MAP_NONE)
            map_remove(&h->off_by_node, node);
        else
            map_put(&h->off_by_node, node, at);
    }
    for (; at != MAP_NONE; at = h->off_nodes.at[at].next)
        if (!is_used(k, &h->off_nodes.at[at]) && suits(k, slot_off(k, &h->off_nodes.at[at]), pod))
            return &h->off_nodes.at[at];
    return NULL;
}

/* The slot that the pod uses up, the first of those that suit it best: one like it, on its node,
 * held anywhere, any; NULL: none is left. */
static struct slot_off *used_by(struct engine *k, pod_id pod)
{
    enum { IS_ONE = 1, IS_HELD = 2, IS_HERE = 4, IS_ALIKE = 8 };
    struct reservations *h = k->reservations;
    struct slot_off *best = h->off_nodes.n > 1 ? used_here(k, pod) : NULL;
    uint32_t node = pods_at(&k->cluster->pods, pod)->node, worth = best ? UINT32_MAX : 0;
    while (h->first_off < h->off_nodes.n && is_used(k, &h->off_nodes.at[h->first_off]))
        h->first_off++;
    for (uint32_t i = h->first_off; i < h->off_nodes.n && worth < (IS_HELD | IS_ALIKE); i++) {
        struct slot_off *l = &h->off_nodes.at[i];
        uint32_t its = IS_ONE | (l->node != ID_NONE ? IS_HELD : 0) |
                       (l->node == node ? IS_HERE : 0) |
                       (suits(k, slot_off(k, l), pod) ? IS_ALIKE : 0);
        if (its <= worth || is_used(k, l))
            continue;
        best = l;
        worth = its;
    }
    return best;
}

void engine_use_slot(struct engine *k, pod_id pod)
{
    if (map_find(&k->reservations->of_user, pod.i) != MAP_NONE)
        return;
    struct slot_off *l = used_by(k, pod);
    if (!l) {
        engine_note_without(k, pod);
        return;
    }
    struct reservation_info *b = &k->reservations->all.at[l->reservation];
    engine_take_slot(k, b, &b->slots.at[l->slot], pod);
    engine_leave(k, (pod_id){b->slots.at[l->slot].pod});
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
    engine_stand(k, pod, true);
    engine_tell_free(k, pod, node); /* what is left of its room may do for others */
}

/* Does its user leave room where the slot was? */
static bool leaves_room(const struct engine *k, const struct slot *slot, uint32_t node)
{
    const struct cluster *c = k->cluster;
    pod_id user = {slot->user};
    return pods_at(&c->pods, user)->node != node ||
           engine_shrinks(&cluster_spec(c, (pod_id){slot->pod})->hold,
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
    engine_event(k, &gone);
}

bool engine_has_lifted(const struct engine *k)
{
    return k->reservations->off_nodes.n > 0;
}

void engine_forget_slots_off(struct engine *k)
{
    vec_clear(&k->reservations->off_nodes);
}

void engine_put_slots_back(struct engine *k)
{
    struct reservations *h = k->reservations;
    vec_each(&h->off_nodes, l) {
        const struct slot *slot = &h->all.at[l->reservation].slots.at[l->slot];
        if (l->node == ID_NONE)
            continue;
        if (slot->user == ID_NONE)
            put_back(k, (pod_id){slot->pod}, (node_id){l->node});
        else if (leaves_room(k, slot, l->node))
            engine_tell_free(k, (pod_id){slot->pod}, (node_id){l->node});
    }
    vec_clear(&h->off_nodes);
}
