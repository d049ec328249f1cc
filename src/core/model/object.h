#pragma once

#include "core/base/error.h"
#include "core/model/kueue.h"
#include "core/model/meta.h"
#include "core/model/node.h"
#include "core/model/node_topology.h"
#include "core/model/pod.h"
#include "core/model/pod_group.h"
#include "core/model/queue.h"
#include "core/model/quota.h"
#include "core/model/reservation.h"
#include "core/model/resource_claim.h"
#include "core/model/storage.h"
#include "core/model/workload.h"

/* Any object we know, as one value. */

struct crew; /* crew.h */

enum kind {
    KIND_NONE, /* a kind we do not read */
    KIND_POD,
    KIND_NODE,
    KIND_NAMESPACE,
    KIND_PRIORITY_CLASS,
    KIND_SERVICE,
    KIND_REPLICATION_CONTROLLER,
    KIND_REPLICA_SET,
    KIND_STATEFUL_SET,
    KIND_JOB,
    KIND_JOB_SET,
    KIND_JAX_JOB, /* the first of Kubeflow's, */
    KIND_MPI_JOB,
    KIND_PADDLE_JOB,
    KIND_PYTORCH_JOB,
    KIND_TF_JOB,
    KIND_XGBOOST_JOB, /* and the last */
    KIND_RAY_CLUSTER,
    KIND_LEADER_WORKER_SET,
    KIND_DISRUPTION_BUDGET,
    KIND_PERSISTENT_VOLUME,
    KIND_PERSISTENT_VOLUME_CLAIM,
    KIND_STORAGE_CLASS,
    KIND_CSI_NODE,
    KIND_CSI_DRIVER,
    KIND_CSI_STORAGE_CAPACITY,
    KIND_VOLUME_ATTACHMENT,
    KIND_POD_GROUP,         /* of scheduling.k8s.io */
    KIND_POD_GROUP_ALPHA2,  /* the same as Kubernetes 1.36 has it */
    KIND_WORKLOAD,          /* of scheduling.k8s.io, in whose place 1.35 has it */
    KIND_SIGS_POD_GROUP,    /* of scheduling.x-k8s.io */
    KIND_VOLCANO_POD_GROUP, /* of scheduling.volcano.sh */
    KIND_RESERVATION,
    KIND_QUEUE, /* ours */
    KIND_CLUSTER_QUEUE,
    KIND_LOCAL_QUEUE,
    KIND_KUEUE_WORKLOAD,
    KIND_RESOURCE_CLAIM,
    KIND_RESOURCE_SLICE,
    KIND_DEVICE_CLASS,
    KIND_DEVICE_TAINT_RULE,
    KIND_NODE_TOPOLOGY, /* of topology.node.k8s.io */
    KIND_RESOURCE_QUOTA,
    KIND_COUNT,
};

struct object {
    enum kind kind;
    union {
        struct meta *meta; /* every kind begins with its metadata */
        struct pod *pod;
        struct node *node;
        struct namespace *namespace;
        struct priority_class *priority_class;
        struct service *service;
        struct replication_controller *replication_controller;
        struct replica_set *replica_set; /* also KIND_STATEFUL_SET */
        struct job *job;
        struct crew *crew; /* JobSets, Kubeflow's jobs, RayClusters */
        struct disruption_budget *disruption_budget;
        struct resource_quota *resource_quota;
        struct persistent_volume *persistent_volume;
        struct persistent_volume_claim *persistent_volume_claim;
        struct storage_class *storage_class;
        struct csi_node *csi_node;
        struct csi_driver *csi_driver;
        struct csi_storage_capacity *csi_storage_capacity;
        struct volume_attachment *volume_attachment;
        struct pod_group *pod_group; /* of whichever kind */
        struct scheduling_workload *workload;
        struct reservation *reservation;
        struct queue_object *queue;
        struct cluster_queue *cluster_queue;
        struct local_queue *local_queue;
        struct kueue_workload *kueue_workload;
        struct resource_claim *resource_claim;
        struct resource_slice *resource_slice;
        struct device_class *device_class;
        struct device_taint_rule *device_taint_rule;
        struct node_topology *node_topology;
    };
};

enum { OLDER_MOST = 2 };

/* What a kind is called, where it lives in the API, whether it has a namespace. */
struct kind_info {
    enum kind kind;
    const char *name;              /* Pod */
    const char *api_version;       /* v1, apps/v1: the newest that we know */
    const char *older[OLDER_MOST]; /* of the same group, newest first; NULL: no more */
    bool is_namespaced;
    bool is_custom; /* defined by a CustomResourceDefinition: JSON alone, and no strategic merge */
    size_t size;
    const struct field *fields;
};

const struct kind_info *kind_info_get(enum kind kind);

/* apps of apps/v1; "" of v1. */
struct str kind_info_group(const struct kind_info *info);

/* NULL if we do not read such a kind. The group must match, any version of it will do; a kind of
 * that very version comes first. */
const struct kind_info *kind_info_find(struct str api_version, struct str kind);
