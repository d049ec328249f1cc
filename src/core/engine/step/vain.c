/* A unit that does not back off hears each event that may help it. Most of that is in vain: more
 * room is still too little, or the unit is one of many for the same room. So a unit that was
 * refused by nothing but what single nodes say asks the nodes that changed since then: if none of
 * them would take it now it stays where it is, for the price of those nodes. It asks when it hears
 * of an event, and again when its turn has come, for others have had theirs.
 *
 * What it was told stays as it is meanwhile; that is why a node which refuses it for another reason
 * than those it was told counts as news, and so does the first node that is only taken, where it
 * was told that no node would ever do.
 *
 * The answer is a function of the cluster and of what the unit was told: the nodes that did not
 * change refuse it as they did. So it does not show where too many changed, or the unit's class is
 * another one, and all nodes are asked. */

#include "core/engine/step/step.h"
#include "core/framework/row.h"

enum { LOOK_MOST = 256 }; /* changes */

/* A bit of the sign of a pod by itself: it was told that there are nodes which would do, were they
 * free. */
#define HAS_HOPE ((uint32_t)1 << 31)

/* May a pod of the class evict somebody, or take held room, for all we know? */
static bool may_evict(const struct engine *k, const struct class *class, int32_t priority)
{
    struct eviction_args rules = {0};
    bool has_rules = engine_eviction_rules(class->profile, false, &rules);
    return (specs_at(&k->cluster->specs, class->spec)->preempts || engine_n_slots(k)) &&
           (has_rules || engine_preemption(class->profile)) &&
           (rules.tier_first || priority > k->last.lowest);
}

/* What the nodes' answers depend on beside the nodes: if it is another one, all are to be asked. */
static uint32_t sign_of(const struct engine *k, const struct class *class, int32_t priority)
{
    return (class->number << 1 | may_evict(k, class, priority)) & ~HAS_HOPE;
}

bool engine_is_by_rows(const struct class *class, uint64_t rejected_by)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].plugin->row_filter && !class->parts[i].plugin->key_filter)
            bits |= (uint64_t)1 << class->parts[i].number;
    return rejected_by && !(rejected_by & ~bits) &&
           !(class->refusal || class->is_pinned || class->only || class->may_fail || class->asks);
}

/* --- what units were told --- */

static void note(struct engine *k, uint32_t unit, uint32_t sign)
{
    map_put(&k->stepping->vain.refused_at, unit,
            MIN((uint32_t)k->cluster->log.end, UINT32_MAX - 1));
    map_put(&k->stepping->vain.refused_as, unit, sign);
}

void engine_forget_refusal(struct engine *k, uint32_t unit)
{
    if (k->stepping->vain.refused_at.n &&
        map_remove(&k->stepping->vain.refused_at, unit) != MAP_NONE)
        map_remove(&k->stepping->vain.refused_as, unit);
}

void engine_note_refusal(struct engine *k, pod_id pod, const struct class *class)
{
    const struct unit *unit = &k->units.at[pod.i];
    const struct class_refusal *r = engine_last_refusal(k, class);
    if (!unit->ages || !r->is_by_rows)
        return;
    uint32_t hope = r->may_be_freed ? HAS_HOPE : 0;
    if (!hope || !may_evict(k, class, unit->priority))
        note(k, pod.i, sign_of(k, class, unit->priority) | hope);
}

struct gang_refusal engine_gang_refusal(const struct engine *k, uint32_t group)
{
    const struct vain *v = &k->stepping->vain;
    return group < v->gangs.n ? v->gangs.at[group] : (struct gang_refusal){0};
}

void engine_forget_gang_refusal(struct engine *k, uint32_t group)
{
    if (group < k->stepping->vain.gangs.n)
        vec_clear(&k->stepping->vain.gangs.at[group].asks);
}

