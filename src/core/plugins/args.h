#pragma once

#include "core/base/base.h"
#include "core/base/str.h"
#include "core/cluster/identity.h"

/* The configuration of plugins that have one. A NULL argument means the defaults, which are
 * kube-scheduler's. */

struct resource_weight {
    struct str name;
    int64_t weight;
};

enum fit_strategy { FIT_LEAST_ALLOCATED, FIT_MOST_ALLOCATED, FIT_REQUESTED_TO_CAPACITY };

struct shape_point {
    int64_t utilization, score; /* percent; 0..10 */
};

/* The value at `p` percent of the line through the points, which rise: 0..100. */
static inline int64_t shape_value(const struct shape_point *at, uint32_t n, int64_t p)
{
    for (uint32_t i = 0; i < n; i++) {
        if (p > at[i].utilization)
            continue;
        if (i == 0)
            return at[0].score * 10;
        int64_t rise = (at[i].score - at[i - 1].score) * 10, run = p - at[i - 1].utilization;
        return at[i - 1].score * 10 + rise * run / (at[i].utilization - at[i - 1].utilization);
    }
    return n ? at[n - 1].score * 10 : 0;
}

struct fit_args {
    enum fit_strategy strategy;
    LIST(const struct resource_weight) resources; /* none: cpu and memory, 1 each */
    LIST(const struct shape_point) shape;         /* of FIT_REQUESTED_TO_CAPACITY, rising */
    LIST(const struct str) ignored_resources, ignored_groups;
};

enum { DEVICE_TIMEOUT_MS = 10 * 60 * 1000, DEVICE_FILTER_MS = 10 * 1000 };

struct device_args {
    int64_t timeout_ms; /* so long a device that was given may take to become ready */
    int64_t filter_ms;  /* so long devices are searched for one pod; 0: as long as it takes */
};

struct volume_args {
    LIST(const struct shape_point) shape; /* none: 10 where empty, 0 where full */
    int64_t timeout_ms;                   /* that claims may take to be bound */
};

struct balanced_args {
    LIST(const struct resource_weight) resources; /* none: cpu and memory */
};

/* A default constraint; its selector comes from Services and owners. */
struct spread_default {
    struct str topology_key;
    int32_t max_skew;
    bool is_hard;
};

struct spread_args {
    bool is_list; /* defaultingType List; else System */
    LIST(const struct spread_default) defaults;
};

/* In which order the units of a profile get their turn, and who may pass whom
 * (engine/backfill/line.h). */
enum line_policy { LINE_EASY, LINE_FIFO, LINE_FIRST_FIT, LINE_SJF };

struct line_args {
    enum line_policy policy;
    int64_t patience; /* of LINE_SJF: nobody is passed by those who come later than so many times
                       * its run time after it; 0: by anybody */
};

/* "first-fit", "fifo", "easy", "sjf". */
bool line_policy_parse(struct str text, enum line_policy *out) MUST_USE;

enum { LINE_PATIENCE_MOST = 1000 };

#define LINE_DEFAULTS ((struct line_args){.policy = LINE_EASY, .patience = 2})

/* What is taken back from those who borrowed it: what is guaranteed, what is a queue's share, or
 * nothing. */
enum reclaim { RECLAIM_GUARANTEE, RECLAIM_FAIR_SHARE, RECLAIM_NEVER, N_RECLAIMS };

/* As configuration spells it. */
extern const char *const reclaim_names[N_RECLAIMS];

/* How queues share a cluster (engine/fair). */
struct fair_queues_args {
    bool shares_namespaces; /* where there is no Queue, namespaces take turns */
    enum reclaim reclaim;
    int64_t reclaim_delay_ms; /* who wants room back waits so long for it to become free */
    int64_t half_life_ms;     /* of what a queue has used; 0: only what it uses now counts */
    uint32_t heads;           /* at most so many wait for room with nobody passing them */
};

#define FAIR_QUEUES_DEFAULTS ((struct fair_queues_args){.heads = 4})

enum { FAIR_HEADS_MOST = 16 };

struct pod_affinity_args {
    int32_t hard_weight;      /* of a required term of a pod on a node that means us */
    bool ignores_preferences; /* of pods on nodes, unless the pod has its own */
};

/* ProfileClassifier's are struct identity_rules. */

