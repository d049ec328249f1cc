#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* A member of the group s of four, which are made one after the other. */
#define MEMBER                                                                                     \
    " gpu=1 scheduler=kubenexus-scheduler label:kueue.x-k8s.io/pod-group-name=s"                   \
    " note:kueue.x-k8s.io/pod-group-total-count=4 note:kueue.x-k8s.io/pod-group-serving=true"

static uint32_t count(const struct stage *s, enum effect_kind kind)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == kind;
    return n;
}

/* The room that is held for those to come is in nobody's way but others'. */
static void expect_kept(struct stage *s, const char *thief)
{
    stage_put(s, "pod %s gpu=1", thief);
    stage_run(s);
    EXPECT_TEXT(stage_fate(s, thief), "parked");
    stage_remove(s, "pod %s", thief);
}

TEST(company, of_pods_made_in_turn_the_first_starts_when_there_is_room_for_all)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=3");
    stage_put(&s, "pod s-0" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "s-0"), "parked");
    EXPECT_INT(s.effects.list.n, 1); /* nobody is told of those to come */
    stage_put(&s, "pod small gpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "small"), "assumed on n"); /* nothing is held while it waits */
    stage_remove(&s, "pod small");
    stage_put(&s, "node m cpu=8 memory=32Gi gpu=1");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 1);
    EXPECT(stage_effect(&s, "s-0")->kind == EFFECT_BIND);
    for (int i = 1; i < 4; i++) {
        expect_kept(&s, "thief");
        stage_put(&s, "pod s-%d" MEMBER, i);
        EXPECT_INT(stage_run(&s), 1);
        EXPECT(s.effects.list.at[0].kind == EFFECT_BIND);
    }
    stage_put(&s, "pod late gpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "late"), "parked");
}

TEST(company, several_that_are_there_start_together_and_leave_room_for_the_rest)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=3");
    stage_put(&s, "pod s-0" MEMBER);
    stage_put(&s, "pod s-1" MEMBER);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 0);
    stage_put(&s, "node m cpu=8 memory=32Gi gpu=2");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 2);
    stage_put(&s, "pod other gpu=1");
    stage_run(&s);
    EXPECT(stage_effect(&s, "other")->kind == EFFECT_BIND); /* the fifth GPU is nobody's */
    expect_kept(&s, "thief");
    stage_put(&s, "pod s-2" MEMBER);
    stage_put(&s, "pod s-3" MEMBER);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 2);
}

TEST(company, goes_on_under_another_when_the_first_leaves)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=3");
    stage_put(&s, "pod s-0" MEMBER);
    stage_put(&s, "pod s-1" MEMBER);
    stage_run(&s);
    stage_remove(&s, "pod s-0");
    stage_put(&s, "node m cpu=8 memory=32Gi gpu=1");
    stage_run(&s);
    EXPECT(stage_effect(&s, "s-1")->kind == EFFECT_BIND);
    expect_kept(&s, "thief");
    stage_remove(&s, "pod s-1"); /* and with the last everything is free again */
    stage_put(&s, "pod all-of-n gpu=3");
    stage_put(&s, "pod all-of-m gpu=1");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 2);
}

TEST(company, is_found_again_after_a_restart)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    stage_put(&s, "pod s-1" MEMBER " on=n");
    stage_put(&s, "pod s-2" MEMBER);
    stage_put(&s, "pod s-0" MEMBER " on=n");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 1);
    expect_kept(&s, "thief");
    stage_put(&s, "pod s-3" MEMBER);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 1);
}

TEST(company, one_that_is_lost_has_its_room_back)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    for (int i = 0; i < 4; i++) {
        stage_put(&s, "pod s-%d" MEMBER, i);
        stage_run(&s);
        EXPECT_INT(count(&s, EFFECT_BIND), 1);
        stage_put(&s, "pod s-%d" MEMBER " on=n", i);
    }
    stage_put(&s, "pod s-2" MEMBER " on=n deleting");
    stage_put(&s, "pod thief gpu=1");
    stage_remove(&s, "pod s-2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
    stage_put(&s, "pod s-2" MEMBER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "s-2"), "assumed on n");
}

