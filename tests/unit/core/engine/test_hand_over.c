/* What was planned for a pod is told with its binding, and books that are made of it anew are what
 * they were. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define SLICE                                                                                      \
    "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{"   \
    "'driver':'gpu.nvidia.com','nodeName':'n','pool':{'name':'n','resourceSliceCount':1},"         \
    "'devices':[" GPU("0", "a") "," GPU("1", "b") "," GPU("2", "a") "," GPU("3", "b") "]}}"
#define GPU(number, domain)                                                                        \
    "{'name':'gpu-" number "','attributes':{'uuid':{'string':'GPU-" number                         \
    "'},'nvlinkDomain':{'string':'" domain "'}},'capacity':{'memory':{'value':'80Gi'}}}"
#define OURS "scheduler=kubenexus-scheduler "
#define ZONES                                                                                      \
    "label:numa.kubenexus.io/node-count=2 label:numa.kubenexus.io/node-0-cpus=0-7 "                \
    "label:numa.kubenexus.io/node-1-cpus=8-15 label:numa.kubenexus.io/node-0-memory=8Gi "          \
    "label:numa.kubenexus.io/node-1-memory=8Gi"
#define STRICT "note:scheduling.kubenexus.io/numa-policy=single-numa-node "

static struct str told(const struct stage *s, const char *pod, const char *key)
{
    const struct effect *e = stage_effect(s, pod);
    for (uint32_t i = 0; e && i < e->annotations.n; i++)
        if (str_equal(e->annotations.at[i].key, str_of(key)))
            return e->annotations.at[i].value;
    return (struct str){0};
}

TEST(hand_over, a_pod_is_told_its_gpus_with_its_binding)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=4");
    stage_put(&s, SLICE);
    stage_put(&s, "pod p " OURS "gpu=2");
    stage_run(&s);
    EXPECT_STR(told(&s, "p", "kubenexus.io/gpus"), "0,2");
    EXPECT_STR(told(&s, "p", "kubenexus.io/gpu-uuids"), "GPU-0,GPU-2");
    stage_put(&s, "pod share " OURS "note:gpu-fraction=0.5");
    stage_run(&s);
    EXPECT_STR(told(&s, "share", "kubenexus.io/gpus"), "1");
}

TEST(hand_over, without_a_driver_gpus_have_numbers_only)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=4");
    stage_put(&s, "pod p " OURS "gpu=2");
    stage_run(&s);
    EXPECT_STR(told(&s, "p", "kubenexus.io/gpus"), "0,1");
    EXPECT_STR(told(&s, "p", "kubenexus.io/gpu-uuids"), "");
}

TEST(hand_over, a_pod_that_cares_is_told_its_NUMA_node)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=16 memory=16Gi " ZONES);
    stage_put(&s, "pod a cpu=6 memory=1Gi " OURS STRICT);
    stage_put(&s, "pod b cpu=6 memory=1Gi " OURS STRICT);
    stage_run(&s);
    EXPECT_STR(told(&s, "a", "kubenexus.io/numa"), "0");
    EXPECT_STR(told(&s, "b", "kubenexus.io/numa"), "1");
}

TEST(hand_over, plain_pods_and_those_of_kube_scheduler_are_told_nothing)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=4");
    stage_put(&s, "pod plain " OURS "cpu=1");
    stage_put(&s, "pod kube gpu=2");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "plain")->annotations.n, 0);
    EXPECT_INT(stage_effect(&s, "kube")->annotations.n, 0);
}

static const struct pod_row *row_of(struct stage *s, const char *pod)
{
    struct cluster *c = s->engine->cluster;
    return pods_at(&c->pods,
                   pods_find(&c->pods, names_find(&c->names, STR("default")), str_of(pod)));
}

TEST(hand_over, a_restart_finds_the_books_as_they_were)
{
    static const char *pods[] = {"a", "b", "c", "d"};
    static const char *asks[] = {"cpu=3 memory=1Gi gpu=1 " STRICT, "cpu=3 memory=1Gi gpu=1 " STRICT,
                                 "cpu=3 memory=1Gi " STRICT "note:gpu-fraction=0.5",
                                 "cpu=3 memory=1Gi " STRICT "note:gpu-fraction=0.4"};
    AUTO(stage) first = {0};
    AUTO(stage) second = {0};
    AUTO(buf) line = {0};
    stage_put(&first, "node n cpu=16 memory=16Gi gpu=4 " ZONES);
    stage_put(&first, SLICE);
    for (size_t i = 0; i < LEN(pods); i++) {
        stage_put(&first, "pod %s " OURS "%s", pods[i], asks[i]);
        stage_run(&first);
        REQUIRE(stage_effect(&first, pods[i]));
        struct str gpus = told(&first, pods[i], "kubenexus.io/gpus");
        struct str zone = told(&first, pods[i], "kubenexus.io/numa");
        REQUIRE(gpus.n && zone.n);
        buf_printf(&line,
                   "pod %s " OURS "%s on=n note:kubenexus.io/gpus=" STR_FMT
                   " note:kubenexus.io/numa=" STR_FMT "\n",
                   pods[i], asks[i], STR_ARG(gpus), STR_ARG(zone));
    }
    stage_remove(&first, "pod a"); /* so that they were not all given in this order */
    struct str rest = buf_str(&line);
    (void)str_take(&rest, '\n');
    while (rest.n) { /* pods come before their node, and that before its slice */
        struct str one = str_take(&rest, '\n');
        stage_put(&second, STR_FMT, STR_ARG(one));
    }
    stage_put(&second, "node n cpu=16 memory=16Gi gpu=4 " ZONES);
    stage_put(&second, SLICE);
    for (size_t i = 1; i < LEN(pods); i++) {
        test_case("%s", pods[i]);
        EXPECT_INT(row_of(&second, pods[i])->gpus, row_of(&first, pods[i])->gpus);
        EXPECT_INT(row_of(&second, pods[i])->zone, row_of(&first, pods[i])->zone);
        EXPECT_INT(row_of(&second, pods[i])->gpu_milli, row_of(&first, pods[i])->gpu_milli);
    }
    const struct nodes *a = &first.engine->cluster->nodes, *b = &second.engine->cluster->nodes;
    EXPECT(memcmp(a->gpus[0]->used, b->gpus[0]->used, sizeof(a->gpus[0]->used)) == 0);
}

TEST(hand_over, what_a_pod_claims_to_be_told_must_be_what_it_asks_for)
{
    static const struct {
        const char *note;
        gpu_mask gpus;
    } cases[] = {
        {"3,1", 10}, {"3", 3}, /* it asks for two: the first ones */
        {"1,1", 3},  {"1,99", 3}, {"1,-1", 3}, {"1,two", 3},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].note);
        stage_put(&s, "node n cpu=8 gpu=4");
        stage_put(&s, "pod p " OURS "gpu=2 on=n note:kubenexus.io/gpus=%s", cases[i].note);
        EXPECT_INT(row_of(&s, "p")->gpus, cases[i].gpus);
    }
}
