#include "core/cluster/volumes.h"

#include <stdio.h>

#include "core/cluster/event.h"
#include "support/ground.h"
#include "support/test.h"

#define STORAGE "'apiVersion':'storage.k8s.io/v1','kind':"

static uint32_t put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    return volumes_put(ground_cluster(g), &o);
}

static bool take(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    return volumes_remove(ground_cluster(g), &o);
}

#define CLASS(rest) "{" STORAGE "'StorageClass','metadata':{'name':'a'},'provisioner':'p'" rest "}"
#define TOPOLOGY(zone)                                                                             \
    ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'z','values':['" zone "']}]}]"
#define VOLUME(labels, spec)                                                                       \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v','labels':{" labels        \
    "}},'spec':{" spec "}}"
#define DRIVER(tracks)                                                                             \
    "{" STORAGE "'CSIDriver','metadata':{'name':'d'},'spec':{'storageCapacity':" tracks "}}"
#define ROOM(rest) "{" STORAGE "'CSIStorageCapacity','metadata':{'name':'c'}" rest "}"
#define CSI(meta, drivers)                                                                         \
    "{" STORAGE "'CSINode','metadata':{'name':'n'" meta "},'spec':{'drivers':[" drivers "]}}"
#define LIMIT(n) "{'name':'d','allocatable':{'count':" n "}}"

TEST(volumes, what_differs_is_told_and_what_does_not_is_no_news)
{
    /* clang-format off */
    static const struct {
        const char *was, *is;
        uint32_t actions;
    } cases[] = {
        {CLASS(""),               CLASS(",'parameters':{'a':'b'}"), 0                                   },
        {CLASS(""),               CLASS(TOPOLOGY("x")),             ACTION_OTHER | ACTION_CLASS_TOPOLOGY},
        {CLASS(TOPOLOGY("x")),    CLASS(TOPOLOGY("y")),             ACTION_OTHER | ACTION_CLASS_TOPOLOGY},
        {VOLUME("", ""),          VOLUME("", "'storageClassName':'s'"), ACTION_OTHER                    },
        {VOLUME("", ""),          VOLUME("'topology.kubernetes.io/zone':'a'", ""),
         ACTION_OTHER | ACTION_VOLUME_ZONE                                                              },
        {VOLUME("", ""),          VOLUME("'a':'b'", ""),            ACTION_OTHER                        },
        {DRIVER("true"),          DRIVER("false"),                  ACTION_OTHER | ACTION_DRIVER_UNTRACKED},
        {DRIVER("false"),         DRIVER("true"),                   ACTION_OTHER                        },
        {ROOM(",'capacity':'1Gi'"), ROOM(",'capacity':'2Gi'"),      ACTION_OTHER | ACTION_CAPACITY_GREW },
        {ROOM(",'capacity':'2Gi'"), ROOM(",'capacity':'1Gi'"),      ACTION_OTHER                        },
        {ROOM(""),                  ROOM(",'capacity':'1Gi'"),      ACTION_OTHER | ACTION_CAPACITY_GREW },
        {ROOM(",'capacity':'2Gi'"), ROOM(",'capacity':'2Gi','maximumVolumeSize':'3Gi'"),
         ACTION_OTHER | ACTION_CAPACITY_GREW                                                            },
        {CSI("", LIMIT("1")),       CSI("", LIMIT("2")),            ACTION_OTHER | ACTION_CSI_LIMIT     },
        {CSI("", LIMIT("2")),       CSI("", LIMIT("1")),            ACTION_OTHER                        },
        {CSI("", "{'name':'d'}"),   CSI("", LIMIT("1")),            ACTION_OTHER | ACTION_CSI_LIMIT     },
        {CSI("", ""),               CSI(",'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'x'}", ""),
         ACTION_OTHER | ACTION_CSI_MIGRATED                                                             },
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].was, cases[i].is);
        AUTO(ground) g = {0};
        EXPECT_INT(put(&g, cases[i].was), ACTION_ADD);
        EXPECT_INT(put(&g, cases[i].was), 0);
        EXPECT_INT(put(&g, cases[i].is), cases[i].actions);
        EXPECT(take(&g, cases[i].is));
        EXPECT(!take(&g, cases[i].is));
    }
}

