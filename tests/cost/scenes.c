#include "scenes.h"

#include <stdio.h>

#include "count.h"
#include "support/objects.h"

const struct scene scenes[] = {
    {"pods that run", 500, {"pod p# cpu=1m on=n1"}},
    {"pods that go in the order they came", 2500, {"pod p# cpu=1m on=n1"}},
    {"pods that find room", 500, {"pod p# cpu=1m"}},
    {"pods that find none", 500, {"pod p# cpu=99 scheduler=kubenexus-scheduler"}},
    {"pods of another scheduler", 500, {"pod p# cpu=1 scheduler=another"}},
    {"pods with labels of their own", 500, {"pod p# cpu=1m label:k#=v label:app=v#"}},
    {"pods that select labels of their own", 500, {"pod p# cpu=1m select:k#=v"}},
    {"pods with resources of their own", 500, {"pod p# cpu=1m example.com/r#=1"}},
    {"pods in namespaces of their own",
     500,
     {"namespace s# label:k#=v", "pod p# cpu=1m namespace=s#"}},
    {"pods with gates", 500, {"pod p# cpu=1m gate:g#"}},
    {"ports", 30, {"pod p# cpu=1m port:#"}},
    {"gangs that start", 300, {"pod a# cpu=1m gang=g#:2", "pod b# cpu=1m gang=g#:2"}},
    {"gangs that wait for pods", 300, {"pod a# cpu=1m gang=g#:2"}},
    {"members of one gang that runs", 500, {"pod p# cpu=1m gang=g:2 on=n1"}},
    {"members of one gang that starts", 200, {"pod p# cpu=1m gang=g:2"}},
    {"members of one gang that waits for more", 500, {"pod p# cpu=1m gang=g:100000"}},
    {"members of one gang that finds no room", 200, {"pod p# cpu=99 gang=g:2"}},
    {"pods of one owner", 300, {"pod p# cpu=1m owner:Job=j"}},
    {"gangs that find no room", 300, {"pod a# cpu=99 gang=g#:2", "pod b# cpu=99 gang=g#:2"}},
    {"images", 300, {"pod p# cpu=1m image:i#"}},
    {"tolerations", 300, {"pod p# cpu=1m tolerate:k#:Exists::"}},
    {"claims of volumes",
     300,
     {"{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'c#','namespace':'"
      "default','uid':'c#'},'spec':{'volumeName':'v#'}}",
      "pod p# cpu=1m claim:c#"}},
    {"volumes",
     300,
     {"{'kind':'PersistentVolume','apiVersion':'v1','metadata':{'name':'v#','uid':'v#'},'spec':{'"
      "capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'s'}}"}},
    {"slices of devices",
     200,
     {"{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'s#','uid':'s#'},'spec':{'driver':'d','pool':{'name':'p#','"
      "generation':1,'resourceSliceCount':1},"
      "'nodeName':'m#','devices':[{'name':'d'}]}}"}},
    {"claims of devices",
     100,
     {"{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'c#','namespace':'default','uid':'c#'},'spec':{'devices':{'requests':"
      "[{'name':'r','exactly':{'deviceClassName':'k'}}]}}}"}},
    {"classes of devices",
     200,
     {"{'kind':'DeviceClass','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'k#','uid':'k#'},'spec':{'extendedResourceName':'example.com/r#'}}"}},
    {"groups",
     300,
     {"{'kind':'PodGroup','apiVersion':'scheduling.x-k8s.io/"
      "v1alpha1','metadata':{'name':'g#','namespace':'default','uid':'g#'},'spec':{'minMember':2}}",
      "pod a# cpu=1m gang=g#:2"}},
    {"jobs",
     300,
     {"{'kind':'Job','apiVersion':'batch/"
      "v1','metadata':{'name':'j#','namespace':'default','uid':'j#'},'spec':{'parallelism':2}}",
      "pod p# cpu=1m owner:Job=j#"}},
    {"queues of Kueue",
     200,
     {"{'kind':'LocalQueue','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'q#','namespace':'default','uid':'q#'},'spec':{'clusterQueue':'"
      "c#'}}",
      "{'kind':'ClusterQueue','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'c#','uid':'c#'},'spec':{}}",
      "{'kind':'Workload','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'w#','namespace':'default','uid':'w#'},'spec':{'queueName':'q#',"
      "'podSets':[{'name':'m','count':8,'template':{'spec':{'containers':[{'name':'c','resources':{"
      "'requests':{'nvidia.com/gpu':'8'}}}]}}}]}}"}},
    {"priority classes",
     200,
     {"{'kind':'PriorityClass','apiVersion':'scheduling.k8s.io/"
      "v1','metadata':{'name':'p#'},'value':7}"}},
    {"drivers of volumes",
     200,
     {"{'kind':'CSIDriver','apiVersion':'storage.k8s.io/v1','metadata':{'name':'d#'},'spec':{}}"}},
    {"attachments",
     200,
     {"{'kind':'VolumeAttachment','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'a#'},'spec':{'attacher':'d','nodeName':'m#','source':{'"
      "persistentVolumeName':'v#'}}}"}},
    {"capacities",
     200,
     {"{'kind':'CSIStorageCapacity','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'c#','namespace':'default','uid':'c#'},'storageClassName':'s#','"
      "capacity':'1Gi'}"}},
    {"nodes", 200, {"node m# cpu=1"}},
    {"nodes that pods name", 200, {"pod p# cpu=1m on=m#"}},
    {"reports of NUMA nodes",
     200,
     {"{'kind':'NodeResourceTopology','apiVersion':'topology.node.k8s.io/"
      "v1alpha2','metadata':{'name':'m#'},'zones':[]}"}},
    {"pods with keys of labels of their own",
     200,
     {"pod p# cpu=1m label:k#=v scheduler=kubenexus-scheduler"}},
    {"pods of another that name resources",
     200,
     {"pod p# cpu=1m example.com/r#=1 scheduler=another"}},
    {"pods that run and name resources", 200, {"pod p# cpu=1m example.com/r#=1 on=n1"}},
    {"pods of ours with resources of their own",
     200,
     {"pod p# cpu=1m example.com/r#=1 scheduler=kubenexus-scheduler"}},
    {"pods that spread over keys of their own", 200, {"pod p# cpu=1m spread:k#:1:hard:app=a"}},
    {"pods that prefer keys of their own", 200, {"pod p# cpu=1m prefer:1:k#:In:v"}},
    {"gangs in namespaces of their own",
     200,
     {"pod a# cpu=1m gang=g#:2 namespace=s#", "pod b# cpu=1m gang=g#:2 namespace=s#"}},
    {"gangs that want one domain",
     200,
     {"pod a# cpu=1m gang=g#:2 note:scheduling.kubenexus.io/required-topology=k#",
      "pod b# cpu=1m gang=g#:2 note:scheduling.kubenexus.io/required-topology=k#"}},
    {"nodes with labels of their own", 200, {"node m# cpu=1 label:k#=v zone=z#"}},
    {"nodes with taints of their own", 200, {"node m# cpu=1 taint:k#=v:NoSchedule"}},
    {"nodes with resources of their own", 200, {"node m# cpu=1 example.com/r#=1"}},
    {"nodes with images of their own", 200, {"node m# cpu=1 image:i#=1Gi"}},
    {"tenants with teams of their own",
     200,
     {"pod p# cpu=1m gpu=1 scheduler=kubenexus-scheduler label:tenant.kubenexus.io/name=t# "
      "label:kueue.x-k8s.io/queue-name=q#"}},
};
const uint32_t n_scenes = LEN(scenes);

