#pragma once

#include "core/model/meta.h"

/* The objects that say how large a gang is, whoever defined them: PodGroup of scheduling.k8s.io
 * (built in, where it is served), of scheduling.x-k8s.io (scheduler-plugins) and of
 * scheduling.volcano.sh. We read what is there and install none of them. */

struct topology_constraint {
    struct str key; /* of a node label: all members in one domain of it */
};

/* Pods that play one role. */
struct group_part {
    struct str role;
    int32_t minimum;
};

struct pod_group {
    struct meta meta;
    int32_t minimum; /* gang.minCount, or minMember; 0: not a gang */
    LIST(struct group_part)
    parts;                      /* only those of these count whose pods are there; none: minimum */
    bool comes_in_turn;         /* its members are made one after the other */
    uint32_t ended;             /* members that are known to have ended well */
    bool goes_whole;            /* all of it is evicted, or nobody; also as disruption_mode, */
    struct str disruption_mode; /* which of v1alpha2 is a word */
    LIST(struct topology_constraint) topology;
    struct str phase; /* of custom kinds */
    condition_list conditions;
};

/* A Workload of scheduling.k8s.io/v1alpha1: groups of pods without objects of their own. */
struct workload_group {
    struct str name;
    int32_t minimum; /* 0: not a gang */
};

struct scheduling_workload {
    struct meta meta;
    LIST(struct workload_group) groups;
};
