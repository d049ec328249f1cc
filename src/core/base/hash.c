#include "core/base/hash.h"

#include <sys/auxv.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *p, size_t n)
{
    return n ? XXH3_64bits(p, n) : 0x2d06800538d394c2u;
}

uint64_t hash_secret(void)
{
    uint64_t secret = 0;
    const void *drawn = (const void *)getauxval(AT_RANDOM); /* 16 bytes */
    if (drawn)
        memcpy(&secret, drawn, sizeof(secret));
    return secret;
}

uint64_t hash_secretly(const void *p, size_t n, uint64_t secret)
{
    return XXH3_64bits_withSeed(n ? p : "", n, secret);
}

uint64_t hash_xxh64(struct str text, uint64_t seed)
{
    return XXH64(text.n ? text.p : "", text.n, seed);
}
