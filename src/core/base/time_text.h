#pragma once

#include "core/base/buf.h"
#include "core/base/str.h"

/* RFC 3339 as Go reads it: 2006-01-02T15:04:05Z, with any fraction, with an offset like +02:00. The
 * result is in milliseconds since 1970, the rest of the fraction dropped. */
bool time_parse(struct str text, int64_t *ms) MUST_USE;

/* The same in UTC, of a time from 1970 to 9999: with no fraction, or with its six digits. */
void time_add_seconds(struct buf *out, int64_t ms);
void time_add_micro(struct buf *out, int64_t ms);
