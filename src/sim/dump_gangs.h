#pragma once

#include "core/base/intern.h"
#include "sim/plan.h"

/* Which pods of a dump are one gang, and how many of it must run: from what the pods say and what
 * the objects say that they name (core/model/gang.h, core/model/owner.h). */
struct dump_gangs {
    struct intern names; /* kind, namespace, name, part and replica */
    VEC(struct dump_gang {
        uint32_t work;   /* + 1; 0: no pod has come yet */
        int64_t said;    /* by its pods */
        int64_t written; /* in its object; 0: nothing */
    })
    at;
};

/* What objects say comes first. */
void dump_gangs_learn(struct dump_gangs *g, const struct object *object);

/* The work of the pod's gang, for plan_job.work; 0: it is in none. */
uint32_t dump_gangs_join(struct dump_gangs *g, struct plan *p, const struct pod *pod);

/* All pods have come: the plan's works are told their minimum. */
void dump_gangs_finish(const struct dump_gangs *g, struct plan *p);
void dump_gangs_done(struct dump_gangs *g);
