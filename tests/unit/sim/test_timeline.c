#include "sim/timeline.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(timeline, means_are_over_time_and_peaks_are_values_that_lasted)
{
    struct timeline t;
    timeline_init(&t, 1);
    timeline_set(&t, 0, 0, 4);
    timeline_set(&t, 0, 500, 100); /* for no time */
    timeline_set(&t, 0, 500, 8);
    timeline_close(&t, 2000);
    EXPECT_REAL(t.at[0].peak, 8);
    EXPECT_REAL(t.at[0].total, 4 * 500 + 8 * 1500);
    EXPECT_INT(timeline_steps(&t, 2000), 2);
    EXPECT_REAL(timeline_mean(&t, 0, 0, 1, 2000), 6);
    EXPECT_REAL(timeline_mean(&t, 0, 1, 2, 2000), 8);
    EXPECT_REAL(timeline_mean(&t, 0, 0, 2, 2000), 7);
    timeline_done(&t);
}

TEST(timeline, the_last_step_may_be_cut)
{
    struct timeline t;
    timeline_init(&t, 1);
    timeline_set(&t, 0, 0, 2);
    timeline_close(&t, 1250);
    EXPECT_INT(timeline_steps(&t, 1250), 2);
    EXPECT_REAL(timeline_mean(&t, 0, 1, 2, 1250), 2);
    timeline_done(&t);
}

/* However long it runs: at most so many steps, and no area is lost when steps are joined. */
TEST(timeline, steps_grow_and_areas_stay)
{
    struct timeline t;
    struct rng r = rng_seeded(test_seed());
    timeline_init(&t, 3);
    int64_t now_ms = 0;
    for (int i = 0; i < 3000; i++) {
        now_ms += (int64_t)rng_below(&r, 1 << (i / 120));
        timeline_set(&t, (uint32_t)rng_below(&r, 3), now_ms, (double)rng_below(&r, 64));
    }
    timeline_close(&t, now_ms);
    uint32_t steps = timeline_steps(&t, now_ms);
    EXPECT(steps <= TIMELINE_MOST);
    for (uint32_t column = 0; column < 3; column++) {
        double area = 0;
        for (uint32_t i = 0; i < TIMELINE_MOST; i++)
            area += t.areas[column * TIMELINE_MOST + i];
        EXPECT_REAL(area, t.at[column].total);
        EXPECT_REAL(timeline_mean(&t, column, 0, steps, now_ms), area / (double)now_ms);
    }
    timeline_done(&t);
}
