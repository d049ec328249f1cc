/* Holds make way for the pods of their group: they are lifted before a decision and lowered behind
 * it, less those that are used up. */

#include "core/engine/reservation/holds.h"
#include "core/framework/row.h"

/* Do both ask for the same devices? */
static bool are_alike(const struct pod_request *a, const struct pod_request *b)
{
    for (uint32_t i = 0; i < a->n_others; i++)
        if (request_amount(b, a->others[i].resource) == 0)
            return false;
    return a->n_others == b->n_others;
}

static bool suits(const struct engine *k, const struct hold *hold, pod_id pod)
{
    return are_alike(&cluster_spec(k->cluster, pod)->ask,
                     &cluster_spec(k->cluster, (pod_id){hold->pod})->ask);
}

static void lift(struct engine *k, uint32_t booking, uint32_t number)
{
    pod_id pod = {k->holds->bookings.at[booking].holds.at[number].pod};
    uint32_t node = pods_at(&k->cluster->pods, pod)->node;
    if (node != ID_NONE)
        cluster_take(k->cluster, pod);
    vec_push(&k->holds->lifted, (struct lifted){booking, number, node, ID_NONE});
}

/* Do the booking's holds make way for the pod? */
static bool makes_way(const struct engine *k, const struct booking *b, pod_id pod)
{
    bool is_its_own = b->driver == pod.i && b->gang == ID_NONE;
    return b->left && !is_its_own && !booking_is_early(k, b);
}

/* Lifts the first that suits the pod best of those that stand in front; true if there are others.
 */
static bool lift_one(struct engine *k, const struct circle *circle, pod_id pod)
{
    enum { IS_HELD = 1, IS_ALIKE = 2, MOST = 64 };
    uint32_t seen = 0, worth = 0, booking = ID_NONE, number = 0;
    for (uint32_t at = circle->first; at != ID_NONE; at = k->holds->bookings.at[at].after) {
        const struct booking *b = &k->holds->bookings.at[at];
        bool may = makes_way(k, b, pod);
        for (uint32_t i = b->first_left; i < b->holds.n && may && seen < MOST; i++) {
            const struct hold *hold = &b->holds.at[i];
            if (!hold_is_left(hold))
                continue;
            bool is_held = pods_at(&k->cluster->pods, (pod_id){hold->pod})->node != ID_NONE;
            uint32_t its = (is_held ? IS_HELD : 0) | (suits(k, hold, pod) ? IS_ALIKE : 0);
            if (seen++ && its <= worth)
                continue;
            worth = its;
            booking = at;
            number = i;
        }
        if (seen == MOST)
            break;
    }
    if (seen)
        lift(k, booking, number);
    return seen > 1;
}

/* But for one that is. */
static void lift_all(struct engine *k, const struct circle *circle, pod_id pod)
{
    const struct holds *h = k->holds;
    struct lifted one = h->lifted.n ? h->lifted.at[0] : (struct lifted){.booking = ID_NONE};
    for (uint32_t at = circle->first; at != ID_NONE; at = h->bookings.at[at].after) {
        const struct booking *b = &h->bookings.at[at];
        bool may = makes_way(k, b, pod);
        for (uint32_t i = b->first_left; i < b->holds.n && may; i++)
            if (hold_is_left(&b->holds.at[i]) && !(at == one.booking && i == one.hold))
                lift(k, at, i);
    }
}

/* Does the pod find a node, perhaps the one where its hold was? */
static bool finds_node(struct engine *k, pod_id pod)
{
    struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    node_id node = {k->holds->lifted.at[0].node};
    if (!class || class->error.n)
        return false;
    if (node.i != ID_NONE && !class->refusal && !row_verdict(k->cluster, class, node, pod))
        return true;
    struct verdict v = engine_decide(k, pod, class);
    return v.node != ID_NONE && !v.error;
}