TEST(volumes, only_what_belongs_to_no_node_moves_the_generation)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n");
    struct cluster *c = g.cluster;
    uint64_t generation = c->volumes.generation, end = c->log.end;
    put(&g, CSI("", LIMIT("1")));
    EXPECT_INT(c->volumes.generation, generation);
    EXPECT_INT(c->log.end, end + 1);
    EXPECT_INT(change_log_at(&c->log, end)->columns, COLUMN_VOLUMES);
    EXPECT_INT(put(&g, CLASS(",'volumeBindingMode':'WaitForFirstConsumer'")),
               ACTION_ADD | ACTION_CLASS_WAITS);
    EXPECT(c->volumes.generation > generation);
    EXPECT_INT(c->log.end, end + 1);
}

#define ATTACHED(name, node)                                                                       \
    "{" STORAGE "'VolumeAttachment','metadata':{'name':'" name "'},'spec':{'attacher':'d',"        \
    "'nodeName':'" node "'}}"

static uint32_t attached(const struct ground *g, sym node)
{
    uint32_t n = 0;
    const struct volumes *v = &g->cluster->volumes;
    for (uint32_t i = map_find(&v->attached, node); i != ID_NONE;
         i = v->of[THING_ATTACHMENT].at.at[i].next)
        n++;
    return n;
}

TEST(volumes, attachments_are_found_by_node)
{
    AUTO(ground) g = {0};
    put(&g, ATTACHED("a", "n"));
    put(&g, ATTACHED("b", "n"));
    put(&g, ATTACHED("c", "n"));
    put(&g, ATTACHED("d", "m"));
    sym n = ground_sym(&g, "n"), m = ground_sym(&g, "m");
    EXPECT_INT(attached(&g, n), 3);
    take(&g, ATTACHED("b", "n"));
    EXPECT_INT(attached(&g, n), 2);
    put(&g, ATTACHED("c", "m"));
    EXPECT_INT(attached(&g, n), 1);
    EXPECT_INT(attached(&g, m), 2);
    EXPECT_STR(
        names_text(&g.cluster->names, volumes_attacher(&g.cluster->volumes, ground_sym(&g, "c"))),
        "d");
    take(&g, ATTACHED("a", "n"));
    EXPECT_INT(attached(&g, n), 0);
}

TEST(volumes, a_claim_knows_its_users_on_nodes_that_are_there)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n");
    ground_add(&g, "pod a claim:c claim:c on=n");
    ground_add(&g, "pod b claim:c on=later");
    struct cluster *c = g.cluster;
    sym namespace = ground_sym(&g, "default"), name = ground_sym(&g, "c");
    EXPECT_INT(volumes_users(&c->volumes, namespace, name), 2);
    ground_add(&g, "node later");
    EXPECT_INT(volumes_users(&c->volumes, namespace, name), 3);
    struct txn t = txn_begin(c);
    cluster_take(c, ground_pod(&g, "a"));
    EXPECT_INT(volumes_users(&c->volumes, namespace, name), 1);
    txn_undo(c, t);
    EXPECT_INT(volumes_users(&c->volumes, namespace, name), 3);
    cluster_put_node(c, ground_node(&g, "later"), &NODE_ROW_ABSENT);
    EXPECT_INT(volumes_users(&c->volumes, namespace, name), 2);
    EXPECT(!volumes_claim(&c->volumes, namespace, name)); /* nobody told of the claim itself */
}

TEST(volumes, what_is_gone_is_let_go)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    for (int i = 0; i < 3000; i++) { /* enough for a sweep to be worth it */
        char json[200];
        snprintf(json, sizeof(json),
                 "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"
                 "'storageClassName':'s%d'}}",
                 i);
        put(&g, json);
    }
    cluster_tidy(c, TIDY_IF_WANTED);
    EXPECT(c->volumes.of[THING_VOLUME].facts.table.live < 100);
    EXPECT(c->names.text.live < 100);
    EXPECT(volumes_volume(&c->volumes, ground_sym(&g, "v")));
}
