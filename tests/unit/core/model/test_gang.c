#include "core/model/gang.h"

#include "support/test.h"

/* A pod with labels as words "KEY=VALUE"; "@KEY=VALUE" is an annotation, "$NAME=VALUE" a variable
 * of its container, ".VALUE" the field spec.schedulingGroup, "^API:KIND:NAME" its controller. */
static struct pod pod_of(struct arena *mem, const char *line)
{
    struct pod pod = {0};
    pod.meta.labels.at = arena_array(mem, struct pair, 8);
    pod.meta.annotations.at = arena_array(mem, struct pair, 8);
    struct container *container = arena_array(mem, struct container, 1);
    container->env.at = arena_array(mem, struct env_var, 8);
    pod.spec.containers.at = container;
    pod.spec.containers.n = 1;
    struct str words = str_of(line);
    while (words.n) {
        struct str rest = str_take(&words, ' ');
        if (rest.p[0] == '.') {
            pod.spec.scheduling_group = str_part(rest, 1, rest.n);
            continue;
        }
        if (rest.p[0] == '^') {
            struct str name = str_part(rest, 1, rest.n);
            struct owner *owner = arena_array(mem, struct owner, 1);
            *owner = (struct owner){.api_version = str_take(&name, ':'), .is_controller = true};
            owner->kind = str_take(&name, ':');
            owner->name = name;
            pod.meta.owners.at = owner;
            pod.meta.owners.n = 1;
            continue;
        }
        if (rest.p[0] == '$') {
            struct str value = str_part(rest, 1, rest.n);
            struct str name = str_take(&value, '=');
            container->env.at[container->env.n++] = (struct env_var){name, value};
            continue;
        }
        bool is_annotation = rest.p[0] == '@';
        rest = str_part(rest, is_annotation, rest.n);
        struct str key = str_take(&rest, '=');
        pair_list *list = is_annotation ? &pod.meta.annotations : &pod.meta.labels;
        list->at[list->n++] = (struct pair){key, rest};
    }
    return pod;
}

#define NEXUS "pod-group.scheduling.kubenexus.io/"
#define SIGS  "pod-group.scheduling.sigs.k8s.io/"

TEST(gang, name_and_size_come_from_the_first_spelling_that_is_there)
{
    static const struct {
        const char *words, *group;
        int minimum;
        enum kind object;
        const char *conflict;
    } cases[] = {
        {NEXUS "name=a " NEXUS "min-available=3", "a", 3, KIND_NONE, ""},
        {"@" NEXUS "name=a @" NEXUS "min-available=3", "a", 3, KIND_NONE, ""},
        {SIGS "name=a " SIGS "min-available=3", "a", 3, KIND_NONE, ""},
        {"@" SIGS "name=a @" SIGS "min-available=11", "a", 11, KIND_NONE, ""},
        {SIGS "name=a " SIGS "min-member=4", "a", 4, KIND_NONE, ""},
        {SIGS "name=b " NEXUS "name=a " SIGS "min-available=5", "a", 5, KIND_NONE, "b"},
        {"@" NEXUS "name=b " NEXUS "name=a", "a", 0, KIND_NONE, "b"},
        {"@" NEXUS "name=a " NEXUS "name=a", "a", 0, KIND_NONE, ""},
        {"scheduling.x-k8s.io/pod-group=a", "a", 0, KIND_SIGS_POD_GROUP, ""},
        {"scheduling.x-k8s.io/pod-group=b @" SIGS "name=a", "a", 0, KIND_NONE, "b"},
        {"@scheduling.k8s.io/group-name=a", "a", 0, KIND_VOLCANO_POD_GROUP, ""},
        {".native " NEXUS "name=a " NEXUS "min-available=3", "native", 3, KIND_POD_GROUP, "a"},
        {"kueue.x-k8s.io/pod-group-name=a @kueue.x-k8s.io/pod-group-total-count=6", "a", 6,
         KIND_NONE, ""},
        {"leaderworkerset.sigs.k8s.io/group-key=a @leaderworkerset.sigs.k8s.io/size=4", "a", 4,
         KIND_NONE, ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct pod pod = pod_of(&mem, cases[i].words);
        struct gang_identity id;
        EXPECT(gang_identity_of(&pod, &id));
        EXPECT_STR(id.group.value, cases[i].group);
        EXPECT_INT(id.minimum, cases[i].minimum);
        EXPECT_INT(id.object, cases[i].object);
        EXPECT_STR(id.conflict.value, cases[i].conflict);
    }
}

TEST(gang, a_size_alone_or_an_empty_name_is_no_group)
{
    static const char *const cases[] = {NEXUS "min-available=3", NEXUS "name=", "app=web",
                                        ". " NEXUS "name="};
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct pod pod = pod_of(&mem, cases[i]);
        struct gang_identity id;
        EXPECT(!gang_identity_of(&pod, &id));
    }
}