TEST(company, room_is_made_for_all_of_them_or_for_nobody)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod low-%d gpu=1 on=n priority=%d", i, i == 0 ? 100 : 0);
    stage_put(&s, "pod s-0 priority=10" MEMBER);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_EVICT), 0); /* one of four is more important */
    stage_remove(&s, "pod low-0");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_EVICT), 3);
    static const char *const victims[] = {"low-1", "low-2", "low-3"};
    for (size_t i = 0; i < LEN(victims); i++)
        stage_settle(&s, victims[i], NULL);
    for (size_t i = 0; i < LEN(victims); i++)
        stage_remove(&s, "pod %s", victims[i]);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 1);
    vec_each(&s.effects.list, e)
        EXPECT(e->namespace.n); /* of those to come nobody hears */
}

#define DRIVER                                                                                     \
    "pod d cpu=1 scheduler=kubenexus-scheduler label:spark-role=driver "                           \
    "label:pod-group.scheduling.kubenexus.io/name=s "                                              \
    "label:pod-group.scheduling.kubenexus.io/min-available=3"
#define EXECUTOR                                                                                   \
    " cpu=1 scheduler=kubenexus-scheduler label:spark-role=executor "                              \
    "label:pod-group.scheduling.kubenexus.io/name=s "                                              \
    "label:pod-group.scheduling.kubenexus.io/min-available=3"

TEST(company, a_driver_with_the_labels_of_a_gang_starts_when_its_executors_fit)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=2 memory=32Gi");
    stage_put(&s, DRIVER);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "parked");
    stage_put(&s, "node m cpu=1 memory=32Gi");
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 1);
    stage_put(&s, "pod thief cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "pod e-%d" EXECUTOR, i);
        stage_run(&s);
        EXPECT_INT(count(&s, EFFECT_BIND), 1);
    }
    EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
}

TEST(company, a_driver_that_says_what_it_makes_is_believed)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=3"); /* what a namespace may hold */
    stage_put(&s, "pod other gpu=1 on=n");
    stage_put(&s, DRIVER " note:kubenexus.io/executor-count=3 note:kubenexus.io/executor-gpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "parked");
    stage_put(&s, "node m cpu=1 memory=32Gi gpu=1");
    stage_run(&s);
    EXPECT(stage_effect(&s, "d")->kind == EFFECT_BIND);
    expect_kept(&s, "thief");
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "pod e-%d gpu=1" EXECUTOR, i);
        stage_run(&s);
        EXPECT_INT(count(&s, EFFECT_BIND), 1);
    }
}

/* The first pod of each of two jobs of two, which wait for their owner's object. */
#define OF_JOBS                                                                                    \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'j-%d','namespace':'default',"             \
    "'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'u',"               \
    "'controller':true}],'labels':{'jobset.sigs.k8s.io/jobset-name':'j'},'annotations':{"          \
    "'alpha.jobset.sigs.k8s.io/exclusive-topology':'rack','kubenexus.io/gang':'auto'}},"           \
    "'spec':{'schedulerName':'kubenexus-scheduler','containers':[{'name':'c','resources':{"        \
    "'limits':{'nvidia.com/gpu':'1'},'requests':{'nvidia.com/gpu':'1'}}}]}}"
#define JOB_SET                                                                                    \
    "{'kind':'JobSet','apiVersion':'jobset.x-k8s.io/v1alpha2','metadata':{'name':'j',"             \
    "'namespace':'default'},'spec':{'replicatedJobs':[{'name':'w','replicas':2,"                   \
    "'template':{'spec':{'parallelism':2,'completions':2}}}]}}"

TEST(company, is_counted_when_the_object_of_its_owner_comes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
    for (int i = 0; i < 2; i++)
        stage_put(&s, OF_JOBS, i);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 0);
    stage_put(&s, JOB_SET);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 2);
    expect_kept(&s, "thief");
    for (int i = 2; i < 4; i++)
        stage_put(&s, OF_JOBS, i);
    stage_run(&s);
    EXPECT_INT(count(&s, EFFECT_BIND), 2);
}

/* Of the LeaderWorkerSet l, a group of three. */
#define OF_SET                                                                                     \
    " gpu=1 scheduler=kubenexus-scheduler label:leaderworkerset.sigs.k8s.io/name=l"                \
    " label:leaderworkerset.sigs.k8s.io/group-key=%s note:leaderworkerset.sigs.k8s.io/size=3"
#define SET(policy)                                                                                \
    "{'kind':'LeaderWorkerSet','apiVersion':'leaderworkerset.x-k8s.io/v1','metadata':{"            \
    "'name':'l','namespace':'default'},'spec':{'startupPolicy':'" policy "'}}"

