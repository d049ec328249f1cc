#pragma once

#include "core/base/heap.h"
#include "core/base/intern.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/fair/cover.h"
#include "core/fair/past.h"

/* What the files of this folder share.
 *
 * Two floors of being up to date. The tree is *settled* (shape.c) when parents, states, guarantees
 * and sums are those of the specs and the capacity. A queue is *fresh* (turns.c) when its head, key
 * and place among its siblings are those of what waits and is used; those that are not are noted by
 * depth, and freshened from the deepest up by who asks for the next turn.
 *
 * A queue stands in its parent's heap exactly while it has a head, and the head of each queue that
 * stands in a heap is a unit that stands in a lane: so what is compared never is out of date in a
 * way that the heap does not know of. */

enum { RESOURCES_AT_ONCE = 4 };

/* Of a queue and a resource. */
struct cell {
    int64_t used, waiting; /* of the subtree */
    int64_t effective;     /* E */
    int64_t max;           /* FAIR_NO_LIMIT: none */
    int64_t kept;          /* Q15 */
    int64_t below;         /* the queue's own use + the children's charges */
};

/* Of a queue and a resource, over time. */
struct past {
    __int128 sum; /* used * ms, until last_ms */
    int64_t last_ms;
    uint64_t h; /* O7, in 65536ths */
};

struct account {
    struct fair_budget budget;
    __int128 spent; /* in the window that ends at until_ms, until last_ms */
    int64_t last_ms, from_ms, until_ms;
    bool is_spent;
};

enum queue_kind {
    QUEUE_FREE,
    QUEUE_ROOT,
    QUEUE_OBJECT,
    QUEUE_PHANTOM,
    QUEUE_PART,
    QUEUE_NAMESPACE
};

/* What a spec says about amounts; owned: one block. */
struct limits {
    struct fair_ask guaranteed, max, lend, each_max;
    struct fair_amount *block;
};

struct queue {
    struct fair *f;
    char *name, *parent_name, *invalid; /* owned */
    uint32_t name_n;
    enum queue_kind kind;
    enum fair_state state;
    enum fair_stop stop;
    bool is_split;
    bool is_spent; /* a soft budget of the queue is */
    bool is_last;  /* a soft budget of the queue or an ancestor is: class 2 */
    bool is_stale; /* not fresh */
    uint32_t weight;
    int64_t max_jobs, each_max_jobs, min_run_ms;
    struct limits limits;

    uint32_t parent, depth;
    uint32_t slot; /* among the parent's children */
    VEC(uint32_t) children;
    uint32_t n_parts;

    struct cell *cells; /* by resource */
    struct past *past;  /* by resource; NULL: of a namespace */
    __int128 *sums;     /* by resource: at the last tick; NULL: usage does not fade */
    VEC(struct account) accounts;
    uint32_t jobs, n_waiting; /* of the subtree */

    VEC(uint32_t) lanes;   /* by place; FAIR_NONE: the place is free */
    VEC(uint32_t) places;  /* free ones */
    struct heap lane_heap; /* of places: lanes that have somebody to offer */
    struct heap heap;      /* of slots: children that have */
    uint32_t head;         /* unit; FAIR_NONE: nobody */
    struct fair_key key;   /* for that head */
    VEC(uint32_t) held;    /* lanes that wait for something to happen here */
};

enum lane_state { LANE_IN, LANE_OUT, LANE_HELD };

/* The units of one kind in one queue. Those that are not out are a pile (pile.c). */
struct lane {
    uint32_t queue; /* FAIR_NONE: the lane is free */
    uint32_t kind;
    uint32_t ask;          /* interned */
    uint32_t behind;       /* likewise: what waits behind its only unit; FAIR_NONE: nothing */
    uint32_t top;          /* the first of the pile; FAIR_NONE: it is empty */
    uint32_t n;            /* units, those that are out too */
    uint32_t place;        /* in the queue's lanes */
    uint32_t next, before; /* lanes of this kind */
    uint32_t list;         /* its index in the list of what is out, or held */
    uint32_t held_at;
    enum lane_state state;
    bool is_first;
};

struct kind {
    uint64_t name;
    uint32_t lanes; /* the first; FAIR_NONE: the kind is free */
    uint32_t list;  /* its index among those that are out */
    bool is_out;
};

/* A unit that stands: in its lane's pile, or out. */
struct place_of_unit {
    uint32_t lane; /* FAIR_NONE: it does not stand */
    uint32_t child, next, before;
};
#define UNIT_IS_OUT (UINT32_MAX - 1) /* as `child`; `before` is its index in the list of those */

struct fair {
    struct fair_order order;
    VEC(struct queue *) queues;
    VEC(uint32_t) free_queues;
    VEC(uint32_t) top_down; /* the tree as it is settled, parents first */
    struct map by_name;     /* of queues and namespaces */
    uint32_t n_objects;

    struct intern resources;
    uint32_t stride;         /* cells a queue has room for */
    VEC(int64_t) capacity;   /* by resource */
    VEC(bool) is_guaranteed; /* gamma, by resource */
    bool is_gamma_empty, limits_jobs;
    bool is_tree_stale, is_capacity_stale, is_entitled_stale;
    VEC(int64_t) settled;  /* the capacity of the last settling */
    VEC(int64_t) asked;    /* Q10: by queue and resource (stride), of the last settling */
    VEC(int64_t) demand;   /* L3: of the last time anybody asked, */
    VEC(int64_t) entitled; /* likewise */

