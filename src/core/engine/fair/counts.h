#pragma once

#include "core/base/intern.h"
#include "core/base/metric.h"
#include "core/engine/queues.h"

/* What happened in queues since the process began, by their names; of no more than so many. */

enum { QUEUES_COUNTED = 1000, EVICTIONS_COUNTED = 4000 };

struct queue_count {
    uint64_t refusals[QUEUE_RULE_ROOM + 1]; /* by rule */
    struct histogram waits;                 /* of what has started, in seconds: as of gangs */
};

/* Pods of one queue that went for another, or for their own. */
struct queue_evictions {
    uint32_t queue, by; /* numbers of names */
    bool is_reclaim;
    uint64_t pods;
};

struct queue_counts {
    struct intern names;
    VEC(struct queue_count) at; /* by name */
    VEC(struct queue_evictions) evictions;
};

void queue_counts_done(struct queue_counts *c);

/* A unit of the queue was told that it is kept out; or started after so long, at the cost of
 * these. */
void queue_counts_refuse(struct queue_counts *c, struct str queue, enum queue_rule rule);
void queue_counts_start(struct queue_counts *c, const struct queue_turn *turn, int64_t waited_ms);
