#include "core/model/object.h"

#include "core/model/crew.h"
#include "core/model/tables.h"

/* Behind the table: older versions, newest first. */
#define KIND(kind_, name_, version, in_namespace, s, table, ...)                                   \
    [kind_] = {.kind = kind_,                                                                      \
               .name = name_,                                                                      \
               .api_version = version,                                                             \
               .older = {__VA_ARGS__},                                                             \
               .is_namespaced = in_namespace,                                                      \
               .size = sizeof(struct s),                                                           \
               .fields = table}

#define CUSTOM_KIND(kind_, name_, version, in_namespace, s, table, ...)                            \
    [kind_] = {.kind = kind_,                                                                      \
               .name = name_,                                                                      \
               .api_version = version,                                                             \
               .older = {__VA_ARGS__},                                                             \
               .is_namespaced = in_namespace,                                                      \
               .is_custom = true,                                                                  \
               .size = sizeof(struct s),                                                           \
               .fields = table}

static const struct kind_info kinds[KIND_COUNT] = {
    KIND(KIND_POD, "Pod", "v1", true, pod, pod_fields),
    KIND(KIND_NODE, "Node", "v1", false, node, node_fields),
    KIND(KIND_NAMESPACE, "Namespace", "v1", false, namespace, namespace_fields),
    KIND(KIND_PRIORITY_CLASS, "PriorityClass", "scheduling.k8s.io/v1", false, priority_class,
         priority_class_fields),
    KIND(KIND_SERVICE, "Service", "v1", true, service, service_fields),
    KIND(KIND_REPLICATION_CONTROLLER, "ReplicationController", "v1", true, replication_controller,
         replication_controller_fields),
    KIND(KIND_REPLICA_SET, "ReplicaSet", "apps/v1", true, replica_set, replica_set_fields),
    KIND(KIND_STATEFUL_SET, "StatefulSet", "apps/v1", true, replica_set, replica_set_fields),
    KIND(KIND_JOB, "Job", "batch/v1", true, job, job_fields),
    CUSTOM_KIND(KIND_JOB_SET, "JobSet", "jobset.x-k8s.io/v1alpha2", true, crew, job_set_fields),
    CUSTOM_KIND(KIND_JAX_JOB, "JAXJob", "kubeflow.org/v1", true, crew, jax_job_fields),
    CUSTOM_KIND(KIND_MPI_JOB, "MPIJob", "kubeflow.org/v2beta1", true, crew, mpi_job_fields,
                "kubeflow.org/v1"),
    CUSTOM_KIND(KIND_PADDLE_JOB, "PaddleJob", "kubeflow.org/v1", true, crew, paddle_job_fields),
    CUSTOM_KIND(KIND_PYTORCH_JOB, "PyTorchJob", "kubeflow.org/v1", true, crew, pytorch_job_fields),
    CUSTOM_KIND(KIND_TF_JOB, "TFJob", "kubeflow.org/v1", true, crew, tf_job_fields),
    CUSTOM_KIND(KIND_XGBOOST_JOB, "XGBoostJob", "kubeflow.org/v1", true, crew, xgboost_job_fields),
    CUSTOM_KIND(KIND_RAY_CLUSTER, "RayCluster", "ray.io/v1", true, crew, ray_cluster_fields),
    CUSTOM_KIND(KIND_LEADER_WORKER_SET, "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", true,
                crew, leader_worker_set_fields),
    KIND(KIND_DISRUPTION_BUDGET, "PodDisruptionBudget", "policy/v1", true, disruption_budget,
         disruption_budget_fields),
    KIND(KIND_PERSISTENT_VOLUME, "PersistentVolume", "v1", false, persistent_volume,
         persistent_volume_fields),
    KIND(KIND_PERSISTENT_VOLUME_CLAIM, "PersistentVolumeClaim", "v1", true, persistent_volume_claim,
         persistent_volume_claim_fields),
    KIND(KIND_STORAGE_CLASS, "StorageClass", "storage.k8s.io/v1", false, storage_class,
         storage_class_fields),
    KIND(KIND_CSI_NODE, "CSINode", "storage.k8s.io/v1", false, csi_node, csi_node_fields),
    KIND(KIND_CSI_DRIVER, "CSIDriver", "storage.k8s.io/v1", false, csi_driver, csi_driver_fields),
    KIND(KIND_CSI_STORAGE_CAPACITY, "CSIStorageCapacity", "storage.k8s.io/v1", true,
         csi_storage_capacity, csi_storage_capacity_fields),
    KIND(KIND_VOLUME_ATTACHMENT, "VolumeAttachment", "storage.k8s.io/v1", false, volume_attachment,
         volume_attachment_fields),
    KIND(KIND_POD_GROUP, "PodGroup", "scheduling.k8s.io/v1beta1", true, pod_group, pod_group_fields,
         "scheduling.k8s.io/v1alpha3"),
    KIND(KIND_POD_GROUP_ALPHA2, "PodGroup", "scheduling.k8s.io/v1alpha2", true, pod_group,
         alpha2_group_fields),
    KIND(KIND_WORKLOAD, "Workload", "scheduling.k8s.io/v1alpha1", true, scheduling_workload,
         scheduling_workload_fields),
    CUSTOM_KIND(KIND_SIGS_POD_GROUP, "PodGroup", "scheduling.x-k8s.io/v1alpha1", true, pod_group,
                member_group_fields),
    CUSTOM_KIND(KIND_VOLCANO_POD_GROUP, "PodGroup", "scheduling.volcano.sh/v1beta1", true,
                pod_group, member_group_fields),
    CUSTOM_KIND(KIND_RESERVATION, "ResourceReservation", "scheduling.kubenexus.io/v1alpha1", true,
                reservation, reservation_fields),
    CUSTOM_KIND(KIND_QUEUE, "Queue", "scheduling.kubenexus.io/v1alpha1", false, queue_object,
                queue_fields),
    CUSTOM_KIND(KIND_CLUSTER_QUEUE, "ClusterQueue", "kueue.x-k8s.io/v1beta2", false, cluster_queue,
                cluster_queue_fields, "kueue.x-k8s.io/v1beta1"),
    CUSTOM_KIND(KIND_LOCAL_QUEUE, "LocalQueue", "kueue.x-k8s.io/v1beta2", true, local_queue,
                local_queue_fields, "kueue.x-k8s.io/v1beta1"),
    CUSTOM_KIND(KIND_KUEUE_WORKLOAD, "Workload", "kueue.x-k8s.io/v1beta2", true, kueue_workload,
                kueue_workload_fields, "kueue.x-k8s.io/v1beta1"),
    KIND(KIND_RESOURCE_CLAIM, "ResourceClaim", "resource.k8s.io/v1", true, resource_claim,
         resource_claim_fields),
    KIND(KIND_RESOURCE_SLICE, "ResourceSlice", "resource.k8s.io/v1", false, resource_slice,
         resource_slice_fields),
    KIND(KIND_DEVICE_CLASS, "DeviceClass", "resource.k8s.io/v1", false, device_class,
         device_class_fields),
    KIND(KIND_DEVICE_TAINT_RULE, "DeviceTaintRule", "resource.k8s.io/v1", false, device_taint_rule,
         device_taint_rule_fields),
    CUSTOM_KIND(KIND_NODE_TOPOLOGY, "NodeResourceTopology", "topology.node.k8s.io/v1alpha2", false,
                node_topology, node_topology_fields),
    KIND(KIND_RESOURCE_QUOTA, "ResourceQuota", "v1", true, resource_quota, resource_quota_fields),
};

const struct kind_info *kind_info_get(enum kind kind)
{
    assert(kind > KIND_NONE && kind < KIND_COUNT);
    return &kinds[kind];
}

/* "apps" of "apps/v1"; "" of "v1". */
static struct str group_of(struct str api_version)
{
    size_t slash = str_find(api_version, '/');
    return str_part(api_version, 0, slash < api_version.n ? slash : 0);
}

struct str kind_info_group(const struct kind_info *info)
{
    return group_of(str_of(info->api_version));
}

const struct kind_info *kind_info_find(struct str api_version, struct str kind)
{
    const struct kind_info *found = NULL;
    for (size_t i = KIND_NONE + 1; i < KIND_COUNT; i++) {
        struct str version = str_of(kinds[i].api_version);
        if (!str_equal(str_of(kinds[i].name), kind) ||
            !str_equal(group_of(version), group_of(api_version)))
            continue;
        if (!found || str_equal(version, api_version))
            found = &kinds[i];
    }
    return found;
}
