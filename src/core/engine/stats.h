#pragma once

#include "core/base/metric.h"
#include "core/base/vec.h"

/* What the engine counts, as a table of metrics. Counting must cost next to nothing: what can be
 * told from the queue and the rows when somebody asks is not counted at all. Times are those that
 * the engine is given; how long a decision takes is measured by who drives it. */

struct engine;

/* Of the pods of one schedulerName, how attempts ended. */
struct profile_counts {
    struct str name; /* owned */
    uint64_t scheduled, unschedulable, error;
};

struct engine_counts {
    VEC(struct profile_counts) profiles; /* every name that there has been */
    VEC(uint32_t) of;                    /* by number of a profile now: its counts */
    struct histogram attempts;           /* that it took to place a pod */
    struct histogram waits[15];          /* until a pod was bound, by attempts: 1 to 14, and more */
    uint64_t preemptions;                /* attempts to make room for a pod */
    struct histogram victims;            /* of those that found some */
    uint64_t claims_made, claims_failed; /* ResourceClaims for extended resources */
    double evicted_gpu_seconds;          /* that the victims had run, × their GPUs */
};

/* The engine's profiles are what they are now; what was counted of a name goes on. */
void engine_count_profiles(struct engine *k);

/* A pod of the profile with these counts is bound, after so many attempts and so long since it
 * came. */
void engine_count_bound(struct engine_counts *c, uint32_t profile, uint32_t attempts,
                        int64_t waited_ms);

/* So many pods have to go for another one. */
void engine_count_victims(struct engine_counts *c, uint32_t victims);

void engine_counts_done(struct engine_counts *c);

/* Their source is a struct engine. */
extern const struct metric engine_metrics[];
extern const uint32_t n_engine_metrics;
