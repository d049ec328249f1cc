#include "core/cluster/numa.h"

#include "core/base/rng.h"
#include "core/cluster/cluster.h"
#include "support/ground.h"
#include "support/test.h"

#define STRICT "note:scheduling.kubenexus.io/numa-policy=single-numa-node "

/* A host of `zones` NUMA nodes of 16 cores and 64 GiB each. */
static void add_host(struct ground *g, const char *name, uint32_t zones, const char *more)
{
    AUTO(buf) line = {0};
    buf_printf(&line, "node %s cpu=%u memory=%uGi label:numa.kubenexus.io/node-count=%u %s", name,
               16 * zones, 64 * zones, zones, more);
    for (uint32_t i = 0; i < zones; i++)
        buf_printf(&line,
                   " label:numa.kubenexus.io/node-%u-cpus=%u-%u "
                   "label:numa.kubenexus.io/node-%u-memory=64Gi",
                   i, 16 * i, 16 * i + 15, i);
    buf_add_char(&line, '\0');
    ground_add(g, "%s", line.p);
}

static uint32_t zone_of(struct ground *g, const char *pod)
{
    return pods_at(&ground_cluster(g)->pods, ground_pod(g, pod))->zone;
}

TEST(numa, a_pod_that_cares_gets_the_lowest_zone_that_fits)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 2, "");
    ground_add(&g, "pod a cpu=12 memory=1Gi on=n " STRICT);
    ground_add(&g, "pod b cpu=12 memory=1Gi on=n " STRICT);
    ground_add(&g, "pod c cpu=4 memory=1Gi on=n " STRICT);
    ground_add(&g, "pod d cpu=5 memory=1Gi on=n " STRICT);
    ground_add(&g, "pod plain cpu=1 on=n");
    EXPECT_INT(zone_of(&g, "a"), 1);
    EXPECT_INT(zone_of(&g, "b"), 2);
    EXPECT_INT(zone_of(&g, "c"), 1);
    EXPECT_INT(zone_of(&g, "d"), 0); /* it fits into neither */
    EXPECT_INT(zone_of(&g, "plain"), 0);
}

TEST(numa, wishes_and_gangs_come_before_the_number)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 4, "");
    ground_add(&g, "pod want cpu=1 on=n " STRICT
                   "note:scheduling.kubenexus.io/numa-affinity-node-id=2,9");
    ground_add(&g, "pod shun cpu=1 on=n " STRICT
                   "note:scheduling.kubenexus.io/numa-anti-affinity-node-id=0");
    EXPECT_INT(zone_of(&g, "want"), 3);
    EXPECT_INT(zone_of(&g, "shun"), 2);
#define GANG                                                                                       \
    "cpu=1 on=n " STRICT "label:pod-group.scheduling.kubenexus.io/name=g "                         \
    "label:pod-group.scheduling.kubenexus.io/min-available=8 "
    ground_add(&g, "pod g0 " GANG "note:scheduling.kubenexus.io/numa-affinity-node-id=3");
    ground_add(&g, "pod g1 " GANG);
    EXPECT_INT(zone_of(&g, "g1"), 4); /* packed: where the other is */
    ground_add(&g, "pod g2 " GANG "note:scheduling.kubenexus.io/gang-numa-spread=balanced");
    EXPECT_INT(zone_of(&g, "g2"), 1);
    ground_add(&g, "pod g3 " GANG "note:scheduling.kubenexus.io/gang-numa-spread=balanced");
    EXPECT_INT(zone_of(&g, "g3"), 2);
}

TEST(numa, pods_that_float_count_on_all_zones)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 2, "");
    ground_add(&g, "pod float cpu=8 memory=16Gi on=n");
    ground_add(&g, "pod seated cpu=1500m memory=1Gi on=n " STRICT);
    struct numa_use used[MOST_ZONES];
    struct numa_need nobody = {.gang = SYM_NONE};
    numa_used(ground_cluster(&g), ground_node(&g, "n"), &nobody, used);
    EXPECT_INT(used[0].cpu_milli, 4000 + 2000); /* whole cores */
    EXPECT_INT(used[0].memory, (8LL + 1) << 30);
    EXPECT_INT(used[0].pods, 1);
    EXPECT_INT(used[1].cpu_milli, 4000);
    EXPECT_INT(used[1].pods, 0);
}

TEST(numa, a_zone_that_somebody_has_for_himself_is_closed)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 2, "");
    ground_add(&g, "pod alone cpu=1 on=n note:numa.scheduling.kubenexus.io/policy=isolated");
    ground_add(&g, "pod next cpu=1 on=n " STRICT);
    ground_add(&g, "pod late cpu=1 on=n note:numa.scheduling.kubenexus.io/policy=isolated");
    EXPECT_INT(zone_of(&g, "alone"), 1);
    EXPECT_INT(zone_of(&g, "next"), 2);
    EXPECT_INT(zone_of(&g, "late"), 0);
}

TEST(numa, the_width_is_the_least_number_of_zones)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 4, "");
    const struct hardware *h = nodes_hardware(&ground_cluster(&g)->nodes, ground_node(&g, "n"));
    struct numa_use used[MOST_ZONES] = {{.cpu_milli = 10000}, {0}, {.cpu_milli = 10000}, {0}};
    struct numa_need need = {.resources = NUMA_ALL, .cpu_milli = 16000, .gang = SYM_NONE};
    EXPECT_INT(numa_width(h, used, &need), 1);
    need.cpu_milli = 20000;
    EXPECT_INT(numa_width(h, used, &need), 2);
    need.cpu_milli = 33000;
    EXPECT_INT(numa_width(h, NULL, &need), 3);
    EXPECT_INT(numa_width(h, used, &need), 3);
    need.cpu_milli = 45000;
    EXPECT_INT(numa_width(h, NULL, &need), 3);
    EXPECT_INT(numa_width(h, used, &need), 0);
}

