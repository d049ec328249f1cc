#pragma once

#include "core/cluster/cluster.h"
#include "core/model/gpu_device.h"

/* What is told of a node's GPUs, from all who know something: drivers in their ResourceSlices
 * first, then the node's labels and the amount it offers.
 *
 * From it follow the node's hardware (nodes.hardware) and the facts in the books of its GPUs
 * (gpus.h). Both are functions of the node's row and of the slices, so a transaction that puts the
 * row back puts them back; nothing else changes within one, but which devices are promised.
 *
 * GPUs of a driver are numbered as their names say (gpu-3 is 3), so that a number keeps its
 * meaning when one of them goes. Where names do not say it, they come by bus id, then by name. Only
 * devices that a slice has for this node alone are its GPUs, and slices of GPUs (MIG) only where it
 * has no whole ones. */

struct node_gpu {
    struct gpu_facts is;
    struct str name;
    sym id; /* as devices know it */
};

struct gpu_facts_list {
    uint32_t n; /* the highest number + 1; 0: no driver speaks of GPUs */
    gpu_mask there;
    struct node_gpu at[GPUS_MOST]; /* texts live in the slices, or in `mem` */
};

void gpu_facts_list_read(const struct cluster *c, node_id node, struct arena *mem,
                         struct gpu_facts_list *out);

/* The node's row came, or slices that may be about it: brings hardware and books up to date.
 * Returns the columns that differ. */
uint32_t gpu_facts_put(struct cluster *c, node_id node);

/* The same with the log and the pods' NUMA nodes. Not for a row that comes. */
void gpu_facts_put_again(struct cluster *c, node_id node);

/* Shares that the node's pods have by memory cost what they do of the GPUs that are told now. A pod
 * may have come before anybody told how large they are. Not within a transaction. */
void gpu_facts_price_all(struct cluster *c, node_id node);

struct slice_place {
    bool is_told;
    sym node; /* SYM_NONE: not of one node */
    uint64_t pool;
};

/* A slice came, or was there: the same for its node and all nodes of its pool, in the log and with
 * the pods' NUMA nodes. */
void gpu_facts_put_slice(struct cluster *c, struct slice_place at);

/* Devices of the pool were given away or came back. */
void gpu_facts_claim_pool(struct cluster *c, uint64_t pool);
