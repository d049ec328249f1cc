#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* What queues (Queue objects, plugin FairQueues) say for themselves: who had a turn and why it was
 * his, what keeps a unit out, and what each queue has. As long as no Queue object exists and no
 * profile asks for namespaceFairness all of this is empty.
 *
 * A unit is called namespace/name of its gang, or of the pod alone. Amounts are integers: cpu and
 * accelerators in thousandths, memory and storage in bytes, anything else as it is counted. */

struct engine;
struct effects;

/* What keeps a unit out. A1 to A7 keep it out whatever room there is. */
enum queue_rule {
    QUEUE_RULE_NONE, /* nothing: it was not tried yet */
    QUEUE_RULE_A1,   /* the queue is missing, is no leaf, does not take the namespace, is stopped */
    QUEUE_RULE_A2,   /* a limit, or what is kept for others */
    QUEUE_RULE_A3,   /* the number of jobs that may run */
    QUEUE_RULE_A4,   /* a limit of a part or of the namespace */
    QUEUE_RULE_A5,   /* the budget is spent */
    QUEUE_RULE_A6,   /* it may not be evicted, so it may not borrow */
    QUEUE_RULE_A7,   /* it waits for another job */
    QUEUE_RULE_O10,  /* it may not pass the head of its line */
    QUEUE_RULE_ROOM, /* no node, or too few nodes, have room */
};

/* "A1" … "A7", "O10", "room"; "": none. */
struct str queue_rule_name(enum queue_rule rule);

/* Pods of one unit that go for another. */
struct queue_victim {
    struct str unit, queue;
    uint32_t pods;
    enum queue_eviction_rule { QUEUE_BY_R4, QUEUE_BY_R5, QUEUE_BY_O1 } rule;
};

/* A turn in which something started: effects.turns has them in the order in which they were had. A
 * turn that evicts is told when its unit starts, as it was when it was chosen. */
struct queue_turn {
    struct str unit, queue; /* the leaf, without its part */
    bool is_beyond;         /* one pod beyond its gang's minimum */
    bool is_first;          /* by O1: it has neither class nor share */
    uint32_t class;         /* 0: within the guarantee; 1: beyond it; 2: a soft budget is spent */
    uint64_t share;         /* in parts per billion */
    LIST(struct queue_victim) victims; /* by unit */
};

/* What the unit of the pod would be told now, found anew; false: no minimum of it waits, or its
 * profile has no part in queues. */
struct queue_refusal {
    enum queue_rule rule;
    struct str at; /* the queue that refuses, queue/part, or root; "": none */
    struct str unit, queue;
    struct str text; /* the words for it; "" of a refusal for room */
};
bool engine_queue_refusal(struct engine *k, struct str namespace, struct str pod, struct arena *mem,
                          struct queue_refusal *out);

/* One queue on the way from the top to a unit that waits, with that unit as its head. */
struct queue_level {
    struct str queue; /* of a part: queue/value */
    uint32_t class, weight;
    uint64_t share; /* in parts per billion */
    bool is_first;  /* of a rival: its head has its turn before the unit */
};

/* Where the unit of a pod stands among those that wait. */
struct queue_spot {
    struct queue_refusal why; /* what it would be told now */
    struct str path;          /* ml/team-a */
    LIST(struct queue_level) levels;
    struct queue_level *rivals; /* of each level, the sibling that is next; no queue: none */
    uint32_t position, size;    /* from 1, of all that wait */
    uint32_t leaf_position, leaf_size;
};

/* False: it does not wait in a queue. */
bool engine_queue_spot(struct engine *k, struct str namespace, struct str pod, struct arena *mem,
                       struct queue_spot *out);

/* Where the pod's unit stands, whether it waits or runs; false: in no queue. */
struct queue_standing {
    struct str unit, queue; /* the leaf, without its part */
};
bool engine_queue_of(const struct engine *k, struct str namespace, struct str pod,
                     struct arena *mem, struct queue_standing *out);

/* One resource of one queue. */
struct queue_amounts {
    struct str resource;
    int64_t guaranteed, entitled, used, borrowed, lent, waiting;
    int64_t max;         /* -1: no limit */
    __int128 used_time;  /* used, summed over time in milliseconds */
    bool in_thousandths; /* cpu and accelerators: amounts are thousandths */
};

struct queue_report {
    struct str name, parent; /* parent "": it is at the top */
    uint32_t weight, depth;
    struct str state;   /* Open, Held, Draining, ParentMissing, ParentCycle, Invalid */
    struct str message; /* what is wrong with it */
    bool is_missing;    /* its object is gone, and pods of it still run */
    uint64_t share;     /* O4 over what is guaranteed to anybody, in parts per billion */
    uint32_t running, waiting, blocked; /* jobs */
    LIST(struct queue_amounts) amounts; /* by name of the resource */
};

struct queue_reports {
    LIST(struct queue_report) at;
};

/* Every queue as it is now, without parts, parents before children; all texts and lists live in
 * `mem`. */
void engine_queue_reports(struct engine *k, int64_t now_ms, struct arena *mem,
                          struct queue_reports *out);

/* Does anything depend on queues now? */
bool engine_has_queues(const struct engine *k);