#define RESERVATION(name, group, entries)                                                          \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':{"   \
    "'name':'" name "','namespace':'default','uid':'" name "'},'spec':{'podGroupName':'" group     \
    "','reservations':{" entries "}}}"
#define ENTRY(name, cpu) "'" name "':{'node':'','cpu':'" cpu "'}"
const struct scene held[] = {
    {"reservations that find room",
     100,
     {RESERVATION("r#", "g#", ENTRY("a", "1m") "," ENTRY("b", "1m"))}},
    {"reservations that find none", 100, {RESERVATION("r#", "g#", ENTRY("a", "99"))}},
    {"reservations and who comes",
     100,
     {RESERVATION("r#", "g#", ENTRY("a", "1m") "," ENTRY("b", "1m")), "pod a# cpu=1m gang=g#:2",
      "pod b# cpu=1m gang=g#:2"}},
    {"reservations of those who run",
     100,
     {"pod a# cpu=1m on=n1" OF_APP("g#"), RESERVATION("r#", "g#", ENTRY("a", "1m"))}},
    {"reservations of one group",
     100,
     {RESERVATION("r#", "g", ENTRY("a", "1m")), "pod p# cpu=1m" OF_APP("g")}},
    {"reservations beside pods", 100, {RESERVATION("r#", "g#", ENTRY("a", "1m")), "pod p# cpu=1m"}},
    {"drivers whose workers find room", 25, {"pod d# cpu=1m" OF_APP("a#") MAKES("5", "1m")}},
    {"drivers whose workers find none", 25, {"pod d# cpu=1m" OF_APP("a#") MAKES("5", "99")}},
    {"drivers whose workers come",
     25,
     {"pod d# cpu=1m" OF_APP("a#") MAKES("2", "1m"), "pod v# cpu=1m" OF_APP("a#"),
      "pod w# cpu=1m" OF_APP("a#")}},
};
const uint32_t n_held = LEN(held);

