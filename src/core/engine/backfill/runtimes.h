#pragma once

#include "core/base/buf.h"
#include "core/base/map.h"
#include "core/base/recent.h"

/* How long things run, learned from those that have ended.
 *
 * What ends is noted under several keys, from the closest kin (same namespace, stem of its name and
 * size) over those of its size to everything. The next one is expected to run as long as the middle
 * one of its kin, at the first key that knows enough of them. Of one that runs already only those
 * count that ran longer: what has outlived its estimate gets a later one, for as long as anybody
 * ever ran so long; beyond that, as long again as it has run.
 *
 * There are at most RUNTIMES_MOST keys; the one that was least recently noted makes room.
 *
 * What was learned can be written down and read again: the keys that were noted last, each with all
 * that it knows, a time in two letters (exact below 256 ms, to 1 part in 256 above). */

enum {
    RUNTIME_LEVELS = 3,
    RUNTIME_LEAST = 5, /* ends that make an estimate */
    RUNTIMES_MOST = 4096,
    RUNTIMES_KEPT = 1024, /* keys that are written down: at most 217 KB of text */
};

/* The closest first; the last is the same for all. */
struct kin {
    uint64_t at[RUNTIME_LEVELS];
};

struct runtimes {
    struct map by_key; /* → index in `keys` */
    VEC(struct runtime {
        uint64_t key;
        uint64_t noted; /* number of the last note */
        struct recent recent;
    })
    keys;
    uint64_t notes;
};

void runtimes_done(struct runtimes *r);

/* One of these ran for so long. */
void runtimes_note(struct runtimes *r, struct kin kin, int64_t ran_ms);

/* How long one of these will run in all that has run for `ran_ms`; 0: nobody knows. */
int64_t runtimes_expect_ms(const struct runtimes *r, struct kin kin, int64_t ran_ms);

/* Adds what is known, as one line. */
void runtimes_write(const struct runtimes *r, struct buf *out);

/* Fills `r`, which is empty, with what was written; false, and it stays empty, if the text is none
 * of ours. */
bool runtimes_read(struct runtimes *r, struct str text) MUST_USE;

/* How many notes the text says it knows of: `r->notes` of who wrote it; 0: it is none of ours. */
uint64_t runtimes_read_notes(struct str text);
