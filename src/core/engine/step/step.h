#pragma once

#include "core/engine/backfill/line.h"
#include "core/engine/extender/extender.h"
#include "core/engine/fair/shares.h"
#include "core/engine/gang/gang.h"
#include "core/engine/prebind/prebind.h"
#include "core/engine/preemption/preemption.h"
#include "core/engine/reservation/reservation.h"
#include "core/engine/step/cause.h"

/* The floor that knows all the others. */

/* What one class of a refused gang waits for. */
struct ask {
    uint32_t pod;  /* one of the class */
    uint32_t n;    /* how many */
    uint32_t sign; /* vain.c: how they were judged */
};

/* What is known of refused units that nothing has helped since (vain.c, wake.c). */
struct vain {
    struct map refused_at; /* pods that wait by themselves and were refused by rows alone → the end
                            * of the log then, its lower half */
    struct map refused_as; /* the same → as what */
    VEC(struct gang_refusal {
        uint64_t
            at; /* it was refused for want of room alone: the end of the log then; 0: otherwise */
        uint32_t need;        /* that must be placed at once */
        VEC(struct ask) asks; /* one pod of each class that was refused; none: any may be helped */
    })
    gangs; /* by group */
    VEC(struct class_bars {
        uint64_t
            at; /* end of the log then, + 1: it is true while that has not grown; 0: it is not */
        uint64_t by; /* the plugins that keep pods of the class off some node, as bits */
    })
    bars; /* by place of the class */
};
void vain_done(struct vain *v);

/* Searches that are put down (pause.c). */
struct pauses {
    struct paused {
        uint32_t unit;      /* ID_NONE: none */
        uint32_t goes;      /* that it had */
        uint64_t spent;     /* hard steps of its search */
        bool is_next;       /* it goes on before anybody else */
    } taken_up;             /* the one that goes on in this step */
    VEC(struct paused) all; /* that are put down: who goes on first */
    uint32_t since;         /* others that had a turn since one of them went on */
    uint64_t prices_a_go; /* nodes and pods on them, in one go of a preemption search (tests make it
                           * fewer) */
};
void pauses_begin(struct pauses *p);
void pauses_done(struct pauses *p);

/* What this floor keeps. */
struct stepping {
    struct vain vain;
    struct pauses pauses;
    struct planner planner; /* of gangs in flight, and for the causes of refusals */
    bool has_missed;        /* a gang was told that it misses members */
};

/* --- begin.c --- */

/* A call from outside begins: what holds between two of them is asserted, and what time it is,
 * set. */
void engine_begin_call(struct engine *k, int64_t now_ms);

/* --- moments.c --- */

/* Gives back the room of those who have gone. */
void engine_forget_gone(struct engine *k);

/* The unit does not wait in the queue any more; or goes on under another number. */
void engine_unit_left(struct engine *k, uint32_t unit);
void engine_unit_renamed(struct engine *k, uint32_t unit, uint32_t to);

/* The gang waits, and did not before. */
void engine_gang_led(struct engine *k, uint32_t group);

/* Once the pod has been put on a node for good: sends its prebind tasks, or if there are none asks
 * for its binding. */
void engine_announce(struct engine *k, pod_id pod, struct effects *out);

/* Takes the pod off its node, which is forgotten if that was all that kept it in mind. */
void engine_take_off(struct engine *k, pod_id pod);

/* Takes the pod, whose binding came to nothing, back to the queue. */
void engine_take_back(struct engine *k, pod_id pod);

/* `has_ended`: its work is done. */
void engine_remove_pod(struct engine *k, pod_id pod, bool has_ended);

/* The API server says that the pod is on the node. */
void engine_put_on_node(struct engine *k, pod_id pod, sym name, const struct pod *from);

/* The class is not there any more. */
void engine_class_gone(void *engine, struct class *class);

/* Something happened, of which the queue knows. */
void engine_heard(struct engine *k, const struct event *event);

/* What is due by now; true if there are effects. */
bool engine_pass_time(struct engine *k, struct effects *out);

