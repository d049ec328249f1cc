/* Arguments of plugins: kube-scheduler's, with its defaults and rules; our own are in args_nexus.c.
 * Arguments of plugins that are still to come are checked and then forgotten. */

#include "core/plugins/args.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/config/args_inside.h"
#include "core/model/selector.h"

struct str args_at(const struct args_reading *a, const char *fmt, ...)
{
    char inner[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(inner, sizeof(inner), fmt, args);
    va_end(args);
    return PATH(a->r, STR_FMT ".%s", STR_ARG(a->path), inner);
}

bool args_fields(const struct args_reading *a, const struct field *fields, void *out)
{
    const struct args_head *head = out;
    if (!walk_read(a->r, a->text, fields, out, a->path))
        return false;
    struct str wanted = PATH(a->r, STR_FMT "Args", STR_ARG(a->plugin->name));
    if (head->kind.n && !str_equal(head->kind, wanted))
        config_error(a->r, args_at(a, "kind"), "\"" STR_FMT "\" is not " STR_FMT,
                     STR_ARG(str_part(head->kind, 0, 60)), STR_ARG(wanted));
    if (head->api_version.n && !str_equal(head->api_version, STR("kubescheduler.config.k8s.io/v1")))
        config_error(a->r, args_at(a, "apiVersion"),
                     "\"" STR_FMT "\" is not kubescheduler.config.k8s.io/v1",
                     STR_ARG(str_part(head->api_version, 0, 60)));
    return true;
}

void args_check_range(const struct args_reading *a, struct str path, int64_t value, int64_t low,
                      int64_t high)
{
    if (value < low || value > high)
        config_error(a->r, path, "%lld: not in valid range [%lld, %lld]", (long long)value,
                     (long long)low, (long long)high);
}

/* clang-format off */

static const struct field resource_fields[] = {
    {FIELD(STR, "name", 0, struct resource_weight, name)},
    {FIELD(INT64, "weight", 0, struct resource_weight, weight)},
    FIELD_END,
};

static const struct field shape_fields[] = {
    {FIELD(INT64, "score", 0, struct shape_point, score)},
    {FIELD(INT64, "utilization", 0, struct shape_point, utilization)},
    FIELD_END,
};

/* clang-format on */

typedef LIST(struct resource_weight) resource_list;
typedef LIST(struct shape_point) shape_list;

static void check_shape(const struct args_reading *a, const shape_list *shape, struct str path)
{
    if (!shape->n)
        config_error(a->r, path, "at least one point must be specified");
    for (uint32_t i = 0; i < shape->n; i++) {
        const struct shape_point *point = &shape->at[i];
        struct str here = PATH(a->r, STR_FMT "[%u]", STR_ARG(path), i);
        if (i && point[-1].utilization >= point->utilization)
            config_error(a->r, PATH(a->r, STR_FMT ".utilization", STR_ARG(here)),
                         "%lld: values must be sorted in increasing order",
                         (long long)point->utilization);
        args_check_range(a, PATH(a->r, STR_FMT ".utilization", STR_ARG(here)), point->utilization,
                         0, 100);
        args_check_range(a, PATH(a->r, STR_FMT ".score", STR_ARG(here)), point->score, 0, 10);
    }
}

/* --- names, as labels and resources have them: [prefix/]name --- */

void args_check_name(const struct args_reading *a, struct str path, struct str name)
{
    if (!is_qualified_name(name))
        config_error(a->r, path, "\"" STR_FMT "\" is not a name ([prefix/]name)",
                     STR_ARG(str_part(name, 0, 80)));
}

/* --- NodeResourcesFit --- */

struct ratio_file {
    shape_list shape;
};

struct strategy_file {
    struct str type;
    resource_list resources;
    struct ratio_file *ratio;
};

struct fit_file {
    struct args_head head;
    LIST(struct str) ignored, ignored_groups;
    struct strategy_file *strategy;
};

/* clang-format off */

static const struct field ratio_fields[] = {
    {FIELD_MESSAGES("shape", 0, struct ratio_file, shape, shape_fields)},
    FIELD_END,
};

static const struct field strategy_fields[] = {
    {FIELD_REF("requestedToCapacityRatio", 0, struct strategy_file, ratio, ratio_fields)},
    {FIELD_MESSAGES("resources", 0, struct strategy_file, resources, resource_fields)},
    {FIELD(STR, "type", 0, struct strategy_file, type)},
    FIELD_END,
};

static const struct field fit_fields[] = {
    HEAD_API_VERSION,
    {FIELD_STRS("ignoredResourceGroups", 0, struct fit_file, ignored_groups)},
    {FIELD_STRS("ignoredResources", 0, struct fit_file, ignored)},
    HEAD_KIND,
    {FIELD_REF("scoringStrategy", 0, struct fit_file, strategy, strategy_fields)},
    FIELD_END,
};

/* clang-format on */

static void check_ignored(const struct args_reading *a, const struct fit_file *f)
{
    for (uint32_t i = 0; i < f->ignored.n; i++)
        args_check_name(a, args_at(a, "ignoredResources[%u]", i), f->ignored.at[i]);
    for (uint32_t i = 0; i < f->ignored_groups.n; i++) {
        struct str group = f->ignored_groups.at[i],
                   path = args_at(a, "ignoredResourceGroups[%u]", i);
        if (str_find(group, '/') < group.n)
            config_error(a->r, path, "\"" STR_FMT "\": resource group name can't contain '/'",
                         STR_ARG(str_part(group, 0, 80)));
        else
            args_check_name(a, path, group);
    }
}

static enum fit_strategy read_strategy(const struct args_reading *a, struct str type)
{
    static const struct str types[] = {
        [FIT_LEAST_ALLOCATED] = STR("LeastAllocated"),
        [FIT_MOST_ALLOCATED] = STR("MostAllocated"),
        [FIT_REQUESTED_TO_CAPACITY] = STR("RequestedToCapacityRatio"),
    };
    for (size_t i = 0; i < LEN(types); i++)
        if (str_equal(types[i], type))
            return (enum fit_strategy)i;
    config_error(a->r, args_at(a, "scoringStrategy.type"),
                 "\"" STR_FMT "\" is none of LeastAllocated, MostAllocated, "
                 "RequestedToCapacityRatio",
                 STR_ARG(str_part(type, 0, 60)));
    return FIT_LEAST_ALLOCATED;
}

static void read_fit_strategy(const struct args_reading *a, const struct strategy_file *s,
                              struct fit_args *out)
{
    out->strategy = read_strategy(a, s->type);
    for (uint32_t i = 0; i < s->resources.n; i++) {
        struct resource_weight *resource = &s->resources.at[i];
        if (!resource->weight)
            resource->weight = 1;
        if (resource->weight < 0 || resource->weight > 100)
            config_error(a->r, args_at(a, "scoringStrategy.resources[%u].weight", i),
                         "%lld: resource weight of " STR_FMT " not in valid range (0, 100]",
                         (long long)resource->weight, STR_ARG(str_part(resource->name, 0, 80)));
        if (!resource->name.n)
            config_error(a->r, args_at(a, "scoringStrategy.resources[%u].name", i), "missing");
    }
    struct str ratio = args_at(a, "scoringStrategy.requestedToCapacityRatio");
    bool is_ratio = out->strategy == FIT_REQUESTED_TO_CAPACITY;
    if (is_ratio && !s->ratio)
        config_error(a->r, ratio, "must be specified when type is RequestedToCapacityRatio");
    else if (!is_ratio && s->ratio)
        config_error(a->r, ratio, "must be nil when type is not RequestedToCapacityRatio");
    else if (is_ratio)
        check_shape(a, &s->ratio->shape,
                    args_at(a, "scoringStrategy.requestedToCapacityRatio.shape"));
    out->resources.at = s->resources.at;
    out->resources.n = s->resources.n;
    if (s->ratio) {
        out->shape.at = s->ratio->shape.at;
        out->shape.n = s->ratio->shape.n;
    }
}

static const void *read_fit(const struct args_reading *a)
{
    struct fit_file f = {0};
    struct fit_args *out = arena_array(&a->r->out->mem, struct fit_args, 1);
    if (!args_fields(a, fit_fields, &f))
        return NULL;
    check_ignored(a, &f);
    if (f.strategy)
        read_fit_strategy(a, f.strategy, out);
    out->ignored_resources.at = f.ignored.at;
    out->ignored_resources.n = f.ignored.n;
    out->ignored_groups.at = f.ignored_groups.at;
    out->ignored_groups.n = f.ignored_groups.n;
    return out;
}

/* --- NodeResourcesBalancedAllocation --- */

struct balanced_file {
    struct args_head head;
    resource_list resources;
};

/* clang-format off */
static const struct field balanced_fields[] = {
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD_MESSAGES("resources", 0, struct balanced_file, resources, resource_fields)},
    FIELD_END,
};
/* clang-format on */

