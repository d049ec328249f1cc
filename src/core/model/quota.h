#pragma once

#include "core/model/meta.h"

/* A ResourceQuota: how much the pods of a namespace may ask for, and how much they do, as its
 * controller has counted. */

struct resource_quota {
    struct meta meta;
    str_list scopes; /* it counts some pods only: these, … */
    struct quota_scopes {
        LIST(struct requirement) all;
    } * selector;           /* … or those; NULL: not said */
    amount_list hard, used; /* of its status */
};

/* Does it count every pod of the namespace? */
bool quota_counts_all(const struct resource_quota *q);

/* What pods ask for that the quota calls so: "cpu" of requests.cpu and of cpu, "pods" of
 * count/pods; "": nothing (limits.cpu, count/services). */
struct str quota_resource(struct str name);
