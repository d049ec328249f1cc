#pragma once

#include "core/base/str.h"

/* Values as Go reads them from flags and configuration files. */

/* 1, t, T, true, TRUE, True and their opposites. */
bool value_bool(struct str text, bool *out) MUST_USE;

/* "15s", "1m30s", "-1.5h", "0" as nanoseconds. */
bool value_duration(struct str text, int64_t *ns) MUST_USE;

/* A decimal number: "50", "-1", "0.5", "1e3". */
bool value_number(struct str text, double *out) MUST_USE;
