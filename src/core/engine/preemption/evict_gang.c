/* A gang that evicts: what it is told, the nodes that its pods are nominated to from then on, and
 * for how long. It evicts once, and then waits until those who went for it are gone; what becomes
 * free is held for it by nominations of all its pods that have a place in the plan. When that takes
 * too long, or the room is gone to somebody more important, it looks again, no sooner than the gap
 * of its rules after the last time. */

#include "core/engine/preemption/preemption.h"
#include "core/plugins/plugins.h"

static struct eviction_args rules_of(const struct engine *k, uint32_t unit)
{
    struct eviction_args rules;
    (void)engine_eviction_rules(engine_profile_of(k, (pod_id){unit}), false, &rules);
    return rules;
}

/* Whoever waits under it hears when any pod is gone. */
static uint64_t bit_of_eviction(void)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n_plugins; i++)
        if (plugins[i]->evicts)
            bits |= (uint64_t)1 << i;
    return bits;
}

/* --- who is waited for --- */

static bool is_being_cleared(const struct cluster *c, sym name)
{
    node_id node = nodes_find(&c->nodes, name);
    if (node.i == ID_NONE)
        return false;
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after)
        if (c->pods.rows.at[i].flags & POD_GOING)
            return true;
    return false;
}

static bool is_nominated(const struct engine *k, uint32_t group, bool is_cleared)
{
    const struct cluster *c = k->cluster;
    vec_each(&c->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&c->pods, (pod_id){*i});
        if (row->node == ID_NONE && row->nominated != SYM_NONE &&
            (!is_cleared || is_being_cleared(c, row->nominated)))
            return true;
    }
    return false;
}

/* That of the group, which has one from now on. */
static struct preemption_wait *preemption_wait_of(struct engine *k, uint32_t group)
{
    if (group >= k->preemption->preemption_waits.n)
        vec_resize(&k->preemption->preemption_waits, group + 1);
    return &k->preemption->preemption_waits.at[group];
}

static struct preemption_wait known(const struct engine *k, uint32_t group)
{
    const struct preemption *p = k->preemption;
    return group < p->preemption_waits.n ? p->preemption_waits.at[group]
                                         : (struct preemption_wait){0};
}

int64_t preemption_wait_next_ms(struct preemption_wait p)
{
    int64_t due_ms = p.next_try_ms ? p.next_try_ms : INT64_MAX;
    due_ms = p.next_candidate_ms ? MIN(due_ms, p.next_candidate_ms) : due_ms;
    return p.holds_ms ? MIN(due_ms, p.holds_ms) : due_ms;
}

int64_t engine_next_preemption_ms(const struct engine *k, uint32_t group)
{
    return preemption_wait_next_ms(known(k, group));
}

bool engine_may_evict_now(const struct engine *k, uint32_t group)
{
    struct preemption_wait p = known(k, group);
    return p.next_candidate_ms == 0 && p.next_try_ms == 0;
}

bool engine_waits_for_victims(const struct engine *k, uint32_t group)
{
    return engine_waits_for_evictions(k, engine_leader_of(k, group)) ||
           (known(k, group).holds_ms > k->now_ms && is_nominated(k, group, true));
}

/* --- planning --- */

/* Do extenders have a say in where its pods go, or in whom they evict? There is no certificate
 * then. */
static bool has_say(const struct planner *p)
{
    vec_each(&p->member_classes, member_class)
        if (member_class->class->asks | member_class->class->preempts)
            return true;
    return false;
}

void engine_plan_eviction(struct engine *k, struct planner *p, uint32_t group,
                          struct eviction_plan *plan)
{
    uint32_t leader = engine_leader_of(k, group);
    struct eviction_args rules;
    p->also = p->victims = 0;
    buf_clear(&p->plan);
    plan->outcome = EVICTION_NONE;
    if (p->need == 0 || has_say(p) ||
        (!engine_eviction_rules(engine_profile_of(k, (pod_id){leader}), false, &rules) &&
         !engine_is_queued(k, leader)))
        return;
    struct preemption_wait *preemption_wait = preemption_wait_of(k, group);
    if (preemption_wait->holds_ms == 0 && is_nominated(k, group, false)) /* as after a restart */
        preemption_wait->holds_ms = k->now_ms + MAX(rules.hold_ms, (int64_t)1);
    plan->outcome = EVICTION_PENDING;
    if (!engine_waits_for_victims(k, group) && k->now_ms >= preemption_wait->next_try_ms) {
        k->figures->counts.preemptions++;
        engine_find_eviction(k, leader, NULL, plan);
        preemption_wait->next_candidate_ms = plan->next_candidate_ms;
    }
    bool is_worth_waiting = plan->outcome == EVICTION_FOUND || plan->outcome == EVICTION_WAITS ||
                            plan->outcome == EVICTION_PENDING;
    if (is_worth_waiting)
        p->also = bit_of_eviction();
    engine_word_eviction(k, plan, k->cluster->groups.at.at[group].namespace, &p->plan);
    p->victims = plan->victims.n;
    engine_set_timer(k, leader);
}

/* --- carrying it out --- */

static bool has_place(const struct eviction_plan *plan, uint32_t pod)
{
    vec_each(&plan->places, place)
        if (place->pod == pod)
            return true;
    return false;
}

