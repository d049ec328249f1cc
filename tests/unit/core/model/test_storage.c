#include "core/model/storage.h"

#include "support/objects.h"
#include "support/test.h"

#define STORAGE "'apiVersion':'storage.k8s.io/v1','kind':"

TEST(storage, a_volume)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem, "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"
              "'capacity':{'storage':'5'},'accessModes':['ReadWriteOnce'],'volumeMode':'Block',"
              "'storageClassName':'sc','volumeAttributesClassName':'ac','csi':{'driver':'d',"
              "'volumeHandle':'h'},'claimRef':{'namespace':'cn','name':'c','uid':'u'},"
              "'nodeAffinity':{'required':{'nodeSelectorTerms':[{},{}]}}},"
              "'status':{'phase':'Bound'}}");
    const struct persistent_volume *v = o.persistent_volume;
    EXPECT_INT(quantity_value(v->spec.capacity.at[0].quantity), 5);
    EXPECT_STR(v->spec.access_modes.at[0], "ReadWriteOnce");
    EXPECT_STR(v->spec.mode, "Block");
    EXPECT_STR(v->spec.storage_class, "sc");
    EXPECT_STR(v->spec.attributes_class, "ac");
    EXPECT_STR(v->spec.csi->driver, "d");
    EXPECT_STR(v->spec.csi->handle, "h");
    EXPECT_STR(v->spec.claim_ref->namespace, "cn");
    EXPECT_STR(v->spec.claim_ref->name, "c");
    EXPECT_STR(v->spec.claim_ref->uid, "u");
    EXPECT_INT(v->spec.node_affinity->terms.n, 2);
    EXPECT_STR(v->phase, "Bound");
    EXPECT(!v->spec.gce_disk && !v->spec.aws_disk && !v->spec.cinder);
}

TEST(storage, a_claim)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c'},'spec':{"
              "'accessModes':['ReadOnlyMany'],'resources':{'requests':{'storage':'6'}},"
              "'selector':{'matchLabels':{'a':'b'}},'volumeName':'v','storageClassName':'sc',"
              "'volumeMode':'Filesystem','volumeAttributesClassName':'ac'},"
              "'status':{'phase':'Lost'}}");
    const struct persistent_volume_claim *c = o.persistent_volume_claim;
    EXPECT_STR(c->spec.access_modes.at[0], "ReadOnlyMany");
    EXPECT_INT(quantity_value(c->spec.requests.at[0].quantity), 6);
    EXPECT_INT(c->spec.selector->match_labels.n, 1);
    EXPECT_STR(c->spec.volume_name, "v");
    EXPECT_STR(c->spec.storage_class, "sc");
    EXPECT_STR(c->spec.mode, "Filesystem");
    EXPECT_STR(c->spec.attributes_class, "ac");
    EXPECT_STR(c->phase, "Lost");
}

TEST(storage, who_provides_volumes)
{
    AUTO(arena) mem = {0};
    struct object class =
        object_of_json(&mem, "{" STORAGE "'StorageClass','metadata':{'name':'s'},'provisioner':'p',"
                             "'volumeBindingMode':'WaitForFirstConsumer','allowedTopologies':[{"
                             "'matchLabelExpressions':[{'key':'k','values':['x','y']}]}]}");
    EXPECT_STR(class.storage_class->provisioner, "p");
    EXPECT_STR(class.storage_class->binding_mode, "WaitForFirstConsumer");
    EXPECT_STR(class.storage_class->allowed_topologies.at[0].all.at[0].key, "k");
    EXPECT_STR(class.storage_class->allowed_topologies.at[0].all.at[0].values.at[1], "y");

    struct object driver = object_of_json(
        &mem, "{" STORAGE "'CSIDriver','metadata':{'name':'d'},'spec':{'storageCapacity':true}}");
    EXPECT(driver.csi_driver->tracks_capacity && !driver.csi_driver->must_be_installed);

    struct object room = object_of_json(
        &mem, "{" STORAGE "'CSIStorageCapacity','metadata':{'name':'r'},'storageClassName':'s',"
              "'capacity':'7','maximumVolumeSize':'3','nodeTopology':{}}");
    const struct csi_storage_capacity *r = room.csi_storage_capacity;
    EXPECT_STR(r->storage_class, "s");
    EXPECT(r->has_capacity && r->has_most && r->node_topology);
    EXPECT_INT(quantity_value(r->capacity), 7);
    EXPECT_INT(quantity_value(r->most), 3);
}

TEST(storage, what_a_node_can_attach_and_has_attached)
{
    AUTO(arena) mem = {0};
    struct object node = object_of_json(
        &mem, "{" STORAGE "'CSINode','metadata':{'name':'n'},'spec':{'drivers':[{'name':'d',"
              "'nodeID':'x','allocatable':{'count':0}},{'name':'e','nodeID':'y'}]}}");
    const struct csi_node_driver *d = node.csi_node->drivers.at;
    REQUIRE(node.csi_node->drivers.n == 2);
    EXPECT_STR(d[0].name, "d");
    EXPECT(d[0].has_count && d[0].count == 0 && !d[1].has_count);

    struct object o = object_of_json(
        &mem, "{" STORAGE "'VolumeAttachment','metadata':{'name':'a'},'spec':{'attacher':'d',"
              "'nodeName':'n','source':{'persistentVolumeName':'v'}}}");
    EXPECT_STR(o.volume_attachment->attacher, "d");
    EXPECT_STR(o.volume_attachment->node_name, "n");
    EXPECT_STR(o.volume_attachment->volume_name, "v");
}
