#pragma once

#include "core/cluster/cluster.h"
#include "core/engine/engine.h"
#include "core/framework/class.h"
#include "core/framework/scan.h"
#include "core/queue/queue.h"

/* What an engine rests on, for those who measure it, dump it, or look where a pod is. Nothing here
 * is changed but by the engine, unless it is measured and thrown away. */

struct engine_open {
    struct cluster *cluster;
    struct queue *queue;
    struct classes *classes;
    struct scan *scan;
};

struct engine_open engine_open(struct engine *k);

/* The plugin of this number, external plugins of its profiles included; NULL: there is none. */
const struct plugin *engine_plugin(const struct engine *k, uint32_t number);
