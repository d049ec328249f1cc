#pragma once

#include "sim/plan.h"

/* A real cluster as the start of a simulated one: what `kubectl get nodes,pods,… -o json` printed.
 * Pods with a node run there and stay; pods without one arrive at time 0, in the order of the dump,
 * and stay where they are put. Finished pods, and waiting pods that are being deleted, are left
 * out. A pod's class is its namespace.
 *
 * The objects must outlive the plan. */
bool dump_add(struct plan *p, const struct object *objects, uint32_t n, struct error *e) MUST_USE;
