/* One step: take the next unit, decide, and either commit the placement and ask for its binding, or
 * say why not and let the unit wait. Placements are assumed until the API confirms them; a binding
 * that fails is taken back by a new change, never by an old transaction. */

#include "core/engine/engine.h"

#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"
#include "core/framework/row.h"

/* --- effects --- */

/* Its profile may be gone by now. */
static uint32_t binder_of(struct engine *k, pod_id pod)
{
    const struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    return class ? class->binder : 0;
}

void engine_bind(struct engine *k, pod_id pod, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct effect *effect = engine_emit(k, pod, EFFECT_BIND, out);
    effect->node = names_text(&c->names, c->nodes.name[pods_at(&c->pods, pod)->node]);
    if (UNLIKELY(k->config.rules.n_extenders))
        effect->binder = binder_of(k, pod);
    engine_hand_over(k, pod, &out->mem, effect);
    engine_expect(k, effect->id, pod.i);
    assert(!k->units.at[pod.i].bind); /* a pod is bound once */
    k->units.at[pod.i].bind = effect->id;
    k->units.at[pod.i].told = 0;
    k->figures->stats.bound++;
    demand_note(&c->demand, cluster_spec(c, pod)->gpus);
    engine_count_placed(k, pod);
}

static void place(struct engine *k, pod_id pod, const struct class *class, uint32_t node,
                  struct effects *out)
{
    struct cluster *c = k->cluster;
    struct txn t = txn_begin(c);
    cluster_nominate(c, pod, SYM_NONE);
    row_place(c, class, pod, (node_id){node});
    engine_reserve(k, pod, class, &out->mem);
    txn_commit(c, t);
    queue_settle(k->queue, pod.i);
    engine_stop_timer(k, pod.i);
    engine_forget_refusal(k, pod.i);
    engine_start_turn(k, pod.i, out);
    if (engine_shares(k))
        engine_note_placed(k, pod);
    engine_leave_line(k, pod.i);
    engine_announce(k, pod, out);
}

/* What pods of the class are told. A pod that names a node, is nominated to one, or gets one hears
 * its own, and so does one that extenders are asked about. */
static void keep_refusal(struct engine *k, pod_id pod, const struct class *class,
                         const struct eviction_plan *plan)
{
    bool is_personal = pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE || class->asks ||
                       class->preempts || plan->places.n || plan->next_candidate_ms;
    struct class_refusal *r = engine_refusal_of(k, class);
    r->at = is_personal ? 0 : k->cluster->log.end;
    r->is_by_rows = !is_personal && engine_is_by_rows(class, r->by);
    if (engine_shares(k)) {
        r->queue = fair_queue_of(k->shares->tree, pod.i);
        r->epoch = fair_epoch(k->shares->tree);
    }
}

/* Does the profile say first what the cause is? kube-scheduler's profile has kube-scheduler's
 * words.
 */
static bool names_causes(const struct class *class)
{
    return class->gangs && !class->gangs->plugin->gangs_natively;
}

void engine_word_refusal(struct engine *k, pod_id pod, struct class *class, const struct why *why)
{
    struct class_refusal *r = engine_refusal_of(k, class);
    buf_clear(&r->text);
    buf_clear(&r->headline);
    buf_clear(&r->for_holder);
    r->holder = SYM_NONE;
    if (why->nodes && names_causes(class))
        engine_word_alone(k, &k->stepping->planner, why, pod, class);
    why_text(why, &k->classes.reasons, class, &r->text);
    r->by = why->nodes ? why_plugins(why, &k->classes.reasons, class) : 0;
    r->may_be_freed = false;
    vec_each(&why->lines, line)
        r->may_be_freed |=
            reasons_at(&k->classes.reasons, line->reason)->code == CODE_UNSCHEDULABLE;
}

/* There are no nodes, which is nobody's refusal: again after a while, or (a unit that does not back
 * off) with the first node that somebody says may help. */
void engine_try_later(struct engine *k, uint32_t unit)
{
    engine_leave_line(k, unit);
    if (k->units.at[unit].ages)
        queue_refuse(k->queue, k->now_ms, unit, engine_all_plugins(k, unit), 0);
    else
        queue_fail(k->queue, k->now_ms, unit);
}

