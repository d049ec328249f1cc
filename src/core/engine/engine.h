#pragma once

#include "core/base/error.h"
#include "core/engine/effect.h"
#include "core/model/object.h"

/* The scheduler as a function of what it is told. Same calls, same order, same seed: same effects.
 * It never blocks, and holds no pointer to what it was given after a call returns.
 *
 * A turn of whoever drives it: tell it what changed (engine_apply), let it decide (engine_step
 * until it returns false), carry out the effects, tell it how they ended (engine_settle), and come
 * back when something changes or at engine_next_ms(). */

struct engine;
struct profile; /* core/framework/profile.h */

/* What another configuration replaces, all of it, while the engine runs. {0} is
 * kube-scheduler's. */
struct engine_rules {
    /* Which profiles there are, sharing one order of the queue; they last as long as the engine, or
     * until it is given others. NULL: the built-in ones. */
    const struct profile *profiles;
    uint32_t n_profiles;
    const struct extender *extenders; /* in the order in which they are asked; as lasting */
    uint32_t n_extenders;             /* at most EXTENDERS_MOST */
    int64_t first_backoff_ms, most_backoff_ms; /* of units that failed; 0: 1 s and 10 s */
    int64_t park_ms; /* a refused unit is tried again after so long; 0: 5 min */
};

/* {0} is a sensible configuration. All but the rules is fixed for life. */
struct engine_config {
    struct engine_rules rules;
    uint64_t seed;          /* decides the nodes' tie order */
    size_t view_bytes;      /* memory for views; 0: 1 KiB a node, at least 4 MiB */
    uint32_t view_count;    /* at most so many views; 0: as many as fit */
    bool no_views;          /* every decision is a scan */
    bool checks_views;      /* compare every decision with a scan (slow): tests and debugging */
    uint32_t max_unsettled; /* unsettled bindings; 0: 512 */
    bool keeps_pins;        /* for explain: judge pods that name a node against all nodes */
    bool names_others;      /* for explain: texts name what is in other namespaces than the pod's */
    bool compares_tolerations; /* the gate TaintTolerationComparisonOperators */
    bool overlooks_capacity;   /* the gate StorageCapacityScoring is off */
    bool overlooks_drivers;    /* the gate VolumeLimitScaling is off */
    bool publishes;            /* objects say how groups and reservations stand: EFFECT_PUBLISH */
    bool waits_out_backoff;    /* the gate SchedulerPopFromBackoffQ is off */

    /* Where what was learned is kept, if it shows: in <name>-run-times. No name: nowhere, and that
     * of anybody is read. They last as long as the engine. */
    struct str home_namespace, home_name;
};

struct engine *engine_new(const struct engine_config *config);
void engine_free(struct engine *k);

/* Other rules from now on. Between two steps, at any time. The old profiles may go after the
 * call. */
void engine_configure(struct engine *k, int64_t now_ms, const struct engine_rules *rules);

enum change_kind { CHANGE_PUT, CHANGE_REMOVE };

/* An object came or changed, or is gone (then only kind, namespace and name count). */
struct change {
    enum change_kind kind;
    struct object object;
};

/* The cluster changed; a partial pod only if engine_knows() it. Times are milliseconds since
 * 1970 (or of any clock that never goes back). */
void engine_apply(struct engine *k, int64_t now_ms, const struct change *change);

/* Would this partial pod (core/model/partial_pod.h) do, or must the whole pod be applied? */
bool engine_knows(const struct engine *k, const struct pod *partial);

/* Decide about the next unit, if one is ready; its effects are added to `out`. */
bool engine_step(struct engine *k, int64_t now_ms, struct effects *out);

/* A bind, an eviction or a write was carried out (`why` NULL), or was certainly not: each is
 * settled once.
 *
 * A bound pod stays assumed until the API says where it is. A pod for which objects are written
 * stays assumed, too, and nobody waits for it: it is bound in a later step, when all is written and
 * has led to what it was written for (a claim is bound); or it is given up and queued again, with
 * an EFFECT_FAIL. What is written is taken for true until its object comes with another version. An
 * ERROR_CONFLICT says that there is one: it decides; any other error takes the thing back. */
void engine_settle(struct engine *k, int64_t now_ms, effect_id effect, const struct error *why);

/* An extender has answered, or failed to. The pod has been in flight meanwhile; what is left of its
 * decision is made in a later step, of the cluster as it is then. */
void engine_answer(struct engine *k, int64_t now_ms, effect_id effect,
                   const struct extender_answer *answer);

/* Does a pod refer to an object of the kind? Those that are many, and that nobody mostly asks for,
 * need not be told before. */
bool engine_wants(const struct engine *k, enum kind kind);

/* When engine_step() is worth calling again although nothing changed; INT64_MAX: never. */
int64_t engine_next_ms(const struct engine *k, int64_t now_ms);

/* Gives a node its place in the tie order (lower wins among equal scores); nodes without one have
 * theirs from the seed. */
void engine_set_tie_order(struct engine *k, struct str node, uint64_t tie_order);

/* Gives back the room that nothing needs now: of pods that have gone, of names that nobody uses. It
 * is done when many pods have gone, and may be at any time between the calls above: it shows in no
 * decision. */
void engine_trim(struct engine *k);

/* How long this pod will run in all, having run for `ran_ms`, by what was learned of its kin; 0:
 * nobody knows. */
int64_t engine_learned_ms(const struct engine *k, struct str namespace, struct str name,
                          int64_t ran_ms);

struct engine_stats {
    uint64_t decisions, bound, refused, failed;
    uint64_t repeated; /* refusals that nothing had happened to since the class's last one */
    uint64_t by_view, by_scan, by_pin; /* how decisions were made */
    uint64_t rows_logged;              /* changes of nodes' rows that a view could see */
    uint64_t rows_caught_up, views_built, views_evicted;
    uint32_t views, classes;
    uint32_t active, backing_off, parked, in_flight;
    uint32_t nodes, pods;
    uint64_t ends_learned;   /* run times that were noted, in earlier lives too */
    uint64_t ends_illegible; /* times that what was learned could not be read */
};

struct engine_stats engine_stats(const struct engine *k);
