#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const balance = &plugin_node_resources_balanced_allocation;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_node_resources_balanced_allocation, .number = 9, .weight = 1}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

/* The same two in the other order: worked out in the general way, to the same result. */
static const struct resource_weight turned[] = {
    {STR("memory"), 1},
    {STR("cpu"), 1},
};
static const struct balanced_args with_turned = {.resources = {turned, LEN(turned)}};
static const struct profile_plugin turned_list[] = {
    {.plugin = &plugin_node_resources_balanced_allocation,
     .number = 9,
     .weight = 1,
     .args = &with_turned}};
static const struct profile turned_profile = {STR("default-scheduler"), turned_list,
                                              LEN(turned_list)};

static const struct resource_weight three[] = {
    {STR("cpu"), 1},
    {STR("memory"), 1},
    {STR("nvidia.com/gpu"), 1},
};
static const struct balanced_args with_gpus = {.resources = {three, LEN(three)}};
static const struct profile_plugin gpu_list[] = {
    {.plugin = &plugin_node_resources_balanced_allocation,
     .number = 9,
     .weight = 1,
     .args = &with_gpus}};
static const struct profile gpu_profile = {STR("default-scheduler"), gpu_list, LEN(gpu_list)};

TEST(balanced_allocation, compares_the_balance_with_the_pod_and_without)
{
    static const struct {
        const char *node, *there, *pod;
        int64_t score;
    } cases[] = {
        /* shares (.25, .25), then (.275, .265625): 100 → 99 */
        {"cpu=4 memory=8Gi", "cpu=1 memory=2Gi", "cpu=100m memory=128Mi", 74},
        {"cpu=4 memory=8Gi", "", "cpu=2 memory=4Gi", 75},                 /* even stays even */
        {"cpu=4 memory=8Gi", "cpu=2", "memory=4Gi", 87},                  /* .25 apart, then even */
        {"cpu=4 memory=8Gi", "", "cpu=4", 50},                            /* 100 → 50 */
        {"cpu=4 memory=8Gi", "", "cpu=1", 68},                            /* 100 → 87 */
        {"cpu=4 memory=8Gi", "cpu=6 memory=8Gi", "cpu=1 memory=1Gi", 75}, /* full is full */
        {"cpu=4", "", "cpu=1 memory=1Gi", 75},                            /* one resource alone */
        {"pods=5", "", "cpu=1 memory=1Gi", 75},                           /* none at all */
        {"cpu=4 memory=8Gi gpu=8", "gpu=8", "cpu=2 memory=4Gi gpu=1", 75}, /* gpus do not count */
    };
    for (size_t i = 0; i < 2 * LEN(cases); i++) {
        size_t k = i / 2;
        test_case("%s / %s / %s", cases[k].node, cases[k].there, cases[k].pod);
        AUTO(judge) j = {.profile = i % 2 ? &turned_profile : &profile};
        ground_add(&j.ground, "node n %s", cases[k].node);
        ground_add(&j.ground, "pod there %s on=n", cases[k].there);
        ground_add(&j.ground, "pod p %s", cases[k].pod);
        EXPECT_INT(judge_score(&j, balance, "p", "n").raw, cases[k].score);
        EXPECT_INT(judge_score(&j, balance, "p", "n").normal, cases[k].score);
    }
}

TEST(balanced_allocation, a_pod_that_asks_for_none_of_it_is_not_its_business)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=4 memory=8Gi");
    ground_add(&j.ground, "pod none");
    ground_add(&j.ground, "pod zero cpu=0 memory=0");
    ground_add(&j.ground, "pod gpu gpu=1");
    ground_add(&j.ground, "pod some memory=1");
    EXPECT(!judge_score(&j, balance, "none", "n").takes_part);
    EXPECT(!judge_score(&j, balance, "zero", "n").takes_part);
    EXPECT(!judge_score(&j, balance, "gpu", "n").takes_part);
    EXPECT(judge_score(&j, balance, "some", "n").takes_part);
}

TEST(balanced_allocation, pods_on_the_node_count_as_they_are_without_defaults)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=1 memory=1Gi");
    ground_add(&j.ground, "pod there on=n"); /* would be 10 % and 20 % */
    ground_add(&j.ground, "pod p cpu=500m memory=512Mi");
    EXPECT_INT(judge_score(&j, balance, "p", "n").raw, 75);
}

TEST(balanced_allocation, pod_level_requests_count)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=4 memory=8Gi");
    ground_add(&j.ground, "pod p total:cpu=4");
    EXPECT_INT(judge_score(&j, balance, "p", "n").raw, 50);
}

TEST(balanced_allocation, more_than_two_resources_are_judged_by_their_deviation)
{
    static const struct {
        const char *node, *pod;
        int64_t score;
    } cases[] = {
        {"cpu=4 memory=8Gi gpu=2", "cpu=2 memory=4Gi gpu=2", 63}, /* (.5, .5, 1): 76 */
        {"cpu=4 memory=8Gi gpu=2", "cpu=2 memory=4Gi gpu=1", 75},
        {"cpu=4 memory=8Gi gpu=2", "cpu=2 memory=4Gi", 75}, /* gpus not asked for */
        {"cpu=4 memory=8Gi", "cpu=2 memory=4Gi gpu=1", 75}, /* and none there */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].node, cases[i].pod);
        AUTO(judge) j = {.profile = &gpu_profile};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        EXPECT_INT(judge_score(&j, balance, "p", "n").raw, cases[i].score);
    }
}
