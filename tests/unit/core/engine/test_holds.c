#include "core/engine/holds.h"

#include "core/engine/inside.h"
#include "support/stage.h"
#include "support/test.h"

/* Reservations are for the group g of the namespace default, made at time 0, for ten minutes. */
#define RESERVE(name, spec)                                                                        \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"    \
    "{'name':'" name "','namespace':'default','creationTimestamp':'1970-01-01T00:00:00Z'},"        \
    "'spec':{'podGroupName':'g','duration':'10m'," spec "}}"
#define ENTRIES(list)           "'reservations':{" list "}"
#define ENTRY(name, node, gpus) "'" name "':{'node':'" node "','cpu':'0','gpu':'" gpus "'}"
#define MEMBER                  " label:pod-group.scheduling.kubenexus.io/name=g scheduler=kubenexus-scheduler"

TEST(holds, keep_others_out_and_let_the_group_in)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", "'resources':{'nvidia.com/gpu':'4'}"));
    stage_put(&s, "pod foreign gpu=5");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, "pod other gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "other"), "assumed on n");
    stage_put(&s, "pod own gpu=4" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "own"), "assumed on n");
}

TEST(holds, are_used_up_one_by_one)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "", "2") "," ENTRY("b", "", "2"))));
    stage_put(&s, "pod own gpu=2" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "own"), "assumed on n");
    stage_put(&s, "pod foreign gpu=5");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, "pod small gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "small"), "assumed on n");
}

TEST(holds, are_used_up_by_who_asks_for_the_same_devices)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=4");
    stage_put(&s, RESERVE("r", ENTRIES("'a':{'node':'n','cpu':'4'}," ENTRY("b", "n", "4"))));
    stage_put(&s, "pod own cpu=1 gpu=1" MEMBER);
    stage_run(&s);
    stage_put(&s, "pod big cpu=4");
    stage_put(&s, "pod small gpu=3");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "big"), "parked");
    EXPECT_TEXT(stage_fate(&s, "small"), "assumed on n");
}

TEST(holds, of_a_node_are_held_there_and_the_first_one_has_the_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "node m gpu=4");
    stage_put(&s, RESERVE("first", ENTRIES(ENTRY("a", "n", "4"))));
    stage_run(&s);
    stage_put(&s, RESERVE("second", ENTRIES(ENTRY("a", "n", "4"))));
    stage_put(&s, "pod foreign gpu=4");
    stage_put(&s, "pod another gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on m");
    EXPECT_TEXT(stage_fate(&s, "another"), "parked");
    stage_put(&s, "pod own gpu=4" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "own"), "assumed on n");
}

TEST(holds, end_with_their_time)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "6"))));
    stage_put(&s, "pod foreign gpu=8");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    EXPECT(engine_next_ms(s.engine, s.now_ms) <= 600000);
    s.now_ms = 600000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, go_with_their_reservation)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "6"))));
    stage_put(&s, "pod foreign gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "5"))));
    stage_put(&s, "pod small gpu=3");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "small"), "assumed on n");
    stage_remove(&s, RESERVE("r", "'duration':''"));
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, come_back_when_their_user_goes_and_not_when_it_has_ended)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "", "4"))));
    stage_put(&s, "pod own gpu=4" MEMBER);
    stage_run(&s);
    stage_put(&s, "pod own gpu=4 on=n deleting" MEMBER);
    stage_remove(&s, "pod own");
    stage_put(&s, "pod foreign gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, "pod next gpu=4" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "next"), "assumed on n");
    stage_put(&s, "pod next gpu=4 on=n" MEMBER);
    stage_put(&s, "pod next gpu=4 on=n phase=Succeeded" MEMBER);
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, make_way_for_a_gang_as_a_whole)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=2");
    stage_put(&s, "node m gpu=2");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "2") "," ENTRY("b", "m", "2"))));
    stage_put(&s, "pod foreign gpu=1");
    stage_put(&s, "pod one gpu=2 label:pod-group.scheduling.kubenexus.io/min-available=2" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, "pod two gpu=2 label:pod-group.scheduling.kubenexus.io/min-available=2" MEMBER);
    stage_run(&s);
    EXPECT(stage_effect(&s, "one")->kind == EFFECT_BIND);
    EXPECT(stage_effect(&s, "two")->kind == EFFECT_BIND);
}

TEST(holds, are_used_up_by_pods_that_run_already)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod own gpu=4 on=n" MEMBER);
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
    stage_put(&s, "pod foreign gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, are_not_for_namesakes_of_the_group_elsewhere)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "8"))));
    stage_put(&s, "pod namesake namespace=other gpu=1" MEMBER);
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 1);
    EXPECT_INT(s.effects.list.at[0].kind, EFFECT_REFUSE);
}

