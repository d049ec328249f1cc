#pragma once

#include "core/base/map.h"
#include "core/engine/effect.h"
#include "core/engine/gang.h"
#include "core/framework/preempt.h"
#include "core/plugins/args.h"

/* Evicting with a certificate: a gang, or a pod alone, that does not fit may take the place of less
 * important pods, if a complete placement of its minimum is in hand.
 *
 * Who may have to go comes in *parties*: a pod on its own; a pod that a gang has beyond its
 * minimum; or all the others of the gang, whom the former follow: what is left of a broken gang is
 * of no use. A party is a
 * candidate if each of its pods is outranked, has run long enough and is not spared. The profile's
 * GangPreemption has the rules (struct eviction_args).
 *
 * The search is trials in transactions that leave no trace. Pods that are leaving anyway are away:
 * if that is enough, nobody needs to go. Then candidates go, the cheapest first, until the planner
 * seats the minimum. With the unit in its seats they come back, the dearest first, those whose
 * budgets would be violated before all others; who can come back is no victim. Last, each party
 * that is still out comes back once more and the unit is seated anew: if that works, it stays. What
 * is left is irreducible: without any of them, the planner does not seat the unit. Two orders of
 * candidates are tried, by what each loses and by what it costs to clear its node; the plan that
 * does less harm is taken.
 *
 * The work of a search is bounded: MOST_PARTIES candidates, of which the cheapest are looked at;
 * for each of the two orders some 2·log2(candidates) + MOST_RETURNS seatings of the unit. A search
 * that found nothing is not repeated for a unit of the same class while the log has not grown.
 *
 * Evictions of one plan are of use together only (effect.plan): the server is asked about all of
 * them before one is carried out. If it refuses one, none goes; that pod is no candidate for a
 * while, what was held is given up, and the unit looks again.
 *
 * There is no cycle of evictions: a party goes only for a unit that outranks each pod of it, by
 * priority (or by tier and then priority, where the policy says so), strictly. So along any chain
 * of evictions the ranks rise, and ranks are finite. The room is held for the unit meanwhile by
 * nominations, which those of its rank or below must respect. */

enum { MOST_PARTIES = 4096, MOST_RETURNS = 100, REFUSED_MS = 300000 };

/* What outranks what. */
struct rank {
    enum tier tier;
    int32_t priority;
};

bool rank_is_below(struct rank a, struct rank b, const struct eviction_args *rules);

/* Pods that go together or not at all. */
struct party {
    uint32_t first, n; /* its pods, in parties.pods */
    uint32_t group;    /* ID_NONE: the pod is on its own */
    uint32_t core;     /* of a gang's surplus: the number of the party of all the others, which
                        * does not go without it; ID_NONE: there is none */
    bool is_surplus;
    bool is_protected; /* its going violates a budget */
    bool is_out;       /* in the trial */
    uint32_t number;   /* before it was sorted */
    uint32_t node;     /* of its first pod */
    struct rank rank;  /* the highest of its pods' */
    uint32_t worth;    /* the highest of its pods' kinds of work: enum work */
    int64_t lost_ms;   /* accelerators times the time they were busy */
    int64_t start_ms;  /* of the one that started last */
    int64_t keys[N_VICTIM_KEYS + 2];
    struct str namespace, name; /* of its first pod */
};

/* Kinds of work, those that can be stopped best first. */
enum work {
    WORK_BACKFILL,
    WORK_BATCH,
    WORK_TRAINING,
    WORK_INFERENCE,
    WORK_INTERACTIVE,
    WORK_SERVICE,
    N_WORKS,
};

struct str work_name(enum work work);

/* The candidates, in the order in which they would go. */
struct parties {
    VEC(struct party) at;
    VEC(pod_id) pods;
    VEC(uint32_t) place; /* by number: where the party is now */
    struct map groups;   /* those that have been looked at */
    int64_t ripe_ms;     /* when the next has run long enough; INT64_MAX: none is too young */
};

/* For whom. */
struct evicting {
    uint32_t unit;
    uint32_t group; /* ID_NONE: a pod alone */
    const struct profile *profile;
    struct eviction_args rules;
    struct rank rank; /* the lowest of its pods' */
};

/* --- parties.c --- */

struct engine;

/* What it would lose by now: accelerators times the time they were busy. */
int64_t engine_work_lost_ms(const struct engine *k, int64_t now_ms, pod_id pod);

void parties_find(struct engine *k, int64_t now_ms, const struct evicting *e, struct parties *out);

/* Are those whom kube-scheduler would look at pods on their own that the rules do not tell apart
 * either? */
