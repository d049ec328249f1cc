#include "core/engine/backfill/runtimes.h"

#include "core/base/rng.h"
#include "support/test.h"

static const struct kin small = {{11, 1, 0}};
static const struct kin cousin = {{12, 1, 0}};
static const struct kin stranger = {{13, 2, 0}};

TEST(runtimes, the_closest_kin_that_know_enough_say_how_long)
{
    struct runtimes r = {0};
    EXPECT_INT(runtimes_expect_ms(&r, small, 0), 0); /* nobody knows */
    for (int64_t i = 1; i < RUNTIME_LEAST; i++)
        runtimes_note(&r, small, 100);
    EXPECT_INT(runtimes_expect_ms(&r, small, 0), 0); /* too few */
    runtimes_note(&r, cousin, 900);
    EXPECT_INT(runtimes_expect_ms(&r, small, 0), 100);    /* by size */
    EXPECT_INT(runtimes_expect_ms(&r, stranger, 0), 100); /* by all */
    for (int64_t i = 0; i < RUNTIME_LEAST; i++)
        runtimes_note(&r, cousin, 900);
    EXPECT_INT(runtimes_expect_ms(&r, cousin, 0), 900);
    runtimes_done(&r);
}

TEST(runtimes, what_outlives_its_kin_is_compared_with_those_who_did_too)
{
    struct runtimes r = {0};
    for (int64_t ms = 10; ms <= 100; ms += 10)
        runtimes_note(&r, small, ms);
    EXPECT_INT(runtimes_expect_ms(&r, small, 0), 60);
    EXPECT_INT(runtimes_expect_ms(&r, small, 50), 80);  /* of 60 … 100 */
    EXPECT_INT(runtimes_expect_ms(&r, small, 60), 120); /* four are too few: as long again */
    EXPECT_INT(runtimes_expect_ms(&r, small, 500), 1000);
    runtimes_done(&r);
}

TEST(runtimes, the_key_that_was_least_recently_noted_makes_room)
{
    struct runtimes r = {0};
    for (uint64_t i = 0; i < RUNTIME_LEAST; i++)
        runtimes_note(&r, small, 7);
    for (uint64_t i = 0; i < 2 * RUNTIMES_MOST; i++)
        runtimes_note(&r, (struct kin){{1000 + i, 1, 0}}, 8);
    EXPECT_INT(r.keys.n, RUNTIMES_MOST);
    EXPECT_INT(runtimes_expect_ms(&r, small, 0),
               8); /* its own are forgotten, those of its size not */
    runtimes_done(&r);
}

/* --- as text --- */

static struct kin random_kin(struct rng *rng)
{
    uint64_t size = rng_below(rng, 40);
    return (struct kin){{rng_below(rng, 1500) * UINT64_C(0x9e3779b97f4a7c15), size, UINT64_MAX}};
}

static bool is_near(int64_t a, int64_t b)
{
    return llabs(a - b) <= MAX(a, b) / 128;
}

/* Property: whatever was learned, one who reads it expects the same, and writes the same. */
TEST(runtimes, what_was_written_is_expected_by_who_reads_it)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = rng_seeded(seed);
        struct runtimes r = {0}, again = {0};
        AUTO(buf) text = {0};
        AUTO(buf) second = {0};
        for (uint64_t i = rng_below(&rng, 20000) + 1; i-- > 0;)
            runtimes_note(&r, random_kin(&rng),
                          (int64_t)(rng_next(&rng) >> (27 + rng_below(&rng, 36))));
        runtimes_write(&r, &text);
        EXPECT(text.n < 256 << 10);
        EXPECT_INT(runtimes_read_notes(buf_str(&text)), (int64_t)r.notes);
        EXPECT(runtimes_read(&again, buf_str(&text)));
        EXPECT_INT(again.notes, (int64_t)r.notes);
        EXPECT_INT(again.keys.n, MIN(r.keys.n, (uint32_t)RUNTIMES_KEPT));
        for (int i = 0; i < 100; i++) { /* of those that were noted lately */
            const struct runtime *k =
                &again.keys.at[again.keys.n - 1 - rng_below(&rng, MIN(again.keys.n, 500u))];
            struct kin kin = {{k->key, k->key, k->key}};
            EXPECT(is_near(runtimes_expect_ms(&r, kin, 0), runtimes_expect_ms(&again, kin, 0)));
        }
        runtimes_write(&again, &second);
        EXPECT(str_equal(buf_str(&text), buf_str(&second)));
        runtimes_done(&r);
        runtimes_done(&again);
    }
}

TEST(runtimes, after_reading_the_oldest_make_room_as_they_would_have)
{
    struct runtimes r = {0}, again = {0};
    AUTO(buf) text = {0};
    for (int64_t i = 0; i < 150; i++)
        runtimes_note(&r, small, i < 100 ? 10 : 20);
    runtimes_write(&r, &text);
    EXPECT(runtimes_read(&again, buf_str(&text)));
    EXPECT_INT(runtimes_expect_ms(&again, small, 0), runtimes_expect_ms(&r, small, 0));
    for (int64_t i = 0; i < 30; i++) {
        runtimes_note(&r, small, 30);
        runtimes_note(&again, small, 30);
        EXPECT_INT(runtimes_expect_ms(&again, small, 0), runtimes_expect_ms(&r, small, 0));
        EXPECT_INT(runtimes_expect_ms(&again, small, 15), runtimes_expect_ms(&r, small, 15));
    }
    runtimes_done(&r);
    runtimes_done(&again);
}

TEST(runtimes, text_of_others_is_not_read)
{
    static const char *const texts[] = {
        "",
        "1",
        "1 ",
        "2 6 AAAAAAAAAALAB",
        "1 -6 AAAAAAAAAALAB",
        "1 six AAAAAAAAAALAB",
        "1 6 AAAAAAAAAAL",                 /* no times */
        "1 6 AAAAAAAAAALA",                /* half a one */
        "1 6 AAAAAAAAAALA!",               /* no letter */
        "1 6 ____________B",               /* no key */
        "1 6 AAAAAAAAAALAB  ",             /* nothing between spaces */
        "1 6 AAAAAAAAAALAB AAAAAAAAAALAB", /* twice the same */
        "1 1 AAAAAAAAAALAB AAAAAAAAAAAAB", /* more keys than notes */
    };
    for (size_t i = 0; i < LEN(texts); i++) {
        struct runtimes r = {0};
        EXPECT(!runtimes_read(&r, str_of(texts[i])));
        EXPECT_INT(r.keys.n, 0);
        EXPECT_INT(r.notes, 0);
    }
    struct runtimes r = {0};
    EXPECT(runtimes_read(&r, STR("1 6 AAAAAAAAAALAB AAAAAAAAAAAAB")));
    runtimes_done(&r);
}
