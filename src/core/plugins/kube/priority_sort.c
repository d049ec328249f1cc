/* The order of the queue: higher priority first, then who has waited longer. */

#include "core/framework/plugin.h"

static bool before(const struct queue_key *a, const struct queue_key *b)
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
