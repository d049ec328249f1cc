#include "core/cluster/gpus.h"

#include "core/base/mem.h"
#include "support/ground.h"
#include "support/test.h"

/* A node with these thousandths taken of its GPUs. */
static struct node_gpus gpus(uint32_t n, int32_t a, int32_t b, int32_t c, int32_t d)
{
    return (struct node_gpus){
        .n = n,
        .there = n ? UINT32_MAX >> (GPUS_MOST - n) : 0,
        .is_counted = 1,
        .model = SYM_NONE,
        .used = {a, b, c, d},
    };
}

TEST(gpus, a_share_goes_where_least_is_left_and_still_enough)
{
    static const struct {
        int32_t used[4];
        struct gpu_ask ask;
        gpu_mask picked;
    } cases[] = {
        {{0, 0, 0, 0}, {1, 500, 0, 0}, 1 << 0},
        {{0, 500, 0, 0}, {1, 500, 0, 0}, 1 << 1},
        {{0, 500, 600, 700}, {1, 300, 0, 0}, 1 << 3},
        {{0, 500, 600, 700}, {1, 301, 0, 0}, 1 << 2},
        {{0, 500, 500, 700}, {1, 400, 0, 0}, 1 << 1},
        {{0, 500, 600, 700}, {2, 300, 0, 0}, 1 << 3 | 1 << 2},
        {{900, 0, 100, 0}, {1, 1000, 0, 0}, 1 << 1},
        {{900, 0, 100, 0}, {2, 1000, 0, 0}, 1 << 1 | 1 << 3},
        {{900, 0, 100, 0}, {3, 1000, 0, 0}, 1 << 1 | 1 << 3 | 1 << 2}, /* too many */
        {{900, 800, 1000, 2000}, {1, 300, 0, 0}, 1 << 1},
        {{0, 0, 0, 0}, {9, 1000, 0, 0}, 15},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        const int32_t *u = cases[i].used;
        struct node_gpus g = gpus(4, u[0], u[1], u[2], u[3]);
        EXPECT_INT(gpus_pick(&g, cases[i].ask), cases[i].picked);
    }
}

TEST(gpus, of_a_node_that_is_not_there_yet_are_numbered_from_0)
{
    struct node_gpus g = gpus(0, 1000, 600, 0, 0);
    EXPECT_INT(gpus_pick(NULL, (struct gpu_ask){2, 1000, 0, 0}), 3);
    EXPECT_INT(gpus_pick(&g, (struct gpu_ask){1, 400, 0, 0}), 2);
    EXPECT_INT(gpus_pick(&g, (struct gpu_ask){1, 401, 0, 0}), 4);
    EXPECT_INT(gpus_pick(NULL, (struct gpu_ask){40, 1000, 0, 0}), UINT32_MAX);
    EXPECT_INT(gpus_fitting(&g, (struct gpu_ask){1, 100, 0, 0}), 0);
    EXPECT_INT(gpus_fitting(NULL, (struct gpu_ask){1, 100, 0, 0}), 0);
}

TEST(gpus, that_nobody_has_or_uses_take_no_memory)
{
    struct node_gpus *g = NULL;
    static const struct gpus_facts none = {.model = SYM_NONE},
                                   two = {.n = 2, .there = 3, .model = SYM_NONE};
    EXPECT(!gpus_put(&g, &none));
    EXPECT(!g);
    gpus_charge(&g, 5, 300, +1);
    REQUIRE(g);
    EXPECT(gpus_put(&g, &two));
    EXPECT(!gpus_put(&g, &two));
    EXPECT_INT(gpus_left(g, 0), 700);
    EXPECT_INT(gpus_fitting(g, (struct gpu_ask){1, 701, 0, 0}), 1);
    gpus_charge(&g, 1, 900, +1);
    EXPECT_INT(gpus_left(g, 0), 0); /* never less */
    gpus_charge(&g, 1, 900, -1);
    EXPECT(gpus_put(&g, &none));
    EXPECT(g);
    gpus_charge(&g, 5, 300, -1);
    EXPECT(!g);
}

