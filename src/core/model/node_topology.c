#include "core/model/node_topology.h"

#include "core/model/tables.h"

/* Custom resources are never protobuf: the numbers are of no use. */
static const struct field cost_fields[] = {
    {FIELD(STR, "name", 1, struct zone_cost, name)},
    {FIELD(INT64, "value", 2, struct zone_cost, value)},
    FIELD_END,
};

#define AMOUNT(text, num, member)                                                                  \
    {                                                                                              \
        FIELD(SCALAR, text, num, struct zone_resource, member), .scalar = &quantity_scalar         \
    }

static const struct field resource_fields[] = {
    AMOUNT("allocatable", 3, allocatable),
    AMOUNT("available", 4, available),
    AMOUNT("capacity", 2, capacity),
    {FIELD(STR, "name", 1, struct zone_resource, name)},
    FIELD_END,
};

static const struct field zone_fields[] = {
    {FIELD_MESSAGES("costs", 4, struct topology_zone, costs, cost_fields)},
    {FIELD(STR, "name", 1, struct topology_zone, name)},
    {FIELD_MESSAGES("resources", 6, struct topology_zone, resources, resource_fields)},
    {FIELD(STR, "type", 2, struct topology_zone, type)},
    FIELD_END,
};

static const struct field attribute_fields[] = {
    {FIELD(STR, "name", 1, struct topology_attribute, name)},
    {FIELD(STR, "value", 2, struct topology_attribute, value)},
    FIELD_END,
};

const struct field node_topology_fields[] = {
    {FIELD_MESSAGES("attributes", 4, struct node_topology, attributes, attribute_fields)},
    {FIELD_STRUCT("metadata", 1, struct node_topology, meta, meta_fields)},
    {FIELD_STRS("topologyPolicies", 2, struct node_topology, policies)},
    {FIELD_MESSAGES("zones", 3, struct node_topology, zones, zone_fields)},
    FIELD_END,
};

struct str node_topology_attribute(const struct node_topology *t, struct str name)
{
    list_each(&t->attributes, a)
        if (str_equal(a->name, name))
            return a->value;
    return (struct str){0};
}

int64_t topology_zone_id(const struct topology_zone *zone)
{
    static const struct str prefix = STR("node-");
    int64_t id;
    bool is_node = str_equal(zone->type, STR("Node")) && str_starts(zone->name, prefix);
    return is_node && str_int(str_part(zone->name, prefix.n, zone->name.n), &id) ? id : -1;
}
