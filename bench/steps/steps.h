#pragma once

#include "support/stage.h"

/* Loads that are as large as they come, and how long they take. */
struct clock {
    const char *load;
    double longest_step_s, longest_apply_s, other_s;
    uint64_t steps;
};

/* An object comes. */
void steps_put(struct stage *s, struct clock *c, const char *fmt, ...) PRINTF(3, 4);
void steps_put_object(struct stage *s, struct clock *c, struct object object);

/* Until nothing is to be decided; everything that is decided comes true at once. */
void steps_run(struct stage *s, struct clock *c);

/* A line of the table. */
void steps_say(const struct clock *c);
