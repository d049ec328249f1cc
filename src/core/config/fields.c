/* The fields of a KubeSchedulerConfiguration. */

#include "core/base/value.h"
#include "core/config/inside.h"

#define NO_DURATION "is not a duration (15s, 1m30s)"

static const char *read_duration(struct str text, void *out)
{
    return value_duration(text, out) ? NULL : NO_DURATION;
}

const struct field_scalar duration_scalar = {NO_DURATION, read_duration, NULL};

/* clang-format off */

static const struct field plugin_fields[] = {
    {FIELD(STR, "name", 0, struct file_plugin, name)},
    {FIELD(INT32, "weight", 0, struct file_plugin, weight)},
    FIELD_END,
};

static const struct field set_fields[] = {
    {FIELD_MESSAGES("disabled", 0, struct file_set, disabled, plugin_fields)},
    {FIELD_MESSAGES("enabled", 0, struct file_set, enabled, plugin_fields)},
    FIELD_END,
};

#define POINT(text, point) {FIELD_STRUCT(text, 0, struct file_profile, points[point], set_fields)}

static const struct field plugins_fields[] = {
    POINT("bind", POINT_BIND),
    POINT("filter", POINT_FILTER),
    {FIELD_STRUCT("multiPoint", 0, struct file_profile, multi_point, set_fields)},
    POINT("permit", POINT_PERMIT),
    POINT("placementGenerate", POINT_PLACEMENT_GENERATE),
    POINT("placementScore", POINT_PLACEMENT_SCORE),
    POINT("podGroupPostFilter", POINT_POD_GROUP_POST_FILTER),
    POINT("postBind", POINT_POST_BIND),
    POINT("postFilter", POINT_POST_FILTER),
    POINT("preBind", POINT_PRE_BIND),
    POINT("preEnqueue", POINT_PRE_ENQUEUE),
    POINT("preFilter", POINT_PRE_FILTER),
    POINT("preScore", POINT_PRE_SCORE),
    POINT("queueSort", POINT_QUEUE_SORT),
    POINT("reserve", POINT_RESERVE),
    POINT("score", POINT_SCORE),
    FIELD_END,
};

static const struct field args_fields[] = {
    {FIELD(RAW, "args", 0, struct file_args, args)},
    {FIELD(STR, "name", 0, struct file_args, name)},
    FIELD_END,
};

static const struct field profile_fields[] = {
    {FIELD(INT32, "percentageOfNodesToScore", 0, struct file_profile, percentage),
     FIELD_HAS(struct file_profile, has_percentage)},
    {FIELD_MESSAGES("pluginConfig", 0, struct file_profile, args, args_fields)},
    {FIELD_PART("plugins", 0, plugins_fields)},
    {FIELD(STR, "schedulerName", 0, struct file_profile, name), FIELD_HAS(struct file_profile, has_name)},
    FIELD_END,
};

static const struct field client_fields[] = {
    {FIELD(STR, "acceptContentTypes", 0, struct file_config, client.accept_content_types)},
    {FIELD(INT32, "burst", 0, struct file_config, client.burst)},
    {FIELD(STR, "contentType", 0, struct file_config, client.content_type)},
    {FIELD(STR, "kubeconfig", 0, struct file_config, client.kubeconfig)},
    {FIELD(RAW, "qps", 0, struct file_config, client.qps)},
    FIELD_END,
};

#define DURATION(text, member) {FIELD(SCALAR, text, 0, struct file_config, member), .scalar = &duration_scalar}

static const struct field election_fields[] = {
    {FIELD(BOOL, "leaderElect", 0, struct file_config, election.is_on),
     FIELD_HAS(struct file_config, election.has_is_on)},
    DURATION("leaseDuration", election.lease_ns),
    DURATION("renewDeadline", election.renew_ns),
    {FIELD(STR, "resourceLock", 0, struct file_config, election.lock)},
    {FIELD(STR, "resourceName", 0, struct file_config, election.name)},
    {FIELD(STR, "resourceNamespace", 0, struct file_config, election.namespace)},
    DURATION("retryPeriod", election.retry_ns),
    FIELD_END,
};

#define HAS(kind, text, member) {FIELD(kind, text, 0, struct file_config, member), \
                                 FIELD_HAS(struct file_config, has_##member)}

const struct field file_config_fields[] = {
    {FIELD(STR, "apiVersion", 0, struct file_config, api_version)},
    {FIELD_PART("clientConnection", 0, client_fields)},
    {FIELD(BOOL, "delayCacheUntilActive", 0, struct file_config, delays_cache)},
    HAS(BOOL, "enableContentionProfiling", profiles_contention),
    HAS(BOOL, "enableProfiling", profiles_itself),
    {FIELD_MESSAGES("extenders", 0, struct file_config, extenders, extender_fields)},
    {FIELD(STR, "kind", 0, struct file_config, kind)},
    {FIELD_PART("leaderElection", 0, election_fields)},
    HAS(INT32, "parallelism", parallelism),
    HAS(INT32, "percentageOfNodesToScore", percentage),
    {FIELD(INT64, "podInitialBackoffSeconds", 0, struct file_config, first_backoff_s),
     FIELD_HAS(struct file_config, has_first_backoff)},
    {FIELD(INT64, "podMaxBackoffSeconds", 0, struct file_config, most_backoff_s),
     FIELD_HAS(struct file_config, has_most_backoff)},
    {FIELD_MESSAGES("profiles", 0, struct file_config, profiles, profile_fields)},
    FIELD_END,
};

/* clang-format on */
