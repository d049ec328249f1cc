/* One step: take the next unit, decide, and either commit the placement and ask for its binding, or
 * say why not and let the unit wait. Placements are assumed until the API confirms them; a binding
 * that fails is taken back by a new change, never by an old transaction. */

#include "core/engine/engine.h"

#include "core/engine/inside.h"
#include "core/framework/row.h"

struct engine *engine_new(const struct engine_config *config)
{
    struct engine *k = mem_alloc(sizeof(*k));
    k->config = engine_config_complete(*config);
    k->cluster = cluster_new(config->seed);
    k->cluster->keeps_pins = config->keeps_pins;
    k->cluster->compares_tolerations = config->compares_tolerations;
    k->cluster->overlooks_capacity = config->overlooks_capacity;
    k->cluster->overlooks_drivers = config->overlooks_drivers;
    k->views = (struct views){
        .cluster = k->cluster,
        .reasons = &k->classes.reasons,
        .budget_bytes = config->view_bytes,
        .most = config->view_count,
    };
    k->holds.next_ms = INT64_MAX;
    k->show_ms = INT64_MAX;
    k->keeper = ID_NONE;
    engine_begin_profiles(k, 0);
    struct queue_rules rules = engine_queue_rules(k);
    k->queue = queue_new(&rules);
    return k;
}

void engine_free(struct engine *k)
{
    if (!k)
        return;
    classes_done(&k->classes);
    views_done(&k->views);
    scan_done(&k->scan);
    queue_free(k->queue);
    cluster_free(k->cluster);
    vec_done(&k->units);
    engine_gangs_done(k);
    engine_lines_done(k);
    map_done(&k->unsettled);
    engine_preparations_done(k);
    engine_consultations_done(k);
    hunts_done(&k->hunts);
    holds_done(&k->holds);
    complaints_done(&k->complaints);
    vec_done(&k->victims);
    vec_done(&k->evictions);
    vec_done(&k->refusals);
    evictor_done(&k->evictor);
    engine_counts_done(&k->counts);
    placement_counts_done(&k->placements);
    why_done(&k->why);
    arena_done(&k->mem);
    mem_free(k);
}

/* --- effects --- */

struct effect *engine_emit(struct engine *k, int64_t now_ms, pod_id pod, enum effect_kind kind,
                           struct effects *out)
{
    const struct cluster *c = k->cluster;
    const struct pod_row *row = pods_at(&c->pods, pod);
    struct unit *unit = &k->units.at[pod.i];
    if (kind <= EFFECT_FAIL) /* the other kinds come along with one of these */
        unit->attempts++;
    struct effect effect = {
        .id = ++k->last_effect,
        .kind = kind,
        .namespace = names_text(&c->names, c->pods.shapes.at[row->shape].namespace),
        .pod = pod_name(row),
        .uid = pod_uid(row),
        .waited_ms = now_ms - unit->first_ms,
        .attempt = unit->attempts,
        .profile = k->counts.profiles.at[unit->profile].name,
    };
    vec_push(&out->list, effect);
    return &vec_last(&out->list);
}

/* Its profile may be gone by now. */
static uint32_t binder_of(struct engine *k, pod_id pod)
{
    const struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    return class ? class->binder : 0;
}

void engine_bind(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct effect *effect = engine_emit(k, now_ms, pod, EFFECT_BIND, out);
    effect->node = names_text(&c->names, c->nodes.name[pods_at(&c->pods, pod)->node]);
    if (UNLIKELY(k->config.n_extenders))
        effect->binder = binder_of(k, pod);
    engine_hand_over(k, pod, &out->mem, effect);
    map_put(&k->unsettled, effect->id, pod.i);
    k->units.at[pod.i].bind = effect->id;
    k->units.at[pod.i].told = 0;
    k->stats.bound++;
    demand_note(&c->demand, cluster_spec(c, pod)->gpus);
    engine_count_placed(k, pod);
}

static void place(struct engine *k, int64_t now_ms, pod_id pod, const struct class *class,
                  uint32_t node, struct effects *out)
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
    engine_leave_line(k, pod.i);
    engine_announce(k, now_ms, pod, out);
}

/* What pods of the class are told. A pod that names a node, has one in sight, or gets one hears its
 * own, and so does one that extenders are asked about. */
static void keep_refusal(struct engine *k, pod_id pod, struct class *class, const struct plan *plan)
{
    bool is_personal = pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE || class->asks ||
                       class->preempts || plan->node != ID_NONE || plan->ripe_ms;
    class->refused_at = is_personal ? 0 : k->cluster->log.end;
    class->is_by_rows = !is_personal && engine_is_by_rows(class);
}

