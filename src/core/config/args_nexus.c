/* Arguments of our own plugins. */

#include "core/base/value.h"
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
    struct workload_file f = {.args = {35, 35, 30}};
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
    int64_t gather_s, repair_s, starve_s;
    int32_t boost;
    struct str metrics;
    bool has_gather_s, has_repair_s, has_starve_s, has_boost, gangs_kubeflow, has_gangs_kubeflow;
    int64_t held_percent;
    LIST(struct str) holders;
    bool has_held_percent, has_holders;
};

#define GANG(kind, text, member)                                                                   \
    {FIELD(kind, text, 0, struct coscheduling_file, member),                                       \
     FIELD_HAS(struct coscheduling_file, has_##member)}

static const struct field coscheduling_fields[] = {
    HEAD_API_VERSION,
    {FIELD(STR, "gangMetrics", 0, struct coscheduling_file, metrics)},
    GANG(INT32, "goldPriorityBoost", boost),
    {FIELD_STRS("heldRoomNamespaces", 0, struct coscheduling_file, holders),
     FIELD_HAS(struct coscheduling_file, has_holders)},
    GANG(INT64, "heldRoomPercent", held_percent),
    HEAD_KIND,
    GANG(BOOL, "kubeflowAutoGang", gangs_kubeflow),
    GANG(INT64, "permitWaitingTimeSeconds", gather_s),
    GANG(INT64, "repairWaitingTimeSeconds", repair_s),
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
    args_check_range(a, args_at(a, "repairWaitingTimeSeconds"), f.repair_s, 0, MOST_SECONDS);
    args_check_range(a, args_at(a, "starvationThresholdSeconds"), f.starve_s, 0, MOST_SECONDS);
    args_check_range(a, args_at(a, "heldRoomPercent"), f.held_percent, 0, 100);
    struct coscheduling_args *out = arena_array(&a->r->out->mem, struct coscheduling_args, 1);
    *out = COSCHEDULING_DEFAULTS;
    out->counts_groups = str_equal(f.metrics, STR("perGroup"));
    if (f.metrics.n && !out->counts_groups && !str_equal(f.metrics, STR("perNamespace")))
        config_error(a->r, args_at(a, "gangMetrics"),
                     "\"" STR_FMT "\" is neither perNamespace nor perGroup", STR_ARG(f.metrics));
    if (f.has_gather_s)
        out->gather_ms = f.gather_s * 1000;
    if (f.has_repair_s)
        out->repair_ms = f.repair_s * 1000;
    if (f.has_starve_s)
        out->starve_ms = f.starve_s * 1000;
    if (f.has_boost)
        out->gold_boost = f.boost;
    if (f.has_held_percent)
        out->held_percent = f.held_percent;
    out->names_holders = f.has_holders;
    out->holders.at = f.holders.at;
    out->holders.n = f.holders.n;
    out->gangs_kubeflow = f.gangs_kubeflow;
    return out;
}

/* --- LinePolicy --- */

struct line_file {
    struct args_head head;
    struct str policy;
    int64_t patience;
};

/* clang-format off */
static const struct field line_fields[] = {
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD(INT64, "patience", 0, struct line_file, patience)},
    {FIELD(STR, "policy", 0, struct line_file, policy)},
    FIELD_END,
};
/* clang-format on */

static const void *read_line(const struct args_reading *a)
{
    struct line_args *out = arena_array(&a->r->out->mem, struct line_args, 1);
    *out = LINE_DEFAULTS;
    struct line_file f = {.patience = out->patience};
    if (!args_fields(a, line_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "patience"), f.patience, 0, LINE_PATIENCE_MOST);
    out->patience = f.patience;
    if (f.policy.n && !line_policy_parse(f.policy, &out->policy))
        config_error(a->r, args_at(a, "policy"),
                     "\"" STR_FMT "\" is none of first-fit, fifo, easy, sjf",
                     STR_ARG(str_part(f.policy, 0, 60)));
    return out;
}

/* --- FairQueues --- */

struct fair_queues_file {
    struct args_head head;
    bool shares_namespaces;
    struct str reclaim, half_life;
    int64_t delay_s, heads;
};

/* clang-format off */
static const struct field fair_queues_fields[] = {
    HEAD_API_VERSION,
    {FIELD(INT64, "heads", 0, struct fair_queues_file, heads)},
    HEAD_KIND,
    {FIELD(BOOL, "namespaceFairness", 0, struct fair_queues_file, shares_namespaces)},
    {FIELD(STR, "reclaim", 0, struct fair_queues_file, reclaim)},
    {FIELD(INT64, "reclaimDelaySeconds", 0, struct fair_queues_file, delay_s)},
    {FIELD(STR, "usageHalfLife", 0, struct fair_queues_file, half_life)},
    FIELD_END,
};
/* clang-format on */

static enum reclaim read_reclaim(const struct args_reading *a, struct str name)
{
    uint32_t i = RECLAIM_GUARANTEE;
    while (name.n && i < N_RECLAIMS && !str_equal(name, str_of(reclaim_names[i])))
        i++;
    if (i == N_RECLAIMS)
        config_error(a->r, args_at(a, "reclaim"),
                     "\"" STR_FMT "\" is none of Guarantee, FairShare, Never",
                     STR_ARG(str_part(name, 0, 60)));
    return (enum reclaim)i;
}

/* A duration, or days: "36h", "7d". */
static bool read_span(struct str text, int64_t *ms)
{
    static const int64_t ns = 1000000, day = (int64_t)24 * 3600 * 1000;
    bool is_days = text.n && text.p[text.n - 1] == 'd';
    bool is_read = is_days ? str_int(str_part(text, 0, text.n - 1), ms) : value_duration(text, ms);
    if (is_read)
        *ms = is_days ? MIN(MAX(*ms, 0), day) * day : *ms / ns;
    return is_read;
}

/* In milliseconds; "": 0. */
static int64_t read_half_life(const struct args_reading *a, struct str text)
{
    static const int64_t least = (int64_t)10 * 60 * 1000, most = (int64_t)90 * 24 * 3600 * 1000;
    int64_t life = 0;
    if (text.n && (!read_span(text, &life) || life < least || life > most))
        config_error(a->r, args_at(a, "usageHalfLife"),
                     "\"" STR_FMT "\" is no duration from 10m to 90d",
                     STR_ARG(str_part(text, 0, 60)));
    return life;
}

static const void *read_fair_queues(const struct args_reading *a)
{
    struct fair_queues_args *out = arena_array(&a->r->out->mem, struct fair_queues_args, 1);
    *out = FAIR_QUEUES_DEFAULTS;
    struct fair_queues_file f = {.heads = out->heads};
    if (!args_fields(a, fair_queues_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "heads"), f.heads, 1, FAIR_HEADS_MOST);
    args_check_range(a, args_at(a, "reclaimDelaySeconds"), f.delay_s, 0, MOST_SECONDS);
    out->shares_namespaces = f.shares_namespaces;
    out->reclaim = read_reclaim(a, f.reclaim);
    out->reclaim_delay_ms = f.delay_s * 1000;
    out->half_life_ms = read_half_life(a, f.half_life);
    out->heads = (uint32_t)f.heads;
    return out;
}

/* --- TenantHardwareAffinityScore --- */

/* Scores of one tier of tenants; -1: the default. */
struct row_file {
    int64_t premium, standard, economy;
};

struct scores_file {
    struct row_file *gold, *silver, *bronze;
};

struct allowed_file {
    struct str tenant, tier;
    LIST(struct str) hardware;
};

struct tenant_file {
    struct args_head head;
    LIST(struct allowed_file) allowed;
    struct scores_file *scores;
};

/* clang-format off */
static const struct field row_fields[] = {
    {FIELD(INT64, "economy", 0, struct row_file, economy)},
    {FIELD(INT64, "premium", 0, struct row_file, premium)},
    {FIELD(INT64, "standard", 0, struct row_file, standard)},
    FIELD_END,
};

static const struct field scores_fields[] = {
    {FIELD_REF("bronze", 0, struct scores_file, bronze, row_fields)},
    {FIELD_REF("gold", 0, struct scores_file, gold, row_fields)},
    {FIELD_REF("silver", 0, struct scores_file, silver, row_fields)},
    FIELD_END,
};

static const struct field allowed_fields[] = {
    {FIELD_STRS("hardware", 0, struct allowed_file, hardware)},
    {FIELD(STR, "tenant", 0, struct allowed_file, tenant)},
    {FIELD(STR, "tier", 0, struct allowed_file, tier)},
    FIELD_END,
};

static const struct field tenant_fields[] = {
    {FIELD_MESSAGES("allowedTiers", 0, struct tenant_file, allowed, allowed_fields)},
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD_REF("scores", 0, struct tenant_file, scores, scores_fields)},
    FIELD_END,
};
/* clang-format on */

