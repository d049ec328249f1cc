#include "core/queue/backoff.h"

enum { SECOND_MS = 1000 };

int64_t backoff_wait_ms(struct backoff law, uint32_t failures)
{
    assert(law.first_ms > 0 && law.most_ms >= law.first_ms);
    if (failures == 0)
        return 0;
    uint32_t doublings = failures - 1;
    if (doublings > 62 || law.first_ms > law.most_ms >> doublings)
        return law.most_ms;
    return law.first_ms << doublings;
}

int64_t backoff_end_ms(struct backoff law, uint32_t failures, int64_t since_ms)
{
    assert(since_ms >= 0);
    if (failures == 0)
        return since_ms;
    int64_t end_ms = since_ms + backoff_wait_ms(law, failures);
    return end_ms - end_ms % SECOND_MS + SECOND_MS;
}
