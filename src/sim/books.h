#pragma once

#include "sim/islands.h"
#include "sim/plan.h"
#include "sim/timeline.h"

/* What a simulated world writes down while it goes: how much was in use when, who waited how long,
 * who is still waiting and why. It knows nothing of how decisions are made. */

/* Of all pods of one job class. */
struct class_books {
    uint64_t created, bound, ended;
    uint64_t lost, evicted;   /* with failed nodes; to make room for others */
    uint64_t waiting, failed; /* at the end; failed: those that could not be judged */
    VEC(int64_t) waits_ms;    /* from creation to binding */
};

/* Why pods still wait at the end, the commonest first. */
struct complaint {
    struct str text;
    uint32_t pods;
};

/* Pods that were taken off their nodes, and the work that was undone by it: of the watched
 * resource, times milliseconds. Nobody keeps checkpoints here: who begins anew has lost all that it
 * had done, and so has the rest of a gang that cannot get on without it. */
struct undone {
    uint64_t pods;
    uint64_t gangs; /* that had to begin anew */
    double work;
};

/* What a queue has of a resource at the end, as core/engine/queues.h counts. */
struct queue_use {
    struct str queue, resource; /* live in the books */
    int64_t guaranteed, entitled, used, borrowed, lent;
    int64_t used_mean; /* over time, rounded down */
    bool in_thousandths;
};

struct books {
    const struct plan *plan;
    VEC(struct str) resources; /* cpu, memory, then others as nodes name them */
    uint32_t watched;          /* index of the plan's watched resource */
    struct timeline timeline;
    struct islands islands;
    VEC(struct class_books) classes;
    VEC(struct complaint) complaints; /* texts live in `mem` */
    uint64_t refusals, failures, bind_faults, node_faults;
    struct undone evicted, lost; /* by the scheduler; by nodes that failed */
    bool has_queues;             /* then these are told, too: */
    VEC(struct queue_use) queues;
    uint64_t reclaimed, outranked; /* pods that went for other queues, and for their own */
    int64_t evicted_gpu_ms;        /* what they had done */
    uint64_t gangs_half;           /* gangs that had some pods running, and too few, for a while */
    VEC(double) used_first;        /* of each resource, when all that is there from the start is */
    int64_t first_ms;              /* the first job's arrival */
    int64_t end_ms;
    struct arena mem;
};

/* `plan` must outlive the books. */
void books_init(struct books *b, const struct plan *plan);
void books_done(struct books *b);

/* Columns of the timeline. BOOKS_HELD: of the watched resource, what gangs hold of which too few
 * pods run. BOOKS_WHOLE: islands. BOOKS_EVICTED: pods so far. */
enum {
    BOOKS_WAITING,
    BOOKS_RUNNING,
    BOOKS_HELD,
    BOOKS_WHOLE,
    BOOKS_EVICTED,
    BOOKS_FIRST_RESOURCE,
};

static inline uint32_t books_used(const struct books *b, uint32_t resource)
{
    (void)b;
    return BOOKS_FIRST_RESOURCE + resource;
}

static inline uint32_t books_room(const struct books *b, uint32_t resource)
{
    return books_used(b, b->resources.n + resource);
}

static inline uint32_t books_group_used(const struct books *b, uint32_t group)
{
    return books_room(b, b->resources.n + group);
}

static inline uint32_t books_group_room(const struct books *b, uint32_t group)
{
    return books_group_used(b, b->plan->groups.n + group);
}

static inline uint32_t books_class_used(const struct books *b, uint32_t class)
{
    return books_group_room(b, b->plan->groups.n + class);
}

/* How much of each resource is in a list, in the books' units (cpu in thousandths). */
void books_amounts(const struct books *b, amount_list amounts, int64_t *out);

/* A node's amounts come (sign 1) or go (-1). */
void books_node(struct books *b, int64_t now_ms, uint32_t group, const int64_t *amounts, int sign);

/* A pod's requests come to a group of nodes, or go. */
void books_pod(struct books *b, int64_t now_ms, uint32_t group, uint32_t class,
               const int64_t *amounts, int sign);
