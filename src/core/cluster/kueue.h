#pragma once

#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/gpus.h"
#include "core/cluster/names.h"
#include "core/model/classify.h"
#include "core/model/kueue.h"

/* Kueue's queues and what waits in them. Who admits is Kueue's business; here is what placement
 * wants to know: the tier of a queue's tenant, and which sizes of pods will come.
 *
 * A LocalQueue has the tier that it says itself (label or annotation tenant.kubenexus.io/tier),
 * else its ClusterQueue's. A pod that names a ClusterQueue has its tier if its namespace has a
 * LocalQueue that leads there: what queues a namespace may use is not for its pods to say. Of
 * Workloads that wait only the GPUs that one of their pods asks for is kept. `generation` moves
 * whenever an answer may have changed. */

struct kueue_queue {
    sym namespace, name; /* namespace SYM_NONE: a ClusterQueue, or a free row */
    sym cluster_queue;   /* of a LocalQueue */
    enum tier tier;      /* TIER_NONE: not said */
};

struct kueue {
    VEC(struct kueue_queue) rows;
    struct map local;   /* namespace and name → row */
    struct map cluster; /* name → row */
    struct map links;   /* namespace and ClusterQueue → how many LocalQueues there lead to it */
    struct map waiting; /* namespace and name of a Workload → GPUs of its largest pods */
    uint32_t sizes[GPUS_MOST + 1]; /* Workloads that wait, by those GPUs */
    uint64_t generation;
};

void kueue_done(struct kueue *q);

/* They came or changed, or are gone (NULL); true: a tier may differ. */
bool kueue_put_local(struct kueue *q, struct names *names, const struct meta *meta,
                     const struct local_queue *from);
bool kueue_put_cluster(struct kueue *q, struct names *names, const struct meta *meta,
                       const struct cluster_queue *from);
void kueue_put_workload(struct kueue *q, struct names *names, const struct meta *meta,
                        const struct kueue_workload *from);

/* The tier of the tenant whose queue this is; TIER_NONE: nobody says. */
enum tier kueue_tier(const struct kueue *q, sym namespace, sym queue);

/* The ClusterQueue of a LocalQueue; SYM_NONE: there is no such LocalQueue. */
sym queues_leads_to(const struct kueue *q, sym namespace, sym queue);

/* The smallest pods that wait and ask for more than so many GPUs; 0: none do. */
uint32_t kueue_wanted(const struct kueue *q, uint32_t more_than);