const struct scene pairs[] = {
    {"services and their pods", 100, {"service s# app=a#", "pod p# cpu=1m label:app=a#"}},
    {"spread pods", 100, {"pod p# cpu=1m label:app=a# spread:zone:1:hard:app=a#"}},
    {"pods apart", 100, {"pod p# cpu=1m label:app=a# apart:host:app=a#"}},
    {"pods near", 100, {"pod p# cpu=1m label:app=a# near:zone:app=a#"}},
    {"pods near namespaces",
     100,
     {"namespace s# label:k#=v", "pod p# cpu=1m apart:host:a=b:like=k#=v"}},
    {"budgets", 300, {"budget b# allowed=1 app=a#", "pod p# cpu=1m on=n1 label:app=a#"}},
    {"nominated pods", 10, {"pod p# cpu=99 nominated=n1"}},
    {"pods with nodes of their own in sight", 100, {"node m# cpu=1", "pod p# cpu=99 nominated=m#"}},
    {"claims that volumes wait for",
     50,
     {"{'kind':'StorageClass','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'s#'},'provisioner':'x','volumeBindingMode':'WaitForFirstConsumer'}",
      "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'c#','namespace':'"
      "default','uid':'c#'},'spec':{'storageClassName':'s#'}}",
      "pod p# cpu=1m claim:c#"}},
    {"services in namespaces of their own",
     100,
     {"service s namespace=s# k#=v", "pod p# cpu=1m namespace=s# label:k#=v"}},
    {"names of every sort at once",
     50,
     {"namespace s# label:k#=v",
      "pod a# cpu=1m namespace=s# gang=g#:2 label:l#=v example.com/r#=1 spread:t#:1:soft:u#=v "
      "apart:w#:x#=v prefer:1:y#:In:z#",
      "pod b# cpu=1m namespace=s# gang=g#:2 select:k#=v"}},
    {"budgets in namespaces of their own", 100, {"budget b namespace=s# allowed=1 k#=v"}},
};
const uint32_t n_pairs = LEN(pairs);

const struct scene told[] = {
    {"taints that are told",
     40,
     {"node m# cpu=200 taint:k#=v:NoSchedule",
      "pod p# cpu=99 tolerate:t#:Exists:: scheduler=kubenexus-scheduler"}},
};
const uint32_t n_told = LEN(told);

void scene_line(char *line, size_t most, const char *fmt, uint32_t i)
{
    size_t n = 0;
    for (; *fmt; fmt++) {
        int more = *fmt == '#' ? snprintf(line + n, most - n, "%u", i)
                               : snprintf(line + n, most - n, "%c", *fmt);
        n += (size_t)more;
        assert(n < most);
    }
}

void scene_apply(struct engine *k, int64_t now_ms, enum change_kind kind, const char *fmt,
                 uint32_t number)
{
    struct arena mem = {0};
    char line[1024];
    uint64_t steps = cost_so_far.steps;
    scene_line(line, sizeof(line), fmt, number);
    struct change change = {kind, object_of(&mem, line)};
    cost_so_far.steps = steps; /* of reading a test's line */
    engine_apply(k, now_ms, &change);
    arena_done(&mem);
}

void scene_apply_each(struct engine *k, int64_t now_ms, enum change_kind kind,
                      const struct scene *scene, uint32_t number)
{
    for (uint32_t o = 0; o < EACH_MOST && scene->each[o]; o++)
        scene_apply(k, now_ms, kind, scene->each[o], number);
}

void scene_run(struct engine *k, int64_t now_ms)
{
    struct effects effects = {0};
    bool goes_on = true;
    while (goes_on) {
        effects_clear(&effects);
        goes_on = engine_step(k, now_ms, &effects);
        vec_each(&effects.list, e)
            if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT || e->kind == EFFECT_WRITE)
                engine_settle(k, now_ms, e->id, NULL);
    }
    effects_done(&effects);
}
