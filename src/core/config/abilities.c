#include "core/config/abilities.h"

const struct ability abilities[] = {
    {STR("gangs"), STR("Coscheduling"), PROFILE_NO_GANGS},
    {STR("racks"), STR("NetworkFabricScore"), PROFILE_NO_SCORE},
    {STR("islands"), STR("ResourceFragmentationScore"), PROFILE_NO_SCORE},
    {STR("links"), STR("GPUTopology"), PROFILE_NO_SCORE},
    {STR("gpu-memory"), STR("VRAMScheduler"), PROFILE_NO_FILTER},
    {STR("numa"), STR("NUMATopology"), PROFILE_NO_FILTER},
    {STR("zones"), STR("TopologyScoring"), PROFILE_NO_SCORE},
    {STR("packing"), STR("WorkloadAwareScoring"), PROFILE_NO_SCORE},
    {STR("tenants"), STR("TenantHardwareAffinityScore"), PROFILE_NO_SCORE},
    {STR("eviction"), STR("GangPreemption"), PROFILE_NO_POST_FILTER},
    {STR("backfill"), STR("LinePolicy"), PROFILE_NO_GATE},
    {STR("queues"), STR("FairQueues"), PROFILE_NO_GATE},
};

const uint32_t n_abilities = LEN(abilities);

bool profile_can(const struct profile *profile, const struct ability *ability)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (str_equal(str_of(profile->plugins[i].plugin->name), ability->plugin))
            return !(profile->plugins[i].off & ability->off);
    return false;
}

void abilities_add(const struct profile *profile, bool can, struct buf *out)
{
    const char *between = "";
    for (uint32_t i = 0; i < n_abilities; i++) {
        if (profile_can(profile, &abilities[i]) != can)
            continue;
        buf_printf(out, "%s" STR_FMT, between, STR_ARG(abilities[i].name));
        between = ", ";
    }
}
