/* Whether those who wait take turns by the shares of their queues: all of it is the engine's
 * (engine/fair). A unit that its queue keeps out is said to be refused by this plugin. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

const char *const reclaim_names[N_RECLAIMS] = {
    [RECLAIM_GUARANTEE] = "Guarantee",
    [RECLAIM_FAIR_SHARE] = "FairShare",
    [RECLAIM_NEVER] = "Never",
};

const struct plugin plugin_fair_queues = {
    .name = "FairQueues",
    .keeps_queues = true,
};