/* Is there enough under way? */
bool engine_is_loaded(const struct engine *k);

/* --- reconfigure.c --- */

/* With what {0} stands for. */
struct engine_rules engine_rules_complete(struct engine_rules rules);

/* Classes, the order of the queue and counts, from the rules. */
void engine_begin_profiles(struct engine *k);

/* --- wake.c --- */

struct queue_rules engine_queue_rules(struct engine *k);

/* --- vain.c --- */

/* Did these plugins refuse the class for what rows say alone? */
bool engine_is_by_rows(const struct class *class, uint64_t rejected_by);

/* The pod was refused as its class was; or something else became of it. */
void engine_note_refusal(struct engine *k, pod_id pod, const struct class *class);
void engine_forget_refusal(struct engine *k, uint32_t unit);

/* What the gang was refused for; and not all of those are there any more, or others are. */
struct gang_refusal engine_gang_refusal(const struct engine *k, uint32_t group);
void engine_forget_gang_refusal(struct engine *k, uint32_t group);
void engine_tidy_gang_refusals(struct engine *k);

/* The gang of the planner was refused; `is_for_room`: by the sum of the room alone. Events are
 * judged on behalf of one pod of each class from now on. */
void engine_note_gang_refusal(struct engine *k, struct planner *planner, uint32_t group,
                              bool is_for_room);

/* Is it known that nothing which happened since the unit was refused lets it start? */
bool engine_is_in_vain(struct engine *k, uint32_t unit);

/* --- tidy.c --- */

/* Frees what nobody refers to any more, if that is worth it. Before anything is read. */
void engine_tidy(struct engine *k);
void engine_sweep(struct engine *k, enum tidy how);

/* Classes of which no pod waits go, and with them what they count, once that is very much: pods
 * with many terms, which nobody else has, would otherwise cost that for as long as they run.
 * Between two decisions. */
void engine_rest_classes(struct engine *k);

/* --- apply.c --- */

/* A claim for the extended resources of the pod may have come or gone: while it waits, such a claim
 * is left from an earlier try. ID_NONE: of no pod. */
void engine_see_leftover(struct engine *k, pod_id pod);

/* --- apply_devices.c --- */

/* A claim, a slice, a class of devices or a rule that taints some. */
void engine_put_devices(struct engine *k, const struct object *o);
void engine_remove_devices(struct engine *k, const struct object *o);

/* --- apply_kueue.c --- */

/* A queue of Kueue's, or what waits in one, came or changed, or is gone: whoever waits here may be
 * of another tier now. */
void engine_put_kueue(struct engine *k, const struct object *o, bool is_there);
void engine_put_quota(struct engine *k, const struct object *o, bool is_there);

/* --- missing.c: what keeps members from being made --- */

/* What keeps members of the namespace's gangs may be another thing now. */
void engine_retell_missing(struct engine *k, sym namespace);

/* An owner that may be suspended came, changed or is gone. */
void engine_put_idler(struct engine *k, const struct object *o, bool is_there);

/* From now on such owners are heard of that made members of the gang: it misses some. */
void engine_want_idlers(struct engine *k, uint32_t group);

/* How many there are, and what keeps the others. */
void engine_word_missing(const struct engine *k, uint32_t group, struct buf *out);

/* --- step.c --- */

/* The pod is in place and has all it needs: asks for its binding. */
void engine_bind(struct engine *k, pod_id pod, struct effects *out);

/* What a node reports of its NUMA nodes came or changed, or is there no more. */
void engine_put_topology(struct engine *k, const struct object *o, bool is_there);

/* What the pod has on its node beyond the node itself, as annotations of its binding: they live in
 * `mem`. And puts a pod that has such annotations there as they say. */
void engine_hand_over(struct engine *k, pod_id pod, struct arena *mem, struct effect *effect);
void engine_place_as_told(struct engine *k, pod_id pod, node_id node, const struct pod *from);

/* The pod in flight is refused by these plugins, and waits. The text lives in out->mem. */
void engine_refuse(struct engine *k, pod_id pod, struct str message, uint64_t rejected_by,
                   struct effects *out);

