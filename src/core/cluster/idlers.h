#pragma once

#include "core/base/vec.h"
#include "core/cluster/names.h"
#include "core/model/object.h"

/* Owners that are suspended, and so make no pods. No node knows of it and no placement reads it; it
 * is what a gang that misses members is told. */

/* An owner that makes no pods now, and the group that these would be in. */
struct idler {
    sym namespace, name;
    enum kind kind;
    sym group;
    enum kind object; /* as in struct group */
};

struct idlers {
    VEC(struct idler) at; /* by name within a namespace: the first is named */
};

/* The owner would make pods for this group, and is suspended; "": it is not, or is gone. True: it
 * says something else now. */
bool idlers_put(struct idlers *x, struct names *names, enum kind kind, const struct meta *meta,
                struct str group, enum kind object);

/* The owner of pods of the group that is suspended; NULL: none is. */
const struct idler *idlers_of(const struct idlers *x, sym namespace, sym group, enum kind object);

void idlers_done(struct idlers *x);
