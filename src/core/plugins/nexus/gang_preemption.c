/* Making room for gangs, and for pods alone, with whole gangs in mind: asked for by this name in
 * profiles. The search is engine/preemption/evict.c, what comes of it
 * engine/preemption/evict_gang.c; the arguments say who may have to go, and who first. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

static const struct str spared[] = {STR("kube-system")};

const struct eviction_args eviction_defaults = {
    .most_victims = 50,
    .gap_ms = 30000,
    .hold_ms = 300000,
    .order = {VICTIM_TIER, VICTIM_PRIORITY, VICTIM_WORKLOAD, VICTIM_LOST_WORK, VICTIM_START},
    .spared = {spared, LEN(spared)},
};

const char *const victim_key_names[N_VICTIM_KEYS] = {
    [VICTIM_TIER] = "tier",          [VICTIM_PRIORITY] = "priority", [VICTIM_WORKLOAD] = "workload",
    [VICTIM_LOST_WORK] = "lostWork", [VICTIM_START] = "start",
};

/* A gang that has evicted others waits for them to be gone. */
static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE, NULL},
    {0},
};

const struct plugin plugin_gang_preemption = {
    .name = "GangPreemption",
    .preempts = true,
    .evicts = true,
    .wakes = wakes,
};
