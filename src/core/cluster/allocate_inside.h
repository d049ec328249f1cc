#pragma once

#include "core/cluster/allocate.h"
#include "core/cluster/pools.h"
#include "core/model/cel.h"

/* What an allocator knows and has found, for the files that search and that tell. */

enum { RESULTS_MOST = 32 }; /* devices of one claim */

/* A request, or one of its alternatives. */
struct ask {
    const struct device_ask *ask;
    struct str request, name; /* of an alternative its own name, too; else empty */
    const struct device_class *class;
    const struct cel **selectors; /* of the class, then its own */
    uint32_t n_selectors;
    struct str wrong;      /* why it can never be judged; empty: it can */
    uint32_t wrong_at;     /* which selector is wrong: only a device that comes so far fails */
    struct str wrong_text; /* in these words */
    uint8_t *matches;      /* by candidate: 0 unknown, 1 no, 2 yes */
    uint32_t wanted;       /* devices, on this node */
    uint32_t *all;         /* of mode All: the candidates */
    uint32_t *order;       /* in which candidates are tried; NULL: as they are */
};

struct constraint {
    const struct device_constraint *from;
    const struct device_attribute *attribute; /* that all share */
    uint32_t n;                               /* devices under it */
    const struct device_attribute *seen[RESULTS_MOST];
};

struct request {
    uint32_t first, n; /* asks; n > 1 or an alternative: one of them is enough */
    bool is_choice;
    uint32_t chosen;
};

struct found {
    uint32_t candidate;
    const struct ask *ask;
};

struct claim {
    const struct resource_claim *claim;
    struct request *requests;
    struct constraint *constraints;
    struct found found[RESULTS_MOST];
    uint32_t n_found;
};

struct allocator {
    struct arena *mem, run; /* `run` is reset for each node */
    struct claim *claims;
    uint32_t n_claims;
    struct ask *asks;
    uint32_t n_asks;
    const struct cluster *cluster;
    node_id node;
    struct pools pools; /* of this node */
    uint8_t
        *gpus; /* by candidate: its number among the node's GPUs, + 1; NULL: it does not matter */
    struct str error;
    uint32_t steps;
};
