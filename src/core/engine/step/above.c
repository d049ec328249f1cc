/* What the parts below ask for, by whoever knows it. */

#include "core/engine/step/step.h"

static bool is_in_line(const struct engine *k, uint32_t unit)
{
    return engine_line_of(k, unit) != NULL;
}

static bool takes_turns(const struct engine *k, uint32_t unit)
{
    return engine_turns_of(k, unit) != NULL;
}

/* Nobody behind such a unit has a turn. */
static bool is_asked(const struct engine *k, const struct line *l)
{
    for (uint32_t i = 0; i < engine_n_extender_calls(k); i++) {
        uint32_t unit = engine_unit_of_extender_call(k, i);
        if (unit != ID_NONE && engine_line_of(k, unit) == l)
            return true;
    }
    return false;
}

static struct payer payer(const struct engine *k, pod_id slot)
{
    const struct reservation_info *b = engine_reservation_of_slot(k, slot.i);
    if (!b)
        return (struct payer){ID_NONE, SYM_NONE};
    struct payer payer = {b->driver, b->namespace};
    const struct groups *groups = &k->cluster->groups;
    if (payer.pod == ID_NONE && b->gang != ID_NONE && groups->at.at[b->gang].members.n)
        payer.pod = groups->at.at[b->gang].members.at[0];
    return payer;
}

const struct above engine_above = {
    .added = engine_forget_charge,
    .payer = payer,
    .entered = engine_forget_refusal,
    .left = engine_unit_left,
    .renamed = engine_unit_renamed,
    .touched = engine_touch_line,
    .lessened = engine_doubt_head,
    .heard = engine_heard,
    .led = engine_gang_led,
    .followed = engine_forget_gang_refusal,
    .resized = engine_count_company,
    .is_idle = engine_is_idle_slot,
    .is_in_line = is_in_line,
    .takes_turns = takes_turns,
    .waits_for_evictions = engine_waits_for_evictions,
    .next_preemption_ms = engine_next_preemption_ms,
    .is_asked = is_asked,
    .list_company = engine_list_company,
    .decide_as_answered = engine_decide_as_answered,
    .judge = engine_judge,
    .place_in_turn = engine_place_in_turn,
    .turn_down = engine_turn_down,
    .word_refusal = engine_word_refusal,
    .end_refusal = engine_end_refusal,
    .refuse = engine_refuse,
    .fail = engine_fail,
    .try_later = engine_try_later,
    .bind = engine_bind,
    .take_back = engine_take_back,
};
