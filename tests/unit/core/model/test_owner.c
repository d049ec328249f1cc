#include "core/model/owner.h"

#include "support/objects.h"
#include "support/test.h"

#define OF(api, kind)  "{'apiVersion':'" api "','kind':'" kind "','metadata':{'name':'x'},"
#define KUBEFLOW(kind) OF("kubeflow.org/v1", kind)

/* As "2" or, of one that comes part by part, "a=1 b=2". */
static struct str say(struct arena *mem, const struct pod_group *g)
{
    struct str text = g->parts.n ? STR("") : arena_printf(mem, "%d", g->minimum);
    list_each(&g->parts, part)
        text = arena_printf(mem, STR_FMT "%s" STR_FMT "=%d", STR_ARG(text), text.n ? " " : "",
                            STR_ARG(part->role), part->minimum);
    return text;
}

TEST(owner, an_owner_says_how_many_pods_it_makes)
{
    static const struct {
        const char *object, *size;
    } cases[] = {
        /* clang-format off */
        {OF("jobset.x-k8s.io/v1alpha2", "JobSet") "'spec':{'replicatedJobs':["
         "{'name':'a','replicas':2,'template':{'spec':{'parallelism':4,'completions':4}}},"
         "{'name':'b'}]}}", "9"},
        {OF("jobset.x-k8s.io/v1alpha2", "JobSet") "'spec':{'replicatedJobs':["
         "{'name':'a','template':{'spec':{'parallelism':4,'completions':3}}}]}}", "3"},
        {OF("jobset.x-k8s.io/v1alpha2", "JobSet") "'spec':{'startupPolicy':"
         "{'startupPolicyOrder':'InOrder'},'replicatedJobs':[{'name':'a'},{'name':'b','replicas':3}"
         "]}}", "a=1 b=3"},
        {OF("jobset.x-k8s.io/v1alpha2", "JobSet") "'spec':{'replicatedJobs':[{'name':'a'},"
         "{'name':'b','replicas':3,'dependsOn':[{'name':'a','status':'Complete'}]}]}}", "a=1 b=3"},
        {KUBEFLOW("PyTorchJob") "'spec':{'pytorchReplicaSpecs':{'Worker':{'replicas':3},"
         "'Master':{}}}}", "4"},
        {KUBEFLOW("PyTorchJob") "'spec':{'elasticPolicy':{'minReplicas':2,'maxReplicas':6},"
         "'pytorchReplicaSpecs':{'Worker':{'replicas':6}}}}", "2"},
        {KUBEFLOW("PyTorchJob") "'spec':{'runPolicy':{'schedulingPolicy':{'minAvailable':3}},"
         "'pytorchReplicaSpecs':{'Worker':{'replicas':6}}}}", "3"},
        {KUBEFLOW("TFJob") "'spec':{'tfReplicaSpecs':{'PS':{'replicas':2},'Worker':{'replicas':4}}}"
         "}", "6"},
        {KUBEFLOW("XGBoostJob") "'spec':{'xgbReplicaSpecs':{'Master':{},'Worker':{'replicas':2}}}}",
         "3"},
        {KUBEFLOW("PaddleJob") "'spec':{'paddleReplicaSpecs':{'Worker':{'replicas':2}}}}", "2"},
        {KUBEFLOW("JAXJob") "'spec':{'jaxReplicaSpecs':{'Worker':{'replicas':5}}}}", "5"},
        {KUBEFLOW("MPIJob") "'spec':{'mpiReplicaSpecs':{'Launcher':{},'Worker':{'replicas':2}}}}",
         "3"},
        {OF("kubeflow.org/v2beta1", "MPIJob") "'spec':{'launcherCreationPolicy':"
         "'WaitForWorkersReady','mpiReplicaSpecs':{'Launcher':{'replicas':1},"
         "'Worker':{'replicas':2}}}}", "Launcher=1 Worker=2"},
        {OF("ray.io/v1", "RayCluster") "'spec':{'headGroupSpec':{},'workerGroupSpecs':["
         "{'groupName':'a','replicas':2,'numOfHosts':4},{'groupName':'b','replicas':1},"
         "{'groupName':'c','replicas':7,'suspend':true}]}}", "10"},
        {OF("ray.io/v1", "RayCluster") "'spec':{'enableInTreeAutoscaling':true,'workerGroupSpecs':"
         "[{'groupName':'a','replicas':5,'minReplicas':1,'maxReplicas':9}]}}", "2"},
        {OF("ray.io/v1", "RayCluster") "'spec':{'headGroupSpec':{}}}", "1"},
        {OF("ray.io/v1", "RayCluster") "'spec':{'workerGroupSpecs':[{'replicas':-5},"
         "{'replicas':2000000000}]}}", "1"},
        {OF("scheduling.x-k8s.io/v1alpha1", "PodGroup") "'spec':{'minMember':3}}", "3"},
        /* clang-format on */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct pod_group group;
        test_case("%s", cases[i].object);
        struct object o = object_of_json(&mem, cases[i].object);
        REQUIRE(o.kind != KIND_NONE);
        EXPECT(pod_group_of(&o, &mem, &group));
        EXPECT_STR(say(&mem, &group), cases[i].size);
        EXPECT_INT(kind_is_owner(o.kind), o.kind != KIND_SIGS_POD_GROUP);
    }
}

TEST(owner, a_job_speaks_only_for_pods_that_ask)
{
    static const struct {
        const char *template, *spec;
        bool asks;
        int size;
    } cases[] = {
        {"'labels':{'kubenexus.io/gang':'auto'}", "'parallelism':4,'completions':4", true, 4},
        {"'annotations':{'kubenexus.io/gang':'auto'}", "'parallelism':4,'completions':3", true, 3},
        {"'labels':{'kubenexus.io/gang-scheduling':'true'}", "'parallelism':4", true, 4},
        {"'labels':{'kubenexus.io/gang':'auto'}", "'completions':8", true, 1},
        {"'labels':{'kubenexus.io/gang':'no'}", "'parallelism':4", false, 0},
        {"'labels':{'app':'a'}", "'parallelism':4", false, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct pod_group group;
        struct str text =
            arena_printf(&mem,
                         OF("batch/v1", "Job") "'spec':{%s,'template':{'metadata':{%s}}},"
                                               "'status':{'succeeded':2}}%c",
                         cases[i].spec, cases[i].template, 0);
        test_case("%s", text.p);
        struct object o = object_of_json(&mem, text.p);
        EXPECT_INT(pod_group_of(&o, &mem, &group), cases[i].asks);
        if (cases[i].asks) {
            EXPECT_INT(group.minimum, cases[i].size);
            EXPECT_INT(group.ended, 2);
        }
    }
}