/* All nine scores must be there: half a table is a mistake. */
static void read_scores(const struct args_reading *a, const struct scores_file *s,
                        struct tenant_args *out)
{
    const struct row_file *rows[N_TIERS] = {
        [TIER_BRONZE] = s->bronze, [TIER_SILVER] = s->silver, [TIER_GOLD] = s->gold};
    out->has_scores = true;
    for (uint32_t t = TIER_BRONZE; t < N_TIERS; t++) {
        struct str path = args_at(a, "scores." STR_FMT, STR_ARG(tier_name(t)));
        if (!rows[t]) {
            config_error(a->r, path, "missing");
            continue;
        }
        const int64_t of[] = {50, rows[t]->economy, rows[t]->standard, rows[t]->premium};
        for (uint32_t h = HARDWARE_ECONOMY; h < LEN(of); h++) {
            args_check_range(
                a, PATH(a->r, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(hardware_tier_name(h))),
                of[h], 0, 100);
            out->scores[t][h] = (uint8_t)of[h];
        }
    }
}

static uint32_t read_hardware(const struct args_reading *a, const struct allowed_file *f,
                              uint32_t at)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < f->hardware.n; i++) {
        uint32_t tier = HARDWARE_ECONOMY;
        while (tier <= HARDWARE_PREMIUM && !str_equal(f->hardware.at[i], hardware_tier_name(tier)))
            tier++;
        if (tier > HARDWARE_PREMIUM)
            config_error(a->r, args_at(a, "allowedTiers[%u].hardware[%u]", at, i),
                         "\"" STR_FMT "\" is none of premium, standard, economy",
                         STR_ARG(str_part(f->hardware.at[i], 0, 60)));
        all |= 1u << tier;
    }
    return all;
}

