#pragma once

#include "core/cluster/match.h"
#include "core/cluster/names.h"
#include "core/cluster/spec.h"

/* Terms of pod affinity: who has them, and whom they mean.
 *
 * Affinity works both ways: a pod looks for (or avoids) the pods that its terms mean, and is looked
 * for by the pods whose terms mean it. The first is known from its own spec. For the second, every
 * term that some pod has is known here, with its namespaces settled; equal terms of different pods
 * are one. A shape has the terms of its spec from its first sight to its end, and remembers which
 * of the known terms mean its pods: each pair is compared once. */

struct cluster;
struct shape;

/* Whom a term means: pods that a selector matches, in these namespaces or in those that have such
 * labels. */
struct reach {
    selector_id selector; /* ID_NONE: nobody */
    selector_id like;     /* ID_NONE: only the namespaces listed */
    const sym *namespaces;
    uint32_t n;
};

struct term {
    sym key;
    int32_t weight; /* of a preference; 0: required */
    bool is_anti;
    struct reach reach;
    uint32_t shapes; /* that have it */
    uint64_t number; /* ever rising: shapes remember up to which they have looked */
};

struct terms {
    struct intern table;
    VEC(struct term) at;
    VEC(uint64_t) key_bits; /* of each, the label keys of the pods it means */
    uint64_t made;          /* rises when a term comes, or nobody has it any more */
};

/* Whom a term of the spec means if pods of this namespace have it. `namespace` must last. */
struct reach reach_of(const struct spec *spec, const struct pod_term *term, const sym *namespace);

/* Who looks, for whom namespaces have labels: upstream is not of one mind about it. */
enum sight {
    SIGHT_SEEKER, /* the pod to be placed: only namespaces that exist can be selected by labels */
    SIGHT_FOUND,  /* pods on nodes: a namespace that does not exist has no labels */
    SIGHT_HINT,   /* who asks whether an event may help: no namespace has labels */
};

/* Does the term mean pods of this shape? */
bool reach_means(const struct cluster *c, struct reach r, const struct shape *shape,
                 enum sight sight);

/* The shape begins, or ceases, to have the terms of its spec. */
void terms_take(struct terms *t, struct names *names, struct matches *matches,
                const struct spec *spec, struct shape *shape);
void terms_leave(struct terms *t, struct shape *shape);

/* Brings shape->meant_by up to date: the terms that mean its pods, in the order of their numbers.
 */
void terms_meet(struct cluster *c, struct shape *shape);

/* Namespaces' labels changed: shapes look at all terms again, if one of them reads labels. */
void terms_look_again(struct cluster *c);

/* Frees what neither a shape nor a tally holds. */
void terms_tidy(struct terms *t, struct names *names, struct matches *matches, enum tidy how);
void terms_done(struct terms *t);
