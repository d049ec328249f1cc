#pragma once

#include "core/model/pod.h"

/* Devices that drivers offer, and classes of them: resource.k8s.io. Field names are the API's. */

/* A value of one of four types. A list of values, which only a gate makes possible, is none. */
enum attribute_type {
    ATTRIBUTE_NONE,
    ATTRIBUTE_INT,
    ATTRIBUTE_BOOL,
    ATTRIBUTE_STRING,
    ATTRIBUTE_VERSION,
};

struct device_attribute {
    struct str name; /* domain/id, or an id of the driver's own domain */
    bool has_int, has_bool, has_string, has_version;
    int64_t int_value;
    bool bool_value;
    struct str string, version;
};

enum attribute_type attribute_type(const struct device_attribute *a);

/* Have both a value, and the same? */
bool attribute_equal(const struct device_attribute *a, const struct device_attribute *b);

/* How much a claim may ask of a capacity. */
struct request_policy {
    struct quantity default_value;
    bool has_default;
    LIST(struct quantity) valid_values; /* rising */
    struct capacity_range {
        struct quantity min, max, step;
        bool has_min, has_max, has_step;
    } * valid_range;
};

struct device_capacity {
    struct str name;
    struct quantity value;
    struct request_policy *policy; /* NULL: whatever there is */
};

/* How much of each counter of a set: what there is, or what a device takes. */
struct counter_set {
    struct str name;
    amount_list counters;
    str_list groups; /* compatibilityGroups, which a gate leaves out: the slice does not count */
};

struct device_taint {
    struct str key, value, effect;
};

struct device {
    struct str name;
    LIST(struct device_attribute) attributes; /* by name */
    LIST(struct device_capacity) capacity;    /* by name */
    LIST(struct counter_set) consumes;
    struct str node_name; /* these three: of a slice that leaves it to each device */
    struct node_selector *node_selector;
    bool all_nodes;
    LIST(struct device_taint) taints;
    bool binds_to_node, is_shared; /* allowMultipleAllocations */
    str_list binding_conditions, binding_failure_conditions;
};

struct resource_slice {
    struct meta meta;
    struct {
        struct str driver;
        struct {
            struct str name;
            int64_t generation, slices;
        } pool;
        struct str node_name;
        struct node_selector *node_selector;
        bool all_nodes, per_device;
        LIST(struct device) devices;
        LIST(struct counter_set) counters; /* a slice has devices or these */
    } spec;
};

struct device_selector {
    struct str expression; /* of CEL; empty: of a kind that we do not know */
};

typedef LIST(struct device_selector) device_selector_list;

/* For whom a configuration is, and the configuration as JSON. */
struct device_config {
    str_list requests;
    struct str driver, parameters;
};

struct device_class {
    struct meta meta;
    device_selector_list selectors;
    LIST(struct device_config) config;
    struct str extended_resource;
};

/* Taints devices from outside of their slices. */
struct device_taint_rule {
    struct meta meta;
    struct device_taint_selector {
        struct str driver, pool, device;
        bool has_driver, has_pool, has_device;
    } * selector;
    struct device_taint taint;
};
