#pragma once

#include "core/engine/explain.h"
#include "io/files/manifest_read.h"

/* Adds to what is not understood the keys of ours on the pod's namespace and on nodes that nobody
 * reads there: what was meant by them has had no effect on the answer either. */
void explain_keys(const struct objects *set, const struct pod *pod, struct explanation *x);
