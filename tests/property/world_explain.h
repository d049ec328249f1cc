#pragma once

#include "property/world.h"

/* What was decided is what an explanation says, which judges every node for every pod, by the same
 * mix of GPUs that were asked for lately. */
void world_check_explained(struct world *w, struct engine *by, const struct effect *e);

/* So does that of an engine which has seen nothing but the present, unless there is something
 * that only those with a past know: evictions under way, or a pod that no NUMA node had room for.
 */
void world_check_present(struct world *w, const struct effect *e);
