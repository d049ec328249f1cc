/* A pod that fits nowhere may take the place of less important ones: it is nominated to the node,
 * they are evicted, and it waits like others until they are gone. */

#include "core/engine/preemption/preemption.h"

const struct profile_plugin *engine_preemption(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->preempts &&
            !(profile->plugins[i].off & PROFILE_NO_POST_FILTER))
            return &profile->plugins[i];
    return NULL;
}

/* Is a less important pod on the node already leaving because of a preemption? */
static bool is_being_cleared(const struct cluster *c, const struct class *class, node_id node)
{
    int32_t priority = specs_at(&c->specs, class->spec)->priority;
    struct eviction_args rules;
    bool is_by_rules = engine_eviction_rules(class->profile, true, &rules);
    uint32_t leaves = is_by_rules ? POD_PREEMPTED | POD_EVICTED : POD_PREEMPTED;
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after)
        if (c->pods.rows.at[i].flags & leaves && cluster_spec(c, (pod_id){i})->priority < priority)
            return true;
    return false;
}

/* Why the pod has no right to evict others; NULL: it has. */
static const char *may_not_preempt(struct engine *k, pod_id pod, const struct class *class)
{
    struct cluster *c = k->cluster;
    if (!specs_at(&c->specs, class->spec)->preempts)
        return "not eligible due to preemptionPolicy=Never.";
    sym name = pods_at(&c->pods, pod)->nominated;
    node_id node = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, name);
    if (node.i == ID_NONE || !nodes_is_present(&c->nodes, node) ||
        !preempt_concerns(c, class, node, pod))
        return NULL;
    reason_id reason = class->refusal ? class->refusal : row_verdict(c, class, node, pod);
    if (reasons_at(&k->classes.reasons, reason)->code == CODE_UNRESOLVABLE)
        return NULL;
    return is_being_cleared(c, class, node)
               ? "not eligible due to a terminating pod on the nominated node."
               : NULL;
}

static bool is_unresolvable(const struct engine *k, const struct class *class)
{
    return class->refusal &&
           reasons_at(&k->classes.reasons, class->refusal)->code == CODE_UNRESOLVABLE;
}

bool engine_tries_preemption(const struct engine *k, const struct class *class)
{
    return engine_preemption(class->profile) && k->cluster->nodes.present &&
           !is_unresolvable(k, class);
}

static const struct class_part *post_filtering(const struct class *class)
{
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].plugin->post_filter)
            return &class->parts[i];
    return NULL;
}

/* Has the plugin with the post filter seen the pod before it was refused? */
static bool post_filter_has_learned(const struct class *class)
{
    for (uint32_t i = 0; i < class->profile->n; i++) {
        const struct profile_plugin *p = &class->profile->plugins[i];
        bool takes_part = p->plugin->post_filter && !(p->off & PROFILE_NO_POST_FILTER);
        if (takes_part)
            return class->refused_by >> p->number & 1 || post_filtering(class);
    }
    return true; /* none is there to miss anything */
}

static bool find_post_filter_result(struct engine *k, pod_id pod, const struct class *class,
                                    struct eviction_plan *plan)
{
    const struct class_part *part = class->refusal ? NULL : post_filtering(class);
    plan->post_filter_of = part ? part->plugin : NULL;
    return part &&
           part->plugin->post_filter(k->cluster, part->state, pod, &plan->post_filter_result);
}

bool engine_begin_plan(struct engine *k, pod_id pod, const struct class *class,
                       struct eviction_plan *plan, struct buf *text)
{
    uint32_t nodes = k->cluster->nodes.present;
    if (!engine_preemption(class->profile) || nodes == 0)
        return false;
    if (is_unresolvable(k, class) && !post_filter_has_learned(class)) {
        buf_add(text, STR(" not found")); /* upstream's, whose next plugin misses its state */
        return false;
    }
    plan->has_post_filter_result = find_post_filter_result(k, pod, class, plan);
    buf_printf(text, " %s%spreemption: ",
               plan->has_post_filter_result ? plan->post_filter_result.text : "",
               plan->has_post_filter_result ? ", " : "");
    const char *why_not = may_not_preempt(k, pod, class);
    plan->is_hopeless = !why_not && is_unresolvable(k, class);
    if (why_not)
        buf_add(text, str_of(why_not));
    if (plan->is_hopeless)
        buf_printf(text, "0/%u nodes are available: %u Preemption is not helpful for scheduling.",
                   nodes, nodes);
    return !why_not && !plan->is_hopeless;
}

