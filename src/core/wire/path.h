#pragma once

#include "core/base/error.h"
#include "core/base/str.h"

/* One step from a message to a value in it. */
struct path_step {
    struct str name; /* of the field, or the key of a map's entry */
    uint32_t index;  /* in a list */
    bool is_index;
};

/* Puts the path before the error's text, in the API's way: spec.containers[0].image. A key that has
 * dots itself stands in brackets. Always false. */
bool path_wrap(const struct path_step *path, size_t steps, struct error *e);
