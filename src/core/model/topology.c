#include "core/model/topology.h"

/* clang-format off */

const struct topology_key topology_keys[] = {
    {STR("nvidia.com/gpu.clique"), TOPOLOGY_CLIQUE, false},
    {STR("accelerator.topograph.run/sub-domain"), TOPOLOGY_CLIQUE, false},
    {STR("accelerator.topograph.run/domain"), TOPOLOGY_CLIQUE, false},
    {STR("network.topology.nvidia.com/accelerator"), TOPOLOGY_CLIQUE, false},
    {STR("topology.k8s.aws/ultraserver-id"), TOPOLOGY_CLIQUE, false},

    {STR("network.kubenexus.io/fabric-id"), TOPOLOGY_FABRIC, false},
    {STR("fabric.kubenexus.io/domain"), TOPOLOGY_FABRIC, false},
    {STR("topology.kubernetes.io/switch"), TOPOLOGY_FABRIC, true},
    {STR("fabric.topograph.run/tier-0"), TOPOLOGY_FABRIC, false},
    {STR("network.topology.nvidia.com/leaf"), TOPOLOGY_FABRIC, false},
    {STR("network.topology.kubernetes.io/leaf"), TOPOLOGY_FABRIC, false},
    {STR("cloud.google.com/gce-topology-subblock"), TOPOLOGY_FABRIC, false},
    {STR("topology.k8s.aws/network-node-layer-4"), TOPOLOGY_FABRIC, false},
    {STR("topology.k8s.aws/network-node-layer-3"), TOPOLOGY_FABRIC, false},
    {STR("ib.coreweave.cloud/leafgroup"), TOPOLOGY_FABRIC, false},

    {STR("network.kubenexus.io/rack-id"), TOPOLOGY_RACK, true},
    {STR("fabric.kubenexus.io/rack"), TOPOLOGY_RACK, true},
    {STR("topology.kubernetes.io/rack"), TOPOLOGY_RACK, true},
    {STR("oci.oraclecloud.com/host.rack"), TOPOLOGY_RACK, false},
    {STR("node.coreweave.cloud/rack"), TOPOLOGY_RACK, true},
    {STR("cloud.provider.com/topology-rack"), TOPOLOGY_RACK, true},

    {STR("fabric.topograph.run/tier-1"), TOPOLOGY_BLOCK, false},
    {STR("network.topology.nvidia.com/spine"), TOPOLOGY_BLOCK, false},
    {STR("network.topology.kubernetes.io/spine"), TOPOLOGY_BLOCK, false},
    {STR("cloud.google.com/gce-topology-block"), TOPOLOGY_BLOCK, false},
    {STR("topology.k8s.aws/network-node-layer-2"), TOPOLOGY_BLOCK, false},
    {STR("ib.coreweave.cloud/superpod"), TOPOLOGY_BLOCK, false},
    {STR("cloud.provider.com/topology-block"), TOPOLOGY_BLOCK, true},
    {STR("fabric.topograph.run/tier-2"), TOPOLOGY_BLOCK, false},
    {STR("network.topology.nvidia.com/core"), TOPOLOGY_BLOCK, false},
    {STR("topology.k8s.aws/network-node-layer-1"), TOPOLOGY_BLOCK, false},
    {STR("ib.coreweave.cloud/fabric"), TOPOLOGY_BLOCK, false},

    {STR("network.kubenexus.io/az"), TOPOLOGY_ZONE, false},
    {STR("topology.kubernetes.io/zone"), TOPOLOGY_ZONE, false},
};

/* clang-format on */

const uint32_t n_topology_keys = LEN(topology_keys);

const struct topology_key *topology_find(struct str key)
{
    for (uint32_t i = 0; i < n_topology_keys; i++)
        if (str_equal(topology_keys[i].key, key))
            return &topology_keys[i];
    return NULL;
}
