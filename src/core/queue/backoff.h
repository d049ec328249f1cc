#pragma once

#include "core/base/base.h"

/* How long a unit stays out after failed attempts: kube-scheduler's law.
 *
 * The first failure in a row costs `first_ms`, each further one doubles it, no wait is longer than
 * `most_ms`. The end of a wait is cut to its second, and a wait that ends in the current second is
 * not over: units come back on whole seconds, more than the wait and at most a second more after
 * the failure. */

struct backoff {
    int64_t first_ms; /* > 0 */
    int64_t most_ms;  /* >= first_ms */
};

/* The wait after so many failures in a row; 0 when there was none. */
int64_t backoff_wait_ms(struct backoff law, uint32_t failures);

/* The first moment at which a unit that failed at `since_ms` (not negative) is out of its wait. */
int64_t backoff_end_ms(struct backoff law, uint32_t failures, int64_t since_ms);
