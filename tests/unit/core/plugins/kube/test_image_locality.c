#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin list[] = {
    {.plugin = &plugin_image_locality, .number = 10, .weight = 1}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

TEST(image_locality, the_share_of_nodes_that_have_an_image_discounts_it)
{
    static const struct {
        const char *here, *there; /* images of two nodes; the first is scored */
        const char *pod;
        int64_t score;
    } cases[] = {
        {"image:app:1=500Mi", "image:app:1=500Mi", "image:app:1", 48}, /* 100·(500-23)/(1000-23) */
        {"image:app:1=500Mi", "", "image:app:1", 23},                  /* 250 MiB count */
        {"", "image:app:1=500Mi", "image:app:1", 0},
        {"image:app:latest=500Mi", "", "image:app", 23},
        {"image:app=500Mi", "", "image:app", 0}, /* a node's names have their tags */
        {"image:app:1=23Mi", "image:app:1=23Mi", "image:app:1", 0},
        {"image:app:1=10Mi", "image:app:1=10Mi", "image:app:1", 0},
        {"image:app:1=33Mi", "image:app:1=33Mi", "image:app:1", 1}, /* 100·10/977 */
        {"image:app:1=1000Mi", "image:app:1=1000Mi", "image:app:1", 100},
        {"image:app:1=9000Mi", "image:app:1=9000Mi", "image:app:1", 100},
        /* two containers: up to 2000 MiB count */
        {"image:app:1=500Mi", "image:app:1=500Mi", "image:app:1 and image:app:1", 49},
        {"image:app:1=500Mi", "image:app:1=500Mi", "image:app:1 and image:b:1", 24},
        {"image:app:1=500Mi", "image:app:1=500Mi", "image:b:1 init image:app:1", 24},
        {"image:a:1=600Mi image:b:1=600Mi", "image:a:1=600Mi image:b:1=600Mi",
         "image:a:1 and image:b:1", 59},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s / %s", cases[i].here, cases[i].there, cases[i].pod);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node here %s", cases[i].here);
        ground_add(&j.ground, "node there %s", cases[i].there);
        ground_add(&j.ground, "pod p %s", cases[i].pod);
        struct judge_score s = judge_score(&j, &plugin_image_locality, "p", "here");
        EXPECT(s.takes_part);
        EXPECT_INT(s.raw, cases[i].score);
        EXPECT_INT(s.normal, cases[i].score);
    }
}

TEST(image_locality, a_node_that_gets_the_image_raises_it_for_all_who_have_it)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1 image:app:1=500Mi");
    ground_add(&j.ground, "node n2");
    ground_add(&j.ground, "pod p image:app:1");
    EXPECT_INT(judge_score(&j, &plugin_image_locality, "p", "n1").raw, 23);
    ground_add(&j.ground, "node n2 image:app:1=500Mi");
    EXPECT_INT(judge_score(&j, &plugin_image_locality, "p", "n1").raw, 48);
    ground_add(&j.ground, "node n3");
    EXPECT_INT(judge_score(&j, &plugin_image_locality, "p", "n1").raw, 31); /* 333 MiB */
}

TEST(image_locality, more_than_a_words_worth_of_images)
{
    AUTO(judge) j = {.profile = &profile};
    char pod[1024] = "pod p image:i0:1";
    size_t pod_n = strlen(pod);
    for (char a = 'a'; a <= 'n'; a++)
        for (char b = 'a'; b <= 'c'; b++) { /* 42 images */
            char name[] = {' ', 'a', 'n', 'd', ' ', 'i', 'm', 'a', 'g', 'e', ':', a, b, ':', '1'};
            memcpy(pod + pod_n, name, sizeof(name));
            pod_n += sizeof(name);
        }
    ground_add(&j.ground, "node n image:nc:1=43000Mi"); /* the last */
    ground_add(&j.ground, "%s", pod);
    EXPECT_INT(judge_class(&j, "p")->n_keys, 2);
    EXPECT_INT(judge_score(&j, &plugin_image_locality, "p", "n").raw, 100);
}
