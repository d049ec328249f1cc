#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/vec.h"
#include "core/engine/engine.h"

/* The experiment of "Beware of Fragmentation" (Weng et al., USENIX ATC 2023): how much of a
 * cluster's GPUs a policy can give away when pods come that want parts of a GPU, one, or several.
 *
 * Pods of an openb trace arrive one by one in a shuffled order, drawn again or left out until they
 * ask for 130 % of the GPUs. A pod that fits nowhere is dropped; nothing ever ends. Order and ties
 * follow the published program's random numbers, so that the published results are to be had again:
 * its first outputs are given, the rest follows from them.
 *
 * The engine is the real one, told by engine.h what an API server would tell it. Texts that are
 * read must outlive the experiment. */

enum { FGD_SEED_WORDS = 607, FGD_PERCENT_MOST = 130 };

struct fgd_node {
    struct str name, model;
    int64_t cpu_milli, memory_mib;
    uint32_t gpus;
};

struct fgd_pod {
    struct str name, models; /* any of them, which "|" divides; empty: any */
    int64_t cpu_milli, memory_mib;
    uint32_t gpus, milli; /* thousandths of each */
};

/* A kind of pod that comes often. */
struct fgd_kind {
    struct str models;
    int64_t cpu_milli;
    uint32_t gpus, milli, pods;
    double share; /* among those that come often */
};

struct fgd_trace {
    VEC(struct fgd_node) nodes; /* by name */
    VEC(struct fgd_pod) pods;   /* the same */
    VEC(struct fgd_kind) kinds; /* the most frequent first, until they cover 95 % of the pods */
    int64_t gpu_milli;          /* of all nodes */

    const struct pod **objects; /* by pod; NULL: not prepared */
    struct arena mem;
};

bool fgd_read_nodes(struct fgd_trace *t, const char *file, struct str csv,
                    struct error *e) MUST_USE;
bool fgd_read_pods(struct fgd_trace *t, const char *file, struct str csv, struct error *e) MUST_USE;
void fgd_trace_done(struct fgd_trace *t);

/* Makes the objects that runs tell the engine of. */
void fgd_prepare(struct fgd_trace *t);

/* The published program's generator as it starts. */
struct fgd_seed {
    int64_t seed;
    uint64_t first[FGD_SEED_WORDS];
};

VEC_TYPE(fgd_seeds, struct fgd_seed);

bool fgd_read_seeds(struct fgd_seeds *out, const char *file, struct str csv,
                    struct error *e) MUST_USE;

/* Who comes when, and which node is preferred among equals. */
struct fgd_order {
    VEC(uint32_t) pods;
    VEC(uint32_t) tie_orders; /* by node; the lowest wins */
};

void fgd_order_make(struct fgd_order *o, const struct fgd_trace *t, const struct fgd_seed *seed);
void fgd_order_done(struct fgd_order *o);

struct fgd_result {
    double given[FGD_PERCENT_MOST + 1]; /* % of the GPUs, by % that pods have asked for so far: the
                                           mean over the arrivals that round to it */
    uint64_t decisions, bound;
};

/* All pods of the order of a prepared trace, decided by an engine of this configuration. */
struct fgd_result fgd_run(const struct fgd_trace *t, const struct fgd_order *o,
                          const struct engine_config *config);