void engine_say_found(const struct engine *k, const struct eviction_plan *plan, size_t at,
                      struct buf *text)
{
    const struct cluster *c = k->cluster;
    if (plan->has_post_filter_result) /* success speaks alone */
        buf_cut(text, at, at + strlen(plan->post_filter_result.text) + sizeof(", ") - 1);
    buf_printf(
        text, "found a potential placement for pod on node " STR_FMT ", preempting %u victims",
        STR_ARG(names_text(&c->names, c->nodes.name[eviction_plan_node(plan)])), plan->victims.n);
}

/* Says why nobody need go, as kube-scheduler does, if that would evict nobody either. */
static bool say_in_vain(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                        struct buf *text)
{
    why_copy(&k->preemption->why, why);
    if (preempt_choose(&k->preemption->price_caches, k->cluster, &k->classes, class, pod,
                       &k->preemption->why) != ID_NONE)
        return false;
    if (!why_errors(&k->preemption->why, &k->classes.reasons, text))
        why_histogram(&k->preemption->why, &k->classes.reasons, text);
    return true;
}

/* Whom the rules of the profile's own plugin let go. */
static void plan_by_rules(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                          struct eviction_plan *plan, size_t at, struct buf *text)
{
    enum eviction_outcome outcome = engine_find_eviction(k, pod.i, class, plan);
    if (outcome == EVICTION_FOUND) {
        engine_say_found(k, plan, at, text);
        return;
    }
    plan->is_hopeless = outcome != EVICTION_WAITS;
    bool is_in_vain =
        (outcome == EVICTION_NONE || outcome == EVICTION_USELESS) && !engine_is_queued(k, pod.i);
    if (is_in_vain && say_in_vain(k, pod, class, why, text))
        return;
    if (outcome == EVICTION_NONE)
        buf_add(text, STR("No preemption victims found for incoming pod."));
    else
        engine_word_eviction(k, plan, pods_shape(&k->cluster->pods, pod)->namespace, text);
}

struct price engine_price(struct engine *k, const struct class *class, node_id node, pod_id pod,
                          struct pod_vec *victims)
{
    return preempt_price(&k->preemption->price_caches, k->cluster, &k->classes, class, node, pod,
                         victims);
}

void engine_count_on(struct engine *k, const struct bits *nodes)
{
    k->preemption->price_caches.refused_for_now = nodes;
    k->preemption->price_caches.of =
        (struct once){0}; /* what it knows of one pod was without them */
}

/* The pod goes to the node that kube-scheduler's search found, and whoever is in its way goes. */
static void take_node(struct engine *k, pod_id pod, struct class *class, uint32_t node,
                      struct eviction_plan *plan)
{
    struct pod_vec victims = {0};
    vec_push(&plan->places, (struct eviction_place){pod.i, node});
    engine_price(k, class, (node_id){node}, pod, &victims);
    vec_each(&victims, victim)
        vec_push(&plan->victims, (struct victim_note){.pod = *victim});
    vec_done(&victims);
}