TEST(gang, a_size_that_is_none_is_told_with_its_key)
{
    static const char *const values[] = {"x", "0", "-3", "3.5", "2147483648"};
    for (size_t i = 0; i < LEN(values); i++) {
        AUTO(arena) mem = {0};
        struct str line =
            arena_printf(&mem, NEXUS "name=a @" SIGS "min-available=%s%c", values[i], 0);
        struct pod pod = pod_of(&mem, line.p);
        struct gang_identity id;
        EXPECT(gang_identity_of(&pod, &id));
        EXPECT_INT(id.minimum, 0);
        EXPECT_STR(id.malformed.value, values[i]);
        EXPECT_STR(gang_place_text(&id.malformed, &mem), "annotation " SIGS "min-available");
    }
}

TEST(gang, role_and_topology_are_read_beside_the_name)
{
    AUTO(arena) mem = {0};
    struct pod pod = pod_of(&mem, NEXUS "name=a @volcano.sh/task-spec=worker "
                                        "@kueue.x-k8s.io/podset-required-topology=rack "
                                        "@scheduling.kubenexus.io/preferred-topology=leaf,rack");
    struct gang_identity id;
    EXPECT(gang_identity_of(&pod, &id));
    EXPECT_STR(id.role.value, "worker");
    EXPECT_STR(id.required.value, "rack");
    EXPECT_STR(id.preferred.value, "leaf,rack");
}

#define KUBEFLOW "training.kubeflow.org/job-name=j "
#define ASKED    "@kubenexus.io/gang=auto "

