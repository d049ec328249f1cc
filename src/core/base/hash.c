#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *p, size_t n)
{
    return n ? XXH3_64bits(p, n) : 0x2d06800538d394c2u;
}

uint64_t hash_xxh64(struct str text, uint64_t seed)
{
    return XXH64(text.n ? text.p : "", text.n, seed);
}
