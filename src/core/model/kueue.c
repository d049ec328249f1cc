#include "core/model/kueue.h"

#include "core/model/tables.h"

/* Custom resources travel as JSON only: their numbers are never used. */
const struct field cluster_queue_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct cluster_queue, meta, meta_fields)},
    FIELD_END,
};

static const struct field local_queue_spec_fields[] = {
    {FIELD(STR, "clusterQueue", 1, struct local_queue, cluster_queue)},
    FIELD_END,
};

const struct field local_queue_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct local_queue, meta, meta_fields)},
    {FIELD_PART("spec", 2, local_queue_spec_fields)},
    FIELD_END,
};

static const struct field pod_set_fields[] = {
    {FIELD(INT32, "count", 1, struct kueue_pods, count)},
    {FIELD_REF("template", 2, struct kueue_pods, template, pod_fields)},
    FIELD_END,
};

/* clang-format off */
static const struct field workload_spec_fields[] = {
    {FIELD(BOOL, "active", 1, struct kueue_workload, is_active),
     FIELD_HAS(struct kueue_workload, has_active)},
    {FIELD_MESSAGES("podSets", 2, struct kueue_workload, pod_sets, pod_set_fields)},
    {FIELD(STR, "queueName", 3, struct kueue_workload, queue)},
    FIELD_END,
};
/* clang-format on */

static const struct field workload_status_fields[] = {
    {FIELD_MESSAGES("conditions", 1, struct kueue_workload, conditions, meta_condition_fields)},
    FIELD_END,
};

const struct field kueue_workload_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct kueue_workload, meta, meta_fields)},
    {FIELD_PART("spec", 2, workload_spec_fields)},
    {FIELD_PART("status", 3, workload_status_fields)},
    FIELD_END,
};

bool kueue_workload_waits(const struct kueue_workload *w)
{
    static const struct str ends[] = {STR("QuotaReserved"), STR("Admitted"), STR("Finished")};
    list_each(&w->conditions, c)
        for (size_t i = 0; i < LEN(ends); i++)
            if (str_equal(c->type, ends[i]) && str_equal(c->status, STR("True")))
                return false;
    return (!w->has_active || w->is_active) && w->meta.deleted_ms == TIME_NONE;
}
