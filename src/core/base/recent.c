#include "core/base/recent.h"

/* Where the first value above `floor` is, or would be. */
static uint32_t place_above(const struct recent *r, int64_t floor)
{
    uint32_t low = 0, high = r->sorted.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->sorted.at[middle] > floor)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void recent_add(struct recent *r, int64_t value)
{
    if (r->arrived.n < RECENT_MOST) {
        vec_push(&r->arrived, value);
    } else {
        uint32_t at = place_above(r, r->arrived.at[r->oldest]) - 1;
        vec_remove(&r->sorted, at);
        r->arrived.at[r->oldest] = value;
        r->oldest = (r->oldest + 1) % RECENT_MOST;
    }
    uint32_t at = place_above(r, value);
    vec_insert(&r->sorted, at, value);
}

void recent_done(struct recent *r)
{
    vec_done(&r->sorted);
    vec_done(&r->arrived);
    r->oldest = 0;
}

uint32_t recent_count_above(const struct recent *r, int64_t floor)
{
    return r->sorted.n - place_above(r, floor);
}

int64_t recent_median_above(const struct recent *r, int64_t floor)
{
    uint32_t first = place_above(r, floor);
    assert(first < r->sorted.n);
    return r->sorted.at[first + (r->sorted.n - first) / 2];
}
