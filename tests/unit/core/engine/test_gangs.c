#include "core/engine/step/step.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

static uint32_t binds(const struct stage *s)
{
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        n += e->kind == EFFECT_BIND;
    return n;
}

TEST(gangs, gather_and_say_after_a_while_who_is_missing)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    EXPECT_INT(stage_run(&s), 0);
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 10000);
    s.now_ms = 10000;
    EXPECT_INT(stage_run(&s), 2); /* both are told, at once */
    EXPECT_STR(stage_effect(&s, "a-0")->message, "pod group has 2 pods, needs at least 3");
    EXPECT_STR(stage_effect(&s, "a-1")->message, "pod group has 2 pods, needs at least 3");
    s.now_ms = 70000;
    EXPECT_INT(stage_run(&s), 0); /* and not again */
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    EXPECT_INT(stage_run(&s), 3);
    EXPECT_INT(binds(&s), 3);
}

TEST(gangs, say_soon_what_they_wait_for_when_a_gate_is_lifted)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 gate:x");
    stage_put(&s, "pod a-2 cpu=1 gang=a:3 gate:x");
    stage_run(&s);
    s.now_ms = 10000;
    EXPECT_INT(stage_run(&s), 1); /* those behind gates are told that by the API server */
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "pod group has 1 pods, needs at least 3; 2 more wait behind scheduling gates");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    EXPECT_INT(stage_run(&s), 0); /* the other gates may be lifted, too */
    s.now_ms += 1000;
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "pod group has 2 pods, needs at least 3; 1 more wait behind scheduling gates");
    EXPECT_STR(stage_effect(&s, "a-1")->message,
               "pod group has 2 pods, needs at least 3; 1 more wait behind scheduling gates");
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    EXPECT_INT(stage_run(&s), 3);
    EXPECT_INT(binds(&s), 3);
}

TEST(gangs, count_those_in_who_run_already)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3"); /* as after a restart: in the order of their names */
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 on=n1");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod a-2 cpu=1 gang=a:3 on=n1");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_STR(stage_effect(&s, "a-0")->node, "n1");
}

TEST(gangs, are_spelled_in_many_ways)
{
    static const char *const spellings[] = {
        "label:pod-group.scheduling.kubenexus.io/name=a "
        "label:pod-group.scheduling.kubenexus.io/min-available=2",
        "note:pod-group.scheduling.kubenexus.io/name=a "
        "note:pod-group.scheduling.kubenexus.io/min-available=2",
        "label:pod-group.scheduling.sigs.k8s.io/name=a "
        "label:pod-group.scheduling.sigs.k8s.io/min-available=2",
        "note:pod-group.scheduling.sigs.k8s.io/name=a "
        "note:pod-group.scheduling.sigs.k8s.io/min-available=2",
        "label:kueue.x-k8s.io/pod-group-name=a note:kueue.x-k8s.io/pod-group-total-count=2",
    };
    for (size_t i = 0; i < LEN(spellings); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n1 cpu=8 memory=8Gi");
        stage_put(&s, "pod a-0 cpu=1 scheduler=kubenexus-scheduler %s", spellings[i]);
        EXPECT_INT(stage_run(&s), 0);
        stage_put(&s, "pod a-1 cpu=1 scheduler=kubenexus-scheduler %s", spellings[i]);
        EXPECT_INT(stage_run(&s), 2);
        EXPECT_INT(binds(&s), 2);
    }
}

