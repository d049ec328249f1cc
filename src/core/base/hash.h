#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* Hashes for tables. They never decide anything: no effect may depend on their order. */

uint64_t hash_bytes(const void *p, size_t n);

/* A number that nobody outside the process knows, the same for as long as it lives: tables stir it
 * into their hashes, so that no choice of names makes them slow. It is drawn by the kernel. */
uint64_t hash_secret(void);
uint64_t hash_secretly(const void *p, size_t n, uint64_t secret);

/* The XXH64 of a text, which others agree on with us. */
uint64_t hash_xxh64(struct str text, uint64_t seed);

/* Spreads the bits of a small number over all 64. */
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* Two numbers into one hash, order mattering. */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return hash_u64(a * 0x9e3779b97f4a7c15u + b);
}
