#pragma once

#include "core/fair/fair.h"

/* Time: usage that fades (O7) and budgets (2.6).
 *
 * fair_pass() is told the time before anything else happens at it. What is used is summed over time
 * exactly; trials take no time, so they leave no trace. */

void fair_pass(struct fair *f, int64_t now_ms);

/* When fair_pass() would change something although nothing happens until then: a tick of history, a
 * budget that is spent, a window that ends; INT64_MAX: never. */
int64_t fair_next_ms(struct fair *f);

/* What was used until now, over time: amount * ms since the queue is known here. */
__int128 fair_used_time(struct fair *f, uint32_t queue, uint32_t resource);

/* O7: 0: off. What was learned is forgotten when it changes. */
void fair_set_half_life(struct fair *f, int64_t half_life_ms);

/* In 65536ths. Set: as of a moment, by a restart. */
uint64_t fair_history(struct fair *f, uint32_t queue, uint32_t resource);
void fair_set_history(struct fair *f, uint32_t queue, uint32_t resource, uint64_t h,
                      int64_t as_of_ms);

struct fair_account {
    struct fair_budget budget;
    int64_t from_ms, until_ms; /* the window */
    __int128 spent;            /* amount * ms */
    int64_t lasts_until_ms;    /* B3; -1: beyond the window, or nothing is used */
    bool is_spent, is_low;     /* low: nine tenths are spent */
};
/* By budget of fair_spec, in its order. */
uint32_t fair_n_budgets(const struct fair *f, uint32_t queue);
struct fair_account fair_account(struct fair *f, uint32_t queue, uint32_t budget);

/* B4: what was spent until now in the window that has this moment; ignored if that is over. */
void fair_set_spent(struct fair *f, uint32_t queue, uint32_t budget, __int128 spent,
                    int64_t as_of_ms);
