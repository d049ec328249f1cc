#pragma once

#include "core/config/config.h"
#include "io/loop/loop.h"

/* The configuration file while the scheduler runs: read again when it changes, and on SIGHUP. A
 * good new one is handed on; a bad one is told of in one line of the log, and the old one stays. */

struct run_reload;

struct run_reload_owner {
    /* Takes the new configuration and gives the old one, which still counts, its end. */
    void (*apply)(void *ctx, struct scheduler_config *next);
    void *ctx;
};

/* Of a file that was read into `current`, which is where the owner will put each new one. Without a
 * file (NULL), SIGHUP says that there is none. */
struct run_reload *run_reload_new(struct loop *l, const char *file,
                                  const struct scheduler_config *current,
                                  struct run_reload_owner owner);
void run_reload_free(struct run_reload *r);
