#include "core/model/object.h"

#include "core/wire/field.h"
#include "core/wire/json_read.h"
#include "support/test.h"

TEST(kind_info, is_found_by_group_and_kind_in_any_version)
{
    static const struct {
        const char *api_version, *kind;
        enum kind found;
    } cases[] = {
        {"v1", "Pod", KIND_POD},
        {"v2", "Pod", KIND_POD},
        {"", "Pod", KIND_POD},
        {"apps/v1", "Pod", KIND_NONE},
        {"v1", "pod", KIND_NONE},
        {"v1", "", KIND_NONE},
        {"v1", "Node", KIND_NODE},
        {"v1", "Namespace", KIND_NAMESPACE},
        {"v1", "Service", KIND_SERVICE},
        {"v1", "ReplicationController", KIND_REPLICATION_CONTROLLER},
        {"apps/v1", "ReplicaSet", KIND_REPLICA_SET},
        {"apps/v1beta2", "ReplicaSet", KIND_REPLICA_SET},
        {"v1", "ReplicaSet", KIND_NONE},
        {"apps/v1", "StatefulSet", KIND_STATEFUL_SET},
        {"batch/v1", "Job", KIND_JOB},
        {"policy/v1", "PodDisruptionBudget", KIND_DISRUPTION_BUDGET},
        {"v1", "ResourceQuota", KIND_RESOURCE_QUOTA},
        {"scheduling.k8s.io/v1", "PriorityClass", KIND_PRIORITY_CLASS},
        {"scheduling.volcano.sh/v1", "PriorityClass", KIND_NONE},
        {"apps/v1", "Deployment", KIND_NONE},
        {"v1", "PersistentVolume", KIND_PERSISTENT_VOLUME},
        {"v1", "PersistentVolumeClaim", KIND_PERSISTENT_VOLUME_CLAIM},
        {"storage.k8s.io/v1", "StorageClass", KIND_STORAGE_CLASS},
        {"storage.k8s.io/v1", "CSINode", KIND_CSI_NODE},
        {"storage.k8s.io/v1", "CSIDriver", KIND_CSI_DRIVER},
        {"storage.k8s.io/v1beta1", "CSIStorageCapacity", KIND_CSI_STORAGE_CAPACITY},
        {"storage.k8s.io/v1", "VolumeAttachment", KIND_VOLUME_ATTACHMENT},
        {"v1", "StorageClass", KIND_NONE},
        {"scheduling.k8s.io/v1beta1", "PodGroup", KIND_POD_GROUP},
        {"scheduling.k8s.io/v1alpha3", "PodGroup", KIND_POD_GROUP},
        {"scheduling.k8s.io/v1alpha2", "PodGroup", KIND_POD_GROUP_ALPHA2},
        {"scheduling.x-k8s.io/v1alpha1", "PodGroup", KIND_SIGS_POD_GROUP},
        {"scheduling.volcano.sh/v1beta1", "PodGroup", KIND_VOLCANO_POD_GROUP},
        {"scheduling.kubenexus.io/v1alpha1", "ResourceReservation", KIND_RESERVATION},
        {"scheduling.kubenexus.io/v1alpha1", "Queue", KIND_QUEUE},
        {"scheduling.volcano.sh/v1beta1", "Queue", KIND_NONE},
        {"resource.k8s.io/v1", "ResourceClaim", KIND_RESOURCE_CLAIM},
        {"resource.k8s.io/v1", "ResourceSlice", KIND_RESOURCE_SLICE},
        {"resource.k8s.io/v1", "DeviceClass", KIND_DEVICE_CLASS},
        {"resource.k8s.io/v1", "DeviceTaintRule", KIND_DEVICE_TAINT_RULE},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        const struct kind_info *info =
            kind_info_find(str_of(cases[i].api_version), str_of(cases[i].kind));
        if (!EXPECT_INT(info ? info->kind : KIND_NONE, cases[i].found))
            EXPECT_TEXT(NULL, cases[i].kind);
    }
}

/* Readers rely on the order, protobuf on the numbers. */
static void expect_table(const struct field *fields, unsigned depth)
{
    for (const struct field *f = fields; f->name.p; f++) {
        bool is_fine = EXPECT(f->number > 0 && f->number < 100);
        is_fine &= EXPECT(depth < 20);
        if (f > fields && f->name.n)
            is_fine &= EXPECT(str_compare(f[-1].name, f->name) < 0);
        for (const struct field *g = fields; g < f; g++)
            is_fine &= EXPECT(g->number != f->number);
        is_fine &= EXPECT((f->shape == FIELD_ONE) == (f->size == 0));
        is_fine &= EXPECT((f->type == FIELD_MESSAGE) == (f->fields != NULL));
        is_fine &= EXPECT((f->type == FIELD_SCALAR) == (f->scalar != NULL));
        if (!is_fine) {
            EXPECT_STR(f->name, "");
            return;
        }
        if (f->fields)
            expect_table(f->fields, depth + 1);
    }
}

TEST(field_tables, are_in_order_and_number_each_field_once)
{
    for (int kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) {
        const struct kind_info *info = kind_info_get((enum kind)kind);
        EXPECT(info->size >= sizeof(struct meta));
        EXPECT_STR(info->fields[0].name.n ? STR("") : STR("x"), "");
        expect_table(info->fields, 0);
    }
}
