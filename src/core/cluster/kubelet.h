#pragma once

#include "core/cluster/numa.h"

/* What a kubelet's topology manager makes of a pod, where a NodeResourceTopology names its policy.
 *
 * It aligns what it pins: whole cores and memory of Guaranteed pods, and GPUs of all; for each
 * container, or for the pod as a whole (its scope). Of each resource it looks at the narrowest sets
 * of NUMA nodes that could hold it on an empty host and can now, and takes the narrowest, then
 * lowest, NUMA nodes that one such set of each has in common. Where there are none, restricted
 * and single-numa-node (which knows sets of one alone) turn the pod away after it was bound: it
 * fails with TopologyAffinityError. So it must not come there. */

enum kubelet_verdict { KUBELET_ADMITS, KUBELET_IS_FULL, KUBELET_IS_TOO_SMALL };

/* `used` is what numa_used() says. */
enum kubelet_verdict kubelet_judge(const struct hardware *h, const struct spec *spec,
                                   const struct numa_use *used);

/* The zone that all of the pod will be pinned to, + 1; 0: none, or several. */
uint32_t kubelet_zone_of(const struct hardware *h, const struct spec *spec,
                         const struct numa_use *used);

/* The zones, as bits, that a container is aligned to; 0: it cannot be. */
uint32_t kubelet_align(const struct hardware *h, const struct numa_use *used,
                       const struct pinned_ask *ask);
