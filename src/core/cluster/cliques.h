#pragma once

#include "core/base/map.h"
#include "core/base/sym.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"

/* GPUs that NVLink joins beyond their node: the racks of which all GPUs are one island.
 *
 * Nodes with the same value of a clique's label (model/topology.h: the first that they have) are a
 * clique. How many of its GPUs are there and idle is kept up to date as pods, nodes and claims come
 * and go, in transactions, too: each node remembers what it was counted with. */

struct cluster;

struct clique {
    sym value; /* of the label; SYM_NONE: the place is free */
    uint32_t nodes, gpus, idle;
};

/* What a node is counted with. */
struct clique_share {
    uint32_t clique; /* its place, + 1; 0: none */
    uint32_t gpus, idle;
};

struct cliques {
    struct map by_value; /* → place */
    VEC(struct clique) at;
    VEC(struct clique_share) of; /* by node */
    uint32_t nodes;              /* that are in one */
    uint32_t most;               /* GPUs of the largest */
};

void cliques_done(struct cliques *q);

/* The clique of the node; SYM_NONE: it is in none. */
sym cliques_value(const struct cliques *q, node_id node);

/* NULL: no node has this value. */
const struct clique *cliques_find(const struct cliques *q, sym value);

/* The labels or the GPUs of the node may be others now; or who has them. */
void cliques_put(struct cluster *c, node_id node);
void cliques_use(struct cluster *c, node_id node);