TEST(numa, a_zone_is_kept_through_what_is_taken_back)
{
    AUTO(ground) g = {0};
    add_host(&g, "n", 2, "");
    ground_add(&g, "pod a cpu=12 on=n " STRICT);
    ground_add(&g, "pod b cpu=12 on=n " STRICT);
    ground_add(&g, "pod c cpu=12 " STRICT);
    struct cluster *c = ground_cluster(&g);
    struct txn t = txn_begin(c);
    cluster_take(c, ground_pod(&g, "a"));
    EXPECT_INT(zone_of(&g, "a"), 0);
    cluster_place(c, ground_pod(&g, "c"), ground_node(&g, "n"));
    EXPECT_INT(zone_of(&g, "c"), 1);
    EXPECT_INT(zone_of(&g, "b"), 2); /* nobody moves because another leaves */
    txn_undo(c, t);
    EXPECT_INT(zone_of(&g, "a"), 1);
    EXPECT_INT(zone_of(&g, "b"), 2);
    EXPECT_INT(zone_of(&g, "c"), 0);
}

TEST(numa, pods_that_came_before_the_labels_get_their_zones_with_them)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=32 memory=128Gi");
    ground_add(&g, "pod a cpu=12 on=n " STRICT);
    ground_add(&g, "pod b cpu=12 on=n " STRICT);
    EXPECT_INT(zone_of(&g, "a"), 0);
    add_host(&g, "n", 2, "");
    EXPECT_INT(zone_of(&g, "a"), 1); /* in the order in which they came */
    EXPECT_INT(zone_of(&g, "b"), 2);
}

TEST(numa, who_cares)
{
    static const struct {
        const char *pod;
        enum numa_policy policy;
        bool is_intensive;
    } cases[] = {
        {"cpu=1", NUMA_NONE, false},
        {"cpu=12 memory=96Gi", NUMA_NONE, true},
        {"cpu=12 memory=96Gi owner:Job=j", NUMA_BEST_EFFORT, true},
        {"cpu=4 memory=16Gi owner:Job=j", NUMA_NONE, false}, /* not more than 16 Gi */
        {"cpu=4 memory=17Gi owner:Job=j", NUMA_BEST_EFFORT, true},
        {"cpu=5 memory=20Gi owner:Job=j", NUMA_NONE, false},        /* not more than 4 Gi a core */
        {"cpu=10 memory=49Gi owner:Job=j", NUMA_BEST_EFFORT, true}, /* 4.9 */
        {"gpu=1 owner:Job=j", NUMA_BEST_EFFORT, false},
        {"gpu=1", NUMA_NONE, false},
        {"cpu=1 " STRICT, NUMA_SINGLE, false},
        {"cpu=1 memory=17Gi note:scheduling.kubenexus.io/memory-intensive=false", NUMA_NONE, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].pod);
        ground_add(&g, "pod p %s", cases[i].pod);
        struct cluster *c = ground_cluster(&g);
        struct numa_need need = numa_need_of(cluster_spec(c, ground_pod(&g, "p")), 0);
        EXPECT_INT(need.policy, cases[i].policy);
        EXPECT_INT(need.is_intensive, cases[i].is_intensive);
    }
}

/* Strict pods, one after the other, on a host of a few small zones: each gets the lowest zone that
 * has room for it beside those who have it, and none only if no zone has. */
TEST(numa, a_strict_pod_gets_the_first_zone_with_room_if_there_is_one)
{
    struct rng rng = {test_seed()};
    for (uint32_t round = 0; round < 60; round++) {
        AUTO(ground) g = {0};
        AUTO(buf) line = {0};
        int64_t cpu[4], memory[4];
        uint32_t n = 2 + (uint32_t)rng_below(&rng, 3);
        buf_printf(&line, "node n cpu=64 memory=64Gi label:numa.kubenexus.io/node-count=%u", n);
        for (uint32_t i = 0; i < n; i++) {
            cpu[i] = 1 + (int64_t)rng_below(&rng, 8);
            memory[i] = 1 + (int64_t)rng_below(&rng, 8);
            buf_printf(&line,
                       " label:numa.kubenexus.io/node-%u-cpus=0-%ld"
                       " label:numa.kubenexus.io/node-%u-memory=%ldGi",
                       i, cpu[i] - 1, i, memory[i]);
        }
        ground_add(&g, STR_FMT, STR_ARG(buf_str(&line)));
        for (uint32_t p = 0; p < 12; p++) {
            int64_t asks = 1 + (int64_t)rng_below(&rng, 5), gib = (int64_t)rng_below(&rng, 4);
            uint32_t zone = 0;
            while (zone < n && (cpu[zone] < asks || memory[zone] < gib))
                zone++;
            if (zone == n) /* it floats, and takes a little of each: the sums would be others' */
                break;
            cpu[zone] -= asks;
            memory[zone] -= gib;
            ground_add(&g,
                       "pod p%u cpu=%ld memory=%ldGi "
                       "note:scheduling.kubenexus.io/numa-policy=single-numa-node on=n",
                       p, asks, gib);
            AUTO(buf) name = {0};
            buf_printf(&name, "p%u%c", p, 0);
            test_case("round %u, pod %u", round, p);
            EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, name.p))->zone, zone + 1);
        }
    }
}
