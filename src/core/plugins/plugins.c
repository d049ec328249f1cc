#include "core/plugins/plugins.h"

enum plugin_number {
#define PLUGIN(name) NUMBER_##name,
#include "core/plugins/plugins.def"
#undef PLUGIN
    N_PLUGINS,
};
_Static_assert(N_PLUGINS <= 64, "plugins are bits of a 64-bit mask");

const struct plugin *const plugins[] = {
#define PLUGIN(name) &plugin_##name,
#include "core/plugins/plugins.def"
#undef PLUGIN
};

const uint32_t n_plugins = N_PLUGINS;

#define IN_PROFILE(name, weight)                                                                   \
    {                                                                                              \
        &plugin_##name, NUMBER_##name, weight, NULL, 0                                             \
    }

/* kube-scheduler's. */
#define KUBE_PLUGINS(order)                                                                        \
    IN_PROFILE(scheduling_gates, 0), IN_PROFILE(default_preemption, 0), IN_PROFILE(order, 0),      \
        IN_PROFILE(node_name, 0), IN_PROFILE(node_unschedulable, 0),                               \
        IN_PROFILE(taint_toleration, 3), IN_PROFILE(node_affinity, 2), IN_PROFILE(node_ports, 0),  \
        IN_PROFILE(node_resources_fit, 1), IN_PROFILE(volume_restrictions, 0),                     \
        IN_PROFILE(node_volume_limits, 0), IN_PROFILE(volume_binding, 1),                          \
        IN_PROFILE(volume_zone, 0), IN_PROFILE(pod_topology_spread, 2),                            \
        IN_PROFILE(inter_pod_affinity, 2), IN_PROFILE(dynamic_resources, 2),                       \
        IN_PROFILE(node_declared_features, 0), IN_PROFILE(node_resources_balanced_allocation, 1),  \
        IN_PROFILE(image_locality, 1)

static const struct profile_plugin kube_plugins[] = {KUBE_PLUGINS(priority_sort)};

/* Beside them our own, which have nothing to say about plain pods (docs/design has the weights'
 * reasons). */
static const struct profile_plugin nexus_plugins[] = {
    KUBE_PLUGINS(coscheduling),
    IN_PROFILE(gang_preemption, 0),
    IN_PROFILE(fair_queues, 0),
    IN_PROFILE(profile_classifier, 0),
    IN_PROFILE(workload_aware_scoring, 2),
    IN_PROFILE(topology_scoring, 10),
    IN_PROFILE(tenant_hardware_affinity_score, 9),
    IN_PROFILE(vram_scheduler, 6),
    IN_PROFILE(gpu_topology, 6),
    IN_PROFILE(network_fabric_score, 6),
    IN_PROFILE(numa_topology, 6),
    IN_PROFILE(resource_fragmentation_score, 20),
};

const struct profile built_in_profiles[] = {
    [BUILT_IN_KUBE] = {STR("default-scheduler"), kube_plugins, LEN(kube_plugins)},
    [BUILT_IN_KUBENEXUS] = {STR("kubenexus-scheduler"), nexus_plugins, LEN(nexus_plugins)},
};

const uint32_t n_built_in_profiles = LEN(built_in_profiles);
