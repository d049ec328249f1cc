#include "core/cluster/kubelet.h"

#include "core/base/rng.h"
#include "core/cluster/numa_reports.h"
#include "support/ground.h"
#include "support/test.h"

/* Two NUMA nodes of 8 cores, 16 GiB and 2 GPUs, as a NodeResourceTopology tells them. */
#define RESOURCE(name, has) "{'name':'" name "','allocatable':'" has "','available':'" has "'}"
#define ZONE(id)                                                                                   \
    "{'name':'node-" id "','type':'Node','resources':[" RESOURCE("cpu", "8") "," RESOURCE(         \
        "memory", "16Gi") "," RESOURCE("nvidia.com/gpu", "2") "]}"
#define NRT(more)                                                                                  \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology',"                 \
    "'metadata':{'name':'n'}," more ",'zones':[" ZONE("0") "," ZONE("1") "]}"
#define ATTRIBUTES(policy, scope)                                                                  \
    "'attributes':[{'name':'topologyManagerPolicy','value':'" policy                               \
    "'},{'name':'topologyManagerScope','value':'" scope "'}]"

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    numa_reports_put(ground_cluster(g), o.meta->name, o.node_topology);
}

static const struct hardware *hardware(struct ground *g)
{
    return nodes_hardware(&g->cluster->nodes, ground_node(g, "n"));
}

TEST(kubelet, its_policy_and_scope_are_attributes_or_an_older_list)
{
    /* clang-format off */
    static const struct {
        const char *json;
        enum numa_policy policy;
        bool sees_pods;
    } cases[] = {
        {NRT(ATTRIBUTES("single-numa-node", "pod")),                     NUMA_SINGLE,      true },
        {NRT(ATTRIBUTES("restricted", "container")),                     NUMA_RESTRICTED,  false},
        {NRT(ATTRIBUTES("best-effort", "")),                             NUMA_BEST_EFFORT, false},
        {NRT(ATTRIBUTES("none", "pod")),                                 NUMA_NONE,        true },
        {NRT(ATTRIBUTES("isolated", "host")),                            NUMA_UNSAID,      false},
        {NRT("'topologyPolicies':['SingleNUMANodePodLevel']"),           NUMA_SINGLE,      true },
        {NRT("'topologyPolicies':['SingleNUMANodeContainerLevel','x']"), NUMA_SINGLE,      false},
        {NRT("'topologyPolicies':['RestrictedPodLevel']"),               NUMA_RESTRICTED,  true },
        {NRT("'topologyPolicies':['Restricted']"),                       NUMA_UNSAID,      false},
        {NRT("'topologyPolicies':['BestEffortContainerLevel']"),         NUMA_BEST_EFFORT, false},
        {NRT("'topologyPolicies':['None']"),                             NUMA_NONE,        false},
        {NRT("'topologyPolicies':['SingleNUMANodePodLevel']," ATTRIBUTES("restricted", "container")),
         NUMA_RESTRICTED,                                                                  false},
        {NRT("'topologyPolicies':['SingleNUMANodePodLevel']," ATTRIBUTES("", "")),
         NUMA_SINGLE,                                                                      true },
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].json);
        ground_add(&g, "node n cpu=16 memory=32Gi");
        put(&g, cases[i].json);
        EXPECT_INT(hardware(&g)->kubelet_policy, cases[i].policy);
        EXPECT_INT(hardware(&g)->kubelet_sees_pods, cases[i].sees_pods);
    }
}

static enum kubelet_verdict judge(struct ground *g, const char *pod)
{
    static const struct numa_need need = {.gang = SYM_NONE};
    struct numa_use used[MOST_ZONES];
    ground_add(g, "pod p %s", pod);
    numa_used(g->cluster, ground_node(g, "n"), &need, used);
    return kubelet_judge(hardware(g), cluster_spec(g->cluster, ground_pod(g, "p")), used);
}

