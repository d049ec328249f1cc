#include "core/base/spare.h"

#include <stdlib.h>

static int highest_first(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

uint32_t spare_keep(uint32_t *at, uint32_t n, uint32_t below)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (at[i] < below)
            at[kept++] = at[i];
    if (kept > 1)
        qsort(at, kept, sizeof(*at), highest_first);
    return kept;
}
