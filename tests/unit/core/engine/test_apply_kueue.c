/* Kueue's objects as they come and go: whom that wakes. What they mean is test_queues'. */

#include "support/stage.h"
#include "support/test.h"

#define KUEUE "{'apiVersion':'kueue.x-k8s.io/v1beta1','kind':"

static void put_cluster_queue(struct stage *s, const char *tier)
{
    stage_put(s,
              KUEUE "'ClusterQueue','metadata':{'name':'shared','labels':{"
                    "'tenant.kubenexus.io/tier':'%s'}}}",
              tier);
}

static void put_local_queue(struct stage *s, const char *of)
{
    stage_put(s,
              KUEUE "'LocalQueue','metadata':{'name':'team','namespace':'default'},'spec':{"
                    "'clusterQueue':'%s'}}",
              of);
}

/* A pod that waits for a node that is not reserved for its betters. */
static void open(struct stage *s)
{
    put_cluster_queue(s, "bronze");
    put_local_queue(s, "shared");
    stage_put(s, "node n gpu=8 label:tenant.kubenexus.io/reserved-tier=gold");
    stage_put(s, "pod p gpu=1 label:kueue.x-k8s.io/queue-name=team scheduler=kubenexus-scheduler");
    stage_run(s);
    EXPECT_TEXT(stage_fate(s, "p"), "parked");
}

TEST(apply_kueue, a_tier_that_rises_wakes_who_waits)
{
    AUTO(stage) s = {0};
    open(&s);
    put_cluster_queue(&s, "gold");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(apply_kueue, a_queue_that_moves_wakes_who_waits)
{
    AUTO(stage) s = {0};
    open(&s);
    stage_put(&s, KUEUE "'ClusterQueue','metadata':{'name':'best','labels':{"
                        "'tenant.kubenexus.io/tier':'gold'}}}");
    put_local_queue(&s, "best");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(apply_kueue, what_says_the_same_again_wakes_nobody)
{
    AUTO(stage) s = {0};
    open(&s);
    put_cluster_queue(&s, "bronze");
    put_local_queue(&s, "shared");
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
}

TEST(apply_kueue, a_workload_wakes_nobody)
{
    AUTO(stage) s = {0};
    open(&s);
    stage_put(&s, KUEUE "'Workload','metadata':{'name':'w','namespace':'default'},'spec':{"
                        "'queueName':'team'}}");
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
}
