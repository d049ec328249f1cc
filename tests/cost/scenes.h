#pragma once

#include "core/engine/engine.h"

/* Many objects of a kind, told apart by their number, and whatever they are to each other. */

enum { EACH_MOST = 3 };

struct scene {
    const char *name;
    uint32_t least;              /* n, and then twice and four times as many */
    const char *each[EACH_MOST]; /* objects (support/objects.h); # is the number */
};

/* In these, each object costs as much as the one before it. */
extern const struct scene scenes[];
extern const uint32_t n_scenes;

/* In these, room is held for those who come, and for those who do not. */
extern const struct scene held[];
extern const uint32_t n_held;

/* Of an application; and one that makes so many others, of so many CPUs each. */
#define OF_APP(app)   " scheduler=kubenexus-scheduler label:scheduling.kubenexus.io/app-id=" app
#define MAKES(n, cpu) " note:kubenexus.io/executor-count=" n " note:kubenexus.io/executor-cpu=" cpu

/* In these, each of the one is compared with each of the other, once and quickly: selectors of a
 * namespace with the labels in it, pods nominated to a node with each other, a budget with those
 * behind it in the order of names, claims that are being written (at most 512) with what happens.
 */
extern const struct scene pairs[];
extern const uint32_t n_pairs;

/* In these, each pod is told why none of the nodes will do. */
extern const struct scene told[];
extern const uint32_t n_told;

/* The line with the number in place of each #. */
void scene_line(char *line, size_t most, const char *fmt, uint32_t number);

/* An object of this line and number comes, changes or goes. */
void scene_apply(struct engine *k, int64_t now_ms, enum change_kind kind, const char *fmt,
                 uint32_t number);

/* All of the scene's with this number. */
void scene_apply_each(struct engine *k, int64_t now_ms, enum change_kind kind,
                      const struct scene *scene, uint32_t number);

/* Decides about all who wait; every binding, eviction and write is well. */
void scene_run(struct engine *k, int64_t now_ms);
