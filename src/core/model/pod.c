#include "core/model/pod.h"

#include "core/model/tables.h"

static const struct field toleration_fields[] = {
    {FIELD(STR, "effect", 4, struct toleration, effect)},
    {FIELD(STR, "key", 1, struct toleration, key)},
    {FIELD(STR, "operator", 2, struct toleration, op)},
    {FIELD(STR, "value", 3, struct toleration, value)},
    FIELD_END,
};

static const struct field node_term_fields[] = {
    {FIELD_MESSAGES("matchExpressions", 1, struct node_selector_term, match_expressions,
                    requirement_fields)},
    {FIELD_MESSAGES("matchFields", 2, struct node_selector_term, match_fields, requirement_fields)},
    FIELD_END,
};

const struct field node_selector_fields[] = {
    {FIELD_MESSAGES("nodeSelectorTerms", 1, struct node_selector, terms, node_term_fields)},
    FIELD_END,
};

static const struct field preferred_node_fields[] = {
    {FIELD_STRUCT("preference", 2, struct preferred_node_term, preference, node_term_fields)},
    {FIELD(INT32, "weight", 1, struct preferred_node_term, weight)},
    FIELD_END,
};

static const struct field node_affinity_fields[] = {
    {FIELD_MESSAGES("preferredDuringSchedulingIgnoredDuringExecution", 2, struct node_affinity,
                    preferred, preferred_node_fields)},
    {FIELD_REF("requiredDuringSchedulingIgnoredDuringExecution", 1, struct node_affinity, required,
               node_selector_fields)},
    FIELD_END,
};

static const struct field pod_term_fields[] = {
    {FIELD_REF("labelSelector", 1, struct pod_affinity_term, label_selector,
               label_selector_fields)},
    {FIELD_STRS("matchLabelKeys", 5, struct pod_affinity_term, match_label_keys)},
    {FIELD_STRS("mismatchLabelKeys", 6, struct pod_affinity_term, mismatch_label_keys)},
    {FIELD_REF("namespaceSelector", 4, struct pod_affinity_term, namespace_selector,
               label_selector_fields)},
    {FIELD_STRS("namespaces", 2, struct pod_affinity_term, namespaces)},
    {FIELD(STR, "topologyKey", 3, struct pod_affinity_term, topology_key)},
    FIELD_END,
};

static const struct field preferred_pod_fields[] = {
    {FIELD_STRUCT("podAffinityTerm", 2, struct preferred_pod_term, term, pod_term_fields)},
    {FIELD(INT32, "weight", 1, struct preferred_pod_term, weight)},
    FIELD_END,
};

static const struct field pod_affinity_fields[] = {
    {FIELD_MESSAGES("preferredDuringSchedulingIgnoredDuringExecution", 2, struct pod_affinity,
                    preferred, preferred_pod_fields)},
    {FIELD_MESSAGES("requiredDuringSchedulingIgnoredDuringExecution", 1, struct pod_affinity,
                    required, pod_term_fields)},
    FIELD_END,
};

static const struct field affinity_fields[] = {
    {FIELD_REF("nodeAffinity", 1, struct affinity, node, node_affinity_fields)},
    {FIELD_REF("podAffinity", 2, struct affinity, pod, pod_affinity_fields)},
    {FIELD_REF("podAntiAffinity", 3, struct affinity, anti, pod_affinity_fields)},
    FIELD_END,
};

static const struct field spread_fields[] = {
    {FIELD_REF("labelSelector", 4, struct spread_constraint, label_selector,
               label_selector_fields)},
    {FIELD_STRS("matchLabelKeys", 8, struct spread_constraint, match_label_keys)},
    {FIELD(INT32, "maxSkew", 1, struct spread_constraint, max_skew)},
    {FIELD(INT32, "minDomains", 5, struct spread_constraint, min_domains)},
    {FIELD(STR, "nodeAffinityPolicy", 6, struct spread_constraint, node_affinity_policy)},
    {FIELD(STR, "nodeTaintsPolicy", 7, struct spread_constraint, node_taints_policy)},
    {FIELD(STR, "topologyKey", 2, struct spread_constraint, topology_key)},
    {FIELD(STR, "whenUnsatisfiable", 3, struct spread_constraint, when_unsatisfiable)},
    FIELD_END,
};

