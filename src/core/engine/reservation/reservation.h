#pragma once

#include "core/base/heap.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"
#include "core/engine/gang/gang.h"
#include "core/model/reservation.h"

/* Room that is held for a group of pods: what ResourceReservations ask for.
 *
 * A slot is a pod that nobody runs. It has a row like any other, so that whatever counts pods
 * counts it, and waits in the queue for its node; of two reservations that want the same room the
 * first one has it. It is in no namespace and has no labels, so that nobody selects it.
 *
 * It stands for work, and is as important as that: a slot for a driver's workers as the driver, a
 * lost member's as the member, a starving gang's as its pods. Who may evict such work takes its
 * room, and then the slot is gone for good; so does a pod that is more important and evicts nobody.
 * What a ResourceReservation holds is above what users may give their pods, and below what keeps
 * the cluster alive.
 *
 * When a pod of the group is placed, the slots of the group make way: the slots are taken off their
 * nodes before the decision and put back after it. Each pod that found a node uses one of them up,
 * on its node if there is one there; the others are back where they were. A pod that goes without
 * having ended well gives its slot back, and its node is tried first for it.
 *
 * Pods that are made only when others run have slots as well (company.c): those that a pod makes
 * itself (core/model/driver.h), and members of a gang that come one after the other. The pod that
 * is there, the *driver*, is placed only when they would find room beside it, and they look for it
 * at once. While one of them is not used up, the driver is evicted only where
 * nothing else helps. Their time runs from when the driver got its node, as the API server has it.
 *
 * Nothing of this is stored but the reservations: after a restart pods of the group that run
 * already use up the slots before these look for room. */

struct engine;
struct planner;

struct slot {
    sym entry;
    uint32_t pod;    /* its row */
    uint32_t user;   /* the pod that uses it up; ID_NONE: nobody */
    bool is_spent;   /* its user has ended well */
    bool is_lost;    /* somebody more important has its room, or its namespace may not hold more */
    bool is_counted; /* in what its namespace holds */
    bool is_meant;   /* the reservation still has the entry */
};

/* What the engine knows of a reservation, a user's or its own. */
struct reservation_info {
    sym namespace, name;    /* SYM_NONE: the number is free */
    sym group;              /* SYM_NONE: nobody's */
    uint32_t before, after; /* among those for the group */
    int64_t ends_ms;        /* when it is over */
    bool is_over;
    uint32_t driver; /* the pod whose company it is for; ID_NONE: it is a reservation's */
    uint32_t gang; /* whose members come one after the other; ID_NONE: the driver makes them, … */
    uint32_t told; /* … or says that it makes so many; 0: what the gang lacks */
    shape_id like; /* of such a gang's slots, held; ID_NONE: of another's */
    int32_t priority; /* of what its slots stand for, … */
    shape_id work;    /* … a pod of which this is the shape, held; ID_NONE: a reservation */
    bool is_own;      /* made by us: for pods that are still to be placed, not for those that run */
    int64_t lost_percent; /* of a lost member's: of the cluster, what bounds it; 0: it is another */
    bool is_planned;      /* its slots look for no room, unless their entries name nodes */
    VEC(struct slot) slots;            /* in the order in which their entries came */
    uint32_t counted;                  /* of them, in what the namespace holds */
    uint32_t left;                     /* of them that nobody has used up, … */
    uint32_t first_left;               /* … none of which stands before this one */
    uint32_t entries;                  /* that it has, over or not */
    struct published_status published; /* its object */
    char *finalizers; /* as JSON, those that are left when ours is taken off; NULL: it has none
                       * of ours. Owned */
    uint64_t version; /* of the object that has it */
    bool is_leaving;  /* the object is being deleted */
    bool is_mirrored; /* of our own: an object for it was asked for */
};

/* An object of our own that stands for nothing, any more or yet. */
struct orphan_mirror {
    sym namespace, name; /* held */
    char *uid;           /* owned, as finalizers */
    char *finalizers;    /* as a reservation's */
    uint64_t version;
    bool is_leaving;
};

/* Those who may share slots: a group, or the parts of an application (circles.c). */
struct circle {
    sym namespace, name;  /* held */
    uint32_t first, last; /* reservations for it; ID_NONE: there are none */
    VEC(uint32_t) pods;   /* that name it as their application, in no order that matters */
    bool has_without;     /* some of it may run and use no slot, … */
    bool is_unmatched;    /* … and some slot may be for them */
};

