#pragma once

#include "core/model/pod.h"

/* Volumes and who provides them, as far as a scheduler reads them. Field names are the API's. */

struct persistent_volume {
    struct meta meta;
    struct {
        amount_list capacity;
        struct csi_source
            *csi; /* at most one of the sources; those that no plugin reads are left out */
        struct disk_source *gce_disk, *aws_disk, *azure_disk, *cinder, *portworx;
        str_list access_modes;
        struct claim_ref {
            struct str namespace, name, uid;
        } * claim_ref;
        struct str storage_class, mode, attributes_class;
        struct node_selector *node_affinity; /* NULL: any node */
    } spec;
    struct str phase;
};

struct persistent_volume_claim {
    struct meta meta;
    struct {
        str_list access_modes;
        amount_list requests;
        struct label_selector *selector;
        struct str volume_name, storage_class, mode, attributes_class;
    } spec;
    struct str phase;
};

struct topology_requirement {
    struct str key;
    str_list values;
};

struct topology_term {
    LIST(struct topology_requirement) all;
};

struct storage_class {
    struct meta meta;
    struct str provisioner, binding_mode;
    LIST(struct topology_term) allowed_topologies;
};

struct csi_node {
    struct meta meta;
    LIST(struct csi_node_driver {
        struct str name;
        bool has_count;
        int32_t count; /* of volumes that it can attach */
    })
    drivers;
};

struct csi_driver {
    struct meta meta;
    bool tracks_capacity, must_be_installed;
};

struct csi_storage_capacity {
    struct meta meta;
    struct label_selector *node_topology; /* NULL: of no node */
    struct str storage_class;
    bool has_capacity, has_most;
    struct quantity capacity, most; /* in all; of one volume */
};

struct volume_attachment {
    struct meta meta;
    struct str attacher, node_name, volume_name;
};
