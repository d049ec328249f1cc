#pragma once

#include "cmd/kubenexus/simulate_policy.h"
#include "core/config/config.h"
#include "sim/report_compare.h"

/* Who is to decide in a simulation: profiles, the policy of their queue, and the name under which
 * pods are given to them.
 *
 * A contestant of --compare is the name of a built-in profile, a policy, both ("PROFILE+POLICY"),
 * or a configuration file. A policy alone and a file with several profiles serve each pod by the
 * profile that it names; else all pods are given to the one profile. */
struct simulate_contestant {
    const char *text; /* as it was asked for; NULL: the pods' own profiles */
    struct scheduler_config config;
    struct simulate_policy policy;
    bool has_policy;
    struct engine_config engine;
    struct str scheduler; /* that all pods are given to; empty: each to its own */
    struct contestant who;
    struct buf profile; /* its texts */
};

/* False, and what is wrong has been printed. `text` may be NULL, and must outlive `c` if not. */
bool simulate_contestant_read(struct simulate_contestant *c, const char *text) MUST_USE;

/* The profiles of this file, for the pods that name them. The same result. */
bool simulate_contestant_configure(struct simulate_contestant *c, const char *file) MUST_USE;

/* Puts profiles and texts in place for the pods of the plan; `engine` has the other settings. */
void simulate_contestant_prepare(struct simulate_contestant *c, const struct plan *plan,
                                 const struct engine_config *engine);

/* So long the profiles that decide, once prepared, may make pods wait for others to have run. */
int64_t simulate_contestant_patience_ms(const struct simulate_contestant *c);

void simulate_contestant_done(struct simulate_contestant *c);