TEST(gangs, of_one_or_of_another_profile_are_plain_pods)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a cpu=1 gang=a:1");
    stage_put(&s, "pod b cpu=1 gang=b:5 scheduler=default-scheduler");
    EXPECT_INT(stage_run(&s), 3); /* and b is told so */
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, wait_for_the_object_that_says_how_large_they_are)
{
    static const struct {
        const char *pod, *object;
    } cases[] = {
        {"label:scheduling.x-k8s.io/pod-group=a scheduler=kubenexus-scheduler",
         "{'apiVersion':'scheduling.x-k8s.io/v1alpha1','kind':'PodGroup','metadata':{'name':'a',"
         "'namespace':'default'},'spec':{'minMember':2}}"},
        {"group=a scheduler=kubenexus-scheduler",
         "{'apiVersion':'scheduling.k8s.io/v1beta1','kind':'PodGroup','metadata':{'name':'a',"
         "'namespace':'default'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}"},
        {"note:scheduling.k8s.io/group-name=a scheduler=kubenexus-scheduler",
         "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup','metadata':{'name':'a',"
         "'namespace':'default'},'spec':{'minMember':2}}"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n1 cpu=8 memory=8Gi");
        stage_put(&s, "pod a-0 cpu=1 %s", cases[i].pod);
        EXPECT_INT(stage_run(&s), 0);
        stage_put(&s, "%s", cases[i].object);
        EXPECT_INT(stage_run(&s), 0);
        stage_put(&s, "pod a-1 cpu=1 %s", cases[i].pod);
        EXPECT_INT(stage_run(&s), 2);
        EXPECT_INT(binds(&s), 2);
    }
}

TEST(gangs, without_their_object_are_told_so)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 group=a scheduler=kubenexus-scheduler");
    stage_run(&s);
    s.now_ms = 10000;
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "pod group a does not exist: waiting for a PodGroup of scheduling.k8s.io");
}

TEST(gangs, a_basic_pod_group_is_no_gang)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 group=a scheduler=kubenexus-scheduler");
    stage_put(&s, "{'apiVersion':'scheduling.k8s.io/v1beta1','kind':'PodGroup','metadata':"
                  "{'name':'a','namespace':'default'},'spec':{'schedulingPolicy':{'basic':{}}}}");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(binds(&s), 1);
}

TEST(gangs, of_kubernetes_own_groups_alone_where_the_profile_says_so)
{
    uint32_t number = 0;
    while (strcmp(plugins[number]->name, "GangScheduling"))
        number++;
    struct profile_plugin all[64];
    memcpy(all, built_in_profiles[0].plugins, built_in_profiles[0].n * sizeof(*all));
    struct profile profile = {STR("default-scheduler"), all, built_in_profiles[0].n};
    for (int has_gangs = 0; has_gangs < 2; has_gangs++) {
        AUTO(stage)
        s = {.config = {.rules = {.profiles = &profile, .n_profiles = 1}}};
        test_case("%s GangScheduling", has_gangs ? "with" : "without");
        if (has_gangs)
            all[profile.n++] = (struct profile_plugin){.plugin = plugins[number], .number = number};
        stage_put(&s, "node n1 cpu=1 memory=8Gi");
        stage_put(&s, "{'apiVersion':'scheduling.k8s.io/v1beta1','kind':'PodGroup','metadata':{"
                      "'name':'a','namespace':'default'},'spec':{'schedulingPolicy':{'gang':{"
                      "'minCount':2}}}}");
        stage_put(&s, "pod a-0 cpu=600m group=a");
        stage_put(&s, "pod a-1 cpu=600m group=a");
        stage_run(&s);
        EXPECT_INT(binds(&s), !has_gangs);
        stage_put(&s, "node n2 cpu=2 memory=8Gi");
        stage_put(&s, "pod b-0 cpu=100m gang=b:5 scheduler=default-scheduler");
        s.now_ms = 20000;
        stage_run(&s);
        EXPECT_INT(binds(&s), has_gangs ? 3 : 2);
    }
}

TEST(gangs, outlive_their_leader)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3", i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    EXPECT_INT(engine_stats(s.engine).parked, 1);
    stage_remove(&s, "pod a-0"); /* whoever it was under: the unit stays, with its wait */
    EXPECT_INT(engine_stats(s.engine).parked + engine_stats(s.engine).active +
                   engine_stats(s.engine).backing_off,
               1);
    s.now_ms = 20000;
    stage_put(&s, "node n2 cpu=1 memory=8Gi");
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    for (int i = 1; i < 4; i++)
        stage_remove(&s, "pod a-%d", i);
    EXPECT_INT(engine_stats(s.engine).parked, 0);
}

