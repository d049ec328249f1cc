#pragma once

#include "core/base/arena.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/match.h"

/* PodDisruptionBudgets: how many of the pods they select may be evicted now. To evict more is
 * possible, but the last thing to do.
 *
 * Budgets change whenever a pod they protect comes or goes, and matter only when somebody is to be
 * evicted. So a change is a number per namespace, and who keeps what evictions cost looks whether
 * it has risen. */

struct cluster;

struct budget {
    sym namespace, name;
    selector_id selector; /* never an empty one: such a budget protects nobody */
    int32_t allowed;
    VEC(sym) evicted; /* pods that are being evicted already: they have been subtracted */
};

struct budgets {
    VEC(struct budget) at; /* by name within a namespace: who is asked first may matter */
    uint32_t changes;      /* so many there were */
    struct map changed;    /* namespace → number of the last one there, while it has budgets */
    uint32_t gone;         /* number of the last one after which a namespace had none */
};

/* What a budget is made of. `selector` may be ID_NONE: it is gone, or protects nobody. */
struct budget_ask {
    sym namespace, name;
    selector_id selector;
    int32_t allowed;
    const sym *evicted;
    uint32_t n_evicted;
};

void budgets_put(struct cluster *c, const struct budget_ask *ask);

/* Was there a change in the namespace after the one of this number? */
bool budgets_changed_since(const struct budgets *b, sym namespace, uint32_t change);

/* How many evictions each of them allows; lives in `mem`. */
int32_t *budgets_allowed(const struct budgets *b, struct arena *mem);

/* Takes the pod out of the budgets that protect it; false if one is overdrawn. */
bool budgets_allow(const struct cluster *c, pod_id pod, int32_t *allowed);

void budgets_done(struct budgets *b);
