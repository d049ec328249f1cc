#pragma once

#include "core/cluster/spec.h"

/* Pods of one template come to the same spec, unless their labels, annotations or owners say
 * otherwise, or their status speaks of resources. What the last of a template came to is kept with
 * all that decided it, and given to the next that is the same in all of that. */

enum { LIKES_PLACES = 64 };

struct like {
    struct buf bytes; /* what decided it */
    uint64_t hash;
    spec_id spec; /* held; bytes empty: none */
};

struct likes {
    struct like *at;
    struct buf bytes; /* of the pod at hand */
};

void likes_done(struct likes *l);

/* As specs_read(). */
spec_id likes_read(struct likes *l, struct specs *s, struct names *names, struct matches *matches,
                   const struct pod *pod, sym *pin);