static const struct field port_fields[] = {
    {FIELD(INT32, "containerPort", 3, struct container_port, container_port)},
    {FIELD(STR, "hostIP", 5, struct container_port, host_ip)},
    {FIELD(INT32, "hostPort", 2, struct container_port, host_port)},
    {FIELD(STR, "protocol", 4, struct container_port, protocol)},
    FIELD_END,
};

static const struct field resources_fields[] = {
    {FIELD_ENTRIES("limits", 1, struct resource_requirements, limits, amount_fields)},
    {FIELD_ENTRIES("requests", 2, struct resource_requirements, requests, amount_fields),
     FIELD_HAS(struct resource_requirements, has_requests)},
    FIELD_END,
};

static const struct field restart_rule_fields[] = {
    {FIELD(STR, "action", 1, struct restart_rule, action)},
    FIELD_END,
};

static const struct field mount_fields[] = {
    {FIELD_STRS("bindMountOptions", 8, struct volume_mount, bind_mount_options)},
    {FIELD(STR, "name", 1, struct volume_mount, name)},
    FIELD_END,
};

static const struct field env_fields[] = {
    {FIELD(STR, "name", 1, struct env_var, name)},
    {FIELD(STR, "value", 2, struct env_var, value)},
    FIELD_END,
};

static const struct field container_fields[] = {
    {FIELD_MESSAGES("env", 7, struct container, env, env_fields)},
    {FIELD(STR, "image", 2, struct container, image)},
    {FIELD(STR, "name", 1, struct container, name)},
    {FIELD_MESSAGES("ports", 6, struct container, ports, port_fields)},
    {FIELD_STRUCT("resources", 8, struct container, resources, resources_fields)},
    {FIELD(STR, "restartPolicy", 24, struct container, restart_policy)},
    {FIELD_MESSAGES("restartPolicyRules", 25, struct container, restart_policy_rules,
                    restart_rule_fields)},
    {FIELD_MESSAGES("volumeMounts", 9, struct container, volume_mounts, mount_fields)},
    FIELD_END,
};

static const struct field claim_source_fields[] = {
    {FIELD(STR, "claimName", 1, struct claim_source, claim_name)},
    {FIELD(BOOL, "readOnly", 2, struct claim_source, read_only)},
    FIELD_END,
};

static const struct field image_source_fields[] = {
    {FIELD(STR, "reference", 1, struct image_source, reference)},
    FIELD_END,
};

static const struct field claim_template_spec_fields[] = {
    {FIELD(STR, "storageClassName", 5, struct ephemeral_source, storage_class)},
    FIELD_END,
};

static const struct field claim_template_fields[] = {
    {FIELD_PART("spec", 2, claim_template_spec_fields)},
    FIELD_END,
};

static const struct field ephemeral_source_fields[] = {
    {FIELD_PART("volumeClaimTemplate", 1, claim_template_fields)},
    FIELD_END,
};

const struct field gce_disk_fields[] = {
    {FIELD(STR, "pdName", 1, struct disk_source, id)},
    {FIELD(BOOL, "readOnly", 4, struct disk_source, read_only)},
    FIELD_END,
};

const struct field aws_disk_fields[] = {
    {FIELD(BOOL, "readOnly", 4, struct disk_source, read_only)},
    {FIELD(STR, "volumeID", 1, struct disk_source, id)},
    FIELD_END,
};

static const struct field iscsi_fields[] = {
    {FIELD(STR, "iqn", 2, struct disk_source, id)},
    {FIELD(BOOL, "readOnly", 6, struct disk_source, read_only)},
    FIELD_END,
};

static const struct field rbd_fields[] = {
    {FIELD(STR, "image", 2, struct disk_source, id)},
    {FIELD_STRS("monitors", 1, struct disk_source, monitors)},
    {FIELD(STR, "pool", 4, struct disk_source, pool)},
    {FIELD(BOOL, "readOnly", 8, struct disk_source, read_only)},
    FIELD_END,
};

