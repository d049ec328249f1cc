#pragma once

#include "sim/plan.h"

/* The Philly trace (Microsoft's GPU cluster of 2017) as a workload: a CSV file with a line a job,
 * submit_s, duration_s, gpus and vc. One pool of identical GPUs without placement constraints is
 * what its reference results are computed on: here a single node that has them all, on which each
 * job is one pod, so that a job starts whole or not at all. The virtual cluster is the namespace;
 * what is compared is waiting by size, so a job's class is its size.
 *
 * Texts must outlive the plan. The file is named in errors. */
bool philly_add(struct plan *p, const char *file, struct str csv, int64_t gpus,
                struct error *e) MUST_USE;
