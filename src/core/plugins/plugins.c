#include "core/plugins/plugins.h"

#define ENGINE(...)
#define MISSING(...)

enum {
#define PLUGIN(number, symbol, ...) NUMBER_##symbol = number,
#include "core/plugins/plugins.def"
#undef PLUGIN
};

const struct plugin *const plugins[] = {
#define PLUGIN(number, symbol, ...) [number] = &plugin_##symbol,
#include "core/plugins/plugins.def"
#undef PLUGIN
};

enum {
#define PLUGIN(number, symbol, ...) COUNTED_##symbol,
#include "core/plugins/plugins.def"
#undef PLUGIN
    N_PLUGINS,
};
_Static_assert(N_PLUGINS == LEN(plugins), "the numbers are 0, 1, 2, …");
_Static_assert(N_PLUGINS <= 60, "plugins are bits of a 64-bit mask");

const uint32_t n_plugins = N_PLUGINS;

/* The profiles have the rows that are in them. */
#define IN(symbol, weight) {&plugin_##symbol, NUMBER_##symbol, weight, NULL, 0},
#define OUT(symbol, weight)

static const struct profile_plugin kube_plugins[] = {
#define PLUGIN(number, symbol, name, points, kube, weight, ...) kube(symbol, weight)
#include "core/plugins/plugins.def"
#undef PLUGIN
};

/* Beside kube-scheduler's our own, which have nothing to say about plain pods (docs/design has the
 * weights' reasons). */
static const struct profile_plugin nexus_plugins[] = {
#define PLUGIN(number, symbol, name, points, kube, kubes, ours, weight, ...) ours(symbol, weight)
#include "core/plugins/plugins.def"
#undef PLUGIN
};

const struct profile built_in_profiles[] = {
    [BUILT_IN_KUBE] = {STR("default-scheduler"), kube_plugins, LEN(kube_plugins)},
    [BUILT_IN_KUBENEXUS] = {STR("kubenexus-scheduler"), nexus_plugins, LEN(nexus_plugins)},
};

const uint32_t n_built_in_profiles = LEN(built_in_profiles);
