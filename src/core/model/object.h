#pragma once

#include "core/base/error.h"
#include "core/model/meta.h"
#include "core/model/node.h"
#include "core/model/pod.h"
#include "core/model/workload.h"

/* Any object we know, as one value. */

enum kind {
    KIND_NONE, /* a kind we do not read */
    KIND_POD,
    KIND_NODE,
    KIND_NAMESPACE,
    KIND_PRIORITY_CLASS,
    KIND_SERVICE,
    KIND_REPLICATION_CONTROLLER,
    KIND_REPLICA_SET,
    KIND_STATEFUL_SET,
    KIND_JOB,
    KIND_DISRUPTION_BUDGET,
    KIND_COUNT,
};

struct object {
    enum kind kind;
    union {
        struct meta *meta; /* every kind begins with its metadata */
        struct pod *pod;
        struct node *node;
        struct namespace *namespace;
        struct priority_class *priority_class;
        struct service *service;
        struct replication_controller *replication_controller;
        struct replica_set *replica_set; /* also KIND_STATEFUL_SET */
        struct job *job;
        struct disruption_budget *disruption_budget;
    };
};

/* What a kind is called, where it lives in the API, whether it has a namespace. */
struct kind_info {
    enum kind kind;
    const char *name;        /* Pod */
    const char *api_version; /* v1, apps/v1 */
    bool is_namespaced;
    size_t size;
    const struct field *fields;
};

const struct kind_info *kind_info_get(enum kind kind);

/* NULL if we do not read such a kind. The group must match, any version of it will do. */
const struct kind_info *kind_info_find(struct str api_version, struct str kind);