static const void *read_balanced(const struct args_reading *a)
{
    enum { MOST_RESOURCES = 64 };
    struct balanced_file f = {0};
    struct balanced_args *out = arena_array(&a->r->out->mem, struct balanced_args, 1);
    if (!args_fields(a, balanced_fields, &f))
        return NULL;
    if (f.resources.n > MOST_RESOURCES) {
        config_error(a->r, args_at(a, "resources"), "more than %d", MOST_RESOURCES);
        return NULL;
    }
    for (uint32_t i = 0; i < f.resources.n; i++) {
        struct resource_weight *resource = &f.resources.at[i];
        if (!resource->weight)
            resource->weight = 1;
        if (resource->weight != 1)
            config_error(a->r, args_at(a, "resources[%u].weight", i), "%lld: must be 1",
                         (long long)resource->weight);
        if (!resource->name.n)
            config_error(a->r, args_at(a, "resources[%u].name", i), "missing");
        for (uint32_t j = 0; j < i; j++)
            if (str_equal(f.resources.at[j].name, resource->name)) {
                config_error(a->r, args_at(a, "resources[%u].name", i),
                             "\"" STR_FMT "\" is there twice",
                             STR_ARG(str_part(resource->name, 0, 80)));
                break;
            }
    }
    out->resources.at = f.resources.at;
    out->resources.n = f.resources.n;
    return out;
}

