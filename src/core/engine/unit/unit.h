#pragma once

#include "core/engine/unit/inside.h"

/* What the engine does whatever its parts are. */

struct figures {
    struct engine_stats stats;
    struct engine_counts counts;
    gang_counts_vec gangs;
    struct placement_counts placements;
};
/* How many GPUs the pod has, or would have; or one with this row. */
double engine_gpus_of(const struct engine *k, pod_id pod);
double engine_gpus_in_row(const struct cluster *c, const struct pod_row *row);

/* A pod was evicted that has had so many GPUs since then. */
void engine_count_evicted(struct engine *k, double gpus, int64_t since_ms);

extern const struct bounds attempts_bounds, pod_wait_bounds, victims_bounds;

struct figures *figures_new(void);
void figures_free(struct figures *f);

/* --- profiles.c --- */

/* The plugin that orders the profile's units. */
const struct plugin *engine_order_of(const struct profile *profile);

/* Who serves the pod now; NULL: nobody. */
const struct profile *engine_profile_of(const struct engine *k, pod_id pod);

/* The plugin that places its gangs; NULL: none does. */
const struct profile_plugin *engine_gangs_of(const struct engine *k, pod_id pod);

/* --- event.c --- */

/* Does a plugin that wakes for this hear the event? */
bool engine_listens(const struct wake *wake, const struct event *event);

/* The plugins that listen to such an event. */
uint64_t engine_interested(const struct engine *k, const struct event *event);

/* The plugins of the unit's profile. */
uint64_t engine_all_plugins(const struct engine *k, uint32_t unit);

/* What events about objects of this kind are about. */
enum event_resource engine_resource_of(enum kind kind);

/* Tells the queue, and those in line. */
void engine_event(struct engine *k, const struct event *event);

/* An event about a pod that is, or was, on a node or nominated to one. */
void engine_tell_pod(struct engine *k, uint32_t actions, const struct shape *old_shape,
                     const struct shape *new_shape, sym node);

/* The node that a pod of the shape was nominated to is free for others now, if they are not more
 * important than it. */
void engine_tell_nomination_ended(struct engine *k, const struct shape *shape, sym node,
                                  pod_id whose);

/* --- emit.c --- */

struct effect *engine_emit(struct engine *k, pod_id pod, enum effect_kind kind,
                           struct effects *out);

/* The effect, which was just emitted, will be settled, once. */
void engine_expect(struct engine *k, effect_id effect, uint32_t whose);

/* Says that the pod could not be placed for an error. */
void engine_tell_failure(struct engine *k, pod_id pod, struct str message, struct effects *out);

/* --- rows.c --- */

/* The number of a node that has neither a Node object nor pods is given back; a nomination alone
 * does not keep it, and finds the node again if it comes. */
void engine_release_node(struct engine *k, node_id node);

/* The pod has come. */
void engine_add_unit(struct engine *k, pod_id pod);

/* It names this node (SYM_NONE: none). */
void engine_set_pin(struct engine *k, pod_id pod, sym pin);

/* Does nobody run the pod: does it hold room? */
static inline bool engine_is_slot(const struct engine *k, uint32_t pod)
{
    return pods_at(&k->cluster->pods, (pod_id){pod})->flags & POD_SLOT;
}

/* May pods of the namespace `reader` be told what something in `namespace` is called? */
static inline bool engine_may_name(const struct engine *k, sym namespace, sym reader)
{
    return k->config.names_others || namespace == reader;
}

/* Does the one ask for more of anything than the other? */
bool engine_shrinks(const struct pod_request *was, const struct pod_request *is);

/* --- room.c --- */

/* How many pods of the spec the node has room for, by its resources alone; `is_empty`: if nothing
 * ran on it. */
uint64_t engine_node_room(const struct cluster *c, const struct spec *spec, node_id node,
                          bool is_empty);

/* Could the node ever hold a pod of the class, whoever is on it now? */
bool engine_could_hold(const struct engine *k, const struct class *class, node_id node);

/* What the node has of the resource, whoever uses it. */
int64_t engine_offered(const struct cluster *c, node_id node, resource_id resource);

/* What is free of the resource on the node; below 0 where more is used than there is. */
int64_t engine_free_of(const struct cluster *c, node_id node, resource_id resource);

/* --- decide.c --- */

/* How a decision came about and what it is. */
struct verdict {
    uint32_t node;     /* ID_NONE: refused */
    uint32_t feasible; /* how many nodes would have done */
    uint32_t broken;   /* one of them that cannot be scored; ID_NONE: no such node */
    enum decided_by { BY_CLASS, BY_PIN, BY_VIEW, BY_SCAN } by;
    reason_id error; /* a node that cannot be judged fails the whole attempt; 0: no such node */
    const struct why *why; /* what the nodes say, until the next decision; NULL: it has a node */
};

/* The plugins that refused the pod; 0: it has a node, or there are none. */
uint64_t verdict_plugins(const struct verdict *v, const struct reasons *reasons,
                         const struct class *class);

/* Where should this pod go? */
struct verdict engine_decide(struct engine *k, pod_id pod, struct class *class);

/* May the pod's node be read off what is kept of rows, be it a view or a domain view? */
bool engine_may_view(const struct engine *k, pod_id pod, const struct class *class);

/* Debugging: a scan must say the same. */
void engine_check_scan(struct engine *k, pod_id pod, const struct class *class, struct decision d);

/* The same; `ignores_nomination`: treat the nominated node like any other. */
struct verdict engine_decide_beyond(struct engine *k, pod_id pod, struct class *class,
                                    bool ignores_nomination);

/* --- refusals.c --- */

/* The last refusal of a pod of a class, in its words. */
struct class_refusal {
    uint64_t at; /* end of the log then: while it has not grown the next pod is told the same; 0: it
                  * is not */
    uint64_t by; /* plugins, as bits */
    struct buf text;
    struct buf headline; /* which goes before that; empty: its profile has kube-scheduler's words */
    sym holder;          /* the namespace whose pods hear another one, … */
    struct buf for_holder; /* … this, as it names what is theirs; SYM_NONE: all hear the same */
    uint32_t queue;        /* where queues matter: of those who hear it, … */
    uint64_t epoch;        /* … while nothing in the tree changes */
    bool is_by_rows;   /* by what single nodes say alone, whatever pod of the class asked, … */
    bool may_be_freed; /* … and some said that evictions could make room */

    /* What nodes are keeps its pods from all of them, in words (none: it does not); as long as no
     * node is another one. */
    uint64_t nature_at; /* natures of the log then, + 1; 0: never asked */
    struct buf nature;
};

/* That of the class, to be filled in; and to read, NULL: none of its pods was refused. */
struct class_refusal *engine_refusal_of(struct engine *k, const struct class *class);
const struct class_refusal *engine_last_refusal(const struct engine *k, const struct class *class);

/* Has nothing happened since a pod of the class was refused that could change the answer? */
bool engine_would_hear_the_same(const struct engine *k, pod_id pod, const struct class *class);

/* The class goes. */
void engine_forget_refusal_of(struct engine *k, const struct class *class);
