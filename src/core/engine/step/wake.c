/* The queue asks, the plugins answer: who goes first, who is held back, whom an event may help. */

#include "core/engine/step/step.h"
#include "core/framework/row.h"
#include "core/plugins/plugins.h"

static const struct spec *spec_of(const struct engine *k, uint32_t unit)
{
    return cluster_spec(k->cluster, (pod_id){unit});
}

static bool may_enter(void *ctx, uint32_t unit, uint64_t *gate)
{
    struct engine *k = ctx;
    const struct shape *shape = pods_shape(&k->cluster->pods, (pod_id){unit});
    const struct spec *spec = spec_of(k, unit);
    const struct profile *profile = classes_serving(&k->classes, spec->scheduler_name);
    if (UNLIKELY(engine_gang_led_by(k, unit))) { /* the gates of its pods are their own */
        *gate = (uint64_t)1 << engine_gangs_of(k, (pod_id){unit})->number;
        return engine_gang_may_enter(k, unit) && !engine_waits_for_evictions(k, unit);
    }
    bool may = true;
    for (uint32_t i = 0; i < profile->n && may; i++) {
        const struct profile_plugin *p = &profile->plugins[i];
        struct str why;
        bool gates = p->plugin->gate && !(p->off & PROFILE_NO_GATE);
        if (gates && p->plugin->gate(k->cluster, shape, &k->mem, &why)) {
            *gate = (uint64_t)1 << p->number;
            may = false;
        }
    }
    arena_reset(&k->mem);
    if (may && engine_waits_for_evictions(k, unit)) {
        *gate = (uint64_t)1 << engine_preemption(profile)->number;
        may = false;
    }
    return may;
}

static uint64_t interested(const void *ctx, const struct event *event)
{
    return engine_interested(ctx, event);
}

static bool plugin_wakes(const struct engine *k, const struct plugin *plugin, pod_id pod,
                         const struct event *event)
{
    const struct shape *shape = pods_shape(&k->cluster->pods, pod);
    for (const struct wake *w = plugin->wakes; w && w->resource; w++) {
        if (!engine_listens(w, event))
            continue;
        struct event part = *event;
        part.actions &= w->actions;
        part.is_thorough = k->units.at[pod.i].ages;
        part.pin = pods_at(&k->cluster->pods, pod)->pin;
        if (!w->hint || w->hint(k->cluster, shape, &part))
            return true;
    }
    return false;
}

static uint64_t pod_wakes(const struct engine *k, pod_id pod, const struct event *event,
                          uint64_t among)
{
    uint64_t woken = 0;
    for (uint64_t left = among; left; left &= left - 1) {
        const struct plugin *plugin = engine_plugin(k, (uint32_t)__builtin_ctzll(left));
        if (plugin && plugin_wakes(k, plugin, pod, event))
            woken |= left & -left;
    }
    return woken;
}

/* Who keeps pods of the class off some node, each node's first. One that reads who else is there
 * may keep them off wherever others of theirs come to be. */
static uint64_t find_bars(const struct engine *k, const struct class *class)
{
    const struct cluster *c = k->cluster;
    uint64_t bits = class->refusal ? class->refused_by : class->restricted_by;
    for (uint32_t i = 0; i < c->nodes.n && !class->refusal; i++) {
        reason_id reason = nodes_is_present(&c->nodes, (node_id){i})
                               ? row_filter(c, class, (node_id){i}, COLUMN_ALL)
                               : 0;
        bits |= reason ? reasons_plugin(&k->classes.reasons, reason) : 0;
    }
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].filters && class->parts[i].plugin->key_filter)
            bits |= (uint64_t)1 << class->parts[i].number;
    return bits;
}

static uint64_t barred_by(struct engine *k, const struct class *class)
{
    struct class_bars *known = class_row(&k->stepping->vain.bars, class);
    if (known->at != k->cluster->log.end + 1)
        *known = (struct class_bars){k->cluster->log.end + 1, find_bars(k, class)};
    return known->by;
}

void engine_forget_bars(struct engine *k, const struct class *class)
{
    if (class->place < k->stepping->vain.bars.n)
        k->stepping->vain.bars.at[class->place] = (struct class_bars){0};
}

uint64_t engine_barred_by(struct engine *k, struct planner *p)
{
    uint64_t bits = 0;
    vec_each(&p->member_classes, member_class)
        bits |= barred_by(k, member_class->class);
    return bits;
}

/* Refusals cost units that age no wait: the event that may help one wakes it, and the order says
 * who goes first. Nor slots: others would have their room. */
static bool backs_off(const void *ctx, uint32_t unit)
{
    const struct engine *k = ctx;
    bool is_slot = engine_is_slot(k, unit);
    return !k->units.at[unit].ages && !is_slot;
}

static uint64_t unit_wakes(const struct engine *k, uint32_t unit, const struct event *event,
                           uint64_t among)
{
    uint64_t woken = event->resource == EVENT_TARGET_POD ? among & UNSUPPORTED_BIT : 0;
    woken |= among & EXTENDER_BIT; /* whatever happens may change an extender's mind */
    const struct gang *gang = engine_gang_led_by(k, unit);
    if (LIKELY(!gang))
        return woken | pod_wakes(k, (pod_id){unit}, event, among);
    struct gang_refusal r = engine_gang_refusal(k, groups_of(&k->cluster->groups, (pod_id){unit}));
    if (r.asks.n == 0)
        return among; /* who asks has changed since */
    vec_each(&r.asks, ask)
        woken |= pod_wakes(k, (pod_id){ask->pod}, event, among);
    return woken;
}

static uint64_t wakes(void *ctx, uint32_t unit, const struct event *event, uint64_t among)
{
    struct engine *k = ctx;
    bool is_heard = event->resource != EVENT_NAMESPACE || k->units.at[unit].ages;
    if (!is_heard || event->but == unit + 1 ||
        (event->has_limit && k->units.at[unit].priority > event->priority_limit))
        return 0;
    uint64_t woken = unit_wakes(k, unit, event, among);
    bool may_be_vain =
        woken && event->resource != EVENT_TARGET_POD && queue_where(k->queue, unit) == QUEUE_PARKED;
    return may_be_vain && engine_is_in_vain(k, unit) ? 0 : woken;
}

struct queue_rules engine_queue_rules(struct engine *k)
{
    return (struct queue_rules){
        .ctx = k,
        .before = engine_before,
        .may_enter = may_enter,
        .interested = interested,
        .wakes = wakes,
        .backs_off = backs_off,
        .first_ms = k->config.rules.first_backoff_ms,
        .most_ms = k->config.rules.most_backoff_ms,
        .park_ms = k->config.rules.park_ms,
        .waits_out = k->config.waits_out_backoff,
    };
}
