#pragma once

#include "core/engine/unit/unit.h"
#include "core/framework/domain_view.h"
#include "core/plugins/args.h"

/* Gangs inside the engine: how they wait (gangs.c), in which order everybody waits (order.c), how
 * they are placed (place_gang.c), how near each other (domains.c), and what they are told when they
 * are not (gang_why.c). Who belongs
 * to which group is the cluster's to know (cluster/groups.h). */

struct engine;
struct object;
struct pod;

/* What the engine keeps of a group beyond its members, while pods of it wait as one. The gang
 * stands in the queue under the number of one of them, its *leader*; the others are not in the
 * queue. */
struct gang {
    uint32_t leader;      /* ID_NONE: none of its pods waits */
    int32_t priority;     /* the highest of those that wait */
    int64_t since_ms;     /* when the last of those was made: so long the gang has waited */
    int64_t gather_ms;    /* when those who wait are told that some are missing; INT64_MAX: not */
    uint64_t owner;       /* hash of who made its pods, */
    struct owner made_by; /* and who that is: its texts are one block, at api_version. Owned */
    struct workers *workers; /* it is a LeaderWorkerSet: of what its object says; NULL: nothing */
    bool goes_on;            /* it runs, and those who are missing were waited for in vain */
    bool is_told_soon;       /* a gate was lifted: what its pods were told is not so any more */
    struct published_status published; /* its PodGroup */
    uint32_t attempts;                 /* to place it */
    uint32_t landing;                  /* pods of the last one that are not bound yet */
    enum gang_standing standing;
    struct buf why;  /* it is not placed; only where it is shown */
    struct buf tree; /* keys of the levels by which it was placed, with commas */
};

/* A pod that waits to be placed with its gang. */
struct gang_member {
    uint32_t pod;
    uint32_t order;  /* of its member class */
    uint32_t node;   /* where it goes; ID_NONE: nowhere */
    uint32_t leaf;   /* the domain there, in the order in which they were filled */
    uint32_t rank;   /* its number within its job, as it says; ID_NONE: it does not */
    uint32_t choice; /* nodes that extenders left to it; 0: they were not asked */
    uint64_t arrival;
    bool is_nominated; /* it is nominated to a node: */
    sym nominated;
};

/* The pods of one class. */
struct member_class {
    struct class *class;  /* as the pods have it */
    struct class *inside; /* the same for those who are to be in one domain; NULL: not asked yet */
    struct class *here;   /* the one of the two that applies to what is tried; NULL: likewise */
    shape_id shape;       /* of one of its pods */
    uint32_t first, n;    /* its members */
    uint32_t placed;      /* of them, in this trial */
    uint32_t order;
    uint64_t room; /* pods of it that the cluster has room for, at most */
};

/* A node label whose domains matter to the gang. */
struct level {
    sym key;
    bool is_local;  /* a value names a domain only together with the next wider level's */
    uint32_t first; /* of its domains; those of the next level that was measured come behind them */
    uint32_t n;     /* ID_NONE: not measured yet */
    uint32_t bare;  /* nodes that have no such label */
};

/* Nodes that share the value of a label. */
struct topology_domain {
    sym value;
    uint32_t running;  /* of the gang */
    uint64_t room;     /* of all that wait, so many at most */
    uint64_t spare;    /* the same if there were more of them */
    uint64_t suits;    /* how well its nodes with room suit the gang, together … */
    uint32_t suitable; /* … and how many they are */
    uint32_t parts;    /* domains of the next tighter level that all would need */
    uint32_t of_class; /* room for the class that is counted */
    uint32_t share;    /* where in planner.shares it stands; ID_NONE: nowhere */
    bool is_tried;
};

/* A part of a domain that is filled: a domain of the next tighter level, as far as it is inside. */
struct share {
    uint32_t domain;
    uint32_t first, n; /* its nodes in planner.domain_nodes */
    uint64_t room;
    uint32_t quota; /* so many of the gang go there */
};

/* Where a member is, along the tree of domains. */
struct placement {
    uint32_t leaf, node;
    uint32_t member; /* whose it is */
    struct str name;
};

/* What is needed for one gang at a time. */
struct planner {
    VEC(struct gang_member) members; /* by member class, in order of rank, then of arrival */
    VEC(struct member_class) member_classes; /* the largest pods first */
    VEC(uint32_t) fits;                      /* by member class and node: how many pods have room */

