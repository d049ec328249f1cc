#include "core/model/device.h"

#include "core/model/tables.h"

enum attribute_type attribute_type(const struct device_attribute *a)
{
    return a->has_int       ? ATTRIBUTE_INT
           : a->has_bool    ? ATTRIBUTE_BOOL
           : a->has_string  ? ATTRIBUTE_STRING
           : a->has_version ? ATTRIBUTE_VERSION
                            : ATTRIBUTE_NONE;
}

bool attribute_equal(const struct device_attribute *a, const struct device_attribute *b)
{
    if (attribute_type(a) != attribute_type(b))
        return false;
    switch (attribute_type(a)) {
    case ATTRIBUTE_INT:
        return a->int_value == b->int_value;
    case ATTRIBUTE_BOOL:
        return a->bool_value == b->bool_value;
    case ATTRIBUTE_STRING:
        return str_equal(a->string, b->string);
    case ATTRIBUTE_VERSION: /* a version has one way only to be written */
        return str_equal(a->version, b->version);
    case ATTRIBUTE_NONE:
        break;
    }
    return false;
}

/* --- amounts --- */

const struct field exact_amount_fields[] = {
    {FIELD(STR, "key", 1, struct amount, name)},
    {FIELD(SCALAR, "value", 2, struct amount, quantity), .scalar = &exact_quantity_scalar},
    FIELD_END,
};

static const struct field counter_value_fields[] = {
    {FIELD(SCALAR, "value", 1, struct amount, quantity), .scalar = &exact_quantity_scalar},
    FIELD_END,
};

static const struct field counter_fields[] = {
    {FIELD(STR, "key", 1, struct amount, name)},
    {FIELD_PART("value", 2, counter_value_fields)},
    FIELD_END,
};

static const struct field counter_set_fields[] = {
    {FIELD_ENTRIES("counters", 2, struct counter_set, counters, counter_fields)},
    {FIELD(STR, "name", 1, struct counter_set, name)},
    FIELD_END,
};

static const struct field consumption_fields[] = {
    {FIELD_STRS("compatibilityGroups", 3, struct counter_set, groups)},
    {FIELD(STR, "counterSet", 1, struct counter_set, name)},
    {FIELD_ENTRIES("counters", 2, struct counter_set, counters, counter_fields)},
    FIELD_END,
};

#define RANGE_FIELD(text, num, member)                                                             \
    FIELD(SCALAR, text, num, struct capacity_range, member),                                       \
        .scalar = &exact_quantity_scalar, FIELD_HAS(struct capacity_range, has_##member)

static const struct field range_fields[] = {
    {RANGE_FIELD("max", 2, max)},
    {RANGE_FIELD("min", 1, min)},
    {RANGE_FIELD("step", 3, step)},
    FIELD_END,
};

static const struct field policy_fields[] = {
    {FIELD(SCALAR, "default", 1, struct request_policy, default_value),
     .scalar = &exact_quantity_scalar, FIELD_HAS(struct request_policy, has_default)},
    {FIELD_REF("validRange", 4, struct request_policy, valid_range, range_fields)},
    {FIELD(SCALAR, "validValues", 3, struct request_policy, valid_values), .shape = FIELD_LIST,
     FIELD_SIZE(struct request_policy, valid_values), .scalar = &exact_quantity_scalar},
    FIELD_END,
};

static const struct field capacity_value_fields[] = {
    {FIELD_REF("requestPolicy", 2, struct device_capacity, policy, policy_fields)},
    {FIELD(SCALAR, "value", 1, struct device_capacity, value), .scalar = &exact_quantity_scalar},
    FIELD_END,
};

static const struct field capacity_fields[] = {
    {FIELD(STR, "key", 1, struct device_capacity, name)},
    {FIELD_PART("value", 2, capacity_value_fields)},
    FIELD_END,
};

/* --- devices --- */

static const struct field attribute_value_fields[] = {
    {FIELD(BOOL, "bool", 3, struct device_attribute, bool_value),
     FIELD_HAS(struct device_attribute, has_bool)},
    {FIELD(INT64, "int", 2, struct device_attribute, int_value),
     FIELD_HAS(struct device_attribute, has_int)},
    {FIELD(STR, "string", 4, struct device_attribute, string),
     FIELD_HAS(struct device_attribute, has_string)},
    {FIELD(STR, "version", 5, struct device_attribute, version),
     FIELD_HAS(struct device_attribute, has_version)},
    FIELD_END,
};

static const struct field attribute_fields[] = {
    {FIELD(STR, "key", 1, struct device_attribute, name)},
    {FIELD_PART("value", 2, attribute_value_fields)},
    FIELD_END,
};

static const struct field device_taint_fields[] = {
    {FIELD(STR, "effect", 3, struct device_taint, effect)},
    {FIELD(STR, "key", 1, struct device_taint, key)},
    {FIELD(STR, "value", 2, struct device_taint, value)},
    FIELD_END,
};

static const struct field device_fields[] = {
    {FIELD(BOOL, "allNodes", 7, struct device, all_nodes)},
    {FIELD(BOOL, "allowMultipleAllocations", 12, struct device, is_shared)},
    {FIELD_ENTRIES("attributes", 2, struct device, attributes, attribute_fields)},
    {FIELD_STRS("bindingConditions", 10, struct device, binding_conditions)},
    {FIELD_STRS("bindingFailureConditions", 11, struct device, binding_failure_conditions)},
    {FIELD(BOOL, "bindsToNode", 9, struct device, binds_to_node)},
    {FIELD_ENTRIES("capacity", 3, struct device, capacity, capacity_fields)},
    {FIELD_MESSAGES("consumesCounters", 4, struct device, consumes, consumption_fields)},
    {FIELD(STR, "name", 1, struct device, name)},
    {FIELD(STR, "nodeName", 5, struct device, node_name)},
    {FIELD_REF("nodeSelector", 6, struct device, node_selector, node_selector_fields)},
    {FIELD_MESSAGES("taints", 8, struct device, taints, device_taint_fields)},
    FIELD_END,
};

static const struct field pool_fields[] = {
    {FIELD(INT64, "generation", 2, struct resource_slice, spec.pool.generation)},
    {FIELD(STR, "name", 1, struct resource_slice, spec.pool.name)},
    {FIELD(INT64, "resourceSliceCount", 3, struct resource_slice, spec.pool.slices)},
    FIELD_END,
};

static const struct field slice_spec_fields[] = {
    {FIELD(BOOL, "allNodes", 5, struct resource_slice, spec.all_nodes)},
    {FIELD_MESSAGES("devices", 6, struct resource_slice, spec.devices, device_fields)},
    {FIELD(STR, "driver", 1, struct resource_slice, spec.driver)},
    {FIELD(STR, "nodeName", 3, struct resource_slice, spec.node_name)},
    {FIELD_REF("nodeSelector", 4, struct resource_slice, spec.node_selector, node_selector_fields)},
    {FIELD(BOOL, "perDeviceNodeSelection", 7, struct resource_slice, spec.per_device)},
    {FIELD_PART("pool", 2, pool_fields)},
    {FIELD_MESSAGES("sharedCounters", 8, struct resource_slice, spec.counters, counter_set_fields)},
    FIELD_END,
};

const struct field resource_slice_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct resource_slice, meta, meta_fields)},
    {FIELD_PART("spec", 2, slice_spec_fields)},
    FIELD_END,
};

