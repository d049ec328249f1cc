#include "core/config/known.h"

#include "core/plugins/plugins.h"

static const struct {
    struct str name;
    const char *type;
} points[N_POINTS] = {
    [POINT_PRE_ENQUEUE] = {STR("preEnqueue"), "PreEnqueuePlugin"},
    [POINT_QUEUE_SORT] = {STR("queueSort"), "QueueSortPlugin"},
    [POINT_PRE_FILTER] = {STR("preFilter"), "PreFilterPlugin"},
    [POINT_FILTER] = {STR("filter"), "FilterPlugin"},
    [POINT_POST_FILTER] = {STR("postFilter"), "PostFilterPlugin"},
    [POINT_PRE_SCORE] = {STR("preScore"), "PreScorePlugin"},
    [POINT_SCORE] = {STR("score"), "ScorePlugin"},
    [POINT_RESERVE] = {STR("reserve"), "ReservePlugin"},
    [POINT_PERMIT] = {STR("permit"), "PermitPlugin"},
    [POINT_PRE_BIND] = {STR("preBind"), "PreBindPlugin"},
    [POINT_BIND] = {STR("bind"), "BindPlugin"},
    [POINT_POST_BIND] = {STR("postBind"), "PostBindPlugin"},
    [POINT_PLACEMENT_GENERATE] = {STR("placementGenerate"), "PlacementGeneratePlugin"},
    [POINT_PLACEMENT_SCORE] = {STR("placementScore"), "PlacementScorePlugin"},
    [POINT_POD_GROUP_POST_FILTER] = {STR("podGroupPostFilter"), "PodGroupPostFilterPlugin"},
};

enum {
    ENQUEUE = 1 << POINT_PRE_ENQUEUE,
    SORT = 1 << POINT_QUEUE_SORT,
    PRE_FILTER = 1 << POINT_PRE_FILTER,
    FILTER = 1 << POINT_FILTER,
    FILTERS = PRE_FILTER | FILTER,
    POST_FILTER = 1 << POINT_POST_FILTER,
    SCORE = 1 << POINT_SCORE,
    SCORES = SCORE | 1 << POINT_PRE_SCORE,
    RESERVE = 1 << POINT_RESERVE,
    PERMIT = 1 << POINT_PERMIT,
    PRE_BIND = 1 << POINT_PRE_BIND,
    BIND = 1 << POINT_BIND,
    POST_BIND = 1 << POINT_POST_BIND,
    GENERATE = 1 << POINT_PLACEMENT_GENERATE,
    PLACEMENT_SCORE = 1 << POINT_PLACEMENT_SCORE,
    GROUP_POST_FILTER = 1 << POINT_POD_GROUP_POST_FILTER,
};

/* clang-format off */

const struct known_plugin known_plugins[] = {
    /* kube-scheduler's default profile */
    {STR("SchedulingGates"), ENQUEUE, true, 0, false},
    {STR("PrioritySort"), SORT, true, 0, false},
    {STR("NodeName"), FILTERS, true, 0, false},
    {STR("NodeUnschedulable"), FILTERS, true, 0, false},
    {STR("TaintToleration"), FILTERS | SCORES, true, 3, false},
    {STR("NodeAffinity"), FILTERS | SCORES, true, 2, true},
    {STR("NodePorts"), FILTERS, true, 0, false},
    {STR("NodeResourcesFit"), FILTERS | SCORES | PLACEMENT_SCORE, true, 1, false},
    {STR("VolumeRestrictions"), FILTERS, true, 0, true},
    {STR("NodeVolumeLimits"), FILTERS, true, 0, false},
    {STR("VolumeBinding"), FILTERS | SCORES | RESERVE | PRE_BIND, true, 0, true},
    {STR("VolumeZone"), FILTERS, true, 0, true},
    {STR("PodTopologySpread"), FILTERS | SCORES, true, 2, false},
    {STR("InterPodAffinity"), FILTERS | SCORES, true, 2, false},
    {STR("DynamicResources"), ENQUEUE | FILTERS | POST_FILTER | SCORE | RESERVE | PRE_BIND | GROUP_POST_FILTER,
     true, 2, true},
    {STR("DefaultPreemption"), ENQUEUE | POST_FILTER | GROUP_POST_FILTER, true, 0, false},
    {STR("NodeResourcesBalancedAllocation"), SCORES, true, 1, false},
    {STR("ImageLocality"), SCORE, true, 1, false},
    {STR("DefaultBinder"), BIND, true, 0, false},
    {STR("NodeDeclaredFeatures"), FILTERS, true, 0, false},

    /* those that feature gates of kube-scheduler add */
    {STR("DeferredPodScheduling"), FILTERS, false, 0, false},
    {STR("GangScheduling"), ENQUEUE | PRE_FILTER | PERMIT, false, 0, false},
    {STR("TopologyPlacementGenerator"), GENERATE, false, 0, false},
    {STR("PodGroupPodsCount"), PLACEMENT_SCORE, false, 0, false},

    /* our own */
    {STR("ProfileClassifier"), PRE_FILTER, false, 0, false},
    {STR("Coscheduling"), SORT | PRE_FILTER | PERMIT | RESERVE, false, 0, false},
    {STR("LinePolicy"), ENQUEUE, false, 0, false},
    {STR("FairQueues"), ENQUEUE, false, 0, false},
    {STR("ResourceReservation"), FILTERS | RESERVE | POST_BIND, false, 0, false},
    {STR("WorkloadAwareScoring"), SCORE, false, 0, false},
    {STR("TopologyScoring"), SCORE, false, 0, false},
    {STR("BackfillScoring"), SCORE, false, 0, false},
    {STR("ResourceFragmentationScore"), FILTER | SCORE, false, 0, false},
    {STR("TenantHardwareAffinityScore"), FILTER | SCORE, false, 0, false},
    {STR("VRAMScheduler"), FILTER | SCORE, false, 0, false},
    {STR("GPUTopology"), SCORE, false, 0, false},
    {STR("NetworkFabricScore"), FILTER | SCORE, false, 0, false},
    {STR("NUMATopology"), FILTER | SCORE, false, 0, false},
    {STR("GangPreemption"), ENQUEUE | POST_FILTER, false, 0, false},
};

