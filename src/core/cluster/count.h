#pragma once

#include "core/base/map.h"
#include "core/cluster/ids.h"
#include "core/cluster/match.h"
#include "core/cluster/nodes.h"
#include "core/cluster/pods.h"

/* How many pods of a kind are where, kept up to date instead of counted.
 *
 * A *tally* counts pods of one kind per node: those of a namespace that match a selector, those
 * that terms of pod affinity mean, or those that have such a term. A *spread* sums a tally per
 * domain (value of a topology key) over the nodes that a topology spread constraint includes: those
 * that have all its keys and, where it honours them, satisfy the pod's node rules and taints.
 * Placing a pod touches the tallies that match it and nothing else. A spread costs its domains; of
 * pod affinity, where a pod may have many terms and each is asked about pods alone, those in which
 * there are some.
 *
 * Both are shared by all classes of pods that need the same one, and go when nobody uses them. */

struct cluster;

enum tally_kind {
    TALLY_SELECTED, /* pods of a namespace that match a selector, but those being deleted */
    TALLY_MEANT,    /* pods that all of some terms mean */
    TALLY_HAVING,   /* pods that have a term, as often as they have it */
};

struct tally {
    enum tally_kind kind;
    sym namespace; /* of TALLY_SELECTED */
    selector_id selector;
    const uint32_t *reaches; /* of TALLY_MEANT: numbers, see count.c */
    uint32_t n_reaches;
    uint32_t term; /* of TALLY_HAVING */
    uint32_t uses;
    uint64_t number;    /* ever rising: shapes remember up to which they have looked; 0: free */
    struct map on_node; /* node → pods, where there are any */
    VEC(uint32_t) spreads;
};

struct domain {
    sym value;
    uint32_t nodes; /* included nodes in it; it exists while there are some (or pods, if sparse) */
    int64_t pods;
    uint64_t mark; /* the last counts_mark() that asked for it */
};

struct spread {
    uint32_t tally; /* ID_NONE: counts nothing */
    uint32_t uses;
    sym key;
    rules_id rules;             /* 0: any node */
    tolerations_id tolerations; /* ID_NONE: taints do not matter */
    const sym *keys;            /* a node must have them all; `key` is one of them */
    uint32_t n_keys;
    bool is_sparse; /* it knows domains with pods alone, and neither how many others there are … */

    struct map by_value; /* value → domains */
    VEC(struct domain) domains;
    int64_t pods;        /* of all domains */
    int64_t least;       /* … nor this: the smallest `pods` of a domain, if there is one */
    uint32_t at_least_n; /* domains that have it; 0: look again */
    uint64_t marks;      /* made so far */
};

struct counts {
    struct intern tally_table;
    VEC(struct tally) tallies;
    uint64_t tallies_made;
    uint32_t tallies_most; /* with more, who uses them lets those go that it can spare */
    VEC(struct new_tally {
        uint64_t number;
        uint64_t key_bits; /* of the labels of the pods that it counts */
        uint32_t tally;    /* which may have gone since, and another be in its place */
    })
    made; /* in the order of their numbers: a shape looks at those behind its last look */
    VEC(struct looked_at {
        uint64_t number; /* of the tally that was filled last; else nothing is known */
        uint32_t times;
    })
    looked_at; /* by shape: how often that tally counts each of its pods */
    struct intern spread_table;
    VEC(struct spread) spreads;
    VEC(uint32_t) included_by; /* words of a spread; empty: of none */
    VEC(uint64_t) included;    /* the nodes that it includes, a bit each */
};

/* A tally of each kind, for the caller to use until counts_drop_tally(). Made by one pass over the
 * pods if it is new. */
uint32_t counts_use_tally(struct cluster *c, sym namespace, selector_id selector);
uint32_t counts_use_meant(struct cluster *c, const struct reach *reaches, uint32_t n);
uint32_t counts_use_having(struct cluster *c, uint32_t term);
void counts_drop_tally(struct cluster *c, uint32_t tally);

/* What a spread is asked for with; `tally` may be ID_NONE. */
struct spread_ask {
    uint32_t tally;
    sym key;
    rules_id rules;
    tolerations_id tolerations;
    const sym *keys;
    uint32_t n_keys;
    bool is_sparse;
};

uint32_t counts_use_spread(struct cluster *c, const struct spread_ask *ask);
void counts_drop_spread(struct cluster *c, uint32_t spread);

/* Pods of the tally on the node. */
int64_t counts_on_node(const struct counts *k, uint32_t tally, node_id node);

enum { FEW_DOMAINS = 8 }; /* zones: looking through them is quicker than hashing */

/* Where the domain of a value is in s->domains; MAP_NONE: nowhere. */
static inline uint32_t counts_at(const struct spread *s, sym value)
{
    if (s->domains.n > FEW_DOMAINS)
        return map_find(&s->by_value, value);
    uint32_t at = MAP_NONE;
    for (uint32_t i = 0; i < s->domains.n; i++) /* to the end: a branch less to guess wrong */
        at = s->domains.at[i].value == value ? i : at;
    return at;
}

/* NULL if no included node has this value, or no pods are there and the spread is sparse. */
static inline const struct domain *counts_domain(const struct counts *k, uint32_t spread, sym value)
{
    const struct spread *s = &k->spreads.at[spread];
    uint32_t at = counts_at(s, value);
    return at == MAP_NONE ? NULL : &s->domains.at[at];
}

uint32_t counts_domains(const struct counts *k, uint32_t spread);

/* The pods of all domains. */
static inline int64_t counts_total(const struct counts *k, uint32_t spread)
{
    return k->spreads.at[spread].pods;
}

/* The smallest number of pods in a domain; 0 if there is no domain. */
int64_t counts_least(const struct counts *k, uint32_t spread);

/* For counting different domains: after counts_marks(), the first call for each domain is true. */
static inline void counts_marks(struct spread *s)
{
    s->marks++;
}

static inline bool counts_mark(struct spread *s, uint32_t at)
{
    bool is_first = s->domains.at[at].mark != s->marks;
    s->domains.at[at].mark = s->marks;
    return is_first;
}

/* The pod came to its node (+1) or leaves it (-1). Returns the columns of the tallies that count
 * it.
 */
uint32_t counts_pod(struct cluster *c, pod_id pod, node_id node, int sign);

/* Takes the node's part out of all spreads (-1) before its row changes, puts it back (+1) after. */
void counts_node(struct cluster *c, node_id node, int sign);

/* Takes the pods of a namespace out of the tallies that look at its labels (-1) before these
 * change, puts them back (+1) after. */
void counts_namespace(struct cluster *c, sym namespace, int sign);

/* At quiet moments; with TIDY_ALL it gives back the room of tallies and spreads that are gone. */
void counts_tidy(struct counts *k, enum tidy how);

void counts_done(struct counts *k);