    struct level levels[GANG_MOST_LEVELS]; /* the tightest first */
    uint32_t n_levels;
    sym within;     /* their keys with commas; SYM_NONE: there are none */
    sym required;   /* the last level's, if all members must be in one domain of it */
    bool only_asks; /* whether they fit, not where: wishes do not matter */
    bool is_told;   /* members go where extenders let them; else those are not asked */
    VEC(struct topology_domain) domains;
    struct map domain_of;       /* value, and the wider value if the level is local → index */
    VEC(uint32_t) domain_at;    /* by level and node; ID_NONE: it has no such label */
    VEC(uint32_t) domain_nodes; /* nodes of the domain that is filled, in the order of its parts */
    VEC(uint32_t) sorted;       /* scratch of the same length */
    VEC(struct share) shares;
    VEC(struct placement)
    placements;      /* where members are */
    VEC(bool) taken; /* ranks */

    uint32_t which, at; /* the domain that is tried: of node `at`, by these levels as bits */
    uint32_t near;      /* its nodes in domain_nodes, from there on … */
    uint32_t n_near;    /* … if they are few enough for domain views; 0: they are not */
    VEC(struct domain_view) domain_views; /* by member class: what was seen of those nodes */
    uint32_t opened;                      /* domains so far */
    bool is_silent;                       /* nobody asks why a member finds no node, … */
    bool has_withheld;                    /* … and there would have been something to say */
    struct arena *mem;                    /* for what must be written before they are bound */
    uint32_t need;                        /* that must be placed now */
    uint32_t wants;         /* with those to come, who are members as well; 0: nobody is to come */
    uint32_t held;          /* that have their room already */
    VEC(uint32_t) unjudged; /* who may be placed now, and are left out: they cannot be judged */
    VEC(uint32_t) company;  /* those who have none, the last first */
    bool is_frugal;         /* nobody is placed beyond those, nor where it is nominated */
    bool takes_turns;       /* nobody is placed beyond those: it has its turn later */
    uint64_t refused_by;    /* plugins that refused some pod */
    struct buf text;        /* what the first of them heard, in the last trial */
    struct buf message;     /* what all are told */
    struct buf plan;        /* what they are told of evictions, … */
    uint32_t victims;       /* … by which so many pods go for them */
    uint64_t also;          /* plugins that may end the wait beside those that refused */
};

void planner_done(struct planner *p);

/* What is kept of gangs. */
struct gangs {
    VEC(struct gang) all; /* by group */
    uint64_t wanted;      /* kinds, as bits, whose objects pods wait for: engine_wants() */
    bool kubeflow;        /* as the profiles say */
    VEC(struct class_room {
        uint64_t
            at; /* end of the log then, + 1: it is true while that has not grown; 0: it is not */
        uint64_t room; /* for so many pods of the class at most */
    })
    rooms; /* by place of the class */
};

/* --- order.c --- */

/* The order of the queue: strict and total. */
bool engine_before(const void *ctx, uint32_t a, uint32_t b);

/* Since when the unit waits: when its pod was made, or the last of the gang's that wait. Members
 * that run, or have gone, lend those that come later neither age nor priority, and those that came
 * early lend none to those that came late. */
int64_t engine_age_ms(const struct engine *k, uint32_t unit);

/* Works out age and priority of a gang that waits; one more pod waits with it; the pod does not
 * wait with its gang any more. */
void engine_age_anew(struct engine *k, uint32_t group);
void engine_age_with(struct engine *k, uint32_t group, pod_id pod);
void engine_age_without(struct engine *k, pod_id pod);

/* How the pod's profile places gangs; the defaults if it does not. */
struct coscheduling_args engine_gang_args(const struct engine *k, pod_id pod);

/* The unit has come into the queue: what its place rests on is worked out, and its timer set. */
void engine_begin_wait(struct engine *k, uint32_t unit);
void engine_set_timer(struct engine *k, uint32_t unit);

/* Tenants of the namespace (SYM_NONE: all) may have another tier now. */
void engine_review_boosts(struct engine *k, sym namespace);

/* The pod, which waits by itself, is tried again then, whatever happens. */
void engine_wake_at(struct engine *k, uint32_t unit, int64_t at_ms);
void engine_stop_timer(struct engine *k, uint32_t unit);
int64_t engine_timer_ms(const struct engine *k);

/* When the unit starves, or its pod is tried again whatever happens; INT64_MAX: never. */
int64_t engine_starves_ms(const struct engine *k, uint32_t unit);
int64_t engine_wakes_ms(const struct engine *k, uint32_t unit);

/* --- wake.c --- */

/* --- gangs.c --- */

/* The group with which the pod is placed as one; ID_NONE: it is on its own. */
uint32_t engine_gang_of(const struct engine *k, pod_id pod);

/* What is kept of the group; NULL: nothing. */
static inline struct gang *engine_gang_at(const struct engine *k, uint32_t group)
{
    return group < k->gangs->all.n ? &k->gangs->all.at[group] : NULL;
}

