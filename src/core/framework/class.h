#pragma once

#include "core/base/bits.h"
#include "core/base/buf.h"
#include "core/framework/profile.h"
#include "core/model/extender.h"

/* Classes: pods that no plugin of their profile can tell apart.
 *
 * A class is looked up when a unit is taken, from its pod's shape; the shape remembers its class
 * until the Services and owners of its namespace or the affinity terms of any pod change, so that a
 * new selector splits classes by itself. Pods with volumes or devices get a new class whenever
 * one of those, a claim or what provides them changes: what was learned of those is true as long as
 * the class is asked. */

/* A plugin's part in judging a class. */
struct class_part {
    const struct plugin *plugin;
    uint32_t number;
    int64_t weight;
    void *state;     /* what it learned */
    uint32_t key_at; /* where its key begins in a bucket's */
    uint32_t n_keys;
    uint32_t key_columns;
    bool filters, scores, reserves;
    bool scores_nothing; /* it gives every node 0 */
    struct facet *facet; /* what it says of all nodes, shared (framework/facet.h); NULL: none */
};

/* Has it a say in how buckets score? */
static inline bool class_part_scores_keys(const struct class_part *part)
{
    bool has_keys = part->n_keys || !part->plugin->row_score; /* of both, as it has learned */
    return part->scores && !part->scores_nothing && part->plugin->key_score && has_keys;
}

/* The row functions of a class's parts in a row of their own: they are what is asked all day. */
struct class_filter {
    reason_id (*ask)(const struct cluster *, const void *state, node_id);
    const void *state;
    uint32_t columns;
    const struct class_part *part;
};

struct class_score {
    int64_t (*ask)(const struct cluster *, const void *state, node_id);
    const void *state;
    int64_t weight;
    const struct class_part *part;
};

/* What became of a class's views, and says whether it gets another one. */
struct class_views {
    uint64_t scanned_until; /* none before this decision: it had too many buckets */
    bool lagged;            /* its last one lagged too far behind, and it has got no other yet */
    uint32_t in_a_row;      /* decisions, none of which has more before it than there are views */
    uint32_t wasted;        /* the last ones that were dropped before they were used again */
};

struct class
{
    struct arena mem;
    struct own_reasons reasons;
    uint32_t number; /* of all classes that were made */
    uint32_t place;  /* in classes.at: another class may have it once this one is gone */
    const struct profile *profile;
    const struct profile_plugin *gangs; /* profile_gangs() of it */
    spec_id spec;
    struct identity identity; /* {0}: the profile does not ask */

    struct class_part *parts; /* those that filter or score, in the profile's order */
    uint32_t n_parts;
    struct class_filter *filters;
    uint32_t n_filters;
    struct class_filter *use_filters; /* those of them that read what pods use (COLUMN_USED) */
    uint32_t n_use_filters;
    struct class_score *scores;
    uint32_t n_scores;
    int64_t most_row_score;          /* what they can come to together */
    const struct class_part *picker; /* chooses the pod's GPUs; NULL: nobody does */
    uint32_t n_keys;
    uint32_t row_columns, key_columns, filter_columns;
    uint32_t columns_until[64]; /* by plugin: row columns of the filters up to and with it */
    bool has_key_filter;
    bool may_fail;             /* a row's verdict may be an error: scanned, never viewed */
    const struct str *failure; /* the words of such an error, if it is … */
    uint32_t failure_of;       /* … this plugin's; NULL: its reason's */
    bool reserves;             /* some plugin may want something done before a pod of it is bound */
    bool reads_hostnames;      /* its keys assume that no two nodes share a hostname */
    bool is_costly;            /* some plugin's row answers take long */
    uint32_t asks;     /* extenders that have a say in its pods' nodes, as bits: never viewed */
    uint32_t preempts; /* extenders that have a say in whom they evict, as bits */
    uint32_t binder;   /* the extender that binds them, + 1; 0: we do */

    reason_id refusal;       /* no node will do; 0: some may */
    struct str refusal_text; /* empty: the reason's */
    uint64_t refused_by;     /* the plugin, as a bit */
    struct str error;        /* it cannot be judged */
    struct str score_error;  /* nodes cannot be compared for it */