/* --- classes and taint rules --- */

static const struct field cel_fields[] = {
    {FIELD(STR, "expression", 1, struct device_selector, expression)},
    FIELD_END,
};

const struct field device_selector_fields[] = {
    {FIELD_PART("cel", 1, cel_fields)},
    FIELD_END,
};

static const struct field raw_fields[] = {
    {FIELD(RAW, "parameters", 1, struct device_config, parameters)},
    FIELD_END,
};

static const struct field opaque_fields[] = {
    {FIELD(STR, "driver", 1, struct device_config, driver)},
    {FIELD_PART("", 2, raw_fields)},
    FIELD_END,
};

const struct field device_configuration_fields[] = {
    {FIELD_PART("opaque", 1, opaque_fields)},
    FIELD_END,
};

static const struct field class_config_fields[] = {
    {FIELD_PART("", 1, device_configuration_fields)},
    FIELD_END,
};

static const struct field class_spec_fields[] = {
    {FIELD_MESSAGES("config", 2, struct device_class, config, class_config_fields)},
    {FIELD(STR, "extendedResourceName", 4, struct device_class, extended_resource)},
    {FIELD_MESSAGES("selectors", 1, struct device_class, selectors, device_selector_fields)},
    FIELD_END,
};

const struct field device_class_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct device_class, meta, meta_fields)},
    {FIELD_PART("spec", 2, class_spec_fields)},
    FIELD_END,
};

#define SELECTED_FIELD(text, num, member)                                                          \
    FIELD(STR, text, num, struct device_taint_selector, member),                                   \
        FIELD_HAS(struct device_taint_selector, has_##member)

static const struct field taint_selector_fields[] = {
    {SELECTED_FIELD("device", 4, device)},
    {SELECTED_FIELD("driver", 2, driver)},
    {SELECTED_FIELD("pool", 3, pool)},
    FIELD_END,
};

static const struct field taint_rule_spec_fields[] = {
    {FIELD_REF("deviceSelector", 1, struct device_taint_rule, selector, taint_selector_fields)},
    {FIELD_STRUCT("taint", 2, struct device_taint_rule, taint, device_taint_fields)},
    FIELD_END,
};

const struct field device_taint_rule_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct device_taint_rule, meta, meta_fields)},
    {FIELD_PART("spec", 2, taint_rule_spec_fields)},
    FIELD_END,
};
