#pragma once

#include "core/engine/step/step.h"

/* Between two calls of an engine: where everything must be, by the facts in its rows alone.
 *
 *  - A pod that waits stands in the queue by itself; of a gang whose pods wait one stands there for
 *    all, and it is one of them. Nobody else is in the queue, has a timer or a place in a line.
 *  - Each unit is in one place of the queue, and the places count them all.
 *  - A group's members are the pods that are in it, and a size that none of them says is no size.
 *  - What a node has given away is the sum over its pods.
 * - A slot is in the queue if nobody uses it up and it has no node, unless a plan leaves it out
 * (`judges_holds`:
 *    not of the company of drivers, which looks for room when its turn comes).
 *
 * Returns what is wrong, as text that stays; NULL: nothing is. */
const char *standing_fault(const struct engine *k, bool judges_holds);
