#pragma once

#include "core/base/base.h"

/* When memory is given back, and how. */

/* Whether much has been done since memory was last given back, and little is now. {0} is a
 * beginning. */
struct run_quiet {
    uint64_t settled; /* how much had been done when memory was given back */
    uint64_t begun;   /* ... and when we last began to look how much is done in a while, */
    int64_t begun_ms; /* which was then */
    bool is_wanted;   /* at the next quiet moment, however little was done */
};

/* Is this the moment? `done` counts what was done so far: decisions, changes of rows. */
bool run_quiet_has_come(struct run_quiet *q, int64_t now_ms, uint64_t done);

/* When to ask again; INT64_MAX: not before something is done. */
int64_t run_quiet_next_ms(const struct run_quiet *q, uint64_t done);

/* It was given back just now. */
void run_quiet_settle(struct run_quiet *q, int64_t now_ms, uint64_t done);

/* Gives back to the system what was freed, and what only the beginning needed: code and tables of
 * libraries (for handshakes, certificates, files). Pages of code are mapped from files, so what is
 * needed again comes back by itself. */
void run_memory_settle(void);