TEST(gpus, are_read_from_what_a_node_says)
{
    static const struct {
        const char *node;
        uint32_t n;
        const char *model;
    } cases[] = {
        {"gpu=8", 8, ""},
        {"gpu=8 label:nvidia.com/gpu.product=T4", 8, "T4"},
        {"gpu=8 label:gpu.kubenexus.io/model=H100", 8, "H100"},
        {"amd.com/gpu=4", 4, ""},
        {"gpu=8 label:nvidia.com/gpu.replicas=1", 8, ""},
        {"gpu=80 label:nvidia.com/gpu.replicas=10", 0, ""},
        {"gpu=16 label:nvidia.com/gpu.replicas=4", 0, ""},
        {"gpu=4 label:nvidia.com/gpu.product=T4-SHARED", 0, ""},
        {"gpu=33", 0, ""},
        {"nvidia.com/mig-1g.10gb=7", 0, ""},
        {"cpu=8", 0, ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].node);
        AUTO(ground) g = {0};
        ground_add(&g, "node n %s", cases[i].node);
        const struct node_gpus *have = g.cluster->nodes.gpus[ground_node(&g, "n").i];
        EXPECT_INT(have ? have->n : 0, cases[i].n);
        EXPECT_STR(names_text(&g.cluster->names, have ? have->model : SYM_NONE), cases[i].model);
    }
}

TEST(gpus, are_asked_for_as_a_resource_or_as_a_share)
{
    static const struct {
        const char *pod;
        uint32_t count, milli;
        const char *error;
    } cases[] = {
        {"cpu=1", 0, 1000, ""},
        {"gpu=2", 2, 1000, ""},
        {"amd.com/gpu=2", 2, 1000, ""},
        {"note:gpu-fraction=0.5", 1, 500, ""},
        {"note:scheduling.kubenexus.io/gpu-fraction=0.25", 1, 250, ""},
        {"note:gpu-fraction=0.0001", 1, 1, ""},
        {"note:gpu-fraction=0.5 note:scheduling.kubenexus.io/gpu-fraction=0.2", 1, 200, ""},
        {"note:gpu-fraction=0.5 note:gpu-fraction-num-devices=2", 2, 500, ""},
        {"note:gpu-fraction=1", 0, 1000,
         "annotation gpu-fraction: \"1\" is not a number above 0 and below 1"},
        {"note:gpu-fraction=0", 0, 1000,
         "annotation gpu-fraction: \"0\" is not a number above 0 and below 1"},
        {"note:gpu-fraction=half", 0, 1000,
         "annotation gpu-fraction: \"half\" is not a number above 0 and below 1"},
        {"gpu=1 note:gpu-fraction=0.5", 1, 1000,
         "annotation gpu-fraction: \"0.5\" stands beside a request for whole GPUs"},
        {"note:gpu-fraction=0.5 note:gpu-fraction-num-devices=0", 0, 1000,
         "annotation gpu-fraction-num-devices: \"0\" is not a number of GPUs"},
        {"gpu=1 note:gpu-memory=2000", 1, 1000,
         "annotation gpu-memory: \"2000\" stands beside a request for whole GPUs"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].pod);
        AUTO(ground) g = {0};
        ground_add(&g, "pod p %s", cases[i].pod);
        const struct spec *spec = cluster_spec(g.cluster, ground_pod(&g, "p"));
        EXPECT_INT(spec->gpus.count, cases[i].count);
        EXPECT_INT(spec->gpus.milli, cases[i].milli);
        EXPECT_STR(names_text(&g.cluster->names, spec->gpu_error), cases[i].error);
    }
}

