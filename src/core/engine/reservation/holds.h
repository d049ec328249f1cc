#pragma once

#include "core/base/heap.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"
#include "core/engine/gang/gang.h"
#include "core/model/reservation.h"

/* Room that is held for a group of pods: what ResourceReservations ask for.
 *
 * A hold is a pod that nobody runs. It has a row like any other, so that whatever counts pods
 * counts it, and waits in the queue for its node; of two reservations that want the same room the
 * first one has it. It is in no namespace and has no labels, so that nobody selects it.
 *
 * It stands for work, and is as important as that: a hold for a driver's workers as the driver, a
 * lost member's as the member, a starving gang's as its pods. Who may evict such work takes its
 * room, and then the hold is gone for good; so does a pod that outranks it and evicts nobody. What
 * a ResourceReservation holds is above what users may give their pods, and below what keeps the
 * cluster alive.
 *
 * When a pod of the group is placed, the holds of the group make way: they are lifted before the
 * decision and lowered behind it. Each pod that found a node uses one of them up, on its node if
 * there is one there; the others are back where they were. A pod that goes without having ended
 * well gives its hold back, and its node is tried first for it.
 *
 * Pods that are made only when others run have holds as well (company.c): those that a pod makes
 * itself (core/model/driver.h), and members of a gang that come one after the other. The pod that
 * is there, the *driver*, is placed only when they would find room beside it, and they look for it
 * at once. While one of them is not used up, the driver is evicted only where
 * nothing else helps. Their time runs from when the driver got its node, as the API server has it.
 *
 * Nothing of this is stored but the reservations: after a restart pods of the group that run
 * already use up the holds before these look for room. */

struct engine;
struct planner;

struct hold {
    sym entry;
    uint32_t pod;    /* its row */
    uint32_t user;   /* the pod that uses it up; ID_NONE: nobody */
    bool is_spent;   /* its user has ended well */
    bool is_lost;    /* somebody more important has its room, or its namespace may not hold more */
    bool is_counted; /* in what its namespace holds */
    bool is_meant;   /* the reservation still has the entry */
};

/* A reservation as the engine knows it. */
struct booking {
    sym namespace, name;    /* SYM_NONE: the number is free */
    sym group;              /* SYM_NONE: nobody's */
    uint32_t before, after; /* among those for the group */
    int64_t ends_ms;        /* when it is over */
    bool is_over;
    uint32_t driver; /* the pod whose company it is for; ID_NONE: it is a reservation's */
    uint32_t gang; /* whose members come one after the other; ID_NONE: the driver makes them, … */
    uint32_t told; /* … or says that it makes so many; 0: what the gang lacks */
    shape_id like; /* of such a gang's holds, held; ID_NONE: of another's */
    int32_t priority; /* of what its holds stand for, … */
    shape_id work;    /* … a pod of which this is the shape, held; ID_NONE: a reservation */
    bool is_own;      /* made by us: for pods that are still to be placed, not for those that run */
    int64_t slot_percent; /* of a lost member's: of the cluster, what bounds it; 0: it is another */
    bool is_planned;      /* its holds look for no room, unless their entries name nodes */
    VEC(struct hold) holds; /* in the order in which their entries came */
    uint32_t counted;       /* of them, in what the namespace holds */
    uint32_t left;          /* of them that nobody has used up, … */
    uint32_t first_left;    /* … none of which stands before this one */
    uint32_t entries;       /* that it has, over or not */
    struct exhibit shown;   /* its object */
    char *finalizers; /* as JSON, those that are left when ours is taken off; NULL: it has none
                       * of ours. Owned */
    uint64_t version; /* of the object that has it */
    bool is_leaving;  /* the object is being deleted */
    bool is_mirrored; /* of our own: an object for it was asked for */
};

/* An object of our own that stands for nothing, any more or yet. */
struct stray {
    sym namespace, name; /* held */
    char *uid;           /* owned, as finalizers */
    char *finalizers;    /* as a booking's */
    uint64_t version;
    bool is_leaving;
};

/* Those who may share holds: a group, or the parts of an application (circles.c). */
struct circle {
    sym namespace, name;  /* held */
    uint32_t first, last; /* bookings for it; ID_NONE: there are none */
    VEC(uint32_t) pods;   /* that name it as their application, in no order that matters */
    bool has_without;     /* some of it may run and use no hold, … */
    bool is_unmatched;    /* … and some hold may be for them */
};

