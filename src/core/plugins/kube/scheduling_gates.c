/* A pod with scheduling gates is not ready for anybody to look at: it stays out of the queue until
 * its last gate is gone. */

#include "core/framework/plugin.h"

static bool gate(const struct cluster *c, const struct shape *shape, struct arena *mem,
                 struct str *why)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    if (spec->n_gates == 0)
        return false;
    struct str names = names_text(&c->names, spec->gates[0]);
    for (uint32_t i = 1; i < spec->n_gates; i++)
        names = arena_printf(mem, STR_FMT " " STR_FMT, STR_ARG(names),
                             STR_ARG(names_text(&c->names, spec->gates[i])));
    *why = arena_printf(mem, "waiting for scheduling gates: [" STR_FMT "]", STR_ARG(names));
    return true;
}

static const struct wake wakes[] = {
    {EVENT_TARGET_POD, ACTION_POD_GATES_GONE, NULL},
    {0},
};

const struct plugin plugin_scheduling_gates = {
    .name = "SchedulingGates",
    .gate = gate,
    .wakes = wakes,
};
