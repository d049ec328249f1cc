#include "core/engine/reservation/reservation.h"

#include "core/engine/step/step.h"
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

TEST(slots, keep_others_out_and_let_the_group_in)
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

TEST(slots, are_no_pods_to_who_counts_pods)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod p gpu=1");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "", "2") "," ENTRY("b", "", "2"))));
    EXPECT_INT(engine_stats(s.engine).pods, 1);
    stage_run(&s);
    EXPECT_INT(engine_stats(s.engine).pods, 1);
}

TEST(slots, are_used_up_one_by_one)
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

TEST(slots, are_used_up_by_who_asks_for_the_same_devices)
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

TEST(slots, of_a_node_are_held_there_and_the_first_one_has_the_room)
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

TEST(slots, end_with_their_time)
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

TEST(slots, go_with_their_reservation)
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

TEST(slots, come_back_when_their_user_goes_and_not_when_it_has_ended)
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

TEST(slots, make_way_for_a_gang_as_a_whole)
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

TEST(slots, are_used_up_by_pods_that_run_already)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod own gpu=4 on=n" MEMBER);
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
    stage_put(&s, "pod foreign gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "foreign"), "assumed on n");
}

TEST(slots, are_not_for_namesakes_of_the_group_elsewhere)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "8"))));
    stage_put(&s, "pod namesake namespace=other gpu=1" MEMBER);
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 1);
    EXPECT_INT(s.effects.list.at[0].kind, EFFECT_REFUSE);
}

TEST(slots, are_for_the_parts_of_an_application_too)
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

TEST(slots, let_a_driver_in_only_with_its_workers)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=6"); /* what a namespace may hold */
    stage_put(&s, "pod other gpu=2 on=n");
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

TEST(slots, of_a_driver_end_with_it)
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

static uint32_t evictions(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_EVICT;
    return n;
}

TEST(slots, guard_a_driver_while_anything_else_helps)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=3 memory=32Gi gpu=2");
    stage_put(&s, "pod other cpu=1 priority=50 on=n");
    stage_put(&s, DRIVER("d", "1"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n");
    stage_put(&s, "pod urgent cpu=1 priority=100");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "urgent"), "assumed on n"); /* where its worker was to be */
    EXPECT_INT(evictions(&s), 0);
    AUTO(stage) t = {0};
    stage_put(&t, "node n cpu=2 memory=32Gi");
    stage_put(&t, "pod other cpu=1 priority=50 on=n");
    stage_put(&t, "pod d cpu=1 label:spark-app-id=a note:kubenexus.io/executor-count=1 on=n "
                  "scheduler=kubenexus-scheduler");
    stage_put(&t, "pod urgent cpu=1 priority=100");
    stage_run(&t);
    EXPECT_INT(evictions(&t), 1);
    EXPECT(stage_effect(&t, "other")->kind == EFFECT_EVICT);
    EXPECT_TEXT(stage_fate(&t, "d"), "bound to n");
    stage_remove(&t, "pod other");
    stage_run(&t);
    stage_put(&t, "pod last cpu=2 priority=200"); /* which leaves no choice */
    stage_run(&t);
    EXPECT(stage_effect(&t, "d")->kind == EFFECT_EVICT);
}

/* --- who may take the room --- */

/* A driver of that priority, with room for two workers of 2 GPUs. */
static void announce(struct stage *s, int priority)
{
    stage_put(s, "node n cpu=8 memory=32Gi gpu=4");
    stage_put(s,
              "pod d cpu=1 priority=%d scheduler=kubenexus-scheduler label:spark-app-id=a "
              "note:kubenexus.io/executor-count=2 note:kubenexus.io/executor-cpu=1 "
              "note:kubenexus.io/executor-memory=1 note:kubenexus.io/executor-gpu=2",
              priority);
    stage_run(s);
    EXPECT_TEXT(stage_fate(s, "d"), "assumed on n");
}

