#include "core/cluster/gpu_facts.h"

#include "support/ground.h"
#include "support/test.h"

/* A slice of node n with these devices. */
static void put(struct ground *g, const char *devices)
{
    struct str json = arena_printf(
        &g->mem,
        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{"
        "'driver':'gpu.nvidia.com','nodeName':'n','pool':{'name':'n','resourceSliceCount':1},"
        "'devices':[%s]}}",
        devices);
    struct object o = object_of_json(&g->mem, json.p);
    devices_put(ground_cluster(g), &o);
}

static void drop(struct ground *g)
{
    struct object o =
        object_of_json(&g->mem, "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
                                "'metadata':{'name':'s'}}");
    devices_remove(ground_cluster(g), &o);
}

/* Somebody has the device, or has it no more. */
static void claim(struct ground *g, const char *device)
{
    struct str json = arena_printf(
        &g->mem,
        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c',"
        "'namespace':'default'},'status':{'allocation':{'devices':{'results':[{'request':'r',"
        "'driver':'gpu.nvidia.com','pool':'n','device':'%s'}]}}}}",
        device);
    struct object o = object_of_json(&g->mem, json.p);
    devices_put(ground_cluster(g), &o);
}

#define GPU(name, gib, zone, root, domain)                                                         \
    "{'name':'" name "','attributes':{'numaNode':{'int':" zone "},'pcieRoot':{'string':'" root     \
    "'},'nvlinkDomain':{'string':'" domain "'}},'capacity':{'memory':{'value':'" gib "Gi'}}}"

static const struct hardware *hardware(struct ground *g)
{
    return nodes_hardware(&g->cluster->nodes, ground_node(g, "n"));
}

static const struct node_gpus *gpus(struct ground *g)
{
    return g->cluster->nodes.gpus[ground_node(g, "n").i];
}

TEST(gpu_facts, drivers_come_before_labels_and_labels_take_over)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2 label:nvidia.com/gpu.memory=40960");
    EXPECT_INT(hardware(&g)->vram_source, VRAM_GFD);
    put(&g, GPU("gpu-0", "80", "0", "a", "x") "," GPU("gpu-1", "96", "1", "b", "x"));
    EXPECT_INT(hardware(&g)->vram_source, VRAM_DRA);
    EXPECT_INT(hardware(&g)->vram_bytes, 80LL << 30); /* the smaller one's */
    EXPECT_INT(hardware(&g)->links, FABRIC_NVLINK);
    EXPECT_INT(gpus(&g)->vram_mib[1], 96 << 10);
    ground_add(&g, "node n gpu=2 label:nvidia.com/gpu.memory=16384"); /* what others say by then */
    EXPECT_INT(hardware(&g)->vram_source, VRAM_DRA);
    drop(&g);
    EXPECT_INT(hardware(&g)->vram_source, VRAM_GFD);
    EXPECT_INT(hardware(&g)->vram_bytes, 16LL << 30);
    EXPECT_INT(gpus(&g)->vram_mib[1], 16 << 10);
}

TEST(gpu_facts, slices_may_come_before_their_node)
{
    AUTO(ground) g = {0};
    put(&g, GPU("gpu-0", "80", "0", "a", "x"));
    ground_add(&g, "node n gpu=1");
    EXPECT_INT(hardware(&g)->vram_source, VRAM_DRA);
    EXPECT_INT(gpus(&g)->vram_mib[0], 80 << 10);
}

TEST(gpu_facts, each_gpu_is_known_by_what_its_driver_says)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=4");
    put(&g, GPU("gpu-0", "80", "0", "a", "x") "," GPU("gpu-1", "80", "1", "a", "y") "," GPU(
                "gpu-2", "80", "0", "b", "x") "," GPU("gpu-3", "80", "1", "b", "y"));
    const struct node_gpus *have = gpus(&g);
    EXPECT_INT(have->n, 4);
    EXPECT_INT(have->peers[0], 4);
    EXPECT_INT(have->peers[3], 2);
    EXPECT_INT(have->island[1], 10);
    EXPECT(have->root[0] == have->root[1] && have->root[0] != have->root[2]);
    EXPECT(have->zone[0] == have->zone[2] && have->zone[0] != have->zone[1]);
}

TEST(gpu_facts, one_side_of_a_link_is_enough)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=3");
    put(&g, "{'name':'a','attributes':{'nvlinkPeers':{'string':'b,c'}}},{'name':'b'},{'name':'c'}");
    EXPECT_INT(gpus(&g)->peers[0], 6);
    EXPECT_INT(gpus(&g)->peers[1], 1);
    EXPECT_INT(gpus(&g)->peers[2], 1);
    EXPECT_INT(gpus(&g)->island[1], 7);
}

