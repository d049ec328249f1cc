#pragma once

#include "sim/plan.h"
#include "sim/report.h"
#include "sim/scenario.h"
#include "sim/world.h"

/* A small world from a scenario's text, for stories: given / when / then. */
struct story {
    struct scenario scenario;
    struct plan plan;
    struct world *world;
};

/* Fails the test if the text is wrong. */
bool story_open(struct story *s, const char *yaml, uint64_t seed);
void story_done(struct story *s);

/* Everything up to this time happens. */
void story_run_until(struct story *s, int64_t ms);
void story_run(struct story *s);

const char *story_fate(struct story *s, const char *pod);

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
