#include "core/model/pod_group.h"

#include "core/model/tables.h"

static const struct field gang_fields[] = {
    {FIELD(INT32, "minCount", 1, struct pod_group, minimum)},
    FIELD_END,
};

static const struct field policy_fields[] = {
    {FIELD_PART("gang", 2, gang_fields)},
    FIELD_END,
};

static const struct field topology_fields[] = {
    {FIELD(STR, "key", 1, struct topology_constraint, key)},
    FIELD_END,
};

static const struct field constraints_fields[] = {
    {FIELD_MESSAGES("topology", 1, struct pod_group, topology, topology_fields)},
    FIELD_END,
};

static const struct field all_fields[] = {FIELD_END}; /* that it is there says it */

static const struct field disruption_fields[] = {
    {FIELD_PART("all", 2, all_fields), FIELD_HAS(struct pod_group, goes_whole)},
    FIELD_END,
};

static const struct field spec_fields[] = {
    {FIELD_PART("disruptionMode", 6, disruption_fields)},
    {FIELD_PART("schedulingConstraints", 4, constraints_fields)},
    {FIELD_PART("schedulingPolicy", 3, policy_fields)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD_MESSAGES("conditions", 1, struct pod_group, conditions, meta_condition_fields)},
    FIELD_END,
};

const struct field pod_group_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct pod_group, meta, meta_fields)},
    {FIELD_PART("spec", 2, spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

/* The same under other numbers, and a word for how it is evicted. */
static const struct field alpha2_spec_fields[] = {
    {FIELD(STR, "disruptionMode", 5, struct pod_group, disruption_mode)},
    {FIELD_PART("schedulingConstraints", 3, constraints_fields)},
    {FIELD_PART("schedulingPolicy", 2, policy_fields)},
    FIELD_END,
};

const struct field alpha2_group_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct pod_group, meta, meta_fields)},
    {FIELD_PART("spec", 2, alpha2_spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

/* Custom resources are never protobuf: the numbers are of no use. */
static const struct field member_spec_fields[] = {
    {FIELD(INT32, "minMember", 1, struct pod_group, minimum)},
    FIELD_END,
};

static const struct field member_status_fields[] = {
    {FIELD_MESSAGES("conditions", 1, struct pod_group, conditions, meta_condition_fields)},
    {FIELD(STR, "phase", 2, struct pod_group, phase)},
    FIELD_END,
};

const struct field member_group_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct pod_group, meta, meta_fields)},
    {FIELD_PART("spec", 2, member_spec_fields)},
    {FIELD_PART("status", 3, member_status_fields)},
    FIELD_END,
};

/* --- Workload, v1alpha1 --- */

static const struct field workload_gang_fields[] = {
    {FIELD(INT32, "minCount", 1, struct workload_group, minimum)},
    FIELD_END,
};

static const struct field workload_policy_fields[] = {
    {FIELD_PART("gang", 3, workload_gang_fields)},
    FIELD_END,
};

static const struct field workload_group_fields[] = {
    {FIELD(STR, "name", 1, struct workload_group, name)},
    {FIELD_PART("policy", 3, workload_policy_fields)},
    FIELD_END,
};

static const struct field workload_spec_fields[] = {
    {FIELD_MESSAGES("podGroups", 2, struct scheduling_workload, groups, workload_group_fields)},
    FIELD_END,
};

const struct field scheduling_workload_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct scheduling_workload, meta, meta_fields)},
    {FIELD_PART("spec", 2, workload_spec_fields)},
    FIELD_END,
};
