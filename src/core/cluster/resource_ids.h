#pragma once

#include "core/cluster/names.h"

/* The names of resources, held by the specs that ask for them, by the nodes that have them, and by
 * configurations. */
struct resources {
    struct intern table;
    VEC(sym) names;
    VEC(bool) are_accelerators;
    VEC(bool) are_offered; /* some node has, or had, any of it */
    VEC(bool) are_kept;    /* for ever */
    uint64_t n_offers;     /* so often one was offered that had not been */
};

void resources_init(struct resources *r, struct names *names);
void resources_done(struct resources *r);

/* Nobody holds it yet. */
resource_id resources_get(struct resources *r, struct names *names, struct str name);

/* The same for a configuration: it is held for ever. */
resource_id resources_keep(struct resources *r, struct names *names, struct str name);

/* ID_NONE: nobody has asked for it yet, nor had it. */
resource_id resources_find(const struct resources *r, struct str name);

/* A node has some of it. */
void resources_offer(struct resources *r, resource_id resource);

/* Frees what nobody holds (intern_tidy()). */
void resources_tidy(struct resources *r, struct names *names, enum tidy how);
