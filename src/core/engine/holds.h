#pragma once

#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"
#include "core/engine/effect.h"
#include "core/engine/show.h"
#include "core/model/reservation.h"

/* Room that is held for a group of pods: what ResourceReservations ask for.
 *
 * A hold is a pod that nobody runs. It has a row like any other, so that whatever counts pods
 * counts it, and waits in the queue for its node; of two reservations that want the same room the
 * first one has it. It is in no namespace and has no labels, so that nobody selects it, and nobody
 * is important enough to evict it.
 *
 * When a pod of the group is placed, the holds of the group make way: they are lifted before the
 * decision and lowered behind it. Each pod that found a node uses one of them up, on its node if
 * there is one there; the others are back where they were. A pod that goes without having ended
 * well gives its hold back, and its node is tried first for it.
 *
 * Pods that are made only when others run have holds as well (company.c): those that a pod makes
 * itself (core/model/driver.h), and members of a gang that come one after the other. The pod that
 * is there, the *driver*, is placed only when they would find room beside it, and they look for it
 * at once. While one of them is not used up, nobody evicts it.
 *
 * Nothing of this is stored but the reservations: after a restart pods of the group that run
 * already use up the holds before these look for room. */

struct engine;

struct hold {
    sym entry;
    uint32_t pod;  /* its row */
    uint32_t user; /* the pod that uses it up; ID_NONE: nobody */
    bool is_spent; /* its user has ended well */
    bool is_meant; /* the reservation still has the entry */
};

/* A reservation as the engine knows it. */
struct booking {
    sym namespace, name; /* SYM_NONE: the number is free */
    sym group;           /* SYM_NONE: nobody's */
    int64_t ends_ms;     /* when it is over */
    bool is_over;
    uint32_t driver; /* the pod whose company it is for; ID_NONE: it is a reservation's */
    uint32_t gang; /* whose members come one after the other; ID_NONE: the driver makes them, … */
    uint32_t told; /* … or says that it makes so many; 0: what the gang lacks */
    shape_id like; /* of such a gang's holds, held; ID_NONE: of another's */
    bool is_own;   /* made by us: for pods that are still to be placed, not for those that run */
    VEC(struct hold) holds; /* in the order in which their entries came */
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

struct holds {
    VEC(struct booking) bookings;
    struct map of_pod;  /* the row of a hold → its booking */
    struct map of_user; /* a pod that uses a hold up → the booking */
    struct map of_driver;
    struct map of_gang; /* that comes in turn → its booking */
    int64_t next_ms;    /* when the next is over; INT64_MAX: never */
    VEC(struct stray) strays;
    bool has_begun; /* something was shown: objects of our own are of this life */

    VEC(struct lifted {
        uint32_t booking;
        uint32_t hold;
        uint32_t node;
    })
    lifted; /* in this step */
};

void engine_put_reservation(struct engine *k, int64_t now_ms, const struct reservation *from);
void engine_remove_reservation(struct engine *k, int64_t now_ms, const struct meta *meta);

/* Is it one of our own: of a driver, a lost member or a gang that starves? */
bool booking_is_own(const struct booking *b);

bool booking_is_for(const struct booking *b, sym namespace, sym group);

/* A reservation of our own (keep.c). */
void engine_book(struct engine *k, int64_t now_ms, const struct reservation *from);

/* Is the pod a hold that looks for no room: it has some, it is used up, or its driver waits? */
bool engine_is_idle_hold(const struct engine *k, pod_id pod);

/* The hold of this number in a reservation of our own, which has no room yet, goes where the pod
 * may go. */
void engine_dress_hold(struct engine *k, const struct meta *meta, uint32_t number, pod_id like);

/* One step for a hold that looks for room; false: the pod is none. */
bool engine_step_hold(struct engine *k, int64_t now_ms, pod_id pod);

/* All at once, for explanations. */
void engine_place_holds(struct engine *k);

/* Is there room reserved for the pod's group? */
bool engine_has_booking(const struct engine *k, pod_id pod);

/* The holds of the pod's group make way. */
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

/* The pod is off the node for good. */
void engine_give_back(struct engine *k, int64_t now_ms, pod_id pod, sym node, enum leaving why);

/* Reservations whose time is over hold nothing any more. */
void engine_end_holds(struct engine *k, int64_t now_ms);

void holds_done(struct holds *h);

/* What the files of holds share: the group that a pod names, else the application whose parts share
 * a reservation; a new booking, whose group is nobody's yet; its holds, which go where the pod
 * `like` may go (NULL: anywhere); one hold, or all of it, is over. */
struct group_key {
    sym namespace, name; /* SYM_NONE: no group */
};

struct group_key engine_holds_key(const struct engine *k, pod_id pod);
struct booking *engine_add_booking(struct engine *k, const struct meta *meta);
void engine_set_booking_group(struct engine *k, struct booking *b, struct str group);
void engine_put_holds(struct engine *k, int64_t now_ms, struct booking *b,
                      const struct reservation *from, const struct pod *like);
struct pod *engine_hold_pod(const struct engine *k, const struct reservation *r,
                            const struct reserved *entry, const struct pod *like,
                            struct arena *mem);
struct hold *engine_entry_hold(struct engine *k, struct booking *b, struct str entry);
void engine_tell_free(struct engine *k, pod_id pod, node_id node); /* the hold is off it */
bool hold_looks_for_room(const struct engine *k, const struct hold *hold);
void engine_end_hold(struct engine *k, int64_t now_ms, struct hold *hold);
void engine_drop_booking(struct engine *k, int64_t now_ms, struct booking *b);
void holds_find_next_end(struct holds *h);

/* Does nobody run the pod? */
static inline bool holds_has(const struct holds *h, uint32_t pod)
{
    return h->of_pod.n && map_find(&h->of_pod, pod) != MAP_NONE;
}

/* --- company.c --- */

/* The pod came or changed: it may have company to come. */
void engine_put_driver(struct engine *k, int64_t now_ms, pod_id pod, const struct pod *from);

/* It is gone, or of another gang. */
void engine_remove_driver(struct engine *k, int64_t now_ms, pod_id pod);

/* The pod is on a node: its company's room is looked for. */
void engine_let_company_in(struct engine *k, int64_t now_ms, pod_id pod);

/* Is it for those who come when others run, and those do not? Nobody uses it yet. */
bool booking_is_early(const struct engine *k, const struct booking *b);

/* Nobody evicts a driver while one of its company is still to come. */
void engine_guard_driver(struct engine *k, const struct booking *b);

/* Would its workers find room beside the pod, which is in no gang? If not, it is refused. */
bool engine_has_company(struct engine *k, int64_t now_ms, pod_id pod, struct effects *out);

/* What is said of the gang changed: so must the number of those to come. */
void engine_count_company(struct engine *k, int64_t now_ms, uint32_t group);

/* A member is gone. If none runs any more, those to come are waited for as at first. */
void engine_end_turn(struct engine *k, uint32_t group);

/* Of a gang none of whose members runs: the holds for those to come, and how many it wants to be,
 * with them. NULL: nobody is still to come. */
const struct booking *engine_company_of(const struct engine *k, uint32_t group, uint32_t *wants);
