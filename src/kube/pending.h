#pragma once

#include "core/base/intern.h"
#include "core/base/map.h"
#include "core/engine/engine.h"

/* What we must know of a pod that waits to write about it, and the engine has no use for. A pod
 * that is bound or gone is forgotten, but for a generation that is not the first. */
struct pending_row {
    uint64_t uid;     /* hash of its uid */
    uint64_t told;    /* hash of the condition it was last told; 0: none */
    uint64_t nominee; /* hash of the node that it is nominated to; 0: none */
    uint64_t version; /* its resourceVersion, where that is a number; else 0 */
    int64_t generation;
    uint32_t scheduler; /* schedulerName, in `schedulers`; INTERN_NONE: the row is free */
};

#define PENDING_UNKNOWN UINT64_MAX /* a nominee: it may or may not have been written */

struct pending {
    struct map by_name;
    VEC(struct pending_row) rows;
    VEC(uint32_t) free;
    struct intern schedulers;
    struct map generation_of; /* of pods that are bound; those of generation 1 are left out */
};

/* A pod came, changed or went. */
void pending_see(struct pending *p, const struct change *change);

/* NULL if no such pod waits. The row stays where it is until the next change. */
struct pending_row *pending_find(struct pending *p, struct str namespace, struct str pod,
                                 struct str uid);

/* Of a pod that is bound. */
int64_t pending_generation(const struct pending *p, struct str namespace, struct str pod);

struct str pending_scheduler(const struct pending *p, const struct pending_row *row);

/* The mark of PodScheduled=False for this reason; never 0. */
uint64_t pending_mark(struct str reason, struct str message);

/* The mark of a nominated node; 0 of "". */
uint64_t pending_nominee(struct str node);

/* A pod's name as a key, also for others who keep tables of pods. */
uint64_t pod_key(struct str namespace, struct str pod);

/* Gives back the room that nothing needs now. */
void pending_trim(struct pending *p);

void pending_done(struct pending *p);
