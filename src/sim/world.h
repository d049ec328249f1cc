#pragma once

#include "core/engine/engine.h"
#include "sim/books.h"

/* A cluster that does not exist, around an engine that does: jobs arrive, pods run and end, nodes
 * fail and are repaired, bindings succeed or do not, all in virtual time. It knows the engine by
 * engine.h alone, as the daemon does, and keeps its own books, so it can only measure what really
 * runs. */

struct world;

/* Both are borrowed and must outlive the world. The seed of `config` is the plan's. */
struct world *world_new(const struct plan *plan, const struct engine_config *config);
void world_free(struct world *w);

/* Time jumps to the next thing that happens, and everything that follows from it at that time
 * happens too. False when nothing is left to happen, or the plan's time is over: the books are
 * closed then. */
bool world_turn(struct world *w);

int64_t world_now_ms(const struct world *w);

/* When the next turn will be; INT64_MAX: never. */
int64_t world_next_ms(const struct world *w);
const struct books *world_books(const struct world *w);
struct engine_stats world_engine_stats(const struct world *w);

/* From now on the engine's steps are timed by this clock, which is not the world's; and the longest
 * of them so far. */
void world_watch(struct world *w, double (*now_s)(void));
double world_longest_step_s(const struct world *w);

/* From now on, where there are queues, lines of JSON about what they decide are added to `out`
 * (sim/decisions.h), which is borrowed. */
void world_record(struct world *w, struct buf *out);

/* For stories in tests: "waits", "runs on n1", "ended", "never came". Lives in the world until the
 * next call. */
const char *world_fate(struct world *w, const char *pod);