/* What a namespace holds because its pods say that others are to come, or did (share.c). */
struct tenure {
    sym namespace; /* held */
    VEC(struct need) sums;
};

struct reservations {
    VEC(struct reservation_info) all;
    VEC(uint32_t) free;
    struct map by_name; /* namespace and name → reservation */
    struct map of_pod;  /* the row of a slot → its reservation, … */
    struct map places;  /* … and its place there */
    struct map of_user; /* a pod that uses a slot up → the slot's row */
    struct map of_driver;
    struct map of_gang; /* that comes in turn → its reservation */
    struct heap ends;   /* reservations that are not over, by when they are */
    VEC(struct orphan_mirror) orphan_mirrors;
    bool has_begun; /* something was shown: objects of our own are of this life */

    bool has_stepped; /* the cluster was read, and it is known how large it is */
    VEC(struct tenure) tenures;
    VEC(uint32_t) free_tenures;
    struct map of_namespace; /* → its tenure */

    VEC(struct circle) circles;
    VEC(uint32_t) free_circles;
    struct map of_name;    /* namespace and name → circle */
    struct map app_places; /* pod → its place among the pods of its circle */

    VEC(struct slot_off {
        uint32_t reservation;
        uint32_t slot;
        uint32_t node;
        uint32_t next; /* the next that was on this node; ID_NONE: none was */
    })
    off_nodes;              /* in this step */
    struct map off_by_node; /* node → the first of them that is left there */
    uint32_t first_off;     /* those before it are used up */

    uint32_t keeper;        /* the gang that keeps room because it starves; ID_NONE: none does */
    int64_t keeps_until_ms; /* then another may */
};

void engine_put_reservation(struct engine *k, const struct reservation *from);
void engine_remove_reservation(struct engine *k, const struct meta *meta);

/* Is it one of our own: of a driver, a lost member or a gang that starves? */
bool reservation_is_own(const struct reservation_info *b);

bool reservation_is_for(const struct reservation_info *b, sym namespace, sym group);

/* A reservation of our own (keep.c): of a gang that starves, led by this pod. It holds what its
 * entries name nodes for, from now on, and nothing for the others. */
void engine_reserve_plan(struct engine *k, const struct reservation *from, pod_id leader);

/* One of our own for a lost member, like this pod (ID_NONE: it is not known). */
void engine_reserve_for_lost(struct engine *k, const struct reservation *from, pod_id like);

/* Is the pod a slot that looks for no room: it has some, it is used up, or its driver waits? */
bool engine_is_idle_slot(const struct engine *k, pod_id pod);

/* One step for a slot that looks for room; false: the pod is none. */
bool engine_step_slot(struct engine *k, pod_id pod);

/* For explanations: pods that run use up those for them, as they would before the next slot looks
 * for room; and in a trial, in the open transaction, all slots that look for room find it. */
void engine_match_slots(struct engine *k);
void engine_try_slots(struct engine *k);

/* Are slots off their nodes? Not between two calls of the engine. */
bool engine_has_lifted(const struct engine *k);

/* The trial is over, and slots that made way in it are where they were. */
void engine_forget_slots_off(struct engine *k);

/* Is there room reserved for the pod's group? */
bool engine_has_reservation(const struct engine *k, pod_id pod);

/* Slots of the pod's group make way: all of them for a gang; for a pod alone the one that suits it
 * best, and all if it fits nowhere with that. */
void engine_take_slots_off(struct engine *k, pod_id pod);

/* The pod, for which they did, is on a node. */
void engine_use_slot(struct engine *k, pod_id pod);

/* Those that nobody uses are back. */
void engine_put_slots_back(struct engine *k);

/* Until when the pod's room is reserved: were it evicted, another of its group would have it. 0: it
 * is not. */
int64_t engine_reserved_until_ms(const struct engine *k, pod_id pod);

enum leaving {
    LEAVING_LOST,
    LEAVING_ENDED,   /* its work is done */
    LEAVING_EVICTED, /* for somebody else: what we kept for its gang ourselves goes with it */
};

/* Somebody more important takes the slot's room, wherever it stands. */
void engine_lose_slot(struct engine *k, pod_id pod);

