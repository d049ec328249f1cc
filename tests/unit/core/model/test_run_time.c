#include "core/model/run_time.h"

#include "support/test.h"

static struct pod declaring(struct pair *note, const char *text, int64_t deadline_s)
{
    struct pod pod = {0};
    *note =
        (struct pair){STR("scheduling.kubenexus.io/expected-duration"), str_of(text ? text : "")};
    pod.meta.annotations = (pair_list){note, text ? 1 : 0};
    pod.spec.has_active_deadline = deadline_s != 0;
    pod.spec.active_deadline_seconds = deadline_s;
    return pod;
}

TEST(run_time, is_the_annotation_then_the_deadline_then_unknown)
{
    static const struct {
        const char *text;
        int64_t deadline_s, ms;
    } cases[] = {
        {"90m", 0, 5400000}, {"1h30m", 60, 5400000},
        {"250ms", 0, 250},   {NULL, 60, 60000},
        {NULL, 0, 0},        {NULL, -5, 0},
        {"soon", 60, 60000}, {"soon", 0, 0},
        {"-1h", 0, 0},       {"0s", 7, 7000},
        {"90", 0, 0},                                              /* of what? */
        {"10us", 0, 0},      {NULL, 1000000000000, 1000000000000}, /* more than anybody waits for */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s, %lld", cases[i].text ? cases[i].text : "", (long long)cases[i].deadline_s);
        struct pair note;
        struct pod pod = declaring(&note, cases[i].text, cases[i].deadline_s);
        EXPECT_INT(pod_declared_ms(&pod), cases[i].ms);
    }
}

TEST(run_time, runs_of_one_thing_share_the_stem_of_its_name)
{
    static const struct {
        const char *name, *stem;
    } cases[] = {
        {"train-28-x7k2p", "train"},
        {"train-29-9bt4c", "train"},
        {"job-17.3", "job"},
        {"web-7d9f8b6c5-x7k2p", "web"},
        {"backup-28374650", "backup"},
        {"web-0", "web"},
        {"resnet-50-train", "resnet-50-train"}, /* a number inside means something */
        {"bert-large", "bert-large"},
        {"llama", "llama"},
        {"7", "7"},
        {"-7", "-7"},
        {"", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_STR(name_stem(str_of(cases[i].name)), cases[i].stem);
}
