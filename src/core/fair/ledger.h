#pragma once

#include "core/fair/fair.h"

/* Who borrows and lends how much (L1, L2), and what each queue is entitled to (L3).
 *
 * Of siblings always: sum of borrowed = sum of lent + commons, commons being what is nobody's. */

struct fair_row {
    uint32_t queue;
    int64_t guaranteed; /* E */
    int64_t entitled;   /* F */
    int64_t max;        /* FAIR_NO_LIMIT: none */
    int64_t used, borrowed, lent, waiting;
};

/* The rows of a queue's children for a resource, by name; as many as it has children. Returns the
 * commons. */
int64_t fair_rows(struct fair *f, uint32_t parent, uint32_t resource, struct fair_row *rows);

/* F alone; of the root: the capacity. Kept until demand, capacity or the tree changes. */
int64_t fair_entitled(struct fair *f, uint32_t queue, uint32_t resource);
