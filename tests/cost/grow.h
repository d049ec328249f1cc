#pragma once

#include "core/base/arena.h"
#include "core/model/object.h"
#include "core/wire/field.h"

/* Objects that say one thing many times: of each kind the least that the API server would take,
 * with so many elements in one of its lists or maps. */

enum { PATH_MOST = 16 };

/* The way to a list or map, by rows of tables. */
struct path {
    enum kind kind;
    uint32_t n;
    const struct field *steps[PATH_MOST]; /* the last is the one that grows */
};

/* Calls for each list and map of the kind's tables, however deep; returns how many. */
uint32_t paths_each(enum kind kind, void (*fn)(void *ctx, const struct path *path), void *ctx);

/* The same for each text that stands alone, too. */
uint32_t names_each(enum kind kind, void (*fn)(void *ctx, const struct path *path), void *ctx);

/* "Pod spec.containers[].ports" */
struct str path_text(const struct path *path, struct arena *mem);

/* Of the elements no two are alike; or all are (`alike`). */
struct object grown(struct arena *mem, const struct path *path, uint32_t n, bool alike);

/* By this number, it says one thing there (or the one text), whose names have the same number. */
struct object named(struct arena *mem, const struct path *path, uint32_t number);

/* The least object of the kind, by this number. */
struct object least(struct arena *mem, enum kind kind, uint32_t number);
