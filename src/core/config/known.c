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
    RESTRICTS = 1 << N_POINTS,
};

#define IN  true
#define OUT false

const struct known_plugin known_plugins[] = {
#define PLUGIN(number, symbol, name, at, kube, kube_weight, ours, our_weight, weight, args,        \
               summary)                                                                            \
    {STR(name),                                                                                    \
     PLUGIN_HERE,                                                                                  \
     (at) & ~RESTRICTS,                                                                            \
     ((at)&RESTRICTS) != 0,                                                                        \
     {kube, kube_weight},                                                                          \
     {ours, our_weight},                                                                           \
     weight,                                                                                       \
     args,                                                                                         \
     summary},
#define ENGINE(name, at, kube, summary)                                                            \
    {STR(name), PLUGIN_ENGINE, at, false, {kube, 0}, {kube, 0}, 0, "", summary},
#define MISSING(name, at, summary)                                                                 \
    {STR(name), PLUGIN_MISSING, at, false, {OUT, 0}, {OUT, 0}, 0, "", summary},
#include "core/plugins/plugins.def"
#undef PLUGIN
#undef ENGINE
#undef MISSING
};

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

/* --- ours --- */

static bool is_ours(const struct known_plugin *known)
{
    return known->kubenexus.is_in && !known->kube.is_in;
}

const struct known_plugin *known_ours_at(uint32_t i)
{
    for (uint32_t k = 0; k < n_known_plugins; k++)
        if (is_ours(&known_plugins[k]) && i-- == 0)
            return &known_plugins[k];
    return NULL;
}

bool known_plugin_is_ours(const struct known_plugin *known)
{
    return known && is_ours(known);
}

int64_t known_plugin_weight(const struct known_plugin *known)
{
    return known->weight ? known->weight : 1;
}
