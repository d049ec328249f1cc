#pragma once

#include "sim/report.h"

/* The report as one HTML page that needs nothing from outside: style, plots and all inside.
 * `host` may be NULL. */
void report_html(const struct summary *s, const struct host *host, struct buf *out);
