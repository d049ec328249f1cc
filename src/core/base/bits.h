#pragma once

#include "core/base/base.h"

/* A set of small numbers, one bit each. {0} is empty; numbers past the end are not in it. */
struct bits {
    uint64_t *words;
    uint32_t n_words;
};

static inline bool bits_has(const struct bits *b, uint32_t i)
{
    return i / 64 < b->n_words && (b->words[i / 64] >> (i % 64) & 1);
}

void bits_add(struct bits *b, uint32_t i);
void bits_remove(struct bits *b, uint32_t i);
uint32_t bits_count(const struct bits *b);
void bits_clear(struct bits *b);
void bits_done(struct bits *b);
