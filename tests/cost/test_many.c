/* Twice as many objects cost twice as much to read, to decide about and to let go, of whatever kind
 * they are and whatever they are to each other. In each scene there are a few nodes, and n of each
 * of some objects, told apart by their number. */

#include <stdio.h>
#include <stdlib.h>

#include "core/engine/engine.h"
#include "count.h"
#include "support/objects.h"
#include "support/test.h"

#define IN_PROPORTION 2.3
#define BY_PAIRS      4.0

enum { NODES = 3, EACH_MOST = 3 };

struct scene {
    const char *name;
    uint32_t least;              /* n, and then twice and four times as many */
    const char *each[EACH_MOST]; /* objects; # is the number */
};

static const struct scene scenes[] = {
    {"pods that run",                        500, {"pod p# cpu=1m on=n1"}                                                                     },
    {"pods that find room",                  500, {"pod p# cpu=1m"}                                                                           },
    {"pods that find none",                  500, {"pod p# cpu=99 scheduler=kubenexus-scheduler"}                                             },
    {"pods of another scheduler",            500, {"pod p# cpu=1 scheduler=another"}                                                          },
    {"pods with labels of their own",        500, {"pod p# cpu=1m label:k#=v label:app=v#"}                                                   },
    {"pods that select labels of their own", 500, {"pod p# cpu=1m select:k#=v"}                                                               },
    {"pods with resources of their own",     500, {"pod p# cpu=1m example.com/r#=1"}                                                          },
    {"pods in namespaces of their own",
     500,                                         {"namespace s# label:k#=v", "pod p# cpu=1m namespace=s#"}                                   },
    {"pods with gates",                      500, {"pod p# cpu=1m gate:g#"}                                                                   },
    {"ports",                                30,  {"pod p# cpu=1m port:#"}                                                                    },
    {"gangs that start",                     300, {"pod a# cpu=1m gang=g#:2", "pod b# cpu=1m gang=g#:2"}                                      },
    {"gangs that wait for pods",             300, {"pod a# cpu=1m gang=g#:2"}                                                                 },
    {"gangs that find no room",              300, {"pod a# cpu=99 gang=g#:2", "pod b# cpu=99 gang=g#:2"}                                      },
    {"images",                               300, {"pod p# cpu=1m image:i#"}                                                                  },
    {"tolerations",                          300, {"pod p# cpu=1m tolerate:k#:Exists::"}                                                      },
    {"claims of volumes",
     300,                                         {"{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'c#','namespace':'"
      "default','uid':'c#'},'spec':{'volumeName':'v#'}}",
      "pod p# cpu=1m claim:c#"}                                                                                                      },
    {"volumes",
     300,                                         {"{'kind':'PersistentVolume','apiVersion':'v1','metadata':{'name':'v#','uid':'v#'},'spec':{'"
      "capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'s'}}"}                                        },
    {"slices of devices",
     200,                                         {"{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'s#','uid':'s#'},'spec':{'driver':'d','pool':{'name':'p#','"
      "generation':1,'resourceSliceCount':1},"
      "'nodeName':'m#','devices':[{'name':'d'}]}}"}                                                                                  },
    {"claims of devices",
     100,                                         {"{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'c#','namespace':'default','uid':'c#'},'spec':{'devices':{'requests':"
      "[{'name':'r','exactly':{'deviceClassName':'k'}}]}}}"}                                                                         },
    {"classes of devices",
     200,                                         {"{'kind':'DeviceClass','apiVersion':'resource.k8s.io/"
      "v1','metadata':{'name':'k#','uid':'k#'},'spec':{'extendedResourceName':'example.com/r#'}}"}                                   },
    {"groups",
     300,                                         {"{'kind':'PodGroup','apiVersion':'scheduling.x-k8s.io/"
      "v1alpha1','metadata':{'name':'g#','namespace':'default','uid':'g#'},'spec':{'minMember':2}}",
      "pod a# cpu=1m gang=g#:2"}                                                                                                     },
    {"jobs",
     300,                                         {"{'kind':'Job','apiVersion':'batch/"
      "v1','metadata':{'name':'j#','namespace':'default','uid':'j#'},'spec':{'parallelism':2}}",
      "pod p# cpu=1m owner:Job=j#"}                                                                                                  },
    {"queues of Kueue",
     200,                                         {"{'kind':'LocalQueue','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'q#','namespace':'default','uid':'q#'},'spec':{'clusterQueue':'"
      "c#'}}",
      "{'kind':'ClusterQueue','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'c#','uid':'c#'},'spec':{}}",
      "{'kind':'Workload','apiVersion':'kueue.x-k8s.io/"
      "v1beta2','metadata':{'name':'w#','namespace':'default','uid':'w#'},'spec':{'queueName':'q#',"
      "'podSets':[{'name':'m','count':8,'template':{'spec':{'containers':[{'name':'c','resources':{"
      "'requests':{'nvidia.com/gpu':'8'}}}]}}}]}}"}                                                                                  },
    {"priority classes",
     200,                                         {"{'kind':'PriorityClass','apiVersion':'scheduling.k8s.io/"
      "v1','metadata':{'name':'p#'},'value':7}"}                                                                                     },
    {"drivers of volumes",
     200,                                         {"{'kind':'CSIDriver','apiVersion':'storage.k8s.io/v1','metadata':{'name':'d#'},'spec':{}}"}},
    {"attachments",
     200,                                         {"{'kind':'VolumeAttachment','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'a#'},'spec':{'attacher':'d','nodeName':'m#','source':{'"
      "persistentVolumeName':'v#'}}}"}                                                                                               },
    {"capacities",
     200,                                         {"{'kind':'CSIStorageCapacity','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'c#','namespace':'default','uid':'c#'},'storageClassName':'s#','"
      "capacity':'1Gi'}"}                                                                                                            },
    {"nodes",                                200, {"node m# cpu=1"}                                                                           },
    {"nodes that pods name",                 200, {"pod p# cpu=1m on=m#"}                                                                     },
    {"reports of NUMA nodes",
     200,                                         {"{'kind':'NodeResourceTopology','apiVersion':'topology.node.k8s.io/"
      "v1alpha2','metadata':{'name':'m#'},'zones':[]}"}                                                                              },
};