/* What a namespace holds because its pods say that others are to come, or did (share.c). */
struct tenure {
    sym namespace; /* held */
    VEC(struct need) sums;
};

struct holds {
    VEC(struct booking) bookings;
    VEC(uint32_t) free;
    struct map by_name; /* namespace and name → booking */
    struct map of_pod;  /* the row of a hold → its booking, … */
    struct map places;  /* … and its place there */
    struct map of_user; /* a pod that uses a hold up → the hold's row */
    struct map of_driver;
    struct map of_gang; /* that comes in turn → its booking */
    struct heap ends;   /* bookings that are not over, by when they are */
    VEC(struct stray) strays;
    bool has_begun; /* something was shown: objects of our own are of this life */

    bool has_stepped; /* the cluster was read, and it is known how large it is */
    VEC(struct tenure) tenures;
    VEC(uint32_t) free_tenures;
    struct map of_namespace; /* → its tenure */

    VEC(struct circle) circles;
    VEC(uint32_t) free_circles;
    struct map of_name;   /* namespace and name → circle */
    struct map app_slots; /* pod → its place among the pods of its circle */

    VEC(struct lifted {
        uint32_t booking;
        uint32_t hold;
        uint32_t node;
        uint32_t next; /* the next that was on this node; ID_NONE: none was */
    })
    lifted;                /* in this step */
    struct map lifted_on;  /* node → the first of them that is left there */
    uint32_t first_lifted; /* those before it are used up */

    uint32_t keeper;        /* the gang that keeps room because it starves; ID_NONE: none does */
    int64_t keeps_until_ms; /* then another may */
};

void engine_put_reservation(struct engine *k, const struct reservation *from);
void engine_remove_reservation(struct engine *k, const struct meta *meta);

/* Is it one of our own: of a driver, a lost member or a gang that starves? */
bool booking_is_own(const struct booking *b);

bool booking_is_for(const struct booking *b, sym namespace, sym group);

/* A reservation of our own (keep.c): of a gang that starves, led by this pod. It holds what its
 * entries name nodes for, from now on, and nothing for the others. */
void engine_book_plan(struct engine *k, const struct reservation *from, pod_id leader);

/* One of our own for a lost member, like this pod (ID_NONE: it is not known). */
void engine_book_slot(struct engine *k, const struct reservation *from, pod_id like);

/* Is the pod a hold that looks for no room: it has some, it is used up, or its driver waits? */
bool engine_is_idle_hold(const struct engine *k, pod_id pod);

/* One step for a hold that looks for room; false: the pod is none. */
bool engine_step_hold(struct engine *k, pod_id pod);

/* For explanations: pods that run use up those for them, as they would before the next hold looks
 * for room; and in a trial, in the open transaction, all holds that look for room find it. */
void engine_match_holds(struct engine *k);
void engine_try_holds(struct engine *k);

/* Are slots off their nodes? Not between two calls of the engine. */
bool engine_has_lifted(const struct engine *k);

/* The trial is over, and holds that made way in it are where they were. */
void engine_forget_lifted(struct engine *k);

/* Is there room reserved for the pod's group? */
bool engine_has_booking(const struct engine *k, pod_id pod);

/* Holds of the pod's group make way: all of them for a gang; for a pod alone the one that suits it
 * best, and all if it fits nowhere with that. */
void engine_lift(struct engine *k, pod_id pod);

/* The pod, for which they did, is on a node. */
void engine_use_hold(struct engine *k, pod_id pod);

/* Those that nobody uses are back. */
void engine_lower(struct engine *k);

/* Until when the pod's room is reserved: were it evicted, another of its group would have it. 0: it
 * is not. */
int64_t engine_reserved_until_ms(const struct engine *k, pod_id pod);

enum leaving {
    LEAVING_LOST,
    LEAVING_ENDED,   /* its work is done */
    LEAVING_EVICTED, /* for somebody else: what we kept for its gang ourselves goes with it */
};

/* Somebody more important takes the hold's room, wherever it stands. */
void engine_lose_hold(struct engine *k, pod_id pod);

