#include "sim/stats.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void stats_sort(int64_t *values, uint32_t n)
{
    if (n)
        qsort(values, n, sizeof(*values), compare);
}

int64_t stats_percentile(const int64_t *sorted, uint32_t n, uint32_t permille)
{
    if (n == 0)
        return 0;
    uint64_t rank = ((uint64_t)n * permille + 999) / 1000; /* from 1 */
    return sorted[rank ? rank - 1 : 0];
}

double stats_mean(const int64_t *values, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)values[i];
    return n ? sum / n : 0;
}

uint32_t stats_count_up_to(const int64_t *sorted, uint32_t n, int64_t limit)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double stats_tick(double span, uint32_t most)
{
    double power = 1;
    while (power * most < span)
        power *= 10;
    while (power > 1e-9 && power / 10 * most >= span)
        power /= 10;
    if (power / 5 * most >= span)
        return power / 5;
    if (power / 2 * most >= span)
        return power / 2;
    return power;
}

int64_t stats_tick_ms(int64_t span_ms, uint32_t most)
{
    static const int64_t ticks_s[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,  600,
                                      900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400};
    for (size_t i = 0; i < LEN(ticks_s); i++) {
        if (ticks_s[i] * 1000 * most >= span_ms)
            return ticks_s[i] * 1000;
    }
    return (int64_t)stats_tick((double)span_ms / 86400e3, most) * 86400000;
}
