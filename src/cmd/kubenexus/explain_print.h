#pragma once

#include "core/base/buf.h"
#include "core/engine/explain.h"

/* An explanation for programs. */
void explanation_json(const struct explanation *x, struct buf *out);
