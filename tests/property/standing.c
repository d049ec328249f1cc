#include "property/standing.h"

struct place_count {
    VEC(uint8_t) seen; /* by unit */
    uint32_t n, twice;
};

static void see(void *ctx, uint32_t unit)
{
    struct place_count *x = ctx;
    if (unit >= x->seen.n)
        vec_resize(&x->seen, unit + 1);
    x->twice += x->seen.at[unit];
    x->seen.at[unit] = 1;
    x->n++;
}

/* --- places --- */

static const char *check_places(const struct engine *k)
{
    const struct queue *q = k->queue;
    uint32_t n[QUEUE_IN_FLIGHT + 1] = {0};
    struct place_count x = {0};
    for (uint32_t i = 0; i < k->cluster->pods.rows.n; i++)
        n[queue_where(q, i)]++;
    queue_each(q, see, &x);
    bool is_sound = x.twice == 0 && x.n == n[QUEUE_ACTIVE] + n[QUEUE_BACKING_OFF] + n[QUEUE_PARKED];
    for (uint32_t i = 0; i < x.seen.n; i++)
        is_sound &= !x.seen.at[i] ||
                    (queue_where(q, i) != QUEUE_NOWHERE && queue_where(q, i) != QUEUE_IN_FLIGHT);
    for (enum queue_place place = QUEUE_ACTIVE; place <= QUEUE_IN_FLIGHT; place++)
        is_sound &= queue_count(q, place) == n[place];
    vec_done(&x.seen);
    return is_sound ? NULL : "a unit is in two places of the queue, or in none";
}

static const char *check_absent(const struct engine *k, uint32_t unit)
{
    if (queue_where(k->queue, unit) != QUEUE_NOWHERE)
        return "somebody is in the queue who does not belong there";
    if (heap_has(&k->timers.heap, unit))
        return "somebody has a timer who does not wait";
    if (engine_line_of(k, unit))
        return "somebody is in a line who is not in the queue";
    return engine_gang_led_by(k, unit) ? "somebody leads a gang who does not wait" : NULL;
}

static bool waits(const struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    return row->text && row->node == ID_NONE && !(row->flags & (POD_BOUND | POD_TERMINATING)) &&
           engine_profile_of(k, pod);
}

static const char *check_follower(const struct engine *k, pod_id pod, uint32_t group)
{
    uint32_t leader = group < k->gangs->all.n ? k->gangs->all.at[group].leader : ID_NONE;
    if (leader == ID_NONE)
        return "a pod waits, and its gang does not";
    if (!waits(k, (pod_id){leader}) || engine_gang_of(k, (pod_id){leader}) != group)
        return "a gang is led by one that does not wait with it";
    if (leader != pod.i)
        return check_absent(k, pod.i);
    return queue_where(k->queue, leader) == QUEUE_NOWHERE ? "a gang is not in the queue" : NULL;
}

static const char *check_users(const struct engine *k)
{
    uint32_t users = 0;
    vec_each(&k->reservations->all, b)
        vec_each(&b->slots, slot) {
            if (b->name == SYM_NONE || slot->user == ID_NONE)
                continue;
            const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){slot->user});
            users++;
            if (!row->text || row->node == ID_NONE)
                return "a hold is used up by a pod that has no node";
        }
    return users == k->reservations->of_user.n ? NULL : "more holds are used up than there are";
}

static const char *check_slot(const struct engine *k, pod_id pod, uint32_t reservation)
{
    const struct reservation_info *b = &k->reservations->all.at[reservation];
    vec_each(&b->slots, slot) {
        if (slot->pod != pod.i)
            continue;
        const struct pod_row *row = pods_at(&k->cluster->pods, pod);
        bool is_left_out = b->is_planned && row->pin == SYM_NONE;
        bool looks = slot->user == ID_NONE && !slot->is_spent && !slot->is_lost && !b->is_over &&
                     !is_left_out && engine_profile_of(k, pod) && row->node == ID_NONE;
        bool is_queued = queue_where(k->queue, pod.i) != QUEUE_NOWHERE;
        return is_queued == looks ? NULL : "a hold looks for no room, or without need";
    }
    return "a hold is in no booking";
}

static const char *check_pod(const struct engine *k, pod_id pod)
{
    uint32_t reservation = map_find(&k->reservations->of_pod, pod.i);
    if (reservation != MAP_NONE)
        return check_slot(k, pod, reservation);
    if (!waits(k, pod))
        return check_absent(k, pod.i);
    uint32_t group = engine_gang_of(k, pod);
    if (group != ID_NONE)
        return check_follower(k, pod, group);
    return queue_where(k->queue, pod.i) == QUEUE_NOWHERE ? "a pod that waits is not in the queue"
                                                         : NULL;
}

/* --- gangs --- */

