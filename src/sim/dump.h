#pragma once

#include "sim/plan.h"

/* A real cluster as the start of a simulated one: what `kubenexus dump` or `kubectl get
 * nodes,pods,… -o json` printed.
 *
 * Time 0 is the newest time in the dump. Pods with a node run there from the start; pods without
 * one arrive at time 0, in the order of the dump. Finished pods, pods of nodes that are not there,
 * and waiting pods that are being deleted are left out. A pod's class is its namespace; the pods of
 * a gang are one work.
 *
 * A pod runs as long as it declares (core/model/run_time.h), else as long as was learned of its kin
 * if the dump has what a scheduler learned (core/engine/backfill/runtimes.h). Of those left, pods
 * of ReplicaSets, StatefulSets, DaemonSets and the like run on; all others run for `run_ms`. One
 * that runs longer than expected is expected to run as long again as it has. */

enum { DUMP_RUN_MS = 3600000, DUMP_UNTIL_MS = 86400000 };

struct dump_options {
    int64_t run_ms; /* of pods that do not say */
};

/* The objects must outlive the plan. */
bool dump_add(struct plan *p, const struct object *objects, uint32_t n, struct dump_options options,
              struct error *e) MUST_USE;
