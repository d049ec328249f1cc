#pragma once

#include "property/world.h"

/* Everything that an engine keeps, counted again from the world's plain arrays: rows, sums, ports,
 * images, lists of pods, tallies, spreads, nominations, places in the queue. Shares no code with
 * core/cluster: selectors, rules and tolerations are turned back into text and asked one by one. */

bool recount(struct world *w, const struct engine *k);
