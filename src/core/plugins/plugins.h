#pragma once

#include "core/framework/profile.h"

/* The table of all plugins that are here, from plugins.def. By number. */

#define PLUGIN(number, symbol, ...) extern const struct plugin plugin_##symbol;
#define ENGINE(...)
#define MISSING(...)
#include "core/plugins/plugins.def"
#undef PLUGIN
#undef ENGINE
#undef MISSING

extern const struct plugin *const plugins[];
extern const uint32_t n_plugins;

/* The profiles that exist without configuration: default-scheduler (kube-scheduler's own) and
 * kubenexus-scheduler. */
enum { BUILT_IN_KUBE, BUILT_IN_KUBENEXUS, N_BUILT_IN };
extern const struct profile built_in_profiles[N_BUILT_IN];
extern const uint32_t n_built_in_profiles;
