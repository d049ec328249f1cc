#include "core/model/resource_claim.h"

#include "core/model/tables.h"

static const struct field toleration_fields[] = {
    {FIELD(STR, "effect", 4, struct device_toleration, effect)},
    {FIELD(STR, "key", 1, struct device_toleration, key)},
    {FIELD(STR, "operator", 2, struct device_toleration, op)},
    {FIELD(INT64, "tolerationSeconds", 5, struct device_toleration, seconds),
     FIELD_HAS(struct device_toleration, has_seconds)},
    {FIELD(STR, "value", 3, struct device_toleration, value)},
    FIELD_END,
};

/* --- what is asked for --- */

static const struct field derived_fields[] = {
    {FIELD(STR, "expression", 2, struct device_selector, expression)},
    FIELD_END,
};

static const struct field capacity_fields[] = {
    {FIELD_ENTRIES("requests", 1, struct device_ask, capacity, exact_amount_fields)},
    FIELD_END,
};

static const struct field exact_fields[] = {
    {FIELD(BOOL, "adminAccess", 5, struct device_ask, is_admin),
     FIELD_HAS(struct device_ask, has_admin)},
    {FIELD(STR, "allocationMode", 3, struct device_ask, mode)},
    {FIELD_PART("capacity", 7, capacity_fields)},
    {FIELD(INT64, "count", 4, struct device_ask, count)},
    {FIELD_MESSAGES("derivedAttributes", 8, struct device_ask, derived, derived_fields)},
    {FIELD(STR, "deviceClassName", 1, struct device_ask, class)},
    {FIELD_MESSAGES("selectors", 2, struct device_ask, selectors, device_selector_fields)},
    {FIELD_MESSAGES("tolerations", 6, struct device_ask, tolerations, toleration_fields)},
    FIELD_END,
};

static const struct field alternative_fields[] = {
    {FIELD(STR, "allocationMode", 4, struct device_ask, mode)},
    {FIELD_PART("capacity", 7, capacity_fields)},
    {FIELD(INT64, "count", 5, struct device_ask, count)},
    {FIELD_MESSAGES("derivedAttributes", 8, struct device_ask, derived, derived_fields)},
    {FIELD(STR, "deviceClassName", 2, struct device_ask, class)},
    {FIELD(STR, "name", 1, struct device_ask, name)},
    {FIELD_MESSAGES("selectors", 3, struct device_ask, selectors, device_selector_fields)},
    {FIELD_MESSAGES("tolerations", 6, struct device_ask, tolerations, toleration_fields)},
    FIELD_END,
};

static const struct field request_fields[] = {
    {FIELD_REF("exactly", 2, struct device_request, exactly, exact_fields)},
    {FIELD_MESSAGES("firstAvailable", 3, struct device_request, first_available,
                    alternative_fields)},
    {FIELD(STR, "name", 1, struct device_request, name)},
    FIELD_END,
};

static const struct field constraint_fields[] = {
    {FIELD(STR, "distinctAttribute", 3, struct device_constraint, distinct_attribute),
     FIELD_HAS(struct device_constraint, has_distinct)},
    {FIELD(STR, "matchAttribute", 2, struct device_constraint, match_attribute),
     FIELD_HAS(struct device_constraint, has_match)},
    {FIELD_STRS("requests", 1, struct device_constraint, requests)},
    FIELD_END,
};

static const struct field config_fields[] = {
    {FIELD_STRS("requests", 1, struct device_config, requests)},
    {FIELD_PART("", 2, device_configuration_fields)},
    FIELD_END,
};

static const struct field devices_fields[] = {
    {FIELD_MESSAGES("config", 3, struct resource_claim, spec.config, config_fields)},
    {FIELD_MESSAGES("constraints", 2, struct resource_claim, spec.constraints, constraint_fields)},
    {FIELD_MESSAGES("requests", 1, struct resource_claim, spec.requests, request_fields)},
    FIELD_END,
};

static const struct field spec_fields[] = {
    {FIELD_PART("devices", 1, devices_fields)},
    FIELD_END,
};

/* --- what was given --- */

static const struct field result_fields[] = {
    {FIELD(BOOL, "adminAccess", 5, struct device_result, is_admin)},
    {FIELD_STRS("bindingConditions", 7, struct device_result, binding_conditions)},
    {FIELD_STRS("bindingFailureConditions", 8, struct device_result, binding_failure_conditions)},
    {FIELD_ENTRIES("consumedCapacity", 10, struct device_result, consumed, exact_amount_fields)},
    {FIELD(STR, "device", 4, struct device_result, device)},
    {FIELD(STR, "driver", 2, struct device_result, driver)},
    {FIELD(STR, "pool", 3, struct device_result, pool)},
    {FIELD(STR, "request", 1, struct device_result, request)},
    {FIELD(STR, "shareID", 9, struct device_result, share_id)},
    {FIELD_STRS("skipNodeOperations", 11, struct device_result, skipped)},
    {FIELD_MESSAGES("tolerations", 6, struct device_result, tolerations, toleration_fields)},
    FIELD_END,
};

static const struct field given_fields[] = {
    {FIELD_MESSAGES("results", 1, struct device_allocation, results, result_fields)},
    FIELD_END,
};

static const struct field allocation_fields[] = {
    {FIELD(TIME, "allocationTimestamp", 5, struct device_allocation, allocated_ms)},
    {FIELD_PART("devices", 1, given_fields)},
    {FIELD_REF("nodeSelector", 3, struct device_allocation, node_selector, node_selector_fields)},
    FIELD_END,
};

static const struct field consumer_fields[] = {
    {FIELD(STR, "apiGroup", 1, struct claim_consumer, api_group)},
    {FIELD(STR, "name", 4, struct claim_consumer, name)},
    {FIELD(STR, "resource", 3, struct claim_consumer, resource)},
    {FIELD(STR, "uid", 5, struct claim_consumer, uid)},
    FIELD_END,
};

static const struct field condition_fields[] = {
    {FIELD(STR, "status", 2, struct device_condition, status)},
    {FIELD(STR, "type", 1, struct device_condition, type)},
    FIELD_END,
};

static const struct field state_fields[] = {
    {FIELD_MESSAGES("conditions", 4, struct device_state, conditions, condition_fields)},
    {FIELD(STR, "device", 3, struct device_state, device)},
    {FIELD(STR, "driver", 1, struct device_state, driver)},
    {FIELD(STR, "pool", 2, struct device_state, pool)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD_REF("allocation", 1, struct resource_claim, status.allocation, allocation_fields)},
    {FIELD_MESSAGES("devices", 4, struct resource_claim, status.devices, state_fields)},
    {FIELD_MESSAGES("reservedFor", 2, struct resource_claim, status.reserved_for, consumer_fields)},
    FIELD_END,
};

const struct field resource_claim_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct resource_claim, meta, meta_fields)},
    {FIELD_PART("spec", 2, spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

void device_allocation_keep(struct device_allocation *allocation, struct arena *mem)
{
    fields_keep(allocation_fields, allocation, mem);
}
