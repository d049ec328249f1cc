#pragma once

#include "core/engine/cause.h"
#include "core/engine/engine.h"

/* One pod against the whole cluster: what every plugin says of every node, and what would be
 * chosen. Nothing is decided: the queue, the rows and the pod stay as they are. */

struct explained_score {
    const char *plugin;
    int64_t raw, normalized, weighted;
};

/* What a node is made of, where its labels say anything of it. */
struct explained_hardware {
    struct str tier, fabric;
    struct str vram_source; /* who says how much memory its GPUs have */
    int64_t vram_mebibytes; /* 0: nobody */
    uint32_t n_zones;       /* NUMA nodes; 0: unknown */
};

struct explained_node {
    struct str name;
    bool is_feasible;
    struct str rejected_by; /* plugins, sorted and comma-joined; empty: nobody */
    const char *code;       /* Success, Unschedulable, UnschedulableAndUnresolvable */
    const struct str *reasons;
    uint32_t n_reasons;
    const struct explained_score *scores; /* of plugins that did not skip, in the profile's order */
    uint32_t n_scores;
    int64_t total;
    const struct explained_hardware *hardware; /* NULL: nothing is known */
};

/* Who and what the pod is and where it wants to be, each with the reason. */
struct explained_class {
    struct str tier, tier_because, tenant;
    struct str workload, workload_because;
    bool is_gang, is_preemptible;
    struct str preemptible_because;
    struct str where;
};

/* The group that the pod names, and what would become of it now. */
struct explained_gang {
    struct str name, name_because;
    int32_t minimum;
    struct str minimum_because;
    uint32_t running, waiting, held, ended;
    struct str conflict; /* what names another group and is not heard; empty: nothing */
    struct str message;  /* why it is not placed; empty: it would be */
    struct explained_place {
        struct str pod, node;
    } * places; /* by name */
    uint32_t n_places;
};

/* A node where pods would be evicted. */
struct explained_candidate {
    struct str node;
    struct str *victims; /* namespace/name, sorted */
    uint32_t n_victims;
    uint32_t violations; /* of budgets, … */
    struct str budget;   /* … of which this is the first: namespace/name */
};

struct explained_preemption {
    struct explained_candidate *candidates; /* by name */
    uint32_t n_candidates;
    struct explained_candidate *best; /* the first of those that do the least harm; NULL: none */
    struct str *ties;                 /* all of those, by name */
    uint32_t n_ties;
    struct str message;
};

/* Who would go for the unit by the rules of its profile (engine/preemption/preemption.h). */
struct explained_eviction {
    bool is_found;
    struct str message;
    struct str hint; /* why nobody goes, to follow on the cause; empty: no more than is said */
    struct explained_place *places; /* namespace/name, sorted: the pods that make up the minimum */
    uint32_t n_places;
    struct explained_victim {
        struct str pod; /* namespace/name */
        struct str node, gang, why, tier, workload;
        int32_t priority;
        int64_t lost_s; /* accelerators times seconds */
    } * victims;        /* by name */
    uint32_t n_victims;
    uint32_t violations, victim_groups; /* of budgets; units that go */
    struct str budget;                  /* the first of those: namespace/name */
    int64_t lost_s;
};

/* Does the unit start now, as a whole, and if not: why? This is the first sentence. */
struct explained_verdict {
    bool starts;
    struct str node;                       /* where the pod goes then */
    struct str headline;                   /* at most CAUSE_BYTES_MOST long */
    struct str rule;                       /* "Starts", or which one keeps it from starting */
    struct str key, value, nearest, where; /* of the rule, as far as it has such */
    int64_t ask, most;                     /* an amount: of a pod; of the largest node */
    uint32_t need;                         /* pods that must be placed at once … */
    uint64_t have;                         /* … and for so many the rule leaves room */
    struct cause_steps funnel;             /* none: no rule was asked */
};

struct explanation {
    struct arena mem; /* all texts and lists live here */
    struct explained_verdict verdict;
    struct str pod; /* namespace/name */
    struct str profile;
    struct explained_class *class; /* NULL: the profile does not ask */
    struct str *misread; /* labels and annotations that mean nothing: key=value, or why for keys */
    uint32_t n_misread;
    struct explained_gang *gang; /* NULL: it is placed on its own */
    struct str
        apart; /* why the gang that it asks for is not placed as one; empty: it asks for none */
    struct str gated; /* the plugin that keeps it out of the queue; empty: none */
    struct str line;  /* why it must wait although it may fit; empty: it need not */
    struct str error; /* why it cannot be judged; empty: it can */
    struct str summary, filter_summary;
    struct explained_node *nodes; /* by name */
    uint32_t n_nodes;
    struct str *would_choose; /* by name: all that share the highest total */
    uint32_t n_would_choose;
    struct explained_preemption *preemption; /* NULL: not tried */
    struct explained_eviction *eviction;     /* NULL: not asked for */
    struct str *unasked;                     /* extenders that have a say and were not asked */
    uint32_t n_unasked;
};

/* False if there is no such pod waiting. */
bool engine_explain(struct engine *k, struct str namespace, struct str name,
                    struct explanation *out);

/* The same for the pod's unit and evictions: fills out->eviction. */
bool engine_explain_eviction(struct engine *k, int64_t now_ms, struct str namespace,
                             struct str name, struct explanation *out);

void explanation_done(struct explanation *x);

/* What comes of the pod when the engine, which is told of everything and has decided nothing, goes
 * to work: not of the pod alone, but of all who wait, in the order of their turns. */
struct foresight {
    bool is_placed;
    struct str node;    /* then */
    struct str message; /* else what it is told last; empty: nothing */
    uint32_t steps;     /* until that; 0: it has no turn */
    uint32_t ahead;     /* pods that were placed before it */
    uint32_t evicted;   /* pods that are to go for it */
};

/* Its texts live in `mem`. Nothing ends meanwhile: only who failed first may try again. */
void engine_foresee(struct engine *k, int64_t now_ms, struct str namespace, struct str name,
                    struct arena *mem, struct foresight *out);

/* The same engine, made anew, just before the pod has its turn. */
void engine_forward(struct engine *k, int64_t now_ms, uint32_t steps);
