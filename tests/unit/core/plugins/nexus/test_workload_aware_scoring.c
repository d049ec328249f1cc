#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/stage.h"
#include "support/test.h"

static const struct workload_args cpu_only = {.cpu_weight = 1};
static const struct profile_plugin list[] = {
    {.plugin = &plugin_node_resources_fit, .number = 7, .weight = 1},
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = &plugin_workload_aware_scoring, .number = 2, .weight = 2},
};
static const struct profile_plugin list_cpu[] = {
    {.plugin = &plugin_profile_classifier, .number = 1},
    {.plugin = &plugin_workload_aware_scoring, .number = 2, .weight = 2, .args = &cpu_only},
};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const struct profile profile_cpu = {STR("default-scheduler"), list_cpu, LEN(list_cpu)};

#define TYPE "label:workload.kubenexus.io/type="

static struct judge_score score(const struct profile *p, const char *pod, const char *node)
{
    AUTO(judge) j = {.profile = p};
    ground_add(&j.ground, "node n %s", node);
    ground_add(&j.ground, "pod there cpu=32 memory=64Gi on=n");
    ground_add(&j.ground, "pod gpus gpu=4 on=n");
    ground_add(&j.ground, "pod p %s", pod);
    return judge_score(&j, &plugin_workload_aware_scoring, "p", "n");
}

/* 64 CPU, 256 Gi, 8 GPU with 32 CPU, 64 Gi, 4 GPU in use: 17.5 + 8.75 + 15 = 41.25. */
TEST(workload_aware_scoring, utilisation_is_a_weighted_mean_after_the_pod_is_placed)
{
    static const struct {
        const char *pod, *node;
        int64_t score;
    } cases[] = {
        {TYPE "training", "cpu=64 memory=256Gi gpu=8", 41},
        {TYPE "batch", "cpu=64 memory=256Gi gpu=8", 41},
        {TYPE "service", "cpu=64 memory=256Gi gpu=8", 58},
        {TYPE "inference", "cpu=64 memory=256Gi gpu=8", 58},
        {TYPE "interactive", "cpu=64 memory=256Gi gpu=8", 58},
        {TYPE "training cpu=32", "cpu=64 memory=256Gi gpu=8", 58}, /* 35 + 8.75 + 15 */
        {TYPE "training gpu=4", "cpu=64 memory=256Gi gpu=8", 56},
        {TYPE "training cpu=32 memory=192Gi", "cpu=64 memory=256Gi",
         100},                                               /* full without GPUs is full */
        {TYPE "training", "cpu=32 memory=0", 100},           /* what a node lacks does not count */
        {TYPE "training cpu=99", "cpu=33 memory=64Gi", 100}, /* each part at most 100 */
        {TYPE "service", "pods=9", 100},                     /* nothing at all: 0 used */
        {TYPE "training", "pods=9", 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s on %s", cases[i].pod, cases[i].node);
        struct judge_score s = score(&profile, cases[i].pod, cases[i].node);
        EXPECT(s.takes_part);
        EXPECT_INT(s.raw, cases[i].score);
    }
    EXPECT_INT(score(&profile_cpu, TYPE "training", "cpu=64 memory=256Gi gpu=8").raw, 50);
}

TEST(workload_aware_scoring, replaces_the_strategy_of_fit_for_its_classes_only)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=8 memory=8Gi");
    ground_add(&j.ground, "pod plain cpu=1");
    ground_add(&j.ground, "pod trainer cpu=1 " TYPE "training");
    EXPECT(!judge_score(&j, &plugin_workload_aware_scoring, "plain", "n").takes_part);
    EXPECT(judge_score(&j, &plugin_node_resources_fit, "plain", "n").takes_part);
    EXPECT(judge_score(&j, &plugin_workload_aware_scoring, "trainer", "n").takes_part);
    EXPECT(!judge_score(&j, &plugin_node_resources_fit, "trainer", "n").takes_part);
    EXPECT_INT(judge_class(&j, "trainer")->most_row_score, 200);
    ground_add(&j.ground, "pod huge cpu=9 " TYPE "training");
    EXPECT_TEXT(judge_verdict(&j, "huge", "n"),
                "UU NodeResourcesFit: Insufficient cpu"); /* it filters as ever */
}

static uint32_t nodes_used(struct stage *s, const char *words)
{
    for (uint32_t i = 0; i < 10; i++)
        stage_put(s, "node n%u cpu=8 memory=32Gi", i);
    for (uint32_t i = 0; i < 10; i++)
        stage_put(s, "pod p%u scheduler=kubenexus-scheduler cpu=2 memory=4Gi %s", i, words);
    EXPECT_INT(stage_run(s), 10);
    uint32_t used = 0;
    for (uint32_t n = 0; n < 10; n++) {
        char name[] = {'n', (char)('0' + n), '\0'};
        bool is_used = false;
        vec_each(&s->effects.list, e)
            is_used |= e->kind == EFFECT_BIND && str_equal(e->node, str_of(name));
        used += is_used;
    }
    return used;
}

TEST(workload_aware_scoring, ten_small_batch_pods_use_the_fewest_nodes)
{
    AUTO(stage) s = {0};
    EXPECT_INT(nodes_used(&s, "owner:Job=j"), 3);
}

TEST(workload_aware_scoring, ten_replicas_of_a_service_use_ten_nodes)
{
    AUTO(stage) s = {0};
    EXPECT_INT(nodes_used(&s, TYPE "service"), 10);
}