void engine_word_refusal(struct engine *k, struct class *class)
{
    buf_clear(&class->refused_text);
    why_text(&k->why, &k->classes.reasons, class, &class->refused_text);
    class->rejected_by = k->why.nodes ? why_plugins(&k->why, &k->classes.reasons, class) : 0;
    class->may_be_freed = false;
    vec_each(&k->why.lines, line)
        class->may_be_freed |=
            reasons_at(&k->classes.reasons, line->reason)->code == CODE_UNSCHEDULABLE;
}

bool engine_would_hear_the_same(const struct engine *k, pod_id pod, const struct class *class)
{
    return class->refused_at == k->cluster->log.end && !class->is_pinned &&
           pods_at(&k->cluster->pods, pod)->nominated == SYM_NONE && !k->config.checks_views;
}

/* There are no nodes, which is nobody's refusal: again after a while, or (a unit that does not back
 * off) with the first node that somebody says may help. */
void engine_try_later(struct engine *k, int64_t now_ms, uint32_t unit)
{
    engine_leave_line(k, unit);
    if (k->units.at[unit].ages)
        queue_refuse(k->queue, now_ms, unit, engine_all_plugins(k, unit), 0);
    else
        queue_fail(k->queue, now_ms, unit);
}

void engine_refuse(struct engine *k, int64_t now_ms, pod_id pod, struct str message,
                   uint64_t rejected_by, struct effects *out)
{
    bool is_in_line = rejected_by && engine_line_of(k, pod.i);
    engine_forget_refusal(k, pod.i);
    if (is_in_line && !engine_stays_in_line(k, now_ms, pod.i, rejected_by))
        return;
    struct effect *effect = engine_emit(k, now_ms, pod, EFFECT_REFUSE, out);
    effect->message = message;
    effect->rejected_by = rejected_by;
    if (rejected_by && !is_in_line)
        queue_refuse(k->queue, now_ms, pod.i, rejected_by, 0);
    else if (!is_in_line)
        engine_try_later(k, now_ms, pod.i);
    k->stats.refused++;
    k->counts.profiles.at[k->units.at[pod.i].profile].unschedulable++;
    engine_count_refused(k, pod, rejected_by);
}

static void refuse(struct engine *k, int64_t now_ms, pod_id pod, const struct class *class,
                   struct effects *out)
{
    struct str message = arena_str(&out->mem, buf_str(&class->refused_text));
    engine_refuse(k, now_ms, pod, message, class->rejected_by, out);
    engine_note_refusal(k, pod, class);
    k->counts.preemptions += engine_tries_preemption(k, class);
}

void engine_tell_failure(struct engine *k, int64_t now_ms, pod_id pod, struct str message,
                         struct effects *out)
{
    struct effect *effect = engine_emit(k, now_ms, pod, EFFECT_FAIL, out);
    effect->message = arena_str(&out->mem, message);
    k->stats.failed++;
    k->counts.profiles.at[k->units.at[pod.i].profile].error++;
    engine_count_refused(k, pod, 0);
}

void engine_fail(struct engine *k, int64_t now_ms, pod_id pod, struct str message, bool may_pass,
                 struct effects *out)
{
    engine_tell_failure(k, now_ms, pod, message, out);
    engine_leave_line(k, pod.i);
    if (may_pass)
        queue_fail(k->queue, now_ms, pod.i);
    else
        queue_refuse(k->queue, now_ms, pod.i, UNSUPPORTED_BIT, 0);
}

/* --- a step --- */

static void count(struct engine *k, struct verdict v)
{
    k->stats.decisions++;
    switch (v.by) {
    case BY_VIEW:
        k->stats.by_view++;
        break;
    case BY_SCAN:
        k->stats.by_scan++;
        break;
    case BY_PIN:
    case BY_CLASS:
        k->stats.by_pin++;
        break;
    }
}

void engine_place_in_turn(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                          uint32_t node, struct effects *out)
{
    struct line *l = engine_line_of(k, pod.i);
    bool may_pass = true;
    if (UNLIKELY(l) && l->head != ID_NONE) {
        struct txn trial = txn_begin(k->cluster);
        row_place(k->cluster, class, pod, (node_id){node});
        may_pass = engine_may_pass(k, now_ms, pod.i);
        txn_undo(k->cluster, trial);
    }
    if (may_pass) {
        place(k, now_ms, pod, class, node, out);
        return;
    }
    class->delayed_at = engine_line_serial(k);
    if (engine_stays_in_line(k, now_ms, pod.i, 0))
        engine_tell_behind(k, now_ms, pod.i, out);
}

