#pragma once

#include "core/base/metric.h"

/* How queues stand, as a table of metrics: read when somebody asks. There are at most
 * QUEUES_SHOWN queues with series of their own, those that use most, and the rest is "other"; of a
 * queue at most RESOURCES_SHOWN resources, by name. Amounts are in the units of people: CPUs, GPUs,
 * bytes. */

struct engine;

enum { QUEUES_SHOWN = 1000, RESOURCES_SHOWN = 16 };

/* Their source is a struct engine. */
extern const struct metric queue_metrics[];
extern const uint32_t n_queue_metrics;
