#pragma once

#include "core/base/vec.h"
#include "core/cluster/match.h"

/* PodDisruptionBudgets: how many of the pods they select may be evicted now. To evict more is
 * possible, but the last thing to do. */

struct cluster;

struct budget {
    sym namespace, name;
    selector_id selector; /* never an empty one: such a budget protects nobody */
    int32_t allowed;
    VEC(sym) evicted; /* pods that are being evicted already: they have been subtracted */
};

struct budgets {
    VEC(struct budget) at; /* by name within a namespace: who is asked first may matter */
};

/* What a budget is made of. `selector` may be ID_NONE: it is gone, or protects nobody. */
struct budget_ask {
    sym namespace, name;
    selector_id selector;
    int32_t allowed;
    const sym *evicted;
    uint32_t n_evicted;
};

/* The nodes that have pods it protects, or protected, learn of it. */
void budgets_put(struct cluster *c, const struct budget_ask *ask);

void budgets_done(struct budgets *b);
