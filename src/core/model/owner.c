#include "core/model/owner.h"

#include "core/model/gang.h"
#include "core/model/tables.h"

/* --- tables: of custom resources, where the numbers are of no use --- */

static const struct field batch_fields[] = {
    {FIELD(INT32, "completions", 1, struct owner_part, completions),
     FIELD_HAS(struct owner_part, has_completions)},
    {FIELD(INT32, "parallelism", 2, struct owner_part, parallelism),
     FIELD_HAS(struct owner_part, has_parallelism)},
    FIELD_END,
};

static const struct field batch_template_fields[] = {
    {FIELD_PART("spec", 1, batch_fields)},
    FIELD_END,
};

static const struct field dependency_fields[] = {
    {.name = {"name", 4}, .number = 1, .type = FIELD_STR},
    FIELD_END,
};

static const struct field replicated_job_fields[] = {
    {FIELD_MESSAGES("dependsOn", 1, struct owner_part, after, dependency_fields)},
    {FIELD(STR, "name", 2, struct owner_part, name)},
    {FIELD(INT32, "replicas", 3, struct owner_part, replicas),
     FIELD_HAS(struct owner_part, has_replicas)},
    {FIELD_PART("template", 4, batch_template_fields)},
    FIELD_END,
};

static const struct field startup_fields[] = {
    {FIELD(STR, "startupPolicyOrder", 1, struct owner_object, order)},
    FIELD_END,
};

static const struct field job_set_spec_fields[] = {
    {FIELD_MESSAGES("replicatedJobs", 1, struct owner_object, parts, replicated_job_fields)},
    {FIELD_PART("startupPolicy", 2, startup_fields)},
    {FIELD(BOOL, "suspend", 3, struct owner_object, is_suspended)},
    FIELD_END,
};

const struct field job_set_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct owner_object, meta, meta_fields)},
    {FIELD_PART("spec", 2, job_set_spec_fields)},
    FIELD_END,
};

static const struct field replica_fields[] = {
    {FIELD(INT32, "replicas", 1, struct owner_part, replicas),
     FIELD_HAS(struct owner_part, has_replicas)},
    FIELD_END,
};

static const struct field replica_entry_fields[] = {
    {FIELD(STR, "key", 1, struct owner_part, name)},
    {FIELD_PART("value", 2, replica_fields)},
    FIELD_END,
};

static const struct field scheduling_fields[] = {
    {FIELD(INT32, "minAvailable", 1, struct owner_object, least)},
    FIELD_END,
};

static const struct field run_policy_fields[] = {
    {FIELD_PART("schedulingPolicy", 1, scheduling_fields)},
    {FIELD(BOOL, "suspend", 2, struct owner_object, is_suspended)},
    FIELD_END,
};

static const struct field elastic_fields[] = {
    {FIELD(INT32, "minReplicas", 1, struct owner_object, least_workers),
     FIELD_HAS(struct owner_object, has_least_workers)},
    FIELD_END,
};

/* Kubeflow's jobs differ in what they call their replicas. */
#define ROW_ELASTIC                                                                                \
    {                                                                                              \
        FIELD_PART("elasticPolicy", 1, elastic_fields)                                             \
    }
#define ROW_LAUNCHER                                                                               \
    {                                                                                              \
        FIELD(STR, "launcherCreationPolicy", 2, struct owner_object, order)                        \
    }
#define ROW_REPLICAS(text)                                                                         \
    {                                                                                              \
        FIELD_ENTRIES(text, 3, struct owner_object, parts, replica_entry_fields)                   \
    }
#define ROW_RUN_POLICY                                                                             \
    {                                                                                              \
        FIELD_PART("runPolicy", 4, run_policy_fields)                                              \
    }
