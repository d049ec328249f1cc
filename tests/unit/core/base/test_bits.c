#include "core/base/bits.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(bits, behave_as_an_array_of_booleans)
{
    enum { NUMBERS = 1000 };
    bool model[NUMBERS] = {0};
    AUTO(bits) b = {0};
    struct rng r = rng_seeded(test_seed());
    for (unsigned step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)rng_below(&r, step < 5000 ? 1 + step / 5 : NUMBERS);
        bool in = rng_below(&r, 2);
        (in ? bits_add : bits_remove)(&b, i);
        model[i] = in;
        if (rng_below(&r, 4000) == 0) {
            bits_clear(&b);
            memset(model, 0, sizeof(model));
        }
        if (step % 100)
            continue;
        uint32_t count = 0;
        for (uint32_t k = 0; k < NUMBERS; k++) {
            EXPECT(bits_has(&b, k) == model[k]);
            count += model[k];
        }
        EXPECT_INT(bits_count(&b), count);
    }
}

TEST(bits, nothing_is_in_an_empty_set)
{
    AUTO(bits) b = {0};
    bits_remove(&b, 7);
    bits_clear(&b);
    EXPECT(!bits_has(&b, 0));
    EXPECT(!bits_has(&b, UINT32_MAX));
    EXPECT_INT(bits_count(&b), 0);
}
