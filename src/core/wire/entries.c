#include "core/wire/entries.h"

#include <stdlib.h>

static struct str key_of(const char *entry)
{
    struct str key;
    memcpy(&key, entry, sizeof(key));
    return key;
}

static bool are_sorted(const struct entries *e, size_t size)
{
    for (uint32_t i = 1; i < e->n; i++) {
        const char *entry = e->at + i * size;
        if (str_compare(key_of(entry - size), key_of(entry)) >= 0)
            return false;
    }
    return true;
}

/* By key, equal keys in the order they came: their place in memory. */
static int compare(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    int order = str_compare(key_of(*x), key_of(*y));
    return order ? order : (*x > *y) - (*x < *y);
}

void entries_sort(struct entries *entries, size_t size, struct arena *mem)
{
    if (are_sorted(entries, size))
        return;
    const char **order = arena_array(mem, const char *, entries->n);
    for (uint32_t i = 0; i < entries->n; i++)
        order[i] = entries->at + i * size;
    qsort(order, entries->n, sizeof(*order), compare);
    char *sorted = arena_alloc(mem, entries->n * size);
    uint32_t n = 0;
    for (uint32_t i = 0; i < entries->n; i++) {
        bool is_last = i + 1 == entries->n || !str_equal(key_of(order[i]), key_of(order[i + 1]));
        if (is_last)
            memcpy(sorted + n++ * size, order[i], size);
    }
    *entries = (struct entries){sorted, n};
}
