#pragma once

#include "core/base/map.h"
#include "core/engine/fair/shares.h"
#include "core/engine/prebind/prebind.h"
#include "core/engine/reservation/reservation.h"
#include "core/fair/cover.h"
#include "core/framework/preempt.h"
#include "core/plugins/args.h"

/* Evicting with a certificate: a gang, or a pod alone, that does not fit may take the place of less
 * important pods, if a complete placement of its minimum is in hand.
 *
 * Who may have to go comes in *victim groups*: a pod on its own; a pod that a gang has beyond its
 * minimum; or all the others of the gang, whom the former follow: what is left of a broken gang is
 * of no use. A victim group is a candidate if each of its pods is less important, has run long
 * enough and is not spared. The profile's GangPreemption has the rules (struct eviction_args).
 *
 * The search is trials in transactions that leave no trace. Pods that are leaving anyway are away:
 * if that is enough, nobody needs to go. Then candidates go, the cheapest first, until the planner
 * places the minimum. With the unit on its nodes they come back, the dearest first, those whose
 * budgets would be violated before all others; who can come back is no victim. Last, each victim
 * group that is still out comes back once more and the unit is placed anew: if that works, it
 * stays. What is left is irreducible: without any of them, the planner does not place the unit. Two
 * orders of candidates are tried, by what each loses and by what it costs to clear its node; the
 * plan that does less harm is taken. Where there are more candidates than are looked at, and the
 * cheapest of them are of no use (thousands of small pods, one on each node), whole nodes are
 * tried.
 *
 * The work of a search is bounded: MOST_VICTIM_GROUPS candidates, of which the cheapest are looked
 * at; for each of the orders some 2·log2(candidates) + MOST_RETURNS placements of the unit, of
 * large ones fewer. A search that found nothing is not repeated for a unit of the same class while
 * the log has not grown.
 *
 * Evictions of one plan are of use together only (effect.plan): the server is asked about all of
 * them before one is carried out. If it refuses one, none goes; that pod is no candidate for a
 * while, what was held is given up, and the unit looks again.
 *
 * There is no cycle of evictions: a victim group goes only for a unit that is more important than
 * each pod of it, by priority (or by tier and then priority, where the policy says so), strictly.
 * So along any chain of evictions importance rises, and there are only so many grades of it. The
 * room is held for the unit meanwhile by nominations, which those of its importance or below must
 * respect. */

enum {
    MOST_VICTIM_GROUPS = 4096,
    MOST_RETURNS = 100,
    MOST_RETURN_WORK = 40000, /* pods seated or out in those seatings, together */
    REFUSED_MS = 300000,
};

/* What goes before what when room is short. */
struct importance {
    enum tier tier;
    int32_t priority;
};

bool importance_is_below(struct importance a, struct importance b,
                         const struct eviction_args *rules);