/* Members that have no place in the plan (NULL: there is none) are not nominated. */
static void look_away(struct engine *k, uint32_t group, const struct eviction_plan *plan,
                      struct effects *out)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    for (uint32_t i = 0; i < g->members.n; i++) {
        pod_id pod = {g->members.at[i]};
        if (pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE &&
            !(plan && has_place(plan, pod.i)))
            engine_nominate(k, pod, SYM_NONE, out);
    }
}

/* What makes cycles impossible, and what nobody may find broken. */
static void check_plan(const struct engine *k, const struct planner *p, uint32_t group,
                       const struct eviction_plan *plan, const struct eviction_args *rules)
{
    const struct cluster *c = k->cluster;
    assert(p->wants || plan->places.n >= p->need);
    assert(k->now_ms >= known(k, group).next_try_ms &&
           !engine_waits_for_evictions(k, engine_leader_of(k, group)));
    vec_each(&plan->victims, v) {
        const struct pod_row *row = pods_at(&c->pods, v->pod);
        assert(v->group == ID_NONE || v->group != group);
        assert(row->node == v->node && !(row->flags & POD_GOING));
        assert(plan->is_by_queues || importance_is_below(v->importance, plan->importance, rules));
    }
}

static void carry_out(struct engine *k, struct planner *p, uint32_t group,
                      const struct eviction_plan *plan, struct effects *out)
{
    struct preemption_wait *preemption_wait = preemption_wait_of(k, group);
    uint32_t leader = engine_leader_of(k, group);
    struct eviction_args rules = rules_of(k, leader);
    check_plan(k, p, group, plan, &rules);
    preemption_wait->next_try_ms = k->now_ms + rules.gap_ms;
    preemption_wait->holds_ms = k->now_ms + MAX(rules.hold_ms, (int64_t)1);
    look_away(k, group, plan, out);
    engine_keep_places(k, plan, out);
    engine_evict_all(k, (pod_id){leader}, plan, out);
    if (!engine_waits_for_evictions(k, leader)) {
        /* it fits, only the planner did not see how, or in room that was held */
        preemption_wait_of(k, group)->next_try_ms = 0;
        queue_activate(k->queue, k->now_ms, leader);
    }
    engine_set_timer(k, leader);
}

void engine_conclude_eviction(struct engine *k, struct planner *p, uint32_t group,
                              const struct eviction_plan *plan, struct effects *out)
{
    enum eviction_outcome outcome = plan->outcome;
    if (outcome == EVICTION_FOUND)
        carry_out(k, p, group, plan, out);
    else if (outcome != EVICTION_PENDING && outcome != EVICTION_WAITS && known(k, group).holds_ms) {
        look_away(k, group, NULL, out); /* it has nothing to wait for there */
        preemption_wait_of(k, group)->holds_ms = 0;
    }
}

/* --- how it ends --- */

void engine_review_preemption_wait(struct engine *k, uint32_t group, struct effects *out)
{
    struct preemption_wait *preemption_wait = preemption_wait_of(k, group);
    bool is_over = preemption_wait->holds_ms && preemption_wait->holds_ms <= k->now_ms;
    bool may_try_again = preemption_wait->next_try_ms && preemption_wait->next_try_ms <= k->now_ms;
    bool has_new_candidate =
        preemption_wait->next_candidate_ms && preemption_wait->next_candidate_ms <= k->now_ms;
    if (may_try_again)
        preemption_wait->next_try_ms = 0;
    if (has_new_candidate)
        preemption_wait->next_candidate_ms = 0;
    if (is_over) {
        preemption_wait->holds_ms = 0;
        look_away(k, group, NULL, out);
    }
    if (is_over || ((may_try_again || has_new_candidate) && !engine_waits_for_victims(k, group)))
        queue_activate(k->queue, k->now_ms, engine_leader_of(k, group));
}

void engine_doubt_preemption_wait(struct engine *k, uint32_t unit, bool is_for_good)
{
    if (!engine_gang_led_by(k, unit))
        return;
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct preemption_wait *preemption_wait = preemption_wait_of(k, group);
    preemption_wait->next_try_ms = is_for_good ? 0 : preemption_wait->next_try_ms;
    bool is_over = !engine_waits_for_evictions(k, unit) && !is_nominated(k, group, true);
    if (preemption_wait->holds_ms && is_over)
        preemption_wait->holds_ms = k->now_ms; /* its timer sees to the rest */
    engine_set_timer(k, unit);
}

void engine_begin_preemption_wait(struct engine *k, uint32_t group)
{
    if (group < k->preemption->preemption_waits.n)
        k->preemption->preemption_waits.at[group] = (struct preemption_wait){0};
}

void engine_tidy_preemption_waits(struct engine *k)
{
    intern_fit(&k->cluster->groups.table, &k->preemption->preemption_waits);
}

void engine_end_preemption_wait(struct engine *k, uint32_t group)
{
    engine_begin_preemption_wait(k, group);
    vec_each(&k->cluster->groups.at.at[group].members, i)
        pods_at(&k->cluster->pods, (pod_id){*i})->flags &= ~(uint32_t)POD_FIRM;
}
