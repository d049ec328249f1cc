#include "core/base/arena.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(arena, pieces_are_zeroed_aligned_and_apart)
{
    enum { PIECES = 300 };
    struct {
        unsigned char *p;
        size_t n;
    } piece[PIECES];
    AUTO(arena) a = {0};
    struct rng r = rng_seeded(test_seed());
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < PIECES; i++) {
            size_t n = rng_below(&r, rng_below(&r, 50) == 0 ? 100000 : 200);
            piece[i].p = arena_alloc(&a, n);
            piece[i].n = n;
            EXPECT((uintptr_t)piece[i].p % 16 == 0);
            for (size_t k = 0; k < n; k++)
                if (!EXPECT_INT(piece[i].p[k], 0))
                    return;
            memset(piece[i].p, (int)(i % 255) + 1, n); /* a reset must clean up after this */
        }
        for (unsigned i = 0; i < PIECES; i++)
            for (size_t k = 0; k < piece[i].n; k++)
                if (!EXPECT_INT(piece[i].p[k], i % 255 + 1))
                    return;
        arena_reset(&a);
        EXPECT_INT(a.used_bytes, 0);
    }
}

TEST(arena, nothing_asked_for_is_still_a_place)
{
    AUTO(arena) a = {0};
    EXPECT(arena_alloc(&a, 0) != NULL);
    EXPECT(arena_copy(&a, NULL, 0) != NULL);
    EXPECT(arena_array(&a, uint64_t, 0) != NULL);
}

TEST(arena, a_reset_arena_uses_its_blocks_again)
{
    AUTO(arena) a = {0};
    void *first = arena_alloc(&a, 1000);
    void *large = arena_alloc(&a, 3 << 20);
    arena_reset(&a);
    EXPECT(arena_alloc(&a, 1000) == first);
    EXPECT(arena_alloc(&a, 3 << 20) == large);
    EXPECT_INT(a.used_bytes, 1008 + (3 << 20));
}

TEST(arena, text_is_copied_and_ends_in_nul)
{
    AUTO(arena) a = {0};
    char original[] = "pods";
    struct str copy = arena_str(&a, (struct str){original, 3});
    original[0] = 'g';
    EXPECT_STR(copy, "pod");
    EXPECT_INT(copy.p[3], 0);
    EXPECT_STR(arena_str(&a, (struct str){0}), "");
    EXPECT_STR(arena_printf(&a, "%s/%d", "default", 7), "default/7");
    EXPECT_STR(arena_printf(&a, "%*d", 10000, 1).n == 10000 ? STR("long") : STR("short"), "long");
}

TEST(arena, texts_are_joined)
{
    AUTO(arena) a = {0};
    struct str text = arena_join(&a, STR("/pods/"), STR(""), STR("p1"), (struct str){0});
    EXPECT_STR(text, "/pods/p1");
    EXPECT_INT(text.p[text.n], 0);
    EXPECT_STR(arena_join(&a, STR("")), "");
}
