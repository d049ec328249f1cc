#pragma once

#include "core/cluster/budgets.h"
#include "core/cluster/change.h"
#include "core/cluster/cliques.h"
#include "core/cluster/count.h"
#include "core/cluster/demand.h"
#include "core/cluster/devices.h"
#include "core/cluster/groups.h"
#include "core/cluster/idlers.h"
#include "core/cluster/kueue.h"
#include "core/cluster/match.h"
#include "core/cluster/names.h"
#include "core/cluster/nodes.h"
#include "core/cluster/numa.h"
#include "core/cluster/numa_reports.h"
#include "core/cluster/pods.h"
#include "core/cluster/quotas.h"
#include "core/cluster/spec.h"
#include "core/cluster/spec_cache.h"
#include "core/cluster/terms.h"
#include "core/cluster/volumes.h"
#include "core/cluster/workloads.h"

/* The cluster at this moment: nodes as columns, pods as rows, who selects whom, how many are where.
 *
 * Everything below `struct cluster` may be read by plugins; it is changed in two ways only. Objects
 * that came from outside are put in by core/engine/step/apply.c, outside of any transaction. What
 * the scheduler tries or decides goes through the transactional operations here: between
 * txn_begin() and txn_undo() they leave no trace.
 *
 * Invariants: a node's used sums are the sums over the pods on its list, assumed ones included;
 * every change of a row a reader could have seen is in the log; tallies and spreads equal a
 * recount. */

struct nomination {
    pod_id pod;
    sym node;
};

struct nominations {
    struct nomination *at;
    uint32_t n;
};

struct undo;

/* What hears of each pod that is put on a node or taken off, or takes another amount of it, in
 * trials and when they are undone as well. `sign` +1: it is there now; -1: it goes, and its row
 * still says all it has. Called with the row as it is; changes nothing. */
struct cluster_tap {
    void (*moved)(void *ctx, pod_id pod, int sign);
    void (*nominated)(void *ctx, pod_id pod,
                      int sign); /* the same of a node that it has in sight */
    void *ctx;
};

struct cluster {
    uint64_t seed;   /* decides the nodes' tie order */
    bool keeps_pins; /* leave the node that a DaemonSet's pod names in its spec (explain wants it
                        there) */
    bool compares_tolerations; /* Lt and Gt count (TaintTolerationComparisonOperators) */
    bool overlooks_capacity;   /* of volumes, in scores (StorageCapacityScoring is off) */
    bool overlooks_drivers;    /* that nodes lack (VolumeLimitScaling is off) */

    struct names names;
    struct matches matches;
    struct specs specs;
    struct spec_cache spec_cache; /* specs of templates */
    struct terms terms;
    struct nodes nodes;
    struct pods pods;
    struct workloads workloads;
    struct volumes volumes;
    struct devices devices;
    struct effort effort;
    struct numa_reports numa_reports;
    struct counts counts;
    struct budgets budgets;
    struct groups groups;
    struct kueue kueue;
    struct quotas quotas;
    struct idlers idlers;
    struct cliques cliques;
    struct demand demand;
    struct change_log log;
    const struct cluster_tap *tap; /* NULL: nobody hears */

    VEC(struct nomination) nominations; /* of pending pods: by node, of each the oldest first */
    struct map namespaces;              /* name → label set */
    VEC(struct priority_count {
        int32_t priority;
        uint32_t pods;
    })
    priorities; /* of the pods on nodes, lowest first */

    sym any_ip;        /* 0.0.0.0 */
    sym unschedulable; /* node.kubernetes.io/unschedulable */
    sym empty;         /* "" */

    VEC(struct undo) journal;
    uint32_t depth; /* open transactions */
    struct arena journal_mem;
    struct arena mem; /* scratch of one call */
};

struct cluster *cluster_new(uint64_t seed);
void cluster_free(struct cluster *c);

/* At a quiet moment (no transaction open, nothing half done): frees what nobody refers to any more
 * (intern_tidy()). */
void cluster_tidy(struct cluster *c, enum tidy how);

/* --- reading --- */

/* The node's value of a label; SYM_NONE if it has no such label. */
static inline sym cluster_label(const struct cluster *c, node_id node, sym key)
{
    if (key == c->matches.hostname)
        return c->nodes.hostname[node.i];
    return names_label(&c->names, c->nodes.labels[node.i], key);
}

/* The same of a row that may be no node's any more. */
static inline sym cluster_row_label(const struct cluster *c, const struct node_row *row, sym key)
{
    return key == c->matches.hostname ? row->hostname : names_label(&c->names, row->labels, key);
}

