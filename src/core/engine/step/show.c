#include "core/engine/step/step.h"

/* What is stale says what is so. */

enum { SHOWN_A_STEP = 1000 }; /* gangs: the rest has the next step */

/* False if there are more. */
static bool show_gangs(struct engine *k, struct effects *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < k->gangs->all.n; i++) {
        if (!k->gangs->all.at[i].shown.is_stale)
            continue;
        if (shown++ == SHOWN_A_STEP)
            return false;
        engine_show_gang(k, i, out);
    }
    return true;
}

bool engine_show(struct engine *k, struct effects *out)
{
    if (LIKELY(k->now_ms < k->publishing.due_ms))
        return false;
    uint32_t before = out->list.n;
    k->publishing.due_ms = INT64_MAX;
    engine_show_mirrors(k, out);
    engine_show_bookings(k, out);
    bool is_all = show_gangs(k, out);
    engine_show_memory(k, out);
    engine_show_labels(k, out);
    arena_reset(&k->mem);
    if (!is_all)
        k->publishing.due_ms = k->now_ms;
    return out->list.n > before || !is_all;
}