/* --- PodTopologySpread --- */

/* A constraint of a pod, of which a default may not say everything. */
struct constraint_file {
    struct str topology_key, when_unsatisfiable;
    int32_t max_skew;
    struct str selector, min_domains, affinity_policy, taints_policy, match_keys; /* as text */
};

struct spread_file {
    struct args_head head;
    struct str defaulting;
    LIST(struct constraint_file) constraints;
};

/* clang-format off */

static const struct field constraint_fields[] = {
    {FIELD(RAW, "labelSelector", 0, struct constraint_file, selector)},
    {FIELD(RAW, "matchLabelKeys", 0, struct constraint_file, match_keys)},
    {FIELD(INT32, "maxSkew", 0, struct constraint_file, max_skew)},
    {FIELD(RAW, "minDomains", 0, struct constraint_file, min_domains)},
    {FIELD(RAW, "nodeAffinityPolicy", 0, struct constraint_file, affinity_policy)},
    {FIELD(RAW, "nodeTaintsPolicy", 0, struct constraint_file, taints_policy)},
    {FIELD(STR, "topologyKey", 0, struct constraint_file, topology_key)},
    {FIELD(STR, "whenUnsatisfiable", 0, struct constraint_file, when_unsatisfiable)},
    FIELD_END,
};

static const struct field spread_fields[] = {
    HEAD_API_VERSION,
    {FIELD_MESSAGES("defaultConstraints", 0, struct spread_file, constraints, constraint_fields)},
    {FIELD(STR, "defaultingType", 0, struct spread_file, defaulting)},
    HEAD_KIND,
    FIELD_END,
};

/* clang-format on */

static bool is_said(struct str text)
{
    return text.n && !str_equal(text, STR("null"));
}

static void refuse_rest(const struct args_reading *a, uint32_t i, const struct constraint_file *c)
{
    const struct {
        struct str text;
        const char *name;
    } rest[] = {
        {c->min_domains, "minDomains"},
        {c->affinity_policy, "nodeAffinityPolicy"},
        {c->taints_policy, "nodeTaintsPolicy"},
        {c->match_keys, "matchLabelKeys"},
    };
    if (is_said(c->selector))
        config_error(a->r, args_at(a, "defaultConstraints[%u].labelSelector", i),
                     "must not be set: the selector of a default comes from each pod's owners");
    for (size_t k = 0; k < LEN(rest); k++)
        if (is_said(rest[k].text))
            config_error(a->r, args_at(a, "defaultConstraints[%u].%s", i, rest[k].name),
                         "not supported yet in a default constraint");
}