static inline struct node_labels cluster_node_labels(const struct cluster *c, node_id node)
{
    return (struct node_labels){c->nodes.labels[node.i], c->nodes.hostname[node.i],
                                c->nodes.name[node.i]};
}

/* Do the rules' nodeSelector and required affinity allow the node? */
static inline bool cluster_rules_allow(const struct cluster *c, rules_id rules, node_id node,
                                       sym pin)
{
    return rules == 0 || rules_require(matches_rules_at(&c->matches, rules), &c->matches, &c->names,
                                       cluster_node_labels(c, node), pin);
}

/* Are all NoSchedule and NoExecute taints of the set tolerated? */
bool cluster_tolerates(const struct cluster *c, tolerations_id tolerations, taint_set_id taints);

static inline bool cluster_taints_tolerated(const struct cluster *c, tolerations_id tolerations,
                                            node_id node)
{
    taint_set_id taints = c->nodes.taints[node.i];
    return taints == 0 || cluster_tolerates(c, tolerations, taints);
}

/* Is a pod of lower priority on some node? */
static inline bool cluster_has_lower(const struct cluster *c, int32_t priority)
{
    return c->priorities.n && c->priorities.at[0].priority < priority;
}

/* PreferNoSchedule taints of the node that no toleration for them covers. */
uint32_t cluster_soft_taints(const struct cluster *c, tolerations_id tolerations, node_id node);

/* Is node `a` preferred to node `b` among equal scores? A strict total order. */
static inline bool cluster_wins_tie(const struct cluster *c, uint32_t a, uint32_t b)
{
    uint64_t x = c->nodes.tie_order[a], y = c->nodes.tie_order[b];
    if (LIKELY(x != y))
        return x < y;
    return str_compare(names_text(&c->names, c->nodes.name[a]),
                       names_text(&c->names, c->nodes.name[b])) < 0;
}

static inline const struct spec *cluster_spec(const struct cluster *c, pod_id pod)
{
    return specs_at(&c->specs, pods_shape(&c->pods, pod)->spec);
}

/* --- changing, transactional --- */

static inline void cluster_tell(const struct cluster *c, pod_id pod, int sign)
{
    if (UNLIKELY(c->tap))
        c->tap->moved(c->tap->ctx, pod, sign);
}

/* Puts a pod that is nowhere on a node. */
void cluster_place(struct cluster *c, pod_id pod, node_id node);

/* The same, on these of its GPUs; 0: those that gpus_pick() says. */
void cluster_place_on_gpus(struct cluster *c, pod_id pod, node_id node, gpu_mask gpus);

/* The same, on these or, if its NUMA node is another one, on others as good there. */
void cluster_place_near(struct cluster *c, pod_id pod, node_id node, gpu_mask gpus);

/* The pod was told that it has this NUMA node of its node, + 1; 0: none. It keeps it. Not within a
 * transaction. */
void cluster_set_zone(struct cluster *c, pod_id pod, uint32_t zone);

/* Takes a pod off its node. */
void cluster_take(struct cluster *c, pod_id pod);

/* The node's row becomes `row`; returns the columns that differ. */
uint32_t cluster_put_node(struct cluster *c, node_id node, const struct node_row *row);

/* The number for a node's name. */
node_id cluster_claim(struct cluster *c, sym name);

/* The pod, which is nowhere, is nominated to this node; SYM_NONE: none. */
void cluster_nominate(struct cluster *c, pod_id pod, sym node);

/* Pods that are nominated to the node, the oldest first. Moves when a nomination comes or goes. */
struct nominations cluster_nominated(const struct cluster *c, sym node);

/* Devices are promised to a claim; takes the promise. */
void cluster_promise(struct cluster *c, struct promise promise);

/* The volume or claim, which is there, will have these facts (volumes_facts()): it is taken for
 * what it will be until it comes with another version. */
void cluster_assume(struct cluster *c, enum thing_kind kind, uint32_t thing, uint32_t facts);

/* A point to return to. Transactions nest; they end in the reverse order of their beginning. */
struct txn {
    uint32_t journal;
    uint64_t log;
    uint32_t depth; /* of those that were open before it */
};

struct txn txn_begin(struct cluster *c);

/* What happened since stays (until an outer transaction is undone). */
void txn_commit(struct cluster *c, struct txn t);

/* Everything is as it was. If no reader of the log has looked meanwhile, the log too. */
void txn_undo(struct cluster *c, struct txn t);

/* The namespace has these labels now; ID_NONE: it is gone. True if it had others. Not within a
 * transaction. */
bool cluster_put_namespace(struct cluster *c, sym name, label_set_id labels);

/* Everything that matters, as text in a fixed order: for tests and debugging dumps. */
void cluster_dump(const struct cluster *c, struct buf *out);
