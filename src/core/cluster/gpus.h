#pragma once

#include "core/base/base.h"
#include "core/base/str.h"
#include "core/base/sym.h"

/* The GPUs of a node, one by one: how much of each is taken.
 *
 * Kubernetes counts GPUs and leaves to the node which of them a pod gets. Who shares GPUs, or asks
 * what is left in one piece, must know more: so books are kept per GPU. A pod takes thousandths of
 * a GPU (a share) or whole ones; its row remembers which, so that it gives back what it took. Where
 * nobody chose, shares go where least is left and still enough, whole GPUs are the first idle ones.
 *
 * The books take whatever comes: more than there is (another scheduler's pods), or pods of a node
 * that is not there yet. GPUs are numbered from 0; those from `n` on are not there. A node whose
 * GPUs cannot be told apart (one GPU advertised several times, or more than GPUS_MOST) has none
 * here, and only its count of them is known (nodes_cell). */

enum { GPUS_MOST = 32, GPU_WHOLE = 1000 };

/* What a pod asks for: so many GPUs, so many thousandths of each. */
struct gpu_ask {
    uint32_t count; /* 0: none */
    uint32_t milli; /* GPU_WHOLE, or less for shares */
};

/* A set of a node's GPUs. */
typedef uint32_t gpu_mask;

struct node_gpus {
    uint32_t n;
    sym model;                  /* SYM_NONE: not said */
    gpu_mask island[GPUS_MOST]; /* by GPU: those it is well connected with, itself among them */
    int32_t used[GPUS_MOST];
};

/* The resources that are GPUs. */
bool gpus_is_resource(struct str name);

/* Thousandths left of a GPU; never below 0. */
static inline int32_t gpus_left(const struct node_gpus *g, uint32_t i)
{
    return MAX(GPU_WHOLE - g->used[i], 0);
}

/* On how many of the node's GPUs the pod would find room; `g` may be NULL. */
uint32_t gpus_fitting(const struct node_gpus *g, uint32_t milli);

/* Which GPUs the pod gets where nobody chose; never fewer than it asks for while the node has them.
 */
gpu_mask gpus_pick(const struct node_gpus *g, struct gpu_ask ask);

/* Adds `sign` × the thousandths to each GPU of the set. */
void gpus_charge(struct node_gpus **g, gpu_mask which, uint32_t milli, int sign);

/* The node has so many GPUs from now on, all in one island. */
void gpus_put(struct node_gpus **g, uint32_t n, sym model);

/* GPUs of different zones (any numbers) are in different islands. */
void gpus_divide(struct node_gpus *g, const uint32_t *zone);
