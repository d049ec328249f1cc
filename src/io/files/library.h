#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"

/* Tables of plugins in shared libraries, and those that were built into this program (the build's
 * option `plugins`), which are the library "built-in". */

struct kn_plugin;

/* The table that the library has; NULL, and why, if it cannot be had: there is no such file, it is
 * no library or has no table, or this program is a static one. It stays loaded to the end. `name`
 * is the plugin's, of which there may be several built in. */
const struct kn_plugin *library_plugin(struct str path, struct str name, struct arena *mem,
                                       const char **why);