const struct field azure_disk_fields[] = {
    {FIELD(STR, "diskURI", 2, struct disk_source, id)},
    {FIELD(STR, "kind", 6, struct disk_source, kind)},
    FIELD_END,
};

static const struct field azure_file_fields[] = {
    {FIELD(STR, "shareName", 2, struct disk_source, id)},
    FIELD_END,
};

const struct field cinder_fields[] = {
    {FIELD(STR, "volumeID", 1, struct disk_source, id)},
    FIELD_END,
};

const struct field portworx_fields[] = {
    {FIELD(STR, "volumeID", 1, struct disk_source, id)},
    FIELD_END,
};

static const struct field vsphere_fields[] = {
    {FIELD(STR, "volumePath", 1, struct disk_source, id)},
    FIELD_END,
};

static const struct field csi_fields[] = {
    {FIELD(STR, "driver", 1, struct csi_source, driver)},
    FIELD_END,
};

static const struct field volume_source_fields[] = {
    {FIELD_REF("awsElasticBlockStore", 4, struct volume, aws_disk, aws_disk_fields)},
    {FIELD_REF("azureDisk", 22, struct volume, azure_disk, azure_disk_fields)},
    {FIELD_REF("azureFile", 18, struct volume, azure_file, azure_file_fields)},
    {FIELD_REF("cinder", 13, struct volume, cinder, cinder_fields)},
    {FIELD_REF("csi", 28, struct volume, csi, csi_fields)},
    {FIELD_REF("ephemeral", 29, struct volume, ephemeral, ephemeral_source_fields)},
    {FIELD_REF("gcePersistentDisk", 3, struct volume, gce_disk, gce_disk_fields)},
    {FIELD_REF("image", 30, struct volume, image, image_source_fields)},
    {FIELD_REF("iscsi", 8, struct volume, iscsi, iscsi_fields)},
    {FIELD_REF("persistentVolumeClaim", 10, struct volume, claim, claim_source_fields)},
    {FIELD_REF("portworxVolume", 24, struct volume, portworx, portworx_fields)},
    {FIELD_REF("rbd", 11, struct volume, rbd, rbd_fields)},
    {FIELD_REF("vsphereVolume", 20, struct volume, vsphere, vsphere_fields)},
    FIELD_END,
};

static const struct field volume_fields[] = {
    {FIELD(STR, "name", 1, struct volume, name)},
    {FIELD_PART("", 2, volume_source_fields)},
    FIELD_END,
};

static const struct field claim_ref_fields[] = {
    {FIELD(STR, "name", 1, struct resource_claim_ref, name)},
    {FIELD(STR, "resourceClaimName", 3, struct resource_claim_ref, claim_name)},
    {FIELD(STR, "resourceClaimTemplateName", 4, struct resource_claim_ref, template_name)},
    FIELD_END,
};

static const struct field gate_fields[] = {
    {FIELD(STR, "name", 1, struct scheduling_gate, name)},
    FIELD_END,
};

static const struct field workload_ref_fields[] = {
    {FIELD(STR, "name", 1, struct pod, spec.workload.name)},
    {FIELD(STR, "podGroup", 2, struct pod, spec.workload.group)},
    {FIELD(STR, "podGroupReplicaKey", 3, struct pod, spec.workload.replica)},
    FIELD_END,
};

static const struct field group_fields[] = {
    {FIELD(STR, "podGroupName", 1, struct pod, spec.scheduling_group)},
    FIELD_END,
};

