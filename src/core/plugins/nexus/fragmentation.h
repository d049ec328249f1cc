#pragma once

#include "core/cluster/cluster.h"
#include "core/plugins/args.h"

/* How much of a node's idle GPUs the pods to come could not use.
 *
 * The measure of Weng et al. (USENIX ATC 2023). Given a mix of pods, each kind with its share of
 * all pods: what is idle is a fragment for a kind that asks for no GPU, may not use this model, or
 * finds too few GPUs or too little CPU; for a kind that fits, only GPUs with too little left are. A
 * node's fragmentation is the mean over the mix, in thousandths of a GPU. Memory plays no part.
 *
 * A node whose GPUs are several islands is measured island by island, each with all of its CPU: a
 * pod that wants four GPUs has no use for two here and two there.
 *
 * It depends on the node's CPU only through which kinds find enough of it, and not on which GPU has
 * how much left: so few states differ, and what was worked out once is remembered. Sums are in
 * floating point, in the order of the published program: where two nodes are equally good its
 * rounding decides, and its results are to be had only that way. */

struct fragmentation_memo {
    uint64_t left[2]; /* of eight GPUs, sorted, 16 bits each */
    uint32_t state;   /* model and step; 0: nothing is remembered here */
    uint32_t change;  /* of a gain: what the pod asks for, and the step it leaves */
    double amount;
};

enum { FRAGMENTATION_MEMO_GPUS = 8 }; /* what is remembered is of nodes with so many at most */

/* A node's state when it was last asked for. */
struct fragmentation_seen {
    uint32_t n;
    gpu_mask claimed;
    sym model;
    int64_t cpu_milli;
    int32_t used[FRAGMENTATION_MEMO_GPUS];
    struct fragmentation_memo key; /* state 0: none was */
};

/* The parts of the published program's sum, in the order in which it adds them up. */
enum fragmentation_part {
    LACKS_BOTH,
    LACKS_GPU,
    LACKS_CPU,
    NO_GPU,
    NO_GPU_NOR_CPU,
    OTHER_MODEL,
    N_FRAGMENTATION_PARTS
};

/* How much of a GPU some kinds ask for, and how that fits the state at hand. */
struct fragmentation_size {
    int32_t milli;
    uint32_t fitting; /* GPUs with so much left */
    int32_t below;    /* what is left of the others */
};

/* So many GPUs of that size; where the CPU is too little or enough: what is a fragment for a kind
 * that wants them, and the sum that it belongs to. */
struct fragmentation_want {
    uint32_t size, count;
    enum fragmentation_part part[2];
    double fragment[2];
};

/* A kind of pod. */
struct fragmentation_kind {
    double share;
    int64_t cpu_milli;
    uint64_t allowed; /* which models will do, as bits */
    uint32_t want;
};

struct fragmentation {
    uint64_t generation; /* of the demand that was observed (cluster/demand.h); 0: it was not */
    struct fragmentation_kind *kinds;
    uint32_t n;
    struct fragmentation_want *wants;
    uint32_t n_wants;
    struct fragmentation_size *sizes;
    uint32_t *rising; /* their numbers, the smallest first */
    uint32_t n_sizes;
    sym *models; /* those that some kind names */
    uint32_t n_models;
    int64_t *steps; /* amounts of CPU that some kind asks for, rising */
    uint32_t n_steps;
    struct fragmentation_memo *memo, *gains;
    struct fragmentation_seen *seen; /* by the last bits of the node's number */

    /* Of what was asked last: nodes that are alike come in a row. */
    struct fragmentation_memo *last; /* of the gains */
    int64_t last_cpu;
    uint32_t last_step;
    double last_gain;
    int64_t last_level;
    bool has_step, has_level;
};

void fragmentation_init(struct fragmentation *f, struct cluster *c, const struct gpu_demand *demand,
                        uint32_t n);
/* The same, of what is observed. Pods that the mix asks for lose, of m idle GPUs, m × the share of
 * those that want more than m. As it is, that may rise and fall, and a pod would rather leave two
 * of three GPUs idle than one of two. So the least loss is taken that is nowhere less and is
 * concave: what a pod gains falls with what is left, whatever the mix. That, too, is the loss of
 * some mix: it is the one that is measured by. */
void fragmentation_observe(struct fragmentation *f, struct cluster *c);

/* That mix, of one with islands of so many GPUs at most. */
struct gpu_mix fragmentation_even(const struct gpu_mix *mix);

void fragmentation_done(struct fragmentation *f, struct cluster *c);

/* What a node's fragmentation depends on. */
struct fragmentation_state {
    sym model;
    int64_t cpu_milli; /* idle */
    uint32_t n;
    int32_t left[GPUS_MOST];      /* thousandths of each GPU */
    const gpu_mask *island;       /* as in the node's books … */
    const struct node_gpus *gpus; /* … which they are; NULL: it has none */
};

struct fragmentation_state fragmentation_state(const struct cluster *c, node_id node);

double fragmentation_of(struct fragmentation *f, const struct fragmentation_state *s);

/* The largest gain that a pod of this ask brings to the node as it is, remembered for the caller,
 * who works it out while it is NOT_KNOWN; NULL if its state is not one to remember. */
#define NOT_KNOWN -1e300
double *fragmentation_gain(struct fragmentation *f, const struct cluster *c, node_id node,
                           int64_t cpu_milli, struct gpu_ask ask);