static struct spread_default read_constraint(const struct args_reading *a,
                                             const struct spread_file *f, uint32_t i)
{
    const struct constraint_file *c = &f->constraints.at[i];
    bool is_hard = str_equal(c->when_unsatisfiable, STR("DoNotSchedule"));
    if (c->max_skew <= 0)
        config_error(a->r, args_at(a, "defaultConstraints[%u].maxSkew", i),
                     "%d: not in valid range (0, inf)", c->max_skew);
    if (!c->topology_key.n)
        config_error(a->r, args_at(a, "defaultConstraints[%u].topologyKey", i), "can not be empty");
    else
        args_check_name(a, args_at(a, "defaultConstraints[%u].topologyKey", i), c->topology_key);
    if (!is_hard && !str_equal(c->when_unsatisfiable, STR("ScheduleAnyway")))
        config_error(a->r, args_at(a, "defaultConstraints[%u].whenUnsatisfiable", i),
                     "\"" STR_FMT "\" is neither DoNotSchedule nor ScheduleAnyway",
                     STR_ARG(str_part(c->when_unsatisfiable, 0, 60)));
    for (uint32_t j = 0; j < i; j++)
        if (str_equal(f->constraints.at[j].topology_key, c->topology_key) &&
            str_equal(f->constraints.at[j].when_unsatisfiable, c->when_unsatisfiable)) {
            config_error(a->r, args_at(a, "defaultConstraints[%u]", i),
                         "{" STR_FMT ", " STR_FMT "} is there twice",
                         STR_ARG(str_part(c->topology_key, 0, 80)),
                         STR_ARG(str_part(c->when_unsatisfiable, 0, 60)));
            break;
        }
    refuse_rest(a, i, c);
    return (struct spread_default){c->topology_key, c->max_skew, is_hard};
}

static const void *read_spread(const struct args_reading *a)
{
    enum { MOST_CONSTRAINTS = 16 }; /* each is a number or two of a node's key */
    struct spread_file f = {0};
    struct spread_args *out = arena_array(&a->r->out->mem, struct spread_args, 1);
    if (!args_fields(a, spread_fields, &f))
        return NULL;
    out->is_list = str_equal(f.defaulting, STR("List"));
    if (f.defaulting.n && !out->is_list && !str_equal(f.defaulting, STR("System")))
        config_error(a->r, args_at(a, "defaultingType"),
                     "\"" STR_FMT "\" is neither System nor List",
                     STR_ARG(str_part(f.defaulting, 0, 60)));
    else if (!out->is_list && f.constraints.n)
        config_error(a->r, args_at(a, "defaultingType"),
                     "System, when defaultConstraints are not empty: List is wanted");
    if (f.constraints.n > MOST_CONSTRAINTS) {
        config_error(a->r, args_at(a, "defaultConstraints"), "more than %d", MOST_CONSTRAINTS);
        return NULL;
    }
    struct spread_default *defaults =
        arena_array(&a->r->out->mem, struct spread_default, f.constraints.n);
    for (uint32_t i = 0; i < f.constraints.n; i++)
        defaults[i] = read_constraint(a, &f, i);
    out->defaults.at = defaults;
    out->defaults.n = f.constraints.n;
    return out;
}

/* --- NodeAffinity --- */

struct affinity_file {
    struct args_head head;
    struct str added; /* as text */
};

/* clang-format off */
static const struct field affinity_fields[] = {
    {FIELD(RAW, "addedAffinity", 0, struct affinity_file, added)},
    HEAD_API_VERSION,
    HEAD_KIND,
    FIELD_END,
};
/* clang-format on */

static const void *read_affinity(const struct args_reading *a)
{
    struct affinity_file f = {0};
    if (args_fields(a, affinity_fields, &f) && is_said(f.added))
        config_error(a->r, args_at(a, "addedAffinity"), "not supported yet");
    return NULL;
}

/* --- plugins that are still to come --- */

struct later_file {
    struct args_head head;
    int32_t percentage, absolute;
    bool has_percentage, has_absolute;
    int64_t filter_ns, binding_ns;
    bool has_filter, has_binding;
};

struct volume_file {
    struct args_head head;
    int64_t timeout_s;
    shape_list shape;
};

/* clang-format off */

static const struct field preemption_fields[] = {
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD(INT32, "minCandidateNodesAbsolute", 0, struct later_file, absolute),
     FIELD_HAS(struct later_file, has_absolute)},
    {FIELD(INT32, "minCandidateNodesPercentage", 0, struct later_file, percentage),
     FIELD_HAS(struct later_file, has_percentage)},
    FIELD_END,
};

struct pod_affinity_file {
    struct args_head head;
    struct pod_affinity_args args;
};

static const struct field pod_affinity_fields[] = {
    HEAD_API_VERSION,
    {FIELD(INT32, "hardPodAffinityWeight", 0, struct pod_affinity_file, args.hard_weight)},
    {FIELD(BOOL, "ignorePreferredTermsOfExistingPods", 0, struct pod_affinity_file,
           args.ignores_preferences)},
    HEAD_KIND,
    FIELD_END,
};

static const struct field dynamic_fields[] = {
    HEAD_API_VERSION,
    {FIELD(SCALAR, "bindingTimeout", 0, struct later_file, binding_ns), .scalar = &duration_scalar,
     FIELD_HAS(struct later_file, has_binding)},
    {FIELD(SCALAR, "filterTimeout", 0, struct later_file, filter_ns), .scalar = &duration_scalar,
     FIELD_HAS(struct later_file, has_filter)},
    HEAD_KIND,
    FIELD_END,
};

