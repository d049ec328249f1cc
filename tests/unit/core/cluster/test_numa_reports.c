#include "core/cluster/numa_reports.h"

#include "core/base/hash.h"
#include "support/ground.h"
#include "support/test.h"

#define NRT(attributes, zones)                                                                     \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology',"                 \
    "'metadata':{'name':'n'},'attributes':[" attributes "],'zones':[" zones "]}"
#define ZONE(id, cpu, gpus)                                                                        \
    "{'name':'node-" id "','type':'Node','costs':[{'name':'node-0','value':10},{'name':'node-1',"  \
    "'value':21}],'resources':[{'name':'cpu','capacity':'16','allocatable':'16','available':'" cpu \
    "'},{'name':'memory','capacity':'16Gi','allocatable':'16Gi','available':'16Gi'},"              \
    "{'name':'nvidia.com/gpu','capacity':'2','allocatable':'2','available':'" gpus "'}]}"
#define PRINT(value)                                                                               \
    "{'name':'nodeTopologyPodsFingerprintMethod','value':'all'},"                                  \
    "{'name':'nodeTopologyPodsFingerprint','value':'" value "'}"

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    numa_reports_put(ground_cluster(g), o.meta->name, o.node_topology);
}

/* What is in use of a zone's CPU, as a pod sees it. */
static int64_t used(struct ground *g, uint32_t zone)
{
    static const struct numa_need need = {.gang = SYM_NONE};
    struct numa_use uses[MOST_ZONES];
    numa_used(g->cluster, ground_node(g, "n"), &need, uses);
    return uses[zone].cpu_milli;
}

TEST(numa_reports, a_fingerprint_is_that_of_podfingerprint)
{
    static const struct numa_report all = {0};
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8");
    EXPECT_INT((int64_t)numa_reports_fingerprint(g.cluster, ground_node(&g, "n"), &all),
               (int64_t)0xef46db3751d8e999);
    ground_add(&g, "pod w-0 namespace=ml on=n");
    ground_add(&g, "pod proxy namespace=kube-system on=n");
    ground_add(&g, "pod w-1 namespace=ml on=n");
    EXPECT_INT((int64_t)numa_reports_fingerprint(g.cluster, ground_node(&g, "n"), &all),
               (int64_t)0x449e4839aa16431c);
}

TEST(numa_reports, say_what_zones_a_node_has)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=32 gpu=4");
    put(&g, NRT("", ZONE("0", "16", "2") "," ZONE("1", "16", "2")));
    const struct hardware *h = nodes_hardware(&g.cluster->nodes, ground_node(&g, "n"));
    REQUIRE(h->n_zones == 2);
    EXPECT_INT(h->zones[1].cpu_milli, 16000);
    EXPECT_INT(h->zones[1].memory, 16LL << 30);
    EXPECT_INT(h->zones[1].gpus, 2);
    EXPECT_INT(h->zones[0].distance_sum, 21);
    EXPECT(h->knows_gpu_zones);
    numa_reports_put(g.cluster, STR("n"), NULL);
    EXPECT_INT(nodes_hardware(&g.cluster->nodes, ground_node(&g, "n"))->n_zones, 0);
}

TEST(numa_reports, may_come_before_their_node)
{
    AUTO(ground) g = {0};
    put(&g, NRT("", ZONE("0", "16", "2") "," ZONE("1", "16", "2")));
    ground_add(&g, "node n cpu=32");
    EXPECT_INT(nodes_hardware(&g.cluster->nodes, ground_node(&g, "n"))->n_zones, 2);
}

TEST(numa_reports, half_a_picture_is_none)
{
    static const char *cases[] = {
        NRT("", ZONE("1", "16", "2")),
        NRT("", ZONE("0", "16", "2") "," ZONE("8", "16", "2")),
        NRT("", "{'name':'node-0','type':'Node'}"),
        NRT("", "{'name':'socket-0','type':'Socket'}"),
        NRT("", ""),
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%zu", i);
        ground_add(&g, "node n cpu=32");
        put(&g, cases[i]);
        EXPECT_INT(nodes_hardware(&g.cluster->nodes, ground_node(&g, "n"))->n_zones, 0);
    }
}

#define STRICT "note:scheduling.kubenexus.io/numa-policy=single-numa-node "

TEST(numa_reports, that_speak_of_the_pods_that_are_there_are_the_truth)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=32 memory=32Gi");
    put(&g, NRT("", ZONE("0", "16", "2") "," ZONE("1", "16", "2")));
    ground_add(&g, "pod w-0 namespace=ml cpu=6 memory=1Gi " STRICT "on=n");
    ground_add(&g, "pod w-1 namespace=ml on=n");
    ground_add(&g, "pod proxy namespace=kube-system on=n");
    EXPECT_INT(used(&g, 0), 6000); /* where we think it is */
    put(&g, NRT(PRINT("pfp0v001449e4839aa16431c"), ZONE("0", "16", "2") "," ZONE("1", "10", "2")));
    EXPECT_INT(used(&g, 0), 0); /* the kubelet did otherwise */
    EXPECT_INT(used(&g, 1), 6000);
    ground_add(&g, "pod new cpu=2 memory=1Gi " STRICT "on=n"); /* it does not know of this one */
    EXPECT_INT(used(&g, 0), 8000);
    EXPECT_INT(used(&g, 1), 6000);
}

