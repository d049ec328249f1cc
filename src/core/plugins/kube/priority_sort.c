/* The order of the queue: higher priority first, then who has waited longer. */

#include "core/framework/plugin.h"

static bool before(const struct standing *a, const struct standing *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->since_ms != b->since_ms)
        return a->since_ms < b->since_ms;
    return a->arrival < b->arrival;
}

const struct plugin plugin_priority_sort = {
    .name = "PrioritySort",
    .before = before,
};