TEST(gangs, quorum_counts_who_runs_and_who_has_ended_never_who_goes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3 owner:Job=j on=n1 phase=Running");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 owner:Job=j on=n1 phase=Running");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 owner:Job=j on=n1 phase=Succeeded");
    stage_put(&s, "pod a-2 cpu=1 gang=a:3 owner:Job=j");
    stage_run(&s);
    EXPECT_INT(binds(&s), 1); /* one runs, one has ended, one is placed */

    stage_put(&s, "pod b-0 cpu=1 gang=b:3 on=n1 phase=Running deleting");
    stage_put(&s, "pod b-1 cpu=1 gang=b:3");
    stage_put(&s, "pod b-2 cpu=1 gang=b:3");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    stage_put(&s, "pod b-3 cpu=1 gang=b:3");
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
}

TEST(gangs, forget_who_ended_when_another_run_begins)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 owner:Job=j on=n1 phase=Running", i);
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 owner:Job=j on=n1 phase=Succeeded", i);
    stage_put(&s, "pod x-0 cpu=1 gang=a:3 owner:Job=k");
    EXPECT_INT(stage_run(&s), 0);
}

TEST(gangs, that_run_do_not_wait_for_ever_for_one_that_never_comes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3 on=n1 phase=Running"); /* a-1 ended before we came */
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms = 10000;
    stage_run(&s);
    EXPECT_INT(binds(&s), 1);
}

TEST(gangs, a_member_whose_binding_failed_joins_again)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3", i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    stage_settle(&s, "a-0", NULL);
    stage_settle(&s, "a-2", NULL);
    stage_settle(&s, "a-1", "conflict");
    EXPECT_TEXT(stage_fate(&s, "a-1"), "backing off");
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms = 2000;
    stage_run(&s);
    EXPECT_INT(binds(&s), 1);
}

TEST(gangs, are_tried_again_as_one_and_at_once_when_there_is_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3", i);
    stage_run(&s);
    for (uint32_t i = 0; i < 3; i++) {
        stage_put(&s, "pod x cpu=1 on=n1"); /* its end does not help */
        stage_remove(&s, "pod x");
        EXPECT_TEXT(stage_fate(&s, "a-0"), "parked");
        EXPECT_INT(stage_run(&s), 0);
    }
    EXPECT_INT(queue_attempts(s.engine->queue, s.engine->gangs->all.at[0].leader), 1);
    stage_put(&s, "node n2 cpu=1 memory=8Gi");
    EXPECT_TEXT(stage_fate(&s, "a-0"), "active");
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
}

TEST(gangs, with_a_size_that_is_none_fail_with_its_key)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:2");
    stage_put(&s, "pod a-1 cpu=1 gang=a:two");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    EXPECT_INT(stage_effect(&s, "a-1")->kind, EFFECT_FAIL);
    EXPECT_STR(stage_effect(&s, "a-1")->message,
               "label pod-group.scheduling.kubenexus.io/min-available: \"two\" is no number of "
               "members: 1 or more");
    stage_put(&s, "pod a-1 cpu=1 gang=a:2");
    stage_run(&s);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, without_any_size_that_is_one_do_not_start_one_by_one)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:two");
    stage_put(&s, "pod a-1 cpu=1 gang=a:two");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    stage_put(&s, "pod a-0 cpu=1 gang=a:2");
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    stage_remove(&s, "pod a-1");
    stage_put(&s, "pod a-1 cpu=1 gang=a:2");
    stage_run(&s);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, pods_behind_gates_are_not_there_yet)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:2");
    stage_put(&s, "pod a-1 cpu=1 gang=a:2 gate:kueue");
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms = 10000;
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a-0")->message, "pod group has 1 pods, needs at least 2; 1 more "
                                                 "wait behind scheduling gates");
    stage_put(&s, "pod a-1 cpu=1 gang=a:2");
    stage_run(&s);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, a_pod_that_changes_its_group_leaves_the_old_one)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    stage_put(&s, "pod b-0 cpu=1 gang=b:3");
    stage_put(&s, "pod b-1 cpu=1 gang=b:3");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod a-0 cpu=1 gang=b:3");
    stage_run(&s);
    EXPECT_INT(binds(&s), 3);
    EXPECT_TEXT(stage_fate(&s, "a-1"), "gated");
    stage_put(&s, "pod a-1 cpu=1 scheduler=kubenexus-scheduler"); /* and none at all */
    stage_run(&s);
    EXPECT_INT(binds(&s), 1);
}

