#pragma once

#include "core/base/buf.h"
#include "core/engine/explain.h"

/* An explanation for programs and for people. */

void explanation_json(const struct explanation *x, struct buf *out);

/* Refused nodes grouped by reason, the best nodes with the parts of their scores. */
void explanation_table(const struct explanation *x, struct buf *out);
