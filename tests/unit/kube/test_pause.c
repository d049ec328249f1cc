#include "kube/pause.h"
#include "support/test.h"

TEST(pause, doubles_up_to_its_cap_and_begins_anew_after_a_while)
{
    static const struct pause_law law = {
        .first_ms = 800, .cap_ms = 30000, .reset_ms = 120000, .factor = 2, .jitter = 0};
    static const struct {
        int64_t now_ms, wait_ms;
    } cases[] = {
        {0, 800},       {1000, 1600},   {3000, 3200},    {7000, 6400},  {14000, 12800},
        {27000, 25600}, {53000, 30000}, {172999, 30000}, {292999, 800}, {293800, 1600},
    };
    struct pause p = {0};
    struct rng rng = rng_seeded(1);
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("at %lld", (long long)cases[i].now_ms);
        EXPECT_INT(pause_wait_ms(&p, &law, cases[i].now_ms, &rng), cases[i].wait_ms);
    }
}

TEST(pause, adds_at_random_but_no_more_than_its_share)
{
    static const struct pause_law law = {
        .first_ms = 1000, .cap_ms = 1000, .reset_ms = 1, .factor = 2, .jitter = 0.5};
    struct rng rng = rng_seeded(test_seed());
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 1000; i++) {
        struct pause p = {0};
        int64_t wait = pause_wait_ms(&p, &law, 0, &rng);
        least = MIN(least, wait);
        most = MAX(most, wait);
    }
    EXPECT(least >= 1000 && least < 1050);
    EXPECT(most > 1450 && most < 1500);
}