/* --- owners --- */

#define AUTO_POD "cpu=1 scheduler=kubenexus-scheduler note:kubenexus.io/gang=auto "
#define JOB(parallelism, more)                                                                     \
    "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','namespace':'default'},"         \
    "'spec':{'parallelism':" parallelism ",'template':{'metadata':{'annotations':"                 \
    "{'kubenexus.io/gang':'auto'}}}}" more "}"

TEST(gangs, of_an_owner_that_says_how_many_wait_for_its_object)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod plain cpu=1 scheduler=kubenexus-scheduler owner:Job=j");
    EXPECT_INT(stage_run(&s), 1); /* it did not ask */
    EXPECT(!engine_wants(s.engine, KIND_JOB));
    stage_put(&s, "pod j-0 " AUTO_POD "owner:Job=j");
    EXPECT_INT(stage_run(&s), 0);
    EXPECT(engine_wants(s.engine, KIND_JOB) && !engine_wants(s.engine, KIND_JOB_SET));
    s.now_ms = 10000;
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_STR(stage_effect(&s, "j-0")->message,
               "pod group j does not exist: waiting for a Job of batch");
    stage_put(&s, JOB("3", ""));
    stage_put(&s, "pod j-1 " AUTO_POD "owner:Job=j");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod j-2 " AUTO_POD "owner:Job=j");
    EXPECT_INT(stage_run(&s), 3);
    EXPECT_INT(binds(&s), 3);
}

TEST(gangs, of_an_owner_grow_and_shrink_with_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, JOB("4", ""));
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod j-%d " AUTO_POD "owner:Job=j", i);
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, JOB("3", ""));
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, JOB("2", ""));
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, of_a_job_count_those_that_it_says_have_succeeded)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, JOB("4", ""));
    stage_put(&s, "pod j-0 " AUTO_POD "owner:Job=j"); /* as after a restart: the last of them */
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, JOB("4", ",'status':{'succeeded':2}"));
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, JOB("4", ",'status':{'succeeded':3}"));
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(binds(&s), 1);
}

TEST(gangs, of_an_owner_that_makes_one_part_after_the_other_start_part_by_part)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "{'apiVersion':'jobset.x-k8s.io/v1alpha2','kind':'JobSet','metadata':"
                  "{'name':'s','namespace':'default'},'spec':{'startupPolicy':"
                  "{'startupPolicyOrder':'InOrder'},'replicatedJobs':[{'name':'init'},"
                  "{'name':'node','replicas':2}]}}");
#define MEMBER AUTO_POD "label:jobset.sigs.k8s.io/jobset-name=s owner:Job=s-x "
#define ROLE   "label:jobset.sigs.k8s.io/replicatedjob-name="
    stage_put(&s, "pod init " MEMBER ROLE "init");
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(binds(&s), 1);
    stage_put(&s, "pod node-0 " MEMBER ROLE "node");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod node-1 " MEMBER ROLE "node");
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, of_kubeflows_jobs_need_not_ask_where_that_is_configured)
{
    for (int is_on = 0; is_on < 2; is_on++) {
        struct coscheduling_args args = COSCHEDULING_DEFAULTS;
        args.gangs_kubeflow = is_on;
        AUTO(stage) s = {0};
        stage_set_gangs(&s, &args);
        stage_put(&s, "node n1 cpu=8 memory=8Gi");
        stage_put(&s,
                  "{'apiVersion':'kubeflow.org/v2beta1','kind':'MPIJob','metadata':{'name':'m',"
                  "'namespace':'default'},'spec':{'mpiReplicaSpecs':{'Worker':{'replicas':2}}}}");
        stage_put(&s, "pod m-0 cpu=1 scheduler=kubenexus-scheduler owner:MPIJob=m");
        EXPECT_INT(stage_run(&s), is_on ? 0 : 1);
        stage_put(&s, "pod m-1 cpu=1 scheduler=kubenexus-scheduler owner:MPIJob=m");
        EXPECT_INT(stage_run(&s), is_on ? 2 : 1);
    }
}

