/* A pod whose spec.nodeName is set has its node: it is counted there and never waits in a queue, so
 * there is nothing left to filter. The name stands in every profile all the same, and a pod refused
 * under it would wait for that node to come. Pods that ask for a node by name through affinity are
 * NodeAffinity's. */

#include "core/framework/plugin.h"

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD, NULL},
    {0},
};

const struct plugin plugin_node_name = {
    .name = "NodeName",
    .about = ABOUT_NAMES,
    .wakes = wakes,
};
