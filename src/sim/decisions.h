#pragma once

#include "core/base/buf.h"
#include "core/base/intern.h"
#include "core/engine/queues.h"
#include "sim/books.h"

/* What queues decide in a simulated world, in the order in which it happened: lines of JSON for
 * people and programs to follow (docs/reference/scenario.md), and what evictions cost. A unit is
 * called namespace/name, of a gang or of a pod alone. */

/* Of one unit: what it was told last. */
struct told {
    uint8_t rule; /* enum queue_rule; QUEUE_RULE_NONE: nothing since it ran */
    uint32_t at;  /* in `places` */
};

/* About one pod, or one unit, at this moment. */
struct remark {
    struct str unit, queue, at;
    uint8_t rule;
    bool is_beyond;
};
VEC_TYPE(remarks, struct remark);

/* A pod that was taken away for a unit that has not started yet. */
struct taken {
    uint32_t unit;
    int64_t gpu_ms; /* so many GPUs, for so long, were of no use */
};

struct decisions {
    struct buf *out; /* NULL: no lines are wanted */
    struct books *books;
    struct intern units, places; /* texts, for ever */
    VEC(struct told) told;       /* by unit */
    VEC(struct taken) taken;
    struct remarks ends, refusals;
    struct arena mem; /* texts of remarks */
};

void decisions_done(struct decisions *d);

/* A pod has ended by itself. The lines are written when all have that end now. */
void decisions_end(struct decisions *d, struct str unit, struct str queue, bool is_beyond);
void decisions_write_ends(struct decisions *d, int64_t now_ms);

/* A pod was taken away. For whom, and by which rule, the turn of that unit says. */
void decisions_take(struct decisions *d, struct str unit, int64_t gpu_ms);

/* Something has started. */
void decisions_start(struct decisions *d, int64_t now_ms, const struct queue_turn *turn);

/* What a unit that waits would be told now. A line is written if it was not told that before. */
void decisions_refuse(struct decisions *d, const struct queue_refusal *why);
void decisions_write_refusals(struct decisions *d, int64_t now_ms);