/* The shape of the pod that the slot stands for; the pod's own if it is no slot. */
const struct shape *engine_work_of(const struct engine *k, pod_id pod);

/* The pod is off the node for good. */
void engine_give_back(struct engine *k, pod_id pod, sym node, enum leaving why);

/* Reservations whose time is over hold nothing any more. */
void engine_end_reservations(struct engine *k);

struct reservations *reservations_new(void);
void reservations_free(struct reservations *h);

/* What the files of reservations share: a new reservation, whose group is nobody's yet; its slots,
 * which go where the pod `like` may go (NULL: anywhere), or one of another name; one slot, or all
 * of it, is over; a pod uses one up; when it ends. */
struct reservation_info *engine_add_reservation(struct engine *k, const struct meta *meta);
void engine_put_slots(struct engine *k, struct reservation_info *b, const struct reservation *from,
                      const struct pod *like);
struct pod *engine_slot_pod(const struct engine *k, const struct reservation *r,
                            const struct reserved *entry, const struct pod *like, int32_t priority,
                            struct arena *mem);
void engine_set_work(struct engine *k, struct reservation_info *b, pod_id like);
struct slot *engine_add_entry(struct engine *k, struct reservation_info *b, sym entry);
void engine_keep_slot_row(struct engine *k, struct reservation_info *b, struct slot *slot,
                          pod_id pod);
void engine_take_slot(struct engine *k, struct reservation_info *b, struct slot *slot, pod_id user);
void engine_set_end(struct engine *k, struct reservation_info *b, int64_t ends_ms);
struct reservation_info *engine_find_reservation(struct engine *k, sym namespace, sym name);
void engine_tell_free(struct engine *k, pod_id pod, node_id node); /* the slot is off it */
bool slot_looks_for_room(const struct engine *k, const struct slot *slot);
void engine_end_slot(struct engine *k, struct slot *slot);
void engine_drop_reservation(struct engine *k, struct reservation_info *b);

/* May a pod still use it up? */
bool slot_is_left(const struct slot *slot);

/* When the next reservation is over; INT64_MAX: none is. */
static inline int64_t reservations_next_ms(const struct reservations *h)
{
    return h->ends.n ? h->all.at[h->ends.at[0]].ends_ms : INT64_MAX;
}

/* How many there are. */
uint32_t engine_n_slots(const struct engine *k);

/* All reservations by number; one that has no name is none. And that of a slot; NULL: the pod is
 * none. */
uint32_t engine_n_reservations(const struct engine *k);
const struct reservation_info *engine_reservation_at(const struct engine *k, uint32_t i);
const struct reservation_info *engine_reservation_of_slot(const struct engine *k, uint32_t pod);

/* Is somebody to come when others run? */
bool engine_has_drivers(const struct engine *k);

/* The gang that keeps room because it starves; ID_NONE: none does. */
uint32_t engine_keeper(const struct engine *k);

/* --- slot_rows.c --- */

/* The row of a slot: as it was, unless it is to be another. */
pod_id engine_put_slot(struct engine *k, const struct pod *from);

/* One of that shape, which does not look for room yet. */
pod_id engine_add_slot(struct engine *k, shape_id shape, struct str name);
void engine_remove_slot(struct engine *k, pod_id pod);

/* --- circles.c --- */

/* The group that a pod names, else the application whose parts share a reservation. */
struct group_key {
    sym namespace, name; /* SYM_NONE: no group */
};

struct group_key engine_reservations_key(const struct engine *k, pod_id pod);

/* The circle of that name, or of the pod's; NULL: there is none. */
struct circle *engine_circle(const struct engine *k, sym namespace, sym name);
struct circle *engine_circle_of(const struct engine *k, pod_id pod);

/* The reservation is for this group; "": for nobody. */
void engine_set_reservation_group(struct engine *k, struct reservation_info *b, struct str group);

/* The pod, whose labels may name an application, came; or it goes, or is to have other labels. */
void engine_join_app(struct engine *k, pod_id pod);
void engine_leave_app(struct engine *k, pod_id pod);

/* The pod has got a node, and perhaps no slot. */
void engine_note_without(struct engine *k, pod_id pod);

/* Pods of the circle that run and use no slot get those that look for room. */
void engine_match(struct engine *k, struct circle *circle);

void circles_done(struct reservations *h);

/* --- share.c --- */

