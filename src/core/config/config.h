#pragma once

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/vec.h"
#include "core/framework/profile.h"
#include "core/model/extender.h"

/* A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1, YAML or JSON) as what the scheduler
 * runs with.
 *
 * Every field is read or refused: a field that does not exist, one that is there twice, and a value
 * that makes no sense are errors that name their line and path. All errors of a file are found at
 * once. Defaults, the merging of plugin sets and the expansion of MultiPoint are kube-scheduler
 * 1.37's. What is accepted but has no effect here is said in a note: a plugin that does not exist
 * yet, a percentage of nodes to score (all are). */

enum { CONFIG_BYTES_MOST = 1 << 20 };

/* The points at which plugins take part, in the order a pod meets them. */
enum point {
    POINT_PRE_ENQUEUE,
    POINT_QUEUE_SORT,
    POINT_PRE_FILTER,
    POINT_FILTER,
    POINT_POST_FILTER,
    POINT_PRE_SCORE,
    POINT_SCORE,
    POINT_RESERVE,
    POINT_PERMIT,
    POINT_PRE_BIND,
    POINT_BIND,
    POINT_POST_BIND,
    POINT_PLACEMENT_GENERATE,
    POINT_PLACEMENT_SCORE,
    POINT_POD_GROUP_POST_FILTER,
    N_POINTS,
};

/* As configuration spells it: "preEnqueue". */
struct str point_name(enum point point);

struct config_message {
    uint32_t line;   /* 0: about the whole file */
    struct str path; /* profiles[0].plugins.score.enabled[2].weight; empty: none */
    struct str text;
};

/* A plugin at a point. */
struct point_plugin {
    struct str name;
    int64_t weight; /* at the points that score; else 0 */
    bool runs;      /* false: it does not exist here yet */
};

/* What a profile amounts to, for people to read. */
struct profile_listing {
    LIST(struct point_plugin) points[N_POINTS];
    LIST(struct str)
    missing; /* plugins that do not exist here yet: pods that need one are refused */
    int32_t percentage_of_nodes;
};

struct leader_election {
    bool is_on;
    int64_t lease_ms, renew_ms, retry_ms;
    struct str namespace, name;
};

struct client_connection {
    struct str kubeconfig; /* empty: the cluster we run in */
    struct str accept_content_types, content_type;
    double qps;    /* 0: not said, no limit */
    int32_t burst; /* 0: not said */
};

/* A plugin that is not built in: a file names the library that has it in its arguments. */
struct external {
    struct str name, library;
    const struct plugin
        *plugin;       /* as core/plugins/external plugin.h makes it; NULL: it is not to be had, */
    const char *error; /* and this is why */
    const struct kn_plugin *table;
};
VEC_TYPE(externals, struct external);

struct scheduler_config {
    bool
        has_groups; /* said by whoever reads: the gate GenericWorkload, which adds GangScheduling */

    struct arena mem; /* everything below lives here, or in `json` */
    struct buf json;
    uint64_t text_hash; /* of what was read */
    VEC(struct config_message) errors, notes;

    struct profile *profiles;
    struct profile_listing *listings; /* of each */
    uint32_t n_profiles;

    struct extender *extenders; /* those that may fail stand behind the others */
    uint32_t n_extenders;

    struct leader_election leader_election;
    struct client_connection client;
    int64_t first_backoff_ms, most_backoff_ms;
    int32_t parallelism;
    bool profiles_itself; /* enableProfiling */
    bool delays_cache;    /* delayCacheUntilActive */
};

/* Fills `c`, which is empty but for what its reader says. False if there is an error; then only
 * errors and notes count. */
bool scheduler_config_read(struct scheduler_config *c, struct str text) MUST_USE;

/* The same, with the external plugins that the file names. */
bool scheduler_config_read_with(struct scheduler_config *c, struct str text,
                                const struct externals *externals) MUST_USE;

/* Which external plugins a file names, without their plugins; each library once. Texts live in
 * `mem`. Of a file with errors, those that can be found. */
void scheduler_config_externals(struct str text, struct arena *mem, struct externals *out);

void scheduler_config_done(struct scheduler_config *c);