static const void *read_tenant(const struct args_reading *a)
{
    struct tenant_args *out = arena_array(&a->r->out->mem, struct tenant_args, 1);
    struct tenant_file f = {0};
    if (!args_fields(a, tenant_fields, &f))
        return NULL;
    struct allowed_tiers *allowed = arena_array(&a->r->out->mem, struct allowed_tiers, f.allowed.n);
    for (uint32_t i = 0; i < f.allowed.n; i++) {
        const struct allowed_file *from = &f.allowed.at[i];
        allowed[i] = (struct allowed_tiers){.tenant = from->tenant};
        if ((from->tenant.n > 0) == (from->tier.n > 0))
            config_error(a->r, args_at(a, "allowedTiers[%u]", i), "needs a tenant or a tier");
        else if (from->tier.n)
            allowed[i].tier = read_tier(a, from->tier, args_at(a, "allowedTiers[%u].tier", i));
        allowed[i].hardware = read_hardware(a, from, i);
    }
    out->allowed.at = allowed;
    out->allowed.n = f.allowed.n;
    if (f.scores)
        read_scores(a, f.scores, out);
    return out;
}

/* --- TopologyScoring, NetworkFabricScore --- */

struct topology_file {
    struct args_head head;
    LIST(struct str) levels;
};

/* clang-format off */
static const struct field topology_fields[] = {
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD_STRS("levels", 0, struct topology_file, levels)},
    FIELD_END,
};
/* clang-format on */

