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
        {"v1",                            "Pod",                   KIND_POD                    },
        {"v2",                            "Pod",                   KIND_POD                    },
        {"",                              "Pod",                   KIND_POD                    },
        {"apps/v1",                       "Pod",                   KIND_NONE                   },
        {"v1",                            "pod",                   KIND_NONE                   },
        {"v1",                            "",                      KIND_NONE                   },
        {"v1",                            "Node",                  KIND_NODE                   },
        {"v1",                            "Namespace",             KIND_NAMESPACE              },
        {"v1",                            "Service",               KIND_SERVICE                },
        {"v1",                            "ReplicationController", KIND_REPLICATION_CONTROLLER },
        {"apps/v1",                       "ReplicaSet",            KIND_REPLICA_SET            },
        {"apps/v1beta2",                  "ReplicaSet",            KIND_REPLICA_SET            },
        {"v1",                            "ReplicaSet",            KIND_NONE                   },
        {"apps/v1",                       "StatefulSet",           KIND_STATEFUL_SET           },
        {"batch/v1",                      "Job",                   KIND_JOB                    },
        {"policy/v1",                     "PodDisruptionBudget",   KIND_DISRUPTION_BUDGET      },
        {"scheduling.k8s.io/v1",          "PriorityClass",         KIND_PRIORITY_CLASS         },
        {"scheduling.volcano.sh/v1",      "PriorityClass",         KIND_NONE                   },
        {"apps/v1",                       "Deployment",            KIND_NONE                   },
        {"v1",                            "PersistentVolume",      KIND_PERSISTENT_VOLUME      },
        {"v1",                            "PersistentVolumeClaim", KIND_PERSISTENT_VOLUME_CLAIM},
        {"storage.k8s.io/v1",             "StorageClass",          KIND_STORAGE_CLASS          },
        {"storage.k8s.io/v1",             "CSINode",               KIND_CSI_NODE               },
        {"storage.k8s.io/v1",             "CSIDriver",             KIND_CSI_DRIVER             },
        {"storage.k8s.io/v1beta1",        "CSIStorageCapacity",    KIND_CSI_STORAGE_CAPACITY   },
        {"storage.k8s.io/v1",             "VolumeAttachment",      KIND_VOLUME_ATTACHMENT      },
        {"v1",                            "StorageClass",          KIND_NONE                   },
        {"scheduling.k8s.io/v1beta1",     "PodGroup",              KIND_POD_GROUP              },
        {"scheduling.x-k8s.io/v1alpha1",  "PodGroup",              KIND_SIGS_POD_GROUP         },
        {"scheduling.volcano.sh/v1beta1", "PodGroup",              KIND_VOLCANO_POD_GROUP      },
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

