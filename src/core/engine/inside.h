#pragma once

#include "core/base/heap.h"
#include "core/engine/engine.h"
#include "core/engine/evict.h"
#include "core/engine/gang.h"
#include "core/engine/gang_stats.h"
#include "core/engine/gpu_stats.h"
#include "core/engine/holds.h"
#include "core/engine/line.h"
#include "core/engine/placement_stats.h"
#include "core/engine/stats.h"
#include "core/framework/class.h"
#include "core/framework/preempt.h"
#include "core/framework/scan.h"
#include "core/framework/view.h"
#include "core/plugins/guest.h"
#include "core/queue/queue.h"

/* The engine's own parts, shared by the files of this folder (and shown to tests and to the
 * commands that look inside). A pod's row number is also the number of its unit in the queue. */

/* What the engine keeps of a pod beyond its row. */
struct unit {
    uint64_t arrival;       /* order of first sight: unique */
    int64_t first_ms;       /* when it first entered the queue */
    uint32_t attempts : 23; /* that ended in an effect */
    uint32_t prepares : 1;  /* it is placed, and has errands that are not run */
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

/* Extenders stand where a plugin could: as a number, and as a bit. */
enum { EXTENDER_PLUGIN = 62 };
#define EXTENDER_BIT ((uint64_t)1 << EXTENDER_PLUGIN)

/* An errand of a pod that is placed and not bound yet (prepare.c). Those of one pod stand together.
 */
struct preparation {
    uint32_t pod; /* ID_NONE: it is given up, and only its write is still to be settled */
    const struct plugin *plugin;
    struct errand errand; /* its names are held; its patches are sent and gone */
    bool makes_claim;     /* its write makes a ResourceClaim */
    effect_id effect;     /* its write, while that is not settled; else 0 */
    int64_t timeout_ms, due_ms;
    char *why;         /* the write failed, for this reason; owned. NULL: it did not */
    bool is_contested; /* the reason is that somebody wrote first, perhaps we: the object decides */
};

/* A pod in flight that extenders are asked about (consult.c). */
struct consultation {
    uint32_t pod;
    uint32_t group;   /* as one of the gang, whose unit is in flight; ID_NONE: alone */
    shape_id shape;   /* as it was when they were asked, */
    uint64_t born;    /* and it was this one */
    bool is_in_sight; /* about the node alone that the pod has in sight */
    enum { ASKS_WHO_FITS, ASKS_SCORES, ASKS_WHO_GOES } phase;
    uint32_t turn; /* of those that are asked one after the other: whose */
    VEC(struct question {
        effect_id effect;
        uint32_t extender;
    })
    open; /* not answered yet */
    VEC(struct candidate {
        sym node; /* held */
        int64_t score;
    })
    nodes;            /* that are left */
    struct why why;   /* of the others */
    reason_id silent; /* of those that extenders leave out without a word */
    char *error;      /* an extender that must not fail did; owned */
    VEC(sym) spurned; /* nodes that an extender may let it to later; held */
    VEC(struct offer {
        sym node; /* held */
        LIST(struct str) uids;
        int64_t violations;
    })
    offers;           /* of ASKS_WHO_GOES: nodes, and whom to evict there */
    struct arena mem; /* of their texts */
};

struct engine {
    struct engine_config config;
    int64_t now_ms; /* of the call that is under way */
    struct cluster *cluster;
    struct classes classes;
    struct views views;
    struct scan scan;
    struct queue *queue;
    const struct plugin
        *guests[GUESTS_MOST]; /* of its profiles; their numbers follow those built in */
    const struct plugin
        *order; /* of the queue: all profiles share one, as upstream demands of theirs */

    VEC(struct unit) units; /* by pod */
    uint64_t arrivals;
    effect_id last_effect;
    struct map unsettled; /* effect → pod, or EFFECT_ORPHAN once the pod is gone */

    VEC(struct gang) gangs; /* by group */
    struct map refused_at; /* pods that wait by themselves and were refused by rows alone → the end
                            * of the log then, its lower half (vain.c) */
    struct map refused_as;  /* the same → as what */
    int32_t least_priority; /* no pod has come that had a lower one, or 0 */
    struct heap timers;     /* units that are to be looked at, by due_ms */
    bool gangs_kubeflow;    /* as the profiles say */
    struct map wakes; /* pods that are tried again at a time, whatever happens → its second */
    struct planner planner;
    uint32_t keeper;        /* the gang that keeps room because it starves; ID_NONE: none does */
    int64_t keeps_until_ms; /* then another may */

