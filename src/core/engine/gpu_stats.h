#pragma once

#include "core/base/metric.h"
#include "core/cluster/ids.h"

/* Who has the cluster's GPUs, as a table of metrics. Nothing of it is counted as it happens: one
 * pass over the nodes tells it when somebody asks.
 *
 * A GPU is in one state: *used* by a pod or a claim; *reserved* by a ResourceReservation; *held* by
 * the scheduler itself for pods to come (workers of a driver, lost members, a gang that starves);
 * else idle: *whole* if all GPUs of its island are, a *fragment* if not. Where GPUs cannot be told
 * apart the node is one island.
 *
 * There are as many series as stated here, however large the cluster is: of models, racks and
 * tenants those with the most GPUs have series of their own, ties by name, and the rest is "other".
 */

struct engine;

enum { MODELS_SHOWN = 8, RACKS_SHOWN = 32, TENANTS_SHOWN = 16 };

enum gpu_state { GPU_IDLE_WHOLE, GPU_FRAGMENT, GPU_USED, GPU_RESERVED, GPU_HELD, N_GPU_STATES };

/* Their source is a struct engine. */
extern const struct metric gpu_metrics[];
extern const uint32_t n_gpu_metrics;