/* The shape of the pod that the hold stands for; the pod's own if it is no hold. */
const struct shape *engine_work_of(const struct engine *k, pod_id pod);

/* The pod is off the node for good. */
void engine_give_back(struct engine *k, pod_id pod, sym node, enum leaving why);

/* Reservations whose time is over hold nothing any more. */
void engine_end_holds(struct engine *k);

struct holds *holds_new(void);
void holds_free(struct holds *h);

/* What the files of holds share: a new booking, whose group is nobody's yet; its holds, which go
 * where the pod `like` may go (NULL: anywhere), or one of another name; one hold, or all of it, is
 * over; a pod uses one up; when it ends. */
struct booking *engine_add_booking(struct engine *k, const struct meta *meta);
void engine_put_holds(struct engine *k, struct booking *b, const struct reservation *from,
                      const struct pod *like);
struct pod *engine_hold_pod(const struct engine *k, const struct reservation *r,
                            const struct reserved *entry, const struct pod *like, int32_t priority,
                            struct arena *mem);
void engine_set_work(struct engine *k, struct booking *b, pod_id like);
struct hold *engine_add_entry(struct engine *k, struct booking *b, sym entry);
void engine_keep_hold(struct engine *k, struct booking *b, struct hold *hold, pod_id pod);
void engine_take_hold(struct engine *k, struct booking *b, struct hold *hold, pod_id user);
void engine_set_end(struct engine *k, struct booking *b, int64_t ends_ms);
struct booking *engine_find_booking(struct engine *k, sym namespace, sym name);
void engine_tell_free(struct engine *k, pod_id pod, node_id node); /* the hold is off it */
bool hold_looks_for_room(const struct engine *k, const struct hold *hold);
void engine_end_hold(struct engine *k, struct hold *hold);
void engine_drop_booking(struct engine *k, struct booking *b);

/* May a pod still use it up? */
bool hold_is_left(const struct hold *hold);

/* When the next reservation is over; INT64_MAX: none is. */
static inline int64_t holds_next_ms(const struct holds *h)
{
    return h->ends.n ? h->bookings.at[h->ends.at[0]].ends_ms : INT64_MAX;
}

/* How many there are. */
uint32_t engine_n_holds(const struct engine *k);

/* All bookings by number; one that has no name is none. And that of a hold; NULL: the pod is none.
 */
uint32_t engine_n_bookings(const struct engine *k);
const struct booking *engine_booking_at(const struct engine *k, uint32_t i);
const struct booking *engine_booking_of_hold(const struct engine *k, uint32_t pod);

/* Is somebody to come when others run? */
bool engine_has_drivers(const struct engine *k);

/* The gang that keeps room because it starves; ID_NONE: none does. */
uint32_t engine_keeper(const struct engine *k);

/* --- hold_rows.c --- */

/* The row of a hold: as it was, unless it is to be another. */
pod_id engine_put_hold(struct engine *k, const struct pod *from);

/* One of that shape, which does not look for room yet. */
pod_id engine_add_hold(struct engine *k, shape_id shape, struct str name);
void engine_remove_hold(struct engine *k, pod_id pod);

/* --- circles.c --- */

/* The group that a pod names, else the application whose parts share a reservation. */
struct group_key {
    sym namespace, name; /* SYM_NONE: no group */
};

struct group_key engine_holds_key(const struct engine *k, pod_id pod);

/* The circle of that name, or of the pod's; NULL: there is none. */
struct circle *engine_circle(const struct engine *k, sym namespace, sym name);
struct circle *engine_circle_of(const struct engine *k, pod_id pod);

/* The booking is for this group; "": for nobody. */
void engine_set_booking_group(struct engine *k, struct booking *b, struct str group);

/* The pod, whose labels may name an application, came; or it goes, or is to have other labels. */
void engine_join_app(struct engine *k, pod_id pod);
void engine_leave_app(struct engine *k, pod_id pod);

/* The pod has got a node, and perhaps no hold. */
void engine_note_without(struct engine *k, pod_id pod);

/* Pods of the circle that run and use no hold get those that look for room. */
void engine_match(struct engine *k, struct circle *circle);

void circles_done(struct holds *h);

