#include "core/base/likeness.h"
#include "support/test.h"

TEST(likeness, counts_slips_of_the_hand)
{
    EXPECT_INT(likeness_distance(STR("pool"), STR("pool")), 0);
    EXPECT_INT(likeness_distance(STR("pool"), STR("pol")), 1);
    EXPECT_INT(likeness_distance(STR("pool"), STR("poool")), 1);
    EXPECT_INT(likeness_distance(STR("pool"), STR("peol")), 1);
    EXPECT_INT(likeness_distance(STR("pool"), STR("polo")), 1); /* swapped */
    EXPECT_INT(likeness_distance(STR("pool"), STR("")), 4);
    EXPECT_INT(likeness_distance(STR("kitten"), STR("sitting")), 3);
}

TEST(likeness, longer_names_may_differ_by_more)
{
    EXPECT(likeness_is_near(STR("accelerator"), STR("acelerater")));
    EXPECT(likeness_is_near(STR("gpu"), STR("gpuu")));
    EXPECT(!likeness_is_near(STR("gpu"), STR("cpus")));
    EXPECT(!likeness_is_near(STR("a"), STR("c")));
    EXPECT(!likeness_is_near(STR("gpu"), STR("gpu")));
}

TEST(likeness, what_is_longer_than_any_name_is_like_nothing)
{
    char text[300];
    memset(text, 'a', sizeof(text));
    struct str longest = {text, sizeof(text)};
    EXPECT_INT(likeness_distance(longest, STR("a")), LIKENESS_MOST);
}