/* Labels' keys; false: none, or an error. */
static bool read_levels(const struct args_reading *a, struct topology_file *f)
{
    *f = (struct topology_file){0};
    if (!args_fields(a, topology_fields, f) || f->levels.n == 0)
        return false;
    if (f->levels.n > TOPOLOGY_MOST_LEVELS) {
        config_error(a->r, args_at(a, "levels"), "more than %d", TOPOLOGY_MOST_LEVELS);
        return false;
    }
    for (uint32_t i = 0; i < f->levels.n; i++)
        args_check_name(a, args_at(a, "levels[%u]", i), f->levels.at[i]);
    return true;
}

static const void *read_topology(const struct args_reading *a)
{
    struct topology_args *out = arena_array(&a->r->out->mem, struct topology_args, 1);
    struct topology_file f;
    if (!read_levels(a, &f))
        return NULL;
    out->levels.at = f.levels.at;
    out->levels.n = f.levels.n;
    return out;
}

static const void *read_fabric(const struct args_reading *a)
{
    struct fabric_args *out = arena_array(&a->r->out->mem, struct fabric_args, 1);
    struct topology_file f;
    if (!read_levels(a, &f))
        return NULL;
    out->levels.at = f.levels.at;
    out->levels.n = f.levels.n;
    return out;
}

/* --- NUMATopology --- */

struct numa_file {
    struct args_head head;
    struct str fit;
};

/* clang-format off */
static const struct field numa_fields[] = {
    HEAD_API_VERSION,
    HEAD_KIND,
    {FIELD(STR, "numaFit", 0, struct numa_file, fit)},
    FIELD_END,
};
/* clang-format on */

static const void *read_numa(const struct args_reading *a)
{
    struct numa_args *out = arena_array(&a->r->out->mem, struct numa_args, 1);
    struct numa_file f = {0};
    if (!args_fields(a, numa_fields, &f))
        return NULL;
    out->aims_at_60 = str_equal(f.fit, STR("target60"));
    if (f.fit.n && !out->aims_at_60 && !str_equal(f.fit, STR("mostFree")))
        config_error(a->r, args_at(a, "numaFit"), "\"" STR_FMT "\" is none of mostFree, target60",
                     STR_ARG(str_part(f.fit, 0, 60)));
    return out;
}

/* --- ResourceFragmentationScore --- */

struct demand_file {
    int64_t cpu_milli, gpu_milli, gpus, weight;
    bool has_milli, has_weight;
    LIST(struct str) models;
};

struct fragmentation_file {
    struct args_head head;
    struct str policy;
    bool all_pods, observes_demand;
    LIST(struct demand_file) demand;
};

/* clang-format off */
static const struct field demand_fields[] = {
    {FIELD(INT64, "cpuMilli", 0, struct demand_file, cpu_milli)},
    {FIELD(INT64, "gpuMilli", 0, struct demand_file, gpu_milli),
     FIELD_HAS(struct demand_file, has_milli)},
    {FIELD(INT64, "gpus", 0, struct demand_file, gpus)},
    {FIELD_STRS("models", 0, struct demand_file, models)},
    {FIELD(INT64, "weight", 0, struct demand_file, weight),
     FIELD_HAS(struct demand_file, has_weight)},
    FIELD_END,
};

static const struct field fragmentation_fields[] = {
    {FIELD(BOOL, "allPods", 0, struct fragmentation_file, all_pods)},
    HEAD_API_VERSION,
    {FIELD_MESSAGES("demand", 0, struct fragmentation_file, demand, demand_fields)},
    HEAD_KIND,
    {FIELD(BOOL, "observeDemand", 0, struct fragmentation_file, observes_demand)},
    {FIELD(STR, "policy", 0, struct fragmentation_file, policy)},
    FIELD_END,
};
/* clang-format on */

