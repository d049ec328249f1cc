/* A gang in one step: placed as a whole, or told why not. */

#include "core/engine/step/step.h"

/* The gang goes on under the number of one of those who found no node. */
static uint32_t hand_on(struct engine *k, struct planner *p, uint32_t group, uint32_t unit)
{
    uint32_t left = ID_NONE;
    vec_each(&p->members, member)
        if (member->node == ID_NONE && (left == ID_NONE || member->pod == unit) &&
            !engine_is_slot(k, member->pod))
            left = member->pod;
    if (left != unit)
        engine_stop_timer(k, unit);
    if (left != ID_NONE && left != unit)
        engine_rename_gang(k, group, unit, left);
    if (left != ID_NONE)
        engine_age_anew(k, group);
    return left;
}

/* The node that it was nominated to is free for others, unless it is there now. */
static void tell_if_elsewhere(struct engine *k, const struct gang_member *member)
{
    const struct cluster *c = k->cluster;
    if (member->node == ID_NONE || c->nodes.name[member->node] != member->nominated)
        engine_tell_nomination_ended(k, pods_shape(&c->pods, (pod_id){member->pod}),
                                     member->nominated, (pod_id){member->pod});
}

static void commit(struct engine *k, struct planner *p, uint32_t group, uint32_t unit,
                   struct effects *out)
{
    engine_start_turn(k, unit, out);
    uint32_t left = hand_on(k, p, group, unit), placed = 0;
    engine_rank_gang(k, p, group);
    vec_each(&p->members, member) {
        if (UNLIKELY(engine_is_slot(k, member->pod))) { /* who runs in its place is still to come */
            pods_at(&k->cluster->pods, (pod_id){member->pod})->flags |= POD_BOUND;
            continue;
        }
        placed += member->node != ID_NONE;
        if (member->node != ID_NONE && engine_shares(k))
            engine_note_placed(k, (pod_id){member->pod});
        if (member->node != ID_NONE)
            engine_announce(k, (pod_id){member->pod}, out);
        else if (member->is_nominated)
            engine_emit(k, (pod_id){member->pod}, EFFECT_NOMINATE, out);
        if (UNLIKELY(member->is_nominated))
            tell_if_elsewhere(k, member);
    }
    engine_end_preemption_wait(k, group);
    if (p->need) {
        engine_note_gang(k, group, GANG_HAS_ROOM, (struct str){0});
        engine_gang_takes_off(k, group, placed);
    }
    engine_gang_at(k, group)->goes_on = false;
    if (left != ID_NONE && UNLIKELY(engine_turns_of(k, left))) {
        engine_wait_for_turn(k, left);
        return;
    }
    if (left != ID_NONE) {
        engine_refuse_gang(k, p, left, GANG_REST, out);
        return;
    }
    queue_settle(k->queue, unit);
    engine_leave_line(k, unit);
    engine_wait_on(k, group);
}

/* Places the gang if that delays nobody who has the turn. */
static bool exceeds_kind(struct engine *k, const struct planner *p, struct fair_refusal *why)
{
    if (LIKELY(!engine_shares(k)))
        return false;
    vec_each(&p->members, member)
        if (member->node != ID_NONE && engine_exceeds_kind(k, (pod_id){member->pod}, why))
            return true;
    return false;
}

static bool place_in_turn(struct engine *k, struct planner *p, uint32_t group, uint32_t unit,
                          bool *is_behind, bool *exceeds, struct fair_refusal *why)
{
    struct txn t = txn_begin(k->cluster);
    bool is_placed = engine_place_gang(k, p, group, p->need);
    *is_behind = is_placed && !engine_may_pass(k, unit);
    *exceeds = is_placed && !*is_behind && exceeds_kind(k, p, why);
    bool may = is_placed && !*is_behind && !*exceeds;
    if (may)
        txn_commit(k->cluster, t);
    else
        engine_undo_gang(k, p, t);
    return may;
}

/* There is no room: the gang may evict others, and is told. */
static void refuse(struct engine *k, struct planner *p, uint32_t group, enum gang_outcome why,
                   struct effects *out)
{
    AUTO(eviction_plan) plan = {0};
    engine_plan_eviction(k, p, group, &plan);
    engine_refuse_gang(k, p, engine_leader_of(k, group), why, out);
    engine_conclude_eviction(k, p, group, &plan, out);
    engine_go_on_with_turn(k, engine_leader_of(k, group), &plan);
    engine_keep_room(k, p, group);
}

static bool has_say(const struct planner *p)
{
    vec_each(&p->member_classes, member_class)
        if (member_class->class->asks)
            return true;
    return false;
}

/* The rest of a step, once there is hope. */
static void place(struct engine *k, struct planner *p, uint32_t group, uint32_t unit,
                  struct effects *out)
{
    bool is_behind, exceeds;
    struct fair_refusal refusal;
    if (place_in_turn(k, p, group, unit, &is_behind, &exceeds, &refusal))
        commit(k, p, group, unit, out);
    else if (exceeds)
        engine_keep_off_kind(k, unit, &refusal, out);
    else if (is_behind)
        engine_refuse_gang(k, p, unit, GANG_BEHIND, out);
    else
        refuse(k, p, group, GANG_REFUSED, out);
}

/* The same where extenders have a say: it stays in flight until all have answered. */
static void place_as_told(struct engine *k, struct planner *p, uint32_t group, uint32_t unit,
                          struct effects *out)
{
    if (engine_call_extenders_for_gang(k, p, group, out))
        return;
    struct str trouble = engine_gang_trouble(k, group);
    if (trouble.n) {
        engine_fail_gang(k, unit, trouble, true, out);
    } else {
        planner_sort(p);
        p->is_told = true;
        place(k, p, group, unit, out);
        p->is_told = false;
    }
}

void engine_step_gang(struct engine *k, uint32_t unit, struct effects *out)
{
    struct planner *p = &k->stepping->planner;
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    const struct group *g = &k->cluster->groups.at.at[group];
    p->mem = &out->mem;
    if (g->trouble.n) {
        engine_fail_gang(k, unit, buf_str(&g->trouble), false, out);
        return;
    }
    bool is_placed = engine_list_members(k, p, group);
    vec_each(&p->unjudged, pod)
        engine_tell_unjudged(
            k, (pod_id){*pod},
            classes_of(&k->classes, pods_at(&k->cluster->pods, (pod_id){*pod})->shape)->error, out);
    if (!is_placed)
        engine_refuse_gang(k, p, unit, GANG_MISSING, out);
    else if (engine_shares(k) && engine_keep_gang_out(k, p, group, unit, out))
        return;
    else if (!planner_has_hope(p))
        refuse(k, p, group, GANG_HOPELESS, out);
    else if (UNLIKELY(has_say(p)))
        place_as_told(k, p, group, unit, out);
    else
        place(k, p, group, unit, out);
    if (UNLIKELY(engine_n_extender_calls(k)) && !engine_is_asking_about(k, group))
        engine_forget_extender_calls_of_gang(k, group); /* of members that it has no more */
}
