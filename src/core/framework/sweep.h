#pragma once

#include "core/framework/bucket.h"
#include "core/framework/facet.h"

/* A sweep: all nodes judged for one class, a strip at a time.
 *
 * What facets say comes first: it is a bit for each node, so 64 nodes are left out by one `and`.
 * The nodes that are left make strips of STRIP, and each plugin is asked about a whole strip, so
 * that its numbers stay in registers and its loop is short. What comes out is, to the bit, what
 * row.h says of each node alone. Scans and new views are made of it. */

enum { STRIP = 256 };

struct strip {
    uint32_t n; /* nodes that passed the filters on rows */
    uint32_t node[STRIP];
    uint32_t bucket[STRIP];
    int32_t local[STRIP]; /* row score, or ROW_BROKEN … */
    bool may_break;       /* … which some may be */

    uint32_t n_refused; /* by anything but a facet */
    uint32_t refused[STRIP];
    reason_id why[STRIP];

    int32_t score[STRIP]; /* of one plugin */
    reason_id reason[STRIP];
};

struct sweep {
    struct cluster *cluster;
    const struct class *class;
    struct buckets *buckets;
    pod_id self;
    uint32_t n_masks; /* facets that answer filters: those before any other, in their order */
    const struct facet *masks[64];
    uint32_t word;        /* the next 64 nodes */
    uint32_t next_filter; /* of the class: the first that facets do not answer */
    bool has_loose_keys;  /* some part's key is no facet's, or there are too many together */
    uint32_t n_codes;     /* facets with keys that tell nodes apart … */
    const struct facet *codes[64];
    VEC(uint32_t) by_code; /* … and what their codes together come to: a bucket, or ID_NONE */
    struct match_words key;
    struct strip strip;
};

/* Begins one; the buckets are emptied. Nominations of `self` do not stand in its way. */
void sweep_begin(struct sweep *s, struct facets *facets, struct cluster *c,
                 const struct class *class, struct buckets *buckets, pod_id self);

/* The next strip; false: that was all. */
bool sweep_next(struct sweep *s);

/* Why a node that is in no strip is out: by the facets of the class as they are now. */
reason_id sweep_refusal(const struct class *class, uint32_t node);

void sweep_done(struct sweep *s);
