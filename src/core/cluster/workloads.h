#pragma once

#include "core/base/map.h"
#include "core/cluster/match.h"
#include "core/cluster/pods.h"

/* Services and owners, per namespace: who says which pods belong together.
 *
 * kube-scheduler spreads the pods of a Service or controller by default; the selector it does that
 * with is all Services that select the pod and its controller's selector together. It depends on
 * the pod's shape and on this table, whose generation per namespace says when to ask again. */

struct service_row {
    sym name;
    selector_id selector;
};

struct owner_row {
    enum owner_kind kind;
    sym name;
    selector_id selector; /* ID_NONE: it selects nothing */
};

struct namespace_row {
    sym namespace; /* SYM_NONE: the row is free */
    bool is_there; /* its object is, whose labels count */
    uint64_t generation;
    VEC(struct service_row) services;
    VEC(struct owner_row) owners;
};

struct workloads {
    struct map by_namespace; /* sym → rows of those that have anything */
    VEC(struct namespace_row) rows;
    VEC(uint32_t) free;
    uint64_t changes;
    uint64_t forgotten; /* when the last namespace was that has nothing any more */
};

/* Rises with what the pods' classes depend on in the namespace; it never goes back. */
uint64_t workloads_generation(const struct workloads *w, sym namespace);

/* The namespace's object came, has other labels, or is gone. */
void workloads_put_namespace(struct workloads *w, struct names *names, sym namespace,
                             bool is_there);

/* Sets what the service or owner selects by; returns whether that is news. Takes a hold on the
 * selector. A Service without a selector is removed: it selects no pod. */
bool workloads_put_service(struct workloads *w, struct names *names, struct matches *m,
                           sym namespace, sym name, selector_id selector);
bool workloads_put_owner(struct workloads *w, struct names *names, struct matches *m, sym namespace,
                         enum owner_kind kind, sym name, selector_id selector);
bool workloads_remove_service(struct workloads *w, struct names *names, struct matches *m,
                              sym namespace, sym name);
bool workloads_remove_owner(struct workloads *w, struct names *names, struct matches *m,
                            sym namespace, enum owner_kind kind, sym name);

/* The selector that the pods of this shape are spread by; ID_NONE if there is none. Nobody holds it
 * yet. */
selector_id workloads_selector(const struct workloads *w, struct names *names, struct matches *m,
                               const struct shape *shape);

void workloads_done(struct workloads *w);
