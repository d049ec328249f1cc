#pragma once

#include "core/cluster/cluster.h"

/* Which devices would claims get on a node? The first full solution of a search that is exhaustive
 * and always goes the same way, as upstream's does: claims, requests and alternatives in their
 * order, devices by driver, pool, slice and place in it; of one request combinations, not
 * permutations. A device fits a request if its class and the request select it, nobody has it,
 * counters and shared capacity suffice, its taints are tolerated and the claim's constraints hold.
 *
 * Devices that no request, constraint or counter can tell apart are tried once; what could not be
 * completed with the same kinds of devices is not tried again (allocate_alike.c). Neither changes
 * what is found. What is left may still take for ever, so a search is counted, in steps: one for
 * each device that is looked at. It is put down where the engine has done enough in one go, and
 * goes on from there when the node is asked about again. On one decision the steps that are hard
 * come to so many and no more; where upstream looks at its clock, we count: same claims, same
 * answer.
 *
 * The claims and their classes are read once, when the allocator is made; a node is judged by what
 * the cluster is then. All lives in the arena that it was made in; one run's results until the
 * next. */

enum {
    STEPS_EASY = 1000,    /* on a node: those beyond are hard */
    STEPS_A_MS = 1000,    /* how many hard ones stand for a millisecond of upstream's time */
    STEPS_HARD = 10,      /* so many easy ones is a hard one worth: */
    STEPS_A_GO = 100000,  /* until a search is put down: 20 milliseconds at most */
    STEPS_A_STEP = 80000, /* hard ones in a step of the engine where none can be */
    SELECTOR_BYTES_MOST = 256 * 1024, /* of a pod's claims and their classes together */
};

struct allocator;

enum { ALTERNATIVES_MOST = 8 }; /* of one request: what the first one scores */

enum allocate_outcome {
    ALLOCATE_DONE,
    ALLOCATE_NOTHING,    /* there is no solution */
    ALLOCATE_INVALID,    /* the same, and some pool contradicts itself */
    ALLOCATE_FAILED,     /* the claims cannot be judged: allocator_error() */
    ALLOCATE_UNFINISHED, /* the search was put down: the cluster's effort says so, too */
};

/* Borrows the claims for as long as it is used. */
struct allocator *allocator_new(struct cluster *c, const struct resource_claim *const *claims,
                                uint32_t n, struct arena *mem);

void allocator_done(struct allocator *a);

/* So many milliseconds of upstream's time for one decision; 0, as in the beginning: as many as it
 * takes. */
void allocator_set_time(struct allocator *a, int64_t ms);

/* Would they get some on the node, and what is the score of the alternatives that would be
 * chosen? */
enum allocate_outcome allocator_judge(struct allocator *a, const struct cluster *c, node_id node,
                                      int64_t *score);

/* The same, and then which: allocator_result(). */
enum allocate_outcome allocator_run(struct allocator *a, const struct cluster *c, node_id node);

/* The same, but GPUs that nobody has come first, those of each request that are joined best
 * (gpu_sets.h): where a request may have any of them, it gets these. Finds something wherever the
 * other does, and alternatives of the same score. */
enum allocate_outcome allocator_run_joined(struct allocator *a, const struct cluster *c,
                                           node_id node);

/* Upstream's words for the last failure. */
struct str allocator_error(const struct allocator *a);

/* The score of the alternatives that the last run chose: 8 for a first one, 7 for a second, … */
int64_t allocator_score(const struct allocator *a);

/* What claim number `claim` gets, as its status would say it; lives in `mem`. A share of a device
 * gets an id made of `share`, which the caller makes unique. */
struct device_allocation *allocator_result(const struct allocator *a, const struct cluster *c,
                                           uint32_t claim, node_id node, struct str share,
                                           struct arena *mem);
