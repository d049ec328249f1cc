#pragma once

#include "core/base/metric.h"

/* What the system says of this process, under the names that all exporters use. The rows have no
 * source: they read /proc when they are asked. */
extern const struct metric process_metrics[];
extern const uint32_t n_process_metrics;
