#pragma once

#include "core/model/device.h"

/* What a pod wants of devices, and what it was given. */

struct device_toleration {
    struct str key, op, value, effect;
    bool has_seconds;
    int64_t seconds;
};

typedef LIST(struct device_toleration) device_toleration_list;

/* What is asked for: a request that is `exactly` this, or one of several alternatives. */
struct device_ask {
    struct str name; /* of an alternative */
    struct str class;
    device_selector_list selectors;
    struct str mode; /* ExactCount or All */
    int64_t count;
    bool has_admin, is_admin; /* adminAccess: looks at devices that others have */
    device_toleration_list tolerations;
    amount_list capacity;         /* of a shared device */
    device_selector_list derived; /* derivedAttributes, which a gate leaves out */
};

struct device_request {
    struct str name;
    struct device_ask *exactly;
    LIST(struct device_ask) first_available;
};

struct device_constraint {
    str_list requests; /* none: all */
    bool has_match, has_distinct;
    struct str match_attribute, distinct_attribute;
};

/* One device that was given. */
struct device_result {
    struct str request, driver, pool, device;
    bool is_admin;
    device_toleration_list tolerations;
    str_list binding_conditions, binding_failure_conditions;
    struct str share_id; /* of a shared device */
    amount_list consumed;
    str_list skipped; /* skipNodeOperations */
};

struct device_condition {
    struct str type, status;
};

/* What a driver says of a device that was given. */
struct device_state {
    struct str driver, pool, device;
    LIST(struct device_condition) conditions;
};

/* A configuration that goes with the devices. */
struct given_config {
    bool is_class;     /* from the class; else from the claim */
    str_list requests; /* none: all */
    const struct device_config *config;
};

struct device_allocation {
    LIST(struct device_result) results;
    LIST(struct given_config) config;    /* written, never read */
    struct node_selector *node_selector; /* NULL: good on any node */
    int64_t allocated_ms;                /* TIME_NONE: not told */
};

/* Gives the allocation copies of all that it points to but its configuration. */
void device_allocation_keep(struct device_allocation *allocation, struct arena *mem);

struct claim_consumer {
    struct str api_group, resource, name, uid;
};

struct resource_claim {
    struct meta meta;
    struct {
        LIST(struct device_request) requests;
        LIST(struct device_constraint) constraints;
        LIST(struct device_config) config;
    } spec;
    struct {
        struct device_allocation *allocation; /* NULL: none yet */
        LIST(struct claim_consumer) reserved_for;
        LIST(struct device_state) devices;
    } status;
};
