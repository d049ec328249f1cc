#pragma once

#include "core/cluster/pools.h"

/* Capacity of devices: how much of it a request takes, and whether that much is left.
 *
 * A request takes what it asks for, rounded up to what the device's policy allows; what it does
 * not name, it takes by the policy's default, or whole. Only devices that several may share keep
 * count of it. */

enum capacity_verdict {
    CAPACITY_LACKS,
    CAPACITY_FITS,
    CAPACITY_WRONG, /* a request that cannot be worked out: upstream gives up the whole attempt */
};

/* With what others have of the device, in the cluster and in this trial. */
enum capacity_verdict capacity_check(const struct cluster *c, const struct candidate *x,
                                     const amount_list *requests, struct arena *mem,
                                     struct str *why);

/* As if nobody had any of it. */
enum capacity_verdict capacity_check_alone(const struct candidate *x, const amount_list *requests,
                                           struct arena *mem, struct str *why);

/* A share that a trial gives away; it must fit. */
struct capacity_share *capacity_take(struct candidate *x, const amount_list *requests,
                                     struct arena *mem);

/* The latest share comes back. */
void capacity_take_back(struct candidate *x, struct capacity_share *share);

/* What a share takes, by name. */
amount_list capacity_amounts(const struct candidate *x, const amount_list *requests,
                             struct arena *mem);