static const char whole_pod[] =
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'b','uid':'u','generation':"
    "3,"
    "'resourceVersion':'77','creationTimestamp':'2026-01-02T03:04:05Z','labels':{'x':'y'},"
    "'annotations':{'k':'v'},'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet',"
    "'name':'rs','uid':'ru','controller':true}],'managedFields':[{'f:x':{}}]},"
    "'spec':{'schedulerName':'s','nodeName':'n','priorityClassName':'pc','preemptionPolicy':'Never'"
    ","
    "'priority':-5,'hostNetwork':true,'hostUsers':false,'nodeSelector':{},'overhead':{'cpu':'1'},"
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
    "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}"
    "]},"
    "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,'preference':{'"
    "matchExpressions':"
    "[{'key':'z','operator':'Exists'}]}}]},'podAntiAffinity':"
    "{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'host','labelSelector':{},"
    "'namespaces':['q'],'namespaceSelector':{'matchLabels':{'t':'1'}}}]}},"
    "'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}],"
    "'topologySpreadConstraints':[{'maxSkew':2,'minDomains':3,'topologyKey':'zone',"
    "'whenUnsatisfiable':'DoNotSchedule','matchLabelKeys':['h'],'nodeTaintsPolicy':'Honor'}],"
    "'schedulingGates':[{'name':'g'}],'schedulingGroup':{'podGroupName':'pg'},"
    "'activeDeadlineSeconds':60,'resources':{'limits':{'cpu':2}},"
    "'resourceClaims':[{'name':'c','resourceClaimTemplateName':'t'}],"
    "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'pvc','readOnly':true}},"
    "{'name':'e','emptyDir':{}},{'name':'d','iscsi':{'iqn':'i','targetPortal':'p'}},"
    "{'name':'f','ephemeral':{'volumeClaimTemplate':{'spec':{'storageClassName':'fast'}}}}],"
    "'containers':[{'name':'m','image':'img','restartPolicy':'Never','ports':[{'containerPort':80,"
    "'hostPort':8080,'hostIP':'::'}],'resources':{'requests':{'memory':'1Gi','cpu':'1'}},"
    "'volumeMounts':[{'name':'v','bindMountOptions':['ro']}],"
    "'restartPolicyRules':[{'action':'Restart'}]}]},"
    "'status':{'phase':'Running','nominatedNodeName':'nn','startTime':'2026-01-02T03:04:06.5Z',"
    "'conditions':[{'type':'T','status':'True','reason':'R'}],'containerStatuses':[{'name':'m',"
    "'allocatedResources':{},'resources':{'requests':{'cpu':'3'}}}],"
    "'resourceClaimStatuses':[{'name':'c','resourceClaimName':'cc'}],'allocatedResources':{'cpu':1}"
    "}}";

/* Reads it into `pod`, whose lists live in `mem`. */
static bool read_whole_pod(struct pod *pod, struct arena *mem)
{
    char *json = arena_alloc(mem, sizeof(whole_pod));
    for (size_t i = 0; i < sizeof(whole_pod); i++)
        json[i] = whole_pod[i] == '\'' ? '"' : whole_pod[i];
    struct error e = {0};
    size_t where;
    const struct kind_info *info = kind_info_get(KIND_POD);
    bool is_read = json_read(str_of(json), info->fields, pod, mem, &where, &e);
    EXPECT_TEXT(e.text, "");
    return is_read;
}

TEST(pod, is_read_with_its_metadata)
{
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    REQUIRE(read_whole_pod(&pod, &mem));
    EXPECT_STR(pod.meta.name, "a");
    EXPECT_STR(pod.meta.namespace, "b");
    EXPECT_STR(pod.meta.uid, "u");
    EXPECT_STR(pod.meta.resource_version, "77");
    EXPECT_INT(pod.meta.generation, 3);
    EXPECT_INT(pod.meta.created_ms, 1767323045000);
    EXPECT_INT(pod.meta.deleted_ms, TIME_NONE);
    EXPECT_STR(pod.meta.labels.at[0].value, "y");
    EXPECT_STR(pod.meta.annotations.at[0].key, "k");
    EXPECT_STR(pod.meta.owners.at[0].uid, "ru");
    EXPECT(pod.meta.owners.at[0].is_controller);
}

