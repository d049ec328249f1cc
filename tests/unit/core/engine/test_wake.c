#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* A refused pod, one change of the world a minute later, and whether it is tried again. */
struct story {
    const char *node, *other; /* what is there; `other` may be NULL */
    const char *pod;          /* does not fit */
    const char *change;       /* a line; "-" before it: it goes away */
    bool wakes;
};

static void tell(const struct story *story)
{
    test_case("%s / %s", story->pod, story->change);
    AUTO(stage) s = {0};
    stage_put(&s, "%s", story->node);
    if (story->other)
        stage_put(&s, "%s", story->other);
    stage_put(&s, "%s", story->pod);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    s.now_ms = 60000;
    if (story->change[0] == '-')
        stage_remove(&s, "%s", story->change + 1);
    else
        stage_put(&s, "%s", story->change);
    EXPECT_TEXT(stage_fate(&s, "p"), story->wakes ? "active" : "parked");
}

static const char node[] = "node n cpu=4 memory=8Gi gpu=1 zone=a";

TEST(wake, changes_of_nodes)
{
    static const struct story stories[] = {
        {node, NULL, "pod p cpu=8", "node m cpu=8 memory=8Gi", true},
        {node, NULL, "pod p cpu=8", "node m cpu=7 memory=8Gi", false},
        {node, NULL, "pod p cpu=8", "node n cpu=8 memory=8Gi gpu=1 zone=a", true},
        {node, NULL, "pod p cpu=8", "node n cpu=5 memory=8Gi gpu=1 zone=a", false},
        {node, NULL, "pod p cpu=8", "node n cpu=4 memory=9Gi gpu=1 zone=a", false},
        {node, NULL, "pod p cpu=8", "node n cpu=4 memory=8Gi gpu=1 zone=b", false},
        {node, NULL, "pod p cpu=8", node, false}, /* a heartbeat */
        {node, NULL, "pod p select:disk=ssd", "node n cpu=4 memory=8Gi label:disk=ssd", true},
        {node, NULL, "pod p select:disk=ssd", "node n cpu=4 memory=8Gi label:disk=hdd", false},
        {node, NULL, "pod p select:disk=ssd", "node m cpu=1 label:disk=ssd", true},
        {node, NULL, "pod p select:disk=ssd", "node n cpu=5 memory=8Gi gpu=1 zone=a", false},
        {"node n cpu=4 cordoned", NULL, "pod p", "node n cpu=4", true},
        {"node n cpu=4 cordoned", NULL, "pod p", "node n cpu=5 cordoned", false},
        {"node n cpu=4 taint:a=b:NoSchedule", NULL, "pod p", "node n cpu=4", true},
        {"node n cpu=4 taint:a=b:NoSchedule", NULL, "pod p", "node n cpu=4 taint:a=c:NoSchedule",
         false},
        {"node n cpu=4 taint:a=b:NoSchedule", NULL, "pod p", "-node n", false},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "node m cpu=1 zone=b", true},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "node m cpu=1", false},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "-node n", true}, /* the counts change */
    };
    for (size_t i = 0; i < LEN(stories); i++)
        tell(&stories[i]);
}

TEST(wake, changes_of_pods_on_nodes)
{
    static const struct story stories[] = {
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "-pod q", true},
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "pod q cpu=3 on=n phase=Succeeded", true},
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "pod q cpu=1 on=n", true}, /* shrinks */
        {node, "pod q cpu=3 memory=2Gi on=n", "pod p cpu=2", "pod q cpu=3 memory=1Gi on=n", false},
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "pod q cpu=3 on=n label:x=1", false},
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "pod r cpu=1 on=n", false}, /* comes */
        {node, "pod q cpu=3 on=n", "pod p cpu=2", "pod q cpu=3 on=n deleting", false},
        {node, "pod q port:80 on=n", "pod p port:80", "-pod q", true},
        {node, "pod q port:80 on=n", "pod p port:80", "pod r port:81 on=n", false},
        {node, "pod q cpu=3 scheduler=foreign on=n", "pod p cpu=2", "-pod q", true},
        {node, "pod q cpu=3 scheduler=foreign", "pod p cpu=5", "-pod q", false}, /* was nowhere */
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "-pod w", true},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "pod w label:app=x on=n", true},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "pod v label:app=x on=n", false},
    };
    for (size_t i = 0; i < LEN(stories); i++)
        tell(&stories[i]);
}

