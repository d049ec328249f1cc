#pragma once

#include "sim/plan.h"

/* The openb trace (Alibaba's GPU cluster of 2023), two CSV files: nodes and pods.
 *
 * There are no devices in our cluster yet, only sums: a node with 8 GPUs has 8000 of the resource
 * nvidia.com/gpu-milli, and a pod asks for num_gpu × gpu_milli of it. So two halves of different
 * GPUs can hold a whole-GPU pod, which real devices could not. The plan notes this.
 *
 * Texts must outlive the plan. Files are named in errors. */

#define TRACE_GPU "nvidia.com/gpu-milli"

struct trace_options {
    bool is_fill; /* pods arrive a second apart in the file's order and stay */
    double speed; /* arrivals come so many times as densely; run times stay */
};

bool trace_add_nodes(struct plan *p, const char *file, struct str csv, struct error *e) MUST_USE;
bool trace_add_pods(struct plan *p, const char *file, struct str csv, struct trace_options options,
                    struct error *e) MUST_USE;
