#pragma once

#include "core/cluster/gpus.h"

/* Which GPUs of a node go well together.
 *
 * A set is the better, the more of its pairs NVLink joins; then the more hang on one PCIe switch;
 * then the more sit on one NUMA node. Among equals it is the one that breaks least of what is left:
 * whose GPUs have the fewest such pairs with others that could be had, so a small island is used up
 * before a large one is begun. Then the one with the least memory, then the lowest numbers. */

/* Up to so many GPUs to choose from the best set is found; among more, a good one. */
enum { GPU_SETS_EXACT = 16 };

/* The best `k` of the GPUs `from`; all of them if there are no more. */
gpu_mask gpu_sets_best(const struct node_gpus *g, gpu_mask from, uint32_t k);

/* How good a set is, larger is better: NVLink pairs, switch pairs, zone pairs, in that order of
 * importance. */
uint64_t gpu_sets_worth(const struct node_gpus *g, gpu_mask set);
