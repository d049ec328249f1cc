#include "core/model/topology.h"

#include "support/test.h"

TEST(topology, labels_stand_from_the_tightest_to_the_widest_and_once)
{
    for (uint32_t i = 0; i < n_topology_keys; i++) {
        test_case(STR_FMT, STR_ARG(topology_keys[i].key));
        EXPECT(i == 0 || topology_keys[i - 1].kind <= topology_keys[i].kind);
        EXPECT(topology_find(topology_keys[i].key) == &topology_keys[i]);
    }
    EXPECT_INT(topology_keys[0].kind, TOPOLOGY_CLIQUE);
    EXPECT_INT(topology_keys[n_topology_keys - 1].kind, TOPOLOGY_ZONE);
}

TEST(topology, what_is_known_of_a_label)
{
    static const struct {
        const char *key;
        enum topology_kind kind; /* TOPOLOGY_OTHER: it is not known */
        bool is_local;
    } cases[] = {
        {"nvidia.com/gpu.clique", TOPOLOGY_CLIQUE, false},
        {"topology.kubernetes.io/switch", TOPOLOGY_FABRIC, true},
        {"network.kubenexus.io/rack-id", TOPOLOGY_RACK, true},
        {"topology.kubernetes.io/zone", TOPOLOGY_ZONE, false},
        {"kubernetes.io/hostname", TOPOLOGY_OTHER, false},
        {"", TOPOLOGY_OTHER, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        const struct topology_key *known = topology_find(str_of(cases[i].key));
        test_case("%s", cases[i].key);
        EXPECT_INT(known ? known->kind : TOPOLOGY_OTHER, cases[i].kind);
        EXPECT_INT(known && known->is_local, cases[i].is_local);
    }
}
