#pragma once

#include "core/model/object.h"

/* The load that `kubenexus bench` is measured on, stated here and nowhere else.
 *
 * Nodes: two in three with 64 CPUs, 512 GiB and 8 GPUs, one in three with 96 CPUs, 384 GiB and
 * none; 25 labels (hostname, zone, rack, instance type, facts about the GPUs), 3 zones, 40 nodes a
 * rack; two taints on one in ten; 20 images out of 200.
 *
 * Pods: 20 classes from 100m to 8 CPUs and 0 to 8 GPUs (see the table in bench_load.c), in turn,
 * those that ask for GPUs in every fourth turn; every second class with node affinity, one
 * container with one of the 200 images. As many as fill 70 % of the CPUs or GPUs, whichever is full
 * first, at most 2 million; two for each node where pods seek or avoid each other. */

enum bench_shape {
    BENCH_BASIC,
    BENCH_GPU,         /* the classes that ask for GPUs alone */
    BENCH_SPREAD_ZONE, /* each class has a soft constraint over zones */
    BENCH_SPREAD_HOST, /* System defaults: all pods stand behind a Service */
    BENCH_AFFINITY,    /* each class must be in a zone with pods of its own … */
    BENCH_ANTI,        /* … must not share a node with them … */
    BENCH_PREFERRED,   /* … would like the first and not the second; a pod on each node already */
    BENCH_PREEMPT,     /* eight pods of no importance fill each node; important ones arrive, one
                        * for every fifth node */
    BENCH_DAEMONSET,   /* one pod for each node, which it names */
    BENCH_CLASSES_1000, /* so many classes, in turn */
    BENCH_CLASSES_5000,
    BENCH_FULL_PROFILE, /* the profile kubenexus-scheduler with all it has to say: nodes tell their
                         * NUMA nodes, network, tier and cost; pods with GPUs are a gold tenant's
                         * training, others services and batch work in turn */
    BENCH_GANG_1000, /* gangs of 1,000 pods, one after the other: of four classes, which would like
                      * to stay in one rack, zone or region; of one class, twice; one that fits
                      * nowhere */
    BENCH_GANG_64,   /* a thousand gangs of 64 pods of one class that wait at once */
    BENCH_NO_QUEUES, /* the basic load in 1,000 namespaces, by kubenexus-scheduler: to compare with … */
    BENCH_QUEUES_1000,  /* … the same where each namespace has a leaf, in ten inner queues, … */
    BENCH_QUEUES_10000, /* … and where ten thousand do */
    BENCH_QUEUES_FULL,  /* a thousand; as many pods again wait in one that is full */
    BENCH_SHAPES,
};

enum { BENCH_GANG_PODS = 1000, BENCH_GANGS = 4, BENCH_MANY_PODS = 64, BENCH_MANY_GANGS = 1000 };

const char *bench_shape_name(enum bench_shape shape);
uint32_t bench_shape_classes(enum bench_shape shape);

/* Objects live in `mem`. */
struct node *bench_node(struct arena *mem, enum bench_shape shape, uint32_t i);
struct pod *bench_pod(struct arena *mem, enum bench_shape shape, uint32_t i);

/* The Queues that a shape needs; NULL after the last. */
struct queue_object *bench_queue(struct arena *mem, enum bench_shape shape, uint32_t i);
static inline bool bench_has_queues(enum bench_shape shape)
{
    return shape >= BENCH_NO_QUEUES && shape <= BENCH_QUEUES_FULL;
}

/* The Services (one a class) that a shape needs; NULL after the last. */
struct service *bench_service(struct arena *mem, enum bench_shape shape, uint32_t i);

/* The pods that are on nodes already, where a shape needs them; NULL after the last. */
struct pod *bench_placed(struct arena *mem, enum bench_shape shape, uint32_t nodes, uint32_t i);

/* How many pods of this shape so many nodes are filled with. */
uint32_t bench_pods(enum bench_shape shape, uint32_t nodes);
