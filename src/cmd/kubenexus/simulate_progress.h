#pragma once

#include "sim/world.h"

/* How far a simulation is, on stderr while it runs: a block that is drawn anew on a terminal, or a
 * line for each part of the simulated time elsewhere. */

struct progress {
    bool is_quiet, is_terminal;
    int64_t every_ms;     /* of simulated time, between lines */
    int64_t next_line_ms; /* of simulated time */
    double start_s, next_draw_s;
    uint32_t turns; /* since the clock was last looked at */
    unsigned drawn; /* lines of the block on the screen */
};

double progress_clock_s(void);

void progress_start(struct progress *p, const struct plan *plan, bool is_quiet);

/* To be called after each turn; cheap. */
void progress_turn(struct progress *p, const struct world *w);

/* Takes the block off the screen. */
void progress_end(struct progress *p);
