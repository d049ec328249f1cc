#include "core/model/our_keys.h"

#include "core/base/buf.h"
#include "core/model/gang.h"
#include "core/model/topology.h"
#include "support/test.h"

TEST(our_keys, are_those_under_our_domains)
{
    static const struct {
        const char *key;
        bool is;
    } cases[] = {
        {"kubenexus.io/gang", true},
        {"scheduling.kubenexus.io/requird", true},
        {"pod-group.scheduling.sigs.k8s.io/nam", true},
        {"pod-group.scheduling.x-k8s.io/min", true},
        {"notkubenexus.io/gang", false},
        {"kubenexus.io.example.com/gang", false},
        {"example.com/kubenexus.io", false},
        {"kubenexus.io", false},
        {"scheduling.x-k8s.io/pod-group", false},
        {"", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].key);
        EXPECT_INT(our_key_is(str_of(cases[i].key)), cases[i].is);
    }
}

TEST(our_keys, are_known_where_they_are_read)
{
    static const struct {
        const char *key;
        uint32_t on;
        bool is_known;
    } cases[] = {
        {"scheduling.kubenexus.io/required-topology", ON_POD, true},
        {"scheduling.kubenexus.io/required-topology", ON_NODE, false},
        {"scheduling.kubenexus.io/requird-topology", ON_POD, false},
        {"tenant.kubenexus.io/tier", ON_NAMESPACE, true},
        {"tenant.kubenexus.io/name", ON_POD, false},
        {"numa.kubenexus.io/node-0-cpus", ON_NODE, true},
        {"numa.kubenexus.io/node-17-distance-3", ON_NODE, true},
        {"numa.kubenexus.io/node-x-cpus", ON_NODE, false},
        {"numa.kubenexus.io/node--cpus", ON_NODE, false},
        {"numa.kubenexus.io/node-0-cpus2", ON_NODE, false},
        {"gpu.kubenexus.io/gpu3-numa", ON_NODE, true},
        {"gpu.kubenexus.io/numa-node-", ON_NODE, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].key);
        EXPECT_INT(our_key_is_unknown(str_of(cases[i].key), cases[i].on), !cases[i].is_known);
    }
}

/* What the tables of what is read have is known, and what only we spell so is ours. */
TEST(our_keys, of_every_table_are_known)
{
    for (uint32_t i = 0; i < n_our_keys; i++) {
        struct str key = our_keys[i].text;
        EXPECT(our_key_is(key));
        for (uint32_t on = ON_POD; on <= ON_OTHERS && str_find(key, '#') == key.n; on *= 2)
            EXPECT_INT(our_key_is_unknown(key, on), !(our_keys[i].on & on));
    }
    for (uint32_t i = 0; i < n_pod_keys; i++)
        EXPECT(!our_key_is_unknown(pod_keys[i].text, ON_POD));
    for (uint32_t i = 0; i < n_gang_keys; i++)
        EXPECT(!our_key_is_unknown(gang_keys[i].key, ON_POD));
    for (uint32_t i = 0; i < n_topology_keys; i++)
        EXPECT(!our_key_is_unknown(topology_keys[i].key, ON_NODE));
}

TEST(our_keys, the_nearest_is_what_was_meant)
{
    static const struct {
        const char *key;
        uint32_t on;
        const char *nearest;
    } cases[] = {
        {"scheduling.kubenexus.io/requird-topology", ON_POD,
         "scheduling.kubenexus.io/required-topology"},
        {"kubenexus.io/required-topology", ON_POD, "scheduling.kubenexus.io/required-topology"},
        {"pod-group.scheduling.kubenexus.io/minAvailable", ON_POD,
         "pod-group.scheduling.kubenexus.io/min-available"},
        {"pod-group.kubenexus.io/name", ON_POD, "pod-group.scheduling.kubenexus.io/name"},
        {"pod-group.scheduling.sigs.k8s.io/min-avaliable", ON_POD,
         "pod-group.scheduling.sigs.k8s.io/min-available"},
        {"scheduling.kubenexus.io/vram-requests", ON_POD, "scheduling.kubenexus.io/vram-request"},
        {"network.kubenexus.io/rack", ON_NODE, "network.kubenexus.io/rack-id"},
        {"network.kubenexus.io/rackid", ON_NODE, "network.kubenexus.io/rack-id"},
        {"numa.kubenexus.io/node-0-cpu", ON_NODE, "numa.kubenexus.io/node-#-cpus"},
        {"tenant.kubenexus.io/teir", ON_NAMESPACE, "tenant.kubenexus.io/tier"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_STR(our_key_nearest(str_of(cases[i].key), cases[i].on), cases[i].nearest);
}

TEST(our_keys, a_key_as_long_as_can_be_is_told)
{
    AUTO(buf) key = {0}, text = {0};
    buf_add(&key, STR("kubenexus.io/"));
    for (int i = 0; i < 5000; i++)
        buf_add_char(&key, 'x');
    misread_say(buf_str(&key), STR("v"), ON_POD, &text);
    EXPECT(text.n < 600);
    EXPECT(str_ends(buf_str(&text), our_key_nearest(buf_str(&key), ON_POD)));
}

TEST(our_keys, of_many_that_mean_nothing_a_few_are_told)
{
    struct arena mem = {0};
    struct misreads told = {0};
    pair_list pairs = {arena_array(&mem, struct pair, 1000), 1000};
    for (uint32_t i = 0; i < pairs.n; i++)
        pairs.at[i].key = arena_printf(&mem, "kubenexus.io/k%u", i);
    our_keys_check(&pairs, ON_POD, &told);
    EXPECT_INT(told.n, 8);
    vec_done(&told);
    arena_done(&mem);
}