TEST(kubelet, turns_away_what_it_cannot_align)
{
#define SINGLE_POD  NRT(ATTRIBUTES("single-numa-node", "pod"))
#define SINGLE_EACH NRT(ATTRIBUTES("single-numa-node", "container"))
#define RESTRICTED  NRT(ATTRIBUTES("restricted", "pod"))
#define HALF        "guaranteed cpu=5 memory=1Gi"
    /* clang-format off */
    static const struct {
        const char *host, *there, *pod;
        enum kubelet_verdict verdict;
    } cases[] = {
        {SINGLE_POD,                            "",                           "guaranteed cpu=8 memory=1Gi",                KUBELET_ADMITS      },
        {SINGLE_POD,                            "",                           "guaranteed cpu=9 memory=1Gi",                KUBELET_IS_TOO_SMALL},
        {SINGLE_POD,                            "",                           "guaranteed cpu=1 memory=17Gi",               KUBELET_IS_TOO_SMALL},
        {SINGLE_POD,                            "",                           "cpu=9 memory=17Gi",                          KUBELET_ADMITS      }, /* is
                                                                                                                                                    * not
                                                                                                                                                    * pinned */
        {SINGLE_POD,                            "",                           "guaranteed cpu=8500m memory=1Gi",            KUBELET_ADMITS      }, /* no
                                                                                                                                                    * whole
                                                                                                                                                    * cores */
        {SINGLE_POD,                            "",                           "gpu=3",                                      KUBELET_IS_TOO_SMALL}, /* but
                                                                                                                                                    * devices
                                                                                                                                                    * are */
        {SINGLE_POD,                            "",                           "gpu=2",                                      KUBELET_ADMITS      },
        {SINGLE_POD,                            "guaranteed cpu=4 memory=1Gi", HALF,                                        KUBELET_ADMITS      }, /* on
                                                                                                                                                    * the
                                                                                                                                                    * other */
        {SINGLE_POD,                            "guaranteed cpu=5 memory=1Gi and cpu=3 memory=1Gi",
         "guaranteed cpu=8 memory=1Gi",                                                                                     KUBELET_ADMITS      },
        {SINGLE_POD,                            "",                           HALF " and cpu=5 memory=1Gi",                 KUBELET_IS_TOO_SMALL},
        {SINGLE_EACH,                           "",                           HALF " and cpu=5 memory=1Gi",                 KUBELET_ADMITS      }, /* one
                                                                                                                                                    * each */
        {SINGLE_EACH,                           HALF,                         HALF " and cpu=5 memory=1Gi",                 KUBELET_IS_FULL     },
        {SINGLE_EACH,                           "",                           HALF " init cpu=8 memory=1Gi",                KUBELET_ADMITS      }, /* which
                                                                                                                                                    * is
                                                                                                                                                    * over
                                                                                                                                                    * then */
        {SINGLE_EACH,                           "",                           HALF " init cpu=9 memory=1Gi",                KUBELET_IS_TOO_SMALL},
        {SINGLE_EACH,                           "",                           HALF " and cpu=5 memory=1Gi sidecar cpu=5 memory=1Gi", KUBELET_IS_TOO_SMALL},
        {RESTRICTED,                            "",                           "guaranteed cpu=9 memory=1Gi",                KUBELET_ADMITS      }, /* never
                                                                                                                                                    * fits
                                                                                                                                                    * one */
        {RESTRICTED,                            "guaranteed cpu=1 memory=1Gi", "guaranteed cpu=15 memory=1Gi",              KUBELET_ADMITS      },
        {RESTRICTED,                            "guaranteed cpu=2 memory=1Gi", "guaranteed cpu=15 memory=1Gi",              KUBELET_IS_FULL     },
        {RESTRICTED,                            "",                           "guaranteed cpu=17 memory=1Gi",               KUBELET_IS_TOO_SMALL},
        {NRT(ATTRIBUTES("best-effort", "pod")), "",                           "guaranteed cpu=17 memory=1Gi",               KUBELET_ADMITS      },
        {NRT("'attributes':[]"),                "",                           "guaranteed cpu=17 memory=1Gi",               KUBELET_ADMITS      },
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%zu: %s beside %s", i, cases[i].pod, cases[i].there);
        ground_add(&g, "node n cpu=16 memory=32Gi gpu=4");
        put(&g, cases[i].host);
        if (*cases[i].there)
            ground_add(&g, "pod there %s on=n", cases[i].there);
        EXPECT_INT(judge(&g, cases[i].pod), cases[i].verdict);
    }
}

TEST(kubelet, pods_are_where_it_will_pin_them)
{
    /* clang-format off */
    static const struct {
        const char *host, *pod;
        uint32_t zone;
    } cases[] = {
        {SINGLE_POD,  "guaranteed cpu=8 memory=1Gi",                   1},
        {SINGLE_POD,  "cpu=8 memory=1Gi",                              0}, /* it floats */
        {SINGLE_EACH, "guaranteed cpu=4 memory=1Gi and cpu=4 memory=1Gi", 1},
        {SINGLE_EACH, "guaranteed cpu=5 memory=1Gi and cpu=5 memory=1Gi", 0}, /* one on each */
        {RESTRICTED,  "guaranteed cpu=9 memory=1Gi",                   1}, /* memory decides */
        {NRT(ATTRIBUTES("best-effort", "pod")), "gpu=2",               1},
        {NRT(ATTRIBUTES("none", "pod")), "gpu=2",                      0},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].pod);
        ground_add(&g, "node n cpu=16 memory=32Gi gpu=4");
        put(&g, cases[i].host);
        ground_add(&g, "pod p %s on=n", cases[i].pod);
        EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "p"))->zone, cases[i].zone);
    }
}

