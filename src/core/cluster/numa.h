#pragma once

#include "core/cluster/nodes.h"
#include "core/cluster/pods.h"

/* The NUMA nodes of hosts (zones): what is in use on each, and which one a pod gets.
 *
 * A pod that cares about NUMA is given a zone when it is placed and keeps it until it leaves; its
 * row remembers which. The kubelet decides in the end: it takes the lowest zone that fits, and so
 * do we, after what the pod itself asks for. Pods that do not care, or fit no zone, float: they
 * count on all zones in proportion to their size. What is in use is added up when somebody asks,
 * so that transactions have nothing to undo but the pod's own zone. */

struct cluster;

/* What a pod needs of a zone. */
struct numa_need {
    int64_t cpu_milli; /* whole cores */
    int64_t memory, gpus;
    uint64_t ids, anti_ids;
    enum numa_policy policy; /* NUMA_NONE: it does not care */
    uint8_t resources;       /* NUMA_*: those that the policy is about */
    bool is_intensive;       /* in its use of memory */
    enum numa_spread spread; /* of the members of its gang … */
    sym gang, namespace;     /* … SYM_NONE: it has none */
};

/* What is in use on a zone. */
struct numa_use {
    int64_t cpu_milli, memory, gpus;
    int64_t intensive_memory; /* of pods that use it intensively */
    uint32_t pods;            /* that have this zone */
    uint32_t mates;           /* of them, members of the gang that was asked for */
    bool is_closed;           /* somebody has it for himself */
};

struct numa_need numa_need_of(const struct spec *spec, sym namespace);

/* Fills in the use of each zone of the node's hardware, as a pod of this need sees it. */
void numa_used(const struct cluster *c, node_id node, const struct numa_need *need,
               struct numa_use *out);

/* Does it fit into the zone? GPUs count if it is told where they sit. */
bool numa_fits(const struct hardware *h, uint32_t zone, const struct numa_use *used,
               const struct numa_need *need);

/* On how few zones it fits, together; 0: on none. With `used` NULL, on an empty host. */
uint32_t numa_width(const struct hardware *h, const struct numa_use *used,
                    const struct numa_need *need);

/* The zone that a pod of this spec would get, + 1; 0: it floats. Among equals that of its GPUs. */
uint32_t numa_zone_of(const struct cluster *c, const struct shape *shape, node_id node,
                      gpu_mask gpus);

/* The GPUs that it would get, if it gets that zone: others of the zone if those are not there. */
gpu_mask numa_move_gpus(const struct cluster *c, node_id node, uint32_t zone, gpu_mask gpus,
                        struct gpu_ask ask);

/* Gives the node's pods their zones anew, in the order in which they came; who was told his keeps
 * it. */
void numa_zone_all(struct cluster *c, node_id node);
