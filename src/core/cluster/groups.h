#pragma once

#include "core/base/buf.h"
#include "core/base/vec.h"
#include "core/cluster/names.h"
#include "core/model/gang.h"
#include "core/model/pod_group.h"

/* Who belongs together: the groups that pods name (core/model/gang.h) and their members.
 *
 * A group stands for as long as a pod names it or its object is there. It keeps what is said about
 * it and who its members are; where they are stands in their rows and is counted there when
 * somebody asks, so that transactions have nothing to undo here. Numbers of groups are used again.
 *
 * Members that have ended well count towards the quorum: how many they were is kept while a member
 * is left, and beyond that for members of the same owner. */

/* The pods of one role, of a group that comes role by role. */
struct group_share {
    sym role;
    int32_t minimum;
};

struct group {
    /* The first members are what a group is found by. */
    sym namespace, name;
    uint32_t object; /* enum kind; KIND_NONE: it has none */

    VEC(uint32_t) members;          /* pods, in no order that matters */
    int32_t said;                   /* the largest size that a member has named; 0: none has */
    uint32_t n_say, n_troubled;     /* members that name it, and that name one which is none */
    struct gang_place named, sized; /* where members say so, without the values */
    int32_t written;                /* what its object says; 0: it is none, or says nothing */
    bool has_object;
    bool is_leaving;                /* its object is being deleted */
    bool goes_whole;                /* all of it is evicted, or nobody */
    bool comes_in_turn;             /* a member says that others are made when it runs, … */
    bool is_written_in_turn;        /* … or its object does */
    VEC(struct group_share) shares; /* what its object says of each role; none: of all together */
    sym model;      /* the group of a Workload of which it is a replica, or the LeaderWorkerSet
                     * whose it is; SYM_NONE: neither */
    VEC(sym) roles; /* that members have; only where an owner is the object */
    uint32_t ended_before; /* as its object says */
    uint32_t ended;        /* members that are gone because their work is done */
    uint64_t owner;        /* of the members, as a hash */
    sym required;          /* key of the label whose domain holds all members; SYM_NONE: none */
    sym preferred;         /* a list of such keys with commas, the tightest first; SYM_NONE: none */
    struct buf trouble;    /* why its members cannot be judged, as the last of them has it */
    struct buf conflict;   /* what one of them said that was not heard; "": nothing */
};

enum { GROUP_KEY_BYTES = 3 * sizeof(uint32_t) };

struct groups {
    uint32_t changes; /* of objects and of members: so many there were */
    struct intern table;
    VEC(struct group) at;
    VEC(struct membership {
        uint32_t group;      /* ID_NONE: in no group */
        uint32_t slot;       /* its index among the members */
        int32_t said;        /* the size that it names; 0: it does not */
        uint32_t is_trouble; /* it names one that is none */
    })
    of; /* by pod */
};

void groups_done(struct groups *g);

/* The group of a pod; ID_NONE: none. */
static inline uint32_t groups_of(const struct groups *g, pod_id pod)
{
    return pod.i < g->of.n ? g->of.at[pod.i].group : ID_NONE;
}

/* What a pod says of its group, in one piece. */
struct group_claim {
    const struct gang_identity *identity; /* NULL: it is in no group */
    sym namespace;
    uint64_t owner;
};

/* The group that the claim is about; ID_NONE: there is no such group yet. */
uint32_t groups_find(const struct groups *g, const struct names *names,
                     const struct group_claim *claim);

/* The group of this name whose object is of this kind; ID_NONE: there is none. */
uint32_t groups_named(const struct groups *g, sym namespace, sym name, enum kind object);

/* Is the pod in the group that it claims, or in none as it claims? */
bool groups_has(const struct groups *g, const struct names *names, pod_id pod,
                const struct group_claim *claim);

/* The pod says this now, whatever it said before; returns its group, or ID_NONE. */
uint32_t groups_put(struct groups *g, struct names *names, pod_id pod,
                    const struct group_claim *claim);

/* The pod is gone; `has_ended`: its work is done. */
void groups_remove(struct groups *g, struct names *names, pod_id pod, bool has_ended);

/* The group's object came or changed (NULL: it is gone); returns the group, ID_NONE if nobody knows
 * it. `differs`: what it says of the group is not what it said before, but for how many of it have
 * ended. */
uint32_t groups_put_object(struct groups *g, struct names *names, enum kind kind,
                           const struct meta *meta, const struct pod_group *object, bool *differs);

/* Members that have ended well, as far as we or its object know. */
static inline uint32_t group_ended(const struct group *group)
{
    return MAX(group->ended, group->ended_before);
}

/* Do pods name the group that this object stands for? */
bool groups_are_named(const struct groups *g, const struct names *names, enum kind kind,
                      const struct meta *meta);

/* Does its object know better than its members how many they must be? */
bool group_heeds_object(const struct group *group);

/* Are its members made one after the other? Then to wait for all of them is in vain. */
static inline bool group_comes_in_turn(const struct group *group)
{
    return group->comes_in_turn || group->is_written_in_turn;
}

/* The group is a replica, and its model may say something else now: true if so. */
bool groups_follow(struct groups *g, uint32_t id);

/* How many members must run together; 1: any number may. */
int32_t group_minimum(const struct group *group);

/* Must its members be placed with regard to each other: at least two at once, or in one domain? So
 * must they while the object is not there that would say so, or nobody understands what they say.
 */
bool group_is_gang(const struct group *group);
bool group_lacks_object(const struct group *group);

/* As cluster_tidy() and pods_trim() do. */
void groups_tidy(struct groups *g, struct names *names, enum tidy how);
void groups_trim(struct groups *g, uint32_t pods);