TEST(holds, are_for_the_parts_of_an_application_too)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
    stage_put(&s, "pod other gpu=4 label:spark-app-id=h");
    stage_put(&s, "pod own gpu=4 label:scheduling.kubenexus.io/app-id=g label:spark-app-id=h");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "other"), "parked");
    EXPECT_TEXT(stage_fate(&s, "own"), "assumed on n");
}

/* --- drivers --- */

/* A driver of the application a with so many workers of 2 GPUs; it asks for one CPU. */
#define DRIVER(name, workers)                                                                      \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'" name "','namespace':'default',"         \
    "'labels':{'spark-app-id':'a'},'annotations':{'kubenexus.io/executor-count':'" workers "',"    \
    "'kubenexus.io/executor-cpu':'1','kubenexus.io/executor-memory':'1',"                          \
    "'kubenexus.io/executor-gpu':'2'}},'spec':{'schedulerName':'kubenexus-scheduler',"             \
    "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}"
#define WORKER " cpu=1 gpu=2 label:spark-app-id=a scheduler=kubenexus-scheduler"

TEST(holds, let_a_driver_in_only_with_its_workers)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    stage_put(&s, DRIVER("d", "3"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "parked");
    EXPECT_STR(stage_effect(&s, "d")->message, "needs room for 3 workers beside it; 2 fit now");
    stage_put(&s, "node m cpu=8 memory=32Gi gpu=2");
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT(stage_effect(&s, "d")->kind == EFFECT_BIND);
    stage_put(&s, "pod thief gpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "pod w%d" WORKER, i);
        stage_run(&s);
        EXPECT(s.effects.list.at[0].kind == EFFECT_BIND);
    }
    stage_put(&s, "pod more" WORKER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "more"), "parked");
}

TEST(holds, of_a_driver_end_with_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    stage_put(&s, DRIVER("d", "2"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n");
    stage_put(&s, "pod foreign gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_remove(&s, "pod d");
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, guard_a_driver_until_its_workers_are_there)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=2 memory=32Gi gpu=2");
    stage_put(&s, DRIVER("d", "1"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n");
    stage_put(&s, "pod urgent cpu=1 priority=100");
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 1);
    EXPECT(stage_effect(&s, "urgent")->kind == EFFECT_REFUSE);
    stage_put(&s, "pod w" WORKER);
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "w"), "assumed on n");
    s.now_ms += 60000;
    stage_put(&s, "pod urgent2 cpu=1 priority=100");
    stage_run(&s);
    bool evicts = false;
    vec_each(&s.effects.list, e)
        evicts |= e->kind == EFFECT_EVICT;
    EXPECT(evicts);
}

TEST(holds, keep_small_pods_off_the_nodes_of_a_gang_to_come)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "node m gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4") "," ENTRY("b", "n", "4"))));
    stage_run(&s);
    for (int i = 0; i < 12; i++)
        stage_put(&s, "pod small%d gpu=1", i);
    stage_run(&s);
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof(name), "small%d", i);
        EXPECT_TEXT(stage_fate(&s, name), i < 8 ? "assumed on m" : "parked");
    }
    const char *gang = MEMBER " label:pod-group.scheduling.kubenexus.io/min-available=2";
    stage_put(&s, "pod x gpu=4%s", gang);
    stage_put(&s, "pod y gpu=4%s", gang);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "x"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "y"), "assumed on n");
}

TEST(holds, what_a_small_user_leaves_is_free)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
    stage_put(&s, "pod foreign gpu=5");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "parked");
    stage_put(&s, "pod own gpu=2" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "own"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(holds, of_users_are_never_taken_for_our_own)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("lost", ENTRIES(ENTRY("x-1/slot", "n", "2"))));
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod x-%d gpu=2 gang=x:3 on=n", i);
    stage_run(&s);
    stage_put(&s, "pod x-1 gpu=2 gang=x:3 on=n deleting");
    stage_remove(&s, "pod x-1");
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 2);
    s.now_ms = 31000; /* ours is over */
    stage_run(&s);
    EXPECT_INT(s.engine->holds.of_pod.n, 1);
    stage_remove(&s, RESERVE("lost", ENTRIES("")));
    EXPECT_INT(s.engine->holds.of_pod.n, 0);
}

TEST(holds, of_a_namespace_called_turn_are_not_those_to_come)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=8");
    stage_put(&s, "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
                  "'metadata':{'name':'0','namespace':'turn'},'spec':{'reservations':"
                  "{'0':{'gpu':'1'},'1':{'gpu':'1'},'2':{'gpu':'1'}}}}");
    stage_put(&s,
              "pod s-0 gpu=1 scheduler=kubenexus-scheduler label:kueue.x-k8s.io/pod-group-name=s"
              " note:kueue.x-k8s.io/pod-group-total-count=4"
              " note:kueue.x-k8s.io/pod-group-serving=true");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "s-0"), "assumed on n");
    EXPECT_INT(s.engine->holds.of_pod.n, 6);
}