struct workload_args {
    int64_t cpu_weight, memory_weight, gpu_weight; /* 35, 35, 30; not all 0 */
};
struct coscheduling_args {
    int64_t gather_ms;   /* members that are missing are waited for so long; then all are told */
    int64_t starve_ms;   /* who has waited longer goes before others */
    int64_t repair_ms;   /* the room of a member that was lost is kept so long; 0: not at all */
    int32_t gold_boost;  /* added to the priority of gold tenants */
    bool counts_groups;  /* metrics tell gangs apart, not only their namespaces */
    bool gangs_kubeflow; /* pods of Kubeflow's jobs are gangs without asking */

    /* Room for those whom pods announce (engine/reservation/share.c): */
    int64_t held_percent; /* of the cluster that a namespace may hold */
    bool names_holders;   /* only these namespaces may hold any */
    LIST(const struct str) holders;
};

#define COSCHEDULING_DEFAULTS                                                                      \
    ((struct coscheduling_args){.gather_ms = 10000,                                                \
                                .starve_ms = 60000,                                                \
                                .repair_ms = 30000,                                                \
                                .gold_boost = 20,                                                  \
                                .held_percent = 50})

/* Who has to go first when room is made (engine/preemption/preemption.h): what victims are compared
 * by, the less the sooner. */
enum victim_key {
    VICTIM_TIER,      /* of its tenant */
    VICTIM_PRIORITY,  /* of the pod */
    VICTIM_WORKLOAD,  /* backfill, batch, training, inference, interactive, service */
    VICTIM_LOST_WORK, /* accelerators times the time they were busy */
    VICTIM_START,     /* the newest first */
    N_VICTIM_KEYS,
};

/* As configuration spells it. */
extern const char *const victim_key_names[N_VICTIM_KEYS];

struct eviction_args {
    int64_t most_victims;   /* pods that may go for one unit */
    int64_t gap_ms;         /* a gang evicts again no sooner than this after the last time */
    int64_t hold_ms;        /* the room is held for a gang so long */
    int64_t least_run_ms;   /* who has run for less is left alone */
    bool tier_first;        /* a higher tier evicts a lower one, whatever their priorities */
    bool keeps_budgets;     /* no budget is violated; else that is the last thing to do */
    bool preemptible_alone; /* only pods that are said to be preemptible */
    enum victim_key order[N_VICTIM_KEYS];
    LIST(const struct str) spared; /* namespaces */
};

extern const struct eviction_args eviction_defaults;

/* Which hardware a tenant, or all tenants of a tier, may use. */
struct allowed_tiers {
    struct str tenant; /* empty: all of `tier` */
    enum tier tier;
    uint32_t hardware; /* bits by enum hardware_tier */
};

struct tenant_args {
    bool has_scores;
    uint8_t scores[N_TIERS][4]; /* by tier, then by enum hardware_tier; 0..100 */
    LIST(const struct allowed_tiers) allowed;
};

enum { TOPOLOGY_MOST_LEVELS = 8 };

struct topology_args {
    LIST(const struct str) levels; /* labels' keys, the widest domains first; at least one */
};

/* NetworkFabricScore's: where gangs are kept together (core/model/topology.h). */
struct fabric_args {
    LIST(const struct str) levels; /* labels' keys, the tightest domains first; none: those known */
};

/* What the GPUs of a node are measured against: pods as they come, and how often each kind does. */
struct gpu_demand {
    int64_t cpu_milli;
    uint32_t count, milli;         /* GPUs, and thousandths of each; 0: none */
    LIST(const struct str) models; /* any of them will do; none: any GPU */
    double share;                  /* of all pods; the shares of a list add up to 1 */
};

enum gpu_policy {
    GPU_SNUG, /* our own, and the default */
    GPU_FGD,
    GPU_BEST_FIT,
    GPU_DOT_PROD,
    GPU_PACKING,
    GPU_CLUSTERING,
    N_GPU_POLICIES,
};

/* As configuration spells it. */
extern const char *const gpu_policy_names[N_GPU_POLICIES];

struct fragmentation_args {
    enum gpu_policy policy;
    bool all_pods; /* those without GPUs are scored, too: they take a node's CPU */
    LIST(const struct gpu_demand) demand; /* none: any number of whole GPUs is as likely … */
    bool observes_demand;                 /* … to begin with: then what is asked for counts */
};

struct numa_args {
    bool aims_at_60; /* numaFit: target60, a zone is best 60 % full; else the emptier the better */
};