/* clang-format on */

const uint32_t n_known_plugins = LEN(known_plugins);

/* Short names that older documents use. */
static const struct {
    struct str alias, name;
} aliases[] = {
    {STR("WorkloadAware"), STR("WorkloadAwareScoring")},
    {STR("TopologySpread"), STR("TopologyScoring")},
    {STR("Backfill"), STR("BackfillScoring")},
    {STR("BackfillScheduler"), STR("BackfillScoring")},
    {STR("ResourceFragmentation"), STR("ResourceFragmentationScore")},
    {STR("TenantHardware"), STR("TenantHardwareAffinityScore")},
    {STR("NetworkFabric"), STR("NetworkFabricScore")},
    {STR("NUMA"), STR("NUMATopology")},
    {STR("NodeResourceTopology"), STR("NUMATopology")},
};

struct str point_name(enum point point)
{
    return points[point].name;
}

const char *point_type(enum point point)
{
    return points[point].type;
}

static const struct known_plugin *find(struct str name)
{
    for (uint32_t i = 0; i < n_known_plugins; i++)
        if (str_equal(known_plugins[i].name, name))
            return &known_plugins[i];
    return NULL;
}

const struct known_plugin *known_plugin_find(struct str name, bool *is_alias)
{
    *is_alias = false;
    for (size_t i = 0; i < LEN(aliases); i++)
        if (str_equal(aliases[i].alias, name)) {
            *is_alias = true;
            return find(aliases[i].name);
        }
    return find(name);
}

bool known_plugin_is_removed(struct str name)
{
    static const struct str removed[] = {STR("AzureDiskLimits"), STR("CinderLimits"),
                                         STR("EBSLimits"), STR("GCEPDLimits")};
    for (size_t i = 0; i < LEN(removed); i++)
        if (str_equal(removed[i], name))
            return true;
    return false;
}

uint32_t known_plugin_number(const struct known_plugin *known)
{
    uint32_t i = 0;
    while (i < n_plugins && !str_equal(str_of(plugins[i]->name), known->name))
        i++;
    return i;
}

enum plugin_presence known_plugin_presence(const struct known_plugin *known)
{
    static const struct str engines[] = {STR("DefaultBinder"), STR("ResourceReservation")};
    if (known_plugin_number(known) < n_plugins)
        return PLUGIN_HERE;
    for (size_t i = 0; i < LEN(engines); i++)
        if (str_equal(engines[i], known->name))
            return PLUGIN_ENGINE;
    return PLUGIN_MISSING;
}

/* --- ours --- */

static bool is_kubes(const struct known_plugin *known)
{
    return known < known_plugins || known >= known_plugins + n_known_plugins || known->is_default;
}

const struct known_plugin *known_ours_at(uint32_t i)
{
    const struct profile *ours = &built_in_profiles[BUILT_IN_KUBENEXUS];
    for (uint32_t k = 0; k < ours->n; k++) {
        const struct known_plugin *known = find(str_of(ours->plugins[k].plugin->name));
        if (!is_kubes(known) && i-- == 0)
            return known;
    }
    return NULL;
}

bool known_plugin_is_ours(const struct known_plugin *known)
{
    uint32_t i = 0;
    while (known_ours_at(i) && known_ours_at(i) != known)
        i++;
    return known_ours_at(i);
}

int64_t known_plugin_weight(const struct known_plugin *known)
{
    uint32_t number = known_plugin_number(known);
    int64_t weight = number < n_plugins && !is_kubes(known) ? plugins[number]->weight : 0;
    return weight ? weight : 1;
}