TEST(gpus, a_pod_gives_back_what_it_took)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod early note:gpu-fraction=0.6 on=n"); /* before its node */
    ground_add(&g, "node n gpu=2");
    ground_add(&g, "pod whole gpu=1 on=n");
    ground_add(&g, "pod share note:gpu-fraction=0.4 on=n");
    const struct node_gpus *have = g.cluster->nodes.gpus[ground_node(&g, "n").i];
    EXPECT_INT(have->used[0], 1000);
    EXPECT_INT(have->used[1], 1000);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "early"))->gpus, 1);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "whole"))->gpus, 2);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "share"))->gpus, 1);
    cluster_take(g.cluster, ground_pod(&g, "early"));
    EXPECT_INT(have->used[0], 400);
    cluster_place_on_gpus(g.cluster, ground_pod(&g, "early"), ground_node(&g, "n"), 2);
    EXPECT_INT(have->used[1], 1600);
}

TEST(gpus, of_one_node_are_one_island_unless_only_PCIe_joins_them)
{
    static const struct {
        const char *labels;
        gpu_mask islands[4];
    } cases[] = {
        {"", {15, 15, 15, 15}},
        {"label:gpu.kubenexus.io/topology=nvswitch", {15, 15, 15, 15}},
        {"label:gpu.kubenexus.io/topology=pcie", {15, 15, 15, 15}},
        {"label:gpu.kubenexus.io/numa-node-0=0 label:gpu.kubenexus.io/numa-node-1=1 "
         "label:gpu.kubenexus.io/numa-node-2=0 label:gpu.kubenexus.io/numa-node-3=1 "
         "label:gpu.kubenexus.io/topology=pcie",
         {5, 10, 5, 10}},
        {"label:gpu.kubenexus.io/numa-node-0=0 label:gpu.kubenexus.io/numa-node-1=1 "
         "label:gpu.kubenexus.io/numa-node-2=0 label:gpu.kubenexus.io/numa-node-3=1",
         {15, 15, 15, 15}},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].labels);
        AUTO(ground) g = {0};
        ground_add(&g, "node n gpu=4 %s", cases[i].labels);
        const struct node_gpus *have = g.cluster->nodes.gpus[ground_node(&g, "n").i];
        for (uint32_t k = 0; k < 4; k++)
            EXPECT_INT(have->island[k], cases[i].islands[k]);
    }
}

#define CARD "label:gpu.kubenexus.io/vram=80Gi "

TEST(gpus, a_share_by_memory_is_what_it_is_of_the_GPU)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2 " CARD);
    ground_add(&g, "pod half note:scheduling.kubenexus.io/gpu-memory=40Gi on=n");
    ground_add(&g, "pod rest note:gpu-fraction=0.5 on=n");
    ground_add(&g, "pod third nvidia.com/gpumem=27307 on=n"); /* a little over a third */
    ground_add(&g, "pod cores nvidia.com/gpumem=8192 nvidia.com/gpucores=50 on=n");
    const struct node_gpus *have = g.cluster->nodes.gpus[ground_node(&g, "n").i];
    EXPECT_INT(have->used[0], 1000);
    EXPECT_INT(have->used[1], 334 + 500);
    ground_add(&g, "node n gpu=2 label:gpu.kubenexus.io/vram=160Gi"); /* what is told changes … */
    EXPECT_INT(have->used[0], 250 + 500);
    EXPECT_INT(have->used[1], 167 + 500);
    cluster_take(g.cluster, ground_pod(&g, "third")); /* … and all is given back that it takes */
    cluster_take(g.cluster, ground_pod(&g, "half"));
    EXPECT_INT(have->used[0], 500);
    EXPECT_INT(have->used[1], 500);
}

TEST(gpus, whole_ones_and_shares_do_not_mix)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=3 " CARD);
    ground_add(&g, "pod share note:gpu-fraction=0.1 on=n");
    ground_add(&g, "pod whole gpu=2 on=n");
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "whole"))->gpus, 6);
    ground_add(&g, "pod more note:gpu-memory=1024 on=n");
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "more"))->gpus, 1);
    const struct node_gpus *have = g.cluster->nodes.gpus[ground_node(&g, "n").i];
    EXPECT_INT(gpus_fitting(have, (struct gpu_ask){1, GPU_WHOLE, 0, 0}), 0);
}