/* In these, each of the one is compared with each of the other, once and quickly: selectors of a
 * namespace with the labels in it, pods nominated to a node with each other, a budget with those
 * behind it in the order of names, claims that are being written (at most 512) with what happens.
 */
static const struct scene pairs[] = {
    {"services and their pods",      100, {"service s# app=a#", "pod p# cpu=1m label:app=a#"}                  },
    {"spread pods",                  100, {"pod p# cpu=1m label:app=a# spread:zone:1:hard:app=a#"}             },
    {"pods apart",                   100, {"pod p# cpu=1m label:app=a# apart:host:app=a#"}                     },
    {"pods near",                    100, {"pod p# cpu=1m label:app=a# near:zone:app=a#"}                      },
    {"pods near namespaces",
     100,                                 {"namespace s# label:k#=v", "pod p# cpu=1m apart:host:a=b:like=k#=v"}},
    {"budgets",                      300, {"budget b# allowed=1 app=a#", "pod p# cpu=1m on=n1 label:app=a#"}   },
    {"nominated pods",               10,  {"pod p# cpu=99 nominated=n1"}                                       },
    {"claims that volumes wait for",
     50,                                  {"{'kind':'StorageClass','apiVersion':'storage.k8s.io/"
      "v1','metadata':{'name':'s#'},'provisioner':'x','volumeBindingMode':'WaitForFirstConsumer'}",
      "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'c#','namespace':'"
      "default','uid':'c#'},'spec':{'storageClassName':'s#'}}",
      "pod p# cpu=1m claim:c#"}                                                                        },
};

/* The number in place of each #. */
static void put_number(char *line, size_t most, const char *fmt, uint32_t i)
{
    size_t n = 0;
    for (; *fmt; fmt++) {
        int more = *fmt == '#' ? snprintf(line + n, most - n, "%u", i)
                               : snprintf(line + n, most - n, "%c", *fmt);
        n += (size_t)more;
        assert(n < most);
    }
}

static void apply(struct engine *k, enum change_kind kind, const char *fmt, uint32_t i)
{
    struct arena mem = {0};
    char line[1024];
    uint64_t steps = cost_so_far.steps;
    put_number(line, sizeof(line), fmt, i);
    struct change change = {kind, object_of(&mem, line)};
    cost_so_far.steps = steps; /* of reading a test's line */
    engine_apply(k, 0, &change);
    arena_done(&mem);
}

/* Decides about all; every binding is well. */
static void run(struct engine *k)
{
    struct effects effects = {0};
    bool goes_on = true;
    while (goes_on) {
        effects_clear(&effects);
        goes_on = engine_step(k, 0, &effects);
        vec_each(&effects.list, e)
            if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT || e->kind == EFFECT_WRITE)
                engine_settle(k, 0, e->id, NULL);
    }
    effects_done(&effects);
}

static struct cost play(const struct scene *scene, uint32_t n)
{
    struct engine_config config = {.shows = true};
    struct engine *k = engine_new(&config);
    struct cost before = cost_so_far;
    for (uint32_t i = 0; i < NODES; i++)
        apply(k, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=100000 zone=z%u", i);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t o = 0; o < EACH_MOST && scene->each[o]; o++)
            apply(k, CHANGE_PUT, scene->each[o], i);
    run(k);
    apply(k, CHANGE_PUT, "node more# cpu=1 memory=1Gi", 0); /* wakes those who wait */
    run(k);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t o = 0; o < EACH_MOST && scene->each[o]; o++)
            apply(k, CHANGE_REMOVE, scene->each[o], i);
    run(k);
    struct cost after = cost_so_far;
    engine_free(k);
    return (struct cost){after.steps - before.steps, after.bytes - before.bytes};
}

static void judge(const struct scene *scene, const char *what, const uint64_t *costs, double most)
{
    test_case("%s, %s: %llu, %llu, %llu", scene->name, what, (unsigned long long)costs[0],
              (unsigned long long)costs[1], (unsigned long long)costs[2]);
    EXPECT((double)costs[1] <= most * (double)costs[0]);
    EXPECT((double)costs[2] <= most * (double)costs[1]);
}

static void try_scene(const struct scene *scene, double most)
{
    uint64_t steps[3], bytes[3];
    for (uint32_t times = 0; times < 3; times++) {
        struct cost c = play(scene, scene->least << times);
        steps[times] = c.steps;
        bytes[times] = c.bytes;
    }
    if (getenv("COST_VERBOSE"))
        printf("# %-36s %10llu %10llu %10llu, bytes %10llu\n", scene->name,
               (unsigned long long)steps[0], (unsigned long long)steps[1],
               (unsigned long long)steps[2], (unsigned long long)bytes[2]);
    judge(scene, "steps", steps, most);
    judge(scene, "bytes", bytes, IN_PROPORTION);
}

TEST(cost, of_many_objects_is_in_proportion)
{
    for (size_t i = 0; i < LEN(scenes); i++)
        try_scene(&scenes[i], IN_PROPORTION);
}

TEST(cost, of_pairs_is_that_of_a_glance)
{
    for (size_t i = 0; i < LEN(pairs); i++)
        try_scene(&pairs[i], BY_PAIRS);
}