/* Of groups that are gone. */
void engine_tidy_gang_refusals(struct engine *k)
{
    struct vain *v = &k->stepping->vain;
    const struct intern *groups = &k->cluster->groups.table;
    for (uint32_t i = 0; i < v->gangs.n; i++)
        if (i >= groups->entries.n || !groups->entries.at[i].p)
            vec_done(&v->gangs.at[i].asks);
    intern_fit(groups, &v->gangs);
}

void engine_note_gang_refusal(struct engine *k, struct planner *p, uint32_t group, bool is_for_room)
{
    struct vain *v = &k->stepping->vain;
    if (group >= v->gangs.n)
        vec_resize(&v->gangs, group + 1);
    struct gang_refusal *r = &v->gangs.at[group];
    int32_t priority = engine_gang_at(k, group)->priority;
    bool is_plain = is_for_room && p->also == 0 && engine_may_evict_now(k, group) &&
                    k->cluster->nodes.present; /* the first node is news */
    vec_clear(&r->asks);
    vec_each(&p->member_classes, member_class) {
        struct class *class = member_class->class;
        is_plain = is_plain && !(class->refusal || class->may_fail || class->asks) &&
                   !may_evict(k, class, priority);
        vec_push(&r->asks, (struct ask){.pod = p->members.at[member_class->first].pod,
                                        .n = member_class->n,
                                        .sign = sign_of(k, class, priority)});
    }
    r->need = MAX(p->need, 1u);
    r->at = is_plain ? k->cluster->log.end : 0;
}

/* --- what happened since --- */

struct look {
    const struct class *class;
    uint64_t rejectors; /* whose words it has heard */
    bool may_evict, has_hope;
    uint32_t
        alone; /* the pod, which may not have room that others are nominated to; ID_NONE: of a gang,
                * for which that is no part of the sum */
};

enum seen { SEES_NOTHING, SEES_ROOM, SEES_NEWS };

static enum seen see(struct engine *k, const struct look *l, node_id node)
{
    struct cluster *c = k->cluster;
    if (!nodes_is_present(&c->nodes, node))
        return SEES_NOTHING;
    reason_id reason = l->alone == ID_NONE ? row_filter(c, l->class, node, COLUMN_ALL)
                                           : row_verdict(c, l->class, node, (pod_id){l->alone});
    if (!reason)
        return SEES_ROOM;
    enum code code = reasons_at(&k->classes.reasons, reason)->code;
    bool is_news = code == CODE_ERROR ||
                   (code == CODE_UNSCHEDULABLE && (l->may_evict || !l->has_hope)) ||
                   !(reasons_plugin(&k->classes.reasons, reason) & l->rejectors);
    return is_news ? SEES_NEWS : SEES_NOTHING;
}

static enum seen see_all(struct engine *k, const struct look *l)
{
    enum seen most = SEES_NOTHING;
    for (uint32_t i = 0; i < k->cluster->nodes.n && most < SEES_NEWS; i++)
        most = MAX(most, see(k, l, (node_id){i}));
    return most;
}

/* What the nodes say that changed in the last so many changes. */
static enum seen see_changed(struct engine *k, const struct look *l, uint64_t changes)
{
    const struct change_log *log = &k->cluster->log;
    enum seen most = SEES_NOTHING;
    if (changes > LOOK_MOST || changes > log->end - log->oldest)
        return see_all(k, l);
    uint32_t nodes[LOOK_MOST], n = 0; /* apart: to judge one may be a trial, which is logged */
    for (uint64_t p = log->end - changes; p < log->end; p++)
        if (log->newest[change_log_at(log, p)->node] == p)
            nodes[n++] = change_log_at(log, p)->node;
    for (uint32_t i = 0; i < n && most < SEES_NEWS; i++)
        most = MAX(most, see(k, l, (node_id){nodes[i]}));
    return most;
}

