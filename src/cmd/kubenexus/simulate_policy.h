#pragma once

#include "core/engine/engine.h"
#include "core/framework/profile.h"
#include "core/plugins/args.h"

/* The built-in profiles, with those who wait standing in line (core/engine/backfill/line.h). */
struct simulate_policy {
    struct line_args args;
    struct profile profiles[4];
    struct profile_plugin plugins[4][64];
};

/* "fifo", "easy", "sjf", "first-fit". */
bool simulate_policy_parse(struct simulate_policy *p, const char *text) MUST_USE;

/* Puts the profiles into the configuration; the policy must outlive the engine. */
void simulate_policy_apply(struct simulate_policy *p, struct engine_rules *rules);
