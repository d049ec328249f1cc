#pragma once

#include "core/cluster/names.h"
#include "core/cluster/spec.h"
#include "core/cluster/terms.h"

/* The rows of pods, and the shapes they share.
 *
 * A shape is all that scheduling reads of a template: spec, labels, namespace, controlling owner.
 * Pods of one ReplicaSet or Job have one shape, so a row is small. A row stands from the pod's
 * first sight to its end, whether it waits or runs. */

enum owner_kind { OWNER_NONE, OWNER_REPLICATION_CONTROLLER, OWNER_REPLICA_SET, OWNER_STATEFUL_SET };

/* The first members are what a shape is interned by. */
struct shape {
    spec_id spec;
    label_set_id labels;
    sym namespace;
    uint32_t owner_kind;
    sym owner; /* SYM_NONE: no owner that selects pods */

    sym app;                /* the application that its labels name; SYM_NONE: none */
    uint64_t born;          /* tells apart two shapes that had the same number in turn */
    uint64_t tallied_up_to; /* tallies numbered below it have been compared with this shape */
    VEC(uint32_t) tallies;  /* those that count its pods; as often as they count one of them */
    VEC(uint32_t) terms;    /* that its pods have (cluster/terms.h), in the order of their spec */
    VEC(uint32_t) meant_by; /* terms that mean its pods, among those known when the latest was … */
    uint64_t meant_up_to;   /* … this one */
};

enum { SHAPE_KEY_BYTES = 5 * sizeof(uint32_t) };

enum pod_flag {
    POD_BOUND = 1,       /* the API says which node it is on */
    POD_ASSUMED = 2,     /* we placed it, and the API has not said so yet */
    POD_TERMINATING = 4, /* holds its room, but selectors do not count it … */
    POD_SUPPOSED = 8,    /* … except where it comes or goes in a trial only */
    POD_PREEMPTED = 16,  /* it is leaving because a scheduler evicted it */
    POD_GUARDED = 32,    /* it goes last: those that it makes are still to come */
    POD_EVICTED = 64,    /* we have asked for its eviction */
    POD_FIRM = 128,      /* its nomination counts for everybody, whatever their priority */
    POD_ZONE_TOLD = 256, /* it was told which NUMA node it has */
    POD_SLOT = 512,      /* nobody runs it: it holds room (engine/reservation/reservation.h) */

    POD_GOING = POD_TERMINATING | POD_EVICTED,
    POD_KEPT_FLAGS = POD_GUARDED | POD_EVICTED | POD_FIRM | POD_ZONE_TOLD |
                     POD_SLOT, /* which the object does not decide */
};

struct pod_row {
    char *text; /* name, NUL, uid, NUL; owned. NULL: the number is free */
    shape_id shape;
    uint32_t node;          /* where it is, bound or assumed; ID_NONE: nowhere */
    uint32_t before, after; /* on that node's list */
    gpu_mask gpus;          /* which of that node's GPUs it has */
    sym pin;                /* the node it names, taken out of its spec; SYM_NONE: none */
    sym nominated;          /* status.nominatedNodeName; SYM_NONE: none */
    uint32_t flags;
    uint64_t digest;    /* of the revision that its shape was read from; 0: not known */
    uint32_t zone : 8;  /* the NUMA node it has on its node, + 1 (cluster/numa.h); 0: none */
    uint32_t rank : 24; /* among its gang along the tree of domains, + 1; 0: none */
    uint32_t gpu_milli; /* thousandths that it has of each of its GPUs */
    int64_t created_ms;
    int64_t start_ms; /* TIME_NONE: not started */
};

enum { MOST_RANKS = (1 << 24) - 1 };

struct pods {
    VEC(struct pod_row) rows;
    VEC(uint32_t) free;
    uint32_t *slots; /* open addressing by (namespace, name): number + 1; 0: empty */
    uint32_t slot_cap, n;
    uint32_t gone;   /* since the last trim */
    uint64_t secret; /* of where the slots are (base/hash.h) */

    struct intern shape_table;
    VEC(struct shape) shapes;
    uint64_t shapes_born;
};

void pods_done(struct pods *p);

static inline struct pod_row *pods_at(const struct pods *p, pod_id pod)
{
    return &p->rows.at[pod.i];
}

static inline const struct shape *pods_shape(const struct pods *p, pod_id pod)
{
    return &p->shapes.at[p->rows.at[pod.i].shape];
}

/* Has it no node yet? */
static inline bool pod_is_waiting(const struct pod_row *row)
{
    return row->text && row->node == ID_NONE && !(row->flags & POD_BOUND);
}

struct str pod_name(const struct pod_row *row);
struct str pod_uid(const struct pod_row *row);

/* ID_NONE if there is no such pod. */
pod_id pods_find(const struct pods *p, sym namespace, struct str name);

/* A new row, on no node; takes a hold on the shape. The name must be new in its namespace. */
pod_id pods_add(struct pods *p, shape_id shape, struct str name, struct str uid);

/* The pod must be on no node. */
void pods_remove(struct pods *p, pod_id pod);

/* After many pods have gone: gives back the room of the highest numbers that are free; from now on
 * the lowest free one is used first. Returns how many numbers are left. */
uint32_t pods_trim(struct pods *p);

/* It is worth its price only when the highest numbers are free, and not with each pod that goes. */
static inline bool pods_want_trim(const struct pods *p)
{
    return p->free.n > 4096 && p->free.n / 3 > p->n && p->gone > p->rows.n / 8 &&
           !p->rows.at[p->rows.n - 1].text;
}

/* Another shape for the pod (same namespace). */
void pods_reshape(struct pods *p, pod_id pod, shape_id shape);

/* The shape of these parts; nobody holds it yet, but it holds its parts. */
shape_id pods_shape_get(struct pods *p, struct names *names, struct specs *specs,
                        struct shape parts, bool *is_new);

void pods_tidy(struct pods *p, struct names *names, struct specs *specs, struct terms *terms,
               enum tidy how);
