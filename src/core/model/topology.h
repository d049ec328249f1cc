#pragma once

#include "core/base/str.h"

/* Node labels that say where in the network a node is, from the tightest domains to the widest:
 * NVLink cliques, the nodes of one switch or fabric, racks, blocks of racks, zones. The names are
 * those of GPU feature discovery, topograph, the clouds, Kueue's documents, and our own. */

enum topology_kind {
    TOPOLOGY_CLIQUE,
    TOPOLOGY_FABRIC,
    TOPOLOGY_RACK,
    TOPOLOGY_BLOCK,
    TOPOLOGY_ZONE,
    TOPOLOGY_OTHER, /* a label that is not in the table */
};

struct topology_key {
    struct str key;
    enum topology_kind kind;
    bool is_local; /* a value names the domain only within the next wider one, as "rack-3" does */
};

/* The tightest first. */
extern const struct topology_key topology_keys[];
extern const uint32_t n_topology_keys;

/* What is known of the label; NULL: nothing. */
const struct topology_key *topology_find(struct str key);
