#pragma once

#include "core/model/pod_keys.h"

/* Every label and annotation under domains of ours that is read, or written by us: our_keys.def, by
 * what it stands on. So a key that is under one of these domains and not here is a mistake, and
 * whoever made it is told: what was meant has had no effect.
 *
 * Ours are kubenexus.io with all below it, and the two domains by which other projects spell a
 * gang's name and size. */

enum { ON_POD = 1, ON_NODE = 2, ON_NAMESPACE = 4, ON_OTHERS = 8 };

struct our_key {
    struct str text; /* # stands for a number */
    uint32_t on;     /* ON_*: where it is read */
};

extern const struct our_key our_keys[];
extern const uint32_t n_our_keys;

/* Is it under a domain of ours? */
bool our_key_is(struct str key);

/* Is it, and nobody reads it on these objects? */
bool our_key_is_unknown(struct str key, uint32_t on);

/* Of the keys that are read there, the one that is spelled most like it; of equals the first. */
struct str our_key_nearest(struct str key, uint32_t on);

/* Adds keys of ours that nobody reads there to what means nothing, without a value; what is among
 * it already is not added again. */
void our_keys_check(const pair_list *pairs, uint32_t on, struct misreads *to);

/* "KEY is not a key that we know; the nearest is NEAREST", if that is what is wrong with it; else
 * "KEY: "VALUE" means nothing". */
void misread_say(struct str key, struct str value, uint32_t on, struct buf *out);
