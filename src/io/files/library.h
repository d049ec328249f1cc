#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"

/* Tables of plugins in shared libraries. */

struct kn_plugin;

/* The table that the library has; NULL, and why, if it cannot be had: there is no such file, it is
 * no library or has no table, or this program is a static one. It stays loaded to the end. */
const struct kn_plugin *library_plugin(struct str path, struct arena *mem, const char **why);
