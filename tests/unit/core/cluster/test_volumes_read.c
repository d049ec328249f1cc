#include "core/cluster/volumes.h"

#include "core/cluster/cluster.h"
#include "support/ground.h"
#include "support/test.h"

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    volumes_put(ground_cluster(g), &o);
}

#define VOLUME(meta, spec, phase)                                                                  \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'" meta "},'spec':{" spec   \
    "},'status':{'phase':'" phase "'}}"
#define CLAIM(meta, spec, phase)                                                                   \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':'n',"    \
    "'uid':'u'" meta "},'spec':{" spec "},'status':{'phase':'" phase "'}}"
#define BOUND "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}"

TEST(volumes_read, a_volume_in_the_clusters_terms)
{
    AUTO(ground) g = {0};
    put(&g, VOLUME(",'deletionTimestamp':'2026-01-01T00:00:00Z'",
                   "'capacity':{'storage':'1500m'},'accessModes':['ReadOnlyMany','ReadWriteOncePod'"
                   "],'storageClassName':'sc','volumeMode':'Block','csi':{'driver':'d',"
                   "'volumeHandle':'h'},'claimRef':{'namespace':'n','name':'c'}",
                   "Available"));
    const struct volume_facts *v = volumes_volume(&g.cluster->volumes, ground_sym(&g, "v"));
    REQUIRE(v);
    EXPECT_INT(v->capacity.bytes, 2); /* rounded up, and yet compared exactly */
    EXPECT_INT(v->access, ACCESS_ROX | ACCESS_RWOP);
    EXPECT_INT(v->class, ground_sym(&g, "sc"));
    EXPECT_INT(v->driver, ground_sym(&g, "d"));
    EXPECT_INT(v->handle, ground_sym(&g, "h"));
    EXPECT_INT(v->claim_namespace, ground_sym(&g, "n"));
    EXPECT_INT(v->claim_name, ground_sym(&g, "c"));
    EXPECT_INT(v->claim_uid, SYM_NONE); /* of any uid */
    EXPECT(v->is_available && v->is_block && v->is_terminating);
}

TEST(volumes_read, the_old_annotation_for_a_class_comes_first)
{
    static const struct {
        const char *meta, *spec, *class;
    } cases[] = {
        {"", "", NULL},
        {"", "'storageClassName':'new'", "new"},
        {",'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}", "", "old"},
        {",'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}",
         "'storageClassName':'new'", "old"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s %s", cases[i].meta, cases[i].spec);
        struct str json =
            arena_printf(&g.mem, VOLUME("%s", "%s", "Bound"), cases[i].meta, cases[i].spec);
        put(&g, json.p);
        const struct volume_facts *v = volumes_volume(&g.cluster->volumes, ground_sym(&g, "v"));
        EXPECT_INT(v->class, cases[i].class ? ground_sym(&g, cases[i].class) : SYM_NONE);
    }
}

TEST(volumes_read, a_claim_is_bound_when_its_volume_and_the_controller_say_so)
{
    static const struct {
        const char *meta, *spec, *phase;
        bool is_bound, is_lost;
    } cases[] = {
        {"", "", "Pending", false, false},
        {"," BOUND, "", "Pending", false, false},
        {"", "'volumeName':'v'", "Bound", false, false},
        {"," BOUND, "'volumeName':'v'", "Pending", true, false},
        {"," BOUND, "'volumeName':'v'", "Lost", true, true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s %s %s", cases[i].meta, cases[i].spec, cases[i].phase);
        struct str json = arena_printf(&g.mem, CLAIM("%s", "%s", "%s"), cases[i].meta,
                                       cases[i].spec, cases[i].phase);
        put(&g, json.p);
        const struct claim_facts *c =
            volumes_claim(&g.cluster->volumes, ground_sym(&g, "n"), ground_sym(&g, "c"));
        EXPECT_INT(c->is_bound, cases[i].is_bound);
        EXPECT_INT(c->is_lost, cases[i].is_lost);
    }
}

TEST(volumes_read, a_claim_in_the_clusters_terms)
{
    AUTO(ground) g = {0};
    put(&g, CLAIM(",'annotations':{'volume.kubernetes.io/selected-node':'node'},"
                  "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'x','uid':'no'},"
                  "{'apiVersion':'v1','kind':'Pod','name':'y','uid':'yes','controller':true}]",
                  "'resources':{'requests':{'storage':'1Ki'}},'accessModes':['ReadWriteMany']",
                  "Pending"));
    const struct claim_facts *c =
        volumes_claim(&g.cluster->volumes, ground_sym(&g, "n"), ground_sym(&g, "c"));
    EXPECT_INT(c->selected_node, ground_sym(&g, "node"));
    EXPECT_INT(c->owner_uid, ground_sym(&g, "yes"));
    EXPECT_INT(c->uid, ground_sym(&g, "u"));
    EXPECT(c->has_request);
    EXPECT_INT(c->request.bytes, 1024);
    EXPECT_INT(c->access, ACCESS_RWX);
    EXPECT_INT(c->selector, ID_NONE);
    EXPECT_INT(c->volume, SYM_NONE);
}

#define CLASS(rest)                                                                                \
    "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'}," rest "}"

TEST(volumes_read, only_a_provisioner_that_makes_volumes_provides)
{
    static const struct {
        const char *rest;
        bool waits, provides;
    } cases[] = {
        {"'provisioner':'p'", false, true},
        {"'provisioner':'p','volumeBindingMode':'WaitForFirstConsumer'", true, true},
        {"'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'Immediate'", false,
         false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].rest);
        struct str json = arena_printf(&g.mem, CLASS("%s"), cases[i].rest);
        put(&g, json.p);
        const struct class_facts *s = volumes_class(&g.cluster->volumes, ground_sym(&g, "s"));
        EXPECT_INT(s->waits, cases[i].waits);
        EXPECT_INT(s->provides, cases[i].provides);
    }
}
