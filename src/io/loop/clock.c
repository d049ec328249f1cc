#include "io/loop/clock.h"

void clock_advance(struct clock *c, int64_t monotonic_us, int64_t wall_us)
{
    enum { LAG_PER_STEP = 10 }; /* a second of ours catches up a tenth of a second */
    if (c->now_us == 0) {
        *c = (struct clock){wall_us, monotonic_us};
        return;
    }
    int64_t passed_us = monotonic_us - c->monotonic_us;
    assert(passed_us >= 0);
    c->now_us += passed_us;
    c->monotonic_us = monotonic_us;
    if (wall_us > c->now_us)
        c->now_us += MIN(wall_us - c->now_us, passed_us / LAG_PER_STEP);
}
