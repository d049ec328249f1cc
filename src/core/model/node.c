#include "core/model/node.h"

#include "core/model/tables.h"

static const struct field taint_fields[] = {
    {FIELD(STR, "effect", 3, struct taint, effect)},
    {FIELD(STR, "key", 1, struct taint, key)},
    {FIELD(STR, "value", 2, struct taint, value)},
    FIELD_END,
};

static const struct field spec_fields[] = {
    {FIELD(STR, "providerID", 3, struct node, spec.provider_id)},
    {FIELD_MESSAGES("taints", 5, struct node, spec.taints, taint_fields)},
    {FIELD(BOOL, "unschedulable", 4, struct node, spec.unschedulable)},
    FIELD_END,
};

static const struct field image_fields[] = {
    {FIELD_STRS("names", 1, struct container_image, names)},
    {FIELD(INT64, "sizeBytes", 2, struct container_image, size_bytes)},
    FIELD_END,
};

static const struct field condition_fields[] = {
    {FIELD(STR, "status", 2, struct node_condition, status)},
    {FIELD(STR, "type", 1, struct node_condition, type)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD_ENTRIES("allocatable", 2, struct node, status.allocatable, amount_fields),
     FIELD_HAS(struct node, status.has_allocatable)},
    {FIELD_ENTRIES("capacity", 1, struct node, status.capacity, amount_fields)},
    {FIELD_MESSAGES("conditions", 4, struct node, status.conditions, condition_fields)},
    {FIELD_STRS("declaredFeatures", 14, struct node, status.declared_features)},
    {FIELD_MESSAGES("images", 8, struct node, status.images, image_fields)},
    FIELD_END,
};

const struct field node_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct node, meta, meta_fields)},
    {FIELD_PART("spec", 2, spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};
