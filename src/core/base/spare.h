#pragma once

#include "core/base/vec.h"

/* Numbers of a table that are free to be used again: a VEC(uint32_t) of which the last is used
 * next. */

/* A table gives back the room of its last elements, which were free: only spare numbers below
 * `below` remain, the lowest to be used next, so that the last elements become free again. */
#define spare_trim(v, below) ((v)->n = spare_keep((v)->at, (v)->n, (below)), vec_trim(v))

/* How many of the `n` numbers remain; they stand in front. */
uint32_t spare_keep(uint32_t *at, uint32_t n, uint32_t below);
