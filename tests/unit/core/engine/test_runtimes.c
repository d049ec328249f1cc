#include "core/engine/runtimes.h"

#include "support/test.h"

static const struct kin small = {
    {11, 1, 0}
};
static const struct kin cousin = {
    {12, 1, 0}
};
static const struct kin stranger = {
    {13, 2, 0}
};

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
        runtimes_note(&r,
                      (struct kin){
                          {1000 + i, 1, 0}
        },
                      8);
    EXPECT_INT(r.keys.n, RUNTIMES_MOST);
    EXPECT_INT(runtimes_expect_ms(&r, small, 0),
               8); /* its own are forgotten, those of its size not */
    runtimes_done(&r);
}
