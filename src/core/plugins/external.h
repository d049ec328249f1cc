#pragma once

#include "core/framework/profile.h"

/* Plugins that were not built in: their tables, as <kubenexus/plugin.h> has them, become plugins
 * like the others. Where they come from is the caller's business. */

struct kn_plugin;

enum { EXTERNALS_MOST = 8 }; /* in one configuration: their numbers follow those built in */

/* What is wrong with the table of an external plugin that is to have this name; NULL: nothing.
 * Lives in `mem`. */
const char *external_check(const struct kn_plugin *external, struct str name, struct arena *mem);

/* The external plugin as a plugin; its arguments are a struct external_args. */
struct plugin external_plugin(const struct kn_plugin *external);

struct external_args {
    const struct kn_plugin *external;
    struct str json; /* what the configuration says, empty if nothing */
};
