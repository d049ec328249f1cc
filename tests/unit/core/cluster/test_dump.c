#include "support/ground.h"
#include "support/test.h"

TEST(dump, says_everything_of_a_small_cluster)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 cpu=2 memory=1Ki gpu=1 label:z=a image:x=5 host=h");
    ground_add(&g, "pod a cpu=1 memory=0 port:80 note:gpu-fraction=0.3 on=n1");
    ground_add(&g, "pod b nominated=n1");
    ground_add(&g, "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'}}");
    struct volume_facts facts;
    memcpy(&facts, things_facts(&g.cluster->volumes.of[THING_VOLUME], 0), sizeof(facts));
    facts.claim_namespace = facts.claim_name = ground_sym(&g, "c");
    cluster_assume(g.cluster, THING_VOLUME, 0, volumes_facts(g.cluster, THING_VOLUME, &facts));
    g.cluster->nodes.tie_order[0] = 0xabc;
    EXPECT_STR(ground_dump(&g), "1 nodes, 2 pods, 0 shared hostnames\n"
                                "node 0 n1 rank abc flags b host h taints 0\n"
                                "  labels z=a\n"
                                "  cpu 1000/2000 memory 0/1024 nonzero 1000 0 pods 1/110\n"
                                "  nvidia.com/gpu 0/1\n"
                                "  1 GPUs , taken 0:300\n"
                                "  image x 5 on 1\n"
                                "  port 0.0.0.0:80/0 × 1\n"
                                "  pod 0 a gpus 1\n"
                                "nominated 1 to n1\n"
                                "volume v for c/c\n");
}