TEST(pod, is_read_with_every_field_of_its_spec_a_scheduler_looks_at)
{
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    REQUIRE(read_whole_pod(&pod, &mem));
    EXPECT_STR(pod.spec.scheduler_name, "s");
    EXPECT_STR(pod.spec.node_name, "n");
    EXPECT_STR(pod.spec.priority_class_name, "pc");
    EXPECT_STR(pod.spec.preemption_policy, "Never");
    EXPECT(pod.spec.has_priority);
    EXPECT_INT(pod.spec.priority, -5);
    EXPECT(pod.spec.host_network);
    EXPECT(pod.spec.has_host_users && !pod.spec.host_users);
    EXPECT(pod.spec.has_node_selector && pod.spec.node_selector.n == 0);
    EXPECT_INT(quantity_value(pod.spec.overhead.at[0].quantity), 1);
    EXPECT_INT(pod.spec.active_deadline_seconds, 60);
    EXPECT_STR(pod.spec.scheduling_group, "pg");
    EXPECT_STR(pod.spec.gates.at[0].name, "g");
    EXPECT_INT(pod.spec.resources->limits.n, 1);
    EXPECT(!pod.spec.resources->has_requests);
    EXPECT_STR(pod.spec.resource_claims.at[0].template_name, "t");
    EXPECT_STR(pod.spec.tolerations.at[0].effect, "NoExecute");

    const struct node_affinity *node = pod.spec.affinity->node;
    EXPECT_STR(node->required->terms.at[0].match_fields.at[0].values.at[0], "n");
    EXPECT_INT(node->preferred.at[0].weight, 7);
    EXPECT_STR(node->preferred.at[0].preference.match_expressions.at[0].key, "z");
    EXPECT(!pod.spec.affinity->pod);
    const struct pod_affinity_term *anti = &pod.spec.affinity->anti->required.at[0];
    EXPECT(anti->label_selector);
    EXPECT_STR(anti->namespaces.at[0], "q");
    EXPECT_STR(anti->namespace_selector->match_labels.at[0].key, "t");

    const struct spread_constraint *spread = &pod.spec.spread.at[0];
    EXPECT_INT(spread->max_skew, 2);
    EXPECT_INT(spread->min_domains, 3);
    EXPECT(!spread->label_selector);
    EXPECT_STR(spread->match_label_keys.at[0], "h");
    EXPECT_STR(spread->node_taints_policy, "Honor");

    REQUIRE(pod.spec.volumes.n == 4);
    EXPECT_STR(pod.spec.volumes.at[0].claim->claim_name, "pvc");
    EXPECT(pod.spec.volumes.at[0].claim->read_only);
    EXPECT(!pod.spec.volumes.at[1].claim);
    EXPECT_STR(pod.spec.volumes.at[2].iscsi->id, "i");
    EXPECT_STR(pod.spec.volumes.at[3].ephemeral->storage_class, "fast");

    const struct container *c = &pod.spec.containers.at[0];
    EXPECT_STR(c->image, "img");
    EXPECT_INT(c->ports.at[0].host_port, 8080);
    EXPECT_INT(c->ports.at[0].container_port, 80);
    EXPECT_STR(c->ports.at[0].host_ip, "::");
    EXPECT_STR(c->resources.requests.at[0].name, "cpu"); /* maps are sorted */
    EXPECT_STR(c->volume_mounts.at[0].bind_mount_options.at[0], "ro");
    EXPECT_STR(c->restart_policy_rules.at[0].action, "Restart");
}

TEST(pod, is_read_with_its_status)
{
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    REQUIRE(read_whole_pod(&pod, &mem));
    EXPECT_STR(pod.status.phase, "Running");
    EXPECT_STR(pod.status.nominated_node_name, "nn");
    EXPECT_INT(pod.status.start_ms, 1767323046500);
    EXPECT_STR(pod.status.conditions.at[0].reason, "R");
    EXPECT(pod.status.containers.at[0].has_allocated);
    EXPECT_INT(quantity_value(pod.status.containers.at[0].resources->requests.at[0].quantity), 3);
    EXPECT_STR(pod.status.resource_claims.at[0].claim_name, "cc");
    EXPECT(pod.status.has_allocated);
}

TEST(pod, without_anything_is_empty)
{
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    struct error e = {0};
    size_t where;
    REQUIRE(json_read(STR("{}"), kind_info_get(KIND_POD)->fields, &pod, &mem, &where, &e));
    EXPECT_INT(pod.meta.created_ms, TIME_NONE);
    EXPECT_INT(pod.status.start_ms, TIME_NONE);
    EXPECT_INT(pod.spec.containers.n, 0);
    EXPECT(!pod.spec.affinity);
}