static const struct field volume_fields[] = {
    HEAD_API_VERSION,
    {FIELD(INT64, "bindTimeoutSeconds", 0, struct volume_file, timeout_s)},
    HEAD_KIND,
    {FIELD_MESSAGES("shape", 0, struct volume_file, shape, shape_fields)},
    FIELD_END,
};

static const struct field no_fields[] = {HEAD_API_VERSION, HEAD_KIND, FIELD_END};

/* clang-format on */

static const void *read_preemption(const struct args_reading *a)
{
    struct later_file f = {0};
    if (!args_fields(a, preemption_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "minCandidateNodesPercentage"), f.percentage, 0, 100);
    if (f.absolute < 0)
        config_error(a->r, args_at(a, "minCandidateNodesAbsolute"),
                     "%d: not in valid range [0, inf)", f.absolute);
    if (f.has_percentage && f.has_absolute && f.percentage == 0 && f.absolute == 0)
        config_error(a->r, args_at(a, "minCandidateNodesPercentage"),
                     "cannot be zero at the same time as minCandidateNodesAbsolute");
    return NULL;
}

static const void *read_pod_affinity(const struct args_reading *a)
{
    struct pod_affinity_args *out = arena_array(&a->r->out->mem, struct pod_affinity_args, 1);
    struct pod_affinity_file f = {.args = {.hard_weight = 1}};
    if (!args_fields(a, pod_affinity_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "hardPodAffinityWeight"), f.args.hard_weight, 0, 100);
    *out = f.args;
    return out;
}

static const void *read_dynamic(const struct args_reading *a)
{
    struct later_file f = {0};
    if (!args_fields(a, dynamic_fields, &f))
        return NULL;
    if (f.filter_ns < 0)
        config_error(a->r, args_at(a, "filterTimeout"), "must be zero or positive");
    if (f.has_binding && f.binding_ns < 1000000000)
        config_error(a->r, args_at(a, "bindingTimeout"), "must be at least 1 second");
    struct device_args *out = arena_array(&a->r->out->mem, struct device_args, 1);
    out->timeout_ms = f.has_binding ? f.binding_ns / 1000000 : DEVICE_TIMEOUT_MS;
    out->filter_ms = f.has_filter ? (f.filter_ns + 999999) / 1000000 : DEVICE_FILTER_MS;
    return out;
}

static const void *read_volume(const struct args_reading *a)
{
    struct volume_file f = {.timeout_s = 600};
    if (!args_fields(a, volume_fields, &f))
        return NULL;
    if (f.timeout_s < 0)
        config_error(a->r, args_at(a, "bindTimeoutSeconds"), "%lld: should not be a negative value",
                     (long long)f.timeout_s);
    if (f.shape.n)
        check_shape(a, &f.shape, args_at(a, "shape"));
    struct volume_args *out = arena_array(&a->r->out->mem, struct volume_args, 1);
    out->timeout_ms = MIN(f.timeout_s, INT64_MAX / 4000) * 1000;
    out->shape.at = f.shape.at;
    out->shape.n = f.shape.n;
    return out;
}

static const void *read_none(const struct args_reading *a)
{
    struct later_file f = {0};
    (void)args_fields(a, no_fields, &f);
    return NULL;
}

/* --- which plugin has which --- */

static const struct args_kind kinds[] = {
    {STR("NodeResourcesFit"), read_fit},
    {STR("NodeResourcesBalancedAllocation"), read_balanced},
    {STR("PodTopologySpread"), read_spread},
    {STR("NodeAffinity"), read_affinity},
    {STR("DefaultPreemption"), read_preemption},
    {STR("InterPodAffinity"), read_pod_affinity},
    {STR("DynamicResources"), read_dynamic},
    {STR("VolumeBinding"), read_volume},
};

const void *args_read(struct reading *r, const struct known_plugin *plugin, struct str args,
                      struct str path)
{
    struct args_reading a = {r, plugin, args, path};
    const struct known_external *external = externals_as(r, plugin);
    if (external)
        return externals_args(r, external, args);
    if (!is_said(args))
        return NULL;
    for (size_t i = 0; i < LEN(kinds); i++)
        if (str_equal(kinds[i].plugin, plugin->name))
            return kinds[i].read(&a);
    for (uint32_t i = 0; i < n_nexus_args; i++)
        if (str_equal(nexus_args[i].plugin, plugin->name))
            return nexus_args[i].read(&a);
    return read_none(&a);
}
