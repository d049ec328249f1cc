#pragma once

#include "core/base/base.h"
#include "core/base/str.h"
#include "core/base/sym.h"

/* The GPUs of a node, one by one: what is told of each, and how much of it is taken.
 *
 * Kubernetes counts GPUs and leaves to the node which of them a pod gets. Who shares GPUs, or asks
 * what is left in one piece, must know more: so books are kept per GPU. A pod takes thousandths of
 * a GPU (a share) or whole ones; its row remembers which, so that it gives back what it took. Where
 * nobody chose, shares go where least is left and still enough, whole GPUs are the best connected
 * of the idle ones.
 *
 * The books take whatever comes: more than there is (another scheduler's pods), or pods of a node
 * that is not there yet. GPUs are numbered from 0; those from `n` on are not there. A node whose
 * GPUs cannot be told apart (one GPU advertised several times, or more than GPUS_MOST) has none
 * here, and only its count of them is known (nodes_cell). */

enum { GPUS_MOST = 32, GPU_WHOLE = 1000 };

/* What a pod asks for: so many GPUs, so many thousandths of each. A share may be told as memory,
 * too; how many thousandths that is depends on the GPU. */
struct gpu_ask {
    uint32_t count;     /* 0: none */
    uint32_t milli;     /* GPU_WHOLE, or less for shares */
    uint32_t share_mib; /* of its memory; 0: not told */
    uint32_t vram_mib;  /* that each GPU must have in all; 0: any */
};

static inline bool gpu_ask_is_whole(struct gpu_ask ask)
{
    return ask.milli == GPU_WHOLE && !ask.share_mib;
}

/* A set of a node's GPUs. */
typedef uint32_t gpu_mask;

struct node_gpus {
    uint32_t n;
    gpu_mask there;             /* of the numbers below n: the others are those of GPUs that went */
    gpu_mask claimed;           /* that resource claims have */
    uint32_t is_counted;        /* 0 or 1: whole ones are asked for as a resource of the node */
    uint32_t are_alike;         /* 0 or 1: nothing is told that tells some from others */
    sym model;                  /* SYM_NONE: not said */
    uint32_t are_joined;        /* 0 or 1: they are one island */
    int32_t used[GPUS_MOST];    /* what is asked for most stands together */
    gpu_mask island[GPUS_MOST]; /* by GPU: those it is well connected with, itself among them */
    gpu_mask peers[GPUS_MOST];  /* by GPU: those that NVLink joins it with */
    uint8_t root[GPUS_MOST];    /* by GPU: equal on one PCIe switch; 0: not told */
    uint8_t zone[GPUS_MOST];    /* by GPU: equal on one NUMA node; 0: not told */
    uint32_t vram_mib[GPUS_MOST]; /* 0: not told */
};

/* The resources that are GPUs. */
bool gpus_is_resource(struct str name);

/* Thousandths left of a GPU; never below 0. */
static inline int32_t gpus_left(const struct node_gpus *g, uint32_t i)
{
    return (g->there & ~g->claimed) >> i & 1 ? MAX(GPU_WHOLE - g->used[i], 0) : 0;
}

/* How many thousandths of the GPU the pod would take; more than any has if nobody knows. */
uint32_t gpus_price(const struct node_gpus *g, uint32_t i, struct gpu_ask ask);

/* The same of each GPU of a set: of the one where it is most. */
uint32_t gpus_price_of(const struct node_gpus *g, gpu_mask which, struct gpu_ask ask);

/* Those on which the pod would find room, of the size it asks for; `g` may be NULL. */
gpu_mask gpus_with(const struct node_gpus *g, struct gpu_ask ask);

static inline uint32_t gpus_fitting(const struct node_gpus *g, struct gpu_ask ask)
{
    return (uint32_t)__builtin_popcount(gpus_with(g, ask));
}

/* Are there enough of them? */
static inline bool gpus_fit(const struct node_gpus *g, struct gpu_ask ask)
{
    gpu_mask with = gpus_with(g, ask);
    return ask.count == 1 ? with != 0 : (uint32_t)__builtin_popcount(with) >= ask.count;
}

/* Nobody has anything of them. */
static inline gpu_mask gpus_idle(const struct node_gpus *g)
{
    return gpus_with(g, (struct gpu_ask){1, GPU_WHOLE, 0, 0});
}

/* Which GPUs the pod gets where nobody chose; never fewer than it asks for while the node has them.
 * None if it asks for whole ones where they are not counted: claims have them. */
gpu_mask gpus_pick(const struct node_gpus *g, struct gpu_ask ask);

/* Adds `sign` × the thousandths to each GPU of the set. */
void gpus_charge(struct node_gpus **g, gpu_mask which, uint32_t milli, int sign);

/* What is told of a node's GPUs, all but who has them. */
struct gpus_facts {
    uint32_t n;
    gpu_mask there;
    bool is_counted;
    bool has_only_pcie; /* nothing better joins them than told */
    sym model;
    gpu_mask peers[GPUS_MOST];
    uint8_t root[GPUS_MOST], zone[GPUS_MOST];
    uint32_t vram_mib[GPUS_MOST];
};

/* The node has these GPUs from now on; false: nothing is new. They are one island, unless NVLink
 * joins them to several, or nothing but PCIe joins them: then those of one switch are one, or of
 * one NUMA node. */
bool gpus_put(struct node_gpus **g, const struct gpus_facts *told);
