#pragma once

#include "core/engine/engine.h"
#include "io/loop/loop.h"

/* On SIGUSR2, everything the scheduler has in mind goes to the log, as kube-scheduler's debugger
 * does it: a record for each node with what its pods ask for, each of its pods, and each pod that
 * waits. A copy of this process writes it, so it is of one moment, and scheduling does not wait for
 * who reads the log. */

struct run_dump;

struct run_dump *run_dump_new(struct loop *l, const struct engine *k);
void run_dump_free(struct run_dump *d);
