/* What is free on a node, and for how many pods. */

#include "core/engine/unit/unit.h"

static uint64_t times(int64_t free, int64_t ask, uint64_t most)
{
    if (ask <= 0)
        return most;
    return free <= 0 ? 0 : MIN((uint64_t)(free / ask), most);
}

uint64_t engine_node_room(const struct cluster *c, const struct spec *spec, node_id node,
                          bool is_empty)
{
    const struct room *room = &c->nodes.room[node.i];
    int64_t cpu = is_empty ? 0 : room->cpu_used, memory = is_empty ? 0 : room->memory_used;
    int32_t pods = is_empty ? 0 : room->pods_used;
    uint64_t n = times(room->pods_alloc - (int64_t)pods, 1, spec->n_ports ? 1 : UINT32_MAX);
    n = times(wrap_sub(room->cpu_alloc, cpu), spec->ask.cpu_milli, n);
    n = times(wrap_sub(room->memory_alloc, memory), spec->ask.memory, n);
    for (uint32_t i = 0; i < spec->ask.n_others && n; i++) {
        const struct cell *cell = nodes_cell(&c->nodes, node, spec->ask.others[i].resource);
        int64_t free = cell ? wrap_sub(cell->alloc, is_empty ? 0 : cell->used) : 0;
        n = times(free, spec->ask.others[i].amount, n);
    }
    return n;
}

bool engine_could_hold(const struct engine *k, const struct class *class, node_id node)
{
    const struct cluster *c = k->cluster;
    if (engine_node_room(c, specs_at(&c->specs, class->spec), node, true) == 0)
        return false;
    for (uint32_t i = 0; i < class->n_filters; i++)
        if (!(class->filters[i].columns & COLUMN_USED) &&
            class->filters[i].ask(c, class->filters[i].state, node))
            return false;
    return true;
}

int64_t engine_offered(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct cell *cell = nodes_cell(&c->nodes, node, resource);
    return resource == RESOURCE_CPU      ? room->cpu_alloc
           : resource == RESOURCE_MEMORY ? room->memory_alloc
           : cell                        ? cell->alloc
                                         : 0;
}

int64_t engine_free_of(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct cell *cell = nodes_cell(&c->nodes, node, resource);
    int64_t used = resource == RESOURCE_CPU      ? room->cpu_used
                   : resource == RESOURCE_MEMORY ? room->memory_used
                   : cell                        ? cell->used
                                                 : 0;
    return wrap_sub(engine_offered(c, node, resource), used);
}