/* The unit in flight finds no nodes at all. */
void engine_try_later(struct engine *k, uint32_t unit);

/* Decides about the pod in flight, and does what comes of it. `ignores_nomination`: treat the
 * nominated node like any other. */
void engine_judge(struct engine *k, pod_id pod, struct class *class, bool ignores_nomination,
                  struct effects *out);

/* There is room on the node: the pod goes there, unless that delays somebody who has the turn. */
void engine_place_in_turn(struct engine *k, pod_id pod, struct class *class, uint32_t node,
                          struct effects *out);

/* The pod fits nowhere: tells it so, and may evict others for it. */
void engine_turn_down(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                      struct effects *out);

/* The same in two steps: the words for it, as the class keeps them, and, with the plan that was
 * made and added to them, the deed. */
struct eviction_plan;
void engine_word_refusal(struct engine *k, pod_id pod, struct class *class, const struct why *why);
void engine_end_refusal(struct engine *k, pod_id pod, struct class *class,
                        const struct eviction_plan *plan, struct effects *out);

/* The pod cannot be judged: it waits for its own change, or (an error that may pass) for a while.
 */
void engine_fail(struct engine *k, pod_id pod, struct str message, bool may_pass,
                 struct effects *out);

/* --- step_gang.c --- */

/* One step for the gang in flight under this number. */
void engine_step_gang(struct engine *k, uint32_t unit, struct effects *out);

/* --- step_queue.c --- */

/* The plan that is carried out for the unit is of queues: its turn goes on until it starts, and all
 * others are tried again. */
void engine_go_on_with_turn(struct engine *k, uint32_t unit, const struct eviction_plan *plan);

/* A turn that goes on is over if nothing is in sight for its unit any more. */
void engine_review_turn(struct engine *k, uint32_t unit);

/* Does its queue keep the unit in flight out? Then it is told, may evict, and stays in line. */
bool engine_keep_pod_out(struct engine *k, pod_id pod, struct class *class, struct effects *out);
/* The unit in flight would have too much of a kind: it is told so, and stays in line. */
void engine_keep_off_kind(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                          struct effects *out);
bool engine_keep_gang_out(struct engine *k, struct planner *planner, uint32_t group, uint32_t unit,
                          struct effects *out);

/* --- apply_kueue.c: what Queues and others say of queues --- */

void engine_put_shares(struct engine *k, const struct object *o, bool is_there);

/* Before anybody is decided about: what came with objects is so now. */
void engine_settle_shares(struct engine *k);

/* --- queue_report.c --- */

/* The unit that waits and that the pod is of; ID_NONE: none. */
uint32_t engine_waiting_unit(const struct engine *k, struct str namespace, struct str name);

/* As engine_queue_reports(), of the moment of the last call, with nothing taken in. */
void engine_read_queues(const struct engine *k, struct arena *mem, struct queue_reports *out);

/* --- publish_queue.c --- */

/* Statuses of Queues: when they are looked at again, and what is to be written. */
int64_t engine_publish_queues_ms(const struct engine *k);
bool engine_publish_queues(struct engine *k, struct effects *out);

/* --- tick.c --- */

/* Units whose time has come: those that starve go ahead, gangs that lack members are told. True if
 * there are effects. */
bool engine_tick(struct engine *k, struct effects *out);

/* A gang that has waited long enough for pods that are not there. */
void engine_end_gathering(struct engine *k, uint32_t unit, struct effects *out);

/* --- gang_why.c --- */

/* The gang in flight is not placed (of GANG_REST: those who found no node): they are told, and it
 * waits. */
void engine_refuse_gang(struct engine *k, struct planner *planner, uint32_t unit,
                        enum gang_outcome why, struct effects *out);

/* What the gang would be told. */
void engine_word_gang(struct engine *k, struct planner *planner, uint32_t group,
                      enum gang_outcome why, struct buf *out);