/* So that those on a node are found. */
static void chain_lifted(struct holds *h)
{
    h->first_lifted = 0;
    if (h->lifted.n < 2)
        return;
    map_clear(&h->lifted_on);
    for (uint32_t i = h->lifted.n; i-- > 0;) {
        struct lifted *l = &h->lifted.at[i];
        if (l->node == ID_NONE)
            continue;
        l->next = map_find(&h->lifted_on, l->node);
        map_put(&h->lifted_on, l->node, i);
    }
}

void engine_lift(struct engine *k, pod_id pod)
{
    const struct circle *circle = engine_circle_of(k, pod);
    assert(!engine_has_lifted(k)); /* whoever takes slots off puts them back */
    if (!circle || circle->first == ID_NONE)
        return;
    bool is_gang = engine_gang_of(k, pod) != ID_NONE;
    if (is_gang || (lift_one(k, circle, pod) && !finds_node(k, pod)))
        lift_all(k, circle, pod);
    chain_lifted(k->holds);
}

static bool is_used(const struct engine *k, const struct lifted *l)
{
    return k->holds->bookings.at[l->booking].holds.at[l->hold].user != ID_NONE;
}

static const struct hold *lifted_hold(const struct engine *k, const struct lifted *l)
{
    return &k->holds->bookings.at[l->booking].holds.at[l->hold];
}

/* One that suits the pod and was on its node; NULL: there was none, or none is left. */
static struct lifted *used_here(struct engine *k, pod_id pod)
{
    struct holds *h = k->holds;
    uint32_t node = pods_at(&k->cluster->pods, pod)->node, at = map_find(&h->lifted_on, node);
    while (at != MAP_NONE && is_used(k, &h->lifted.at[at])) {
        at = h->lifted.at[at].next;
        if (at == MAP_NONE)
            map_remove(&h->lifted_on, node);
        else
            map_put(&h->lifted_on, node, at);
    }
    for (; at != MAP_NONE; at = h->lifted.at[at].next)
        if (!is_used(k, &h->lifted.at[at]) && suits(k, lifted_hold(k, &h->lifted.at[at]), pod))
            return &h->lifted.at[at];
    return NULL;
}

/* The hold that the pod uses up, the first of those that suit it best: one like it, on its node,
 * held anywhere, any; NULL: none is left. */
static struct lifted *used_by(struct engine *k, pod_id pod)
{
    enum { IS_ONE = 1, IS_HELD = 2, IS_HERE = 4, IS_ALIKE = 8 };
    struct holds *h = k->holds;
    struct lifted *best = h->lifted.n > 1 ? used_here(k, pod) : NULL;
    uint32_t node = pods_at(&k->cluster->pods, pod)->node, worth = best ? UINT32_MAX : 0;
    while (h->first_lifted < h->lifted.n && is_used(k, &h->lifted.at[h->first_lifted]))
        h->first_lifted++;
    for (uint32_t i = h->first_lifted; i < h->lifted.n && worth < (IS_HELD | IS_ALIKE); i++) {
        struct lifted *l = &h->lifted.at[i];
        uint32_t its = IS_ONE | (l->node != ID_NONE ? IS_HELD : 0) |
                       (l->node == node ? IS_HERE : 0) |
                       (suits(k, lifted_hold(k, l), pod) ? IS_ALIKE : 0);
        if (its <= worth || is_used(k, l))
            continue;
        best = l;
        worth = its;
    }
    return best;
}

void engine_use_hold(struct engine *k, pod_id pod)
{
    if (map_find(&k->holds->of_user, pod.i) != MAP_NONE)
        return;
    struct lifted *l = used_by(k, pod);
    if (!l) {
        engine_note_without(k, pod);
        return;
    }
    struct booking *b = &k->holds->bookings.at[l->booking];
    engine_take_hold(k, b, &b->holds.at[l->hold], pod);
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
    engine_stand(k, pod, true);
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
    engine_event(k, &gone);
}

bool engine_has_lifted(const struct engine *k)
{
    return k->holds->lifted.n > 0;
}

void engine_forget_lifted(struct engine *k)
{
    vec_clear(&k->holds->lifted);
}

void engine_lower(struct engine *k)
{
    struct holds *h = k->holds;
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