/* The number under which the group waits; ID_NONE: none of it does. */
uint32_t engine_leader_of(const struct engine *k, uint32_t group);

/* Objects of the kind are to be heard of from now on: engine_wants(). */
void engine_want_kind(struct engine *k, enum kind kind);

/* The gang in the queue under this number; NULL: it is a pod's own. */
struct gang *engine_gang_led_by(const struct engine *k, uint32_t unit);

/* Who is there of a group, by the rows of its members. */
struct presence {
    uint32_t running; /* on a node, and not on the way out */
    uint32_t ready;   /* waiting, and nothing keeps them from being placed */
    uint32_t held;    /* waiting, behind a gate of their own */
    uint32_t apart;   /* waiting for another scheduler, or a profile without gangs */
};

struct presence engine_presence(const struct engine *k, uint32_t group);
bool engine_is_ready(const struct engine *k, pod_id pod);

/* Does the pod wait as one of the gang, behind gates of its own or not? */
bool engine_waits_with(const struct engine *k, pod_id pod, uint32_t group);
bool engine_is_gathered(const struct engine *k, uint32_t group);

/* A gate of the pod was lifted. The API server said of it that it is gated, and goes on saying so
 * until somebody says another thing. */
void engine_tell_soon(struct engine *k, pod_id pod);

/* Is the gang under this number gathered? If not, the time runs until its pods are told. */
bool engine_gang_may_enter(struct engine *k, uint32_t unit);

/* Puts the pod where it belongs by what is true of it now: it waits by itself, or with its gang, or
 * not at all. To be called after whatever may change that, but for two things that a pod must leave
 * before: its group, and the world. `is_new`: it came, or changed so that it may matter to the gang
 * with which it waits already. */
void engine_stand(struct engine *k, pod_id pod, bool is_new);
void engine_leave(struct engine *k, pod_id pod);

/* The pod leaves its group, if it is in one; `has_ended`: its work is done. */
void engine_leave_group(struct engine *k, pod_id pod, bool has_ended);

/* Its binding failed: it waits again, after a while. */
void engine_stand_again(struct engine *k, pod_id pod);

/* The gang has been placed, as far as possible: whoever could not be placed at all waits on. */
void engine_wait_on(struct engine *k, uint32_t group);

/* None of its pods waits any more, as one or by itself; nobody of any gang does. */
void engine_dissolve(struct engine *k, uint32_t group);
void engine_dissolve_all(struct engine *k);

/* What is said of the group changed: its pods wait as one, or no longer. */
void engine_regroup(struct engine *k, uint32_t group);

/* The pod is in the group that it names now; true if that is another than before. */
bool engine_set_group(struct engine *k, pod_id pod, const struct pod *from);

/* A PodGroup of whichever kind came or changed, or is gone; returns its group, ID_NONE: it has
 * none. */
uint32_t engine_put_group(struct engine *k, const struct object *o, bool is_there);

/* The same of a Workload, whose groups have no objects of their own. */
void engine_put_workload(struct engine *k, const struct object *o, bool is_there);

/* The pod has got a node, whoever gave it one: others of its gang may have waited for it. */
void engine_count_in(struct engine *k, pod_id pod);

/* The gang goes on under the number of another pod that waits. */
void engine_rename_gang(struct engine *k, uint32_t group, uint32_t unit, uint32_t to);

/* Forgets what was known of groups that are gone, after the cluster did (cluster_tidy()). */
void engine_tidy_gangs(struct engine *k);

struct gangs *gangs_new(void);

/* What the profiles say of gangs. */
void engine_begin_gangs(struct engine *k);
void engine_gangs_done(struct engine *k);

/* --- place_gang.c --- */

enum gang_outcome {
    GANG_PLACED,
    GANG_MISSING,  /* too few pods are there */
    GANG_HOPELESS, /* there is too little room, whatever one tries */
    GANG_REFUSED,  /* no way was found */
    GANG_REST,     /* the gang runs, and there is no room for more of it */
    GANG_BEHIND,   /* it would delay the head of its line */
};

/* Would the gang that waits under this number find its nodes now? */
bool engine_gang_fits(struct engine *k, struct planner *planner, uint32_t unit);

/* Lists one pod alone; or the members of the group that may be placed now, and measures the room
 * for them, false if too few are there. */
void engine_list_alone(struct engine *k, struct planner *planner, pod_id pod, struct class *class);
bool engine_list_members(struct engine *k, struct planner *planner, uint32_t group);

/* Is there room for enough of them, by sums alone? */
bool planner_has_hope(const struct planner *p);

/* How many pods of the class the cluster has room for, at most. */
uint64_t engine_room(struct engine *k, const struct class *class);