void engine_refuse(struct engine *k, pod_id pod, struct str message, uint64_t rejected_by,
                   struct effects *out)
{
    bool is_in_line = rejected_by && engine_line_of(k, pod.i);
    engine_forget_refusal(k, pod.i);
    if (is_in_line && !engine_stays_in_line(k, pod.i, rejected_by))
        return;
    struct effect *effect = engine_emit(k, pod, EFFECT_REFUSE, out);
    effect->message = message;
    effect->rejected_by = rejected_by;
    if (rejected_by && !is_in_line)
        queue_refuse(k->queue, k->now_ms, pod.i, rejected_by, 0);
    else if (!is_in_line)
        engine_try_later(k, pod.i);
    k->figures->stats.refused++;
    k->figures->counts.profiles.at[k->units.at[pod.i].profile].unschedulable++;
    engine_count_refused(k, pod, rejected_by);
}

static void refuse(struct engine *k, pod_id pod, const struct class *class, struct effects *out)
{
    const struct class_refusal *r = engine_last_refusal(k, class);
    bool is_holders =
        r->holder != SYM_NONE && pods_shape(&k->cluster->pods, pod)->namespace == r->holder;
    struct str first = buf_str(is_holders ? &r->for_holder : &r->headline);
    struct str message = arena_join(&out->mem, first, buf_str(&r->text));
    engine_refuse(k, pod, message, r->by, out);
    engine_note_refusal(k, pod, class);
    k->figures->counts.preemptions += engine_tries_preemption(k, class);
}

void engine_fail(struct engine *k, pod_id pod, struct str message, bool may_pass,
                 struct effects *out)
{
    engine_tell_failure(k, pod, message, out);
    engine_leave_line(k, pod.i);
    if (may_pass)
        queue_fail(k->queue, k->now_ms, pod.i);
    else
        queue_refuse(k->queue, k->now_ms, pod.i, UNSUPPORTED_BIT, 0);
}

/* --- a step --- */

static void count(struct engine *k, struct verdict v)
{
    k->figures->stats.decisions++;
    switch (v.by) {
    case BY_VIEW:
        k->figures->stats.by_view++;
        break;
    case BY_SCAN:
        k->figures->stats.by_scan++;
        break;
    case BY_PIN:
    case BY_CLASS:
        k->figures->stats.by_pin++;
        break;
    }
}

void engine_place_in_turn(struct engine *k, pod_id pod, struct class *class, uint32_t node,
                          struct effects *out)
{
    struct line *l = engine_line_of(k, pod.i);
    bool may_pass = true, exceeds = false;
    struct fair_refusal why;
    if (UNLIKELY(l) &&
        (l->head != ID_NONE || l->minded.n || (l->has_queues && k->shares->kinds.n))) {
        struct txn trial = txn_begin(k->cluster);
        row_place(k->cluster, class, pod, (node_id){node});
        may_pass = engine_may_pass(k, pod.i);
        exceeds = l->has_queues && may_pass && engine_exceeds_kind(k, pod, &why);
        txn_undo(k->cluster, trial);
    }
    if (exceeds) {
        engine_keep_off_kind(k, pod.i, &why, out);
        return;
    }
    if (may_pass) {
        place(k, pod, class, node, out);
        return;
    }
    engine_note_delayed(k, class);
    if (engine_stays_in_line(k, pod.i, 0))
        engine_tell_behind(k, pod.i, out);
}

/* Pods that must go are the cause, if going helps. */
static void end_headline(const struct engine *k, struct class_refusal *r,
                         const struct eviction_plan *plan)
{
    const struct cluster *c = k->cluster;
    if (plan->places.n) {
        r->holder = SYM_NONE;
        buf_clear(&r->headline);
        engine_word_way(plan->victims.n,
                        names_text(&c->names, c->nodes.name[eviction_plan_node(plan)]),
                        &r->headline);
    }
    buf_add(&r->headline, STR(". "));
    buf_add(&r->for_holder, STR(". "));
}