/* --- beside the kubelet's own way: all combinations of one hint of each resource --- */

struct hint {
    uint32_t set; /* 0: any will do */
    bool is_preferred;
};

struct hints {
    struct hint at[256];
    uint32_t n;
};

static int64_t sum(const struct hardware *h, const struct numa_use *used, uint32_t set,
                   uint8_t kind)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < h->n_zones; i++)
        if (set >> i & 1)
            all += kind == NUMA_CPU   ? h->zones[i].cpu_milli - (used ? used[i].cpu_milli : 0)
                   : kind == NUMA_GPU ? h->zones[i].gpus - (used ? used[i].gpus : 0)
                                      : h->zones[i].memory - (used ? used[i].memory : 0);
    return all;
}

/* As its managers make them: every set that can hold it now; preferred, if none that could hold it
 * on an empty host is smaller. */
static void make_hints(const struct hardware *h, const struct numa_use *used, int64_t amount,
                       uint8_t kind, struct hints *out)
{
    int least = MOST_ZONES + 1;
    out->n = 0;
    if (amount == 0)
        out->at[out->n++] = (struct hint){0, true};
    for (uint32_t set = 1; amount && set < 1u << h->n_zones; set++) {
        if (sum(h, NULL, set, kind) >= amount)
            least = MIN(least, __builtin_popcount(set));
        if (sum(h, used, set, kind) >= amount)
            out->at[out->n++] = (struct hint){set, false};
    }
    for (uint32_t i = 0; amount && i < out->n; i++)
        out->at[i].is_preferred = __builtin_popcount(out->at[i].set) == least;
}

static uint32_t align_by_force(const struct hardware *h, const struct numa_use *used,
                               const struct pinned_ask *ask)
{
    static struct hints cpu, memory, gpus;
    uint32_t all = (1u << h->n_zones) - 1, best = 0;
    make_hints(h, used, ask->cpu_milli, NUMA_CPU, &cpu);
    make_hints(h, used, ask->memory, NUMA_MEMORY, &memory);
    make_hints(h, used, ask->gpus, NUMA_GPU, &gpus);
    for (uint32_t a = 0; a < cpu.n; a++)
        for (uint32_t b = 0; b < memory.n; b++)
            for (uint32_t c = 0; c < gpus.n; c++) {
                const struct hint *hints[] = {&cpu.at[a], &memory.at[b], &gpus.at[c]};
                uint32_t set = all;
                bool is_good = true;
                for (int i = 0; i < 3; i++) {
                    int width = __builtin_popcount(hints[i]->set);
                    set &= hints[i]->set ? hints[i]->set : all;
                    is_good &=
                        hints[i]->is_preferred && (h->kubelet_policy != NUMA_SINGLE || width <= 1);
                }
                int narrower = __builtin_popcount(best) - __builtin_popcount(set);
                if (is_good && set && (!best || narrower > 0 || (narrower == 0 && set < best)))
                    best = set;
            }
    return best;
}

TEST(kubelet, aligns_as_trying_all_hints_does)
{
    struct rng rng = {test_seed()};
    for (uint32_t round = 0; round < 400; round++) {
        struct hardware_room room = {0};
        struct hardware *h = (struct hardware *)room.bytes;
        struct numa_use used[MOST_ZONES] = {0};
        h->n_zones = 2 + (uint32_t)rng_below(&rng, 3);
        h->knows_gpu_zones = true;
        h->kubelet_policy = rng_below(&rng, 2) ? NUMA_SINGLE : NUMA_RESTRICTED;
        for (uint32_t i = 0; i < h->n_zones; i++) {
            h->zones[i].cpu_milli = (int64_t)rng_below(&rng, 9) * 1000;
            h->zones[i].memory = (int64_t)rng_below(&rng, 9);
            h->zones[i].gpus = (uint32_t)rng_below(&rng, 5);
            used[i].cpu_milli = (int64_t)rng_below(&rng, 5) * 1000;
            used[i].memory = (int64_t)rng_below(&rng, 5);
            used[i].gpus = (int64_t)rng_below(&rng, 3);
        }
        struct pinned_ask ask = {.cpu_milli = (int64_t)rng_below(&rng, 12) * 1000,
                                 .memory = (int64_t)rng_below(&rng, 12),
                                 .gpus = (int64_t)rng_below(&rng, 5)};
        ask.resources = (ask.cpu_milli ? NUMA_CPU : 0) | (ask.memory ? NUMA_MEMORY : 0) |
                        (ask.gpus ? NUMA_GPU : 0);
        test_case("round %u", round);
        EXPECT_INT(kubelet_align(h, used, &ask), align_by_force(h, used, &ask));
    }
}
