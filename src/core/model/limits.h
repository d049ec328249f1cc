#pragma once

#include "core/model/pod.h"

/* Nothing that a pod says costs more than it is worth. What grows with one list of a pod alone may
 * be as long as the API takes; what is compared with others has a limit. A pod beyond one is not
 * scheduled, says which limit it is, and costs nothing from then on; where it runs, what it
 * requests still counts, and whatever else is within its limit. */

enum pod_limit {
#define POD_LIMIT(name, what, most, why) LIMIT_##name,
#include "core/model/limits.def"
#undef POD_LIMIT
    LIMIT_COUNT,
};

struct limit {
    const char *what; /* "scheduling gates" */
    uint32_t most;
    const char *why;
};

extern const struct limit pod_limits[LIMIT_COUNT];

/* "40000 scheduling gates, of which a pod may have 64": the first limit that the pod exceeds, or
 * why it could not be read; empty: none. Costs n log n in what the pod says. */
struct str pod_excess(const struct pod *pod, struct arena *mem);

/* What is left of such a pod: all that is within its limit, gates aside; of too many resources
 * those that `counts`. It shares what it can with `pod`. */
struct pod pod_without_excess(const struct pod *pod, bool (*counts)(void *ctx, struct str resource),
                              void *ctx, struct arena *mem);
