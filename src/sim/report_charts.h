#pragma once

#include "sim/report.h"

/* Charts about one run. Those that a page may have several times are numbered from 0. */
void chart_utilisation(const struct summary *s, struct buf *out);
void chart_classes(const struct summary *s, uint32_t number, struct buf *out);
void chart_waits(const struct summary *s, uint32_t number, struct buf *out);
void chart_groups(const struct summary *s, uint32_t number, uint32_t cells, struct buf *out);