/* Nobody of the gang can be judged; `may_pass`: it is tried again after a while. */
void engine_fail_gang(struct engine *k, uint32_t unit, struct str text, bool may_pass,
                      struct effects *out);
void engine_tell_unjudged(struct engine *k, pod_id pod, struct str error, struct effects *out);
void engine_tell_missing(struct engine *k, struct planner *planner, uint32_t unit,
                         struct effects *out);

/* The plugins that keep some member of the planner off some node. What is known of them is
 * forgotten with the class. */
uint64_t engine_barred_by(struct engine *k, struct planner *planner);
void engine_forget_bars(struct engine *k, const struct class *class);

/* --- remark.c --- */

/* May the unit, which is to be tried for the first time, say what has no effect? Not if another pod
 * of its group was tried before: then it was told. */
bool engine_is_puzzling(const struct engine *k, pod_id pod);

/* The pod asks for a gang, and its profile places none as one: in words; empty: it is not so. */
struct str engine_word_apart(const struct engine *k, pod_id pod, struct arena *mem);

/* Tells it, with that first attempt. */
void engine_remark(struct engine *k, pod_id pod, struct effects *out);

/* --- pause.c --- */

/* What may be searched for in one step. */
void engine_begin_effort(struct engine *k);

/* The pod's decision may be put down from here on, if it is one that can be; was it? Then it is
 * parked until it goes on. */
void engine_let_pause(struct engine *k, pod_id pod, const struct class *class);
bool engine_was_put_down(struct engine *k, pod_id pod);

/* The same for what evictions would cost. */
void engine_let_preemption_search_pause(struct engine *k, pod_id pod, struct class *class);
bool engine_preemption_search_was_put_down(struct engine *k, pod_id pod);

/* The next unit that goes on, in flight again; false: none does. With `may_wait` those that are
 * hard wait until enough others had a turn. */
bool engine_take_up(struct engine *k, bool may_wait, uint32_t *unit);

/* --- publish_stale.c --- */

/* Says what is new of all that is stale; true if there are effects. */
bool engine_publish_stale(struct engine *k, struct effects *out);

/* --- publish_node.c --- */

struct node;
struct node_row;

void label_warnings_done(struct label_warnings *c);

/* The node says this now; or it is gone. */
void engine_see_labels(struct engine *k, node_id node, const struct node *from,
                       const struct node_row *row);
void engine_forget_labels(struct engine *k, node_id node);

/* The same of a namespace; NULL: it is gone. */
struct namespace;
void engine_see_namespace(struct engine *k, sym name, const struct namespace *from);

/* Some of those that are to be told. */
void engine_publish_label_warnings(struct engine *k, struct effects *out);

/* --- explain.c --- */

/* Explanations are tried in a transaction in which all slots have found room, and those for the pod
 * make way. It leaves no trace, but that the log may be longer by what was taken back: who reads it
 * has read that. */
struct explain_trial {
    struct txn txn;
    struct engine_stats stats; /* as they were */
};

struct explain_trial explain_begin(struct engine *k, pod_id pod);
void explain_end(struct engine *k, const struct explain_trial *trial);

/* --- explain_class.c --- */

struct explanation;
struct explained_node;

void explain_class(struct engine *k, const struct class *class, struct explanation *out);
void explain_hardware(const struct engine *k, node_id node, struct arena *mem,
                      struct explained_node *out);

/* --- explain_preempt.c --- */

/* namespace/name of the first budget that is overdrawn when these go; empty: none is. */
struct str explain_budget(const struct cluster *c, const struct pod_vec *pods, struct arena *mem);

/* Adds what evictions would achieve; `ids` are the nodes of the explanation. */
void explain_preemption(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                        const uint32_t *ids, struct explanation *out);

/* --- explain_verdict.c --- */

/* The verdict on the pod's unit, once everything else of the explanation stands. */
void explain_verdict(struct engine *k, struct planner *planner, pod_id pod, struct class *class,
                     struct explanation *out);

/* --- explain_gang.c --- */

void explain_gang(struct engine *k, struct planner *planner, pod_id pod, struct explanation *out);