static int64_t next_second(int64_t ms)
{
    return (ms + 999) / 1000 * 1000;
}

void engine_end_refusal(struct engine *k, pod_id pod, struct class *class,
                        const struct eviction_plan *plan, struct effects *out)
{
    keep_refusal(k, pod, class, plan);
    struct class_refusal *r = engine_refusal_of(k, class);
    if (r->headline.n)
        end_headline(k, r, plan);
    refuse(k, pod, class, out);
    engine_carry_out(k, pod, plan, out);
    engine_go_on_with_turn(k, pod.i, plan);
    if (UNLIKELY(plan->next_candidate_ms))
        engine_wake_at(k, pod.i,
                       engine_shares(k) ? plan->next_candidate_ms
                                        : next_second(plan->next_candidate_ms));
}

void engine_turn_down(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                      struct effects *out)
{
    engine_word_refusal(k, pod, class, why);
    if (UNLIKELY(class->preempts) && engine_ask_victims(k, pod, class, why, out))
        return;
    engine_let_preemption_search_pause(k, pod, class);
    AUTO(eviction_plan) plan = {0};
    engine_plan(k, pod, class, why, &plan, &engine_refusal_of(k, class)->text);
    if (UNLIKELY(engine_preemption_search_was_put_down(k, pod)))
        return;
    engine_end_refusal(k, pod, class, &plan, out);
}

void engine_judge(struct engine *k, pod_id pod, struct class *class, bool ignores_nomination,
                  struct effects *out)
{
    struct cluster *c = k->cluster;
    if (UNLIKELY(class->may_fail))
        engine_let_pause(k, pod, class);
    struct verdict v = engine_decide_beyond(k, pod, class, ignores_nomination);
    count(k, v);
    if (UNLIKELY(class->may_fail) && engine_was_put_down(k, pod))
        return;
    if (UNLIKELY(v.error))
        engine_fail(k, pod, class_error_text(class, &k->classes.reasons, v.error), true, out);
    else if (v.node == ID_NONE)
        engine_turn_down(k, pod, class, v.why, out);
    else if (UNLIKELY(class->asks))
        engine_call_extenders(k, pod, class, v, ignores_nomination, out);
    else if (class->score_error.n && v.feasible > 1)
        engine_fail(k, pod, class->score_error, true, out);
    else if (UNLIKELY(v.broken != ID_NONE) && v.feasible > 1)
        engine_fail(k, pod, row_broken_text(c, class, (node_id){v.broken}, &out->mem), true, out);
    else
        engine_place_in_turn(k, pod, class, v.node, out);
}

/* Queues say who may be evicted for whom: another queue's pod may hear another answer. */
static bool is_in_same_queue(const struct engine *k, pod_id pod, const struct class *class)
{
    if (!engine_shares(k))
        return true;
    const struct class_refusal *r = engine_last_refusal(k, class);
    return r->queue == fair_queue_of(k->shares->tree, pod.i) &&
           r->epoch == fair_epoch(k->shares->tree);
}

static void step_pod(struct engine *k, pod_id pod, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    assert(class); /* only pods that a profile serves are queued */
    k->units.at[pod.i].profile =
        (uint8_t)k->figures->counts.of.at[class->profile - k->config.rules.profiles];
    if (class->error.n) {
        engine_fail(k, pod, class->error, false, out); /* it is its spec that is too much */
        return;
    }
    if (engine_shares(k) && engine_keep_pod_out(k, pod, class, out))
        return;
    if (engine_would_hear_the_same(k, pod, class) && is_in_same_queue(k, pod, class)) {
        k->figures->stats.decisions++;
        k->figures->stats.repeated++;
        refuse(k, pod, class, out);
        return;
    }
    if (LIKELY(!(class->asks | class->preempts)) ||
        !engine_resume_extender_call(k, pod, class, out))
        engine_judge(k, pod, class, false, out);
}

