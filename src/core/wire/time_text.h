#pragma once

#include "core/base/str.h"

/* RFC 3339 as Go reads it: 2006-01-02T15:04:05Z, with any fraction, with an offset like +02:00. The
 * result is in milliseconds since 1970, the rest of the fraction dropped. */
bool time_parse(struct str text, int64_t *ms) MUST_USE;
