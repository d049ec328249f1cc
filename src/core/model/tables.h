#pragma once

#include "core/wire/field.h"

/* The tables that several kinds share. */
extern const struct field meta_fields[];
extern const struct field meta_condition_fields[];
extern const struct field pair_fields[];   /* an entry of a map of text, as struct pair */
extern const struct field amount_fields[]; /* an entry of a map of quantities, as struct amount */
extern const struct field exact_amount_fields[]; /* the same, of quantities of any sign */
extern const struct field label_selector_fields[];
extern const struct field requirement_fields[];
extern const struct field node_selector_fields[];
extern const struct field pod_condition_fields[];
extern const struct field pod_spec_fields[], pod_status_fields[]; /* of struct pod */
extern const struct field gce_disk_fields[], aws_disk_fields[], azure_disk_fields[];
extern const struct field cinder_fields[], portworx_fields[];
extern const struct field device_selector_fields[], device_configuration_fields[];

/* One for each kind. */
extern const struct field pod_fields[];
extern const struct field node_fields[];
extern const struct field namespace_fields[];
extern const struct field priority_class_fields[];
extern const struct field service_fields[];
extern const struct field replication_controller_fields[];
extern const struct field replica_set_fields[];
extern const struct field job_fields[];
extern const struct field job_set_fields[], leader_worker_set_fields[], ray_cluster_fields[];
extern const struct field jax_job_fields[], mpi_job_fields[], paddle_job_fields[];
extern const struct field pytorch_job_fields[], tf_job_fields[], xgboost_job_fields[];
extern const struct field disruption_budget_fields[];
extern const struct field resource_quota_fields[];
extern const struct field pod_group_fields[];    /* scheduling.k8s.io, v1beta1 and v1alpha3 */
extern const struct field alpha2_group_fields[]; /* the same, v1alpha2 */
extern const struct field scheduling_workload_fields[]; /* scheduling.k8s.io, v1alpha1 */
extern const struct field member_group_fields[];        /* scheduling.x-k8s.io and Volcano's */
extern const struct field persistent_volume_fields[];
extern const struct field persistent_volume_claim_fields[];
extern const struct field storage_class_fields[];
extern const struct field csi_node_fields[];
extern const struct field csi_driver_fields[];
extern const struct field csi_storage_capacity_fields[];
extern const struct field volume_attachment_fields[];
extern const struct field cluster_queue_fields[], local_queue_fields[], kueue_workload_fields[];
extern const struct field reservation_fields[];
extern const struct field queue_fields[], queue_spec_fields[]; /* of struct queue_object */
extern const struct field resource_claim_fields[];
extern const struct field resource_slice_fields[];
extern const struct field device_class_fields[];
extern const struct field device_taint_rule_fields[];
extern const struct field node_topology_fields[];
