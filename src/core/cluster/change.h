#pragma once

#include "core/base/base.h"
#include "core/cluster/ids.h"

/* The change log: which node's row changed, and in which columns, in order.
 *
 * Readers (views) remember the position they have read up to and catch up by reading what came
 * since. It is a ring: a reader that fell out of it starts over. Positions are 64-bit and never
 * come back, except that an undone transaction may cut the log back to where it began if nobody
 * read further. */

enum column {
    COLUMN_PRESENCE = 1 << 0, /* the node came, went, or is another one under the same number */
    COLUMN_LABELS = 1 << 1,
    COLUMN_TAINTS = 1 << 2,
    COLUMN_CORDON = 1 << 3,
    COLUMN_ALLOC = 1 << 4,
    COLUMN_USED = 1 << 5, /* requests of the pods on it */
    COLUMN_PORTS = 1 << 6,
    COLUMN_IMAGES = 1 << 7,
    COLUMN_NOMINATED = 1 << 8,
    COLUMN_WORTH = 1 << 9,     /* what it costs to evict its pods: when they started */
    COLUMN_FEATURES = 1 << 10, /* that it declares, and what it is made of */
    COLUMN_VOLUMES = 1 << 11,  /* its CSINode, and what is attached to it */
};

/* The other bits say which tallies (cluster/count.h) count another number of pods on the node: a
 * bit each, shared by those whose numbers are equal modulo their number. */
#define COLUMN_TALLY(tally) ((uint32_t)1 << (12 + (tally) % 20))
#define COLUMN_TALLIES      (~(uint32_t)0 << 12)
#define COLUMN_ALL          (~(uint32_t)0)

/* What nodes are, whoever uses them. */
#define COLUMN_NATURE                                                                              \
    (COLUMN_PRESENCE | COLUMN_LABELS | COLUMN_TAINTS | COLUMN_CORDON | COLUMN_ALLOC |              \
     COLUMN_FEATURES | COLUMN_VOLUMES)

/* What seldom changes: pods that come and go leave it alone. */
#define COLUMN_LASTING                                                                             \
    (COLUMN_PRESENCE | COLUMN_LABELS | COLUMN_TAINTS | COLUMN_CORDON | COLUMN_IMAGES |             \
     COLUMN_FEATURES)

struct change_entry {
    uint32_t node;
    uint32_t columns;
    uint64_t before; /* this node's entry before this one */
};

struct change_log {
    struct change_entry *ring;
    uint64_t size;       /* a power of two */
    uint64_t end;        /* position after the newest entry */
    uint64_t oldest;     /* entries before it were overwritten */
    uint64_t read_up_to; /* no reader has read at or past this position */
    uint64_t natures;    /* changes of COLUMN_NATURE so far; those taken back count, too */
    uint64_t lasting;    /* position after the newest change of COLUMN_LASTING, or later */
    uint64_t *newest;    /* by node: its newest entry; 0: none */
    uint32_t node_cap;
};

/* Makes room for `nodes` nodes; the ring is at least max(4096, nodes / 4) long. */
void change_log_grow(struct change_log *log, uint32_t nodes);

void change_log_add(struct change_log *log, node_id node, uint32_t columns);

/* Takes back everything from `position` on, if no reader has seen it; false if one has. */
bool change_log_cut(struct change_log *log, uint64_t position);

static inline const struct change_entry *change_log_at(const struct change_log *log,
                                                       uint64_t position)
{
    return &log->ring[position & (log->size - 1)];
}

void change_log_done(struct change_log *log);
