#pragma once

#include "core/config/config.h"
#include "core/engine/engine.h"
#include "support/test.h"

/* Configurations in tests: the two lines that every file begins with are added. */

/* Reads the text behind those lines; the first line of it is line 3. */
bool config_of(struct scheduler_config *c, const char *text);

/* The errors (or, if there is none, the notes) as lines "LINE PATH: TEXT"; lives in c. */
const char *config_errors(struct scheduler_config *c, const char *text);
const char *config_notes(struct scheduler_config *c, const char *text);

/* "A B 3 C": a point of the first profile, with the weights that are not 0. */
const char *config_point(struct scheduler_config *c, enum point point);

/* An engine that runs with what the file says, and compares its views with scans. */
struct engine_config config_engine(const struct scheduler_config *c);