TEST(gpu_facts, a_number_keeps_its_meaning_when_a_gpu_goes)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=3");
    put(&g, "{'name':'gpu-0'},{'name':'gpu-1'},{'name':'gpu-2'}");
    ground_add(&g, "pod p gpu=1 on=n");
    ground_add(&g, "pod q gpu=2 on=n");
    EXPECT_INT(gpus(&g)->there, 7);
    put(&g, "{'name':'gpu-0'},{'name':'gpu-2'}");
    EXPECT_INT(gpus(&g)->there, 5);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "q"))->gpus, 6);
    EXPECT_INT(gpus_idle(gpus(&g)), 0);
    cluster_take(g.cluster, ground_pod(&g, "q"));
    EXPECT_INT(gpus_idle(gpus(&g)), 4); /* 1 is gone */
}

TEST(gpu_facts, without_numbers_in_their_names_they_come_by_bus)
{
    static const char *devices = "{'name':'x','attributes':{'pciBusID':{'string':'0000:3b:00.0'}},"
                                 "'capacity':{'memory':{'value':'3Mi'}}},"
                                 "{'name':'y','attributes':{'pciBusID':{'string':'0000:1a:00.0'}},"
                                 "'capacity':{'memory':{'value':'1Mi'}}}";
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2");
    put(&g, devices);
    EXPECT_INT(gpus(&g)->vram_mib[0], 1);
    EXPECT_INT(gpus(&g)->vram_mib[1], 3);
}

TEST(gpu_facts, slices_of_gpus_count_where_there_are_no_whole_ones)
{
#define MIG "'attributes':{'type':{'string':'mig'}}"
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2");
    put(&g,
        "{'name':'a'},{'name':'b'," MIG "},{'name':'c','attributes':{'type':{'string':'vfio'}}}");
    EXPECT_INT(gpus(&g)->there, 1);
    put(&g, "{'name':'a'," MIG "},{'name':'b'," MIG "}");
    EXPECT_INT(gpus(&g)->there, 3);
}

TEST(gpu_facts, what_claims_have_is_taken)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2");
    put(&g, "{'name':'gpu-0'},{'name':'gpu-1'}");
    claim(&g, "gpu-1");
    EXPECT_INT(gpus_idle(gpus(&g)), 1);
    claim(&g, "gpu-0");
    EXPECT_INT(gpus_idle(gpus(&g)), 2);
    drop(&g);
    EXPECT_INT(gpus_idle(gpus(&g)), 3);
    put(&g, "{'name':'gpu-0'},{'name':'gpu-1'}");
    EXPECT_INT(gpus_idle(gpus(&g)), 2);
}

TEST(gpu_facts, whole_gpus_that_only_claims_give_are_not_counted_twice)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8"); /* no device plugin offers them */
    put(&g, "{'name':'gpu-0'},{'name':'gpu-1'}");
    ground_add(&g, "pod p gpu=1 on=n");
    ground_add(&g, "pod share note:gpu-fraction=0.5 on=n");
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "p"))->gpus, 0);
    EXPECT_INT(gpus(&g)->used[0], 500);
}

TEST(gpu_facts, nothing_of_it_outlives_a_transaction)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n gpu=2");
    put(&g, GPU("gpu-0", "80", "0", "a", "x") "," GPU("gpu-1", "96", "1", "b", "y"));
    const struct node_gpus *have = gpus(&g);
    struct node_gpus before = *have;
    hardware_id hardware_before = g.cluster->nodes.hardware[ground_node(&g, "n").i];
    struct txn t = txn_begin(g.cluster);
    cluster_put_node(g.cluster, ground_node(&g, "n"), &NODE_ROW_ABSENT);
    txn_undo(g.cluster, t);
    EXPECT(memcmp(&before, gpus(&g), sizeof(before)) == 0);
    EXPECT_INT(g.cluster->nodes.hardware[ground_node(&g, "n").i], hardware_before);
}

TEST(gpu_facts, shares_by_memory_cost_what_is_told_of_the_gpus_now_whoever_comes_first)
{
#define SHARE "note:scheduling.kubenexus.io/gpu-memory=20Gi on=n"
    AUTO(ground) g = {0};
    ground_add(&g, "pod p " SHARE); /* before its node */
    ground_add(&g, "node n gpu=1 label:nvidia.com/gpu.memory=81920");
    ground_add(&g, "pod q " SHARE);
    const struct node_gpus *books = g.cluster->nodes.gpus[ground_node(&g, "n").i];
    EXPECT_INT(books->used[0], 500);
    ground_add(&g, "node n gpu=1 label:nvidia.com/gpu.memory=40960"); /* other GPUs */
    EXPECT_INT(books->used[0], 1000);
    cluster_take(g.cluster, ground_pod(&g, "p"));
    EXPECT_INT(books->used[0], 500);
    cluster_take(g.cluster, ground_pod(&g, "q"));
    EXPECT_INT(books->used[0], 0);
}
