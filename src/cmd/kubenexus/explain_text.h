#pragma once

#include "cmd/kubenexus/explain_queue.h"
#include "core/base/buf.h"
#include "core/engine/explain.h"

/* An explanation for people, 80 columns wide: what happens, why, and what each rule leaves. */

struct text_options {
    bool shows_scores, shows_plan;
    const struct queue_spot *queue; /* NULL: it is in none */
    struct str missing;             /* kinds that the files lack and the pod needs; empty: none */
};

void explanation_text(const struct explanation *x, const struct foresight *f,
                      const struct text_options *o, struct buf *out);
