#pragma once

#include "core/model/meta.h"

struct taint {
    struct str key, value, effect;
};

struct container_image {
    str_list names;
    int64_t size_bytes;
};

struct node_condition {
    struct str type, status;
};

struct node {
    struct meta meta;
    struct {
        bool unschedulable;
        LIST(struct taint) taints;
        struct str provider_id;
    } spec;
    struct {
        amount_list capacity, allocatable;
        bool has_allocatable; /* it was there, maybe empty */
        LIST(struct container_image) images;
        LIST(struct node_condition) conditions;
        str_list declared_features;
    } status;
};
