#pragma once

#include "sim/plan.h"
#include "sim/scenario.h"

/* A scenario made concrete: its nodes as objects, its jobs drawn at random from the seed.
 *
 * Each job class draws from numbers of its own, so that a class that is added or changed leaves the
 * others as they were. The scenario must outlive the plan. */
bool workload_add(struct plan *p, const struct scenario *s, struct error *e) MUST_USE;
