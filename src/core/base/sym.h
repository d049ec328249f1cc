#pragma once

#include "core/base/intern.h"

/* A symbol: text that is compared all day, as a number. Made once, at the border; inside, equality
 * is
 * `==`. SYM_NONE stands for "no text there" and differs from the empty text. Symbols say nothing
 * about order. Pod names and uids are not symbols: nobody compares them all day. */
typedef uint32_t sym;

#define SYM_NONE INTERN_NONE
