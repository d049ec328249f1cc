#pragma once

#include "core/model/meta.h"

/* A pod, as far as a scheduler reads it. Field names are the API's; comments say what differs. */

struct toleration {
    struct str key, op, value, effect; /* op: "", Equal, Exists, Lt, Gt */
};

struct node_selector_term {
    LIST(struct requirement) match_expressions;
    LIST(struct requirement) match_fields;
};

struct node_selector {
    LIST(struct node_selector_term) terms;
};

struct preferred_node_term {
    int32_t weight;
    struct node_selector_term preference;
};

struct node_affinity {
    struct node_selector *required; /* NULL: none; without terms: matches no node */
    LIST(struct preferred_node_term) preferred;
};

struct pod_affinity_term {
    struct label_selector *label_selector;
    struct label_selector *namespace_selector;
    str_list namespaces;
    struct str topology_key;
    str_list match_label_keys, mismatch_label_keys;
};

struct preferred_pod_term {
    int32_t weight;
    struct pod_affinity_term term;
};

struct pod_affinity { /* PodAffinity and PodAntiAffinity alike */
    LIST(struct pod_affinity_term) required;
    LIST(struct preferred_pod_term) preferred;
};

struct affinity {
    struct node_affinity *node;
    struct pod_affinity *pod, *anti;
};

struct spread_constraint {
    int32_t max_skew;
    int32_t min_domains; /* 0: absent */
    struct str topology_key, when_unsatisfiable;
    struct label_selector *label_selector;
    struct str node_affinity_policy, node_taints_policy;
    str_list match_label_keys;
};

struct container_port {
    int32_t host_port, container_port;
    struct str protocol, host_ip;
};

struct resource_requirements {
    amount_list requests, limits;
    bool has_requests; /* requests was there, maybe empty */
};

struct restart_rule {
    struct str action;
};

struct volume_mount {
    struct str name;
    str_list bind_mount_options;
};

struct env_var {
    struct str name, value;
};

struct container {
    struct str name, image, restart_policy;
    LIST(struct env_var) env; /* of the literal ones */
    struct resource_requirements resources;
    LIST(struct container_port) ports;
    LIST(struct restart_rule) restart_policy_rules;
    LIST(struct volume_mount) volume_mounts;
};

/* One volume: at most one of the sources is there. Those that no plugin reads are left out. */
struct volume {
    struct str name;
    struct claim_source {
        struct str claim_name;
        bool read_only;
    } * claim;
    struct image_source {
        struct str reference;
    } * image;
    struct ephemeral_source {
        struct str storage_class;
    } * ephemeral;
    struct csi_source {
        struct str driver;
        struct str handle; /* of a persistent volume only */
    } * csi;
    struct disk_source {
        struct str id; /* pdName, volumeID, iqn, image, …: whatever names the disk */
        bool read_only;
        struct str kind;   /* of Azure's */
        struct str pool;   /* of Ceph's */
        str_list monitors; /* the same */
    } * gce_disk, *aws_disk, *iscsi, *rbd, *azure_disk, *azure_file, *cinder, *portworx, *vsphere;
};

struct resource_claim_ref {
    struct str name, claim_name, template_name;
};

struct scheduling_gate {
    struct str name;
};

struct pod_condition {
    struct str type, status, reason, message;
};

struct container_status {
    struct str name;
    bool has_allocated; /* allocatedResources was there, maybe empty */
    amount_list allocated;
    struct resource_requirements *resources;
};

struct resource_claim_status {
    struct str name, claim_name;
    bool has_claim; /* else there is none, on purpose */
};

struct pod {
    struct meta meta;
    uint64_t digest;     /* core/model/partial_pod.h; 0: not known */
    bool is_partial;     /* the rest is as it was with this digest, and left out */
    struct str unread;   /* core/model/gist.h: why only a part of it was read; empty: all was */
    struct str template; /* core/model/template.h: the bytes of its spec, but for the node's name;
                          * empty: not known */
    struct {
        struct str scheduler_name, node_name, priority_class_name, preemption_policy;
        bool has_priority;
        int32_t priority;
        bool host_network;
        bool has_host_users, host_users;
        bool has_node_selector; /* nodeSelector was there, maybe empty */
        pair_list node_selector;
        struct affinity *affinity;
        LIST(struct toleration) tolerations;
        LIST(struct spread_constraint) spread;
        LIST(struct scheduling_gate) gates;
        amount_list overhead;
        struct resource_requirements *resources; /* pod level */
        LIST(struct container) containers;
        LIST(struct container) init_containers;
        LIST(struct volume) volumes;
        LIST(struct resource_claim_ref) resource_claims;
        struct str scheduling_group; /* schedulingGroup.podGroupName */
        struct {
            struct str name, group, replica;
        } workload; /* workloadRef, which is of Kubernetes 1.35 */
        bool has_active_deadline;
        int64_t active_deadline_seconds;
    } spec;
    struct {
        struct str phase, nominated_node_name;
        int64_t start_ms; /* TIME_NONE if absent */
        LIST(struct pod_condition) conditions;
        LIST(struct container_status) containers;
        LIST(struct container_status) init_containers;
        bool has_allocated;
        amount_list allocated;                   /* allocatedResources, pod level */
        struct resource_requirements *resources; /* pod level */
        LIST(struct resource_claim_status) resource_claims;
    } status;
};