/* A pod that may evict nobody still goes before those that are to come and less important. */
static bool takes_reserved_room(struct engine *k, pod_id pod, struct class *class,
                                struct eviction_plan *plan, struct buf *text)
{
    bool may_look = engine_n_slots(k) && !specs_at(&k->cluster->specs, class->spec)->preempts &&
                    engine_preemption(class->profile) && k->cluster->nodes.present;
    if (!may_look || is_unresolvable(k, class))
        return false;
    why_clear(&k->preemption->why); /* nobody hears it */
    uint32_t node = preempt_choose(&k->preemption->price_caches, k->cluster, &k->classes, class,
                                   pod, &k->preemption->why);
    if (node == ID_NONE)
        return false;
    take_node(k, pod, class, node, plan);
    size_t at = text->n + 1;
    buf_add(text, STR(" preemption: "));
    engine_say_found(k, plan, at, text);
    return true;
}

void engine_plan(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                 struct eviction_plan *plan, struct buf *text)
{
    struct cluster *c = k->cluster;
    struct why *useless = &k->preemption->why;
    size_t at = text->n + 1; /* behind a blank */
    if (UNLIKELY(takes_reserved_room(k, pod, class, plan, text)) ||
        !engine_begin_plan(k, pod, class, plan, text))
        return;
    if (engine_evicts_by_rules(k, pod, class)) {
        plan_by_rules(k, pod, class, why, plan, at, text);
        return;
    }
    why_copy(useless, why);
    uint32_t node =
        preempt_choose(&k->preemption->price_caches, c, &k->classes, class, pod, useless);
    if (node == ID_NONE) {
        plan->is_hopeless = !why_errors(useless, &k->classes.reasons, text);
        if (plan->is_hopeless)
            why_histogram(useless, &k->classes.reasons, text);
        return;
    }
    take_node(k, pod, class, node, plan);
    vec_each(&plan->victims, v) /* along any chain of evictions priorities rise: none closes */
        assert(cluster_spec(c, v->pod)->priority < cluster_spec(c, pod)->priority);
    engine_say_found(k, plan, at, text);
}

/* --- carrying it out --- */

void engine_nominate(struct engine *k, pod_id pod, sym node, struct effects *out)
{
    struct cluster *c = k->cluster;
    sym was = pods_at(&c->pods, pod)->nominated;
    if (node == SYM_NONE)
        pods_at(&c->pods, pod)->flags &= ~(uint32_t)POD_FIRM;
    if (was == node)
        return;
    if (was != SYM_NONE)
        intern_hold(&c->names.text, was);
    cluster_nominate(c, pod, node);
    if (was != SYM_NONE) {
        engine_tell_nomination_ended(k, pods_shape(&c->pods, pod), was, pod);
        intern_drop(&c->names.text, was);
    }
    struct effect *e = engine_emit(k, pod, EFFECT_NOMINATE, out);
    e->node = node == SYM_NONE ? STR("") : names_text(&c->names, node);
}

void engine_clear_others(struct engine *k, pod_id pod, sym node, struct effects *out)
{
    struct cluster *c = k->cluster;
    int32_t priority = cluster_spec(c, pod)->priority;
    struct nominations all = cluster_nominated(c, node);
    for (uint32_t i = all.n; i-- > 0;)
        if (cluster_spec(c, all.at[i].pod)->priority < priority)
            engine_nominate(k, all.at[i].pod, SYM_NONE, out);
}

static void set_evicted(struct engine *k, pod_id pod, bool is_so)
{
    struct pod_row *row = pods_at(&k->cluster->pods, pod);
    row->flags = is_so ? row->flags | POD_EVICTED : row->flags & ~(uint32_t)POD_EVICTED;
    if (row->node != ID_NONE)
        change_log_add(&k->cluster->log, (node_id){row->node}, COLUMN_WORTH);
}

static void evict(struct engine *k, pod_id victim, pod_id by, struct str why, struct effects *out)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, victim);
    struct effect *e = engine_emit(k, victim, EFFECT_EVICT, out);
    assert(!(row->flags & POD_EVICTED)); /* it goes once */
    engine_expect(k, e->id, OF_EVICTION);
    set_evicted(k, victim, true);
    e->node = names_text(&c->names, c->nodes.name[row->node]);
    e->by_uid = pod_uid(pods_at(&c->pods, by));
    e->message = arena_str(&out->mem, why);
    e->by_scheduler = names_text(&c->names, cluster_spec(c, by)->scheduler_name);
    vec_push(&k->preemption->evictions,
             ((struct eviction){e->id, by.i, victim.i, engine_gpus_of(k, victim),
                                pods_at(&c->pods, victim)->start_ms}));
}

