#pragma once

#include "core/cluster/pods.h"

/* Pods of one template come to the same shape, unless their labels, annotations or owners say
 * otherwise, or their status speaks of resources. What the last of a template came to is kept with
 * all that decided it, and given to the next that is the same in all of that. */

enum { LIKES_PLACES = 256, LIKES_BYTES_MOST = 16 * 1024 /* of one pod */ };

struct like {
    struct buf bytes; /* what decided it */
    uint64_t hash;
    shape_id shape; /* held; bytes empty: none */
};

struct likes {
    struct like *at;
    struct buf bytes; /* of the pod that was asked for last */
    uint64_t hash;    /* 0: it is like no other */
};

void likes_done(struct likes *l);

/* Forgets all that is kept. */
void likes_clear(struct likes *l, struct pods *pods);

/* The shape of pods like this one; ID_NONE: not known. `has_pin`: the node that a DaemonSet's pod
 * names is taken out of its spec. */
shape_id likes_find(struct likes *l, const struct pod *pod, bool has_pin);

/* What the pod that was asked for last, and is not known, came to. */
void likes_keep(struct likes *l, struct pods *pods, shape_id shape);
