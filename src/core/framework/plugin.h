#pragma once

#include "core/base/arena.h"
#include "core/cluster/event.h"
#include "core/cluster/gpus.h"
#include "core/cluster/identity.h"
#include "core/framework/reason.h"
#include "core/model/patch.h"

/* A plugin is a const table: how it filters, scores, and what may help a pod it refused.
 *
 * It answers per class of pods, not per pod, and says apart what one node's row decides from what
 * nodes share. The first (`row_*`) is kept per node and worked out again only when one of the
 * columns it reads changes. The second is a small *key* per node (a domain, a count of matching
 * pods, a raw preference): nodes with equal keys form a bucket, and filters and scores are asked
 * once per bucket at the moment of the decision. The framework turns this into scans, views and
 * explanations. NULL: takes no part. */

enum { PLUGIN_MOST_KEYS = 64 }; /* numbers in a plugin's key */

/* What a plugin is told about a class, once, and what it answers. */
struct learning {
    struct cluster *cluster;
    const struct spec *spec;
    const struct shape *shape;       /* one of the class; any gives the same answers */
    const struct identity *identity; /* tenant and kind of work of its pods; {0}: not asked */
    const void *args;                /* the plugin's configuration */
    void *shared;                    /* what it keeps for all classes of the profile */
    struct arena *mem;               /* lives as long as the class */
    struct own_reasons *reasons;     /* of the class */
    bool picks_gpus; /* some plugin of the profile cares which GPUs of a node a pod gets */
    uint32_t plugin; /* its number, for reasons */

    bool filters, scores; /* answer: does it take part? Both false: it skips this class */
    bool scores_nothing;  /* answer: it scores, but gives every node 0 */
    uint32_t takes_over;  /* answer: SUBJECT_*: other plugins' scores about it do not count */
    bool may_fail;        /* answer: a row's verdict may be an error, which views do not keep */
    const struct str *failure; /* answer: with may_fail, the words of the error of the first node by
                                * name; NULL: the reason's. Lives as long as the class */
    bool reserves;             /* answer: something must be done before the pod is bound */
    uint32_t n_keys;           /* answer: numbers in its key */
    uint32_t
        key_columns; /* answer: columns its key reads for this class, beside the plugin's own */
    bool reads_hostnames; /* answer: its keys are right only while no two nodes share a hostname */
    reason_id refusal;    /* answer: no node will do; 0: some may */
    struct str refusal_text; /* answer: in these words; empty: in the reason's */
    struct str error;        /* answer: the pod cannot be judged */
    struct str
        score_error; /* answer: nodes cannot be compared; matters only if there is a choice */
    const sym *only; /* answer: only these nodes can do (NULL: any); a name may be no node's */
    uint32_t n_only;
    bool is_pinned; /* answer: only the node that the pod itself names can do */
    sym within;     /* keys of node labels, with commas: the class is of a gang that stays in one
                     * domain of some of them; SYM_NONE: it is not */
};

/* The plugin's reason with this text. */
reason_id learning_reason(struct learning *l, enum code code, const char *text);

/* No node will do, and no eviction helps. The text, which is this class's own, lives in l->mem. */
void learning_refuse(struct learning *l, struct str text);

/* The buckets whose nodes passed all filters. */
struct feasible {
    uint32_t n;
    const uint32_t *which; /* their numbers */
    const uint32_t *nodes; /* how many nodes each has */
    const uint32_t *keys;  /* of all buckets, from where the asking plugin's begin */
    uint32_t stride;
    double *sums; /* n numbers for the asking plugin's own use */
};

static inline const uint32_t *feasible_key(const struct feasible *f, uint32_t i)
{
    return f->keys + (size_t)f->which[i] * f->stride;
}

/* What a score is about, where two plugins may have a say in the same thing. A plugin that knows
 * better for a class takes the subject over; what others score of it is left out for that class. */
enum subject {
    SUBJECT_FULLNESS = 1, /* how full the node is, or would be */
    SUBJECT_SPREAD = 2,   /* how far pods that belong together are apart, where nobody asked */
};

/* An event that may help a pod this plugin refused. */
struct wake {
    enum event_resource resource;
    uint32_t actions;
    /* Is it worth another try? NULL: always. `event->actions` is cut down to `actions`. */
    bool (*hint)(const struct cluster *, const struct shape *, const struct event *);
};

