#include "core/base/bits.h"

#include "core/base/mem.h"

void bits_add(struct bits *b, uint32_t i)
{
    if (i / 64 >= b->n_words) {
        uint32_t n = MAX(i / 64 + 1, b->n_words * 2);
        b->words = mem_resize(b->words, (size_t)n * sizeof(*b->words));
        memset(b->words + b->n_words, 0, (size_t)(n - b->n_words) * sizeof(*b->words));
        b->n_words = n;
    }
    b->words[i / 64] |= (uint64_t)1 << (i % 64);
}

void bits_remove(struct bits *b, uint32_t i)
{
    if (i / 64 < b->n_words)
        b->words[i / 64] &= ~((uint64_t)1 << (i % 64));
}

uint32_t bits_count(const struct bits *b)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < b->n_words; w++)
        count += (uint32_t)__builtin_popcountll(b->words[w]);
    return count;
}

void bits_clear(struct bits *b)
{
    if (b->n_words)
        memset(b->words, 0, (size_t)b->n_words * sizeof(*b->words));
}

void bits_done(struct bits *b)
{
    mem_free(b->words);
    *b = (struct bits){0};
}