bool parties_are_plain(struct engine *k, int64_t now_ms, const struct evicting *e);

enum party_order { ORDER_BY_LOSS, ORDER_BY_NODE };

void parties_sort(struct engine *k, const struct evicting *e, enum party_order order,
                  struct parties *out);

/* The first `n` are out, with what goes with them. */
void parties_take(struct parties *p, uint32_t n);

/* May the party, which is out, come back by itself? */
bool party_may_return(const struct parties *p, const struct party *party);

void parties_done(struct parties *p);

/* --- evict.c --- */

enum eviction_outcome {
    EVICTION_NONE,     /* nobody is less important, or the profile evicts nobody */
    EVICTION_NEVER,    /* a pod of the unit may not: preemptionPolicy Never */
    EVICTION_WAITS,    /* those who are leaving make room enough */
    EVICTION_USELESS,  /* it does not fit even if all candidates go */
    EVICTION_TOO_MANY, /* more would have to go than are allowed to */
    EVICTION_FOUND,
    EVICTION_PENDING, /* of a gang: it has evicted, and waits */
};

/* Less is better, in this order. */
struct eviction_cost {
    uint32_t violations; /* of budgets: parties */
    struct rank rank;    /* the highest */
    uint32_t worth;
    uint32_t parties, pods;
    int64_t lost_ms;
};

struct victim_note {
    pod_id pod;
    uint32_t node, group;
    bool is_surplus, is_protected;
    struct rank rank;
    uint32_t worth;
    int64_t lost_ms;
};

struct eviction_place {
    uint32_t pod, node;
};

struct eviction_plan {
    VEC(struct victim_note) victims;
    VEC(struct eviction_place) places; /* where the unit goes: the certificate */
    struct eviction_cost cost;
};

struct evictor {
    struct parties parties;
    struct planner planner;
    struct arena mem, errands;
    VEC(pod_id) leaving;
    VEC(uint32_t) home; /* by place in parties.pods: the pod's node, … */
    VEC(gpu_mask) gpus; /* … and its GPUs */
    struct eviction_plan plan, other;
    enum eviction_outcome outcome; /* of the last search */
    uint32_t returns;              /* seatings to put parties back, in this search */
    struct rank rank;              /* of the unit */
    struct eviction_args rules;
    int64_t now_ms;
};

/* By which rules the profile evicts for its gangs, and (`alone`) for pods on their own; false: it
 * does not, or as kube-scheduler does. */
bool engine_eviction_rules(const struct profile *profile, bool alone, struct eviction_args *out);

/* Do these rules say who goes for the pod alone? Where the profile says nothing of them,
 * kube-scheduler's choice stands if it would evict nobody, or if they see nothing that it does not.
 * Only then all pods are looked at: to find nobody costs what it costs there. */
bool engine_evicts_by_rules(struct engine *k, pod_id pod, struct class *class);

/* Who would have to go so that the unit finds its nodes: k->evictor.plan. `class` is that of a pod
 * alone, NULL of a gang. Nothing is changed. */
enum eviction_outcome engine_find_eviction(struct engine *k, int64_t now_ms, uint32_t unit,
                                           struct class *class);

/* The words for it; "": nothing to say. */
void engine_word_eviction(const struct engine *k, enum eviction_outcome outcome, struct buf *out);

void evictor_done(struct evictor *e);

/* --- evict_gang.c --- */

/* The gang of k->planner is not placed: finds out whom it may evict, and what it is told of that
 * (planner.plan). */
enum eviction_outcome engine_plan_eviction(struct engine *k, int64_t now_ms, uint32_t group);

/* Once the gang has been told: carries the plan out, or gives up what is held for it. */
void engine_conclude_eviction(struct engine *k, int64_t now_ms, uint32_t group,
                              enum eviction_outcome outcome, struct effects *out);

/* Looks at a gang whose time has come: what is held for it, or when it may evict again. */
void engine_review_pursuit(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out);

/* An eviction for the unit failed: once all are settled, and nobody is leaving for it, nothing is
 * held for it any more. `is_for_good`: whoever stays is no candidate now, so it may look at once.
 */
void engine_doubt_pursuit(struct engine *k, int64_t now_ms, uint32_t unit, bool is_for_good);

/* It is placed, or is no gang any more. */
void engine_end_pursuit(struct engine *k, uint32_t group);

/* When the gang is to be looked at; INT64_MAX: never. */
int64_t engine_pursuit_ms(const struct gang *gang);

/* Is the gang waiting for pods that leave for its sake? */
bool engine_is_pursuing(const struct engine *k, uint32_t group);
