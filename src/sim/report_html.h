#pragma once

#include "sim/report_compare.h"

/* The report as one HTML page that needs nothing from outside: style, plots and all inside.
 * `host` may be NULL; else it has one for each contestant. */
void report_html(const struct comparison *c, const struct host *host, struct buf *out);
