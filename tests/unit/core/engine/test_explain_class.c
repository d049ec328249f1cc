#include "core/engine/explain.h"
#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

static bool explain(struct stage *s, const char *pod, struct explanation *x)
{
    return engine_explain(s->engine, STR("default"), str_of(pod), x);
}

TEST(explain_class, shows_who_what_and_where_and_why)
{
    AUTO(stage) s = {0};
    stage_put(&s, "namespace default label:tenant.kubenexus.io/tier=gold "
                  "label:tenant.kubenexus.io/name=ml");
    stage_put(&s, "pod p scheduler=kubenexus-scheduler gpu=2 owner:PyTorchJob=j "
                  "note:scheduling.kubenexus.io/vram-request=70Gi "
                  "note:scheduling.kubenexus.io/numa-policy=single-numa-node "
                  "note:scheduling.kubenexus.io/min-fabric-tier=ib "
                  "note:scheduling.kubenexus.io/memory-intensive=some class=low-priority");
    AUTO(explanation) x = {0};
    REQUIRE(explain(&s, "p", &x) && x.class);
    EXPECT_STR(x.class->tier, "gold");
    EXPECT_STR(x.class->tier_because, "its namespace's label tenant.kubenexus.io/tier");
    EXPECT_STR(x.class->tenant, "ml");
    EXPECT_STR(x.class->workload, "training");
    EXPECT_STR(x.class->workload_because, "owner PyTorchJob");
    EXPECT(x.class->is_preemptible && !x.class->is_gang);
    EXPECT_STR(x.class->preemptible_because, "priority class low-priority");
    EXPECT_STR(x.class->where, "2 accelerators, 71680Mi of each GPU, NUMA policy single-numa-node, "
                               "fabric infiniband or better");
    REQUIRE(x.n_misread == 1);
    EXPECT_STR(x.misread[0], "scheduling.kubenexus.io/memory-intensive=some");
}

TEST(explain_class, a_profile_without_a_classifier_shows_none)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod p owner:Job=j");
    AUTO(explanation) x = {0};
    REQUIRE(explain(&s, "p", &x));
    EXPECT(!x.class);
}

TEST(explain_class, shows_what_nodes_are_made_of_and_who_says_so)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node a label:nvidia.com/gpu.memory=81920 label:nvidia.com/gpu.product=H100 "
                  "label:network.kubenexus.io/fabric-type=roce");
    stage_put(&s, "node b gpu=8");
    stage_put(&s, "pod p");
    AUTO(explanation) x = {0};
    REQUIRE(explain(&s, "p", &x) && x.n_nodes == 2);
    const struct explained_hardware *h = x.nodes[0].hardware;
    REQUIRE(h && !x.nodes[1].hardware);
    EXPECT_STR(h->tier, "premium");
    EXPECT_STR(h->fabric, "roce");
    EXPECT_STR(h->vram_source, "GFD");
    EXPECT_INT(h->vram_mebibytes, 81920);
    EXPECT_INT(h->n_zones, 0);
}

TEST(explain_class, shows_that_a_driver_told_the_memory_or_that_labels_took_over)
{
    AUTO(stage) s = {0};
    AUTO(arena) mem = {0};
    struct object slice = object_of_json(
        &mem, "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},"
              "'spec':{'driver':'gpu.nvidia.com','nodeName':'a','pool':{'name':'a',"
              "'resourceSliceCount':1},'devices':[{'name':'gpu-0','capacity':{'memory':"
              "{'value':'80Gi'}}}]}}");
    stage_put(&s, "node a gpu=1 label:nvidia.com/gpu.memory=40960");
    stage_put(&s, "pod p");
    for (int is_there = 0; is_there < 2; is_there++) {
        AUTO(explanation) x = {0};
        if (is_there)
            engine_apply(s.engine, 0, &(struct change){CHANGE_PUT, slice});
        REQUIRE(explain(&s, "p", &x) && x.nodes[0].hardware);
        EXPECT_STR(x.nodes[0].hardware->vram_source, is_there ? "DRA" : "GFD");
        EXPECT_INT(x.nodes[0].hardware->vram_mebibytes, is_there ? 81920 : 40960);
    }
}

TEST(explain_class, a_key_of_ours_that_nobody_reads_is_named_in_every_profile)
{
    static const char *const schedulers[] = {"kubenexus-scheduler", "default-scheduler"};
    for (size_t i = 0; i < LEN(schedulers); i++) {
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        test_case("%s", schedulers[i]);
        stage_put(&s,
                  "pod p cpu=1 scheduler=%s note:scheduling.kubenexus.io/requird-topology=rack "
                  "note:scheduling.kubenexus.io/memory-intensive=true",
                  schedulers[i]);
        REQUIRE(engine_explain(s.engine, STR("default"), STR("p"), &x));
        REQUIRE(x.n_misread == 1);
        EXPECT_STR(x.misread[0], "scheduling.kubenexus.io/requird-topology is not a key that we "
                                 "know; the nearest is scheduling.kubenexus.io/required-topology");
    }
}
