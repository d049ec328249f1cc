#include "core/model/migrate.h"

#include "support/objects.h"
#include "support/test.h"

TEST(migrate, plugins_know_their_drivers)
{
    EXPECT_INT(in_tree_of(STR("kubernetes.io/aws-ebs")), IN_TREE_AWS);
    EXPECT_INT(in_tree_of(STR("ebs.csi.aws.com")), IN_TREE_NONE);
    EXPECT_STR(in_tree_driver(IN_TREE_CINDER), "cinder.csi.openstack.org");
    EXPECT(in_tree_is_migrated(IN_TREE_PORTWORX) && !in_tree_is_migrated(IN_TREE_VSPHERE));
    EXPECT_INT(in_tree_named(STR("kubernetes.io/gce-pd,,x,kubernetes.io/cinder")),
               1 << IN_TREE_GCE | 1 << IN_TREE_CINDER);
    EXPECT_INT(in_tree_named(STR("")), 0);
}

TEST(migrate, zones_are_cut_at_two_underscores)
{
    struct str rest = STR("a_b__c");
    EXPECT_STR(zones_next(&rest), "a_b");
    EXPECT_STR(zones_next(&rest), "c");
    EXPECT_INT(rest.n, 0);
}

#define VOLUME_JSON(labels, spec)                                                                  \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v','labels':{" labels        \
    "}},'spec':{" spec "}}"

TEST(migrate, a_volume_gets_the_handle_of_its_driver)
{
    static const struct {
        const char *volume;
        enum in_tree plugin;
        const char *handle; /* NULL: none */
    } cases[] = {
        {VOLUME_JSON("", "'awsElasticBlockStore':{'volumeID':'vol-1'}"), IN_TREE_AWS, "vol-1"},
        {VOLUME_JSON("", "'awsElasticBlockStore':{'volumeID':'aws:///vol-1'}"), IN_TREE_AWS,
         "vol-1"},
        {VOLUME_JSON("", "'awsElasticBlockStore':{'volumeID':'aws://a/vol-1/?x#y'}"), IN_TREE_AWS,
         "vol-1"},
        {VOLUME_JSON("", "'awsElasticBlockStore':{'volumeID':'aws://vol-1'}"), IN_TREE_AWS, NULL},
        {VOLUME_JSON("", "'awsElasticBlockStore':{'volumeID':'aws://a/b/vol-1'}"), IN_TREE_AWS,
         NULL},
        {VOLUME_JSON("", "'gcePersistentDisk':{'pdName':'d'}"), IN_TREE_GCE,
         "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
        {VOLUME_JSON("'topology.kubernetes.io/zone':'r-e1-b'",
                     "'gcePersistentDisk':{'pdName':'d'}"),
         IN_TREE_GCE, "projects/UNSPECIFIED/zones/r-e1-b/disks/d"},
        {VOLUME_JSON("'topology.kubernetes.io/zone':'r-e1-b__r-e1-c'",
                     "'gcePersistentDisk':{'pdName':'d'}"),
         IN_TREE_GCE, "projects/UNSPECIFIED/regions/r-e1/disks/d"},
        {VOLUME_JSON("'topology.kubernetes.io/zone':'r-e1-b__r-e2-c'",
                     "'gcePersistentDisk':{'pdName':'d'}"),
         IN_TREE_GCE, NULL},
        {VOLUME_JSON("'topology.kubernetes.io/zone':'b__c'", "'gcePersistentDisk':{'pdName':'d'}"),
         IN_TREE_GCE, NULL},
        {VOLUME_JSON("", "'azureDisk':{'diskURI':'/u','kind':'managed'}"), IN_TREE_AZURE, "/u"},
        {VOLUME_JSON("", "'azureDisk':{'diskURI':'/u'}"), IN_TREE_AZURE, NULL}, /* a shared one */
        {VOLUME_JSON("", "'cinder':{'volumeID':'c'}"), IN_TREE_CINDER, "c"},
        {VOLUME_JSON("", "'portworxVolume':{'volumeID':'p'}"), IN_TREE_PORTWORX, "p"},
        {VOLUME_JSON("", "'csi':{'driver':'d','volumeHandle':'h'}"), IN_TREE_NONE, NULL},
    };
    AUTO(arena) mem = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].volume);
        struct str handle;
        const struct node_selector *affinity;
        struct object o = object_of_json(&mem, cases[i].volume);
        EXPECT_INT(migrate_volume(o.persistent_volume, &mem, &handle, &affinity), cases[i].plugin);
        EXPECT_INT(handle.p != NULL, cases[i].handle != NULL);
        if (cases[i].handle)
            EXPECT_STR(handle, cases[i].handle);
    }
}

TEST(migrate, zones_are_told_under_the_drivers_key)
{
    AUTO(arena) mem = {0};
    struct str handle;
    const struct node_selector *s;
    struct object o =
        object_of_json(&mem, VOLUME_JSON("'failure-domain.beta.kubernetes.io/zone':'a__b'",
                                         "'awsElasticBlockStore':{'volumeID':'vol-1'}"));
    migrate_volume(o.persistent_volume, &mem, &handle, &s);
    REQUIRE(s && s->terms.n == 1 && s->terms.at[0].match_expressions.n == 1);
    EXPECT_STR(s->terms.at[0].match_expressions.at[0].key, "topology.ebs.csi.aws.com/zone");
    EXPECT_INT(s->terms.at[0].match_expressions.at[0].values.n, 2);

    o = object_of_json(
        &mem,
        VOLUME_JSON("'topology.kubernetes.io/zone':'x'",
                    "'cinder':{'volumeID':'c'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
                    "'matchExpressions':[{'key':'failure-domain.beta.kubernetes.io/zone',"
                    "'operator':'In','values':['a']},{'key':'failure-domain.beta.kubernetes.io/"
                    "region','operator':'In','values':['r']}]}]}}"));
    migrate_volume(o.persistent_volume, &mem, &handle, &s);
    REQUIRE(s && s->terms.n == 1 && s->terms.at[0].match_expressions.n == 2);
    EXPECT_STR(s->terms.at[0].match_expressions.at[0].key,
               "topology.cinder.csi.openstack.org/zone");
    EXPECT_STR(s->terms.at[0].match_expressions.at[1].key, "topology.kubernetes.io/region");

    o = object_of_json(&mem, VOLUME_JSON("", "'gcePersistentDisk':{'pdName':'d'}"));
    migrate_volume(o.persistent_volume, &mem, &handle, &s);
    EXPECT(s == NULL);
}
