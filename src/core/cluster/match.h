#pragma once

#include "core/base/arena.h"
#include "core/cluster/names.h"
#include "core/model/pod.h"

/* Requirements on labels, in symbols: label selectors (which pods?) and node rules (which nodes?).
 *
 * Both are interned. A selector is kept in canonical order, so that two ways of writing the same
 * one meet in one number. What a set of node rules says of a node that it does not name depends on
 * the node's label set alone, and is remembered per label set. */

enum match_op {
    MATCH_IN,
    MATCH_NOT_IN, /* also true where the key is absent */
    MATCH_EXISTS,
    MATCH_MISSING,
    MATCH_GREATER,
    MATCH_LESS,
};

struct match {
    sym key;
    enum match_op op;
    bool is_name;      /* a matchFields line: about metadata.name, not about a label */
    int64_t number;    /* of MATCH_GREATER and MATCH_LESS */
    const sym *values; /* sorted */
    uint32_t n_values;
};

struct selector {
    const struct match *all; /* all must hold; none: everything matches */
    uint32_t n;
    uint64_t key_bits; /* of the keys that must be there */
};

struct node_term {
    const struct match *all;
    uint32_t n;
    int32_t weight; /* of a preference */
    bool is_broken; /* upstream cannot parse it: never matches; as a preference, an error */
};

/* nodeSelector and node affinity of a pod. */
struct rules {
    struct arena mem;
    const struct match *selector; /* nodeSelector, as MATCH_IN lines */
    uint32_t n_selector;
    bool has_required; /* requiredDuringScheduling is there, maybe without terms */
    const struct node_term *required;
    uint32_t n_required;
    const struct node_term *preferred;
    uint32_t n_preferred;
    struct str error;   /* upstream's words for preferences that it cannot parse; empty: it can */
    bool is_pinned;     /* every term names the pod's `pin`: a DaemonSet's way of choosing a node */
    bool is_restricted; /* every term names nodes; `names` is their union */
    const sym *names;
    uint32_t n_names;
    bool has_names; /* the verdict depends on more than labels: hostname or metadata.name */
    VEC_TYPE(verdicts, uint8_t) * by_set; /* for each label set: 0 unknown, 1 no, 2 yes */
};

struct matches {
    struct lists selectors;
    VEC(struct selector) selector_at; /* `all` is a block; the values stand in the table's bytes */
    struct lists rules;
    VEC(struct rules *) rules_at;
    sym hostname; /* the symbol of kubernetes.io/hostname */
};

void matches_init(struct matches *m, struct names *names);
void matches_done(struct matches *m);
void matches_tidy(struct matches *m, struct names *names, enum tidy how);

/* The selector of all these requirements together; sorts `all`. Nobody holds it yet. */
selector_id matches_selector(struct matches *m, struct names *names, struct match *all, uint32_t n);

/* The lines of a label selector or a plain map, appended to `out`; what they point at lives in
 * `mem`. */
VEC_TYPE(match_vec, struct match);
VEC_TYPE(match_words, uint32_t); /* numbers that identify something when taken together */
void match_add_selector(struct match_vec *out, struct names *names,
                        const struct label_selector *from, struct arena *mem);
void match_add_pairs(struct match_vec *out, struct names *names, const struct pair *pairs,
                     uint32_t n, struct arena *mem);

static inline struct selector matches_selector_at(const struct matches *m, selector_id id)
{
    return m->selector_at.at[id];
}

/* Do these labels satisfy the selector? */
bool selector_matches(struct selector s, const struct names *names, label_set_id labels);

/* If not, almost always false: most selectors want a key that most objects do not have. */
static inline bool selector_may_match(struct selector s, const struct names *names,
                                      label_set_id labels)
{
    return (s.key_bits & ~names->label_key_bits.at[labels]) == 0;
}

/* A pod's rules; 0 if it has none. `pin`, if not NULL, receives the node that a pinned pod names,
 * and the rules are then the same for all pods pinned in the same way. */
rules_id matches_rules(struct matches *m, struct names *names, const struct pod *pod, sym *pin);

static inline const struct rules *matches_rules_at(const struct matches *m, rules_id id)
{
    return m->rules_at.at[id];
}

/* A node as rules see it. */
struct node_labels {
    label_set_id set;
    sym hostname, name;
};

/* Do nodeSelector and required affinity hold? */
bool rules_require(const struct rules *r, const struct matches *m, const struct names *names,
                   struct node_labels node, sym pin);

/* Sum of the weights of the preferences that hold. */
int64_t rules_prefer(const struct rules *r, const struct matches *m, const struct names *names,
                     struct node_labels node, sym pin);

/* Does one toleration of the list cover the taint? Lt and Gt compare only if they are given the
 * names. */
bool tolerations_cover(const struct toleration_sym *list, uint32_t n, struct taint_sym taint,
                       const struct names *compared);