    const sym *only; /* sorted; NULL: any node. Else only these can do */
    uint32_t n_only;
    bool is_pinned;   /* only the node that the pod's row names can do */
    reason_id absent; /* what the other nodes are told */
    uint64_t restricted_by;

    uint64_t decided_at;     /* number of the decision now being made, or of the last one */
    uint64_t decided_before; /* of the one before it; 0: none */
    struct view *view;       /* NULL: none */
    struct class_views views;
};

static inline bool class_row_is_clear(const void *row, size_t n)
{
    const unsigned char *bytes = row;
    while (n && !bytes[n - 1])
        n--;
    return n == 0;
}

/* What somebody keeps of each class is a vector of its own, in the order of their places: the row of
 * this class, which is there from now on; and to read, or NULL if there is none. A row is cleared
 * when its class goes (classes.gone), and the last ones, if they are clear, can be given back. */
#define class_row(rows, class)                                                                     \
    ({                                                                                             \
        if ((class)->place >= (rows)->n)                                                           \
            vec_resize((rows), (class)->place + 1);                                                \
        &(rows)->at[(class)->place];                                                               \
    })
#define class_rows_trim(rows)                                                                      \
    do {                                                                                           \
        while ((rows)->n && class_row_is_clear(&vec_last(rows), sizeof(*(rows)->at)))              \
            (rows)->n--;                                                                           \
        vec_trim(rows);                                                                            \
    } while (0)
#define class_row_if(rows, class) ((class)->place < (rows)->n ? &(rows)->at[(class)->place] : NULL)

/* What a shape remembers. */
struct shape_class {
    uint64_t born;       /* of the shape that had this number then */
    uint64_t generation; /* of its namespace and of volumes then */
    uint64_t terms;      /* affinity terms known then */
    uint32_t class;      /* + 1; 0: none */
};

struct classes {
    struct cluster *cluster;
    struct reasons reasons;
    const struct profile *profiles;
    uint32_t n_profiles;
    VEC(struct serving {
        sym name; /* held */
        const struct profile_plugin *gangs;
    })
    serving; /* by profile */
    const struct extender *extenders;
    uint32_t n_extenders;
    struct intern table;
    VEC(struct class *) at;
    uint32_t made;
    VEC(struct shape_class) by_shape;
    struct match_words scratch;
    void *
        *shared; /* by profile and place in it: what a plugin's classes share; NULL: nothing yet */
    void (*gone)(void *ctx, struct class *); /* told before a class is freed */
    void *ctx;
};

/* Of a class that names nodes: is this one of them? */
static inline bool class_names(const struct class *class, sym node)
{
    for (uint32_t i = 0; i < class->n_only; i++)
        if (class->only[i] == node)
            return true;
    return false;
}

void classes_init(struct classes *k, struct cluster *c, const struct profile *profiles,
                  uint32_t n_profiles);
void classes_done(struct classes *k);

/* What to say of a row whose verdict is this error. */
struct str class_error_text(const struct class *class, const struct reasons *reasons,
                            reason_id error);

/* NULL if no profile serves pods of this shape. */
struct class *classes_of(struct classes *k, shape_id shape);

/* The same for pods of a gang that stays in one domain of node labels (their keys with commas);
 * good until the classes are next swept. */
struct class *classes_within(struct classes *k, shape_id shape, sym keys);

/* The tenant and the kind of work of pods of the shape, as the profile's classifier says. */
struct identity classes_identify(struct classes *k, const struct profile *profile,
                                 const struct shape *shape);

/* The profile for a schedulerName, as text or as a symbol; NULL: none. */
const struct profile *classes_profile(const struct classes *k, struct str scheduler_name);
const struct profile *classes_serving(const struct classes *k, sym scheduler_name);

/* profile_gangs() of the profile for it; NULL: none. */
const struct profile_plugin *classes_gangs(const struct classes *k, sym scheduler_name);

/* Lets go of classes of which no pod waits: with what they count, they are made again when one
 * comes. Before classes_tidy(). */
void classes_rest(struct classes *k);

/* Forgets classes of shapes that are gone (intern_tidy()). Before the cluster is tidied, at the
 * same quiet moments. */
void classes_tidy(struct classes *k, enum tidy how);

uint32_t classes_count(const struct classes *k);
