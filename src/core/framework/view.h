#pragma once

#include "core/framework/bucket.h"
#include "core/framework/scan.h"
#include "core/framework/why.h"

/* Views: the verdict and score of every node for one class, kept instead of made.
 *
 * A view holds per node its bucket or why it was refused; each bucket is a heap whose top is its
 * best node. Before a decision the view reads the change log from where it stopped and looks again
 * at the rows that changed in columns its plugins read; then the decision is one look at the top of
 * each bucket. Whatever a view says, a scan would have said; a view is only faster. So when and
 * whether one exists cannot show in any decision, and the rules for that are about cost alone:
 *
 *  - A class gets a view at its first decision while there is memory to spare; else at its second
 * within WINDOW decisions, in the place of a view that has been idle for longer than the class. If
 * that is dropped before it is used again, the next needs more decisions that are close together.
 *  - A view that fell out of the log is built anew, and so is one by whose lag more than an eighth
 * of the nodes have changed, unless to ask about a row is costly.
 *  - A class with too many buckets is scanned for a while. */

struct view_stats {
    uint64_t rows, built, evicted;
};

struct views {
    struct cluster *cluster;
    const struct reasons *reasons;
    struct scan *scan;   /* whose sweep and facets new views are made with */
    size_t budget_bytes; /* 0: 1 KiB a node, at least 4 MiB */
    uint32_t most;       /* 0: no limit but the memory */
    VEC(struct view *) at;
    size_t bytes;
    uint64_t decisions; /* made so far, by whatever means: the clock of reuse */
    struct decider decider;
    struct match_words key;
    struct view_stats stats;
};

void views_done(struct views *v);

/* A new decision of this class begins; call it once each, before views_decide(). */
void views_tick(struct views *v, struct class *class);

/* The decision, from the class's view; false if it has none and should have none now: scan. */
bool views_decide(struct views *v, struct class *class, struct decision *out);

/* Why nothing fitted: of the class's last decision from its view. */
void views_why(const struct views *v, const struct class *class, struct why *out);

/* Does the class's view say of every node what the scan `s`, just run, says? For tests and
 * debugging. */
bool views_agree(const struct views *v, const struct class *class, const struct scan *s);

/* Gives back the views that would be built anew when they are next asked. */
void views_trim(struct views *v);

/* The class is going away. */
void views_drop(struct views *v, struct class *class);
