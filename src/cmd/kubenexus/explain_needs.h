#pragma once

#include "core/base/buf.h"
#include "io/files/manifest_read.h"

/* The kinds that the pod needs to be judged, and of which the files have no object although nobody
 * says that there are none: "resourceclaims.resource.k8s.io (not allowed to read), …". */
void explain_needs(const struct objects *set, const struct pod *pod, struct buf *out);

/* The same of what keeps members of its gang from being made. */
void explain_needs_of_missing(const struct objects *set, struct buf *out);
