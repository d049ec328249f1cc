#pragma once

#include "core/model/hardware.h"
#include "sim/plan.h"

/* What a simulated world writes down about GPUs and gangs: how useful the idle ones are, and how
 * near each other those in use. It knows nothing of how decisions are made.
 *
 * An *island* is the GPUs of a node, whole while none is in use; so are the GPUs of all nodes of an
 * NVLink *clique*, which are counted apart. *Fragments* are idle GPUs that a
 * pod of the plan could not use where they are, in the mean over its pods with GPUs (Weng et al.,
 * USENIX ATC 2023). A pod is *NUMA-local* if its GPUs and CPU are on one NUMA node, where a kubelet
 * that aligns them takes the lowest that has room; pods too large for any do not count. A *hop* is
 * a pair of neighbouring ranks in different racks. A job has waited when its last pod runs; those
 * that never did count with the time they waited until the end. A gang is a job some of whose pods
 * must run at one time, and that has GPUs. */

/* A number over time. */
struct level_over_time {
    double value, total; /* now; × ms */
    int64_t since_ms;
};

/* Jobs by the GPUs that they ask for in all: none, 1, 2 to 3, 4 to 7, … 64 and more. */
enum { ISLAND_SIZES = 8 };

struct job_waits {
    VEC(int64_t) waits_ms;
};

#define NO_CLIQUE UINT32_MAX

struct island {
    uint32_t gpus, idle; /* idle 0 while the node is down */
    uint32_t rack;
    uint32_t clique; /* its number; NO_CLIQUE: none */
    uint32_t n_zones;
    struct {
        int32_t gpus;
        int64_t cpu_milli;
    } left[MOST_ZONES];
};

/* What a pod has of each NUMA node. */
struct zones_taken {
    uint8_t gpus[MOST_ZONES];
};

struct clique_left {
    uint32_t gpus, idle;
};

struct islands {
    const struct plan *plan;
    VEC(struct island) nodes;
    VEC(struct clique_left) cliques;
    struct level_over_time whole_cliques;
    uint32_t n;                /* nodes with several GPUs */
    int64_t *gpus, *cpu_milli; /* by template */
    int64_t *work_gpus;        /* by work */
    VEC(struct gpu_size {
        int64_t gpus;
        double share; /* of the plan's pods with GPUs */
    })
    sizes;
    struct level_over_time whole, idle, fragments;
    uint64_t gangs, placed, apart; /* gangs that came; of these: all ran at one time; and in
                                    * several racks */
    uint64_t racks, hops;          /* of those, in all */
    uint64_t numa_pods, numa_local;
    struct job_waits waits[ISLAND_SIZES];
};

void islands_init(struct islands *is, const struct plan *plan);
void islands_done(struct islands *is);

/* The node is there with nothing on it, or is not. */
void islands_node(struct islands *is, int64_t now_ms, uint32_t node, bool is_up);

/* A pod of the template comes to the node, or leaves what it had there. */
void islands_start(struct islands *is, int64_t now_ms, uint32_t node, uint32_t template,
                   struct zones_taken *out);
void islands_stop(struct islands *is, int64_t now_ms, uint32_t node, uint32_t template,
                  const struct zones_taken *taken);

/* All pods of the work run, the i-th on nodes[i]; or the end has come and they do not (NULL). */
void islands_work(struct islands *is, int64_t now_ms, uint32_t work, const uint32_t *nodes);

void islands_close(struct islands *is, int64_t now_ms);

/* "4-7": the GPUs of the jobs at this place of `waits`. */
const char *islands_size_name(uint32_t i);