TEST(gang, an_owners_pods_are_one_if_they_ask_for_it_and_are_told_how_many_they_are)
{
    static const struct {
        const char *words, *group;
        int minimum;
        const char *because;
    } cases[] = {
        {ASKED KUBEFLOW "$WORLD_SIZE=4 $RANK=1", "j", 4, "variable WORLD_SIZE"},
        {KUBEFLOW "$WORLD_SIZE=4", "", 0, ""}, /* nobody asked */
        {"kubenexus.io/gang-scheduling=true " KUBEFLOW "$WORLD_SIZE=4", "j", 4,
         "variable WORLD_SIZE"},
        {"kubenexus.io/gang=no " KUBEFLOW "$WORLD_SIZE=4", "", 0, ""},
        {ASKED KUBEFLOW "$PET_NPROC_PER_NODE=8 $WORLD_SIZE=32", "j", 4, "variable WORLD_SIZE"},
        {ASKED KUBEFLOW "$PET_NPROC_PER_NODE=gpu $WORLD_SIZE=32", "", 0, ""},
        {ASKED KUBEFLOW "$PET_NNODES=2:6 $WORLD_SIZE=6", "j", 2, "variable PET_NNODES"},
        {ASKED KUBEFLOW "$TF_CONFIG={\"cluster\":{\"ps\":[\"p:1\"],\"worker\":[\"a:1\",\"b:1\"]},"
                        "\"task\":[\"x\"]}",
         "j", 3, "variable TF_CONFIG"},
        {ASKED KUBEFLOW "$TF_CONFIG={\"cluster\":{\"ps\":[", "", 0, ""},
        {ASKED
         "jobset.sigs.k8s.io/jobset-name=s batch.kubernetes.io/job-name=s-node-0 $PET_NNODES=3",
         "s", 3, "variable PET_NNODES"},
        {ASKED "jobset.sigs.k8s.io/jobset-name=s batch.kubernetes.io/job-name=s-init-0", "", 0,
         ""}, /* comes before the others */
        {ASKED "batch.kubernetes.io/job-name=b $WORLD_SIZE=2", "b", 2, "variable WORLD_SIZE"},
        {ASKED KUBEFLOW NEXUS "name=a " NEXUS "min-available=3 $WORLD_SIZE=4", "a", 3,
         "label " NEXUS "min-available"},
        {ASKED KUBEFLOW NEXUS "name=a $WORLD_SIZE=4", "a", 0, "nothing "},
        {ASKED "$WORLD_SIZE=4", "", 0, ""},
        {ASKED KUBEFLOW "$WORLD_SIZE=many", "", 0, ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct arena mem = {0};
        struct gang_identity identity;
        test_case("%s", cases[i].words);
        struct pod pod = pod_of(&mem, cases[i].words);
        bool is_in_one = gang_identity_of(&pod, &identity);
        EXPECT_INT(is_in_one, cases[i].group[0] != 0);
        if (is_in_one) {
            EXPECT_STR(identity.group.value, cases[i].group);
            EXPECT_INT(identity.minimum, cases[i].minimum);
            EXPECT_STR(gang_place_text(&identity.size, &mem), cases[i].because);
            EXPECT(!identity.malformed.where);
        }
        arena_done(&mem);
    }
}

TEST(gang, an_owners_object_is_named_where_it_says_how_many_there_are)
{
    static const struct {
        const char *words, *group, *where;
        enum kind object;
        int minimum;
    } cases[] = {
        {"^batch/v1:Job:j batch.kubernetes.io/job-name=j", "", "", KIND_NONE, 0}, /* nobody asked */
        {ASKED "^batch/v1:Job:j batch.kubernetes.io/job-name=j", "j",
         "label batch.kubernetes.io/job-name", KIND_JOB, 0},
        {ASKED "^batch/v1:Job:j", "j", "field metadata.ownerReferences", KIND_JOB, 0},
        {ASKED "^batch/v1:Job:s-a-0 batch.kubernetes.io/job-name=s-a-0 "
               "jobset.sigs.k8s.io/jobset-name=s",
         "s", "label jobset.sigs.k8s.io/jobset-name", KIND_JOB_SET, 0},
        {ASKED "^batch/v1:Job:j-launcher batch.kubernetes.io/job-name=j-launcher " KUBEFLOW, "j",
         "label training.kubeflow.org/job-name", KIND_MPI_JOB, 0},
        {ASKED "^kubeflow.org/v2beta1:MPIJob:j " KUBEFLOW, "j",
         "label training.kubeflow.org/job-name", KIND_MPI_JOB, 0},
        {ASKED "^kubeflow.org/v1:PyTorchJob:j " KUBEFLOW "$WORLD_SIZE=4", "j",
         "label training.kubeflow.org/job-name", KIND_PYTORCH_JOB, 4},
        {ASKED "^ray.io/v1:RayCluster:r ray.io/cluster=r", "r", "field metadata.ownerReferences",
         KIND_RAY_CLUSTER, 0},
        {ASKED "^apps/v1:ReplicaSet:r", "", "", KIND_NONE, 0},
        {ASKED "^example.com/v1:Thing:t batch.kubernetes.io/job-name=b $WORLD_SIZE=2", "b",
         "label batch.kubernetes.io/job-name", KIND_NONE, 2},
        {ASKED "^batch/v1:Job:j " NEXUS "name=a " NEXUS "min-available=3", "a",
         "label " NEXUS "name", KIND_NONE, 3},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct gang_identity identity;
        test_case("%s", cases[i].words);
        struct pod pod = pod_of(&mem, cases[i].words);
        bool is_in_one = gang_identity_of(&pod, &identity);
        EXPECT_INT(is_in_one, cases[i].group[0] != 0);
        if (!is_in_one)
            continue;
        EXPECT_STR(identity.group.value, cases[i].group);
        EXPECT_STR(gang_place_text(&identity.group, &mem), cases[i].where);
        EXPECT_INT(identity.object, cases[i].object);
        EXPECT_INT(identity.minimum, cases[i].minimum);
    }
}

TEST(gang, pods_of_kubeflows_jobs_need_not_ask_where_that_is_configured)
{
    static const struct {
        const char *words;
        bool is_one;
    } cases[] = {
        {"^kubeflow.org/v1:PyTorchJob:j " KUBEFLOW, true},
        {"^kubeflow.org/v2beta1:MPIJob:j " KUBEFLOW, true},
        {"^batch/v1:Job:j-launcher " KUBEFLOW, true},
        {"@kubenexus.io/gang=false ^kubeflow.org/v1:PyTorchJob:j " KUBEFLOW, false},
        {"^batch/v1:Job:j batch.kubernetes.io/job-name=j", false},
        {"^ray.io/v1:RayCluster:r", false},
        {KUBEFLOW "$WORLD_SIZE=4", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct gang_identity identity;
        test_case("%s", cases[i].words);
        struct pod pod = pod_of(&mem, cases[i].words);
        EXPECT_INT(gang_identity_by(&pod, (struct gang_rules){.kubeflow_asks = true}, &identity),
                   cases[i].is_one);
        EXPECT(!gang_identity_of(&pod, &identity));
    }
}

#define OF_JOB ".job-7c-main ^batch/v1:Job:j batch.kubernetes.io/job-name=j "

TEST(gang, the_group_that_the_job_controller_makes_is_heard_last)
{
    static const struct {
        const char *words, *group;
        enum kind object;
        const char *natively;
    } cases[] = {
        {OF_JOB, "job-7c-main", KIND_POD_GROUP, "job-7c-main"},
        {OF_JOB NEXUS "name=a " NEXUS "min-available=3", "a", KIND_NONE, "job-7c-main"},
        {OF_JOB ASKED, "j", KIND_JOB, "job-7c-main"},
        {OF_JOB "@kubenexus.io/gang=no", "job-7c-main", KIND_POD_GROUP, "job-7c-main"},
        {".own " NEXUS "name=a " NEXUS "min-available=3", "own", KIND_POD_GROUP, "own"},
        {".own ^example.com/v1:Job:j " NEXUS "name=a", "own", KIND_POD_GROUP, "own"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct gang_identity identity;
        test_case("%s", cases[i].words);
        struct pod pod = pod_of(&mem, cases[i].words);
        EXPECT(gang_identity_of(&pod, &identity));
        EXPECT_STR(identity.group.value, cases[i].group);
        EXPECT_INT(identity.object, cases[i].object);
        EXPECT(gang_identity_by(&pod, (struct gang_rules){.natively = true}, &identity));
        EXPECT_STR(identity.group.value, cases[i].natively);
    }
}
