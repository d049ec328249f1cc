#pragma once

#include "core/framework/profile.h"

/* Plugins that were not built in: their tables, as <kubenexus/plugin.h> has them, become plugins
 * like the others. Where they come from is the caller's business. */

struct kn_plugin;

enum { GUESTS_MOST = 8 }; /* in one configuration: their numbers follow those built in */

/* What is wrong with the table of a guest that is to have this name; NULL: nothing. Lives in `mem`.
 */
const char *guest_check(const struct kn_plugin *guest, struct str name, struct arena *mem);

/* The guest as a plugin; its arguments are a struct guest_args. */
struct plugin guest_plugin(const struct kn_plugin *guest);

struct guest_args {
    const struct kn_plugin *guest;
    struct str json; /* what the configuration says, empty if nothing */
};
