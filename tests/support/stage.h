#pragma once

#include "core/engine/engine.h"
#include "support/objects.h"

/* An engine on a stage, for stories.
 *
 *     AUTO(stage) s = {0};
 *     stage_put(&s, "node n1 cpu=8");
 *     stage_put(&s, "pod a gpu=1");
 *     stage_run(&s);
 *     EXPECT_TEXT(stage_fate(&s, "a"), "parked");
 */
struct stage {
    struct engine_config config;
    struct engine *engine; /* made with the first object */
    int64_t now_ms;
    struct effects effects; /* of the last stage_run() */
    struct arena mem;       /* of one object */
    struct arena config_mem;
    struct buf text;
};

void stage_done(struct stage *s);

/* Before the first object: the engine has our own profile alone, with these arguments for gangs. */
struct coscheduling_args;
void stage_set_gangs(struct stage *s, const struct coscheduling_args *args);

/* An object (support/objects.h) comes or changes; or is gone: then kind and name are enough. */
void stage_put(struct stage *s, const char *fmt, ...) PRINTF(2, 3);
void stage_remove(struct stage *s, const char *fmt, ...) PRINTF(2, 3);

/* Decides until nothing is ready, and forgets the effects of the run before; returns how many there
 * are now. */
uint32_t stage_run(struct stage *s);

/* Is the line among these metrics of the engine? */
struct metric;
bool stage_counts(const struct stage *s, const struct metric *metrics, uint32_t n,
                  const char *line);

/* The last effect of the last run about the pod; NULL: none. */
const struct effect *stage_effect(const struct stage *s, const char *pod);

/* How the binding or eviction of the pod in the last run ended; NULL: well. */
void stage_settle(struct stage *s, const char *pod, const char *error);

/* Of a pod in the namespace default: "bound to n1", "assumed on n1", "active", "backing off",
 * "parked", "gated", "nowhere"; "unknown" if there is none. Lives until the next call. */
const char *stage_fate(struct stage *s, const char *pod);
