#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a piece of work costs, without a clock: the branches of the core's code that are entered (it
 * is compiled with -fsanitize-coverage=trace-pc), with a step for each 16 bytes that the C library
 * moves or compares for it; and the bytes that it asks for. Equal work has equal cost wherever it
 * runs. */

struct cost {
    uint64_t steps;
    uint64_t bytes; /* asked for in all, freed or not */
};

extern struct cost cost_so_far;

/* Bytes that are held now. */
extern int64_t cost_held;
