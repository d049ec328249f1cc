#pragma once

#include "core/base/heap.h"
#include "core/framework/row.h"
#include "core/framework/why.h"

/* Preemption: which pods of lower priority would have to go so that one more fits on a node, and on
 * which node that does the least harm.
 *
 * On each node that pods could be taken off with profit (its refusal is Unschedulable, not
 * UnschedulableAndUnresolvable), all less important pods are taken away in a trial; if the pod then
 * fits, they are put back one by one, the most important first, those whose budgets would be
 * violated before all others. A pod that cannot come back is a victim. Where the profile places
 * gangs, a group whose object says that it goes as a whole goes or comes back with all its pods,
 * those on other nodes as well, and only if each of them is less important.
 *
 * What a node costs depends on its own row alone unless the class has filters on keys. So the costs
 * are kept per class, and a node's is worked out again only when its row, a nomination to it or the
 * worth of its pods changes. For classes with filters on keys, and while a group goes as a whole,
 * nodes are tried each time, in the order of what they cost at least, until none can be better. */

/* What a node costs: less is better, the members compared in this order. */
struct harm {
    uint32_t violations; /* of budgets */
    int32_t highest;     /* priority among the victims */
    int64_t sum;         /* of (priority + 2^31) */
    uint32_t pods;
    int64_t start_ms; /* of the longest-running among the highest: the later, the better */
};

struct price {
    struct harm harm;
    reason_id refusal; /* why nothing can be gained here; 0: the harm is the price */
};

VEC_TYPE(pod_vec, pod_id);

/* What the class would have to do on this node. `victims`, if not NULL, receives the pods that must
 * go, the most important first. */
struct price_caches;
struct price preempt_price(const struct price_caches *h, struct cluster *c, struct classes *k,
                           const struct class *class, node_id node, pod_id self,
                           struct pod_vec *victims);

/* May the pod go to this node at all? Where it names nodes, the others are out of the question. */
bool preempt_concerns(const struct cluster *c, const struct class *class, node_id node,
                      pod_id self);

/* Is the first harm less than the second? */
bool harm_is_less(const struct harm *a, const struct harm *b);

/* The costs of a class, kept. */
struct price_cache {
    struct class *class;      /* NULL: free */
    uint64_t read_up_to;      /* of the change log */
    uint32_t budgets_up_to;   /* of the changes of budgets */
    uint64_t used;            /* when it was last asked: the least recently used one goes first */
    VEC(struct price) prices; /* by node */
};

/* At most so many, and no more than fit into a memory of 32 MiB and 256 bytes a node. */
enum { MOST_PRICE_CACHES = 64 };

struct price_caches {
    struct price_cache at[MOST_PRICE_CACHES];
    uint64_t asked;
    uint64_t most;      /* nodes, and pods on them, that may be priced in one go; 0: no bound */
    bool is_unfinished; /* answer: that was not enough, and there is no answer yet. What was found
                         * is kept */
    VEC(struct price) once; /* of a class that keeps none */
    struct heap order;      /* nodes to be tried for it, those that cost least at least first */
    uint32_t best;          /* of those that were tried */
    struct once {
        const struct class *class; /* NULL: nobody's */
        uint32_t pod;
        uint64_t at; /* the end of the change log */
        uint32_t budgets, groups;
    } of; /* whose these are, and as of when */
    const struct bits
        *refused_for_now; /* nodes that fit, but for an extender, for now; NULL: none */
    const struct cluster *cluster;
};

/* The node where preemption does the least harm; ID_NONE: there is none. `why`, which says why the
 * pod fits nowhere, says then why evicting helps nowhere. `self` is the pod that needs room. */
uint32_t preempt_choose(struct price_caches *h, struct cluster *c, struct classes *k,
                        struct class *class, pod_id self, struct why *why);

/* The class is going. */
void price_caches_forget(struct price_caches *h, const struct class *class);
void price_caches_done(struct price_caches *h);