/* Pods that go together or not at all. */
struct victim_group {
    uint32_t first, n; /* its pods, in victim_groups.pods */
    uint32_t group;    /* ID_NONE: the pod is on its own */
    uint32_t core; /* of a gang's surplus: the number of the victim group of all the others, which
                    * does not go without it; ID_NONE: there is none */
    bool is_surplus;
    bool is_guarded;              /* one of them is a driver whose workers are still to come */
    bool is_protected;            /* that, or its going violates a budget */
    bool is_out;                  /* in the trial */
    uint32_t number;              /* before it was sorted */
    uint32_t node;                /* of its first pod */
    struct importance importance; /* the highest of its pods' */
    uint32_t worth;               /* the highest of its pods' kinds of work: enum work */
    int64_t lost_ms;              /* accelerators times the time they were busy */
    int64_t start_ms;             /* of the one that started last */
    int64_t keys[N_VICTIM_KEYS + 3];
    struct str namespace, name; /* of its first pod */
    struct str unit;            /* its gang's name, or its own */
    uint32_t piece; /* where queues say who goes: what is covered of it; ID_NONE: none */
    enum queue_eviction_rule by;
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

/* The candidates: the cheapest MOST_VICTIM_GROUPS in the order in which they would go, behind them
 * what goes with those, and then the others, whom nobody looks at. */
struct victim_groups {
    VEC(struct victim_group) at;
    uint32_t n_looked_at;
    VEC(pod_id) pods;
    VEC(uint32_t) place;       /* by number: where the victim group is now */
    struct map groups;         /* those that have been looked at */
    int64_t next_candidate_ms; /* when the next has run long enough; INT64_MAX: none is too young */
    bool is_by_queues;         /* their order is R7's */
};

/* For whom. */
struct preemptor {
    uint32_t unit;
    uint32_t group; /* ID_NONE: a pod alone */
    const struct profile *profile;
    struct eviction_args rules;
    struct importance importance; /* the lowest of its pods' */
    bool takes_slots_alone;       /* a pod of it may evict nobody */
};

/* Where queues say who goes: of the search that is under way (reclaim.c). */
struct reclaiming {
    bool is_on;    /* the unit stands in a queue */
    bool is_first; /* O1: by importance alone, and nothing keeps it out */
    struct fair_request request;
    struct fair_piece u;
    struct fair_cover *cover; /* NULL: not by O1 */
    VEC(struct fair_piece) pieces;
};

/* --- victim_groups.c --- */

struct engine;

/* What it would lose by now: accelerators times the time they were busy. */
int64_t engine_work_lost_ms(const struct engine *k, pod_id pod);

void victim_groups_find(struct engine *k, struct planner *planner, const struct preemptor *e,
                        struct victim_groups *out);

/* Are those whom kube-scheduler would look at pods on their own that the rules do not tell apart
 * either? */
bool victim_groups_are_plain(struct engine *k, const struct preemptor *e);

enum victim_order {
    ORDER_BY_LOSS,
    ORDER_BY_NODE,     /* of those that are worth the same */
    ORDER_WHOLE_NODES, /* whatever they are worth, from the node with the fewest on */
};

/* --- reclaim.c: the same where queues say so (R1-R10) --- */

/* Begins a search for the unit. When it may look for somebody to evict (R1); 0: now. */
int64_t reclaim_begin(struct engine *k, const struct preemptor *e);

/* As victim_groups_find(). */
void reclaim_find(struct engine *k, const struct preemptor *e, struct victim_groups *out);

/* What decides the order of victim groups that have a budget's leave (R7). */
void reclaim_key(struct engine *k, enum victim_order order, struct victim_groups *p);
int reclaim_compare(const struct victim_group *a, const struct victim_group *b);

/* In a trial: do the queues let the unit in? `planner`: it is in its seats already; or NULL. */
bool reclaim_admits(struct engine *k, uint32_t unit, const struct planner *planner);

struct victim_note;
struct eviction_plan;

/* What the victim is told, where queues say who goes: for whom, whose guarantee it is, what its own
 * queue had borrowed. Before anybody goes. */
void reclaim_word(struct engine *k, uint32_t unit, const struct eviction_plan *plan,
                  const struct victim_note *victim, struct buf *out);

/* What is out is a plan: it takes nothing that a guarantee pays for, and it ends (I3, R10). */
void reclaim_check(struct engine *k);

void victim_groups_sort(struct engine *k, const struct preemptor *e, enum victim_order order,
                        struct victim_groups *out);

/* The first `n` are out, with what goes with them. */
void victim_groups_take(struct victim_groups *p, uint32_t n);

/* May the victim group, which is out, come back by itself? */
bool victim_group_may_return(const struct victim_groups *p,
                             const struct victim_group *victim_group);

void victim_groups_done(struct victim_groups *p);

/* --- evict.c --- */

enum eviction_outcome {
    EVICTION_NONE,     /* nobody is less important, or the profile evicts nobody */
    EVICTION_NEVER,    /* a pod of the unit may not: preemptionPolicy Never */
    EVICTION_WAITS,    /* those who are leaving make room enough */
    EVICTION_USELESS,  /* it does not fit even if all candidates go */
    EVICTION_KEPT,     /* the same, but it would if a budget did not keep some of them */
    EVICTION_TOO_MANY, /* more would have to go than are allowed to */
    EVICTION_FOUND,
    EVICTION_PENDING, /* of a gang: it has evicted, and waits */
};

/* Less is better, in this order. */
struct eviction_cost {
    uint32_t violations;          /* of budgets: victim groups */
    struct importance importance; /* the highest */
    uint32_t worth;
    uint32_t victim_groups, pods;
    int64_t lost_ms;
    bool is_by_queues; /* R8: lost work comes before numbers, and nothing else counts */
};

struct victim_note {
    pod_id pod;
    uint32_t node, group;
    bool is_surplus, is_protected;
    struct importance importance;
    uint32_t worth;
    int64_t lost_ms;
    enum queue_eviction_rule by; /* where queues say who goes */
};

struct eviction_place {
    uint32_t pod, node;
};

VEC_TYPE(victim_vec, struct victim_note);
VEC_TYPE(place_vec, struct eviction_place);

/* Who goes so that a unit finds its nodes, and what else may help it: of kube-scheduler's search
 * and of ours, for a pod alone and for a gang. */
struct eviction_plan {
    enum eviction_outcome outcome; /* of our search */
    struct victim_vec victims; /* the most important first; of kube-scheduler's search only who they
                                * are */
    struct place_vec places;   /* where the unit goes: the certificate. None: nowhere */
    struct eviction_cost cost; /* of our search */
    struct importance importance; /* the unit's, likewise */
    uint32_t keeper;              /* EVICTION_KEPT: the budget */
    bool is_hopeless;             /* no eviction helps: its nomination is given up */
    bool is_firm;                 /* nobody may take the room */
    bool is_by_queues;            /* they said who goes */
    int64_t next_candidate_ms;    /* when there may be another plan with time alone; 0: never */
    bool has_post_filter_result;  /* something else may help: */
    struct post_filter_result post_filter_result;
    const struct plugin *post_filter_of; /* whose it is */
};

void eviction_plan_done(struct eviction_plan *p);

/* Its victims and places are those of `other`, which has what was there. */
void eviction_plan_take(struct eviction_plan *p, struct eviction_plan *other);

/* Where a pod alone is to go; ID_NONE: nowhere. */
static inline uint32_t eviction_plan_node(const struct eviction_plan *p)
{
    return p->places.n ? p->places.at[0].node : ID_NONE;
}

struct preemption_search {
    struct victim_groups victim_groups;
    struct planner planner;
    struct reclaiming reclaim;
    struct arena mem, prebind_tasks;
    VEC(pod_id) leaving;
    VEC(uint32_t) home;         /* by place in victim_groups.pods: the pod's node, … */
    VEC(gpu_mask) gpus;         /* … and its GPUs */
    struct eviction_plan other; /* the one that is being made; the better one is the caller's */
    uint32_t overdrawn;         /* the first budget that all candidates together overdraw */
    uint32_t returns;           /* placements to put victim groups back, in this search */
};

/* All that is known of evictions. */
struct preemption {
    struct price_caches price_caches;
    struct why why; /* scratch of kube-scheduler's search */
    struct preemption_search preemption_search;
    VEC(struct eviction {
        effect_id effect;
        uint32_t by;      /* the unit that needs the room; ID_NONE: it is gone */
        uint32_t victim;  /* the same */
        double gpus;      /* of the victim, … */
        int64_t since_ms; /* … that it has had for so long; TIME_NONE: it has not started */
    })
    evictions; /* unsettled */
    VEC(struct refusal {
        uint32_t victim;
        int64_t until_ms; /* nobody tries it again before */
    })
    refusals; /* of evictions, by the server */
    VEC(struct
        preemption_wait { /* of a gang that waits for pods that it has evicted, or for leave to
                           * evict */
                          int64_t next_try_ms;       /* no sooner it evicts again; 0: at once */
                          int64_t next_candidate_ms; /* then somebody may go who may not yet; 0:
                                                      * nobody */
                          int64_t holds_ms; /* so long what becomes free is held for it; 0: nothing
                                             * is */
        })
    preemption_waits; /* by group */
    VEC(struct useless {
        uint64_t
            at; /* end of the log then, + 1: it is true while that has not grown; 0: it is not */
        uint32_t from; /* so many pods or more find no room whoever of those that the rules of their
                        * profile let go is evicted for them */
    })
    useless; /* by place of the class */
    struct {
        uint64_t at, epoch; /* ends of the log and of the tree's changes then */
        struct map from;    /* class and queue → the same number */
    } vain;                 /* the same of units that stand in queues */
};

struct preemption *preemption_new(void);
void preemption_free(struct preemption *p);

/* By which rules the profile evicts for its gangs, and (`alone`) for pods on their own; false: it
 * does not, or as kube-scheduler does. */
bool engine_eviction_rules(const struct profile *profile, bool alone, struct eviction_args *out);

/* Do these rules say who goes for the pod alone? Where the profile says nothing of them,
 * kube-scheduler's choice stands if it would evict nobody, or if they see nothing that it does not.
 * Only then all pods are looked at: to find nobody costs what it costs there. */
bool engine_evicts_by_rules(struct engine *k, pod_id pod, struct class *class);

/* Who would have to go so that the unit finds its nodes. `class` is that of a pod
 * alone, NULL of a gang. Nothing is changed. */
enum eviction_outcome engine_find_eviction(struct engine *k, uint32_t unit, struct class *class,
                                           struct eviction_plan *out);

/* The words for it, as the pods of a namespace hear it; "": nothing to say. */
void engine_word_eviction(const struct engine *k, const struct eviction_plan *plan, sym reader,
                          struct buf *out);

/* --- evict_gang.c --- */

/* The gang of the planner is not placed: finds out whom it may evict, and what it is told of that
 * (planner.plan). */
void engine_plan_eviction(struct engine *k, struct planner *planner, uint32_t group,
                          struct eviction_plan *out);

/* Once the gang has been told: carries the plan out, or gives up what is held for it. */
void engine_conclude_eviction(struct engine *k, struct planner *planner, uint32_t group,
                              const struct eviction_plan *plan, struct effects *out);

/* When a gang is to be looked at for its evictions; INT64_MAX: never. */
int64_t preemption_wait_next_ms(struct preemption_wait preemption_wait);
int64_t engine_next_preemption_ms(const struct engine *k, uint32_t group);

/* May it evict at once, and is nobody too young to go for it? */
bool engine_may_evict_now(const struct engine *k, uint32_t group);

/* Looks at a gang whose time has come: what is held for it, or when it may evict again. */
void engine_review_preemption_wait(struct engine *k, uint32_t group, struct effects *out);

/* An eviction for the unit failed: once all are settled, and nobody is leaving for it, nothing is
 * held for it any more. `is_for_good`: whoever stays is no candidate now, so it may look at once.
 */
void engine_doubt_preemption_wait(struct engine *k, uint32_t unit, bool is_for_good);

/* It begins to wait; it is placed. Groups that are gone are forgotten. */
void engine_begin_preemption_wait(struct engine *k, uint32_t group);
void engine_end_preemption_wait(struct engine *k, uint32_t group);
void engine_tidy_preemption_waits(struct engine *k);

/* Is the gang waiting for pods that leave for its sake? */
bool engine_waits_for_victims(const struct engine *k, uint32_t group);

/* --- preempt.c --- */

/* The plugin that makes room for pods of the profile; NULL: none does. */
const struct profile_plugin *engine_preemption(const struct profile *profile);

/* Is room looked for when a pod of the class is refused? */
bool engine_tries_preemption(const struct engine *k, const struct class *class);

/* Says what upstream says before it looks whom the pod could evict; false: it does not look. */
bool engine_begin_plan(struct engine *k, pod_id pod, const struct class *class,
                       struct eviction_plan *plan, struct buf *text);

/* Whom a pod that fits nowhere could evict, and for which node. Adds to the text of its refusal
 * what upstream adds. */
void engine_plan(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                 struct eviction_plan *out, struct buf *text);

/* preempt_price(), by what is known now. */
struct price engine_price(struct engine *k, const struct class *class, node_id node, pod_id pod,
                          struct pod_vec *victims);

/* From now on evictions may help on these nodes, too, where the pod fits, but for an extender;
 * NULL: no longer. */
void engine_count_on(struct engine *k, const struct bits *nodes);

/* The words for a plan that was found, where its own begin at `at`. */
void engine_say_found(const struct engine *k, const struct eviction_plan *plan, size_t at,
                      struct buf *text);
void engine_carry_out(struct engine *k, pod_id pod, const struct eviction_plan *plan,
                      struct effects *out);

/* Nominates the pod to this node, or (SYM_NONE) takes its nomination away. */
void engine_nominate(struct engine *k, pod_id pod, sym node, struct effects *out);

/* Takes the nominations to the node from pods that are less important than this one. */
void engine_clear_others(struct engine *k, pod_id pod, sym node, struct effects *out);

/* What a plan needs: its places are kept for those who are to go there, and its victims go. */
void engine_keep_places(struct engine *k, const struct eviction_plan *plan, struct effects *out);
void engine_evict_all(struct engine *k, pod_id by, const struct eviction_plan *plan,
                      struct effects *out);

/* The server would not let the pod go: until when it is not asked again; 0: it has not refused. */
int64_t engine_refused_until_ms(const struct engine *k, pod_id pod);

/* Is the unit waiting for evictions that are not settled? */
bool engine_waits_for_evictions(const struct engine *k, uint32_t unit);

/* Evictions that are not settled; one of them is. */
uint32_t engine_n_evictions(const struct engine *k);
void engine_settle_eviction(struct engine *k, effect_id effect, const struct error *why);

/* The pod, for which others were to go or which was to go, is gone; or its unit goes on under
 * another number. */
void engine_forget_evictions(struct engine *k, pod_id pod);
void engine_rename_evictions(struct engine *k, uint32_t unit, uint32_t to);

/* At most so many nodes and pods on them are priced from now on (0: no bound), and no more than
 * that: was it too few? */
void engine_bound_prices(struct engine *k, uint64_t most);
bool engine_end_bound(struct engine *k);

/* What is known of the class is forgotten: it goes. What searches found in a trial, of all. */
void engine_forget_searches_of(struct engine *k, const struct class *class);
void engine_forget_useless(struct engine *k);
void engine_trim_searches(struct engine *k);
