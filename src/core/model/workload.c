#include "core/model/workload.h"

#include "core/model/tables.h"

static const struct field service_spec_fields[] = {
    {FIELD_ENTRIES("selector", 2, struct service, selector, pair_fields)},
    FIELD_END,
};

const struct field service_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct service, meta, meta_fields)},
    {FIELD_PART("spec", 2, service_spec_fields)},
    FIELD_END,
};

static const struct field template_meta_fields[] = {
    {FIELD_ENTRIES("labels", 11, struct replication_controller, template_labels, pair_fields)},
    FIELD_END,
};

static const struct field template_fields[] = {
    {FIELD_PART("metadata", 1, template_meta_fields)},
    FIELD_END,
};

static const struct field controller_spec_fields[] = {
    {FIELD_ENTRIES("selector", 2, struct replication_controller, selector, pair_fields)},
    {FIELD_PART("template", 3, template_fields)},
    FIELD_END,
};

const struct field replication_controller_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct replication_controller, meta, meta_fields)},
    {FIELD_PART("spec", 2, controller_spec_fields)},
    FIELD_END,
};

static const struct field set_spec_fields[] = {
    {FIELD_REF("selector", 2, struct replica_set, selector, label_selector_fields)},
    FIELD_END,
};

const struct field replica_set_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct replica_set, meta, meta_fields)},
    {FIELD_PART("spec", 2, set_spec_fields)},
    FIELD_END,
};

static const struct field job_template_meta_fields[] = {
    {FIELD_ENTRIES("annotations", 12, struct job, template_annotations, pair_fields)},
    {FIELD_ENTRIES("labels", 11, struct job, template_labels, pair_fields)},
    FIELD_END,
};

static const struct field job_template_fields[] = {
    {FIELD_PART("metadata", 1, job_template_meta_fields)},
    FIELD_END,
};

/* clang-format off */
static const struct field job_spec_fields[] = {
    {FIELD(STR, "completionMode", 9, struct job, completion_mode)},
    {FIELD(INT32, "completions", 2, struct job, completions),
     FIELD_HAS(struct job, has_completions)},
    {FIELD(INT32, "parallelism", 1, struct job, parallelism),
     FIELD_HAS(struct job, has_parallelism)},
    {FIELD_REF("selector", 4, struct job, selector, label_selector_fields)},
    {FIELD(BOOL, "suspend", 10, struct job, is_suspended)},
    {FIELD_PART("template", 6, job_template_fields)},
    FIELD_END,
};
/* clang-format on */

static const struct field job_status_fields[] = {
    {FIELD(INT32, "succeeded", 5, struct job, succeeded)},
    FIELD_END,
};

const struct field job_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct job, meta, meta_fields)},
    {FIELD_PART("spec", 2, job_spec_fields)},
    {FIELD_PART("status", 3, job_status_fields)},
    FIELD_END,
};

static const struct field namespace_status_fields[] = {
    {FIELD(STR, "phase", 1, struct namespace, phase)},
    FIELD_END,
};

const struct field namespace_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct namespace, meta, meta_fields)},
    {FIELD_PART("status", 3, namespace_status_fields)},
    FIELD_END,
};

const struct field priority_class_fields[] = {
    {FIELD(BOOL, "globalDefault", 3, struct priority_class, is_global_default)},
    {FIELD_STRUCT("metadata", 1, struct priority_class, meta, meta_fields)},
    {FIELD(STR, "preemptionPolicy", 5, struct priority_class, preemption_policy)},
    {FIELD(INT32, "value", 2, struct priority_class, value)},
    FIELD_END,
};

static const struct field disrupted_pod_fields[] = {
    {FIELD(STR, "key", 1, struct disrupted_pod, name)},
    {FIELD(TIME, "value", 2, struct disrupted_pod, at_ms)},
    FIELD_END,
};

static const struct field budget_spec_fields[] = {
    {FIELD_REF("selector", 2, struct disruption_budget, selector, label_selector_fields)},
    FIELD_END,
};

static const struct field budget_status_fields[] = {
    {FIELD_ENTRIES("disruptedPods", 2, struct disruption_budget, disrupted_pods,
                   disrupted_pod_fields)},
    {FIELD(INT32, "disruptionsAllowed", 3, struct disruption_budget, disruptions_allowed)},
    FIELD_END,
};

const struct field disruption_budget_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct disruption_budget, meta, meta_fields)},
    {FIELD_PART("spec", 2, budget_spec_fields)},
    {FIELD_PART("status", 3, budget_status_fields)},
    FIELD_END,
};
