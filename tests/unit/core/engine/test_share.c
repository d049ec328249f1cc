/* What a namespace may hold for pods that are still to come. */

#include <stdio.h>

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* clang-format off */
#define QUOTA(namespace, hard, used)                                                               \
    "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'q','namespace':'" namespace     \
    "'},'status':{'hard':{" hard "},'used':{" used "}}}"
/* clang-format on */

static uint32_t held(const struct stage *s)
{
    const struct engine *k = s->engine;
    uint32_t n = 0;
    vec_each(&k->reservations->all, b)
        vec_each(&b->slots, slot)
            n += b->name != SYM_NONE &&
                 pods_at(&k->cluster->pods, (pod_id){slot->pod})->node != ID_NONE;
    return n;
}

/* Two nodes of 4 GPUs; a driver of the namespace a announces workers of one GPU. */
static void announce(struct stage *s, int workers, const char *more)
{
    stage_put(s, "node n cpu=64 memory=32Gi gpu=4");
    stage_put(s, "node m cpu=64 memory=32Gi gpu=4");
    stage_put(s,
              "pod d cpu=1 namespace=a scheduler=kubenexus-scheduler label:spark-app-id=x "
              "note:kubenexus.io/executor-count=%d note:kubenexus.io/executor-gpu=1%s",
              workers, more);
    stage_run(s);
}

TEST(share, is_what_the_quota_leaves_where_there_is_one)
{
    static const struct {
        const char *quota;
        uint32_t held;
    } cases[] = {
        {"", 4},
        {QUOTA("b", "'pods':'1'", ""), 4},
        {QUOTA("a", "'requests.nvidia.com/gpu':'3'", "'requests.nvidia.com/gpu':'1'"), 2},
        {QUOTA("a", "'requests.nvidia.com/gpu':'7'", ""), 7},
        {QUOTA("a", "'requests.nvidia.com/gpu':'1'", "'requests.nvidia.com/gpu':'1'"), 0},
        {QUOTA("a", "'requests.nvidia.com/gpu':'1'", "'requests.nvidia.com/gpu':'2'"), 0},
        {QUOTA("a", "'pods':'3'", "'pods':'1'"), 2},
        {QUOTA("a", "'requests.cpu':'3'", "'requests.cpu':'500m'"), 2},
        {QUOTA("a", "'requests.nvidia.com/gpu':'7','memory':'1500M'", ""), 2},
        {QUOTA("a", "'limits.nvidia.com/gpu':'1'", ""), 4},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].quota);
        if (cases[i].quota[0])
            stage_put(&s, "%s", cases[i].quota);
        announce(&s, 7, "");
        EXPECT_INT(held(&s), cases[i].held);
        EXPECT(stage_effect(&s, "d") && stage_effect(&s, "d")->kind == EFFECT_BIND);
    }
}

TEST(share, is_the_same_when_the_quota_is_heard_of_late)
{
    AUTO(stage) s = {0};
    announce(&s, 4, " on=n started=0 created=0");
    stage_put(&s, QUOTA("b", "'requests.nvidia.com/gpu':'1'", ""));
    stage_run(&s);
    EXPECT_INT(held(&s), 4);
    stage_put(&s, QUOTA("a", "'requests.nvidia.com/gpu':'1'", ""));
    stage_run(&s);
    EXPECT_INT(held(&s), 1);
    stage_remove(&s, QUOTA("a", "", ""));
    stage_run(&s);
    EXPECT_INT(held(&s), 1);
}

/* As objects come when a scheduler starts: each kind when its list is there. */
TEST(share, is_of_the_whole_cluster_whatever_comes_first)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod d cpu=1 namespace=a scheduler=kubenexus-scheduler label:spark-app-id=x on=n "
                  "note:kubenexus.io/executor-count=3 note:kubenexus.io/executor-gpu=1 started=0");
    stage_put(&s, "node n cpu=64 memory=32Gi gpu=4");
    stage_run(&s);
    EXPECT_INT(held(&s), 3);
}

TEST(share, of_one_that_may_hold_nothing_is_none_whatever_its_quota_says)
{
    AUTO(stage) s = {0};
    struct coscheduling_args args = COSCHEDULING_DEFAULTS;
    args.names_holders = true;
    stage_set_gangs(&s, &args);
    stage_put(&s, QUOTA("a", "'requests.nvidia.com/gpu':'7'", ""));
    announce(&s, 4, "");
    EXPECT_INT(held(&s), 0);
}

/* --- lost members --- */

/* Somebody has a gang of a small pod and one of all GPUs of a node on each of four nodes, and
 * deletes the large ones: how many nodes has he still? */