/* --- share.c --- */

/* The booking's holds begin to hold room, or one does: as many as its namespace may, the others are
 * lost; of one that is bounded. And one does not any more. */
void engine_bound_holds(struct engine *k, struct booking *b);
void engine_bound_hold(struct engine *k, struct booking *b, struct hold *hold);
void engine_stop_holding(struct engine *k, struct booking *b, struct hold *hold);

/* Before each step. Until the first one pods, nodes and quotas come in any order: nothing is lost
 * because the cluster looks small. */
void engine_begin_to_bound(struct engine *k);

/* A quota of the namespace came: if we have just begun, what it holds was bounded without it. */
void engine_bound_anew(struct engine *k, sym namespace);
void tenures_done(struct holds *h);

/* --- company.c --- */

/* The pod came or changed: it may have company to come. */
void engine_put_driver(struct engine *k, pod_id pod, const struct pod *from);

/* It is gone, or of another gang. */
void engine_remove_driver(struct engine *k, pod_id pod);

/* The pod is on a node: its company's room is looked for. */
void engine_let_company_in(struct engine *k, pod_id pod);

/* Is it for those who come when others run, and those do not? Nobody uses it yet. */
bool booking_is_early(const struct engine *k, const struct booking *b);

/* A driver is evicted last while one of its company is still to come. */
void engine_guard_driver(struct engine *k, const struct booking *b);

/* Would its workers find room beside the pod, which is in no gang? If not, it is refused. */
bool engine_has_company(struct engine *k, pod_id pod, struct effects *out);

/* What is said of the gang changed: so must the number of those to come. */
void engine_count_company(struct engine *k, uint32_t group);

/* The template of those to come of the set's groups may be another one now. */
void engine_liken_company(struct engine *k, uint32_t set);

/* A member is gone. If none runs any more, those to come are waited for as at first. */
void engine_end_turn(struct engine *k, uint32_t group);

/* Those of a gang with some seats who are still to come, for its planner. */
void engine_list_company(struct engine *k, uint32_t group, struct planner *p);

/* Of a gang none of whose members runs: the holds for those to come, and how many it wants to be,
 * with them. NULL: nobody is still to come. */
const struct booking *engine_company_of(const struct engine *k, uint32_t group, uint32_t *wants);

/* --- keep.c --- */

/* What a pod of the spec takes, as a reservation spells it. */
amount_list engine_amounts_of(const struct cluster *c, const struct spec *spec, struct arena *mem);

/* The pod goes, and its work is not done: if its gang goes on, its room is kept for another. */
void engine_keep_slot(struct engine *k, pod_id pod);

/* A pod of the group, or its object, goes or has gone: if nobody is left who could come back, the
 * slots of its lost members are free. */
void engine_free_slots(struct engine *k, uint32_t group);

/* The gang finds too little room: if it starves, it keeps what there is. */
void engine_keep_room(struct engine *k, struct planner *planner, uint32_t group);

/* A gang that starves is tried, though nothing happened, if it might keep room now. */
void engine_let_keep(struct engine *k, uint32_t unit);

/* Lets the gang that keeps room go on keeping it, or not. */
void engine_review_keeper(struct engine *k);

/* --- show_booking.c --- */

struct reservation;

/* What the object of the reservation says. */
void engine_see_booking(struct engine *k, struct booking *b, const struct reservation *from);

/* All that are stale, as they stand. */
void engine_show_bookings(struct engine *k, struct effects *out);

/* Those of its finalizers that are left when ours is taken off, as JSON; NULL: it has none of ours.
 * Owned by who asks. */
char *engine_other_finalizers(const struct reservation *from);

/* --- mirrors.c --- */

/* An object of our own came or changed, or is gone. */
void engine_put_mirror(struct engine *k, const struct reservation *from);
void engine_remove_mirror(struct engine *k, const struct meta *meta);

/* What it stands for goes. */
void engine_drop_mirror(struct engine *k, struct booking *b);

/* Makes objects for what we hold, and takes away those that stand for nothing. */
void engine_show_mirrors(struct engine *k, struct effects *out);

/* The name of its object; lives in `mem`. */
struct str engine_mirror_name(const struct engine *k, const struct booking *b, struct arena *mem);
