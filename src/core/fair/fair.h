#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* Queues: which of them comes next, what each may take, and what is whose. Integers only.
 *
 * A tree of queues. Pods are charged to its leaves (or to a leaf's *parts*: one per namespace, user
 * or label) and counted all the way up. A queue is guaranteed amounts of resources; guarantees are
 * backed by what the cluster has (`effective`). Units wait in *lanes*, one for each kind of unit in
 * each leaf, and a tournament says whose turn it is: at each queue the child with the least key
 * wins, each child with the head of its own tournament. Letters with numbers (Q11, O4, A2) are the
 * rules of docs/design/065-queues.md.
 *
 * Nothing here knows pods, nodes or text for people: amounts, numbers of units, times.
 *
 *   fair.h    the tree, counting, lanes and turns, keys, admission
 *   cover.h   what guarantees pay for, who may be evicted for what, and that it ends
 *   ledger.h  who borrows and lends how much, and what each is entitled to
 *   past.h    time: usage that fades, budgets
 *
 * What changes the tree or the capacity is noted; all is worked out anew, in O(queues * resources),
 * by the next question. All else is kept up to date as it happens: counting costs O(depth *
 * resources of the ask), a turn O(depth * log children) comparisons, and neither allocates. */

struct arena;
struct fair;

#define FAIR_NONE     UINT32_MAX
#define FAIR_ROOT     0         /* above all queues; its effective guarantee is the capacity */
#define FAIR_NO_LIMIT INT64_MAX /* a resource without `max` */

/* Amounts by resource, in order of the resources' numbers, each at most once, none negative. In
 * thousandths for cpu and accelerators, else in bytes or whole (Q9). An ask has no zeros. */
struct fair_amount {
    uint32_t resource;
    int64_t amount;
};
struct fair_ask {
    const struct fair_amount *at;
    uint32_t n;
};

/* `order` tells which of two units of one leaf goes first (O6; for two that are first of all: O1):
 * strict, total, and of units that stand nothing changes but between fair_leave and fair_enter. */
struct fair_order {
    bool (*before)(const void *ctx, uint32_t a, uint32_t b);
    const void *ctx;
};

struct fair *fair_new(const struct fair_order *order);
void fair_free(struct fair *f);

/* --- resources --- */

/* The number of a resource, made when it is new; the first has 0. */
uint32_t fair_resource(struct fair *f, struct str name);
uint32_t fair_find_resource(const struct fair *f, struct str name); /* FAIR_NONE: it has none */
uint32_t fair_n_resources(const struct fair *f);
struct str fair_resource_name(const struct fair *f, uint32_t resource);

/* Q8. Nothing if it is what it was. */
void fair_set_capacity(struct fair *f, uint32_t resource, int64_t amount);
int64_t fair_capacity(const struct fair *f, uint32_t resource);

/* --- the tree (Q1, Q6, Q10-Q13, 2.7) --- */

enum fair_stop { FAIR_OPEN, FAIR_HOLD, FAIR_DRAIN };

/* A budget (2.6): `limit` in amount * ms, as Q9 counts; calendar windows are UTC. */
enum fair_window { FAIR_DAY, FAIR_WEEK, FAIR_MONTH, FAIR_PERIOD };
struct fair_budget {
    uint32_t resource;
    enum fair_window window;
    int64_t period_ms; /* of FAIR_PERIOD: multiples of it since the epoch */
    __int128 limit;
    bool is_hard;
};

/* What a Queue object says. Read during the call only. */
struct fair_spec {
    struct str parent;                     /* empty: a top-level queue */
    struct fair_ask guaranteed, max, lend; /* zeros count in `max` and `lend` */
    uint32_t weight;
    int64_t max_jobs;   /* -1: no limit */
    int64_t min_run_ms; /* -1: inherited */
    enum fair_stop stop;
    bool is_split; /* its units and pods are in parts */
    struct fair_ask each_max;
    int64_t each_max_jobs; /* -1: no limit */
    const struct fair_budget *budgets;
    uint32_t n_budgets;
    struct str invalid; /* not empty: the object cannot be read; why */
};
#define FAIR_SPEC_PLAIN                                                                            \
    ((struct fair_spec){.weight = 1, .max_jobs = -1, .min_run_ms = -1, .each_max_jobs = -1})

/* Queues have dense numbers, which stay until fair_sweep() finds that a queue is neither an object
 * nor used, waited in or named as charged. */

/* The Queue object came or changed. */
uint32_t fair_put(struct fair *f, struct str name, const struct fair_spec *spec);

/* The object is gone: a phantom leaf goes on under the same parent while it is used (2.7). */
void fair_remove(struct fair *f, struct str name);

/* The queue of that name; where there is none, a phantom without a parent, so that who names it has
 * where to wait. fair_find(): FAIR_NONE if there is none. */