static uint32_t slots_left(const struct coscheduling_args *args)
{
    AUTO(stage) s = {0};
    if (args)
        stage_set_gangs(&s, args);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "node n%d cpu=8 memory=8Gi gpu=4", i);
    for (int i = 0; i < 4; i++) {
        stage_put(&s, "pod small-%d cpu=100m gang=g%d:2 on=n%d phase=Running", i, i, i);
        stage_put(&s, "pod large-%d gpu=4 gang=g%d:2 on=n%d phase=Running", i, i, i);
    }
    stage_run(&s);
    for (int i = 0; i < 4; i++) {
        stage_put(&s, "pod large-%d gpu=4 gang=g%d:2 on=n%d phase=Running deleting", i, i, i);
        stage_remove(&s, "pod large-%d", i);
    }
    stage_run(&s);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod p%d namespace=b gpu=4 scheduler=kubenexus-scheduler", i);
    stage_run(&s);
    uint32_t bound = 0;
    vec_each(&s.effects.list, e)
        bound += e->kind == EFFECT_BIND;
    EXPECT_INT(bound + held(&s), 4);
    return held(&s);
}

TEST(share, counts_the_slots_of_lost_members)
{
    struct coscheduling_args args = COSCHEDULING_DEFAULTS;
    EXPECT_INT(slots_left(NULL), 2);
    args.held_percent = 75;
    EXPECT_INT(slots_left(&args), 3);
    args.held_percent = 0; /* nobody announces anything, and yet a member may be lost */
    EXPECT_INT(slots_left(&args), 1);
}

TEST(share, is_free_again_when_slots_are_used_or_over)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=8Gi gpu=4");
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 on=n phase=Running");
    for (int i = 1; i < 5; i++) {
        stage_put(&s, "pod g-%d gpu=4 gang=g:2", i);
        stage_run(&s);
        char name[16];
        snprintf(name, sizeof(name), "g-%d", i);
        EXPECT_TEXT(stage_fate(&s, name), "assumed on n");
        EXPECT_INT(s.engine->reservations->of_namespace.n, 0);
        stage_put(&s, "pod g-%d gpu=4 gang=g:2 on=n phase=Running deleting", i);
        stage_remove(&s, "pod g-%d", i);
        stage_run(&s);
        EXPECT_INT(held(&s), 1);
        if (i % 2 == 0)
            s.now_ms += 60000;
        stage_run(&s);
        EXPECT_INT(held(&s), i % 2);
    }
    EXPECT_INT(s.engine->reservations->of_namespace.n, 0);
}

/* GPUs that the only namespace that holds any has, as they are summed up. */
static int64_t sum_of_gpus(const struct engine *k)
{
    int64_t sum = 0;
    resource_id gpus = resources_find(&k->cluster->specs.resources, STR("nvidia.com/gpu"));
    vec_each(&k->reservations->tenures, t)
        vec_each(&t->sums, s)
            sum += s->resource == gpus ? s->amount : 0;
    return sum;
}

TEST(share, is_of_what_was_lost_the_last_time)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=8Gi gpu=8");
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 on=n phase=Running");
    for (int gpus = 3; gpus > 0; gpus--) {
        stage_put(&s, "pod g-1 gpu=%d gang=g:2 on=n phase=Running", gpus);
        stage_put(&s, "pod g-1 gpu=%d gang=g:2 on=n phase=Running deleting", gpus);
        stage_remove(&s, "pod g-1");
        stage_run(&s);
        EXPECT_INT(held(&s), 1);
        EXPECT_INT(sum_of_gpus(s.engine), gpus);
    }
    s.now_ms += 60000;
    stage_run(&s);
    EXPECT_INT(sum_of_gpus(s.engine), 0);
    EXPECT_INT(s.engine->reservations->of_namespace.n, 0);
}

/* --- over restarts --- */

#define SLOT                                                                                       \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"    \
    "{'name':'g-1-slot','namespace':'a','creationTimestamp':'1970-01-01T00:00:00Z','labels':"      \
    "{'app.kubernetes.io/managed-by':'kubenexus-scheduler'}},'spec':{'podGroupName':'g',"          \
    "'duration':'30s','reservations':{'slot':{'node':'n','resources':{'nvidia.com/gpu':'4'}}}}}"

TEST(share, of_a_slot_taken_over_before_its_gang_is_known_gives_way_to_who_is_more_important)
{
    for (int priority = 0; priority < 2; priority++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n cpu=8 memory=8Gi gpu=4");
        stage_put(&s, SLOT);
        stage_run(&s);
        EXPECT_INT(held(&s), 1);
        stage_put(&s, "pod p gpu=4 priority=%d scheduler=kubenexus-scheduler", priority);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), priority ? "assumed on n" : "parked");
    }
}
