#pragma once

#include "core/model/object.h"

/* A number for all that an object says, by its field table: equal objects have equal numbers, in
 * every process and on every machine. */
uint64_t object_hash(const struct object *o);
