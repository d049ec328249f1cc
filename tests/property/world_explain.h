#pragma once

#include "property/world.h"

/* What was decided is what an explanation says, which judges every node for every pod. */
void world_check_explained(struct world *w, struct engine *by, const struct effect *e);

/* So does that of an engine which has seen nothing but the present, unless evictions are under way
 * that only those with a past know of. */
void world_check_present(struct world *w, const struct effect *e);
