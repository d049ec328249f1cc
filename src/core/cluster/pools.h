#pragma once

#include "core/cluster/cluster.h"

/* The pools of devices that a node can reach, and what they have left.
 *
 * A pool is the slices of one driver and pool name that have the newest generation; it is complete
 * once there are as many as each of them says. An incomplete or contradictory one offers nothing.
 * Pools come by driver and name, those whose devices must be bound first last; slices by name. */

struct counter {
    struct str set, name;
    __int128 left;  /* of what all devices that are taken leave; may be negative */
    __int128 asked; /* by the devices of a trial */
};

struct pool {
    struct str driver, name;
    bool is_incomplete, is_invalid, has_conditions;
    struct counter *counters;
    uint32_t n_counters;
};

struct capacity_share;

/* A device that may be given to somebody on the node. */
struct candidate {
    struct pool *pool;
    const struct resource_slice *slice;
    const struct device *device;
    const struct device_index *index;
    uint64_t given_to;             /* in a trial: claims, as bits */
    struct capacity_share *shares; /* the same, of a shared one; the latest first */
    struct capacity_share *spare;  /* that were taken back */
};

struct pools {
    struct pool *at;
    uint32_t n;
    struct candidate *candidates; /* in the order in which they are tried */
    uint32_t n_candidates;
};

/* All of it lives in `mem`. */
struct pools pools_gather(const struct cluster *c, node_id node, struct arena *mem);

/* Where each device says so itself: can the node reach this one? */
bool pools_device_is_here(const struct cluster *c, const struct candidate *x, node_id node);

/* The device's counters are asked for (+1), if enough is left of all, or not any more (-1). */
bool pools_count(const struct candidate *x, int sign);
