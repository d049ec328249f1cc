#pragma once

#include "core/base/map.h"
#include "core/cluster/gpus.h"
#include "core/cluster/images.h"
#include "core/cluster/names.h"
#include "core/cluster/spec.h"
#include "core/model/hardware.h"

/* The columns of nodes. A node's number indexes every column; numbers are used again.
 *
 * A number can stand for a node that is not there: pods name it, its Node object has not come yet
 * or has gone already. Such a ghost holds its pods' requests and is no candidate.
 *
 * What is read together for each row lies together: a row's `room` is one cache line. */

struct cell {
    int64_t alloc, used;
    resource_id resource;
};

/* The resources of a node beyond cpu and memory, sorted by number; those with nothing allocatable
 * and nothing used are left out. */
struct cells {
    uint32_t n;
    struct cell at[];
};

struct room { /* cpu in thousandths, memory in bytes; what is alike side by side (room_pair()) */
    int64_t cpu_alloc, memory_alloc;
    int64_t cpu_used, memory_used;
    int64_t cpu_nonzero, memory_nonzero; /* used, with defaults for containers that ask for none */
    int32_t pods_alloc, pods_used;
    struct cells *cells; /* NULL: none */
};
_Static_assert(sizeof(struct room) == 64, "a row's room is one cache line");

struct used_port {
    struct host_port port;
    uint32_t uses;
};

struct used_ports { /* sorted by port */
    uint32_t n;
    struct used_port at[];
};

struct node_images {
    sym *at; /* sorted */
    uint32_t n;
};

enum node_flag {
    NODE_CLAIMED = 1, /* the number is in use */
    NODE_PRESENT = 2, /* its Node object is there: it is a candidate */
    NODE_CORDONED = 4,
    NODE_NOMINATED = 8, /* some pending pod is nominated to it */
};

struct nodes {
    uint32_t n, cap; /* numbers ever handed out */
    uint32_t present;
    VEC(uint32_t) free;
    struct map by_name;

    struct room *room;
    uint8_t *flags;
    sym *name, *hostname;
    label_set_id *labels;
    label_set_id *features; /* that it declares, as keys */
    taint_set_id *taints;
    hardware_id *labelled; /* hardware as the node's labels say; 0: nothing is said */
    hardware_id *hardware; /* the same with what drivers say (gpu_facts.h); 0: nothing is known */
    uint64_t *tie_order;   /* among equal scores the lowest wins */
    uint32_t *first_pod;
    struct node_images *images;
    struct used_ports **ports;
    struct node_gpus **gpus; /* NULL: none there and none taken */

    struct intern hardware_table; /* number - 1 */
    struct map by_hostname;       /* how many present nodes have it */
    uint32_t shared_hostnames;    /* hostnames that more than one present node has */
    struct images known_images;
};

/* What a Node object says, in the cluster's terms. Lists are borrowed. */
struct node_row {
    bool is_present, is_cordoned;
    sym hostname;        /* SYM_NONE: no such label */
    label_set_id labels; /* hostname taken out */
    label_set_id features;
    taint_set_id taints;
    hardware_id hardware;          /* by its labels, … */
    const struct misread *misread; /* … of which these mean nothing; their texts are the object's */
    uint32_t n_misread;
    int64_t cpu_milli, memory;
    int32_t pods;
    const struct need *others; /* sorted; no zero amounts */
    uint32_t n_others;
    const struct node_image {
        sym name;
        int64_t size_bytes;
    } * images; /* sorted by name, distinct */
    uint32_t n_images;
};

/* The row of a node that is not there. */
#define NODE_ROW_ABSENT ((struct node_row){.hostname = SYM_NONE})

void nodes_done(struct nodes *n);

static inline bool nodes_is_present(const struct nodes *n, node_id node)
{
    return n->flags[node.i] & NODE_PRESENT;
}

/* ID_NONE if no number stands for such a node. */
static inline node_id nodes_find(const struct nodes *n, sym name)
{
    return (node_id){map_find(&n->by_name, name)};
}

/* The number for this name, a ghost's if it is new. */
node_id nodes_claim(struct nodes *n, struct names *names, sym name, uint64_t tie_order);

/* Gives the number back. It must be a ghost without pods. */
void nodes_release(struct nodes *n, struct names *names, node_id node);

/* The node's row as a value; lists live in `mem`. */
struct node_row nodes_get(const struct nodes *n, node_id node, struct arena *mem);

/* Writes what differs; returns the columns that did (enum column; 0: none). */
uint32_t nodes_put(struct nodes *n, struct names *names, struct intern *resources, node_id node,
                   const struct node_row *row);

/* What it is made of, all told; false: as before. */
bool nodes_put_hardware(struct nodes *n, node_id node, hardware_id hardware);

/* The number of such hardware; nobody holds it yet. */
hardware_id nodes_hardware_get(struct nodes *n, const struct hardware *hardware);

extern const struct hardware no_hardware;

static inline const struct hardware *nodes_hardware_at(const struct nodes *n, hardware_id id)
{
    return id ? (const struct hardware *)intern_bytes(&n->hardware_table, id - 1).p : &no_hardware;
}

static inline const struct hardware *nodes_hardware(const struct nodes *n, node_id node)
{
    return nodes_hardware_at(n, n->hardware[node.i]);
}

/* Frees what nobody holds. */
void nodes_tidy(struct nodes *n, enum tidy how);

/* Adds `sign` × what the spec holds to the node's sums. */
void nodes_charge(struct nodes *n, node_id node, const struct spec *spec, int sign);

/* The first of these cells whose resource has this number or a larger one. Few of them are gone
 * through in order; many, on a node whose pods name what it does not have, are halved first. */
static inline uint32_t cells_from(const struct cells *cells, resource_id resource)
{
    enum { FEW = 8 };
    uint32_t from = 0, to = cells ? cells->n : 0;
    while (UNLIKELY(to - from > FEW)) {
        uint32_t middle = from + (to - from) / 2;
        if (cells->at[middle].resource < resource)
            from = middle + 1;
        else
            to = middle;
    }
    while (from < to && cells->at[from].resource < resource)
        from++;
    return from;
}

/* NULL if the node neither has nor uses any of it. */
static inline const struct cell *nodes_cell(const struct nodes *n, node_id node,
                                            resource_id resource)
{
    const struct cells *cells = n->room[node.i].cells;
    uint32_t i = cells_from(cells, resource);
    return cells && i < cells->n && cells->at[i].resource == resource ? &cells->at[i] : NULL;
}

/* Would one of these ports clash with one in use on the node? */
bool nodes_port_taken(const struct nodes *n, node_id node, const struct host_port *ports,
                      uint32_t count, sym any_ip);

bool nodes_has_image(const struct nodes *n, node_id node, sym image);
