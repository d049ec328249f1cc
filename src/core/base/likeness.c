#include "core/base/likeness.h"

enum { LONGEST = 128 };

static uint32_t least(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t two = MIN(a, b);
    return MIN(two, c);
}

/* The next row of the table of distances between beginnings, from the last two. */
static void fill_row(struct str a, struct str b, size_t i, uint32_t rows[3][LONGEST + 1])
{
    uint32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= b.n; j++) {
        bool is_same = a.p[i - 1] == b.p[j - 1];
        row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + !is_same);
        bool is_swapped = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
        if (is_swapped)
            row[j] = MIN(row[j], before[j - 2] + 1);
    }
}

uint32_t likeness_distance(struct str a, struct str b)
{
    uint32_t rows[3][LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return LIKENESS_MOST;
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= a.n; i++)
        fill_row(a, b, i, rows);
    return MIN(rows[a.n % 3][b.n], (uint32_t)LIKENESS_MOST);
}

bool likeness_is_near(struct str meant, struct str written)
{
    size_t shorter = MIN(meant.n, written.n), longer = MAX(meant.n, written.n);
    size_t most = 1 + shorter / 5;
    if (longer - shorter > most) /* most texts: they differ in length by more than that */
        return false;
    uint32_t distance = likeness_distance(meant, written);
    return distance > 0 && distance < shorter && distance <= most;
}