TEST(slots, stand_for_work_as_important_as_the_driver)
{
    static const struct {
        const char *pod, *fate;
    } cases[] = {
        {"pod p gpu=4 priority=10", "parked"},
        {"pod p gpu=4 priority=9", "parked"},
        {"pod p gpu=4 priority=11", "assumed on n"},
        {"pod p gpu=4 priority=11 preempts=Never", "assumed on n"},
        {"pod p gpu=4 priority=11 scheduler=kubenexus-scheduler", "assumed on n"},
        {"pod p gpu=4 priority=11 scheduler=kubenexus-scheduler preempts=Never", "assumed on n"},
        {"pod p gpu=4 priority=11 gang=g:1 namespace=default", "assumed on n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].pod);
        announce(&s, 10);
        stage_put(&s, "%s", cases[i].pod);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), cases[i].fate);
        EXPECT_INT(evictions(&s), 0);
        EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n"); /* it goes on without them */
    }
}

TEST(slots, make_way_for_a_gang_that_is_more_important)
{
    for (int never = 0; never < 2; never++) {
        AUTO(stage) s = {0};
        announce(&s, 10);
        for (int i = 0; i < 2; i++)
            stage_put(&s, "pod g-%d gpu=2 gang=g:2 priority=%d preempts=%s", i, 11,
                      never ? "Never" : "PreemptLowerPriority");
        for (int i = 0; i < 2; i++)
            stage_put(&s, "pod h-%d gpu=2 gang=h:2 priority=10", i);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n");
        EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n");
        EXPECT_INT(evictions(&s), 0);
    }
}

TEST(slots, that_were_lost_are_not_held_again)
{
    AUTO(stage) s = {0};
    announce(&s, 0);
    stage_put(&s, "pod p gpu=4 priority=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    stage_remove(&s, "pod p");
    stage_put(&s, "pod q gpu=4");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
}

TEST(slots, of_a_reservation_are_above_all_that_users_may_ask_for)
{
    static const char *const more[] = {"", " scheduler=kubenexus-scheduler", " gang=v:1",
                                       " scheduler=kubenexus-scheduler preempts=Never"};
    for (size_t i = 0; i < LEN(more); i++) {
        AUTO(stage) s = {0};
        test_case("%s", more[i]);
        stage_put(&s, "node n gpu=4");
        stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
        stage_put(&s, "pod p gpu=4 priority=1000000000%s", more[i]);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "parked");
        stage_put(&s, "pod vital gpu=4 priority=2000000000%s", more[i]);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "vital"), "assumed on n");
    }
}

TEST(slots, of_a_reservation_make_way_for_a_gang_that_keeps_the_cluster_alive)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, RESERVE("r", ENTRIES(ENTRY("a", "n", "4"))));
    stage_run(&s);
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod g-%d gpu=2 gang=g2:2 priority=2000000000", i);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n");
}

TEST(slots, of_a_lost_member_are_worth_what_it_was)
{
    static const int priorities[] = {5, 6};
    for (size_t i = 0; i < LEN(priorities); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n cpu=2");
        stage_put(&s, "pod a-0 cpu=1 gang=a:2 priority=5 on=n");
        stage_put(&s, "pod a-1 cpu=1 gang=a:2 priority=5 on=n");
        stage_put(&s, "pod a-1 cpu=1 gang=a:2 priority=5 on=n deleting");
        stage_remove(&s, "pod a-1");
        stage_run(&s);
        stage_put(&s, "pod p cpu=1 priority=%d", priorities[i]);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), i ? "assumed on n" : "parked");
    }
}

/* --- how much --- */

/* Drivers on two nodes of 4 GPUs each announce workers of one GPU; returns how many GPUs others can
 * have. */
