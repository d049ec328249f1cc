#pragma once

#include "core/config/config.h"
#include "io/files/manifest_read.h"

/* What the pod would be told if all who wait were tried now and it had to stand in line
 * (core/engine/line.h); empty: nothing about a line. Now is the latest time that the objects
 * mention. The text lives in `mem`. */
struct str explain_line(const struct objects *set, const struct pod *target,
                        const struct scheduler_config *config, struct arena *mem);

/* The time of the newest thing in the files: as good a now as any. */
int64_t explain_latest_ms(const struct objects *set);
