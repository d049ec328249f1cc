#pragma once

#include "core/base/error.h"
#include "core/model/kueue.h"
#include "core/model/meta.h"
#include "core/model/node.h"
#include "core/model/node_topology.h"
#include "core/model/pod.h"
#include "core/model/pod_group.h"
#include "core/model/queue.h"
#include "core/model/quota.h"
#include "core/model/reservation.h"
#include "core/model/resource_claim.h"
#include "core/model/storage.h"
#include "core/model/workload.h"

/* Any object we know, as one value. */

struct owner_object; /* owner.h */

enum kind {
    KIND_NONE, /* a kind we do not read */
#define KIND(id, ...) KIND_##id,
#define SAME(id, ...) KIND_##id,
#include "core/model/objects.def"
#undef KIND
#undef SAME
    KIND_COUNT,
};

struct object {
    enum kind kind;
    union {
        struct meta *meta; /* every kind begins with its metadata */
#define KIND(id, name, version, scope, by, type, member, ...) struct type *member;
#define SAME(...)
#include "core/model/objects.def"
#undef KIND
#undef SAME
    };
};

enum { OLDER_MOST = 2 };

/* What a kind is called, where it lives in the API, whether it has a namespace. */
struct kind_info {
    enum kind kind;
    const char *name;              /* Pod */
    const char *api_version;       /* v1, apps/v1: the newest that we know */
    const char *older[OLDER_MOST]; /* of the same group, newest first; NULL: no more */
    bool is_namespaced;
    bool is_custom; /* defined by a CustomResourceDefinition: JSON alone, and no strategic merge */
    size_t size;
    const struct field *fields;
};

const struct kind_info *kind_info_get(enum kind kind);

/* apps of apps/v1; "" of v1. */
struct str kind_info_group(const struct kind_info *info);

/* NULL if we do not read such a kind. The group must match, any version of it will do; a kind of
 * that very version comes first. */
const struct kind_info *kind_info_find(struct str api_version, struct str kind);