void engine_end_refusal(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                        const struct plan *plan, struct effects *out)
{
    keep_refusal(k, pod, class, plan);
    refuse(k, now_ms, pod, class, out);
    engine_carry_out(k, now_ms, pod, *plan, out);
    if (UNLIKELY(plan->ripe_ms))
        engine_wake_at(k, pod.i, plan->ripe_ms);
}

void engine_turn_down(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                      struct effects *out)
{
    engine_word_refusal(k, class);
    if (UNLIKELY(class->preempts) && engine_ask_victims(k, now_ms, pod, class, out))
        return;
    struct plan plan = engine_plan(k, pod, class, &class->refused_text);
    engine_end_refusal(k, now_ms, pod, class, &plan, out);
}

void engine_judge(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                  bool overlooks_sight, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct verdict v = engine_decide_beyond(k, pod, class, overlooks_sight);
    count(k, v);
    if (UNLIKELY(v.error))
        engine_fail(k, now_ms, pod, class_error_text(class, &k->classes.reasons, v.error), true,
                    out);
    else if (v.node == ID_NONE)
        engine_turn_down(k, now_ms, pod, class, out);
    else if (UNLIKELY(class->asks))
        engine_consult(k, now_ms, pod, class, v, overlooks_sight, out);
    else if (class->score_error.n && v.feasible > 1)
        engine_fail(k, now_ms, pod, class->score_error, true, out);
    else if (UNLIKELY(v.broken != ID_NONE) && v.feasible > 1)
        engine_fail(k, now_ms, pod, row_broken_text(c, class, (node_id){v.broken}, &out->mem), true,
                    out);
    else
        engine_place_in_turn(k, now_ms, pod, class, v.node, out);
}

static void step_pod(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    assert(class); /* only pods that a profile serves are queued */
    k->units.at[pod.i].profile = (uint8_t)k->counts.of.at[class->profile - k->config.profiles];
    if (class->error.n) {
        engine_fail(k, now_ms, pod, class->error, false, out); /* it is its spec that is too much */
        return;
    }
    if (engine_would_hear_the_same(k, pod, class)) {
        k->stats.decisions++;
        k->stats.repeated++;
        refuse(k, now_ms, pod, class, out);
        return;
    }
    if (LIKELY(!(class->asks | class->preempts)) || !engine_heed(k, now_ms, pod, class, out))
        engine_judge(k, now_ms, pod, class, false, out);
}

/* Decides about a unit in flight. */
static void step_unit(struct engine *k, int64_t now_ms, uint32_t unit, struct effects *out)
{
    bool is_puzzling = !k->units.at[unit].attempts && engine_is_puzzling(k, (pod_id){unit});
    if (UNLIKELY(k->holds.of_pod.n))
        engine_lift(k, (pod_id){unit});
    if (UNLIKELY(engine_gang_led_by(k, unit)))
        engine_step_gang(k, now_ms, unit, out);
    else if (LIKELY(!k->holds.of_driver.n) || engine_has_company(k, now_ms, (pod_id){unit}, out))
        step_pod(k, now_ms, (pod_id){unit}, out);
    if (UNLIKELY(k->holds.lifted.n))
        engine_lower(k);
    if (UNLIKELY(k->holds.of_driver.n))
        engine_let_company_in(k, now_ms, (pod_id){unit});
    if (UNLIKELY(k->consultations.n) && queue_where(k->queue, unit) != QUEUE_IN_FLIGHT)
        engine_forget_asking(k, (pod_id){unit});
    if (UNLIKELY(is_puzzling) && k->units.at[unit].attempts)
        engine_remark(k, now_ms, (pod_id){unit}, out);
}

/* Is there enough under way? */
static bool is_loaded(const struct engine *k)
{
    return k->unsettled.n + k->n_writes + k->consultations.n >= k->config.max_unsettled;
}

