#include "core/model/classify.h"

#include "core/base/rng.h"
#include "support/objects.h"
#include "support/test.h"

static struct classified classify(struct arena *mem, const char *line, bool is_gang, int64_t gpus,
                                  struct misreads *misread)
{
    struct pod *pod = object_of(mem, line).pod;
    struct pod_said said;
    pod_said_read(pod, &said);
    return pod_classify(pod, &said, is_gang, gpus, misread);
}

/* "training (label spark-role)" of a pod described by its words. */
static void expect_class(const char *words, bool is_gang, int64_t gpus, const char *wanted)
{
    AUTO(arena) mem = {0};
    AUTO(buf) text = {0};
    struct misreads misread = {0};
    struct str line = arena_printf(&mem, "pod p %s", words);
    struct classified is = classify(&mem, line.p, is_gang, gpus, &misread);
    buf_add(&text, workload_name(is.workload));
    buf_printf(&text, " (");
    sign_text(is.workload_sign, &text);
    buf_printf(&text, ")");
    buf_add_char(&text, '\0');
    test_case("%s gang=%d gpus=%ld", words, is_gang, (long)gpus);
    EXPECT_TEXT(text.p, wanted);
    EXPECT_INT(misread.n, 0);
    vec_done(&misread);
}

/* The labels and owners that each operator really puts on its pods. */
TEST(classify, the_pods_of_every_operator)
{
    static const struct {
        const char *words, *wanted;
    } cases[] = {
        {"label:training.kubeflow.org/job-name=j label:training.kubeflow.org/replica-type=worker "
         "label:training.kubeflow.org/operator-name=pytorchjob-controller owner:PyTorchJob=j",
         "training (label training.kubeflow.org/job-name)"},
        {"owner:PyTorchJob=j", "training (owner PyTorchJob)"},
        {"owner:TFJob=j label:tf-replica-type=ps label:tf-job-name=j",
         "training (label tf-job-name)"},
        {"owner:MPIJob=j label:training.kubeflow.org/job-role=launcher", "training (owner MPIJob)"},
        {"owner:XGBoostJob=j", "training (owner XGBoostJob)"},
        {"owner:PaddleJob=j", "training (owner PaddleJob)"},
        {"owner:JAXJob=j", "training (owner JAXJob)"},
        {"label:pytorch-job-name=j", "training (label pytorch-job-name)"},
        {"label:tf-replica-type=worker", "batch (label tf-replica-type)"},
        {"owner:Job=j label:jobset.sigs.k8s.io/jobset-name=j "
         "label:trainer.kubeflow.org/trainjob-ancestor-step=trainer",
         "training (label trainer.kubeflow.org/trainjob-ancestor-step)"},
        {"owner:Job=j label:jobset.sigs.k8s.io/jobset-name=j label:job-name=j",
         "batch (label jobset.sigs.k8s.io/jobset-name)"},
        {"owner:StatefulSet=s label:leaderworkerset.sigs.k8s.io/name=l",
         "batch (label leaderworkerset.sigs.k8s.io/name)"},
        {"owner:RayCluster=r label:ray.io/cluster=r label:ray.io/node-type=worker",
         "batch (label ray.io/cluster)"},
        {"owner:RayCluster=r label:ray.io/originated-from-crd=RayService",
         "inference (label ray.io/originated-from-crd)"},
        {"owner:RayCluster=r label:ray.io/originated-from-crd=RayJob", "batch (owner RayCluster)"},
        {"label:spark-role=driver label:spark-app-selector=s", "batch (label spark-role)"},
        {"label:sparkoperator.k8s.io/app-name=s", "batch (label sparkoperator.k8s.io/app-name)"},
        {"owner:Workflow=w label:workflows.argoproj.io/workflow=w",
         "batch (label workflows.argoproj.io/workflow)"},
        {"owner:Workflow=w", "batch (owner Workflow)"},
        {"owner:Job=j label:batch.kubernetes.io/job-name=j",
         "batch (label batch.kubernetes.io/job-name)"},
        {"owner:Job=j", "batch (owner Job)"},
        {"owner:CronJob=j", "batch (owner CronJob)"},
        {"label:volcano.sh/job-name=j", "batch (label volcano.sh/job-name)"},
        {"owner:ReplicaSet=r label:serving.kserve.io/inferenceservice=i",
         "inference (label serving.kserve.io/inferenceservice)"},
        {"label:leaderworkerset.sigs.k8s.io/name=l label:serving.kserve.io/inferenceservice=i",
         "inference (label serving.kserve.io/inferenceservice)"},
        {"owner:ReplicaSet=r label:seldon-deployment-id=s",
         "inference (label seldon-deployment-id)"},
        {"label:app.kubernetes.io/component=predictor",
         "inference (label app.kubernetes.io/component)"},
        {"label:app.kubernetes.io/component=database", "service (nothing says otherwise)"},
        {"label:hub.jupyter.org/username=u", "interactive (label hub.jupyter.org/username)"},
        {"label:app.kubernetes.io/name=jupyterhub", "interactive (label app.kubernetes.io/name)"},
        {"label:app.kubernetes.io/name=gitlab", "service (nothing says otherwise)"},
        {"image:quay.io/jupyter/scipy-notebook:1", "interactive (image jupyter)"},
        {"image:codercom/code-server:4", "interactive (image code-server)"},
        {"image:registry.lab.example/web:1", "service (nothing says otherwise)"},
        {"owner:ReplicaSet=r", "service (nothing says otherwise)"},
        {"owner:DaemonSet=d", "service (nothing says otherwise)"},
        {"owner:StatefulSet=d", "service (nothing says otherwise)"},
        {"", "service (nothing says otherwise)"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        expect_class(cases[i].words, false, 0, cases[i].wanted);
}

TEST(classify, a_word_of_its_own_wins)
{
    static const char *const words[] = {"training", "inference", "batch", "service", "interactive"};
    for (size_t i = 0; i < LEN(words); i++) {
        AUTO(arena) mem = {0};
        expect_class(
            arena_printf(&mem, "label:workload.kubenexus.io/type=%s owner:Job=j", words[i]).p, true,
            8, arena_printf(&mem, "%s (label workload.kubenexus.io/type)", words[i]).p);
        expect_class(
            arena_printf(&mem, "note:workload.kubenexus.io/type=%s owner:Job=j", words[i]).p, false,
            8, arena_printf(&mem, "%s (annotation workload.kubenexus.io/type)", words[i]).p);
    }
    expect_class("label:workload.kubenexus.io/type=TRAINING", false, 0,
                 "training (label workload.kubenexus.io/type)");
}

TEST(classify, gangs_and_batch_work_with_many_gpus_are_training)
{
    expect_class("", true, 0, "training (gang)");
    expect_class("owner:Job=j", true, 0, "training (gang)");
    expect_class("owner:Job=j", false, 2, "training (batch work with several accelerators)");
    expect_class("owner:Job=j", false, 1, "batch (owner Job)");
    expect_class("owner:ReplicaSet=r", false, 8, "service (nothing says otherwise)");
    expect_class("label:serving.kserve.io/inferenceservice=i", true, 8,
                 "inference (label serving.kserve.io/inferenceservice)");
}

TEST(classify, a_malformed_value_is_told_and_decides_nothing)
{
    AUTO(arena) mem = {0};
    struct misreads misread = {0};
    struct classified is = classify(
        &mem,
        "pod p label:workload.kubenexus.io/type=trainnig label:tenant.kubenexus.io/tier=platinum "
        "label:workload.kubenexus.io/preemptible=maybe note:scheduling.kubenexus.io/"
        "priority-tier=urgent owner:Job=j",
        false, 0, &misread);
    EXPECT_INT(is.workload, WORKLOAD_BATCH);
    EXPECT_INT(is.own_tier, TIER_NONE);
    EXPECT(!is.is_preemptible);
    EXPECT_INT(misread.n, 4);
    EXPECT_STR(misread.at[0].key, "workload.kubenexus.io/type");
    EXPECT_STR(misread.at[0].value, "trainnig");
    vec_done(&misread);
}

TEST(classify, only_who_says_so_is_preemptible)
{
    static const struct {
        const char *words;
        bool is_preemptible;
        const char *because;
    } cases[] = {
        {"", false, "nothing says otherwise"},
        {"priority=0", false, "nothing says otherwise"},
        {"priority=100", false, "nothing says otherwise"},
        {"priority=-1", true, "priority below zero"},
        {"class=low-priority", true, "priority class low-priority"},
        {"class=best-effort priority=5", true, "priority class best-effort"},
        {"class=lower-priority", false, "nothing says otherwise"},
        {"label:workload.kubenexus.io/preemptible=true", true,
         "label workload.kubenexus.io/preemptible"},
        {"label:workload.kubenexus.io/preemptible=false priority=-1", false,
         "label workload.kubenexus.io/preemptible"},
        {"label:scheduling.kubenexus.io/backfill=true", true,
         "label scheduling.kubenexus.io/backfill"},
        {"label:backfill.scheduling.kubenexus.io/eligible=true", true,
         "label backfill.scheduling.kubenexus.io/eligible"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) text = {0};
        struct misreads misread = {0};
        struct classified is =
            classify(&mem, arena_printf(&mem, "pod p %s", cases[i].words).p, false, 0, &misread);
        sign_text(is.preemptible_sign, &text);
        test_case("%s", cases[i].words);
        EXPECT_INT(is.is_preemptible, cases[i].is_preemptible);
        EXPECT_STR(buf_str(&text), cases[i].because);
        vec_done(&misread);
    }
}

TEST(classify, priority_classes_have_tiers_by_their_exact_names)
{
    static const struct {
        const char *name;
        enum tier tier;
    } cases[] = {
        {"high-priority", TIER_GOLD},
        {"system-cluster-critical", TIER_GOLD},
        {"system-node-critical", TIER_GOLD},
        {"medium-priority", TIER_SILVER},
        {"default-priority", TIER_SILVER},
        {"low-priority", TIER_BRONZE},
        {"best-effort", TIER_BRONZE},
        {"very-high-priority", TIER_NONE},
        {"gold", TIER_NONE},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct misreads misread = {0};
        test_case("%s", cases[i].name);
        EXPECT_INT(classify(&mem, arena_printf(&mem, "pod p class=%s", cases[i].name).p, false, 0,
                            &misread)
                       .class_tier,
                   cases[i].tier);
    }
}

/* Any labels with any values: the same answer twice, and always one that exists. */
TEST(classify, is_a_function_of_the_pod_whatever_it_says)
{
    static const struct str values[] = {STR(""),     STR("true"), STR("gold"), STR("batch"),
                                        STR("-1"),   STR("0,1"),  STR("80Gi"), STR("\xff\x00z"),
                                        STR("none"), STR("lab")};
    struct rng r = rng_seeded(test_seed());
    for (uint32_t round = 0; round < 2000; round++) {
        struct pair labels[6], notes[6];
        for (uint32_t i = 0; i < 6; i++) {
            labels[i] = (struct pair){pod_keys[rng_below(&r, n_pod_keys)].text,
                                      values[rng_below(&r, LEN(values))]};
            notes[i] = (struct pair){pod_keys[rng_below(&r, n_pod_keys)].text,
                                     values[rng_below(&r, LEN(values))]};
        }
        struct pod pod = {.meta = {.labels = {labels, 6}, .annotations = {notes, 6}}};
        struct pod_said said;
        struct misreads first = {0}, second = {0};
        pod_said_read(&pod, &said);
        bool is_gang = rng_below(&r, 2);
        int64_t gpus = (int64_t)rng_below(&r, 3);
        struct classified a = pod_classify(&pod, &said, is_gang, gpus, &first);
        struct classified b = pod_classify(&pod, &said, is_gang, gpus, &second);
        REQUIRE(memcmp(&a, &b, sizeof(a)) == 0 && first.n == second.n);
        REQUIRE(a.workload > WORKLOAD_UNKNOWN && a.workload < N_WORKLOADS);
        REQUIRE(a.own_tier < N_TIERS);
        vec_done(&first);
        vec_done(&second);
    }
}