/* An object that must change, or become something, before a pod is bound: a claim that needs a
 * volume. It is written while others are decided, and the pod keeps its room meanwhile. */
struct prebind_task {
    enum kind kind;
    sym namespace, name;         /* namespace SYM_NONE: the kind has none */
    uint64_t version;            /* that the patches are based on */
    const struct patch *patches; /* one after the other; none: nothing to write, only to wait for */
    uint32_t n_patches;
};

/* A pod is on the node that was chosen for it; what does it need there? */
struct reserving {
    struct cluster *cluster;
    pod_id pod;
    node_id node;
    struct arena *mem; /* for patches: lives until the effects are carried out */
    VEC_TYPE(prebind_tasks, struct prebind_task) prebind_tasks; /* answer */
    int64_t timeout_ms; /* answer: so long after the last write they may take to stand */
};

enum prebind_state { PREBIND_DONE, PREBIND_OPEN, PREBIND_FAILED };

/* What became of a prebind task that was run? */
struct prebind_ask {
    const struct cluster *cluster;
    pod_id pod; /* on its node */
    const struct prebind_task *prebind_task;
    bool is_late; /* its time is up */
    struct arena *mem;
    struct str why; /* answer of PREBIND_FAILED, in upstream's words; lives in `mem` */
    bool is_void;   /* answer of PREBIND_FAILED: nothing came of it, and what was taken is free */
};

/* Where a unit stands in the queue. The middle part is of units whose profile lets them age; of
 * others it is all 0. */
struct queue_key {
    int32_t priority;
    int64_t since_ms; /* in line; of those that age: since it was made */

    bool is_starving;
    int32_t boost; /* added to its priority for its tenant's sake */
    struct str namespace, name;

    uint64_t arrival; /* unique */
};

enum { GANG_MOST_LEVELS = 8 };

/* What a plugin that places gangs keeps of a class whose pods are to be in one domain: the planner
 * says which (engine/gang/domains.c). */
struct gang_domain {
    uint32_t n;
    sym keys[GANG_MOST_LEVELS];   /* of node labels */
    sym values[GANG_MOST_LEVELS]; /* the domain now … */
    uint32_t which;               /* … by these of the labels, as bits */
    reason_id elsewhere;          /* why the other nodes are out */
};

/* What keeps a pod from everywhere and need not: to be written, whatever becomes of the pod. */
struct post_filter_result {
    const char *text;                 /* upstream's words */
    struct prebind_task prebind_task; /* without patches: nothing that we can write */
};

struct plugin {
    const char *name; /* as profiles spell it: the registered name (core/plugins/plugins.def) */

    uint32_t row_columns; /* COLUMN_*: a change elsewhere leaves its row answers valid */
    uint32_t key_columns; /* the same for its key */
    size_t class_size;    /* what `learn` keeps per class */
    uint32_t subjects;    /* SUBJECT_*: what its score is about */
    bool suits;     /* its score is about what nodes are, not about who is on them: domains are
                     * compared by it, too */
    bool is_costly; /* its row answers take long: views must not ask for all rows lightly */

    /* Says which tenant and kind of work the pods of a shape are of, for all plugins of the
     * profile. */
    struct identity (*identify)(struct cluster *, const struct shape *, const void *args);

    /* What its classes of one profile share: made for the first of them, gone after the last. */
    size_t shared_size;
    void (*begin)(struct cluster *, const void *args, void *shared);
    void (*end)(struct cluster *, void *shared);

    /* Does it, with these arguments, read which GPUs are asked for (cluster/demand.h)? */
    bool (*watches_demand)(const void *args);

    /* What it can tell apart in pods of one spec: appends numbers that differ if its answers may.
     */
    void (*sign)(struct cluster *, const struct shape *, const void *args, struct match_words *out);
    void (*learn)(struct learning *, void *cls);
    void (*forget)(struct cluster *, void *cls);

    /* From the node's own row. */
    reason_id (*row_filter)(const struct cluster *, const void *cls, node_id);
    int64_t (*row_score)(const struct cluster *, const void *cls, node_id); /* 0..100 */

