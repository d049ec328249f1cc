#include "core/engine/step/step.h"

/* What is stale says what is so. */

bool engine_publish_stale(struct engine *k, struct effects *out)
{
    if (LIKELY(k->now_ms < k->publishing.due_ms))
        return false;
    uint32_t before = out->list.n;
    k->publishing.due_ms = INT64_MAX;
    engine_publish_mirrors(k, out);
    engine_publish_reservations(k, out);
    bool is_all = engine_publish_gangs(k, out);
    engine_publish_run_times(k, out);
    engine_publish_label_warnings(k, out);
    arena_reset(&k->mem);
    if (!is_all)
        k->publishing.due_ms = k->now_ms;
    return out->list.n > before || !is_all;
}
