#include "core/base/mem.h"

#include "support/test.h"

TEST(mem, is_zeroed_and_never_null)
{
    unsigned char *p = mem_alloc(100);
    for (int i = 0; i < 100; i++)
        EXPECT_INT(p[i], 0);
    mem_free(p);
    void *none = mem_alloc(0);
    EXPECT(none);
    mem_free(none);
    mem_free(NULL);
}

TEST(mem, growing_and_copying_keep_what_was_there)
{
    char *p = mem_resize(NULL, 4);
    memcpy(p, "abc", 4);
    p = mem_resize(p, 4000);
    EXPECT_TEXT(p, "abc");
    char *copy = mem_copy(p, 4);
    EXPECT(copy != p);
    EXPECT_TEXT(copy, "abc");
    mem_free(copy);
    mem_free(p);
    void *none = mem_copy(NULL, 0);
    EXPECT(none);
    mem_free(none);
}

TEST(mem, aligned_room_begins_on_a_cache_line)
{
    char *p = NULL;
    size_t kept = 0;
    for (size_t bytes = 1; bytes < 3000; kept = bytes, bytes *= 3) {
        p = mem_resize_aligned(p, kept, bytes);
        EXPECT_INT((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < kept; i++)
            EXPECT_INT(p[i], 'x');
        memset(p, 'x', bytes);
    }
    mem_free(p);
}
