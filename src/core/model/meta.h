#pragma once

#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/base/str.h"
#include "core/model/quantity.h"

/* What all objects share. Decoded objects and all they point at live in the arena of the decoder.
 * Absent text is empty text; an absent message is a NULL pointer; an absent time is TIME_NONE. */

#define TIME_NONE INT64_MIN

struct pair {
    struct str key, value;
};

struct amount {
    struct str name; /* of a resource: cpu, memory, nvidia.com/gpu, … */
    struct quantity quantity;
};

typedef LIST(struct str) str_list;
typedef LIST(struct pair) pair_list;
typedef LIST(struct amount) amount_list;

struct owner {
    struct str api_version, kind, name, uid;
    bool is_controller;
};

/* metav1.Condition, and what others have in its place. */
struct condition {
    struct str type, status, reason, message;
    int64_t since_ms; /* lastTransitionTime */
};

typedef LIST(struct condition) condition_list;

struct meta {
    struct str name, namespace, uid, resource_version;
    int64_t generation;
    int64_t created_ms; /* since 1970; TIME_NONE if absent */
    int64_t deleted_ms;
    pair_list labels;
    pair_list annotations;
    LIST(struct owner) owners;
    str_list finalizers;
};

/* One line of a selector: a key, an operator (In, NotIn, Exists, DoesNotExist; for nodes also Gt,
 * Lt) and its values. */
struct requirement {
    struct str key, op;
    str_list values;
};

/* metav1.LabelSelector. NULL where one is expected means "matches nothing"; an empty one,
 * everything. */
struct label_selector {
    pair_list match_labels;
    LIST(struct requirement) match_expressions;
};