TEST(wake, changes_of_the_pod_itself)
{
    static const struct story stories[] = {
        {node, NULL, "pod p cpu=8", "pod p cpu=5", true},
        {node, NULL, "pod p cpu=8", "pod p cpu=9", false},
        {node, NULL, "pod p cpu=8", "pod p cpu=8 label:x=1", false},
        {node, NULL, "pod p cpu=8", "pod p cpu=8", false},
        {"node n cpu=4 taint:a=b:NoSchedule", NULL, "pod p", "pod p tolerate:a:Exists::", true},
        {"node n cpu=4 cordoned", NULL, "pod p",
         "pod p tolerate:node.kubernetes.io/unschedulable:Exists::", true},
        {"node n cpu=4 cordoned", NULL, "pod p", "pod p tolerate:a:Exists::", false},
        {node, "pod w label:app=w on=n", "pod p label:app=w spread:zone:1:hard:app=w:min=2",
         "pod p label:app=x spread:zone:1:hard:app=w:min=2", true},
    };
    for (size_t i = 0; i < LEN(stories); i++)
        tell(&stories[i]);
}

TEST(wake, a_pod_waits_for_its_own_rejectors_alone)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=1Gi");
    stage_put(&s, "pod full cpu=2");
    stage_put(&s, "pod picky select:disk=ssd");
    stage_run(&s);
    s.now_ms = 60000;
    stage_put(&s, "node n1 cpu=1 memory=1Gi label:disk=ssd");
    EXPECT_TEXT(stage_fate(&s, "picky"), "active");
    EXPECT_TEXT(stage_fate(&s, "full"), "parked");
}

TEST(wake, gates_hold_a_pod_until_the_last_is_lifted)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=1Gi");
    stage_put(&s, "pod a cpu=1 gate:x gate:y");
    EXPECT_TEXT(stage_fate(&s, "a"), "gated");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "node n2 cpu=9 memory=9Gi");
    stage_put(&s, "pod a cpu=1 gate:y");
    EXPECT_TEXT(stage_fate(&s, "a"), "gated");
    stage_put(&s, "pod a cpu=1");
    EXPECT_TEXT(stage_fate(&s, "a"), "active");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n2");
}

TEST(wake, whatever_happens_a_parked_pod_is_tried_every_five_minutes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=1Gi");
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_INT(engine_next_ms(s.engine, 0), 300001); /* more than five minutes */
    s.now_ms = 300000;
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms = 300001;
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(stage_effect(&s, "a")->attempt, 2);
}

TEST(wake, room_that_a_pod_was_nominated_to_wakes_none_more_important)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=1Gi");
    stage_put(&s, "pod waits cpu=9 priority=5 nominated=n1 preempts=Never");
    stage_put(&s, "pod high cpu=3 priority=6");
    stage_put(&s, "pod same cpu=3 priority=5");
    stage_run(&s);
    s.now_ms = 60000;
    stage_put(&s, "pod waits cpu=9 priority=5 preempts=Never"); /* it looks elsewhere */
    EXPECT_TEXT(stage_fate(&s, "same"), "active");
    EXPECT_TEXT(stage_fate(&s, "high"), "parked");
}

TEST(wake, nominated_room_of_a_pod_that_is_deleted_wakes_the_others)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=1Gi");
    stage_put(&s, "pod waits cpu=9 priority=5 nominated=n1 preempts=Never");
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    s.now_ms = 60000;
    stage_remove(&s, "pod waits");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(wake, a_pod_that_gives_up_its_nominated_node_wakes_the_others)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=1Gi");
    stage_put(&s, "pod waits cpu=2 priority=5 nominated=n1 preempts=Never gate:x");
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    stage_put(&s, "pod waits cpu=9 priority=5 nominated=n1"); /* no eviction will help it now */
    s.now_ms = 60000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
}

