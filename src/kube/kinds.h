#pragma once

#include "core/base/buf.h"
#include "core/model/object.h"

/* What is watched, and where it lives. */
struct watched {
    enum kind kind;
    const char *resource; /* as paths spell it */
    const char *selector; /* fieldSelector; "": all objects */
    bool is_on_demand;    /* only from when on somebody wants it: listener.wants() */
    const char *without;  /* what the scheduler does not do where it may not read them; NULL: it
                           * waits until it may */
};

enum {
#define WATCHED(kind, resource, selector)           WATCHED_##kind,
#define WATCHED_IF_ALLOWED(kind, resource, without) WATCHED_##kind,
#define WATCHED_ON_DEMAND(kind, resource)           WATCHED_##kind,
#include "kube/kinds.def"
#undef WATCHED
#undef WATCHED_IF_ALLOWED
#undef WATCHED_ON_DEMAND
    WATCHED_COUNT,
};

extern const struct watched watched_kinds[WATCHED_COUNT];

/* Of a kind that is watched. */
const struct watched *watched_of(enum kind kind);

/* /api/v1 of "v1", /apis/apps/v1 of "apps/v1". */
void path_add_group(struct buf *path, const char *api_version);

/* A parameter, behind '?' or '&', its value escaped. */
void path_add_query(struct buf *path, const char *name, struct str value);

/* As RBAC and people write it: pods, replicasets.apps. */
void watched_add_name(struct buf *out, const struct watched *kind);
