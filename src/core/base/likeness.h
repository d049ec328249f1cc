#pragma once

#include "core/base/str.h"

/* What was perhaps meant by a name that nobody knows. */

/* So many letters must be added, taken out, changed or swapped with their neighbour to make one of
 * the other. LIKENESS_MOST: as many as that, or more. */
enum { LIKENESS_MOST = 64 };
uint32_t likeness_distance(struct str a, struct str b);

/* Is it so near that a slip of the hand may be the difference? Names of one letter are not. */
bool likeness_is_near(struct str meant, struct str written);
