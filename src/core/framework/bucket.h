#pragma once

#include "core/framework/class.h"

/* Buckets: the feasible nodes of a class, grouped by what they share.
 *
 * A scan or a view fills them: it says per bucket how many nodes it has and which is the best by
 * its own row. The decision then asks key filters and key scores once per bucket. */

struct bucket {
    uint32_t nodes;
    uint32_t at_live;  /* where it stands among the live ones, if it has nodes */
    uint32_t best;     /* the node with the highest `local`, among equals the first in tie order */
    int32_t local;     /* its row score */
    reason_id refused; /* of the last decision: why none of its nodes will do; 0: they may */
    int64_t shared;    /* of the last decision: what all its nodes get from keys */
};

struct buckets {
    uint32_t n_keys;
    struct intern table; /* key → number */
    VEC(uint32_t) keys;  /* all keys, n_keys numbers each */
    VEC(struct bucket) at;
    VEC(uint32_t) live; /* buckets that have nodes, in no order that matters */
    uint32_t last;      /* asked for: the next node is mostly like the one before */
};

/* Empties them, for a class with keys of this length. */
void buckets_reset(struct buckets *b, uint32_t n_keys);
void buckets_done(struct buckets *b);

/* The bucket of a key, made empty if it is new. */
uint32_t buckets_get(struct buckets *b, const uint32_t *key);

/* The bucket gets its first node, or loses its last. */
void buckets_wake(struct buckets *b, uint32_t i);
void buckets_rest(struct buckets *b, uint32_t i);

static inline const uint32_t *buckets_key(const struct buckets *b, uint32_t i)
{
    return b->keys.at + (size_t)i * b->n_keys;
}

/* Room for one decision, kept between decisions. */
struct decider {
    VEC(uint32_t) which; /* buckets that passed */
    VEC(uint32_t) nodes; /* how many nodes each of them has */
    VEC(int64_t) raw, normal;
    VEC(double) sums;
};

void decider_done(struct decider *d);

/* For so many scores of one plugin. */
void decider_reserve(struct decider *d, uint32_t n);

struct decision {
    uint32_t node; /* ID_NONE: nothing fits */
    int64_t
        total; /* its score; without what all nodes share if there was no choice between buckets */
    uint32_t feasible; /* nodes that fit */
    uint32_t broken;   /* one of them whose score is none (ROW_BROKEN); ID_NONE: no such node */
};

/* Asks the key filters and key scores, and finds the best node. With `all_scores`, every bucket's
 * `shared` is worked out even where it cannot matter. */
struct decision buckets_decide(const struct cluster *c, const struct class *class,
                               struct buckets *b, struct decider *d, bool all_scores);

/* The key scores of one plugin for the buckets that passed the last decision: d->raw, d->normal, in
 * the order of d->which. */
void buckets_score(const struct cluster *c, const struct class_part *part, const struct buckets *b,
                   struct decider *d);