    struct intern asks;
    VEC(struct fair_amount) ask; /* scratch */
    VEC(struct lane) lanes;
    VEC(uint32_t) free_lanes;
    VEC(struct kind) kinds;
    VEC(uint32_t) free_kinds;
    struct map kind_of; /* name -> kind */
    struct map lane_of; /* queue, kind, is_first -> lane */
    VEC(struct place_of_unit) units;
    VEC(uint32_t) out_units, out_lanes, out_kinds;
    struct heap firsts;                       /* lanes of units that O1 puts first of all */
    VEC(uint32_t) stale[FAIR_DEPTH_MOST + 2]; /* queues that are not fresh, by depth */
    uint64_t comparisons, epoch;
    uint32_t n_made;    /* parts and phantoms, since the last sweep */
    VEC(int64_t) rises; /* scratch of admission */

    enum fair_reclaim reclaim;
    bool has_begun; /* now_ms is known */
    int64_t now_ms;
    int64_t half_life_ms, tick_ms; /* 0: usage does not fade */
    int64_t due_ms;                /* no budget changes before */
    VEC(uint32_t) budgeted;        /* queues with budgets */
};

static inline struct queue *queue_at(const struct fair *f, uint32_t queue)
{
    assert(queue < f->queues.n && f->queues.at[queue]->kind != QUEUE_FREE);
    return f->queues.at[queue];
}

static inline int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline struct fair_ask ask_of_lane(const struct fair *f, const struct lane *l)
{
    struct str bytes = intern_bytes(&f->asks, l->ask);
    return (struct fair_ask){(const struct fair_amount *)(const void *)bytes.p,
                             (uint32_t)(bytes.n / sizeof(struct fair_amount))};
}

static inline struct fair_ask behind_lane(const struct fair *f, const struct lane *l)
{
    if (LIKELY(l->behind == FAIR_NONE))
        return (struct fair_ask){0};
    struct str bytes = intern_bytes(&f->asks, l->behind);
    return (struct fair_ask){(const struct fair_amount *)(const void *)bytes.p,
                             (uint32_t)(bytes.n / sizeof(struct fair_amount))};
}

/* count.c */
int64_t ask_amount(struct fair_ask ask, uint32_t resource, int64_t otherwise);

/* tree.c */
bool is_in_tree(const struct queue *q); /* not of a namespace */

/* shape.c: the tree as specs and capacity make it; cheap if nothing changed */
void shape_settle_slowly(struct fair *f);
static inline void settle(struct fair *f)
{
    if (UNLIKELY(f->is_tree_stale || f->is_capacity_stale))
        shape_settle_slowly(f);
}
void shape_add_child(struct fair *f, uint32_t parent, uint32_t queue); /* a new one */
void shape_remove_child(struct fair *f, uint32_t queue);               /* nobody uses it */
static inline int64_t charge_of(const struct cell *c)                  /* Q16 */
{
    return MAX(c->below, c->kept);
}

/* lanes.c */
void lanes_done(struct fair *f);
void lanes_wake_all(struct fair *f);

/* pile.c: a heap of units that lives in their links */
void pile_add(struct fair *f, struct lane *l, uint32_t unit);
void pile_remove(struct fair *f, struct lane *l, uint32_t unit);
void pile_rename(struct fair *f, struct lane *l, uint32_t unit, uint32_t to);

/* turns.c */
void turns_begin(struct queue *q); /* of a new queue: its heaps */
void turns_begin_firsts(struct fair *f);
void turns_stale(struct fair *f, uint32_t q); /* its key or head may be another */
void turns_stale_path(struct fair *f, uint32_t q);
void turns_stale_all(struct fair *f);
void turns_freshen(struct fair *f);
void turns_forget(struct fair *f); /* the shape changes: no queue stands in a heap */
void turns_lose_head(struct fair *f, uint32_t unit); /* it is about to leave */
void turns_rename(struct fair *f, uint32_t unit, uint32_t to);
void turns_place_lane(struct fair *f, uint32_t lane); /* its top is another, or it is out or in */

/* keys.c */
struct fair_key key_of_queue(const struct fair *f, const struct queue *q, struct fair_ask ask);
/* Less than 0: the first goes first; 0: their heads decide. */
int key_compare(const struct queue *a, const struct fair_key *x, const struct queue *b,
                const struct fair_key *y);
uint64_t share_of(const struct fair *f, const struct queue *q, struct fair_ask ask);
int64_t guarantee_of(const struct queue *q, uint32_t resource); /* E, or 0: B2 */

/* past.c */
void past_note_all(struct fair *f);                                 /* before the shape changes */
void past_note(struct fair *f, struct queue *q, uint32_t resource); /* before `used` changes */
void past_grow(struct fair *f, struct queue *q, uint32_t from, uint32_t to);
int64_t past_counted(const struct queue *q, uint32_t resource); /* O7 */

/* budget.c */
void budget_begin(struct account *a, int64_t now_ms);
void budget_note(struct fair *f, struct queue *q, uint32_t resource);
void budget_look(struct fair *f);   /* what is spent by now */
void budget_settle(struct fair *f); /* of the tree as it is now; and who is last for it */
void budget_keep(struct fair *f, struct queue *q, const struct fair_budget *budgets, uint32_t n);
