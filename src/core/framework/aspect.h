#pragma once

#include "core/framework/bucket.h"

/* What single plugins see of a view's buckets.
 *
 * A bucket's key is made of what all plugins look at: racks times images times taints. Each plugin
 * sees its own part of it alone, its *aspect*, and of that there are far fewer: two where an image
 * is there or not. So each plugin is asked once per aspect that some node has, and a bucket's score
 * is a sum of numbers found by index. Numbers and their nodes are kept as buckets come, grow and
 * shrink. For classes without key filters, whose buckets are all feasible. */

struct aspect {
    const struct class_part *part;
    struct intern table;  /* its part of a key → number */
    VEC(uint32_t) keys;   /* by number, part->n_keys each */
    VEC(uint32_t) nodes;  /* by number: how many nodes have it */
    VEC(int64_t) worth;   /* by number, of the last decision: the weighted score */
    VEC(uint32_t) number; /* by bucket */
};

struct aspects {
    struct aspect *at; /* of the plugins that score keys */
    uint32_t n;
    uint32_t nodes; /* in all buckets */
    VEC(int64_t) totals;
};

/* Empties them, for this class. */
void aspects_reset(struct aspects *a, const struct class *class);
void aspects_done(struct aspects *a);

/* There is a bucket more, with this key; buckets come in order of their number. */
void aspects_add(struct aspects *a, const uint32_t *key);

/* The bucket has so many nodes more. */
void aspects_count(struct aspects *a, uint32_t bucket, int32_t more);

/* As buckets_decide(), which it must agree with. */
struct decision aspects_decide(const struct cluster *c, struct aspects *a, const struct buckets *b,
                               struct decider *d);
