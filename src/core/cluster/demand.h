#pragma once

#include "core/base/buf.h"
#include "core/cluster/gpus.h"

/* How many GPUs pods ask for: of those that wait, here and in Kueue's queues, and of those that
 * were placed lately.
 *
 * A pod counts as much as the GPUs that it asks for, once it is placed half as much after each
 * DEMAND_HALF_LIFE_MS. A share counts as what it is of a GPU, with those that ask for one. Who asks
 * for more GPUs than the largest island has counts with those that want all of it. At first,
 * every number up to GPU_SIZES_USUAL has been asked for as much as any other, and that never fades.
 *
 * All of it is counted for those who watch it alone. What they are told is a mix that stays for a
 * while: it is reviewed each DEMAND_REVIEW_MS, and is another one, of another generation, if a part
 * of DEMAND_MOVES has moved since. */

enum {
    GPU_SIZES_USUAL = 16,
    DEMAND_FIRST = 8, /* GPUs, by each of these numbers */
    DEMAND_REVIEW_MS = 60 * 1000,
    DEMAND_HALF_LIFE_MS = 24 * 60 * 60 * 1000,
};
#define DEMAND_MOVES 0.02

struct cluster;

/* Shares by the number of GPUs, all together 1; of islands with at most so many GPUs. */
struct gpu_mix {
    uint32_t largest;
    double of[GPUS_MOST + 1];
};

struct demand {
    bool is_watched;
    double recent[GPUS_MOST + 1]; /* thousandths of GPUs of pods that were placed, as of … */
    int64_t reviewed_ms;          /* … the last review, and since */
    int64_t due_ms;               /* of the next */
    struct gpu_mix mix;
    uint64_t generation; /* of the mix; never goes back. Without one the mix is nobody's */
};

/* From now on, or no more: all that was counted is forgotten. */
void demand_watch(struct demand *d, bool is_watched);

/* A pod was placed. */
void demand_note(struct demand *d, struct gpu_ask ask);

static inline bool demand_is_due(const struct demand *d, int64_t now_ms)
{
    return d->is_watched && now_ms >= d->due_ms;
}

/* Looks at who waits. Not within a transaction. */
void demand_review(struct cluster *c, int64_t now_ms);

/* "1=12.5%,8=87.5%" */
void gpu_mix_text(const struct gpu_mix *mix, struct buf *out);
