/* What happens at each moment of an engine's, a unit's and a pod's life: written here once, as
 * plain calls in order. What a part does at a moment stands with the part; where the order matters
 * it is said. A new part adds its calls here. */

#include "core/engine/step/step.h"

/* --- the engine begins and ends --- */

enum { DEFAULT_UNSETTLED = 512 };

struct engine *engine_new(const struct engine_config *config)
{
    struct engine *k = mem_alloc(sizeof(*k));
    k->config = *config;
    k->config.rules = engine_rules_complete(config->rules);
    k->config.max_unsettled = config->max_unsettled ? config->max_unsettled : DEFAULT_UNSETTLED;
    k->above = &engine_above;
    k->cluster = cluster_new(config->seed);
    k->cluster->keeps_pins = config->keeps_pins;
    k->cluster->compares_tolerations = config->compares_tolerations;
    k->cluster->overlooks_capacity = config->overlooks_capacity;
    k->cluster->overlooks_drivers = config->overlooks_drivers;
    k->deciding.views = (struct views){
        .cluster = k->cluster,
        .reasons = &k->classes.reasons,
        .scan = &k->deciding.scan,
        .budget_bytes = config->view_bytes,
        .most = config->view_count,
    };
    k->stepping = mem_alloc(sizeof(*k->stepping));
    pauses_begin(&k->stepping->pauses);
    k->figures = figures_new();
    k->gangs = gangs_new();
    k->prebind = prebind_new();
    k->extender = extender_calls_new();
    k->reservations = reservations_new();
    k->lines = lines_new();
    k->shares = shares_new();
    k->preemption = preemption_new();
    k->publishing.due_ms = INT64_MAX;
    engine_begin_profiles(k);
    struct queue_rules rules = engine_queue_rules(k);
    k->queue = queue_new(&rules);
    return k;
}

void engine_free(struct engine *k)
{
    if (!k)
        return;
    classes_done(&k->classes);
    views_done(&k->deciding.views);
    scan_done(&k->deciding.scan);
    queue_free(k->queue);
    engine_shares_done(k);
    cluster_free(k->cluster);
    vec_done(&k->units);
    engine_gangs_done(k);
    engine_lines_done(k);
    map_done(&k->unsettled);
    engine_prebind_done(k);
    engine_extender_calls_done(k);
    heap_done(&k->timers.heap);
    map_done(&k->timers.wakes);
    vain_done(&k->stepping->vain);
    pauses_done(&k->stepping->pauses);
    planner_done(&k->stepping->planner);
    mem_free(k->stepping);
    preemption_free(k->preemption);
    reservations_free(k->reservations);
    label_warnings_done(&k->publishing.label_warnings);
    figures_free(k->figures);
    why_done(&k->deciding.why);
    vec_done(&k->deciding.refusals);
    arena_done(&k->mem);
    mem_free(k);
}

/* What each part keeps of classes. */
static void trim_classes(struct engine *k)
{
    class_rows_trim(&k->deciding.refusals);
    class_rows_trim(&k->stepping->vain.bars);
    engine_trim_rooms(k);
    engine_trim_searches(k);
    engine_trim_delayed(k);
}

/* The pods first, for others go by their numbers. */
void engine_forget_gone(struct engine *k)
{
    uint32_t n = pods_trim(&k->cluster->pods);
    classes_rest(&k->classes);
    engine_sweep(k, TIDY_ALL);
    views_trim(&k->deciding.views);
    map_trim(&k->unsettled);
    map_trim(&k->stepping->vain.refused_at);
    map_trim(&k->stepping->vain.refused_as);
    k->units.n = MIN(k->units.n, n);
    vec_trim(&k->units);
    queue_trim(k->queue, n);
    groups_trim(&k->cluster->groups, n);
    engine_trim_shares(k, n);
    heap_trim(&k->timers.heap, n);
    engine_trim_lines(k, n);
    trim_classes(k);
}

void engine_trim(struct engine *k)
{
    engine_forget_gone(k);
}

/* --- a unit waits, is another, waits no more --- */

void engine_unit_left(struct engine *k, uint32_t unit)
{
    engine_forget_refusal(k, unit);
    engine_leave_line(k, unit);
}

/* Evictions are told under the number that the unit has. */
void engine_unit_renamed(struct engine *k, uint32_t unit, uint32_t to)
{
    engine_rename_in_line(k, unit, to);
    engine_rename_evictions(k, unit, to);
}

