#include "core/model/pod.h"

#include "core/model/object.h"
#include "core/wire/json_read.h"
#include "support/objects.h"
#include "support/test.h"

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

#define POD(rest) "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'}," rest "}"

TEST(pod, each_source_of_a_volume_names_its_disk_in_its_own_way)
{
    static const struct {
        const char *source;
        size_t member;
        const char *id;
    } cases[] = {
        {"'gcePersistentDisk':{'pdName':'a','readOnly':true}", offsetof(struct volume, gce_disk),
         "a"},
        {"'awsElasticBlockStore':{'volumeID':'b','readOnly':true}",
         offsetof(struct volume, aws_disk), "b"},
        {"'iscsi':{'iqn':'c','readOnly':true}", offsetof(struct volume, iscsi), "c"},
        {"'rbd':{'image':'d','pool':'q','monitors':['m'],'readOnly':true}",
         offsetof(struct volume, rbd), "d"},
        {"'azureDisk':{'diskURI':'e','kind':'Managed'}", offsetof(struct volume, azure_disk), "e"},
        {"'azureFile':{'shareName':'f'}", offsetof(struct volume, azure_file), "f"},
        {"'cinder':{'volumeID':'g'}", offsetof(struct volume, cinder), "g"},
        {"'portworxVolume':{'volumeID':'h'}", offsetof(struct volume, portworx), "h"},
        {"'vsphereVolume':{'volumePath':'i'}", offsetof(struct volume, vsphere), "i"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        test_case("%s", cases[i].source);
        struct str text = arena_printf(
            &mem, POD("'spec':{'containers':[],'volumes':[{'name':'v',%s}]}"), cases[i].source);
        struct object o = object_of_json(&mem, text.p);
        const struct volume *v = &o.pod->spec.volumes.at[0];
        const struct disk_source *disk;
        memcpy(&disk, (const char *)v + cases[i].member, sizeof(disk));
        REQUIRE(disk);
        EXPECT_STR(v->name, "v");
        EXPECT_STR(disk->id, cases[i].id);
        EXPECT_INT(disk->read_only, strstr(cases[i].source, "readOnly") != NULL);
        EXPECT_INT(disk->monitors.n + disk->pool.n, strstr(cases[i].source, "rbd") ? 2 : 0);
    }
}
