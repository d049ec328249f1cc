#pragma once

#include "core/base/base.h"

/* Lines on stderr for who runs the scheduler: the time, how bad it is, what happened. */

enum log_level { LOG_WARNING, LOG_INFO, LOG_DETAIL };

/* What is written: lines of this level and below. Set once, at the start. */
extern enum log_level log_level;

void log_line(enum log_level level, const char *fmt, ...) PRINTF(2, 3);
