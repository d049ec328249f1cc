#pragma once

#include "core/base/map.h"
#include "core/cluster/ids.h"
#include "core/model/hardware.h"
#include "core/model/object.h"

/* What nodes report of their NUMA nodes (NodeResourceTopology): how much each has for pods, and how
 * much of it is in use, for all we know at the moment the report was written.
 *
 * A report comes late: pods that we have just put there are not in it. It says by a fingerprint of
 * which pods it speaks. If those are the pods that are there, what it says of use is the truth; if
 * not, or if it does not say, it is a lower bound beside our own books (numa.h). */

enum { REPORTED_MOST = 16 };

struct zone_report {
    struct numa_zone has;
    int64_t cpu_used, memory_used, gpus_used;
};

struct numa_report {
    sym node; /* SYM_NONE: the number is free */
    uint32_t n_zones;
    bool knows_gpus;      /* some zone has some */
    bool has_fingerprint; /* of the pods that it speaks of: */
    bool is_of_exclusive; /* those that have cores, memory or devices for themselves, not all */
    struct kubelet_config kubelet;
    uint64_t fingerprint;
    sym devices[REPORTED_MOST]; /* extended resources that zones have; SYM_NONE: no more */
    struct zone_report zones[MOST_ZONES];
};

struct numa_reports {
    struct map by_node;
    VEC(struct numa_report) at;
    VEC(uint32_t) free;
    uint32_t strict;     /* reports of kubelets that turn pods away */
    uint64_t generation; /* moves when the first of those comes, and when the last goes */
};

struct cluster;

/* NULL: the node reports nothing, or nothing whole. */
const struct numa_report *numa_reports_find(const struct cluster *c, node_id node);

/* The fingerprint of the pods on the node, of those that such a report speaks of. */
uint64_t numa_reports_fingerprint(const struct cluster *c, node_id node,
                                  const struct numa_report *report);

/* The object came or changed, or (NULL) went. Whether anything is different; the node's hardware
 * and the log follow. Not within a transaction. */
bool numa_reports_put(struct cluster *c, struct str node, const struct node_topology *topology);

/* The zones of the report in place of those that labels tell. */
const struct hardware *numa_reports_join(const struct numa_report *report,
                                         const struct hardware *base, struct hardware_room *room);

void numa_reports_done(struct numa_reports *r);
