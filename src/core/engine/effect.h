#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/engine/queues.h"
#include "core/model/extender.h"
#include "core/model/object.h"
#include "core/model/patch.h"

/* What the engine wants done in the world, as data. Each effect is emitted once; how it ended comes
 * back through engine_settle(), and what it became as a change of an object. */

typedef uint64_t effect_id;

enum effect_kind {
    EFFECT_BIND,     /* bind the pod to the node; settle with the outcome                       */
    EFFECT_REFUSE,   /* the pod fits nowhere: tell its owner why; nothing to settle             */
    EFFECT_FAIL,     /* the pod cannot be judged (bad input, not supported yet): as a refusal   */
    EFFECT_NOMINATE, /* the pod waits for room on the node, or for none; nothing to settle      */
    EFFECT_EVICT,    /* delete the pod, which is on the node, to make room; settle with the
                      * outcome: gone, or on its way out                                        */
    EFFECT_WARN,     /* tell the pod's owner: it says things that mean nothing, or, with `by_uid`,
                      * was called off for another pod; nothing to settle                       */
    EFFECT_ASK,      /* ask an extender about the pod; engine_answer() with what it says        */
    EFFECT_WRITE,    /* change an object that the pod needs before it can be bound; settle with
                      * the outcome                                                             */
    EFFECT_PUBLISH,  /* make an object say what is so, in time: the last word about it counts.
                      * About no pod; nothing to settle                                         */
};

/* What is told of an object in an event. */
enum effect_news {
    NEWS_NONE,
    NEWS_RESERVED,    /* a reservation has its room */
    NEWS_EXPIRED,     /* its time is over */
    NEWS_SCHEDULED,   /* a PodGroup has its nodes */
    NEWS_UNSCHEDULED, /* it finds none */
    NEWS_MALFORMED,   /* a node has labels that mean nothing */
    NEWS_APART,       /* a gang is not placed as one; of a pod of it, with EFFECT_WARN */
};

/* One line of the explanation: so many nodes for this reason. */
struct tally_line {
    uint32_t nodes;
    struct str reason; /* "Insufficient cpu" */
};

/* One object and what is to change in it, if it still is what we know: patches one after the other,
 * each based on what the one before it made of the object. */
struct object_write {
    enum kind kind;
    struct str namespace, name;
    uint64_t version; /* resourceVersion that it must have; 0: any will do */
    const struct patch *patches;
    uint32_t n_patches;
};

/* What an extender is asked. */
struct extender_ask {
    uint32_t extender; /* its number in the configuration */
    enum extender_verb verb;
    LIST(struct str) nodes;                /* to filter, to prioritize */
    LIST(struct extender_victims) victims; /* to preempt: by node */
};

struct effect {
    effect_id id;
    enum effect_kind kind;
    struct str namespace, pod, uid; /* of a publication: uid is the object's */
    struct str node;                /* of a bind, a nomination ("": none any more), an eviction */
    pair_list annotations;          /* of a bind: what the pod is told with it, … */
    bool is_exact;                  /* … and that rests on what it is now */
    int64_t waited_ms;              /* since the pod first entered the queue */
    uint32_t attempt;
    uint32_t binder;    /* of a bind: the extender that is to do it, + 1; 0: we are */
    struct str profile; /* that served it: its schedulerName */

    /* of a refusal or failure */
    struct str message;   /* the FailedScheduling text; of a failure, the error */
    uint64_t rejected_by; /* plugins, as bits */
    bool is_queued;       /* its queue keeps it out, whatever room there is: QueueWaiting */

    /* of an eviction, or of one that was called off: for whom */
    struct str by_uid, by_scheduler; /* the pod that needs the room, and its schedulerName */
    effect_id plan; /* of evictions that are of use together only: the same for all of them, which
                     * come in one step: all may go before one does; 0: it is of use alone */

    struct object_write write; /* of a publication: nothing is written without patches */
    enum effect_news news;     /* with `message` */
    const struct extender_ask *ask;
};

/* Texts live in `mem`, or in the pod's row until the engine is next told something. */
struct effects {
    VEC(struct effect) list;
    VEC(struct queue_turn) turns; /* in which something started, where there are queues */
    struct arena mem;
};

/* Forgets the effects, keeps the memory. */
void effects_clear(struct effects *e);
void effects_done(struct effects *e);
