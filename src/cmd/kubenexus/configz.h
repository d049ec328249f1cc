#pragma once

#include "cmd/kubenexus/run_options.h"
#include "core/base/buf.h"

/* What runs, as kube-scheduler's /configz tells it: a KubeSchedulerConfiguration with its defaults
 * filled in. */
void configz_write(const struct run_options *o, struct buf *out);

/* Every flag and its value, as /flagz tells them: a line each, by name. */
void flagz_write(const struct flags *f, struct buf *out);