TEST(gangs, of_head_and_workers_start_together)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_put(&s, "{'apiVersion':'ray.io/v1','kind':'RayCluster','metadata':{'name':'r',"
                  "'namespace':'default'},'spec':{'workerGroupSpecs':[{'replicas':3}]}}");
    stage_put(&s, "pod head " AUTO_POD "owner:RayCluster=r");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod worker-%d " AUTO_POD "owner:RayCluster=r", i);
    stage_run(&s);
    EXPECT_INT(binds(&s), 0);
    EXPECT_STR(str_part(stage_effect(&s, "head")->message, 0, 18), "gang r needs 4 x (");
    stage_put(&s, "node n2 cpu=1 memory=8Gi");
    stage_run(&s);
    EXPECT_INT(binds(&s), 4);
}

/* --- Kubernetes 1.35 --- */

#define REF_POD(name, ref)                                                                         \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'" name "','namespace':'default'},'spec':" \
    "{'schedulerName':'kubenexus-scheduler','workloadRef':{'name':'w'," ref "},'containers':"      \
    "[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}"
#define WORKLOAD(minimum)                                                                          \
    "{'apiVersion':'scheduling.k8s.io/v1alpha1','kind':'Workload','metadata':{'name':'w',"         \
    "'namespace':'default'},'spec':{'podGroups':[{'name':'one','policy':{'basic':{}}},"            \
    "{'name':'all','policy':{'gang':{'minCount':" minimum "}}}]}}"

TEST(gangs, of_a_workload_wait_for_it_and_for_each_other)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=9 memory=8Gi");
    stage_put(&s, REF_POD("a", "'podGroup':'all'"));
    EXPECT_INT(stage_run(&s), 0);
    EXPECT(engine_wants(s.engine, KIND_WORKLOAD));
    s.now_ms = 10000;
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a")->message,
               "pod group w/all does not exist: waiting for a Workload of scheduling.k8s.io");
    stage_put(&s, WORKLOAD("2"));
    stage_put(&s, REF_POD("x", "'podGroup':'one'"));
    EXPECT_INT(stage_run(&s), 1); /* its group is none that must start together */
    EXPECT_INT(binds(&s), 1);
    stage_put(&s, REF_POD("b", "'podGroup':'all'"));
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(binds(&s), 2);
}

TEST(gangs, of_a_workload_may_have_replicas_that_follow_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=9 memory=8Gi");
    stage_put(&s, REF_POD("a-0", "'podGroup':'all','podGroupReplicaKey':'a'"));
    stage_put(&s, WORKLOAD("3"));
    stage_put(&s, REF_POD("a-1", "'podGroup':'all','podGroupReplicaKey':'a'"));
    stage_put(&s, REF_POD("b-0", "'podGroup':'all','podGroupReplicaKey':'b'"));
    EXPECT_INT(stage_run(&s), 0); /* there are three, but not of one replica */
    stage_put(&s, WORKLOAD("2"));
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_TEXT(stage_fate(&s, "a-0"), "assumed on n1");
    stage_remove(&s, WORKLOAD("2"));
    stage_put(&s, REF_POD("b-1", "'podGroup':'all','podGroupReplicaKey':'b'"));
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, WORKLOAD("2"));
    EXPECT_INT(stage_run(&s), 2);
}
