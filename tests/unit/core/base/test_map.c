#include "core/base/map.h"

#include "core/base/rng.h"
#include "support/test.h"

enum { KEYS = 700 };

/* Keys that crowd in places: small numbers, multiples of large powers, the ends of the range. */
static uint64_t key_of(uint32_t i)
{
    switch (i % 3) {
    case 0:
        return i;
    case 1:
        return (uint64_t)i << 32;
    default:
        return UINT64_MAX - i;
    }
}

static void check(const struct map *m, const uint32_t *model)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        EXPECT_INT(map_find(m, key_of(i)), model[i]);
        count += model[i] != MAP_NONE;
    }
    EXPECT_INT(m->n, count);
}

TEST(map, behaves_as_an_array_of_values)
{
    uint32_t model[KEYS];
    memset(model, 0xff, sizeof(model));
    AUTO(map) m = {0};
    struct rng r = rng_seeded(test_seed());
    for (unsigned step = 0; step < 60000; step++) {
        /* Few keys at first, so that runs form in a small table; growing and shrinking in turns. */
        uint32_t i = (uint32_t)rng_below(&r, step < 20000 ? 20 : KEYS);
        if (rng_below(&r, 10) < (step / 10000 % 2 ? 3 : 7)) {
            model[i] = (uint32_t)rng_below(&r, MAP_NONE);
            map_put(&m, key_of(i), model[i]);
        } else {
            EXPECT_INT(map_remove(&m, key_of(i)), model[i]);
            model[i] = MAP_NONE;
        }
        if (rng_below(&r, 20000) == 0) {
            map_clear(&m);
            memset(model, 0xff, sizeof(model));
        }
        if (step % 50 == 0)
            check(&m, model);
    }
    check(&m, model);
}

TEST(map, a_sum_comes_with_its_first_addend_and_goes_at_zero)
{
    uint32_t model[KEYS];
    memset(model, 0xff, sizeof(model));
    AUTO(map) m = {0};
    struct rng r = rng_seeded(test_seed());
    for (unsigned step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)rng_below(&r, step < 10000 ? 20 : KEYS);
        bool has = model[i] != MAP_NONE;
        int32_t more = has && rng_below(&r, 2) ? -(int32_t)rng_below(&r, model[i] + 1)
                                               : 1 + (int32_t)rng_below(&r, 3);
        uint32_t sum = (has ? model[i] : 0) + (uint32_t)more;
        map_add(&m, key_of(i), more);
        model[i] = sum ? sum : MAP_NONE;
        if (step % 50 == 0)
            check(&m, model);
    }
    check(&m, model);
}

TEST(map, nothing_is_in_an_empty_map)
{
    AUTO(map) m = {0};
    EXPECT_INT(map_find(&m, 0), MAP_NONE);
    EXPECT_INT(map_remove(&m, 0), MAP_NONE);
    map_clear(&m);
    map_put(&m, 0, 0);
    EXPECT_INT(map_find(&m, 0), 0);
    EXPECT_INT(m.n, 1);
}

TEST(map, gives_back_what_no_key_needs)
{
    struct map m = {0};
    for (uint64_t i = 0; i < 1000; i++)
        map_put(&m, i, (uint32_t)i);
    for (uint64_t i = 6; i < 1000; i++)
        map_remove(&m, i);
    map_trim(&m);
    EXPECT_INT(m.cap, 8);
    for (uint64_t i = 0; i < 10; i++)
        EXPECT_INT(map_find(&m, i), i < 6 ? (uint32_t)i : MAP_NONE);
    map_put(&m, 100, 1);
    EXPECT_INT(m.n, 7);
    for (uint64_t i = 0; i < 101; i++)
        map_remove(&m, i);
    map_trim(&m);
    EXPECT(!m.slots && m.cap == 0);
    EXPECT_INT(map_find(&m, 1), MAP_NONE);
    map_done(&m);
}
