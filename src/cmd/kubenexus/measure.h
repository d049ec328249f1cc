#pragma once

#include "core/base/map.h"
#include "core/base/metric.h"
#include "core/base/vec.h"
#include "core/engine/effect.h"

/* How long scheduling takes by the wall, which the engine cannot know: a decision from its step's
 * begin to its end, an attempt until its outcome is known, of a pod that is placed until it is
 * bound. */

enum measured_result { MEASURED_SCHEDULED, MEASURED_UNSCHEDULABLE, MEASURED_ERROR, MEASURED_COUNT };

struct measured_profile {
    struct str name; /* owned */
    struct histogram attempts[MEASURED_COUNT];
};

struct measured_bind {
    int64_t begin_us;
    uint32_t profile;
};

struct measures {
    int64_t begin_us; /* of the next step */
    uint32_t seen;    /* effects of the steps before it */
    struct histogram decisions;
    VEC(struct measured_profile) profiles;
    VEC(struct measured_bind) binds;
    VEC(uint32_t) free; /* numbers of `binds` */
    struct map bind_of; /* effect → number of a bind under way */
};

void measures_done(struct measures *m);

/* Gives back the room of binds that are over, if none is under way. */
void measures_trim(struct measures *m);

/* Steps begin now. */
void measure_begin(struct measures *m);

/* A step has ended, with the effects that were not there before it; the next begins. */
void measure_step(struct measures *m, const struct effects *effects);

/* A bind has succeeded, or not. */
void measure_settled(struct measures *m, effect_id effect, bool is_bound);

/* Their source is a struct measures. */
extern const struct metric measure_metrics[];
extern const uint32_t n_measure_metrics;
