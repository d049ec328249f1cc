#pragma once

#include "sim/report_compare.h"

/* Charts that show all contestants in one: a line, or a bar, for each. Those about GPUs and gangs
 * are there only if there are any. */
void overlay_use(const struct comparison *c, struct buf *out);
void overlay_queue(const struct comparison *c, struct buf *out);
void overlay_islands(const struct comparison *c, struct buf *out);
void overlay_gangs(const struct comparison *c, struct buf *out);
void overlay_evictions(const struct comparison *c, struct buf *out);
void overlay_waits(const struct comparison *c, struct buf *out);