TEST(numa_reports, that_do_not_say_whom_they_speak_of_are_the_least)
{
    static const char *prints[] = {"", PRINT("pfp0v001ffffffffffffffff"), PRINT("what")};
    for (size_t i = 0; i < LEN(prints); i++) {
        AUTO(ground) g = {0};
        test_case("%s", prints[i]);
        ground_add(&g, "node n cpu=32 memory=32Gi");
        struct str json = arena_printf(
            &g.mem, NRT("%s", ZONE("0", "12", "2") "," ZONE("1", "2", "2")), prints[i]);
        put(&g, json.p);
        ground_add(&g, "pod a cpu=6 memory=1Gi " STRICT "on=n");
        EXPECT_INT(used(&g, 0), 6000);
        EXPECT_INT(used(&g, 1), 14000);
    }
}

/* w-0 has cores, w-1 a device that zones have; what the others have is nobody's alone. */
TEST(numa_reports, may_speak_of_pods_with_exclusive_resources_alone)
{
#define EXCLUSIVE(value)                                                                           \
    "{'name':'nodeTopologyPodsFingerprintMethod','value':'with-exclusive-resources'},"             \
    "{'name':'nodeTopologyPodsFingerprint','value':'" value "'}"
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=32 memory=32Gi gpu=4 example.com/fpga=4");
    put(&g,
        NRT(EXCLUSIVE("pfp0v001449e4839aa16431c"), ZONE("0", "16", "2") "," ZONE("1", "9", "2")));
    ground_add(&g, "pod w-0 namespace=ml guaranteed cpu=1 memory=1Gi on=n");
    ground_add(&g, "pod w-1 namespace=ml cpu=1 gpu=1 on=n");
    ground_add(&g, "pod proxy namespace=kube-system guaranteed cpu=1 memory=1Gi on=n");
    ground_add(&g, "pod burstable cpu=1 memory=1Gi on=n");
    ground_add(&g, "pod fpga cpu=1 example.com/fpga=1 on=n"); /* in no zone */
    ground_add(&g, "pod once cpu=1 init gpu=1 on=n");
    EXPECT_INT(used(&g, 0), 0); /* it is the truth */
    EXPECT_INT(used(&g, 1), 7000);
    ground_add(&g, "pod new guaranteed cpu=1 memory=1Gi on=n"); /* it does not know of this one */
    EXPECT(used(&g, 0) > 0);
}

TEST(numa_reports, may_have_their_fingerprint_in_an_annotation)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=32 memory=32Gi");
    ground_add(&g, "pod a cpu=6 memory=1Gi " STRICT "on=n");
    put(&g, "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology',"
            "'metadata':{'name':'n','annotations':{'topology.node.k8s.io/fingerprint':"
            "'pfp0v001ef46db3751d8e999'}},'zones':[" ZONE("0", "16", "2") "," ZONE("1", "16",
                                                                                   "2") "]}");
    EXPECT_INT(used(&g, 0), 6000); /* it speaks of nobody */
    ground_add(&g, "node m cpu=1");
    cluster_take(g.cluster, ground_pod(&g, "a"));
    EXPECT_INT(used(&g, 0), 0);
}

TEST(numa_reports, of_strict_kubelets_are_counted)
{
#define POLICY(name) "{'name':'topologyManagerPolicy','value':'" name "'}"
#define ZONES        ZONE("0", "16", "2") "," ZONE("1", "16", "2")
    AUTO(ground) g = {0};
    put(&g, NRT(POLICY("best-effort"), ZONES));
    uint64_t before = g.cluster->numa_reports.generation;
    EXPECT_INT(g.cluster->numa_reports.strict, 0);
    put(&g, NRT(POLICY("restricted"), ZONES));
    put(&g, NRT(POLICY("single-numa-node"), ZONES));
    EXPECT_INT(g.cluster->numa_reports.strict, 1);
    EXPECT_INT(g.cluster->numa_reports.generation, before + 1);
    put(&g, NRT(POLICY("single-numa-node"), ZONE("0", "16", "2"))); /* one zone is no choice */
    EXPECT_INT(g.cluster->numa_reports.strict, 0);
    put(&g, NRT(POLICY("single-numa-node"), ZONES));
    numa_reports_put(g.cluster, STR("n"), NULL);
    EXPECT_INT(g.cluster->numa_reports.strict, 0);
    EXPECT_INT(g.cluster->numa_reports.generation, before + 4);
}
