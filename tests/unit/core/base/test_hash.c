#include "core/base/hash.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(hash, equal_bytes_have_one_hash_wherever_they_lie)
{
    unsigned char bytes[400];
    struct rng r = rng_seeded(test_seed());
    for (size_t n = 0; n < 300; n++) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)rng_next(&r);
        uint64_t wanted = hash_bytes(bytes, n);
        size_t shift = 1 + n % 63;
        memmove(bytes + shift, bytes, n);
        EXPECT(hash_bytes(bytes + shift, n) == wanted);
        if (n == 0)
            continue;
        bytes[shift + rng_below(&r, n)] ^= 1;
        EXPECT(hash_bytes(bytes + shift, n) != wanted);
    }
}

TEST(hash, of_small_numbers_fills_the_low_bits_evenly)
{
    enum { SLOTS = 1024 };
    static const unsigned strides[] = {1, 64, 4096, 1 << 20};
    for (size_t s = 0; s < LEN(strides); s++) {
        unsigned count[SLOTS] = {0}, most = 0;
        for (uint64_t i = 0; i < 8 * SLOTS; i++) {
            unsigned *c = &count[hash_u64(i * strides[s]) % SLOTS];
            most = MAX(most, ++*c);
        }
        EXPECT(most < 32); /* 8 on average */
    }
}

TEST(hash, of_a_pair_minds_the_order)
{
    EXPECT(hash_pair(1, 2) != hash_pair(2, 1));
    EXPECT(hash_pair(0, 1) != hash_pair(1, 0));
    EXPECT(hash_pair(7, 7) == hash_pair(7, 7));
}

/* Whatever stands in their second eight bytes, these have one hash: its own secret is in the first
 * eight, and takes itself out. */
TEST(hash, of_names_that_were_chosen_to_collide_is_another_in_each_table)
{
    struct str a = STR("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe"
                       "aaaaaaaa"
                       "0123456789abcdef");
    struct str b = STR("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe"
                       "bbbbbbbb"
                       "0123456789abcdef");
    EXPECT(str_hash(a) == str_hash(b));
    EXPECT(str_hash_secretly(a) != str_hash_secretly(b));
    EXPECT(str_hash_secretly(a) == str_hash_secretly(a));
}
