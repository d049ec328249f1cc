#pragma once

#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/cluster/names.h"

/* The images that nodes have, and where. Of an image that few nodes have they are a list, of
 * one that many have a bit for each node: neither takes more room than the nodes' own lists do. */

struct image_state {
    int64_t size_bytes; /* as the first node that has it said */
    uint32_t nodes;
};

struct image {
    struct image_state state;
    VEC(uint32_t) few;   /* nodes, in no order; empty while there are bits */
    VEC(uint64_t) words; /* a bit for each node */
};

struct images {
    struct map index; /* image's symbol → at */
    VEC(struct image) at;
    VEC(uint32_t) free;
};

/* The node has it, or has it no more. `nodes` is how many there are, or will be. */
void images_add(struct images *all, struct names *names, sym name, int64_t size_bytes,
                uint32_t node, uint32_t nodes);
void images_remove(struct images *all, struct names *names, sym name, uint32_t node);

/* The only node that has it says a new size; false: it is none, or the size is not new. */
bool images_resize(struct images *all, sym name, int64_t size_bytes);

/* {0} if no node has it. */
struct image_state images_state(const struct images *all, sym name);

/* Sets the bits of the nodes that have it; there are bits for all nodes. */
void images_mark(const struct images *all, sym name, uint64_t *bits);

void images_done(struct images *all);