/* Decides about a unit in flight. */
static void step_unit(struct engine *k, uint32_t unit, struct effects *out)
{
    bool is_puzzling = !k->units.at[unit].attempts && engine_is_puzzling(k, (pod_id){unit});
    if (UNLIKELY(engine_n_slots(k)))
        engine_take_slots_off(k, (pod_id){unit});
    if (UNLIKELY(engine_gang_led_by(k, unit)))
        engine_step_gang(k, unit, out);
    else if (LIKELY(!engine_has_drivers(k)) || engine_has_company(k, (pod_id){unit}, out))
        step_pod(k, (pod_id){unit}, out);
    if (UNLIKELY(engine_n_slots(k)))
        engine_put_slots_back(k);
    if (UNLIKELY(engine_has_drivers(k)))
        engine_let_company_in(k, (pod_id){unit});
    if (UNLIKELY(engine_n_extender_calls(k)) && queue_where(k->queue, unit) != QUEUE_IN_FLIGHT)
        engine_forget_extender_call(k, (pod_id){unit});
    if (engine_shares(k))
        engine_review_turn(k, unit);
    if (UNLIKELY(is_puzzling) && k->units.at[unit].attempts)
        engine_remark(k, (pod_id){unit}, out);
}

enum {
    BACKOFFS_A_STEP = 4096
}; /* units that have waited long enough, and come back: a millisecond */

static bool step(struct engine *k, struct effects *out)
{
    uint32_t unit;
    if (engine_shares(k) || engine_must_share_anew(k))
        engine_settle_shares(k);
    if (engine_pass_time(k, out))
        return true;
    if (UNLIKELY(engine_n_extender_calls(k)) && engine_next_answered(k, &unit)) {
        step_unit(k, unit, out);
        return true;
    }
    if (engine_is_loaded(k))
        return false;
    if (UNLIKELY(queue_end_backoffs(k->queue, k->now_ms, BACKOFFS_A_STEP)))
        return true;
    if (UNLIKELY(engine_take_up(k, true, &unit))) {
        step_unit(k, unit, out);
        return true;
    }
    if (queue_take(k->queue, k->now_ms, &unit)) {
        if (UNLIKELY(queue_was_woken(k->queue, unit)) && engine_is_in_vain(k, unit)) {
            queue_put_back(k->queue, unit);
            return true;
        }
        bool is_slot = UNLIKELY(engine_n_slots(k)) && engine_step_slot(k, (pod_id){unit});
        if (!is_slot && !engine_line_up(k, unit, out))
            step_unit(k, unit, out);
        return true;
    }
    if (!engine_next_in_line(k, &unit) && !engine_take_up(k, false, &unit))
        return false;
    if (unit != ID_NONE)
        step_unit(k, unit, out);
    return true;
}

bool engine_step(struct engine *k, int64_t now_ms, struct effects *out)
{
    engine_begin_call(k, now_ms);
    engine_rest_classes(k);
    engine_begin_effort(k);
    engine_begin_to_bound(k);
    bool is_one = step(k, out);
    k->cluster->effort = (struct effort){0};
    return is_one;
}

void engine_set_tie_order(struct engine *k, struct str node, uint64_t tie_order)
{
    struct cluster *c = k->cluster;
    node_id id = cluster_claim(c, names_get(&c->names, node));
    c->nodes.tie_order[id.i] = tie_order;
    change_log_add(&c->log, id, COLUMN_ALL);
}

struct engine_stats engine_stats(const struct engine *k)
{
    struct engine_stats s = k->figures->stats;
    s.rows_logged = k->cluster->log.end;
    s.rows_caught_up = k->deciding.views.stats.rows;
    s.views_built = k->deciding.views.stats.built;
    s.views_evicted = k->deciding.views.stats.evicted;
    s.views = k->deciding.views.at.n;
    s.classes = classes_count(&k->classes);
    s.active = queue_count(k->queue, QUEUE_ACTIVE);
    s.backing_off = queue_count(k->queue, QUEUE_BACKING_OFF);
    s.parked = queue_count(k->queue, QUEUE_PARKED);
    s.in_flight = queue_count(k->queue, QUEUE_IN_FLIGHT);
    s.nodes = k->cluster->nodes.present;
    s.pods = k->cluster->pods.n - engine_n_slots(k);
    s.ends_learned = engine_n_learned(k);
    return s;
}