#define OWNER_TABLE(kind, ...)                                                                     \
    static const struct field kind##_spec_fields[] = {__VA_ARGS__, FIELD_END};                     \
    const struct field kind##_fields[] = {                                                         \
        {FIELD_STRUCT("metadata", 1, struct owner_object, meta, meta_fields)},                     \
        {FIELD_PART("spec", 2, kind##_spec_fields)},                                               \
        FIELD_END,                                                                                 \
    };

OWNER_TABLE(jax_job, ROW_REPLICAS("jaxReplicaSpecs"), ROW_RUN_POLICY)
OWNER_TABLE(mpi_job, ROW_LAUNCHER, ROW_REPLICAS("mpiReplicaSpecs"), ROW_RUN_POLICY)
OWNER_TABLE(paddle_job, ROW_ELASTIC, ROW_REPLICAS("paddleReplicaSpecs"), ROW_RUN_POLICY)
OWNER_TABLE(pytorch_job, ROW_ELASTIC, ROW_REPLICAS("pytorchReplicaSpecs"), ROW_RUN_POLICY)
OWNER_TABLE(tf_job, ROW_RUN_POLICY, ROW_REPLICAS("tfReplicaSpecs"))
OWNER_TABLE(xgboost_job, ROW_RUN_POLICY, ROW_REPLICAS("xgbReplicaSpecs"))

static const struct field workers_fields[] = {
    {FIELD(STR, "groupName", 1, struct owner_part, name)},
    {FIELD(INT32, "minReplicas", 2, struct owner_part, least)},
    {FIELD(INT32, "numOfHosts", 3, struct owner_part, hosts),
     FIELD_HAS(struct owner_part, has_hosts)},
    {FIELD(INT32, "replicas", 4, struct owner_part, replicas),
     FIELD_HAS(struct owner_part, has_replicas)},
    {FIELD(BOOL, "suspend", 5, struct owner_part, is_suspended)},
    FIELD_END,
};

OWNER_TABLE(ray_cluster,
            {FIELD(BOOL, "enableInTreeAutoscaling", 1, struct owner_object, autoscales)},
            {FIELD(BOOL, "suspend", 3, struct owner_object, is_suspended)},
            {FIELD_MESSAGES("workerGroupSpecs", 2, struct owner_object, parts, workers_fields)})

static const struct field worker_fields[] = {
    {FIELD_PART("spec", 2, pod_spec_fields)},
    FIELD_END,
};

static const struct field worker_template_fields[] = {
    {FIELD_REF("workerTemplate", 1, struct owner_object, worker, worker_fields)},
    FIELD_END,
};

OWNER_TABLE(leader_worker_set, {FIELD_PART("leaderWorkerTemplate", 2, worker_template_fields)},
            {FIELD(STR, "startupPolicy", 1, struct owner_object, order)})

/* --- how many --- */

bool kind_is_owner(enum kind kind)
{
    switch (kind) {
    case KIND_JOB:
    case KIND_JOB_SET:
    case KIND_JAX_JOB:
    case KIND_MPI_JOB:
    case KIND_PADDLE_JOB:
    case KIND_PYTORCH_JOB:
    case KIND_TF_JOB:
    case KIND_XGBOOST_JOB:
    case KIND_RAY_CLUSTER:
    case KIND_LEADER_WORKER_SET:
        return true;
    default:
        return false;
    }
}

/* Absurd numbers are none: sums and products of these stay far from the limits. */
static int64_t count(int64_t n)
{
    return n < 0 || n > 1000000 ? 0 : n;
}

/* Pods of a Job that run at the same time. */
static int64_t at_once(bool has_parallelism, int32_t parallelism, bool has_completions,
                       int32_t completions)
{
    int64_t most = has_parallelism ? count(parallelism) : 1;
    return has_completions ? MIN(most, count(completions)) : most;
}

static int64_t workers_of(const struct owner_object *owner_object, const struct owner_part *part)
{
    bool is_told = part->has_replicas && !owner_object->autoscales;
    int64_t n = is_told ? MAX(count(part->replicas), count(part->least)) : count(part->least);
    return part->is_suspended ? 0 : n * (part->has_hosts ? count(part->hosts) : 1);
}

static int64_t replicas_of(const struct owner_object *owner_object, const struct owner_part *part)
{
    int64_t n = part->has_replicas ? count(part->replicas) : 1;
    bool is_elastic = owner_object->has_least_workers && str_equal(part->name, STR("Worker"));
    return is_elastic ? MIN(n, count(owner_object->least_workers)) : n;
}

static int64_t pods_of(enum kind kind, const struct owner_object *owner_object,
                       const struct owner_part *part)
{
    if (kind == KIND_RAY_CLUSTER)
        return workers_of(owner_object, part);
    if (kind != KIND_JOB_SET)
        return replicas_of(owner_object, part);
    return (part->has_replicas ? count(part->replicas) : 1) *
           at_once(part->has_parallelism, part->parallelism, part->has_completions,
                   part->completions);
}

static bool comes_in_parts(const struct owner_object *owner_object)
{
    bool is_so = str_equal(owner_object->order, STR("InOrder")) ||
                 str_equal(owner_object->order, STR("WaitForWorkersReady"));
    list_each(&owner_object->parts, part)
        is_so |= part->after.n > 0;
    return is_so;
}

static struct pod_group group_of_owner(enum kind kind, const struct owner_object *owner_object,
                                       struct arena *mem)
{
    struct pod_group group = {.meta = owner_object->meta};
    struct group_part *parts = arena_array(mem, struct group_part, owner_object->parts.n);
    int64_t all = kind == KIND_RAY_CLUSTER; /* its head */
    list_each(&owner_object->parts, part) {
        int64_t n = pods_of(kind, owner_object, part);
        parts[group.parts.n++] = (struct group_part){part->name, (int32_t)MIN(n, INT32_MAX)};
        all += n;
    }
    group.parts.at = parts;
    if (!comes_in_parts(owner_object) || owner_object->least)
        group.parts.n = 0;
    group.minimum = (int32_t)MIN(owner_object->least > 0 ? owner_object->least : all, INT32_MAX);
    return group;
}

static struct pod_group group_of_job(const struct job *job)
{
    return (struct pod_group){
        .meta = job->meta,
        .minimum = (int32_t)at_once(job->has_parallelism, job->parallelism, job->has_completions,
                                    job->completions),
        .ended = (uint32_t)count(job->succeeded),
    };
}

/* Of each of its groups; its pods say how large they are. */
static struct pod_group group_of_set(const struct owner_object *owner_object)
{
    return (struct pod_group){
        .meta = owner_object->meta,
        .comes_in_turn = str_equal(owner_object->order, STR("LeaderReady")),
    };
}

bool pod_group_of(const struct object *o, struct arena *mem, struct pod_group *out)
{
    if (o->kind == KIND_JOB) {
        *out = group_of_job(o->job);
        return gang_is_asked_for(&o->job->template_labels, &o->job->template_annotations);
    }
    *out = o->kind == KIND_LEADER_WORKER_SET ? group_of_set(o->owner_object)
           : kind_is_owner(o->kind)          ? group_of_owner(o->kind, o->owner_object, mem)
                                             : *o->pod_group;
    if (str_equal(out->disruption_mode, STR("PodGroup")))
        out->goes_whole = true;
    return true;
}
