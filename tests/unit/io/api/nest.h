#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* A folder for one test; it goes with all its files. {0} has none yet. */
struct nest {
    char folder[64];
    char path[128];
};

void nest_done(struct nest *n);

/* Writes a file as careful programs do: another is written, then renamed. */
void nest_write(struct nest *n, const char *name, struct str text);
void nest_printf(struct nest *n, const char *name, const char *fmt, ...) PRINTF(3, 4);
void nest_make_executable(struct nest *n, const char *name);

/* Valid until the next question. */
const char *nest_path(struct nest *n, const char *name);