/* The reservation's slots begin to hold room, or one does: as many as its namespace may, the others
 * are lost; of one that is bounded. And one does not any more. */
void engine_bound_slots(struct engine *k, struct reservation_info *b);
void engine_bound_slot(struct engine *k, struct reservation_info *b, struct slot *slot);
void engine_uncount_slot(struct engine *k, struct reservation_info *b, struct slot *slot);

/* Before each step. Until the first one pods, nodes and quotas come in any order: nothing is lost
 * because the cluster looks small. */
void engine_begin_to_bound(struct engine *k);

/* A quota of the namespace came: if we have just begun, what it holds was bounded without it. */
void engine_bound_anew(struct engine *k, sym namespace);
void tenures_done(struct reservations *h);

/* --- company.c --- */

/* The pod came or changed: it may have company to come. */
void engine_put_driver(struct engine *k, pod_id pod, const struct pod *from);

/* It is gone, or of another gang. */
void engine_remove_driver(struct engine *k, pod_id pod);

/* The pod is on a node: its company's room is looked for. */
void engine_let_company_in(struct engine *k, pod_id pod);

/* Is it for those who come when others run, and those do not? Nobody uses it yet. */
bool reservation_is_early(const struct engine *k, const struct reservation_info *b);

/* A driver is evicted last while one of its company is still to come. */
void engine_guard_driver(struct engine *k, const struct reservation_info *b);

/* Would its workers find room beside the pod, which is in no gang? If not, it is refused. */
bool engine_has_company(struct engine *k, pod_id pod, struct effects *out);

/* What is said of the gang changed: so must the number of those to come. */
void engine_count_company(struct engine *k, uint32_t group);

/* The template of those to come of the set's groups may be another one now. */
void engine_liken_company(struct engine *k, uint32_t set);

/* A member is gone. If none runs any more, those to come are waited for as at first. */
void engine_end_turn(struct engine *k, uint32_t group);

/* Those of a gang with some members who are still to come, for its planner. */
void engine_list_company(struct engine *k, uint32_t group, struct planner *p);

/* Of a gang none of whose members runs: the slots for those to come, and how many it wants to be,
 * with them. NULL: nobody is still to come. */
const struct reservation_info *engine_company_of(const struct engine *k, uint32_t group,
                                                 uint32_t *wants);

/* --- keep.c --- */

/* What a pod of the spec takes, as a reservation spells it. */
amount_list engine_amounts_of(const struct cluster *c, const struct spec *spec, struct arena *mem);

/* The pod goes, and its work is not done: if its gang goes on, its room is kept for another. */
void engine_keep_room_of_lost(struct engine *k, pod_id pod);

/* A pod of the group, or its object, goes or has gone: if nobody is left who could come back, the
 * slots of its lost members are free. */
void engine_free_rooms_of_lost(struct engine *k, uint32_t group);

/* The gang finds too little room: if it starves, it keeps what there is. */
void engine_keep_room(struct engine *k, struct planner *planner, uint32_t group);

/* A gang that starves is tried, though nothing happened, if it might keep room now. */
void engine_let_keep(struct engine *k, uint32_t unit);

/* Lets the gang that keeps room go on keeping it, or not. */
void engine_review_keeper(struct engine *k);

/* --- publish_reservation.c --- */

struct reservation;

/* What the object of the reservation says. */
void engine_see_reservation(struct engine *k, struct reservation_info *b,
                            const struct reservation *from);

/* All that are stale, as they stand. */
void engine_publish_reservations(struct engine *k, struct effects *out);

/* Those of its finalizers that are left when ours is taken off, as JSON; NULL: it has none of ours.
 * Owned by who asks. */
char *engine_other_finalizers(const struct reservation *from);

/* --- mirrors.c --- */

/* An object of our own came or changed, or is gone. */
void engine_put_mirror(struct engine *k, const struct reservation *from);
void engine_remove_mirror(struct engine *k, const struct meta *meta);

/* What it stands for goes. */
void engine_drop_mirror(struct engine *k, struct reservation_info *b);

/* Makes objects for what we hold, and takes away those that stand for nothing. */
void engine_publish_mirrors(struct engine *k, struct effects *out);

/* The name of its object; lives in `mem`. */
struct str engine_mirror_name(const struct engine *k, const struct reservation_info *b,
                              struct arena *mem);
