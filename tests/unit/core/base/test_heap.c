#include "core/base/heap.h"

#include "core/base/rng.h"
#include "support/test.h"

enum { ITEMS = 200 };

/* Keys may be equal; the item's number makes the order total. */
static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const uint32_t *key = ctx;
    return key[a] != key[b] ? key[a] < key[b] : a < b;
}

/* The model: the first in order among those inside, found by looking at all. */
static uint32_t first_of(const bool *inside, const uint32_t *key)
{
    uint32_t best = ITEMS;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (inside[i] && (best == ITEMS || before(key, i, best)))
            best = i;
    return best;
}

TEST(heap, always_has_the_first_on_top)
{
    uint32_t key[ITEMS] = {0}, count = 0;
    bool inside[ITEMS] = {0};
    AUTO(heap) h = {.before = before, .ctx = key};
    struct rng r = rng_seeded(test_seed());
    for (unsigned step = 0; step < 30000; step++) {
        uint32_t item = (uint32_t)rng_below(&r, ITEMS);
        uint32_t new_key = (uint32_t)rng_below(&r, 50);
        EXPECT(heap_has(&h, item) == inside[item]);
        if (!inside[item]) {
            key[item] = new_key;
            heap_add(&h, item);
            inside[item] = true;
            count++;
        } else if (rng_below(&r, 3)) {
            key[item] = new_key;
            heap_fix(&h, item);
        } else {
            uint32_t wanted = item;
            if (rng_below(&r, 2))
                heap_remove(&h, item);
            else
                EXPECT_INT(heap_take(&h), wanted = first_of(inside, key));
            inside[wanted] = false;
            count--;
        }
        EXPECT_INT(h.n, count);
        if (count)
            EXPECT_INT(h.at[0], first_of(inside, key));
    }
}

TEST(heap, gives_all_items_in_order_whatever_its_history)
{
    uint32_t key[ITEMS];
    struct rng r = rng_seeded(test_seed());
    AUTO(heap) h = {.before = before, .ctx = key};
    for (uint32_t i = 0; i < ITEMS; i++) {
        key[i] = (uint32_t)rng_below(&r, 20);
        heap_add(&h, i);
    }
    uint32_t last = heap_take(&h);
    for (uint32_t i = 1; i < ITEMS; i++) {
        uint32_t item = heap_take(&h);
        EXPECT(before(key, last, item));
        last = item;
    }
    EXPECT_INT(h.n, 0);
}

TEST(heap, emptied_it_can_be_used_again)
{
    uint32_t key[ITEMS] = {0};
    struct heap h = {.before = before, .ctx = key};
    EXPECT(!heap_has(&h, 0));
    heap_add(&h, 7);
    heap_done(&h);
    EXPECT(!heap_has(&h, 7));
    heap_add(&h, 9);
    EXPECT_INT(heap_take(&h), 9);
    for (uint32_t item = 0; item < 5; item++)
        heap_add(&h, item);
    heap_clear(&h);
    EXPECT(h.n == 0 && !heap_has(&h, 3));
    heap_add(&h, 3);
    EXPECT_INT(heap_take(&h), 3);
    heap_done(&h);
}
