#pragma once

#include "core/model/object.h"

/* How many pods the owners of pods make: JobSets, Kubeflow's jobs, RayClusters, Jobs. Each kind has
 * its numbers in places of its own; here they become what a PodGroup would say (pod_group.h), so
 * that whoever asks for the size of a group need not know who owns it.
 *
 * Some make their pods one part after the other (a JobSet that starts in order, a launcher that
 * waits for its workers): they say how many each part has, and only the parts that are there are
 * waited for. */

/* A replicated job, a kind of replicas, a group of workers. */
struct owner_part {
    struct str name;
    bool has_replicas, has_hosts, has_parallelism, has_completions, is_suspended;
    int32_t replicas, least, hosts, parallelism, completions;
    str_list after; /* dependsOn: n alone matters */
};

struct owner_object {
    struct meta meta;
    LIST(struct owner_part) parts;
    struct str order; /* startupPolicyOrder, launcherCreationPolicy, startupPolicy */
    bool autoscales, has_least_workers, is_suspended;
    int32_t least;         /* runPolicy.schedulingPolicy.minAvailable; 0: not said */
    int32_t least_workers; /* elasticPolicy.minReplicas */
    struct pod *worker;    /* of a LeaderWorkerSet: the template; its spec alone counts */
};

/* Is it the kind of an owner whose size is read? */
bool kind_is_owner(enum kind kind);

/* What an object says of the group that it stands for, a PodGroup of whichever kind or an owner;
 * false: nothing (a Job whose pods do not ask to be a gang). Lists live in `mem`. */
bool pod_group_of(const struct object *o, struct arena *mem, struct pod_group *out);