static struct gpu_demand read_demand(const struct args_reading *a, struct demand_file *f,
                                     uint32_t i)
{
    f->gpu_milli = f->has_milli ? f->gpu_milli : 1000;
    f->weight = f->has_weight ? f->weight : 1;
    args_check_range(a, args_at(a, "demand[%u].cpuMilli", i), f->cpu_milli, 0, 1000000000);
    args_check_range(a, args_at(a, "demand[%u].gpus", i), f->gpus, 0, 32);
    args_check_range(a, args_at(a, "demand[%u].gpuMilli", i), f->gpu_milli, 1, 1000);
    args_check_range(a, args_at(a, "demand[%u].weight", i), f->weight, 1, 1000000);
    return (struct gpu_demand){
        .cpu_milli = f->cpu_milli,
        .count = (uint32_t)f->gpus,
        .milli = (uint32_t)f->gpu_milli,
        .models = {f->models.at, f->models.n},
        .share = (double)f->weight,
    };
}

static const void *read_fragmentation(const struct args_reading *a)
{
    enum { MOST_KINDS = 1000 };
    struct fragmentation_args *out = arena_array(&a->r->out->mem, struct fragmentation_args, 1);
    struct fragmentation_file f = {0};
    double all = 0;
    if (!args_fields(a, fragmentation_fields, &f))
        return NULL;
    while (f.policy.n && out->policy < N_GPU_POLICIES &&
           !str_equal(f.policy, str_of(gpu_policy_names[out->policy])))
        out->policy++;
    if (out->policy == N_GPU_POLICIES) {
        config_error(a->r, args_at(a, "policy"), "\"" STR_FMT "\" is no policy",
                     STR_ARG(str_part(f.policy, 0, 60)));
        return NULL;
    }
    if (f.demand.n > MOST_KINDS) {
        config_error(a->r, args_at(a, "demand"), "more than %d", MOST_KINDS);
        return NULL;
    }
    if (f.demand.n && f.observes_demand)
        config_error(a->r, args_at(a, "observeDemand"), "demand is told, too");
    struct gpu_demand *demand = arena_array(&a->r->out->mem, struct gpu_demand, f.demand.n);
    for (uint32_t i = 0; i < f.demand.n; i++) {
        demand[i] = read_demand(a, &f.demand.at[i], i);
        all += demand[i].share;
    }
    for (uint32_t i = 0; i < f.demand.n; i++)
        demand[i].share /= all;
    out->all_pods = f.all_pods;
    out->observes_demand = f.observes_demand;
    out->demand.at = demand;
    out->demand.n = f.demand.n;
    return out;
}

/* --- GangPreemption --- */

struct eviction_file {
    struct args_head head;
    int64_t most_victims, gap_s, hold_s, least_run_s;
    bool has_most_victims, has_gap_s, has_hold_s, tier_first, preemptible_alone;
    struct str budgets;
    LIST(struct str) order;
    LIST(struct str) spared;
    bool has_spared;
};

/* clang-format off */
static const struct field eviction_fields[] = {
    HEAD_API_VERSION,
    {FIELD(STR, "budgets", 0, struct eviction_file, budgets)},
    {FIELD(INT64, "holdSeconds", 0, struct eviction_file, hold_s),
     FIELD_HAS(struct eviction_file, has_hold_s)},
    HEAD_KIND,
    {FIELD(INT64, "maxVictims", 0, struct eviction_file, most_victims),
     FIELD_HAS(struct eviction_file, has_most_victims)},
    {FIELD(INT64, "minimumGapSeconds", 0, struct eviction_file, gap_s),
     FIELD_HAS(struct eviction_file, has_gap_s)},
    {FIELD(INT64, "minimumRunSeconds", 0, struct eviction_file, least_run_s)},
    {FIELD(BOOL, "preemptibleOnly", 0, struct eviction_file, preemptible_alone)},
    {FIELD_STRS("sparedNamespaces", 0, struct eviction_file, spared),
     FIELD_HAS(struct eviction_file, has_spared)},
    {FIELD(BOOL, "tierOverPriority", 0, struct eviction_file, tier_first)},
    {FIELD_STRS("victimOrder", 0, struct eviction_file, order)},
    FIELD_END,
};
/* clang-format on */