static int free_beside(const struct coscheduling_args *args, const char *const *namespaces,
                       uint32_t workers)
{
    AUTO(stage) s = {0};
    int n = 0;
    stage_set_gangs(&s, args);
    stage_put(&s, "node n cpu=64 memory=32Gi gpu=4");
    stage_put(&s, "node m cpu=64 memory=32Gi gpu=4");
    for (uint32_t i = 0; namespaces[i]; i++) {
        stage_put(&s,
                  "pod d%u cpu=1 namespace=%s scheduler=kubenexus-scheduler label:spark-app-id=a%u "
                  "note:kubenexus.io/executor-count=%u note:kubenexus.io/executor-gpu=1",
                  i, namespaces[i], i, workers);
        stage_run(&s);
        EXPECT(s.effects.list.n && s.effects.list.at[0].kind == EFFECT_BIND);
    }
    for (int i = 0; i < 8; i++)
        stage_put(&s, "pod p%d gpu=1 scheduler=kubenexus-scheduler", i);
    stage_run(&s);
    vec_each(&s.effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

TEST(slots, of_a_namespace_are_no_more_than_its_share)
{
    static const struct str let[] = {STR("b")};
    static const char *const one[] = {"a", NULL}, *const two[] = {"a", "a", NULL},
                             *const others[] = {"a", "b", NULL};
    struct coscheduling_args args = COSCHEDULING_DEFAULTS;
    EXPECT_INT(free_beside(&args, one, 3), 5);
    EXPECT_INT(free_beside(&args, one, 8), 4); /* half of them, and what one node has */
    EXPECT_INT(free_beside(&args, two, 3), 4);
    EXPECT_INT(free_beside(&args, others, 3), 2);
    args.held_percent = 75;
    EXPECT_INT(free_beside(&args, one, 8), 2);
    args.held_percent = 0;
    EXPECT_INT(free_beside(&args, one, 8), 8);
    args.held_percent = 50;
    args.names_holders = true;
    EXPECT_INT(free_beside(&args, others, 3), 8);
    args.holders.at = let;
    args.holders.n = LEN(let);
    EXPECT_INT(free_beside(&args, others, 3), 5);
}

TEST(slots, that_are_over_or_used_up_are_no_part_of_the_share)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=64 memory=32Gi gpu=4");
    for (int i = 0; i < 3; i++) {
        s.now_ms += 60000;
        stage_put(&s,
                  "pod d%d cpu=1 scheduler=kubenexus-scheduler label:spark-app-id=a%d "
                  "note:kubenexus.io/executor-count=4 note:kubenexus.io/executor-gpu=1",
                  i, i);
        stage_run(&s);
        stage_put(&s, "pod thief gpu=1");
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
        stage_remove(&s, "pod thief");
        stage_put(&s, "pod w cpu=1 gpu=1 scheduler=kubenexus-scheduler label:spark-app-id=a%d", i);
        stage_run(&s);
        stage_remove(&s, "pod w");
        stage_remove(&s, "pod d%d", i);
    }
    EXPECT_INT(s.engine->reservations->of_namespace.n, 0);
}

/* --- how long --- */

TEST(slots, end_half_an_hour_after_the_driver_has_its_node_whoever_asks_when)
{
    enum { HALF_HOUR_MS = 30 * 60 * 1000 };
    for (int64_t restart_ms = 0; restart_ms <= HALF_HOUR_MS; restart_ms += HALF_HOUR_MS / 3) {
        AUTO(stage) s = {.now_ms = restart_ms};
        stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
        stage_put(&s, "pod d cpu=1 scheduler=kubenexus-scheduler label:spark-app-id=a on=n "
                      "started=0 created=0 note:kubenexus.io/executor-count=2 "
                      "note:kubenexus.io/executor-gpu=2");
        stage_put(&s, "pod p gpu=4 scheduler=kubenexus-scheduler");
        stage_run(&s);
        bool is_over = restart_ms >= HALF_HOUR_MS;
        EXPECT_TEXT(stage_fate(&s, "p"), is_over ? "assumed on n" : "parked");
        s.now_ms = HALF_HOUR_MS;
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    }
}

TEST(slots, keep_small_pods_off_the_nodes_of_a_gang_to_come)
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

TEST(slots, what_a_small_user_leaves_is_free)
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

TEST(slots, of_users_are_never_taken_for_our_own)
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 2);
    s.now_ms = 31000; /* ours is over */
    stage_run(&s);
    EXPECT_INT(s.engine->reservations->of_pod.n, 1);
    stage_remove(&s, RESERVE("lost", ENTRIES("")));
    EXPECT_INT(s.engine->reservations->of_pod.n, 0);
}

TEST(slots, of_a_namespace_called_turn_are_not_those_to_come)
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
    EXPECT_INT(s.engine->reservations->of_pod.n, 6);
}
