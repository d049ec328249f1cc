/* What a running engine does with new profiles is told in tests/unit/core/config/test_renew.c. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(reconfigure, what_is_not_said_is_kube_schedulers)
{
    struct engine_rules full = engine_rules_complete((struct engine_rules){0});
    EXPECT_INT(full.first_backoff_ms, 1000);
    EXPECT_INT(full.most_backoff_ms, 10000);
    EXPECT_INT(full.park_ms, 300000);
    EXPECT(full.profiles == built_in_profiles);
    EXPECT_INT(full.n_profiles, n_built_in_profiles);
}

TEST(reconfigure, what_is_said_stays)
{
    struct engine_rules said = {
        .profiles = &built_in_profiles[0],
        .n_profiles = 1,
        .first_backoff_ms = 7,
        .most_backoff_ms = 8,
        .park_ms = 9,
    };
    struct engine_rules full = engine_rules_complete(said);
    EXPECT_INT(full.n_profiles, 1);
    EXPECT_INT(full.first_backoff_ms, 7);
    EXPECT_INT(full.most_backoff_ms, 8);
    EXPECT_INT(full.park_ms, 9);
}