/* It has waited since the last of those came who wait, and is as important as one of them. */
static const char *check_age(const struct engine *k, uint32_t group)
{
    const struct gang *gang = &k->gangs->all.at[group];
    int64_t since_ms = INT64_MIN;
    int32_t priority = INT32_MIN;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        const struct unit *u = &k->units.at[*i];
        if (!waits(k, (pod_id){*i}) || engine_gang_of(k, (pod_id){*i}) != group)
            continue;
        since_ms = MAX(since_ms, row->created_ms == TIME_NONE ? u->first_ms : row->created_ms);
        priority = MAX(priority, u->priority);
    }
    if (gang->since_ms != since_ms)
        return "a gang is as old as somebody who does not wait with it";
    return gang->priority == priority ? NULL
                                      : "a gang is as important as somebody who is not there";
}

static const char *check_group(const struct engine *k, uint32_t group, uint32_t members)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    int32_t said = 0;
    bool is_said = false;
    if (g->members.n != members)
        return "a group has other members than pods name it";
    vec_each(&g->members, i) {
        if (groups_of(&k->cluster->groups, (pod_id){*i}) != group)
            return "a member is in another group";
        said = MAX(said, k->cluster->groups.of.at[*i].said);
        is_said |= k->cluster->groups.of.at[*i].said > 0;
    }
    if (g->said != said && is_said)
        return "a group is of a size that no member says";
    const struct gang *gang = group < k->gangs->all.n ? &k->gangs->all.at[group] : NULL;
    uint32_t leader = gang ? gang->leader : ID_NONE;
    if (leader == ID_NONE)
        return NULL;
    if (groups_of(&k->cluster->groups, (pod_id){leader}) != group)
        return "a gang is led by somebody else's pod";
    return check_age(k, group);
}

static const char *check_groups(const struct engine *k)
{
    const struct groups *groups = &k->cluster->groups;
    const char *fault = NULL;
    VEC(uint32_t) members = {0};
    vec_resize(&members, groups->at.n);
    for (uint32_t i = 0; i < groups->of.n; i++)
        if (groups->of.at[i].group != ID_NONE)
            members.at[groups->of.at[i].group]++;
    for (uint32_t i = 0; i < groups->at.n && !fault; i++)
        fault = check_group(k, i, members.at[i]);
    vec_done(&members);
    return fault;
}

static const char *check_questions(const struct engine *k)
{
    for (uint32_t i = 0; i < k->extender->open.n; i++) {
        uint32_t open = 0;
        vec_each(&k->extender->all, s)
            open += s->group == i ? s->open.n : 0;
        if (k->extender->open.at[i] != open)
            return "a gang waits for another number of answers than were asked for";
    }
    return NULL;
}

/* --- nodes --- */

static const char *check_nodes(const struct engine *k)
{
    const struct cluster *c = k->cluster;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        int64_t cpu = 0;
        int32_t pods = 0;
        for (uint32_t at = 0; at < c->pods.rows.n; at++) {
            const struct pod_row *row = &c->pods.rows.at[at];
            if (!row->text || row->node != i)
                continue;
            cpu = wrap_add(cpu, cluster_spec(c, (pod_id){at})->hold.cpu_milli);
            pods++;
        }
        if (c->nodes.room[i].cpu_used != cpu || c->nodes.room[i].pods_used != pods)
            return "a node has given away another sum than its pods have";
    }
    return NULL;
}

static const char *check_lines(const struct engine *k)
{
    uint32_t standing = 0;
    for (uint32_t i = 0; i < k->lines->waiters.n; i++)
        standing +=
            k->lines->waiters.at[i].line != 0 && !engine_is_queued(k, i); /* the tree has those */
    vec_each(&k->lines->at, l) {
        standing -= MIN(l->order.n, standing);
        vec_each(&l->order, unit)
            if (engine_line_of(k, *unit) != l || queue_where(k->queue, *unit) == QUEUE_NOWHERE)
                return "a line has somebody who does not stand in it";
        if (l->args && l->head != ID_NONE && engine_line_of(k, l->head) != l)
            return "a line is headed by somebody who does not stand in it";
    }
    return standing ? "somebody stands in a line that does not have it" : NULL;
}

const char *standing_fault(const struct engine *k, bool judges_holds)
{
    const char *fault = check_places(k);
    for (uint32_t i = 0; i < k->cluster->pods.rows.n && !fault; i++)
        if (judges_holds || !(k->cluster->pods.rows.at[i].flags & POD_SLOT))
            fault =
                k->cluster->pods.rows.at[i].text ? check_pod(k, (pod_id){i}) : check_absent(k, i);
    fault = fault ? fault : check_groups(k);
    fault = fault ? fault : check_questions(k);
    fault = fault ? fault : check_users(k);
    fault = fault ? fault : check_lines(k);
    return fault ? fault : check_nodes(k);
}
