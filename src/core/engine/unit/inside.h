#pragma once

#include "core/base/heap.h"
#include "core/engine/engine.h"
#include "core/engine/gang_stats.h"
#include "core/engine/open.h"
#include "core/engine/placement_stats.h"
#include "core/engine/stats.h"
#include "core/engine/unit/publish.h"
#include "core/framework/class.h"
#include "core/framework/scan.h"
#include "core/framework/view.h"
#include "core/plugins/external.h"
#include "core/queue/queue.h"

/* The engine's own parts, shared by the files of this folder (and shown to tests and to the
 * commands that look inside). A pod's row number is also the number of its unit in the queue. */

/* What the engine keeps of a pod beyond its row. */
struct unit {
    uint64_t arrival;       /* order of first sight: unique */
    int64_t first_ms;       /* when it first entered the queue */
    uint32_t attempts : 23; /* that ended in an effect */
    uint32_t prebinds : 1;  /* it is placed, and has prebind tasks that are not run */
    uint32_t profile : 8;   /* the counts of the one that served it then */
    int32_t priority;       /* its spec's: the queue compares it all the time */
    effect_id bind;         /* its unsettled binding; 0: none */
    int64_t due_ms;         /* its timer: when it starves, or its gang has gathered long enough */
    uint32_t told;          /* hash of what its gang was last told; 0: nothing */
    int16_t boost;          /* of its tenant */
    bool ages, is_starving;
};

/* A pod that cannot be judged yet waits for nothing but its own change: the bit of no plugin. */
#define UNSUPPORTED_BIT ((uint64_t)1 << 63)

/* A pod that searches for devices waits for its next go: the bit of no plugin, either. */
#define PAUSED_BIT ((uint64_t)1 << 61)

/* Extenders stand where a plugin could: as a number, and as a bit. */
enum { EXTENDER_PLUGIN = 62 };
#define EXTENDER_BIT ((uint64_t)1 << EXTENDER_PLUGIN)

struct eviction_plan;
struct line;
struct planner;
struct verdict;

/* Whose queue is charged with room that is held: the pod's, else the namespace's. */
struct payer {
    uint32_t pod;  /* ID_NONE: no pod is known */
    sym namespace; /* SYM_NONE: nobody's */
};

/* What the parts of the engine ask of those above them (above.c), who alone know every part. */
struct above {
    void (*added)(struct engine *k, pod_id pod); /* a pod or a slot has this number now */

    /* moments of a unit */
    void (*entered)(struct engine *k, uint32_t unit); /* it waits in the queue */
    void (*left)(struct engine *k, uint32_t unit);    /* it does not any more */
    void (*renamed)(struct engine *k, uint32_t unit, uint32_t to);
    void (*touched)(struct engine *k, uint32_t unit);  /* its turn may be another */
    void (*lessened)(struct engine *k, uint32_t unit); /* one that waited in its gang is gone */
    void (*heard)(struct engine *k, const struct event *event);

    /* moments of a gang */
    void (*led)(struct engine *k, uint32_t group); /* it waits, and did not before */
    void (*followed)(struct engine *k,
                     uint32_t group); /* not all that were refused wait any more, or
                                       * more do */
    void (*resized)(struct engine *k, uint32_t group); /* it may be of another size */

    /* what others know of it */
    struct payer (*payer)(const struct engine *k, pod_id hold); /* for whom room is held */
    bool (*is_idle)(const struct engine *k, pod_id pod);        /* a slot that looks for no room */
    bool (*is_in_line)(const struct engine *k, uint32_t unit);
    bool (*takes_turns)(const struct engine *k, uint32_t unit); /* as its queue says */
    bool (*waits_for_evictions)(const struct engine *k, uint32_t unit);
    int64_t (*next_preemption_ms)(const struct engine *k, uint32_t group);
    bool (*is_asked)(const struct engine *k, const struct line *l); /* extenders, about one of it */
    void (*list_company)(struct engine *k, uint32_t group, struct planner *p);
    struct verdict (*decide_as_answered)(struct engine *k, pod_id pod, struct class *class);

    /* decisions */
    void (*judge)(struct engine *k, pod_id pod, struct class *class, bool ignores_nomination,
                  struct effects *out);
    void (*place_in_turn)(struct engine *k, pod_id pod, struct class *class, uint32_t node,
                          struct effects *out);
    void (*turn_down)(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                      struct effects *out);
    void (*word_refusal)(struct engine *k, pod_id pod, struct class *class, const struct why *why);
    void (*end_refusal)(struct engine *k, pod_id pod, struct class *class,
                        const struct eviction_plan *plan, struct effects *out);
    void (*refuse)(struct engine *k, pod_id pod, struct str message, uint64_t rejected_by,
                   struct effects *out);
    void (*fail)(struct engine *k, pod_id pod, struct str message, bool may_pass,
                 struct effects *out);
    void (*try_later)(struct engine *k, uint32_t unit);
    void (*bind)(struct engine *k, pod_id pod, struct effects *out);
    void (*take_back)(struct engine *k, pod_id pod);
};

extern const struct above engine_above;

/* What each part keeps for itself: only its own files know what is in there. */
struct gangs;
struct prebind;
struct extender_calls;
struct reservations;
struct lines;
struct preemption;
struct stepping;
struct figures;
struct shares;

struct engine {
    struct engine_config config;
    const struct above *above;
    int64_t now_ms; /* of the call that is under way */
    struct cluster *cluster;
    struct classes classes;
    struct {
        struct views views;
        struct scan scan;
        struct why why;                       /* of the last verdict */
        VEC(struct class_refusal *) refusals; /* by place of the class; NULL: none */
    } deciding;
    struct queue *queue;
    struct {
        const struct plugin *externals[EXTERNALS_MOST]; /* their numbers follow those built in */
        const struct plugin *order; /* of the queue: all profiles share one, as upstream demands */
    } served;                       /* of its profiles */

    VEC(struct unit) units; /* by pod */
    struct {
        uint64_t arrival;
        effect_id effect;
        int32_t lowest; /* priority that has come, or 0 */
    } last;
    struct map unsettled; /* effect → the pod that it binds, or one of those below */
    struct timers {
        struct heap heap; /* units that are to be looked at, by due_ms */
        struct map
            wakes; /* pods that are tried again at a time, whatever happens → the low half of it */
    } timers;
    struct publishing {
        int64_t due_ms; /* when what is stale is shown; INT64_MAX: nothing is */
        struct label_warnings label_warnings;
    } publishing;
    struct stepping *stepping;
    struct figures *figures;

    struct gangs *gangs;
    struct prebind *prebind;
    struct extender_calls *extender;
    struct reservations *reservations;
    struct lines *lines;
    struct shares *shares;
    struct preemption *preemption;

    struct arena mem; /* scratch of one call */
};

/* Whose an unsettled effect is: a binding of a pod that is gone, an eviction, a write of an
 * object. */
enum { OF_NOBODY = UINT32_MAX - 1, OF_EVICTION = UINT32_MAX - 2, OF_WRITE = UINT32_MAX - 3 };
