/* Two pods on one node cannot have the same host port: same protocol and port, and the same
 * address, 0.0.0.0 being every address. */

#include "core/framework/plugin.h"

struct wants {
    const struct host_port *ports; /* live as long as the spec, which the class holds */
    uint32_t n;
    reason_id taken;
};

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    *wants = (struct wants){
        .ports = l->spec->ports,
        .n = l->spec->n_ports,
        .taken = learning_reason(l, CODE_UNSCHEDULABLE,
                                 "node(s) didn't have free ports for the requested pod ports"),
    };
    l->filters = wants->n > 0;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct wants *wants = cls;
    return nodes_port_taken(&c->nodes, node, wants->ports, wants->n, c->any_ip) ? wants->taken : 0;
}

static bool clash(const struct cluster *c, const struct spec *a, const struct spec *b)
{
    for (uint32_t i = 0; i < a->n_ports; i++)
        for (uint32_t k = 0; k < b->n_ports; k++) {
            struct host_port x = a->ports[i], y = b->ports[k];
            if (x.port == y.port && x.protocol == y.protocol &&
                (x.ip == y.ip || x.ip == c->any_ip || y.ip == c->any_ip))
                return true;
        }
    return false;
}

static bool hint_pod(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    return e->pod_node != SYM_NONE && e->old_shape &&
           clash(c, specs_at(&c->specs, shape->spec), specs_at(&c->specs, e->old_shape->spec));
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE, hint_pod},
    {EVENT_NODE, ACTION_ADD, NULL},
    {0},
};

const struct plugin plugin_node_ports = {
    .name = "NodePorts",
    .row_columns = COLUMN_PORTS,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .row_filter = row_filter,
    .wakes = wakes,
};