void engine_gang_led(struct engine *k, uint32_t group)
{
    engine_begin_preemption_wait(k, group);
    engine_forget_gang_refusal(k, group);
}

/* --- a pod is on a node, leaves it, is gone --- */

/* By us, for good: it has its slot before others are asked whether they waited for it. */
void engine_announce(struct engine *k, pod_id pod, struct effects *out)
{
    pods_at(&k->cluster->pods, pod)->flags |= POD_ASSUMED;
    if (UNLIKELY(engine_n_slots(k)))
        engine_use_slot(k, pod);
    engine_expect_end(k, pod);
    engine_count_in(k, pod);
    if (LIKELY(!k->units.at[pod.i].prebinds)) {
        engine_bind(k, pod, out);
        return;
    }
    const struct cluster *c = k->cluster;
    engine_emit(k, pod, EFFECT_NOMINATE, out)->node = /* others may see where it will be */
        names_text(&c->names, c->nodes.name[pods_at(&c->pods, pod)->node]);
    engine_send_prebind_tasks(k, pod, out);
}

/* By the API server's word. */
void engine_put_on_node(struct engine *k, pod_id pod, sym name, const struct pod *from)
{
    cluster_nominate(k->cluster, pod, SYM_NONE);
    engine_place_as_told(k, pod, cluster_claim(k->cluster, name), from);
    engine_expect_end(k, pod);
    engine_count_in(k, pod);
    engine_note_without(k, pod);
}

void engine_take_off(struct engine *k, pod_id pod)
{
    node_id node = {pods_at(&k->cluster->pods, pod)->node};
    engine_forget_expected_end(k, pod);
    cluster_take(k->cluster, pod);
    engine_release_node(k, node);
}

void engine_take_back(struct engine *k, pod_id pod)
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
    engine_give_back(k, pod, gone.pod_node, LEAVING_LOST);
    if (engine_profile_of(k, pod)) /* its profile may be gone by now */
        engine_stand_again(k, pod);
    engine_event(k, &gone);
    engine_see_leftover(k, pod);
}

void engine_remove_pod(struct engine *k, pod_id pod, bool has_ended)
{
    struct cluster *c = k->cluster;
    if (!has_ended && groups_of(&c->groups, pod) != ID_NONE)
        engine_keep_room_of_lost(k, pod); /* first of all: it makes rows */
    struct pod_row *row = pods_at(&c->pods, pod);
    shape_id shape = row->shape;
    sym nominated = row->nominated;
    sym node = row->node == ID_NONE ? SYM_NONE : c->nodes.name[row->node];
    enum leaving why = has_ended                                    ? LEAVING_ENDED
                       : row->flags & (POD_EVICTED | POD_PREEMPTED) ? LEAVING_EVICTED
                                                                    : LEAVING_LOST;
    intern_hold(&c->pods.shape_table, shape); /* it must last for the event */
    if (k->units.at[pod.i].bind)
        map_put(&k->unsettled, k->units.at[pod.i].bind, OF_NOBODY);
    engine_learn_run_time(k, pod);
    uint32_t group = groups_of(&c->groups, pod);
    engine_leave_group(k, pod, has_ended);
    engine_leave_app(k, pod);
    engine_give_up(k, pod);
    engine_stop_extender_call(k, pod);
    engine_forget_evictions(k, pod);
    cluster_nominate(c, pod, SYM_NONE);
    engine_set_pin(k, pod, SYM_NONE);
    engine_hear_pods_queue(k, pod, NULL);
    if (node != SYM_NONE)
        intern_hold(&c->names.text, node);
    if (row->node != ID_NONE)
        engine_take_off(k, pod);
    engine_forget_charge(k, pod);
    pods_remove(&c->pods, pod);
    if (node != SYM_NONE) {
        engine_give_back(k, pod, node, why);
        engine_tell_pod(k, ACTION_DELETE, &c->pods.shapes.at[shape], NULL, node);
        intern_drop(&c->names.text, node);
    } else if (nominated != SYM_NONE) {
        engine_tell_nomination_ended(k, &c->pods.shapes.at[shape], nominated, (pod_id){ID_NONE});
    }
    intern_drop(&c->pods.shape_table, shape);
    assert(queue_where(k->queue, pod.i) == QUEUE_NOWHERE && !heap_has(&k->timers.heap, pod.i));
    assert(!engine_line_of(k, pod.i) && !engine_waits_for_evictions(k, pod.i));
    if (UNLIKELY(engine_has_drivers(k)))
        engine_remove_driver(k, pod);
    if (UNLIKELY(engine_has_drivers(k)))
        engine_end_turn(k, group);
    engine_free_rooms_of_lost(k, group);
}

