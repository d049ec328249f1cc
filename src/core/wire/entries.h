#pragma once

#include "core/base/arena.h"

/* The entries of a map: structs of `size` bytes that begin with their key, a struct str. */
struct entries {
    char *at;
    uint32_t n;
};

/* Sorts them by key and keeps the last of those whose keys are equal. Entries that are in order
 * stay where they are, others move to new room in `mem`. */
void entries_sort(struct entries *entries, size_t size, struct arena *mem);
