#include "kube/pause.h"

int64_t pause_wait_ms(struct pause *p, const struct pause_law *law, int64_t now_ms, struct rng *rng)
{
    if (p->failures && now_ms - p->failed_ms >= law->reset_ms)
        p->failures = 0;
    int64_t wait = law->first_ms;
    for (uint32_t i = 0; i < p->failures && wait < law->cap_ms; i++)
        wait *= law->factor;
    wait = MIN(wait, law->cap_ms);
    p->failures++;
    p->failed_ms = now_ms;
    return wait + (int64_t)((double)wait * law->jitter * rng_real(rng));
}
