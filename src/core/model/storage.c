#include "core/model/storage.h"

#include "core/model/tables.h"

/* --- volumes --- */

static const struct field csi_fields[] = {
    {FIELD(STR, "driver", 1, struct csi_source, driver)},
    {FIELD(STR, "volumeHandle", 2, struct csi_source, handle)},
    FIELD_END,
};

static const struct field origin_fields[] = {
    {FIELD_REF("awsElasticBlockStore", 2, struct persistent_volume, spec.aws_disk,
               aws_disk_fields)},
    {FIELD_REF("azureDisk", 16, struct persistent_volume, spec.azure_disk, azure_disk_fields)},
    {FIELD_REF("cinder", 8, struct persistent_volume, spec.cinder, cinder_fields)},
    {FIELD_REF("csi", 22, struct persistent_volume, spec.csi, csi_fields)},
    {FIELD_REF("gcePersistentDisk", 1, struct persistent_volume, spec.gce_disk, gce_disk_fields)},
    {FIELD_REF("portworxVolume", 18, struct persistent_volume, spec.portworx, portworx_fields)},
    FIELD_END,
};

static const struct field reference_fields[] = {
    {FIELD(STR, "name", 3, struct claim_ref, name)},
    {FIELD(STR, "namespace", 2, struct claim_ref, namespace)},
    {FIELD(STR, "uid", 4, struct claim_ref, uid)},
    FIELD_END,
};

static const struct field volume_affinity_fields[] = {
    {FIELD_REF("required", 1, struct persistent_volume, spec.node_affinity, node_selector_fields)},
    FIELD_END,
};

static const struct field volume_spec_fields[] = {
    {FIELD_STRS("accessModes", 3, struct persistent_volume, spec.access_modes)},
    {FIELD_ENTRIES("capacity", 1, struct persistent_volume, spec.capacity, amount_fields)},
    {FIELD_REF("claimRef", 4, struct persistent_volume, spec.claim_ref, reference_fields)},
    {FIELD_PART("nodeAffinity", 9, volume_affinity_fields)},
    {FIELD(STR, "storageClassName", 6, struct persistent_volume, spec.storage_class)},
    {FIELD(STR, "volumeAttributesClassName", 10, struct persistent_volume, spec.attributes_class)},
    {FIELD(STR, "volumeMode", 8, struct persistent_volume, spec.mode)},
    {FIELD_PART("", 2, origin_fields)},
    FIELD_END,
};

static const struct field volume_status_fields[] = {
    {FIELD(STR, "phase", 1, struct persistent_volume, phase)},
    FIELD_END,
};

const struct field persistent_volume_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct persistent_volume, meta, meta_fields)},
    {FIELD_PART("spec", 2, volume_spec_fields)},
    {FIELD_PART("status", 3, volume_status_fields)},
    FIELD_END,
};

/* --- claims --- */

static const struct field claim_resources_fields[] = {
    {FIELD_ENTRIES("requests", 2, struct persistent_volume_claim, spec.requests, amount_fields)},
    FIELD_END,
};

static const struct field claim_spec_fields[] = {
    {FIELD_STRS("accessModes", 1, struct persistent_volume_claim, spec.access_modes)},
    {FIELD_PART("resources", 2, claim_resources_fields)},
    {FIELD_REF("selector", 4, struct persistent_volume_claim, spec.selector,
               label_selector_fields)},
    {FIELD(STR, "storageClassName", 5, struct persistent_volume_claim, spec.storage_class)},
    {FIELD(STR, "volumeAttributesClassName", 9, struct persistent_volume_claim,
           spec.attributes_class)},
    {FIELD(STR, "volumeMode", 6, struct persistent_volume_claim, spec.mode)},
    {FIELD(STR, "volumeName", 3, struct persistent_volume_claim, spec.volume_name)},
    FIELD_END,
};

static const struct field claim_status_fields[] = {
    {FIELD(STR, "phase", 1, struct persistent_volume_claim, phase)},
    FIELD_END,
};