TEST(wake, changes_of_volumes_and_who_provides_them)
{
#define CLAIM(name, meta, spec)                                                                    \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name "'" meta         \
    "},'spec':{" spec "}}"
#define CLASS(mode)                                                                                \
    "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"             \
    "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'" mode "'}"
#define VOLUME                                                                                     \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"                \
    "'storageClassName':'s'},'status':{'phase':'Available'}}"
    static const char wanted[] = CLAIM("c", "", "'storageClassName':'s'");
    static const char waits[] = CLASS("WaitForFirstConsumer"), pod[] = "pod p claim:c";
    static const struct story stories[] = {
        {node, NULL, pod, wanted, true}, /* it was missing */
        {node, NULL, pod, CLAIM("d", "", ""), false},
        {node, NULL, pod, CLAIM("c", ",'namespace':'x'", ""), false},
        {node, NULL, pod, VOLUME, false}, /* not what it waits for */
        {wanted, node, pod, CLAIM("c", "", "'volumeName':'v'"), true},
        {wanted, node, pod, VOLUME, true},
        {wanted, node, pod, waits, true},
        {wanted, node, pod, CLASS("Immediate"), true},
        {wanted, node, pod, wanted, false}, /* nothing new */
        {wanted, node, pod, "node m", true},
        {wanted, node, pod, "node n cpu=9 memory=8Gi gpu=1 zone=a", false},
    };
    for (size_t i = 0; i < LEN(stories); i++)
        tell(&stories[i]);
}

/* A gang of two for which one node has room, and another would if it were not for something: it
 * hears when that is over, and of nothing that does not help it. */
TEST(wake, a_gang_hears_of_each_node_that_becomes_usable)
{
    static const char claim[] =
        "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c'},"
        "'spec':{'volumeName':'v'}}";
    static const struct {
        const char *other, *pods, *change;
        bool starts;
    } stories[] = {
        {"node m cpu=2 taint:a=b:NoSchedule", "", "node m cpu=2", true},
        {"node m cpu=2 taint:a=b:NoExecute",
         "tolerate:x:Exists::", "node m cpu=2 taint:x=b:NoExecute", true},
        {"node m cpu=2 taint:a=b:NoSchedule", "", "node m cpu=2 taint:a=c:NoSchedule", false},
        {"node m cpu=2 cordoned", "", "node m cpu=2", true},
        {"node m cpu=2 cordoned", "", "node m cpu=2 cordoned label:a=b", false},
        {"node m cpu=2", "select:disk=ssd", "node m cpu=2 label:disk=ssd", true},
        {"node m cpu=2", "select:disk=ssd", "node m cpu=2 label:disk=hdd", false},
        {"node m cpu=1", "", "node m cpu=2", true},
        {"node m cpu=1 taint:a=b:NoSchedule", "", "node m cpu=2", true},
        {"node o cpu=1", "", "node m cpu=2", true},
        {"node m cpu=2 label:disk=ssd", "claim:c select:disk=ssd", claim, true},
        {"pod x cpu=2 on=n", "", "node m cpu=4", true},
        {"node m cpu=2 zone=a", "label:app=g spread:zone:1:hard:app=g",
         "node n cpu=4 zone=b label:disk=ssd", true},
    };
    for (size_t i = 0; i < LEN(stories); i++) {
        test_case("%s / %s / %s", stories[i].other, stories[i].pods, stories[i].change);
        AUTO(stage) s = {0};
        stage_put(&s, "node n cpu=2 label:disk=ssd");
        stage_put(&s, "%s", stories[i].other);
        for (int p = 0; p < 2; p++)
            stage_put(&s, "pod g-%d cpu=2 gang=g:2 preempts=Never %s", p, stories[i].pods);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "g-0"), "parked");
        s.now_ms = 20000;
        stage_put(&s, "%s", stories[i].change);
        EXPECT_TEXT(stage_fate(&s, "g-0"), stories[i].starts ? "active" : "parked");
    }
}

/* Nodes that an autoscaler adds come tainted, and are of use when the taint goes. */
TEST(wake, a_gang_starts_when_nodes_that_joined_tainted_are_ready)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=1");
    for (int p = 0; p < 4; p++)
        stage_put(&s, "pod g-%d cpu=2 gang=g:4", p);
    stage_run(&s);
    for (int n = 0; n < 2; n++)
        stage_put(&s, "node m%d cpu=4 taint:node.kubernetes.io/not-ready=:NoSchedule", n);
    stage_run(&s);
    for (int n = 0; n < 2; n++) {
        EXPECT_TEXT(stage_fate(&s, "g-0"), "parked");
        s.now_ms += 20000;
        stage_put(&s, "node m%d cpu=4", n);
        stage_run(&s);
    }
    EXPECT_INT(s.effects.list.n, 4);
}