uint32_t fair_get(struct fair *f, struct str name);
uint32_t fair_find(const struct fair *f, struct str name);

/* Q6: the part of a split leaf for a value (cut to 63 bytes), made by the first; `*` if there are
 * 10,000 already. Of a queue that is not split: itself. */
uint32_t fair_part(struct fair *f, uint32_t leaf, struct str value);

/* Forgets parts and phantoms that nobody uses: at quiet moments. `gone` (or NULL) hears of each.
 * fair_n_made(): so many parts and phantoms were made since the last sweep. */
uint32_t fair_n_made(const struct fair *f);
void fair_sweep(struct fair *f, void (*gone)(void *ctx, uint32_t queue), void *ctx);

enum fair_state {
    FAIR_ACTIVE,
    FAIR_PHANTOM, /* no object of that name */
    FAIR_PARENT_MISSING,
    FAIR_PARENT_CYCLE,
    FAIR_INVALID,
    FAIR_TOO_DEEP, /* deeper than FAIR_DEPTH_MOST */
    FAIR_TOO_MANY, /* more than FAIR_QUEUES_MOST objects: the last by name */
};
enum { FAIR_DEPTH_MOST = 8, FAIR_QUEUES_MOST = 10000, FAIR_PARTS_MOST = 10000 };

/* Of the queue itself, not of its ancestors. A part's is its leaf's. */
enum fair_state fair_state(struct fair *f, uint32_t queue);

/* Why it is not active: `parent y does not exist`, `a -> b -> a`, what fair_spec.invalid said. */
struct str fair_state_text(struct fair *f, uint32_t queue, struct arena *mem);

uint32_t fair_n_queues(const struct fair *f); /* numbers are below it; some may be free */
bool fair_is_queue(const struct fair *f, uint32_t queue);
bool fair_is_part(const struct fair *f, uint32_t queue);
struct str fair_name(const struct fair *f, uint32_t queue); /* of a part: queue/value */
uint32_t fair_parent(struct fair *f, uint32_t queue);       /* of the root: FAIR_NONE */
uint32_t fair_leaf(const struct fair *f, uint32_t queue);   /* of a part its queue, else itself */
/* Children in no order, parts among them; they live until the tree changes. */
const uint32_t *fair_children(struct fair *f, uint32_t queue, uint32_t *n);
uint32_t fair_depth(struct fair *f, uint32_t queue);          /* of the root 0 */
uint32_t fair_common(struct fair *f, uint32_t a, uint32_t b); /* the lowest that has both */
int64_t fair_min_run_ms(struct fair *f, uint32_t queue);      /* -1: nobody says */
bool fair_is_stopped(struct fair *f, uint32_t queue, enum fair_stop stop); /* it or an ancestor */

/* --- counting (Q7) --- */

/* Pods are charged (+1) to a leaf or part, or are gone from it (-1): exact in any order, so a trial
 * counts what it places and takes it back. */
void fair_count(struct fair *f, uint32_t queue, struct fair_ask ask, int sign);
void fair_count_job(struct fair *f, uint32_t queue, int sign); /* A3: running jobs */

bool fair_limits_jobs(struct fair *f); /* does any queue? */

/* A1 aside, a namespace with a `max` of its own (A4) counts beside the tree: its number, for
 * fair_count() and struct fair_request. It stays until fair_free(). */
uint32_t fair_namespace(struct fair *f, struct str name, struct fair_ask max);

int64_t fair_used(struct fair *f, uint32_t queue, uint32_t resource);
int64_t fair_waiting(struct fair *f, uint32_t queue, uint32_t resource);    /* L4 */
int64_t fair_effective(struct fair *f, uint32_t queue, uint32_t resource);  /* E */
int64_t fair_guaranteed(struct fair *f, uint32_t queue, uint32_t resource); /* Q10: asked for */
int64_t fair_max(struct fair *f, uint32_t queue, uint32_t resource);
int64_t fair_charge(struct fair *f, uint32_t queue, uint32_t resource); /* Q16 */
uint32_t fair_jobs(struct fair *f, uint32_t queue);
uint32_t fair_n_waiting(struct fair *f, uint32_t queue);    /* units in lanes */
bool fair_is_guaranteed(struct fair *f, uint32_t resource); /* in gamma (Q13) */

/* A2b: what may still be charged there: the least of max - used from the queue up; `at`: whose. */
int64_t fair_room(struct fair *f, uint32_t queue, uint32_t resource, uint32_t *at);

/* --- who waits, and who is next (O1-O6) --- */

/* The unit waits in the queue. `kind`: units of one queue and kind ask for the same, and what
 * refuses one refuses all of them; a minimum and a pod beyond it are of two kinds. `is_first`: O1.
 * Units are small numbers: 16 bytes are kept for each up to the largest. */
