/* What holds between two calls of an engine. */

#include "core/engine/step/step.h"

void engine_begin_call(struct engine *k, int64_t now_ms)
{
    assert(now_ms >= k->now_ms); /* time never goes back */
    assert(k->cluster->depth == 0 && !engine_has_lifted(k));
    assert(queue_count(k->queue, QUEUE_IN_FLIGHT) <= engine_n_extender_calls(k));
    k->now_ms = now_ms;
    engine_pass_shares(k);
}