/* NULL: its class as it is now does not leave it to rows. */
static struct class *class_of(struct engine *k, uint32_t pod)
{
    struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, (pod_id){pod})->shape);
    bool is_left = class && !class->error.n && !class->refusal && !class->is_pinned &&
                   !class->only && !class->may_fail && !class->asks;
    return is_left ? class : NULL;
}

/* What a pod that waits under this unit's number sees since it looked last. */
static enum seen look_since(struct engine *k, uint32_t unit, struct class *class, uint32_t was,
                            uint32_t is, uint64_t changes)
{
    bool is_gang = engine_gang_led_by(k, unit);
    struct look look = {class, queue_rejectors(k->queue, unit), is & 1, is_gang || is & HAS_HOPE,
                        is_gang ? ID_NONE : unit};
    return was == is ? see_changed(k, &look, changes) : see_all(k, &look);
}

static bool pod_in_vain(struct engine *k, uint32_t pod)
{
    uint32_t at =
        k->stepping->vain.refused_at.n ? map_find(&k->stepping->vain.refused_at, pod) : MAP_NONE;
    if (at == MAP_NONE || pods_at(&k->cluster->pods, (pod_id){pod})->nominated != SYM_NONE)
        return false;
    struct class *class = class_of(k, pod);
    if (!class)
        return false;
    uint32_t was = map_find(&k->stepping->vain.refused_as, pod);
    uint32_t sign = sign_of(k, class, k->units.at[pod].priority) | (was & HAS_HOPE);
    uint32_t changes = (uint32_t)k->cluster->log.end - at;
    if (look_since(k, pod, class, was, sign, changes) != SEES_NOTHING)
        return false;
    note(k, pod, sign);
    assert(!k->config.checks_views || engine_decide(k, (pod_id){pod}, class).node == ID_NONE);
    return true;
}

/* It was refused because the sum of the room is too small: it still is if no node came to have room
 * for some of it; else it is summed up anew, once for all of a class. */
static bool gang_in_vain(struct engine *k, const struct gang *gang, uint32_t unit)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct gang_refusal r = engine_gang_refusal(k, group);
    uint64_t changes = k->cluster->log.end - r.at, room = 0;
    enum seen most = SEES_NOTHING;
    if (r.at == 0 || r.asks.n == 0)
        return false;
    vec_each(&r.asks, ask) {
        struct class *class = class_of(k, ask->pod);
        if (!class)
            return false;
        uint32_t sign = sign_of(k, class, gang->priority);
        most = MAX(most, look_since(k, unit, class, ask->sign, sign, changes));
    }
    for (uint32_t i = 0; i < r.asks.n && most == SEES_ROOM; i++)
        room += MIN(engine_room(k, class_of(k, r.asks.at[i].pod)), r.asks.at[i].n);
    if (most == SEES_NEWS || room >= r.need)
        return false;
    vec_each(&r.asks, ask)
        ask->sign = sign_of(k, class_of(k, ask->pod), gang->priority);
    k->stepping->vain.gangs.at[group].at = k->cluster->log.end;
    return true;
}

bool engine_is_in_vain(struct engine *k, uint32_t unit)
{
    if (!k->units.at[unit].ages || queue_gate(k->queue, unit) || k->cluster->depth ||
        (UNLIKELY(engine_n_slots(k)) && engine_has_reservation(k, (pod_id){unit})))
        return false;
    struct gang *gang = engine_gang_led_by(k, unit);
    bool may_keep = engine_keeper(k) == ID_NONE ||
                    engine_keeper(k) == groups_of(&k->cluster->groups, (pod_id){unit});
    if (gang && k->units.at[unit].is_starving && may_keep)
        return false; /* it keeps what there is */
    return gang ? gang_in_vain(k, gang, unit) : pod_in_vain(k, unit);
}

void vain_done(struct vain *v)
{
    map_done(&v->refused_at);
    map_done(&v->refused_as);
    vec_done(&v->bars);
    vec_each(&v->gangs, r)
        vec_done(&r->asks);
    vec_done(&v->gangs);
}