/* It is not bound yet, and need not be: nobody has to delete it. */
static void call_off(struct engine *k, pod_id victim, pod_id by, struct effects *out)
{
    const struct cluster *c = k->cluster;
    struct str node = names_text(&c->names, c->nodes.name[pods_at(&c->pods, victim)->node]);
    struct effect *e = engine_emit(k, victim, EFFECT_WARN, out);
    e->by_uid = pod_uid(pods_at(&c->pods, by));
    e->message = arena_printf(
        &out->mem, "Preempted by pod " STR_FMT " on node " STR_FMT " (in kube-scheduler memory).",
        STR_ARG(e->by_uid), STR_ARG(node));
    engine_call_off(k, victim, STR("preempted by DefaultPreemption"), out);
}

/* Several that go by our rules go together or not at all. */
static void join_evictions(struct engine *k, pod_id by, uint32_t first, struct effects *out)
{
    struct eviction_args rules;
    uint32_t n = 0;
    for (uint32_t i = first; i < out->list.n; i++)
        n += out->list.at[i].kind == EFFECT_EVICT;
    bool is_gang = engine_gang_led_by(k, by.i) != NULL;
    if (n < 2 || !engine_eviction_rules(engine_profile_of(k, by), !is_gang, &rules))
        return;
    for (uint32_t i = first; i < out->list.n; i++)
        if (out->list.at[i].kind == EFFECT_EVICT)
            out->list.at[i].plan = k->last.effect;
}

/* Nobody has to be deleted: the room is free at once. */
static bool lose_slot(struct engine *k, pod_id victim)
{
    engine_lose_slot(k, victim);
    return true;
}

void engine_keep_places(struct engine *k, const struct eviction_plan *plan, struct effects *out)
{
    struct cluster *c = k->cluster;
    vec_each(&plan->places, place) {
        pod_id pod = {place->pod};
        sym node = c->nodes.name[place->node];
        if (plan->is_firm)
            pods_at(&c->pods, pod)->flags |= POD_FIRM;
        engine_clear_others(k, pod, node, out);
        engine_nominate(k, pod, node, out);
    }
}

void engine_evict_all(struct engine *k, pod_id by, const struct eviction_plan *plan,
                      struct effects *out)
{
    uint32_t first = out->list.n;
    uint32_t slots = 0;
    AUTO(buf) why = {0};
    vec_each(&plan->victims, v) {
        buf_clear(&why);
        if (plan->is_by_queues && engine_is_queued(k, by.i))
            reclaim_word(k, by.i, plan, v, &why);
        if (engine_is_slot(k, v->pod.i))
            slots += lose_slot(k, v->pod);
        else if (k->units.at[v->pod.i].prebinds)
            call_off(k, v->pod, by, out);
        else if (!(pods_at(&k->cluster->pods, v->pod)->flags & POD_GOING))
            evict(k, v->pod, by, buf_str(&why), out);
    }
    join_evictions(k, by, first, out);
    engine_count_victims(&k->figures->counts, plan->victims.n - slots);
}

void engine_carry_out(struct engine *k, pod_id pod, const struct eviction_plan *plan,
                      struct effects *out)
{
    if (plan->has_post_filter_result)
        engine_run_post_filter(k, pod, plan->post_filter_of, &plan->post_filter_result.prebind_task,
                               out);
    if (plan->is_hopeless)
        engine_nominate(k, pod, SYM_NONE, out);
    if (plan->places.n == 0)
        return;
    engine_keep_places(k, plan, out);
    bool takes_slots = plan->victims.n && engine_is_slot(k, plan->victims.at[0].pod.i);
    engine_evict_all(k, pod, plan, out);
    if (takes_slots && !engine_waits_for_evictions(k, pod.i))
        queue_activate(k->queue, k->now_ms, pod.i); /* there is nobody to wait for */
}

