#pragma once

#include "core/base/base.h"

/* What time it is, for those who decide: the wall's time at the start plus the monotonic time
 * since. A wall clock that is set back does not take us with it; one that runs ahead is followed at
 * 100 ms a second. Whoever must not be moved at all (the lease, time-outs) reads the monotonic
 * time. */
struct clock {
    int64_t now_us;       /* since 1970 */
    int64_t monotonic_us; /* when this was so */
};

/* The first call sets the clock to the wall's time. */
void clock_advance(struct clock *c, int64_t monotonic_us, int64_t wall_us);