/* That is not true any more: of the classes of the planner, which were in a trial; of all of them;
 * of one that goes. */
void engine_forget_rooms_of(struct engine *k, const struct planner *planner);
void engine_forget_rooms(struct engine *k);
void engine_forget_room(struct engine *k, const struct class *class);
void engine_trim_rooms(struct engine *k);

/* Once it is known where extenders let them: who can go anywhere does not take the only node of
 * another. */
void planner_sort(struct planner *p);

/* Finds nodes for as many of them as must be placed and for nobody else, in the open transaction;
 * false: nobody is placed. `group` ID_NONE: a pod alone. */
bool engine_try_members(struct engine *k, struct planner *planner, uint32_t group);

/* Lists the members that may be placed now, and places as many as find a node, in the open
 * transaction: in one domain if that is required. False: there would be too little room even if
 * nothing ran. p->domain_nodes are the nodes that were asked. */
bool engine_list_and_place_some(struct engine *k, struct planner *planner, uint32_t group);

/* What would come of it, by the planner; nothing is changed. */
enum gang_outcome engine_try_gang(struct engine *k, struct planner *planner, uint32_t group,
                                  struct effects *out);

/* Those who are placed next in this trial may go to the domain of the node that these levels, as
 * bits, make; none: anywhere. */
void engine_open_domain(struct planner *planner, uint32_t which, uint32_t node);

/* The same, where the domain's nodes are a piece of domain_nodes, in ascending order. */
void engine_open_piece(struct engine *k, struct planner *planner, uint32_t which, uint32_t first,
                       uint32_t n);

/* Places the nominated members on their nodes, or where else they may go; false: one fits
 * nowhere. */
bool engine_place_nominated(struct engine *k, struct planner *planner);

/* Places so many of the members that have no node yet, at most; returns how many found one. */
uint32_t engine_place_members(struct engine *k, struct planner *planner, uint32_t most,
                              bool is_reversed);

/* Members of one class change places, so that their ranks follow the order of nodes. */
void engine_trade_nodes(struct engine *k, struct planner *planner);

/* For how many of the members there is room now, all classes together, the largest pods first;
 * as far as what nodes are and have free decides. Leaves no trace. */
uint64_t engine_joint_room(struct engine *k, struct planner *planner);

/* --- ranks.c --- */

/* The placements of the members that have a node, along the tree of domains. */
void engine_sort_placements(struct engine *k, struct planner *planner, uint32_t first, uint32_t n);

/* Those who have just been placed get their ranks. */
void engine_rank_gang(struct engine *k, struct planner *planner, uint32_t group);

/* --- domains.c --- */

/* Which labels matter to the gang of the planner. */
void engine_find_levels(struct engine *k, struct planner *planner, uint32_t group);

/* Places all members if that works somewhere, else at least `need` of them: in the tightest
 * domain that holds them. False, and nothing has happened: it does not work. */
bool engine_place_gang(struct engine *k, struct planner *planner, uint32_t group, uint32_t need);

/* engine_list_and_place_some(), once they are listed. */
bool engine_place_some(struct engine *k, struct planner *planner, uint32_t group);

/* Takes back what a trial did. */
void engine_undo_gang(struct engine *k, struct planner *planner, struct txn t);

/* --- workers.c: what those to come of a LeaderWorkerSet's groups are like --- */

struct workers {
    struct arena mem;
    amount_list each;
    struct pod like; /* its nodeSelector and tolerations alone count */
};

/* As the set's object has it. */
void engine_put_workers(struct gang *set, const struct object *o);
void engine_free_workers(struct workers *w);

/* The number of the set that the group is a group of; ID_NONE: of none that is there. And what that
 * says; NULL: nothing. */
uint32_t engine_set_of(const struct engine *k, uint32_t group);
const struct workers *engine_workers_of(const struct engine *k, uint32_t group);

/* --- publish_gang.c --- */

/* What came of an attempt to place the group, or of the wait for its pods. */
void engine_note_gang(struct engine *k, uint32_t group, enum gang_standing standing,
                      struct str why);

/* Its members or its object changed. ID_NONE: it is nobody's. */
void engine_touch_gang(struct engine *k, uint32_t group);

/* Those that are stale, as they stand; false: there are more, and the next step has the rest. */
bool engine_publish_gangs(struct engine *k, struct effects *out);

/* --- gang_counts.c --- */

extern const struct bounds gang_size_bounds, gang_wait_bounds, gang_landed_bounds;

/* The row of the group; NULL: it has none of its own. */
struct gang_counts *engine_gang_row(const struct engine *k, sym namespace, sym group);
void engine_add_histogram(struct histogram *to, const struct histogram *from);
