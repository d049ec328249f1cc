#pragma once

#include "core/cluster/cluster.h"

/* Which devices would claims get on a node? The first full solution of a search that is exhaustive
 * and always goes the same way, as upstream's does: claims, requests and alternatives in their
 * order, devices by driver, pool, slice and place in it; of one request combinations, not
 * permutations. A device fits a request if its class and the request select it, nobody has it,
 * counters and shared capacity suffice, its taints are tolerated and the claim's constraints hold.
 *
 * The claims and their classes are read once, when the allocator is made; a node is judged by what
 * the cluster is then. All lives in the arena that it was made in; one run's results until the
 * next. */

struct allocator;

enum { ALTERNATIVES_MOST = 8 }; /* of one request: what the first one scores */

enum allocate_outcome {
    ALLOCATE_DONE,
    ALLOCATE_NOTHING, /* there is no solution */
    ALLOCATE_INVALID, /* the same, and some pool contradicts itself */
    ALLOCATE_FAILED,  /* the claims cannot be judged: allocator_error() */
};

/* Borrows the claims for as long as it is used. */
struct allocator *allocator_new(struct cluster *c, const struct resource_claim *const *claims,
                                uint32_t n, struct arena *mem);

void allocator_done(struct allocator *a);

enum allocate_outcome allocator_run(struct allocator *a, const struct cluster *c, node_id node);

/* The same, but GPUs that nobody has come first, those of each request that are joined best
 * (gpu_sets.h): where a request may have any of them, it gets these. Finds something wherever the
 * other does, and alternatives that rank as well. */
enum allocate_outcome allocator_run_joined(struct allocator *a, const struct cluster *c,
                                           node_id node);

/* Upstream's words for the last failure. */
struct str allocator_error(const struct allocator *a);

/* How well the chosen alternatives rank: 8 for a first one, 7 for a second, … */
int64_t allocator_score(const struct allocator *a);

/* What claim number `claim` gets, as its status would say it; lives in `mem`. A share of a device
 * gets an id made of `share`, which the caller makes unique. */
struct device_allocation *allocator_result(const struct allocator *a, const struct cluster *c,
                                           uint32_t claim, node_id node, struct str share,
                                           struct arena *mem);