const struct field persistent_volume_claim_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct persistent_volume_claim, meta, meta_fields)},
    {FIELD_PART("spec", 2, claim_spec_fields)},
    {FIELD_PART("status", 3, claim_status_fields)},
    FIELD_END,
};

/* --- who provides them --- */

static const struct field topology_requirement_fields[] = {
    {FIELD(STR, "key", 1, struct topology_requirement, key)},
    {FIELD_STRS("values", 2, struct topology_requirement, values)},
    FIELD_END,
};

static const struct field topology_term_fields[] = {
    {FIELD_MESSAGES("matchLabelExpressions", 1, struct topology_term, all,
                    topology_requirement_fields)},
    FIELD_END,
};

const struct field storage_class_fields[] = {
    {FIELD_MESSAGES("allowedTopologies", 8, struct storage_class, allowed_topologies,
                    topology_term_fields)},
    {FIELD_STRUCT("metadata", 1, struct storage_class, meta, meta_fields)},
    {FIELD(STR, "provisioner", 2, struct storage_class, provisioner)},
    {FIELD(STR, "volumeBindingMode", 7, struct storage_class, binding_mode)},
    FIELD_END,
};

static const struct field node_resources_fields[] = {
    {FIELD(INT32, "count", 1, struct csi_node_driver, count),
     FIELD_HAS(struct csi_node_driver, has_count)},
    FIELD_END,
};

static const struct field node_driver_fields[] = {
    {FIELD_PART("allocatable", 4, node_resources_fields)},
    {FIELD(STR, "name", 1, struct csi_node_driver, name)},
    FIELD_END,
};

static const struct field csi_node_spec_fields[] = {
    {FIELD_MESSAGES("drivers", 1, struct csi_node, drivers, node_driver_fields)},
    FIELD_END,
};

const struct field csi_node_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct csi_node, meta, meta_fields)},
    {FIELD_PART("spec", 2, csi_node_spec_fields)},
    FIELD_END,
};

static const struct field csi_driver_spec_fields[] = {
    {FIELD(BOOL, "preventPodSchedulingIfMissing", 11, struct csi_driver, must_be_installed)},
    {FIELD(BOOL, "storageCapacity", 4, struct csi_driver, tracks_capacity)},
    FIELD_END,
};

const struct field csi_driver_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct csi_driver, meta, meta_fields)},
    {FIELD_PART("spec", 2, csi_driver_spec_fields)},
    FIELD_END,
};

const struct field csi_storage_capacity_fields[] = {
    {FIELD(SCALAR, "capacity", 4, struct csi_storage_capacity, capacity),
     FIELD_HAS(struct csi_storage_capacity, has_capacity), .scalar = &quantity_scalar},
    {FIELD(SCALAR, "maximumVolumeSize", 5, struct csi_storage_capacity, most),
     FIELD_HAS(struct csi_storage_capacity, has_most), .scalar = &quantity_scalar},
    {FIELD_STRUCT("metadata", 1, struct csi_storage_capacity, meta, meta_fields)},
    {FIELD_REF("nodeTopology", 2, struct csi_storage_capacity, node_topology,
               label_selector_fields)},
    {FIELD(STR, "storageClassName", 3, struct csi_storage_capacity, storage_class)},
    FIELD_END,
};

static const struct field attachment_source_fields[] = {
    {FIELD(STR, "persistentVolumeName", 1, struct volume_attachment, volume_name)},
    FIELD_END,
};

static const struct field attachment_spec_fields[] = {
    {FIELD(STR, "attacher", 1, struct volume_attachment, attacher)},
    {FIELD(STR, "nodeName", 3, struct volume_attachment, node_name)},
    {FIELD_PART("source", 2, attachment_source_fields)},
    FIELD_END,
};

const struct field volume_attachment_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct volume_attachment, meta, meta_fields)},
    {FIELD_PART("spec", 2, attachment_spec_fields)},
    FIELD_END,
};
