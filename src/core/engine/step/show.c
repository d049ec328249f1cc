#include "core/engine/step/step.h"

/* What is stale says what is so. */

bool engine_show(struct engine *k, struct effects *out)
{
    if (LIKELY(k->now_ms < k->publishing.due_ms))
        return false;
    uint32_t before = out->list.n;
    k->publishing.due_ms = INT64_MAX;
    engine_show_mirrors(k, out);
    engine_show_bookings(k, out);
    bool is_all = engine_show_gangs(k, out);
    engine_show_memory(k, out);
    engine_show_labels(k, out);
    arena_reset(&k->mem);
    if (!is_all)
        k->publishing.due_ms = k->now_ms;
    return out->list.n > before || !is_all;
}
