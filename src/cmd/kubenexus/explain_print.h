#pragma once

#include "cmd/kubenexus/explain_queue.h"
#include "core/base/buf.h"
#include "core/engine/explain.h"

/* An explanation for programs. `queue` is where the pod stands in one; NULL: it is in none. */
void explanation_json(const struct explanation *x, const struct queue_spot *queue, struct buf *out);