    /* The same of many nodes at once. NULL: it is asked about one after the other. */
    void (*filter_rows)(const struct cluster *, const void *cls, const uint32_t *nodes, uint32_t n,
                        reason_id *out);
    void (*score_rows)(const struct cluster *, const void *cls, const uint32_t *nodes, uint32_t n,
                       int32_t *out); /* of a score that is out of range: -1 */

    /* Appends numbers: of two classes for which they are equal, row_filter and key say the same of
     * a node, as long as no column that they read changes (framework/facet.h). NULL: nothing is
     * known of that. */
    void (*likeness)(const void *cls, struct match_words *out);

    /* The key is a bit for each of some things that a node has or has not: sets the bits of the
     * nodes that have this one; false: there are no more things. So a facet is made by a look at
     * each node that has some, not by a question to all. NULL: the key is not so. */
    bool (*mark)(const struct cluster *, const void *cls, uint32_t thing, uint64_t *nodes);

    /* From what nodes share. A plugin that scores rows, too, is asked for the keys of those classes
     * for which it has learned some; both scores are added up. */
    void (*key)(const struct cluster *, const void *cls, node_id, uint32_t *out);
    reason_id (*key_filter)(const struct cluster *, const void *cls, const uint32_t *key);
    /* For each feasible bucket: the raw score and the normalised one (0..100). */
    void (*key_score)(const struct cluster *, const void *cls, const struct feasible *,
                      int64_t *raw, int64_t *normal);

    /* Which GPUs of a node that fits the pod should get. */
    gpu_mask (*pick)(const struct cluster *, const void *cls, node_id);

    /* Is there nothing in the cluster to tell nodes apart by? Explanations leave its scores out. */
    bool (*is_idle)(const struct cluster *, const void *cls);

    /* The pod goes to the node: takes what it will use out of others' sight, as part of the open
     * transaction, and says what must be written first. */
    void (*reserve)(struct reserving *, const void *cls);
    /* Asked whenever something changed that is no pod, until it stands or has failed. */
    enum prebind_state (*look)(struct prebind_ask *);
    /* The prebind task was certainly not run: what was taken is there for others again. */
    void (*release)(struct cluster *, const struct prebind_task *);

    /* What its filter is about: words for the pod that is told that this plugin is the cause. */
    enum {
        ABOUT_ANYTHING,
        ABOUT_NAMES,
        ABOUT_LABELS,
        ABOUT_TAINTS,
        ABOUT_CORDONS,
        ABOUT_VOLUMES,
        ABOUT_GPU_MEMORY,
        ABOUT_ROOM, /* what pods ask for and nodes have free; its arguments are struct fit_args */
    } about;

    /* Its arguments name the labels in whose domains gangs are kept together (struct fabric_args).
     */
    bool knows_levels;

    /* Keeps a pod out of the queue; the text says why and lives in `mem`. */
    bool (*gate)(const struct cluster *, const struct shape *, struct arena *mem, struct str *why);

    /* A pod of the class fits nowhere: is something that it has in its way and could be without?
     * Asked once after it was refused; false: no. */
    bool (*post_filter)(const struct cluster *, const void *cls, pod_id,
                        struct post_filter_result *out);

    /* Lets a pod that fits nowhere take the place of less important ones. */
    bool preempts;

    /* The same for gangs and for pods alone, by rules of its own (engine/preemption/preemption.h);
     * `args` is how.
     */
    bool evicts;

    /* Pods that name a group are placed as one, or not at all. */
    bool gangs;
    bool gangs_natively; /* only those that name a PodGroup of Kubernetes' own */

    /* Its profile's units stand in line (engine/backfill/line.h); `args` is how. */
    bool keeps_line;

    /* Its profile's units take turns by the shares of their queues (engine/fair); `args` is how. */
    bool keeps_queues;

    /* The order of the queue. Of units that do not age, the same whatever the plugin. */
    bool (*before)(const struct queue_key *, const struct queue_key *);

    const struct wake *wakes; /* ends with {0} */
};

/* Of a row score, what score_rows says of it. */
static inline int32_t plugin_score(int64_t score)
{
    return (uint64_t)score > 100 ? -1 : (int32_t)score;
}

/* max → 100, the others in proportion; reversed: 100 - that. All zero: unchanged, reversed 100. */
void normalise(const int64_t *raw, int64_t *normal, uint32_t n, bool is_reversed);
