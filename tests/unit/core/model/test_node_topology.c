#include "core/model/node_topology.h"

#include "support/objects.h"
#include "support/test.h"

#define REPORT                                                                                     \
    "{'apiVersion':'topology.node.k8s.io/v1alpha2','kind':'NodeResourceTopology','metadata':"      \
    "{'name':'n1'},'topologyPolicies':['SingleNUMANodePodLevel'],'attributes':["                   \
    "{'name':'topologyManagerScope','value':'pod'},"                                               \
    "{'name':'topologyManagerPolicy','value':'restricted'}],'zones':[{'name':'node-1','type':"     \
    "'Node','costs':[{'name':'node-0','value':21},{'name':'node-1','value':10}],'resources':"      \
    "[{'name':'cpu','capacity':'8','allocatable':'7500m','available':'1.5'}]}]}"

TEST(node_topology, zones_costs_amounts_and_attributes_are_read)
{
    AUTO(arena) mem = {0};
    const struct node_topology *t = object_of_json(&mem, REPORT).node_topology;
    EXPECT_STR(t->meta.name, "n1");
    EXPECT_STR(t->policies.at[0], "SingleNUMANodePodLevel");
    EXPECT_STR(node_topology_attribute(t, STR("topologyManagerPolicy")), "restricted");
    EXPECT_STR(node_topology_attribute(t, STR("topologyManagerscope")), "");
    EXPECT_INT(t->zones.n, 1);
    EXPECT_INT(topology_zone_id(&t->zones.at[0]), 1);
    EXPECT_INT(t->zones.at[0].costs.at[0].value, 21);
    const struct zone_resource *cpu = &t->zones.at[0].resources.at[0];
    EXPECT_INT(quantity_milli(cpu->capacity), 8000);
    EXPECT_INT(quantity_milli(cpu->allocatable), 7500);
    EXPECT_INT(quantity_milli(cpu->available), 1500);
}

TEST(node_topology, the_number_of_a_zone)
{
    static const struct {
        const char *type, *name;
        int64_t id;
    } cases[] = {
        {"Node", "node-0", 0},  {"Node", "node-12", 12},  {"Node", "node-", -1},
        {"Node", "node-x", -1}, {"Node", "socket-0", -1}, {"Cache", "node-0", -1},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct topology_zone zone = {.name = str_of(cases[i].name), .type = str_of(cases[i].type)};
        test_case("%s %s", cases[i].type, cases[i].name);
        EXPECT_INT(topology_zone_id(&zone), cases[i].id);
    }
}
