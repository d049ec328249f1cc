#pragma once

#include "sim/report.h"

/* The plots of the report page, each with its heading and legend. */

void chart_utilisation(const struct summary *s, struct buf *out);
void chart_classes(const struct summary *s, struct buf *out);
void chart_queue(const struct summary *s, struct buf *out);
void chart_waits(const struct summary *s, struct buf *out);
void chart_groups(const struct summary *s, struct buf *out);
