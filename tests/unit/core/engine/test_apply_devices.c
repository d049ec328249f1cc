/* Whom it wakes when devices, claims, classes, taint rules and reports of nodes come and go. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define RESOURCE "{'apiVersion':'resource.k8s.io/v1','kind':"
#define CLASS    RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"
#define SLICE(devices)                                                                             \
    RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'n','pool':" \
             "{'name':'n','generation':1,'resourceSliceCount':1},'devices':[" devices "]}}"
#define CLAIM(name, status)                                                                        \
    RESOURCE "'ResourceClaim','metadata':{'name':'" name "','namespace':'default'},'spec':{"       \
             "'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'gpu'}}]}}" status   \
             "}"
#define TAKEN                                                                                      \
    ",'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'n',"       \
    "'device':'d0'}]}},'reservedFor':[{'resource':'pods','name':'x','uid':'x'}]}"
#define TAINT                                                                                      \
    "{'apiVersion':'resource.k8s.io/v1beta2','kind':'DeviceTaintRule','metadata':{'name':'t'},"    \
    "'spec':{'deviceSelector':{'device':'d0'},'taint':{'key':'k','effect':'NoSchedule'}}}"
#define ONE       SLICE("{'name':'d0'}")
#define NONE      SLICE("")
#define OTHER     CLAIM("other", "")
#define OTHER_HAS CLAIM("other", TAKEN)

TEST(apply_devices, a_pod_wakes_when_what_it_lacked_is_there)
{
    static const struct {
        const char *rule, *there[3], *comes, *goes;
    } cases[] = {
        {"a class", {ONE}, CLASS, NULL},
        {"a slice", {CLASS}, ONE, NULL},
        {"a device more", {CLASS, NONE}, ONE, NULL},
        {"a claim that is given up", {CLASS, ONE, OTHER_HAS}, OTHER, NULL},
        {"a claim that goes", {CLASS, ONE, OTHER_HAS}, NULL, OTHER_HAS},
        {"a taint that is lifted", {CLASS, ONE, TAINT}, NULL, TAINT},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].rule);
        stage_put(&s, "node n cpu=8");
        for (size_t k = 0; k < LEN(cases[i].there) && cases[i].there[k]; k++)
            stage_put(&s, "%s", cases[i].there[k]);
        stage_put(&s, CLAIM("c", ""));
        stage_put(&s, "pod p device:c cpu=1");
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "parked");
        if (cases[i].comes)
            stage_put(&s, "%s", cases[i].comes);
        else
            stage_remove(&s, "%s", cases[i].goes);
        EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
        s.now_ms += 11000;
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    }
}

TEST(apply_devices, what_says_the_same_again_wakes_nobody)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, CLASS);
    stage_put(&s, NONE);
    stage_put(&s, CLAIM("c", ""));
    stage_put(&s, "pod p device:c cpu=1");
    stage_run(&s);
    stage_put(&s, CLASS);
    stage_put(&s, NONE);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
}

#define REPORT(cpu)                                                                                \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology','metadata':{"     \
    "'name':'n'},'zones':[" ZONE("0", cpu) "," ZONE("1", cpu) "]}"
#define ZONE(id, cpu)                                                                              \
    "{'name':'node-" id "','type':'Node','resources':[{'name':'cpu','capacity':'4','allocatable':" \
    "'4','available':'" cpu "'},{'name':'memory','capacity':'8Gi','allocatable':'8Gi',"            \
    "'available':'8Gi'}]}"

TEST(apply_devices, a_report_of_more_room_wakes_who_cares_about_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=16Gi");
    stage_put(&s, REPORT("2"));
    stage_put(&s, "pod p cpu=3 scheduler=kubenexus-scheduler "
                  "note:scheduling.kubenexus.io/numa-policy=single-numa-node");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    stage_put(&s, REPORT("2")); /* the same */
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    stage_put(&s, REPORT("3"));
    EXPECT_TEXT(stage_fate(&s, "p"), "active");
}

TEST(apply_devices, a_report_may_come_before_its_node)
{
    AUTO(stage) s = {0};
    stage_put(&s, REPORT("2"));
    stage_put(&s, "node n cpu=8 memory=16Gi");
    EXPECT_INT(nodes_hardware(&s.engine->cluster->nodes, (node_id){0})->n_zones, 2);
}
