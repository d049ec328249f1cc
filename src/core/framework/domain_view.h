#pragma once

#include "core/framework/aspect.h"

/* A domain view: a view of a few nodes, for a short while.
 *
 * Members of a gang are placed in one domain after the other, a rack say. To ask a view of the
 * whole cluster for each of them means to build it, and to ask each of its buckets whether it is in
 * the rack. A domain view looks at the rack's nodes alone, and says of them what a scan of the
 * cluster would if every other node was refused. It has no heaps: when the best node of a bucket
 * falls back, its few nodes are looked through.
 *
 * It reads the change log but is no reader in the log's mind: it must be opened anew after a
 * transaction was undone. */

enum { DOMAIN_VIEW_MOST_NODES = 1024 };

struct domain_view_row {
    uint32_t node;
    uint32_t home; /* as in a scan: ID_NONE, a bucket, or SCAN_REFUSED | reason */
    int32_t local; /* its row score */
};

struct domain_view {
    const struct class *class;        /* NULL: it is closed */
    uint64_t seen;                    /* read the log up to here */
    VEC(struct domain_view_row) rows; /* in order of nodes */
    struct buckets buckets;
    struct aspects aspects; /* of a class without key filters */
    struct match_words key; /* of one node */
    bool is_broken;         /* some node's score is none: the scan says how to fail */
};

/* Looks at these nodes, in ascending order, for the class, which must be one that views are for. */
void domain_view_open(struct domain_view *domain_view, struct cluster *c, const struct class *class,
                      const uint32_t *nodes, uint32_t n);
void domain_view_close(struct domain_view *domain_view);

/* The decision; false if only a scan can make it. */
bool domain_view_decide(struct domain_view *domain_view, struct cluster *c, struct decider *d,
                        struct decision *out);

void domain_view_done(struct domain_view *domain_view);
