/* A gang that evicts: what it is told, the nodes that it has in sight from then on, and for how
 * long. It evicts once, and then waits until those who went for it are gone; what becomes free is
 * held for it by nominations of all its pods that have a place in the plan. When that takes too
 * long, or the room is gone to somebody more important, it looks again, no sooner than the gap of
 * its rules after the last time. */

#include "core/engine/inside.h"
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

static bool has_in_sight(const struct engine *k, uint32_t group, bool is_cleared)
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

bool engine_is_pursuing(const struct engine *k, uint32_t group)
{
    const struct gang *gang = &k->gangs.at[group];
    return engine_is_evicting(k, gang->leader) ||
           (gang->holds_ms > k->now_ms && has_in_sight(k, group, true));
}

int64_t engine_pursuit_ms(const struct gang *gang)
{
    int64_t due_ms = gang->raids_ms ? gang->raids_ms : INT64_MAX;
    due_ms = gang->ripe_ms ? MIN(due_ms, gang->ripe_ms) : due_ms;
    return gang->holds_ms ? MIN(due_ms, gang->holds_ms) : due_ms;
}

/* --- planning --- */

/* Do extenders have a say in where its pods go, or in whom they evict? There is no certificate
 * then. */
static bool has_say(const struct planner *p)
{
    vec_each(&p->benches, bench)
        if (bench->class->asks | bench->class->preempts)
            return true;
    return false;
}

enum eviction_outcome engine_plan_eviction(struct engine *k, int64_t now_ms, uint32_t group)
{
    struct gang *gang = &k->gangs.at[group];
    struct eviction_args rules;
    k->planner.also = 0;
    buf_clear(&k->planner.plan);
    if (k->planner.need == 0 || has_say(&k->planner) ||
        !engine_eviction_rules(engine_profile_of(k, (pod_id){gang->leader}), false, &rules))
        return EVICTION_NONE;
    if (gang->holds_ms == 0 && has_in_sight(k, group, false)) /* as after a restart */
        gang->holds_ms = now_ms + MAX(rules.hold_ms, (int64_t)1);
    enum eviction_outcome outcome = EVICTION_WAITS;
    bool may_look = !engine_is_pursuing(k, group) && now_ms >= gang->raids_ms;
    if (may_look) {
        k->counts.preemptions++;
        outcome = engine_find_eviction(k, now_ms, gang->leader, NULL);
        bool ripens = outcome != EVICTION_FOUND && k->evictor.parties.ripe_ms != INT64_MAX;
        gang->ripe_ms = ripens ? k->evictor.parties.ripe_ms : 0;
    }
    if (outcome == EVICTION_FOUND || outcome == EVICTION_WAITS)
        k->planner.also = bit_of_eviction();
    engine_word_eviction(k, outcome, &k->planner.plan);
    engine_set_timer(k, gang->leader);
    return may_look ? outcome : EVICTION_PENDING;
}

/* --- carrying it out --- */

static bool has_place(const struct engine *k, uint32_t pod)
{
    vec_each(&k->evictor.plan.places, place)
        if (place->pod == pod)
            return true;
    return false;
}

/* Members that have no place in the plan have none in sight. */
static void look_away(struct engine *k, int64_t now_ms, uint32_t group, bool keeps_places,
                      struct effects *out)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    for (uint32_t i = 0; i < g->members.n; i++) {
        pod_id pod = {g->members.at[i]};
        if (pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE &&
            !(keeps_places && has_place(k, pod.i)))
            engine_set_in_sight(k, now_ms, pod, SYM_NONE, out);
    }
}

static void hold_places(struct engine *k, int64_t now_ms, bool is_firm, struct effects *out)
{
    struct cluster *c = k->cluster;
    vec_each(&k->evictor.plan.places, place) {
        pod_id pod = {place->pod};
        sym node = c->nodes.name[place->node];
        if (is_firm)
            pods_at(&c->pods, pod)->flags |= POD_FIRM;
        engine_clear_others(k, now_ms, pod, node, out);
        engine_set_in_sight(k, now_ms, pod, node, out);
    }
}

