#pragma once

#include "core/fair/inside.h"

/* What cover.c and rise.c share. */

struct place {
    const struct fair_piece *piece;
    uint32_t index;
};

/* Depths are bits: piece and queue tell which queue is meant. */
struct fair_cover {
    struct fair *f;
    const struct fair_piece *pieces;
    const struct fair_piece *u;
    uint32_t n;
    struct place *order;
    uint16_t *covered;  /* by piece: at which queues above it */
    uint16_t u_covered; /* where u would be, if it ran */
    uint16_t u_within;  /* R4 */
    uint32_t u_leaf;
    int64_t *sums; /* by queue and resource: covered so far */
    struct arena *mem;
};

static inline uint16_t bit_of(const struct queue *q)
{
    return (uint16_t)(1u << q->depth);
}

static inline int64_t *sums_at(const struct fair_cover *c, uint32_t queue)
{
    return c->sums + (size_t)queue * c->f->stride;
}

/* R9: is the resource one that guarantees are about? */
bool cover_counts(const struct fair *f, uint32_t resource);

/* Looks at all pieces but those that are gone; `covered` is zeroed. Where u is covered, too. */
uint16_t cover_all(const struct fair_cover *c, const bool *gone, bool has_started,
                   uint16_t *covered);
