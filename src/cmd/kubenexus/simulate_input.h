#pragma once

#include "io/files/manifest_read.h"
#include "sim/dump.h"
#include "sim/plan.h"
#include "sim/scenario.h"
#include "sim/trace.h"

/* What is to be simulated, from whatever files were named. */

struct simulate_files {
    const char *scenario; /* a scenario or a dump; NULL: the demo, unless the others are there */
    const char *cluster;  /* a dump: the start */
    const char *nodes, *pods; /* openb's two files */
    struct trace_options trace;
    const char *jobs; /* Philly's file, on a pool of … */
    int64_t gpus;     /* … so many GPUs */
    struct dump_options dump;
};

struct simulate_input {
    struct plan plan;
    struct scenario scenario; /* these three hold what the plan points at */
    struct objects objects;
    VEC(struct buf) texts;
};

/* `seed` NULL: the scenario's, or 1. The plan is finished. */
bool simulate_input_read(struct simulate_input *in, const struct simulate_files *files,
                         const uint64_t *seed, struct error *e) MUST_USE;
void simulate_input_done(struct simulate_input *in);