TEST(company, of_a_leader_worker_set_comes_when_the_leader_is_ready_if_the_set_says_so)
{
    static const char *const sets[] = {SET("LeaderCreated"), SET("LeaderReady")};
    for (size_t i = 0; i < LEN(sets); i++) {
        for (int is_late = 0; is_late < 2; is_late++) {
            AUTO(stage) s = {0};
            test_case("%s %s", sets[i], is_late ? "behind its pods" : "before its pods");
            stage_put(&s, "node n cpu=8 memory=32Gi gpu=4");
            if (!is_late)
                stage_put(&s, "%s", sets[i]);
            stage_put(&s, "pod l-0" OF_SET, "a");
            stage_put(&s, "pod l-1" OF_SET, "b");
            stage_run(&s);
            EXPECT(engine_wants(s.engine, KIND_LEADER_WORKER_SET));
            if (is_late)
                stage_put(&s, "%s", sets[i]);
            if (is_late)
                stage_run(&s);
            EXPECT_INT(count(&s, EFFECT_BIND), i); /* of two groups there is room for one */
            stage_put(&s, "pod l-0-1" OF_SET, "a");
            stage_put(&s, "pod l-0-2" OF_SET, "a");
            stage_run(&s);
            EXPECT_INT(count(&s, EFFECT_BIND), 3 - (int)i);
        }
    }
}

/* Of the same set, whose leader has no GPU, and whose workers have two each. */
#define LEADER                                                                                     \
    " cpu=1 scheduler=kubenexus-scheduler label:leaderworkerset.sigs.k8s.io/name=l"                \
    " label:leaderworkerset.sigs.k8s.io/group-key=%s note:leaderworkerset.sigs.k8s.io/size=3"
#define WORKER                                                                                     \
    " gpu=2 select:pool=gpu tolerate:gpu:Exists:: scheduler=kubenexus-scheduler"                   \
    " label:leaderworkerset.sigs.k8s.io/name=l label:leaderworkerset.sigs.k8s.io/group-key=%s"     \
    " note:leaderworkerset.sigs.k8s.io/size=3"
#define SET_OF_WORKERS(gpus)                                                                       \
    "{'kind':'LeaderWorkerSet','apiVersion':'leaderworkerset.x-k8s.io/v1','metadata':{"            \
    "'name':'l','namespace':'default'},'spec':{'startupPolicy':'LeaderReady',"                     \
    "'leaderWorkerTemplate':{'size':3,'workerTemplate':{'spec':{'nodeSelector':{'pool':'gpu'},"    \
    "'tolerations':[{'key':'gpu','operator':'Exists'}],'containers':[{'name':'w','resources':{"    \
    "'limits':{'nvidia.com/gpu':'" gpus "'}}}]}}}}}"

static void put_nodes(struct stage *s, int gpus)
{
    stage_put(s, "node cpus cpu=8 memory=32Gi");
    stage_put(s, "node gpus cpu=8 memory=32Gi gpu=%d label:pool=gpu taint:gpu=yes:NoSchedule",
              gpus);
}

TEST(company, of_a_leader_worker_set_is_like_the_workers_that_it_says)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        AUTO(stage) s = {0};
        test_case("%s", is_late ? "behind its leader" : "before its leader");
        put_nodes(&s, 3); /* room for one worker, and for each pod that is like the leader */
        if (!is_late)
            stage_put(&s, SET_OF_WORKERS("2"));
        stage_put(&s, "pod l-0" LEADER, "a");
        stage_run(&s);
        if (is_late)
            stage_put(&s, SET_OF_WORKERS("2"));
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "l-0"), "parked");
        stage_put(&s, SET_OF_WORKERS("1")); /* it is another one now */
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "l-0"), "assumed on cpus");
    }
}

TEST(company, of_a_leader_worker_set_has_the_room_that_its_workers_need)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 4);
    stage_put(&s, SET_OF_WORKERS("2"));
    stage_put(&s, "pod l-0" LEADER, "a");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "l-0"), "assumed on cpus");
    stage_put(&s, "pod thief gpu=1 tolerate:gpu:Exists::");
    stage_put(&s, "pod l-1" LEADER, "b"); /* of the next group */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "thief"), "parked");
    EXPECT_TEXT(stage_fate(&s, "l-1"), "parked");
    stage_put(&s, "pod l-0-1" WORKER, "a");
    stage_put(&s, "pod l-0-2" WORKER, "a");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "l-0-1"), "assumed on gpus");
    EXPECT_TEXT(stage_fate(&s, "l-0-2"), "assumed on gpus");
}
