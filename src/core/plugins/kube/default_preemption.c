/* Preemption is asked for by this name in profiles; the search is core/framework/preempt, what
 * comes of it core/engine/preempt. It refuses nobody: a pod that waits for its victims to go is
 * kept out of the queue in its name, and comes back with the plugins that refused it. */

#include "core/framework/plugin.h"

const struct plugin plugin_default_preemption = {
    .name = "DefaultPreemption",
    .preempts = true,
};