const struct field pod_spec_fields[] = {
    {FIELD(INT64, "activeDeadlineSeconds", 5, struct pod, spec.active_deadline_seconds),
     FIELD_HAS(struct pod, spec.has_active_deadline)},
    {FIELD_REF("affinity", 18, struct pod, spec.affinity, affinity_fields)},
    {FIELD_MESSAGES("containers", 2, struct pod, spec.containers, container_fields)},
    {FIELD(BOOL, "hostNetwork", 11, struct pod, spec.host_network)},
    {FIELD(BOOL, "hostUsers", 37, struct pod, spec.host_users),
     FIELD_HAS(struct pod, spec.has_host_users)},
    {FIELD_MESSAGES("initContainers", 20, struct pod, spec.init_containers, container_fields)},
    {FIELD(STR, "nodeName", 10, struct pod, spec.node_name)},
    {FIELD_ENTRIES("nodeSelector", 7, struct pod, spec.node_selector, pair_fields),
     FIELD_HAS(struct pod, spec.has_node_selector)},
    {FIELD_ENTRIES("overhead", 32, struct pod, spec.overhead, amount_fields)},
    {FIELD(STR, "preemptionPolicy", 31, struct pod, spec.preemption_policy)},
    {FIELD(INT32, "priority", 25, struct pod, spec.priority),
     FIELD_HAS(struct pod, spec.has_priority)},
    {FIELD(STR, "priorityClassName", 24, struct pod, spec.priority_class_name)},
    {FIELD_MESSAGES("resourceClaims", 39, struct pod, spec.resource_claims, claim_ref_fields)},
    {FIELD_REF("resources", 40, struct pod, spec.resources, resources_fields)},
    {FIELD(STR, "schedulerName", 19, struct pod, spec.scheduler_name)},
    {FIELD_MESSAGES("schedulingGates", 38, struct pod, spec.gates, gate_fields)},
    {FIELD_PART("schedulingGroup", 43, group_fields)},
    {FIELD_MESSAGES("tolerations", 22, struct pod, spec.tolerations, toleration_fields)},
    {FIELD_MESSAGES("topologySpreadConstraints", 33, struct pod, spec.spread, spread_fields)},
    {FIELD_MESSAGES("volumes", 1, struct pod, spec.volumes, volume_fields)},
    {FIELD_PART("workloadRef", 42, workload_ref_fields)},
    FIELD_END,
};

const struct field pod_condition_fields[] = {
    {FIELD(STR, "message", 6, struct pod_condition, message)},
    {FIELD(STR, "reason", 5, struct pod_condition, reason)},
    {FIELD(STR, "status", 2, struct pod_condition, status)},
    {FIELD(STR, "type", 1, struct pod_condition, type)},
    FIELD_END,
};

static const struct field container_status_fields[] = {
    {FIELD_ENTRIES("allocatedResources", 10, struct container_status, allocated, amount_fields),
     FIELD_HAS(struct container_status, has_allocated)},
    {FIELD(STR, "name", 1, struct container_status, name)},
    {FIELD_REF("resources", 11, struct container_status, resources, resources_fields)},
    FIELD_END,
};

static const struct field claim_status_fields[] = {
    {FIELD(STR, "name", 1, struct resource_claim_status, name)},
    {FIELD(STR, "resourceClaimName", 2, struct resource_claim_status, claim_name),
     FIELD_HAS(struct resource_claim_status, has_claim)},
    FIELD_END,
};

const struct field pod_status_fields[] = {
    {FIELD_ENTRIES("allocatedResources", 19, struct pod, status.allocated, amount_fields),
     FIELD_HAS(struct pod, status.has_allocated)},
    {FIELD_MESSAGES("conditions", 2, struct pod, status.conditions, pod_condition_fields)},
    {FIELD_MESSAGES("containerStatuses", 8, struct pod, status.containers,
                    container_status_fields)},
    {FIELD_MESSAGES("initContainerStatuses", 10, struct pod, status.init_containers,
                    container_status_fields)},
    {FIELD(STR, "nominatedNodeName", 11, struct pod, status.nominated_node_name)},
    {FIELD(STR, "phase", 1, struct pod, status.phase)},
    {FIELD_MESSAGES("resourceClaimStatuses", 15, struct pod, status.resource_claims,
                    claim_status_fields)},
    {FIELD_REF("resources", 20, struct pod, status.resources, resources_fields)},
    {FIELD(TIME, "startTime", 7, struct pod, status.start_ms)},
    FIELD_END,
};

const struct field pod_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct pod, meta, meta_fields)},
    {FIELD_PART("spec", 2, pod_spec_fields)},
    {FIELD_PART("status", 3, pod_status_fields)},
    FIELD_END,
};
