#pragma once

#include "core/cluster/pods.h"

/* Pods of one template come to the same shape, unless their labels, annotations or owners say
 * otherwise, or their status speaks of resources. What the last of a template came to is kept with
 * all that decided it, and given to the next that is the same in all of that. */

enum { SPEC_CACHE_PLACES = 256, SPEC_CACHE_BYTES_MOST = 16 * 1024 /* of one pod */ };

struct cached_spec {
    struct buf bytes; /* what decided it */
    uint64_t hash;
    shape_id shape; /* held; bytes empty: none */
};

struct spec_cache {
    struct cached_spec *at;
    struct buf bytes; /* of the pod that was asked for last */
    uint64_t hash;    /* 0: it is like no other */
};

void spec_cache_done(struct spec_cache *l);

/* Forgets all that is kept. */
void spec_cache_clear(struct spec_cache *l, struct pods *pods);

/* The shape of pods like this one; ID_NONE: not known. `has_pin`: the node that a DaemonSet's pod
 * names is taken out of its spec. */
shape_id spec_cache_find(struct spec_cache *l, const struct pod *pod, bool has_pin);

/* What the pod that was asked for last, and is not known, came to. */
void spec_cache_keep(struct spec_cache *l, struct pods *pods, shape_id shape);