/* Those that are named come first, the others behind them in the order they always have. */
static void read_victim_order(const struct args_reading *a, const struct eviction_file *f,
                              struct eviction_args *out)
{
    bool is_named[N_VICTIM_KEYS] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->order.n; i++) {
        uint32_t key = 0;
        while (key < N_VICTIM_KEYS && !str_equal(f->order.at[i], str_of(victim_key_names[key])))
            key++;
        if (key == N_VICTIM_KEYS || is_named[key]) {
            config_error(a->r, args_at(a, "victimOrder[%u]", i),
                         key == N_VICTIM_KEYS ? "\"" STR_FMT "\" is none of tier, priority, "
                                                "workload, lostWork, start"
                                              : "\"" STR_FMT "\" is there twice",
                         STR_ARG(str_part(f->order.at[i], 0, 60)));
            return;
        }
        is_named[key] = true;
        out->order[n++] = key;
    }
    for (uint32_t key = 0; key < N_VICTIM_KEYS; key++)
        if (!is_named[key])
            out->order[n++] = key;
}

static const void *read_eviction(const struct args_reading *a)
{
    struct eviction_args *out = arena_array(&a->r->out->mem, struct eviction_args, 1);
    struct eviction_file f = {0};
    *out = eviction_defaults;
    if (!args_fields(a, eviction_fields, &f))
        return NULL;
    args_check_range(a, args_at(a, "maxVictims"), f.most_victims, 0, 10000);
    args_check_range(a, args_at(a, "minimumGapSeconds"), f.gap_s, 0, MOST_SECONDS);
    args_check_range(a, args_at(a, "holdSeconds"), f.hold_s, 0, MOST_SECONDS);
    args_check_range(a, args_at(a, "minimumRunSeconds"), f.least_run_s, 0, MOST_SECONDS);
    out->most_victims = f.has_most_victims ? f.most_victims : out->most_victims;
    out->gap_ms = f.has_gap_s ? f.gap_s * 1000 : out->gap_ms;
    out->hold_ms = f.has_hold_s ? f.hold_s * 1000 : out->hold_ms;
    out->least_run_ms = f.least_run_s * 1000;
    out->tier_first = f.tier_first;
    out->preemptible_alone = f.preemptible_alone;
    out->keeps_budgets = str_equal(f.budgets, STR("never"));
    if (f.budgets.n && !out->keeps_budgets && !str_equal(f.budgets, STR("last")))
        config_error(a->r, args_at(a, "budgets"), "\"" STR_FMT "\" is none of last, never",
                     STR_ARG(str_part(f.budgets, 0, 60)));
    if (f.has_spared) {
        out->spared.at = f.spared.at;
        out->spared.n = f.spared.n;
    }
    read_victim_order(a, &f, out);
    return out;
}

const struct args_kind nexus_args[] = {
    {STR("GangPreemption"), read_eviction},
    {STR("Coscheduling"), read_coscheduling},
    {STR("ProfileClassifier"), read_classifier},
    {STR("LinePolicy"), read_line},
    {STR("FairQueues"), read_fair_queues},
    {STR("WorkloadAwareScoring"), read_workload},
    {STR("TenantHardwareAffinityScore"), read_tenant},
    {STR("NUMATopology"), read_numa},
    {STR("TopologyScoring"), read_topology},
    {STR("NetworkFabricScore"), read_fabric},
    {STR("ResourceFragmentationScore"), read_fragmentation},
};

const uint32_t n_nexus_args = LEN(nexus_args);
