#pragma once

#include "core/model/pod.h"

/* How much a pod asks for: upstream's aggregation over containers, init containers, sidecars,
 * pod-level resources, overhead, and what status says of a resize in progress. Sums are exact;
 * nothing is rounded here. The five callers upstream differ in three switches. */
struct request_rules {
    bool status_aware;    /* the larger of spec, allocated and actuated */
    bool pod_level;       /* spec.resources overrides the containers' sum */
    bool default_missing; /* a container without cpu or memory counts as 100m, 200Mi */
    int32_t drift;        /* how often upstream has summed this pod up before */
};

/* Upstream has a mistake: where spec.resources gives a quantity in the second form (quantity.h),
 * each sum leaves the overhead in the pod, and the next one adds it again, but for sums that heed
 * status.resources. Text as an API server returns it has the first form up to 90Ti: this is about
 * files, and very large pods. How often a new pod has been summed up before: */
enum {
    DRIFT_FILTER = 2, /* for its signature, when it is queued */
    DRIFT_SCORE = 4,  /* by two filters */
};

/* The total per resource name, in the order of first appearance; lives in `mem`. */
amount_list pod_requests(const struct pod *pod, struct request_rules rules, struct arena *mem);

/* The drift of what a pod takes on a node: a pod that is nominated to it is new, and where a
 * default is missing a pod is summed up once more before the first sum is used. */
int32_t pod_drift_held(const struct pod *pod, struct arena *mem);

/* The drift of what is balanced: cpu is looked at first. */
int32_t pod_drift_scored(const struct pod *pod, bool is_memory);

/* Says its status nothing that counts for what it asks for? */
bool pod_status_is_silent(const struct pod *pod);

/* Do all rules come to the same? Most pods name cpu and memory in every container and are not being
 * resized: then they do. False: they may not. */
bool pod_requests_agree(const struct pod *pod);

/* Is its class of service Guaranteed: cpu and memory are limited to what is requested, in every
 * container or for the pod as a whole? */
bool pod_is_guaranteed(const struct pod *pod);

/* Which names become scalar columns: extended resources, hugepages-*, attachable-volumes-*,
 * kubernetes.io/-prefixed. cpu, memory, ephemeral-storage and pods are not scalars. */
bool resource_is_scalar(struct str name);
bool resource_is_extended(struct str name);

/* Is it a GPU or its like: whole, a slice, or shared? */
bool resource_is_accelerator(struct str name);

/* One of a dozen names of accelerators, which stand in the code. */
bool resource_is_well_known(struct str name);