/* What makes cycles impossible, and what nobody may find broken. */
static void check_plan(const struct engine *k, uint32_t group)
{
    const struct eviction_plan *plan = &k->evictor.plan;
    const struct cluster *c = k->cluster;
    assert(k->planner.wants || plan->places.n >= k->planner.need);
    assert(k->now_ms >= k->gangs.at[group].raids_ms &&
           !engine_is_evicting(k, k->gangs.at[group].leader));
    vec_each(&plan->victims, v) {
        const struct pod_row *row = pods_at(&c->pods, v->pod);
        assert(v->group == ID_NONE || v->group != group);
        assert(row->node == v->node && !(row->flags & (POD_GOING | POD_GUARDED)));
        assert(rank_is_below(v->rank, k->evictor.rank, &k->evictor.rules));
    }
}

static void carry_out(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out)
{
    struct gang *gang = &k->gangs.at[group];
    struct eviction_args rules = rules_of(k, gang->leader);
    check_plan(k, group);
    gang->raids_ms = now_ms + rules.gap_ms;
    gang->holds_ms = now_ms + MAX(rules.hold_ms, (int64_t)1);
    look_away(k, now_ms, group, true, out);
    hold_places(k, now_ms, rules.tier_first, out);
    vec_clear(&k->victims);
    vec_each(&k->evictor.plan.victims, v)
        vec_push(&k->victims, v->pod);
    engine_evict_all(k, now_ms, (pod_id){gang->leader}, out);
    if (k->victims.n == 0) /* it fits, only the planner did not see how */
        queue_activate(k->queue, now_ms, gang->leader);
    engine_set_timer(k, gang->leader);
}

void engine_conclude_eviction(struct engine *k, int64_t now_ms, uint32_t group,
                              enum eviction_outcome outcome, struct effects *out)
{
    if (outcome == EVICTION_FOUND)
        carry_out(k, now_ms, group, out);
    else if (outcome != EVICTION_PENDING && outcome != EVICTION_WAITS &&
             k->gangs.at[group].holds_ms) {
        look_away(k, now_ms, group, false, out); /* it has nothing to wait for there */
        k->gangs.at[group].holds_ms = 0;
    }
}

/* --- how it ends --- */

void engine_review_pursuit(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out)
{
    struct gang *gang = &k->gangs.at[group];
    bool is_over = gang->holds_ms && gang->holds_ms <= now_ms;
    bool may_raid = gang->raids_ms && gang->raids_ms <= now_ms;
    bool is_ripe = gang->ripe_ms && gang->ripe_ms <= now_ms;
    if (is_over) {
        gang->holds_ms = 0;
        look_away(k, now_ms, group, false, out);
    }
    if (may_raid)
        gang->raids_ms = 0;
    if (is_ripe)
        gang->ripe_ms = 0;
    if (is_over || ((may_raid || is_ripe) && !engine_is_pursuing(k, group)))
        queue_activate(k->queue, now_ms, gang->leader);
}

void engine_doubt_pursuit(struct engine *k, int64_t now_ms, uint32_t unit, bool is_for_good)
{
    struct gang *gang = engine_gang_led_by(k, unit);
    if (!gang)
        return;
    gang->raids_ms = is_for_good ? 0 : gang->raids_ms;
    bool is_over =
        !engine_is_evicting(k, unit) && !has_in_sight(k, (uint32_t)(gang - k->gangs.at), true);
    if (gang->holds_ms && is_over)
        gang->holds_ms = now_ms; /* its timer sees to the rest */
    engine_set_timer(k, unit);
}

void engine_end_pursuit(struct engine *k, uint32_t group)
{
    k->gangs.at[group].raids_ms = 0;
    k->gangs.at[group].ripe_ms = 0;
    k->gangs.at[group].holds_ms = 0;
    vec_each(&k->cluster->groups.at.at[group].members, i)
        pods_at(&k->cluster->pods, (pod_id){*i})->flags &= ~(uint32_t)POD_FIRM;
}