void fair_enter(struct fair *f, uint32_t unit, uint32_t queue, uint64_t kind, struct fair_ask ask,
                bool is_first);
/* So much more waits behind the unit, which is alone in its lane: it counts as waiting (L4) until
 * the unit leaves, and asks for nothing yet. */
void fair_trail(struct fair *f, uint32_t unit, struct fair_ask behind);
void fair_leave(struct fair *f, uint32_t unit); /* nothing if it does not stand */
bool fair_stands(const struct fair *f, uint32_t unit);
uint32_t fair_queue_of(const struct fair *f, uint32_t unit); /* FAIR_NONE: it does not stand */
struct fair_ask fair_ask_of(const struct fair *f,
                            uint32_t unit); /* as it entered; until it leaves */
void fair_rename(struct fair *f, uint32_t unit, uint32_t to);
void fair_trim(struct fair *f); /* forgets the largest numbers, as far as none stands */

/* The unit whose turn it is among those that are not out; FAIR_NONE: nobody. */
uint32_t fair_next(struct fair *f);

/* Who was refused is out: until the next round, ... */
void fair_out(struct fair *f, uint32_t unit);
/* ... with all of its kind in its queue, ... */
void fair_out_kind(struct fair *f, uint32_t unit);
/* ... or in every queue: no room for any of them; who comes during the round as well. */
void fair_out_everywhere(struct fair *f, uint32_t unit);
/* With all of its kind in its queue, over rounds, until fair_wake(): for a refusal by A at `at`. */
void fair_hold(struct fair *f, uint32_t unit, uint32_t at);

void fair_new_round(struct fair *f);
/* Something happened in the queue (or namespace) that may help: what is held at it or at an ancestor
 * is in again. A change of the tree or the capacity, and a budget's, do this by themselves. */
void fair_wake(struct fair *f, uint32_t queue);
bool fair_is_out(const struct fair *f, uint32_t unit);

/* O2 with these two as the only heads: would `a` have its turn before `b`? */
bool fair_precedes(struct fair *f, uint32_t a, uint32_t b);

/* O3. Class 0: by fill; else by share / weight. */
struct fair_key {
    uint32_t class;
    uint64_t share, fill; /* parts per billion */
};
struct fair_key fair_key(struct fair *f, uint32_t queue, struct fair_ask ask);
uint32_t fair_weight(struct fair *f, uint32_t queue);
bool fair_within(struct fair *f, uint32_t queue, struct fair_ask ask); /* Q14 */
uint64_t fair_share(struct fair *f,
                    uint32_t queue); /* status: over gamma, or all if that is empty */

/* Keys compared since the beginning. */
uint64_t fair_comparisons(const struct fair *f);

/* --- admission (2.4) --- */

enum fair_rule { FAIR_A1 = 1, FAIR_A2, FAIR_A3, FAIR_A4, FAIR_A5, FAIR_A6 };
enum fair_a1 {
    FAIR_IS_MISSING,
    FAIR_HAS_CHILDREN,
    FAIR_TAKES_NOT, /* the namespace */
    FAIR_IS_HELD,
    FAIR_IS_DRAINED,
    FAIR_IS_NOT_ACTIVE,
};
struct fair_request {
    uint32_t queue;     /* leaf or part */
    uint32_t namespace; /* of fair_namespace(); FAIR_NONE: it has no max */
    struct fair_ask ask;
    bool is_taken;       /* the queue takes its namespace */
    bool is_new_job;     /* A3: a minimum of a job that does not run yet */
    bool is_preemptible; /* A6 is for minimums that are not */
};

/* What refuses a request, in numbers. */
struct fair_refusal {
    enum fair_rule rule;
    uint32_t at;       /* queue, part (A4), namespace (A4) or root */
    enum fair_a1 what; /* of A1 */
    uint32_t resource; /* FAIR_NONE: jobs are too many (A3, A4) */
    int64_t limit, used, kept, wanted;
    uint32_t budget; /* A5: which of the queue's */
};

/* May it start, whatever room there is? `why`, if not NULL, is set where it may not. */
bool fair_admits(struct fair *f, const struct fair_request *r, struct fair_refusal *why);

/* The queue below this one for which most of the resource is kept (of equals the first by name);
 * FAIR_NONE: none is. For the words of A2: it looks at every queue. */
uint32_t fair_kept_for(struct fair *f, uint32_t queue, uint32_t resource);

/* Moves with whatever decides who may go for whom, but for what is counted: the tree, capacity,
 * budgets and, where reclaim rests on it, who waits. */
uint64_t fair_epoch(struct fair *f);

/* --- the truth --- */

/* Recomputes everything from what was put, counted and entered, and asserts that it is the same. */
void fair_check(struct fair *f);
