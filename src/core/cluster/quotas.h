#pragma once

#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/names.h"
#include "core/model/quota.h"

/* ResourceQuotas: how much more the pods of a namespace may ask for. The API server sees to that;
 * here it bounds what is held for pods that are still to come, and is what a gang is told whose
 * members are refused. */

/* requests.nvidia.com/gpu, pods, … */
struct quota_line {
    sym key; /* held */
    struct quantity hard, used;
};

struct quota {
    sym namespace, name;    /* held; namespace SYM_NONE: the number is free */
    uint32_t before, after; /* among those of the namespace */
    struct map places;      /* resource → place in */
    VEC(struct quota_part {
        sym resource; /* held */
        int64_t left; /* below 0: more is used than may be */
    })
    parts;
    struct quota_lines {
        VEC(struct quota_line) all;
    } lines; /* as they are spelled; none of a quota that counts some pods only */
};

struct quotas {
    VEC(struct quota) at;
    VEC(uint32_t) free;
    struct map by_name;      /* namespace and name → quota */
    struct map of_namespace; /* → the first there */
};

/* It came or changed (true: its lines say something else now); or (only its names are looked at) it
 * is gone. */
bool quotas_put(struct quotas *q, struct names *names, const struct resource_quota *from);
void quotas_remove(struct quotas *q, struct names *names, const struct meta *meta);

/* How much more of the resource (cpu in thousandths) the quotas of the namespace allow; INT64_MAX:
 * none of them bounds it. */
int64_t quotas_left(const struct quotas *q, sym namespace, sym resource);

/* The quotas of the namespace, in no order: the first, and the one after; NULL: that was all. */
const struct quota *quotas_first(const struct quotas *q, sym namespace);
const struct quota *quotas_next(const struct quotas *q, const struct quota *quota);

void quotas_done(struct quotas *q);
