#pragma once

#include "core/model/meta.h"

/* What runs on a node says of its NUMA nodes: NodeResourceTopology of topology.node.k8s.io, named
 * as the node. Node feature discovery's topology updater and others write it; we read it. */

struct zone_cost {
    struct str name; /* of a zone */
    int64_t value;   /* 10: itself */
};

struct zone_resource {
    struct str name;
    struct quantity capacity, allocatable, available;
};

struct topology_zone {
    struct str name, type; /* NUMA nodes: node-<id>, Node */
    LIST(struct zone_cost) costs;
    LIST(struct zone_resource) resources;
};

struct topology_attribute {
    struct str name, value;
};

struct node_topology {
    struct meta meta;
    LIST(struct topology_attribute) attributes;
    str_list policies; /* topologyPolicies: the kubelet's, in an older way; the first counts */
    LIST(struct topology_zone) zones;
};

/* "" if it has no such attribute. */
struct str node_topology_attribute(const struct node_topology *t, struct str name);

/* The number of a NUMA node; -1 of another zone. */
int64_t topology_zone_id(const struct topology_zone *zone);
