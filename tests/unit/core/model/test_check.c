#include "core/model/check.h"

#include <stdio.h>

#include "core/wire/json_read.h"
#include "support/test.h"

/* What object_check says of an object given as JSON with single quotes; "" if it is content. */
static void expect_check(enum kind kind, const char *quoted, const char *wanted)
{
    AUTO(arena) mem = {0};
    struct str json = arena_str(&mem, str_of(quoted));
    for (char *p = (char *)(uintptr_t)json.p; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    const struct kind_info *info = kind_info_get(kind);
    struct object object = {.kind = kind, .meta = arena_alloc(&mem, info->size)};
    struct error e = {0};
    size_t where;
    if (json_read(json, info->fields, object.meta, &mem, &where, &e))
        EXPECT(object_check(&object, &e) == (wanted[0] == '\0'));
    EXPECT_TEXT(e.text, wanted);
}

TEST(object_check, wants_names)
{
    expect_check(KIND_NODE, "{'metadata':{'name':'n'}}", "");
    expect_check(KIND_NODE, "{'metadata':{}}", "metadata.name: missing");
    expect_check(KIND_NODE, "{}", "metadata.name: missing");
    expect_check(KIND_NODE, "{'metadata':{'name':'a/b'}}", "metadata.name: \"a/b\" has a slash");
}

TEST(object_check, refuses_what_the_api_server_refuses_in_a_pod)
{
    static const struct {
        const char *spec, *wrong;
    } cases[] = {
        {"{}", ""},
        {"{'tolerations':[{'key':'a','operator':'Gt','value':'1'}]}", ""},
        {"{'tolerations':[{'operator':'Exists'}]}", ""},
        {"{'tolerations':[{'key':'a'},{'key':'a','operator':'Is'}]}",
         "spec.tolerations[1].operator: \"Is\" is not one of Equal Exists Lt Gt"},
        {"{'tolerations':[{'value':'b'}]}",
         "spec.tolerations[0].operator: \"\" must be Exists where key is empty"},
        {"{'tolerations':[{'key':'a','effect':'No'}]}",
         "spec.tolerations[0].effect: \"No\" is not one of NoSchedule PreferNoSchedule NoExecute"},
        {"{'preemptionPolicy':'Maybe'}",
         "spec.preemptionPolicy: \"Maybe\" is not one of Never PreemptLowerPriority"},
        {"{'containers':[{'ports':[{'hostPort':70000}]}]}",
         "spec.containers[0].ports[0].hostPort: 70000 is not a port"},
        {"{'containers':[{'ports':[{'protocol':'IP'}]}]}",
         "spec.containers[0].ports[0].protocol: \"IP\" is not one of TCP UDP SCTP"},
        {"{'initContainers':[{'restartPolicy':'x'}]}",
         "spec.initContainers[0].restartPolicy: \"x\" is not one of Always OnFailure Never"},
        {"{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
         "'whenUnsatisfiable':'ScheduleAnyway'}]}",
         ""},
        {"{'topologySpreadConstraints':[{'topologyKey':'z'}]}",
         "spec.topologySpreadConstraints[0].maxSkew: 0 is not greater than 0"},
        {"{'topologySpreadConstraints':[{'maxSkew':1}]}",
         "spec.topologySpreadConstraints[0].topologyKey: missing"},
        {"{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z'}]}",
         "spec.topologySpreadConstraints[0].whenUnsatisfiable: missing"},
        {"{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':"
         "'DoNotSchedule','nodeTaintsPolicy':'x'}]}",
         "spec.topologySpreadConstraints[0].nodeTaintsPolicy: \"x\" is not one of Honor Ignore"},
        {"{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':"
         "'DoNotSchedule','labelSelector':{'matchExpressions':[{'key':'a','operator':'Gt'}]}}]}",
         "spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator: \"Gt\" is "
         "not "
         "one of In NotIn Exists DoesNotExist"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        char json[1000];
        snprintf(json, sizeof(json), "{'metadata':{'name':'p'},'spec':%s}", cases[i].spec);
        expect_check(KIND_POD, json, cases[i].wrong);
    }
}

#define NODE_TERM(requirement)                                                                     \
    "{'metadata':{'name':'p'},'spec':{'affinity':{'nodeAffinity':{'requiredDuringScheduling"       \
    "IgnoredDuringExecution':{'nodeSelectorTerms':[{" requirement "}]}}}}}"
#define NODE_PATH                                                                                  \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."                   \
    "nodeSelectorTerms[0]."

TEST(object_check, knows_how_many_values_an_operator_takes)
{
    expect_check(KIND_POD,
                 NODE_TERM("'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]"), "");
    expect_check(KIND_POD, NODE_TERM("'matchExpressions':[{'key':'a','operator':'Gt'}]"),
                 NODE_PATH "matchExpressions[0].values: \"Gt\" takes one value");
    expect_check(KIND_POD, NODE_TERM("'matchExpressions':[{'key':'a','operator':'In'}]"),
                 NODE_PATH "matchExpressions[0].values: missing");
    expect_check(KIND_POD,
                 NODE_TERM("'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]"),
                 NODE_PATH "matchExpressions[0].values: \"Exists\" takes no values");
    expect_check(KIND_POD, NODE_TERM("'matchExpressions':[{'operator':'Exists'}]"),
                 NODE_PATH "matchExpressions[0].key: missing");
    expect_check(KIND_POD, NODE_TERM("'matchFields':[{'key':'a','operator':'In','values':['x']}]"),
                 NODE_PATH "matchFields[0].key: \"a\" is not metadata.name");
}

TEST(object_check, reads_affinity_to_the_end)
{
    expect_check(KIND_POD,
                 "{'metadata':{'name':'p'},'spec':{'affinity':{'nodeAffinity':{'preferredDuring"
                 "SchedulingIgnoredDuringExecution':[{'weight':0,'preference':{}}]}}}}",
                 "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                 "weight: 0 is not in 1–100");
    expect_check(KIND_POD,
                 "{'metadata':{'name':'p'},'spec':{'affinity':{'podAffinity':{'requiredDuring"
                 "SchedulingIgnoredDuringExecution':[{}]}}}}",
                 "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                 "topologyKey: missing");
    expect_check(KIND_POD,
                 "{'metadata':{'name':'p'},'spec':{'affinity':{'podAntiAffinity':{'preferredDuring"
                 "SchedulingIgnoredDuringExecution':[{'weight':1,'podAffinityTerm':{'topologyKey':"
                 "'z'}},{'weight':101,'podAffinityTerm':{'topologyKey':'z'}}]}}}}",
                 "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]."
                 "weight: 101 is not in 1–100");
}

TEST(object_check, refuses_taints_without_effect_and_selectors_without_sense)
{
    expect_check(KIND_NODE, "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a'}]}}",
                 "spec.taints[0].effect: missing");
    expect_check(KIND_NODE, "{'metadata':{'name':'n'},'spec':{'taints':[{'effect':'NoExecute'}]}}",
                 "spec.taints[0].key: missing");
    expect_check(KIND_REPLICA_SET,
                 "{'metadata':{'name':'n'},'spec':{'selector':{'matchExpressions':[{'key':'a',"
                 "'operator':'x'}]}}}",
                 "spec.selector.matchExpressions[0].operator: \"x\" is not one of In NotIn Exists "
                 "DoesNotExist");
    expect_check(KIND_PRIORITY_CLASS, "{'metadata':{'name':'n'},'preemptionPolicy':'x'}",
                 "preemptionPolicy: \"x\" is not one of Never PreemptLowerPriority");
}

TEST(object_check, refuses_templates_of_workers_as_it_does_pods)
{
    expect_check(
        KIND_LEADER_WORKER_SET,
        "{'metadata':{'name':'l'},'spec':{'leaderWorkerTemplate':{'workerTemplate':{'spec':"
        "{'tolerations':[{'key':'a','operator':'Is'}]}}}}}",
        "spec.leaderWorkerTemplate.workerTemplate.spec.tolerations[0].operator: \"Is\" is not "
        "one of Equal Exists Lt Gt");
}

TEST(object_check, refuses_volumes_that_nobody_could_find)
{
    expect_check(KIND_POD,
                 "{'metadata':{'name':'p'},'spec':{'volumes':[{'name':'a'},{'name':'v',"
                 "'persistentVolumeClaim':{}}]}}",
                 "spec.volumes[1].persistentVolumeClaim.claimName: missing");
    expect_check(KIND_PERSISTENT_VOLUME,
                 "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':"
                 "[{'matchExpressions':[{'key':'a','operator':'In'}]}]}}}}",
                 "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: "
                 "missing");
    expect_check(KIND_PERSISTENT_VOLUME, "{'metadata':{'name':'v'},'spec':{'volumeMode':'Tape'}}",
                 "spec.volumeMode: \"Tape\" is not one of Block Filesystem");
    expect_check(KIND_PERSISTENT_VOLUME_CLAIM,
                 "{'metadata':{'name':'c'},'spec':{'selector':{'matchExpressions':[{'operator':"
                 "'Exists'}]}}}",
                 "spec.selector.matchExpressions[0].key: missing");
    expect_check(KIND_STORAGE_CLASS, "{'metadata':{'name':'c'},'volumeBindingMode':'Later'}",
                 "volumeBindingMode: \"Later\" is not one of Immediate WaitForFirstConsumer");
    expect_check(KIND_CSI_STORAGE_CAPACITY,
                 "{'metadata':{'name':'c'},'nodeTopology':{'matchExpressions':[{'key':'a',"
                 "'operator':'Gt'}]}}",
                 "nodeTopology.matchExpressions[0].operator: \"Gt\" is not one of In NotIn Exists "
                 "DoesNotExist");
}
