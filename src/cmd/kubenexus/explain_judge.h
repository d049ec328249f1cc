#pragma once

#include "core/config/config.h"
#include "core/engine/explain.h"
#include "io/files/manifest_read.h"

/* One pod of the files judged as the scheduler would: all who wait have their turns, and the pod is
 * looked at when it has its own. */

struct judging {
    const struct objects *set;
    struct pod *target; /* waits, whatever it does in the files */
    const struct scheduler_config *config;
    uint64_t seed;
    bool is_plain;        /* nodes as if nobody had a turn before the pod: what programs read */
    bool is_unserved;     /* no profile has its schedulerName: */
    struct str scheduler; /* this, before it was given another */
};

struct judgement {
    struct explanation x;
    struct foresight f;
    struct arena mem;
};

void explain_judge(const struct judging *j, struct judgement *out);
void judgement_done(struct judgement *j);

/* An engine that knows all that is in the files, and has decided nothing. */
struct engine *explain_engine(const struct objects *set, const struct scheduler_config *config,
                              int64_t now_ms);

/* Every unit that waits has come to its place in its queue, and none has had a turn. */
void explain_line_up(struct engine *k, int64_t now_ms);

/* When the files were read from a cluster; where nobody says, the time of the newest thing in them:
 * as good a now as any. */
int64_t explain_latest_ms(const struct objects *set);
