/* Units whose time has come. */

#include "core/engine/step/step.h"

enum { TIMERS_A_STEP = 1000 }; /* that are looked at: the rest has the next step */

void engine_end_gathering(struct engine *k, uint32_t unit, struct effects *out)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct gang *gang = engine_gang_at(k, group);
    gang->gather_ms = INT64_MAX;
    gang->is_told_soon = false;
    if (engine_is_gathered(k, group))
        return;
    struct presence m = engine_presence(k, group);
    if (m.running && !m.ready)
        return; /* those who wait are held by gates of their own, and know it */
    if (m.running && !group_lacks_object(&k->cluster->groups.at.at[group])) {
        gang->goes_on = true;
        queue_activate(k->queue, k->now_ms, unit);
        return;
    }
    engine_tell_missing(k, &k->stepping->planner, unit, out);
}

bool engine_tick(struct engine *k, struct effects *out)
{
    uint32_t before = out->list.n, n = 0;
    for (; n < TIMERS_A_STEP && engine_timer_ms(k) <= k->now_ms; n++) {
        uint32_t unit = heap_take(&k->timers.heap);
        if (engine_starves_ms(k, unit) <= k->now_ms) {
            k->units.at[unit].is_starving = true;
            engine_count_starved(k, unit);
            queue_reorder(k->queue, unit);
            engine_stand_anew(k, unit);
            engine_let_keep(k, unit);
        }
        if (engine_wakes_ms(k, unit) <= k->now_ms) {
            map_remove(&k->timers.wakes, unit);
            queue_activate(k->queue, k->now_ms, unit);
        }
        const struct gang *gang = engine_gang_led_by(k, unit);
        if (gang && gang->gather_ms <= k->now_ms)
            engine_end_gathering(k, unit, out);
        uint32_t group = gang ? groups_of(&k->cluster->groups, (pod_id){unit}) : ID_NONE;
        if (gang && engine_next_preemption_ms(k, group) <= k->now_ms)
            engine_review_preemption_wait(k, group, out);
        engine_set_timer(k, unit);
    }
    return out->list.n > before || n == TIMERS_A_STEP;
}
