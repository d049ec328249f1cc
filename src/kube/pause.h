#pragma once

#include "core/base/rng.h"

/* How long to wait after failures in a row: the first costs `first_ms`, each further one `factor`
 * times as much up to `cap_ms`, and to each up to `jitter` times itself is added at random. Who did
 * not fail for `reset_ms` begins anew. */
struct pause_law {
    int64_t first_ms, cap_ms, reset_ms;
    int64_t factor;
    double jitter;
};

struct pause {
    uint32_t failures;
    int64_t failed_ms; /* the last time */
};

/* A failure: the wait that follows it. */
int64_t pause_wait_ms(struct pause *p, const struct pause_law *law, int64_t now_ms,
                      struct rng *rng);
