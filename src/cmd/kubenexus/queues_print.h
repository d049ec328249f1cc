#pragma once

#include "core/base/buf.h"
#include "core/engine/queues.h"

/* How queues stand, for people and programs. */

/* What is to be shown: a queue and all below it, of one resource. */
struct queues_view {
    const struct queue_reports *all;
    struct str top;      /* empty: the whole tree */
    struct str resource; /* of the table */
};

/* The accelerator that most is known of, else cpu. */
struct str queues_resource(const struct queue_reports *all);

/* NULL: there is none of that name. */
const struct queue_report *queues_find(const struct queue_reports *all, struct str name);

void queues_table(const struct queues_view *v, struct buf *out);
void queues_json(const struct queues_view *v, struct buf *out);

/* Of one queue, a line for each number of its resource: what it is made of. */
void queues_why(const struct queue_reports *all, const struct queue_report *queue,
                struct str resource, struct buf *out);
