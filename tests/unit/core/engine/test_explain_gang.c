#include "core/engine/explain.h"
#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

TEST(explain_gang, says_who_is_there_and_where_they_would_go)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3 on=n1");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 label:pod-group.scheduling.sigs.k8s.io/name=b");
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    AUTO(buf) before = {0}, after = {0};
    cluster_dump(s.engine->cluster, &before);
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("a-1"), &x));
    REQUIRE(x.gang);
    EXPECT_STR(x.gang->name, "a");
    EXPECT_STR(x.gang->name_because, "label pod-group.scheduling.kubenexus.io/name");
    EXPECT_INT(x.gang->minimum, 3);
    EXPECT_STR(x.gang->minimum_because, "label pod-group.scheduling.kubenexus.io/min-available");
    EXPECT_INT(x.gang->running, 1);
    EXPECT_INT(x.gang->waiting, 2);
    EXPECT_STR(x.gang->conflict, "pod-group.scheduling.sigs.k8s.io/name: \"b\"");
    EXPECT_STR(x.gang->message, "");
    REQUIRE(x.gang->n_places == 2);
    EXPECT_STR(x.gang->places[1].pod, "a-2");
    EXPECT_STR(x.gang->places[1].node, "n1");
    cluster_dump(s.engine->cluster, &after);
    EXPECT_STR(buf_str(&after), before.p);
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 2); /* nothing was taken from what was to come */
}

TEST(explain_gang, says_why_not)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    {
        AUTO(explanation) x = {0};
        REQUIRE(engine_explain(s.engine, STR("default"), STR("a-1"), &x) && x.gang);
        EXPECT_STR(x.gang->message, "pod group has 2 pods, needs at least 3");
    }
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("a-1"), &x) && x.gang);
    EXPECT_STR(
        x.gang->message,
        "gang a needs 3 x (1 cpu); 2 fit now; short of 1 cpu; the nodes hold 2, even when empty");
}

TEST(explain_gang, says_nothing_of_pods_on_their_own)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_put(&s, "pod a cpu=1 gang=a:3 scheduler=default-scheduler");
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("a"), &x));
    EXPECT(!x.gang);
}

TEST(explain_gang, says_whose_object_gave_the_size)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod head cpu=1 scheduler=kubenexus-scheduler note:kubenexus.io/gang=auto "
                  "owner:RayCluster=r");
    stage_put(&s, "{'apiVersion':'ray.io/v1','kind':'RayCluster','metadata':{'name':'r',"
                  "'namespace':'default'},'spec':{'workerGroupSpecs':[{'replicas':2}]}}");
    AUTO(explanation) x = {0};
    REQUIRE(engine_explain(s.engine, STR("default"), STR("head"), &x));
    REQUIRE(x.gang);
    EXPECT_STR(x.gang->name_because, "field metadata.ownerReferences");
    EXPECT_INT(x.gang->minimum, 3);
    EXPECT_STR(x.gang->minimum_because, "RayCluster of ray.io");
    EXPECT_STR(x.gang->message, "pod group has 1 pods, needs at least 3");
}
