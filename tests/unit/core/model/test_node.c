#include "core/model/node.h"

#include "support/objects.h"
#include "support/test.h"

TEST(node, every_field_finds_its_member)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'spec':{"
              "'unschedulable':true,'providerID':'gce://1','taints':[{'key':'tk','value':'tv',"
              "'effect':'NoExecute','timeAdded':'2026-01-01T00:00:00Z'}]},'status':{"
              "'capacity':{'cpu':'8','memory':'2Ki'},'allocatable':{'cpu':'7'},"
              "'conditions':[{'type':'Ready','status':'False','reason':'r'}],"
              "'images':[{'names':['a:1','b:1'],'sizeBytes':5}],'declaredFeatures':['f','g']}}");
    const struct node *n = o.node;
    EXPECT(n->spec.unschedulable);
    EXPECT_STR(n->spec.provider_id, "gce://1");
    REQUIRE(n->spec.taints.n == 1);
    EXPECT_STR(n->spec.taints.at[0].key, "tk");
    EXPECT_STR(n->spec.taints.at[0].value, "tv");
    EXPECT_STR(n->spec.taints.at[0].effect, "NoExecute");
    REQUIRE(n->status.capacity.n == 2 && n->status.allocatable.n == 1);
    EXPECT(n->status.has_allocatable);
    EXPECT_STR(n->status.capacity.at[1].name, "memory");
    EXPECT_INT(quantity_value(n->status.capacity.at[1].quantity), 2048);
    EXPECT_INT(quantity_value(n->status.allocatable.at[0].quantity), 7);
    REQUIRE(n->status.conditions.n == 1);
    EXPECT_STR(n->status.conditions.at[0].type, "Ready");
    EXPECT_STR(n->status.conditions.at[0].status, "False");
    REQUIRE(n->status.images.n == 1);
    EXPECT_STR(n->status.images.at[0].names.at[1], "b:1");
    EXPECT_INT(n->status.images.at[0].size_bytes, 5);
    EXPECT_STR(n->status.declared_features.at[1], "g");
}