/* --- a class goes --- */

void engine_class_gone(void *engine, struct class *class)
{
    struct engine *k = engine;
    views_drop(&k->deciding.views, class);
    scan_forget(&k->deciding.scan, class);
    engine_forget_refusal_of(k, class);
    engine_forget_bars(k, class);
    engine_forget_room(k, class);
    engine_forget_searches_of(k, class);
    engine_forget_delayed(k, class);
}

/* --- something happened --- */

void engine_heard(struct engine *k, const struct event *event)
{
    if (!(event->resource & (EVENT_ASSIGNED_POD | EVENT_TARGET_POD)))
        engine_look_at_prebind_tasks(k);
    if (lines_are_kept(k->lines))
        engine_lines_hear(k, event);
}

/* --- an effect is settled --- */

static void settle_binding(struct engine *k, pod_id pod, const struct error *why)
{
    struct unit *unit = &k->units.at[pod.i];
    unit->bind = 0;
    if (UNLIKELY(groups_of(&k->cluster->groups, pod) != ID_NONE))
        engine_gang_lands(k, groups_of(&k->cluster->groups, pod), !why);
    if (why)
        k->figures->counts.profiles.at[unit->profile].error++;
    else
        engine_count_bound(&k->figures->counts, unit->profile, unit->attempts,
                           k->now_ms - unit->first_ms);
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    if (why && row->flags & POD_ASSUMED && !(row->flags & POD_BOUND))
        engine_take_back(k, pod);
}

void engine_settle(struct engine *k, int64_t now_ms, effect_id effect, const struct error *why)
{
    engine_begin_call(k, now_ms);
    uint32_t whose = map_remove(&k->unsettled, effect);
    assert(whose != MAP_NONE); /* it was emitted, and is settled once */
    if (whose == OF_EVICTION)
        engine_settle_eviction(k, effect, why);
    else if (whose == OF_WRITE)
        engine_settle_write(k, effect, why);
    else if (whose != OF_NOBODY)
        settle_binding(k, (pod_id){whose}, why);
}

void engine_answer(struct engine *k, int64_t now_ms, effect_id effect,
                   const struct extender_answer *answer)
{
    engine_begin_call(k, now_ms);
    engine_hear_answer(k, effect, answer);
}

/* --- time passes --- */

/* What is over is over before anybody is decided about; what is due goes before that, too. */
bool engine_pass_time(struct engine *k, struct effects *out)
{
    if (reservations_next_ms(k->reservations) <= k->now_ms)
        engine_end_reservations(k);
    if (UNLIKELY(demand_is_due(&k->cluster->demand, k->now_ms)))
        demand_review(k->cluster, k->now_ms);
    if (UNLIKELY(engine_keeper(k) != ID_NONE))
        engine_review_keeper(k);
    if (UNLIKELY(engine_publish_queues_ms(k) <= k->now_ms) && engine_publish_queues(k, out))
        return true;
    return engine_publish_stale(k, out) || engine_tick(k, out) ||
           (UNLIKELY(engine_n_prebind_tasks(k)) && engine_go_on(k, out));
}

/* Is there enough under way? */
bool engine_is_loaded(const struct engine *k)
{
    uint32_t bindings_and_writes = k->unsettled.n - engine_n_evictions(k);
    return bindings_and_writes + engine_n_extender_calls(k) >= k->config.max_unsettled;
}

int64_t engine_next_ms(const struct engine *k, int64_t now_ms)
{
    int64_t own_ms = MAX(MIN(engine_timer_ms(k), reservations_next_ms(k->reservations)), now_ms);
    own_ms = MIN(own_ms, engine_go_on_ms(k, now_ms));
    own_ms = MIN(own_ms, MAX(k->publishing.due_ms, now_ms));
    own_ms = MIN(own_ms, MAX(engine_publish_queues_ms(k), now_ms));
    if (UNLIKELY(engine_n_extender_calls(k)) && engine_has_answered(k))
        return now_ms;
    if (engine_is_loaded(k))
        return own_ms;
    if (UNLIKELY(k->stepping->pauses.all.n))
        return now_ms;
    own_ms = MIN(own_ms, engine_lines_next_ms(k, now_ms));
    own_ms = MIN(own_ms, engine_shares_ms(k, now_ms));
    return MIN(own_ms, queue_next_ms(k->queue, now_ms));
}