void engine_bound_prices(struct engine *k, uint64_t most)
{
    k->preemption->price_caches.most = most;
}

bool engine_end_bound(struct engine *k)
{
    struct price_caches *h = &k->preemption->price_caches;
    bool is_unfinished = h->is_unfinished;
    h->is_unfinished = false;
    h->most = 0;
    return is_unfinished;
}

void engine_forget_searches_of(struct engine *k, const struct class *class)
{
    price_caches_forget(&k->preemption->price_caches, class);
    if (class->place < k->preemption->useless.n)
        k->preemption->useless.at[class->place] = (struct useless){0};
    k->preemption->vain.at = 0;
}

void engine_trim_searches(struct engine *k)
{
    class_rows_trim(&k->preemption->useless);
}

void engine_forget_useless(struct engine *k)
{
    vec_clear(&k->preemption->useless);
    k->preemption->vain.at = 0;
}

/* --- how evictions end --- */

bool engine_waits_for_evictions(const struct engine *k, uint32_t unit)
{
    vec_each(&k->preemption->evictions, e)
        if (e->by == unit)
            return true;
    return false;
}

uint32_t engine_n_evictions(const struct engine *k)
{
    return k->preemption->evictions.n;
}

void engine_settle_eviction(struct engine *k, effect_id effect, const struct error *why)
{
    uint32_t i = 0;
    while (i < k->preemption->evictions.n && k->preemption->evictions.at[i].effect != effect)
        i++;
    assert(i < k->preemption->evictions.n);
    uint32_t by = k->preemption->evictions.at[i].by, victim = k->preemption->evictions.at[i].victim;
    if (!why)
        engine_count_evicted(k, k->preemption->evictions.at[i].gpus,
                             k->preemption->evictions.at[i].since_ms);
    vec_remove(&k->preemption->evictions, i);
    if (why && victim != ID_NONE) { /* it stays, as far as we know */
        set_evicted(k, (pod_id){victim}, false);
        if (why->kind == ERROR_DENIED)
            vec_push(&k->preemption->refusals, ((struct refusal){victim, k->now_ms + REFUSED_MS}));
    }
    if (why && by != ID_NONE)
        engine_doubt_preemption_wait(k, by, why->kind == ERROR_DENIED);
    /* Held back by us alone, something has happened for it meanwhile; after an error it must look
     * again. Otherwise it waits for the victims to be gone. */
    if (by != ID_NONE && (why || (queue_gate(k->queue, by) && !engine_waits_for_evictions(k, by))))
        queue_activate(k->queue, k->now_ms, by);
}

int64_t engine_refused_until_ms(const struct engine *k, pod_id pod)
{
    int64_t until_ms = 0;
    vec_each(&k->preemption->refusals, refusal)
        if (refusal->victim == pod.i)
            until_ms = MAX(until_ms, refusal->until_ms);
    return until_ms;
}

static void forget_refusals(struct engine *k, pod_id pod)
{
    for (uint32_t i = k->preemption->refusals.n; i-- > 0;)
        if (k->preemption->refusals.at[i].victim == pod.i ||
            k->preemption->refusals.at[i].until_ms <= k->now_ms)
            vec_remove(&k->preemption->refusals, i);
}

void engine_forget_evictions(struct engine *k, pod_id pod)
{
    forget_refusals(k, pod);
    vec_each(&k->preemption->evictions, e) {
        if (e->by == pod.i)
            e->by = ID_NONE;
        if (e->victim == pod.i)
            e->victim = ID_NONE;
    }
}

void engine_rename_evictions(struct engine *k, uint32_t unit, uint32_t to)
{
    vec_each(&k->preemption->evictions, e)
        if (e->by == unit)
            e->by = to;
}