    VEC(struct preparation) preparations;
    uint32_t n_writes;       /* of them that are not settled */
    uint32_t looked_up_to;   /* those behind it are to be looked at */
    int64_t preparations_ms; /* when all are to be looked at again, whatever happens */

    VEC(struct consultation) consultations;
    uint32_t n_extender_reasons; /* in the table of reasons */

    struct holds holds;
    int64_t show_ms; /* when what is stale is shown; INT64_MAX: nothing is */
    struct complaints complaints;
    struct lines lines;
    struct hunts hunts;
    struct pod_vec victims; /* of the last plan, the most important first */
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
    struct evictor evictor;

    struct engine_stats stats;
    struct engine_counts counts;
    gang_counts_vec gang_counts;
    struct placement_counts placements;
    struct why why;
    struct arena mem; /* scratch of one call */
    uint64_t wanted;  /* kinds, as bits, whose objects pods wait for: engine_wants() */
};

#define EFFECT_ORPHAN (UINT32_MAX - 1)

/* --- reconfigure.c --- */

/* With what {0} stands for. */
struct engine_config engine_config_complete(struct engine_config config);

/* Classes, the order of the queue and counts, from the profiles of the configuration. */
void engine_begin_profiles(struct engine *k, int64_t now_ms);

/* The plugin of this number, guests of its profiles included; NULL: there is none. */
const struct plugin *engine_plugin(const struct engine *k, uint32_t number);

/* The plugin that orders the profile's units. */
const struct plugin *engine_order_of(const struct profile *profile);

/* Who serves the pod now; NULL: nobody. */
const struct profile *engine_profile_of(const struct engine *k, pod_id pod);

/* --- wake.c: the queue's questions --- */

struct queue_rules engine_queue_rules(struct engine *k);

/* The plugins that listen to such an event. */
uint64_t engine_interested(const struct engine *k, const struct event *event);

/* The plugins of the unit's profile. */
uint64_t engine_all_plugins(const struct engine *k, uint32_t unit);

/* What events about objects of this kind are about. */
enum event_resource engine_resource_of(enum kind kind);

/* Tells the queue, and those in line. */
void engine_event(struct engine *k, int64_t now_ms, const struct event *event);

/* --- vain.c --- */

/* Was the class refused for what rows say alone? */
bool engine_is_by_rows(const struct class *class);

/* The pod was refused as its class was; or something else became of it. */
void engine_note_refusal(struct engine *k, pod_id pod, const struct class *class);
void engine_forget_refusal(struct engine *k, uint32_t unit);

/* The gang of k->planner was refused; `is_for_room`: by the sum of the room alone. Events are
 * judged on behalf of one pod of each class from now on. */
void engine_note_gang_refusal(struct engine *k, uint32_t group, bool is_for_room);

/* Is it known that nothing which happened since the unit was refused lets it start? */
bool engine_is_in_vain(struct engine *k, uint32_t unit);

/* --- apply.c --- */

/* `has_ended`: its work is done. */
void engine_remove_pod(struct engine *k, int64_t now_ms, pod_id pod, bool has_ended);

/* Does the one ask for more of anything than the other? */
bool engine_shrinks(const struct pod_request *was, const struct pod_request *is);

/* The row of a hold: as it was, unless it is to be another. */
pod_id engine_put_hold(struct engine *k, int64_t now_ms, const struct pod *from);

/* One of that shape, which does not look for room yet. */
pod_id engine_add_hold(struct engine *k, int64_t now_ms, shape_id shape, struct str name);

/* Takes the pod off its node, which is forgotten if that was all that kept it in mind. */
void engine_take_off(struct engine *k, pod_id pod);

/* A claim for the extended resources of the pod may have come or gone: while it waits, such a claim
 * is left from an earlier try. ID_NONE: of no pod. */
void engine_see_leftover(struct engine *k, int64_t now_ms, pod_id pod);

/* A node that a pod of the shape had in sight is free for others now, if they are not more
 * important than it. */
void engine_tell_out_of_sight(struct engine *k, int64_t now_ms, const struct shape *shape, sym node,
                              pod_id whose);

/* --- apply_devices.c --- */

/* A claim, a slice, a class of devices or a rule that taints some. */
void engine_put_devices(struct engine *k, int64_t now_ms, const struct object *o);
void engine_remove_devices(struct engine *k, int64_t now_ms, const struct object *o);

/* --- apply_queues.c --- */

/* A queue of Kueue's, or what waits in one, came or changed, or is gone: whoever waits here may be
 * of another tier now. */
void engine_put_queue(struct engine *k, int64_t now_ms, const struct object *o, bool is_there);

/* --- engine.c --- */

struct effect *engine_emit(struct engine *k, int64_t now_ms, pod_id pod, enum effect_kind kind,
                           struct effects *out);

/* Takes the pod, whose binding came to nothing, back to the queue. */
void engine_take_back(struct engine *k, int64_t now_ms, pod_id pod);

/* The pod is in place and has all it needs: asks for its binding. */
void engine_bind(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out);

/* What a node reports of its NUMA nodes came or changed, or is there no more. */
void engine_put_topology(struct engine *k, int64_t now_ms, const struct object *o, bool is_there);

/* What the pod has on its node beyond the node itself, as annotations of its binding: they live in
 * `mem`. And puts a pod that has such annotations there as they say. */
void engine_hand_over(struct engine *k, pod_id pod, struct arena *mem, struct effect *effect);
void engine_place_as_told(struct engine *k, pod_id pod, node_id node, const struct pod *from);

/* The pod in flight is refused by these plugins, and waits. The text lives in out->mem. */
void engine_refuse(struct engine *k, int64_t now_ms, pod_id pod, struct str message,
                   uint64_t rejected_by, struct effects *out);

/* The unit in flight finds no nodes at all. */
void engine_try_later(struct engine *k, int64_t now_ms, uint32_t unit);

/* Decides about the pod in flight, and does what comes of it. With `overlooks_sight` a node that it
 * has in sight is one like others. */
void engine_judge(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                  bool overlooks_sight, struct effects *out);

/* There is room on the node: the pod goes there, unless that delays somebody who has the turn. */
void engine_place_in_turn(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                          uint32_t node, struct effects *out);

/* The pod fits nowhere, as k->why says: tells it so, and may evict others for it. */
void engine_turn_down(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                      struct effects *out);

/* The same in two steps: the words for it, as the class keeps them, and, with the plan that was
 * made and added to them, the deed. */
struct plan;
void engine_word_refusal(struct engine *k, struct class *class);
void engine_end_refusal(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                        const struct plan *plan, struct effects *out);

/* The pod cannot be judged: it waits for its own change, or (an error that may pass) for a while.
 */
void engine_fail(struct engine *k, int64_t now_ms, pod_id pod, struct str message, bool may_pass,
                 struct effects *out);

/* Says that the pod could not be placed for an error. */
void engine_tell_failure(struct engine *k, int64_t now_ms, pod_id pod, struct str message,
                         struct effects *out);

/* --- remark.c --- */

/* May the unit, which is to be tried for the first time, say what has no effect? Not if another pod
 * of its group was tried before: then it was told. */
bool engine_is_puzzling(const struct engine *k, pod_id pod);

/* Tells it, with that first attempt. */
void engine_remark(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out);

/* --- prepare.c --- */

struct plan;

/* Lets the plugins of its class take what the pod needs on its node, in the transaction that put it
 * there; should that be undone, the pod is to be given up. What is to be written lives in `mem`. */
void engine_reserve(struct engine *k, pod_id pod, const struct class *class, struct arena *mem);

/* Writes what may help the pod, which waits on: nobody waits for it to be written. */
void engine_relieve(struct engine *k, int64_t now_ms, pod_id pod, const struct plan *plan,
                    struct effects *out);

/* Once the pod has been put on a node for good: sends its errands, or if there are none asks for
 * its binding. */
void engine_announce(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out);

/* Goes on with one pod whose errands are all run, or one of them failed; false: there is none. */
bool engine_go_on(struct engine *k, int64_t now_ms, struct effects *out);

/* When engine_go_on() may find one although nothing happens. */
int64_t engine_go_on_ms(const struct engine *k, int64_t now_ms);

/* Takes a pod that has errands back to the queue, and tells it why. */
void engine_call_off(struct engine *k, int64_t now_ms, pod_id pod, struct str why,
                     struct effects *out);

/* The pod is not to be bound any more, by us. */
void engine_give_up(struct engine *k, pod_id pod);

/* False if this is no write's effect. */
bool engine_settle_write(struct engine *k, int64_t now_ms, effect_id effect,
                         const struct error *why);
void engine_preparations_done(struct engine *k);

/* Has nothing happened since a pod of the class was refused that could change the answer? */
bool engine_would_hear_the_same(const struct engine *k, pod_id pod, const struct class *class);

/* --- consult.c --- */

/* Asks the extenders of its class about the pod, which fits as the verdict says. */
struct verdict;
void engine_consult(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                    struct verdict v, bool overlooks_sight, struct effects *out);

/* Goes on with what was asked about the pod; false: nothing was, or of what is no longer so. */
bool engine_heed(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                 struct effects *out);

/* The next unit in flight whose extenders have all answered; false: there is none. */
bool engine_next_answered(struct engine *k, uint32_t *unit);

bool engine_has_answered(const struct engine *k);

/* Is a unit of the line being asked about? Then nobody behind it has a turn. */
bool engine_asks_in_line(const struct engine *k, const struct line *l);

/* The pod is not in flight any more. */
void engine_forget_asking(struct engine *k, pod_id pod);

/* It is gone, or is of another gang: its old one, if that waited for answers about it alone, comes
 * back to the queue. */
void engine_stop_asking(struct engine *k, int64_t now_ms, pod_id pod);

/* All of them are in line again, should they be asked about anew. */
void engine_recall_all(struct engine *k, int64_t now_ms);
void engine_consultations_done(struct engine *k);

/* What the files of consultations share: adds one about the pod, which copies k->why; finds it;
 * offers what the last scan let pass; puts the next questions, if there are any; says whether it is
 * about the pod as it is now; finds the best of the nodes that are left, as the cluster is now
 * (ID_NONE: none will do); drops its nodes; puts a question of its own; says that an extender
 * failed; gives the whole thing up and decides anew. */
struct consultation *engine_begin_asking(struct engine *k, pod_id pod, uint32_t group);
struct consultation *engine_find_asking(struct engine *k, pod_id pod); /* NULL: nobody is asked */
void engine_offer_fitting(struct engine *k, struct consultation *s, const struct class *class);
bool engine_ask_on(struct engine *k, int64_t now_ms, struct consultation *s,
                   const struct class *class, struct effects *out);
bool consultation_is_of(const struct consultation *s, const struct pods *pods, pod_id pod);
uint32_t engine_best_told(struct engine *k, const struct consultation *s, pod_id pod,
                          struct class *class, struct decision *d);
void engine_drop_offers(struct engine *k, struct consultation *s);
struct extender_ask *engine_put_question(struct engine *k, int64_t now_ms, struct consultation *s,
                                         uint32_t extender, enum extender_verb verb,
                                         struct effects *out);
void engine_note_failure(struct consultation *s, const struct extender *x, struct str why);
void engine_ask_again(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                      bool overlooks_sight, struct effects *out);

/* --- consult_gang.c --- */

/* Asks extenders about the members in k->planner's seats; false: all that there was to ask is
 * answered. */
bool engine_consult_gang(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out);

/* What an extender that must not fail said of one of them; "": nothing. */
struct str engine_gang_trouble(struct engine *k, uint32_t group);

/* Where the member goes of the nodes that are left to it; ID_NONE: nowhere, as k->why says. */
uint32_t engine_decide_told(struct engine *k, pod_id pod, struct class *class);

void engine_forget_asking_gang(struct engine *k, uint32_t group);

/* --- consult_victims.c --- */

/* Asks extenders whom the pod, which fits nowhere, may evict; false: nobody is to be asked. */
bool engine_ask_victims(struct engine *k, int64_t now_ms, pod_id pod, struct class *class,
                        struct effects *out);
void engine_hear_victims(struct engine *k, struct consultation *s, const struct extender *x,
                         const struct extender_answer *answer);
void engine_heed_victims(struct engine *k, int64_t now_ms, struct consultation *s, pod_id pod,
                         struct class *class, struct effects *out);

/* --- preempt.c --- */

struct plan {
    uint32_t node;    /* where the pod is to go; ID_NONE: nowhere */
    bool is_hopeless; /* no eviction helps: a node it had in sight is given up */
    bool is_firm;     /* nobody may take the room */
    int64_t ripe_ms;  /* when there may be another with time alone; 0: never */
    bool has_relief;  /* something else may help: */
    struct relief relief;
    const struct plugin *relents; /* whose it is */
};

/* The plugin that makes room for pods of the profile; NULL: none does. */
const struct profile_plugin *engine_preemption(const struct profile *profile);

/* Is room looked for when a pod of the class is refused? */
bool engine_tries_preemption(const struct engine *k, const struct class *class);

/* Says what upstream says before it looks whom the pod could evict; false: it does not look. */
bool engine_begin_plan(struct engine *k, pod_id pod, const struct class *class, struct plan *plan,
                       struct buf *text);

/* Whom a pod that fits nowhere could evict, and for which node: k->victims. Adds to the text of its
 * refusal what upstream adds. */
struct plan engine_plan(struct engine *k, pod_id pod, struct class *class, struct buf *text);

/* The words for a plan that was found, where its own begin at `at`. */
void engine_say_found(const struct engine *k, const struct plan *plan, size_t at, struct buf *text);
void engine_carry_out(struct engine *k, int64_t now_ms, pod_id pod, struct plan plan,
                      struct effects *out);

/* The pod has this node in sight, or (SYM_NONE) none any more. */
void engine_set_in_sight(struct engine *k, int64_t now_ms, pod_id pod, sym node,
                         struct effects *out);

/* Pods that are less important than this one and had the node in sight have it no longer. */
void engine_clear_others(struct engine *k, int64_t now_ms, pod_id pod, sym node,
                         struct effects *out);

/* k->victims go, for this pod's sake. */
void engine_evict_all(struct engine *k, int64_t now_ms, pod_id by, struct effects *out);

/* The server would not let the pod go: until when it is not asked again; 0: it has not refused. */
int64_t engine_refused_until_ms(const struct engine *k, pod_id pod);

/* Is the unit waiting for evictions that are not settled? */
bool engine_is_evicting(const struct engine *k, uint32_t unit);

/* False if this is no eviction's effect. */
bool engine_settle_eviction(struct engine *k, int64_t now_ms, effect_id effect,
                            const struct error *why);
/* The pod, for which others were to go or which was to go, is gone; or its unit goes on under
 * another number. */
void engine_forget_evictions(struct engine *k, pod_id pod);
void engine_rename_evictions(struct engine *k, uint32_t unit, uint32_t to);

/* --- explain_class.c --- */

struct explanation;
struct explained_node;

void explain_class(struct engine *k, const struct class *class, struct explanation *out);
void explain_hardware(const struct engine *k, node_id node, struct arena *mem,
                      struct explained_node *out);

/* --- explain_preempt.c --- */

/* Adds what evictions would achieve; `ids` are the nodes of the explanation. */
void explain_preemption(struct engine *k, pod_id pod, struct class *class, const uint32_t *ids,
                        struct explanation *out);

/* --- explain_verdict.c --- */

/* The verdict on the pod's unit, once everything else of the explanation stands. */
void explain_verdict(struct engine *k, pod_id pod, struct class *class, struct explanation *out);

/* --- explain_gang.c --- */

void explain_gang(struct engine *k, pod_id pod, struct explanation *out);

/* --- decide.c --- */

/* How a decision came about and what it is. */
struct verdict {
    uint32_t node;     /* ID_NONE: refused, `why` says why */
    uint32_t feasible; /* how many nodes would have done */
    uint32_t broken;   /* one of them that cannot be scored; ID_NONE: no such node */
    enum { BY_CLASS, BY_PIN, BY_VIEW, BY_SCAN } by;
    reason_id error; /* a node that cannot be judged fails the whole attempt; 0: no such node */
};

/* Where should this pod go? Fills k->why if nowhere. */
struct verdict engine_decide(struct engine *k, pod_id pod, struct class *class);

/* May the pod's node be read off what is kept of rows, be it a view or a nook? */
bool engine_may_view(const struct engine *k, pod_id pod, const struct class *class);

/* Debugging: a scan must say the same. */
void engine_check_scan(struct engine *k, pod_id pod, const struct class *class, struct decision d);

/* The same; with `overlooks_sight` a node that the pod has in sight is one like others. */
struct verdict engine_decide_beyond(struct engine *k, pod_id pod, struct class *class,
                                    bool overlooks_sight);