bool engine_step(struct engine *k, int64_t now_ms, struct effects *out)
{
    uint32_t unit;
    k->now_ms = now_ms;
    if (k->holds.next_ms <= now_ms)
        engine_end_holds(k, now_ms);
    if (UNLIKELY(demand_is_due(&k->cluster->demand, now_ms)))
        demand_review(k->cluster, now_ms);
    if (UNLIKELY(k->keeper != ID_NONE))
        engine_review_keeper(k, now_ms);
    if (engine_show(k, now_ms, out) || engine_tick(k, now_ms, out) ||
        (UNLIKELY(k->preparations.n) && engine_go_on(k, now_ms, out)))
        return true;
    if (UNLIKELY(k->consultations.n) && engine_next_answered(k, &unit)) {
        step_unit(k, now_ms, unit, out);
        return true;
    }
    if (is_loaded(k))
        return false;
    if (queue_take(k->queue, now_ms, &unit)) {
        if (UNLIKELY(queue_was_woken(k->queue, unit)) && engine_is_in_vain(k, unit)) {
            queue_put_back(k->queue, unit);
            return true;
        }
        bool is_hold = UNLIKELY(k->holds.of_pod.n) && engine_step_hold(k, now_ms, (pod_id){unit});
        if (!is_hold && !engine_line_up(k, now_ms, unit, out))
            step_unit(k, now_ms, unit, out);
        return true;
    }
    if (!engine_next_in_line(k, now_ms, &unit))
        return false;
    if (unit != ID_NONE)
        step_unit(k, now_ms, unit, out);
    return true;
}

void engine_take_back(struct engine *k, int64_t now_ms, pod_id pod)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    struct event gone = {
        .resource = EVENT_ASSIGNED_POD,
        .actions = ACTION_DELETE,
        .old_shape = pods_shape(&c->pods, pod),
        .pod_node = c->nodes.name[row->node],
    };
    engine_take_off(k, pod);
    row->flags &= ~(uint32_t)POD_ASSUMED;
    row->rank = 0;
    engine_give_back(k, now_ms, pod, gone.pod_node, LEAVING_LOST);
    if (engine_profile_of(k, pod)) /* its profile may be gone by now */
        engine_stand_again(k, now_ms, pod);
    engine_event(k, now_ms, &gone);
    engine_see_leftover(k, now_ms, pod);
}

void engine_settle(struct engine *k, int64_t now_ms, effect_id effect, const struct error *why)
{
    k->now_ms = now_ms;
    if (engine_settle_eviction(k, now_ms, effect, why) ||
        engine_settle_write(k, now_ms, effect, why))
        return;
    uint32_t found = map_remove(&k->unsettled, effect);
    if (found == MAP_NONE || found == EFFECT_ORPHAN)
        return;
    pod_id pod = {found};
    struct unit *unit = &k->units.at[found];
    unit->bind = 0;
    if (UNLIKELY(groups_of(&k->cluster->groups, pod) != ID_NONE))
        engine_gang_lands(k, now_ms, groups_of(&k->cluster->groups, pod), !why);
    if (why)
        k->counts.profiles.at[unit->profile].error++;
    else
        engine_count_bound(&k->counts, unit->profile, unit->attempts, now_ms - unit->first_ms);
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    if (why && row->flags & POD_ASSUMED && !(row->flags & POD_BOUND))
        engine_take_back(k, now_ms, pod);
}

int64_t engine_next_ms(const struct engine *k, int64_t now_ms)
{
    int64_t own_ms = MAX(MIN(engine_timer_ms(k), k->holds.next_ms), now_ms);
    own_ms = MIN(own_ms, engine_go_on_ms(k, now_ms));
    own_ms = MIN(own_ms, MAX(k->show_ms, now_ms));
    if (UNLIKELY(k->consultations.n) && engine_has_answered(k))
        return now_ms;
    if (is_loaded(k))
        return own_ms;
    own_ms = MIN(own_ms, engine_lines_next_ms(k, now_ms));
    return MIN(own_ms, queue_next_ms(k->queue, now_ms));
}

void engine_rank(struct engine *k, struct str node, uint64_t rank)
{
    struct cluster *c = k->cluster;
    node_id id = cluster_claim(c, names_get(&c->names, node));
    c->nodes.rank[id.i] = rank;
    change_log_add(&c->log, id, COLUMN_ALL);
}

struct engine_stats engine_stats(const struct engine *k)
{
    struct engine_stats s = k->stats;
    s.rows_logged = k->cluster->log.end;
    s.rows_caught_up = k->views.stats.rows;
    s.views_built = k->views.stats.built;
    s.views_evicted = k->views.stats.evicted;
    s.views = k->views.at.n;
    s.classes = classes_count(&k->classes);
    s.active = queue_count(k->queue, QUEUE_ACTIVE);
    s.backing_off = queue_count(k->queue, QUEUE_BACKING_OFF);
    s.parked = queue_count(k->queue, QUEUE_PARKED);
    s.in_flight = queue_count(k->queue, QUEUE_IN_FLIGHT);
    s.nodes = k->cluster->nodes.present;
    s.pods = k->cluster->pods.n - k->holds.of_pod.n;
    s.ends_learned = k->lines.runtimes.notes / RUNTIME_LEVELS;
    return s;
}
