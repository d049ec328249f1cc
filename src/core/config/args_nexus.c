/* Arguments of our own plugins. */

#include "core/config/args_inside.h"
#include "core/plugins/args.h"

/* --- ProfileClassifier --- */

struct classifier_file {
    struct args_head head;
    struct str default_tier;
    bool lets_pods_rise;
};

/* clang-format off */
static const struct field classifier_fields[] = {
    {FIELD(BOOL, "allowPodTier", 0, struct classifier_file, lets_pods_rise)},
    HEAD_API_VERSION,
    {FIELD(STR, "defaultTier", 0, struct classifier_file, default_tier)},
    HEAD_KIND,
    FIELD_END,
};
/* clang-format on */

/* The tier of a name at a path; TIER_NONE, with an error added, if it is none. */
static enum tier read_tier(const struct args_reading *a, struct str name, struct str path)
{
    enum tier tier = tier_of(name);
    if (tier < N_TIERS)
        return tier;
    config_error(a->r, path, "\"" STR_FMT "\" is none of gold, silver, bronze",
                 STR_ARG(str_part(name, 0, 60)));
    return TIER_NONE;
}

static const void *read_classifier(const struct args_reading *a)
{
    struct identity_rules *out = arena_array(&a->r->out->mem, struct identity_rules, 1);
    struct classifier_file f = {0};
    if (!args_fields(a, classifier_fields, &f))
        return NULL;
    out->lets_pods_rise = f.lets_pods_rise;
    if (f.default_tier.n)
        out->default_tier = read_tier(a, f.default_tier, args_at(a, "defaultTier"));
    return out;
}

/* --- WorkloadAwareScoring --- */

struct workload_file {
    struct args_head head;
    struct workload_args args;
};

/* clang-format off */
static const struct field workload_fields[] = {
    HEAD_API_VERSION,
    {FIELD(INT64, "cpuWeight", 0, struct workload_file, args.cpu_weight)},
    {FIELD(INT64, "gpuWeight", 0, struct workload_file, args.gpu_weight)},
    HEAD_KIND,
    {FIELD(INT64, "memoryWeight", 0, struct workload_file, args.memory_weight)},
    FIELD_END,
};
/* clang-format on */

static const void *read_workload(const struct args_reading *a)
{
    struct workload_args *out = arena_array(&a->r->out->mem, struct workload_args, 1);
    struct workload_file f = {
        .args = {35, 35, 30}
    };
    if (!args_fields(a, workload_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "cpuWeight"), f.args.cpu_weight, 0, 100);
    args_check_range(a, args_at(a, "memoryWeight"), f.args.memory_weight, 0, 100);
    args_check_range(a, args_at(a, "gpuWeight"), f.args.gpu_weight, 0, 100);
    if (f.args.cpu_weight + f.args.memory_weight + f.args.gpu_weight == 0)
        config_error(a->r, a->path, "cpuWeight, memoryWeight and gpuWeight are all 0");
    *out = f.args;
    return out;
}

/* clang-format off */
struct coscheduling_file {
    struct args_head head;
    int64_t gather_s, starve_s;
    int32_t boost;
    bool has_gather_s, has_starve_s, has_boost, gangs_kubeflow, has_gangs_kubeflow;
};

#define GANG(kind, text, member)                                                                   \
    {FIELD(kind, text, 0, struct coscheduling_file, member),                                       \
     FIELD_HAS(struct coscheduling_file, has_##member)}

static const struct field coscheduling_fields[] = {
    HEAD_API_VERSION,
    GANG(INT32, "goldPriorityBoost", boost),
    HEAD_KIND,
    GANG(BOOL, "kubeflowAutoGang", gangs_kubeflow),
    GANG(INT64, "permitWaitingTimeSeconds", gather_s),
    GANG(INT64, "starvationThresholdSeconds", starve_s),
    FIELD_END,
};

/* clang-format on */

enum { MOST_SECONDS = 1000000000 }; /* 31 years */

static const void *read_coscheduling(const struct args_reading *a)
{
    struct coscheduling_file f = {0};
    if (!args_fields(a, coscheduling_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "goldPriorityBoost"), f.boost, 0, 1000);
    args_check_range(a, args_at(a, "permitWaitingTimeSeconds"), f.gather_s, 0, MOST_SECONDS);
    args_check_range(a, args_at(a, "starvationThresholdSeconds"), f.starve_s, 0, MOST_SECONDS);
    struct coscheduling_args *out = arena_array(&a->r->out->mem, struct coscheduling_args, 1);
    *out = COSCHEDULING_DEFAULTS;
    if (f.has_gather_s)
        out->gather_ms = f.gather_s * 1000;
    if (f.has_starve_s)
        out->starve_ms = f.starve_s * 1000;
    if (f.has_boost)
        out->gold_boost = f.boost;
    return out;
}

const struct args_kind nexus_args[] = {
    {STR("Coscheduling"),         read_coscheduling},
    {STR("ProfileClassifier"),    read_classifier  },
    {STR("WorkloadAwareScoring"), read_workload    },
};

const uint32_t n_nexus_args = LEN(nexus_args);
