#pragma once

#include "core/base/rng.h"
#include "core/model/object.h"

/* Random objects from small pools, so that names, labels and ports collide all the time.
 *
 * An object is a function of its plan, a handful of numbers: to change one aspect of a node or pod
 * is to draw that number anew and to make the object again. */

enum {
    GEN_NODES = 48,  /* nodes that may exist: n0 … */
    GEN_GHOSTS = 52, /* names of nodes that pods may mention */
    GEN_NAMESPACES = 3,
    GEN_OWNERS = 4,
    GEN_BUDGETS = 2,
    GEN_STORAGE = 30,
    GEN_NEXUS = 20,
    GEN_SERVICES = 4,
    GEN_NOWHERE = UINT32_MAX,
};

struct node_plan {
    uint32_t number;
    uint64_t labels, taints, alloc, images;
    bool is_cordoned;
    bool is_named_as_next; /* its hostname is that of another node */
};

struct pod_plan {
    uint32_t number;
    uint32_t incarnation; /* another one, another uid */
    uint64_t template;    /* pods of one template fall into one class, mostly */
    uint32_t namespace;
    uint64_t labels;   /* 0: the template's */
    uint64_t requests; /* 0: the template's */
    bool is_ungated;   /* its gates are gone, if the template has any */
    bool is_tolerant;  /* one toleration more than the template */
    bool is_deleted;
    bool is_preempted; /* that is why */
    bool is_finished;
    uint32_t node, nominated; /* GEN_NOWHERE: none */
};

bool chance(struct rng *r, uint32_t one_in);

struct str gen_node_name(struct arena *mem, uint32_t number);
struct str gen_namespace_name(uint32_t number);

/* All that the objects point at lives in `mem`. */
struct node *gen_node(struct arena *mem, const struct node_plan *plan);
struct pod *gen_pod(struct arena *mem, const struct pod_plan *plan);

/* The Service, ReplicaSet, StatefulSet or ReplicationController of this number. */
struct object gen_service(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number);
struct object gen_owner(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number);
struct object gen_budget(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number);
struct object gen_namespace(struct arena *mem, struct rng *r, uint32_t namespace);

/* What only our own plugins read (world_nexus.h), by number. */
struct object gen_nexus(struct arena *mem, struct rng *r, uint32_t number);

/* A claim, a volume, a class, a CSINode or an attachment, by number. */
struct object gen_storage(struct arena *mem, struct rng *r, uint32_t number);
