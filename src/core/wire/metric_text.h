#pragma once

#include "core/base/buf.h"
#include "core/base/metric.h"

/* Metrics in the text format of Prometheus, version 0.0.4. */

#define METRIC_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Adds all rows of a table that have a sample, each with its help. */
void metric_text_add(struct buf *out, const struct metric *rows, uint32_t n, const void *source);
