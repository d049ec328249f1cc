#pragma once

#include "core/engine/step/step.h"
#include "support/stage.h"

/* A stage whose profile kubenexus-scheduler keeps a line, and a clock with jobs. */

struct lines_setup {
    struct line_args args;
    struct profile profiles[2];
    struct profile_plugin plugins[64];
};

/* Fills the stage's configuration; the setup must outlive the stage. */
void lines_setup(struct lines_setup *l, struct stage *s, enum line_policy policy, int64_t patience);

/* The line of that profile. */
struct line *lines_of(struct stage *s);

/* A job is one pod, called j<number>, in the order of the list. It is evicted for good. */
struct task {
    int64_t submit_s, run_s;
    int gpus;
    int priority;
    bool is_silent;              /* does not say how long it runs */
    int64_t start_s, promised_s; /* -1: never; promised: when it first was head */
};

/* Runs all jobs to their ends on nodes that are on the stage already. */
void lines_run(struct stage *s, struct task *jobs, uint32_t n);
