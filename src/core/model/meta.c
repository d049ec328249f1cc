#include "core/model/meta.h"

#include "core/model/tables.h"

const struct field pair_fields[] = {
    {FIELD(STR, "key", 1, struct pair, key)},
    {FIELD(STR, "value", 2, struct pair, value)},
    FIELD_END,
};

const struct field amount_fields[] = {
    {FIELD(STR, "key", 1, struct amount, name)},
    {FIELD(SCALAR, "value", 2, struct amount, quantity), .scalar = &quantity_scalar},
    FIELD_END,
};

static const struct field owner_fields[] = {
    {FIELD(STR, "apiVersion", 5, struct owner, api_version)},
    {FIELD(BOOL, "controller", 6, struct owner, is_controller)},
    {FIELD(STR, "kind", 1, struct owner, kind)},
    {FIELD(STR, "name", 3, struct owner, name)},
    {FIELD(STR, "uid", 4, struct owner, uid)},
    FIELD_END,
};

const struct field meta_condition_fields[] = {
    {FIELD(TIME, "lastTransitionTime", 4, struct condition, since_ms)},
    {FIELD(STR, "message", 6, struct condition, message)},
    {FIELD(STR, "reason", 5, struct condition, reason)},
    {FIELD(STR, "status", 2, struct condition, status)},
    {FIELD(STR, "type", 1, struct condition, type)},
    FIELD_END,
};

const struct field meta_fields[] = {
    {FIELD_ENTRIES("annotations", 12, struct meta, annotations, pair_fields)},
    {FIELD(TIME, "creationTimestamp", 8, struct meta, created_ms)},
    {FIELD(TIME, "deletionTimestamp", 9, struct meta, deleted_ms)},
    {FIELD_STRS("finalizers", 14, struct meta, finalizers)},
    {FIELD(INT64, "generation", 7, struct meta, generation)},
    {FIELD_ENTRIES("labels", 11, struct meta, labels, pair_fields)},
    {FIELD(STR, "name", 1, struct meta, name)},
    {FIELD(STR, "namespace", 3, struct meta, namespace)},
    {FIELD_MESSAGES("ownerReferences", 13, struct meta, owners, owner_fields)},
    {FIELD(STR, "resourceVersion", 6, struct meta, resource_version)},
    {FIELD(STR, "uid", 5, struct meta, uid)},
    FIELD_END,
};

const struct field requirement_fields[] = {
    {FIELD(STR, "key", 1, struct requirement, key)},
    {FIELD(STR, "operator", 2, struct requirement, op)},
    {FIELD_STRS("values", 3, struct requirement, values)},
    FIELD_END,
};

const struct field label_selector_fields[] = {
    {FIELD_MESSAGES("matchExpressions", 2, struct label_selector, match_expressions,
                    requirement_fields)},
    {FIELD_ENTRIES("matchLabels", 1, struct label_selector, match_labels, pair_fields)},
    FIELD_END,
};
