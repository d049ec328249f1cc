/* Labels of nodes that mean nothing are told in events, once. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

#define WRONG " label:gpu.kubenexus.io/vram=much"
#define SAID                                                                                       \
    "gpu.kubenexus.io/vram: \"much\" means nothing, expected is an amount of memory, such as 80Gi"

/* Lets a moment pass; what is told of nodes meanwhile, one line each. */
static const char *told(struct stage *s)
{
    s->now_ms += 200;
    stage_run(s);
    buf_clear(&s->text);
    vec_each(&s->effects.list, e) {
        if (e->kind != EFFECT_PUBLISH)
            continue;
        EXPECT(e->news == NEWS_MALFORMED && e->write.n_patches == 0);
        EXPECT(e->write.kind == KIND_NODE || e->write.kind == KIND_NAMESPACE);
        EXPECT_STR(e->profile, "kubenexus-scheduler");
        buf_printf(&s->text, STR_FMT ": " STR_FMT "\n", STR_ARG(e->write.name),
                   STR_ARG(e->message));
    }
    buf_add_bytes(&s->text, "", 1);
    return s->text.p;
}

TEST(publish_node, a_label_that_means_nothing_is_told_once)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "n: " SAID "\n");
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, "node n cpu=4 label:another=one" WRONG); /* others are of no concern */
    EXPECT_TEXT(told(&s), "");
}

TEST(publish_node, all_labels_of_a_node_are_told_at_once)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8" WRONG " label:network.kubenexus.io/fabric-type=wool"
                  " label:numa.kubenexus.io/node-1-distance-0=far");
    EXPECT_TEXT(told(&s), "n: numa.kubenexus.io/node-1-distance-0: \"far\" means nothing, expected "
                          "is a number from 1 to 255, behind the number of a NUMA node; " SAID
                          "; network.kubenexus.io/fabric-type: \"wool\" means nothing, expected is "
                          "nvswitch, nvlink, infiniband, roce or ethernet\n");
}

TEST(publish_node, another_value_is_news_and_so_is_the_same_after_it_was_right)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "n: " SAID "\n");
    stage_put(&s, "node n cpu=8 label:gpu.kubenexus.io/vram=more");
    EXPECT(strstr(told(&s), "\"more\""));
    stage_put(&s, "node n cpu=8 label:gpu.kubenexus.io/vram=80Gi");
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "n: " SAID "\n");
    stage_remove(&s, "node n");
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "n: " SAID "\n");
}

TEST(publish_node, what_is_put_right_in_time_is_not_told)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8" WRONG);
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "node m cpu=8" WRONG);
    stage_remove(&s, "node m");
    stage_put(&s, "node o cpu=8 label:gpu.kubenexus.io/vram=more");
    stage_put(&s, "node o cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "o: " SAID "\n");
}

TEST(publish_node, of_many_a_few_are_told_at_a_time)
{
    AUTO(stage) s = {.config.publishes = true};
    uint32_t all = 0;
    for (uint32_t i = 0; i < 20; i++)
        stage_put(&s, "node n%u cpu=8" WRONG, i);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = 0;
        for (const char *p = told(&s); (p = strchr(p, '\n')); p++)
            n++;
        EXPECT(n <= 8);
        all += n;
    }
    EXPECT_INT(all, 20);
}

TEST(publish_node, a_long_value_is_cut)
{
    AUTO(stage) s = {.config.publishes = true};
    AUTO(buf) value = {0};
    for (int i = 0; i < 50; i++)
        buf_add(&value, STR("abcdef"));
    stage_put(&s, "node n cpu=8 note:gpu.kubenexus.io/vram=" STR_FMT, STR_ARG(buf_str(&value)));
    EXPECT_INT(strlen(told(&s)), strlen("n: " SAID "\n") - strlen("much") + 100);
}

TEST(publish_node, nobody_minds_where_kube_scheduler_would_not)
{
    AUTO(stage) quiet = {0}; /* who only explains or simulates writes nothing */
    stage_put(&quiet, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&quiet), "");
    REQUIRE(str_equal(built_in_profiles[0].name, STR("default-scheduler")));
    AUTO(stage)
    s = {.config = {.publishes = true, .rules = {.profiles = built_in_profiles, .n_profiles = 1}}};
    stage_put(&s, "node n cpu=8" WRONG);
    EXPECT_TEXT(told(&s), "");
}

TEST(publish_node, a_key_of_ours_that_nobody_reads_is_told_with_the_nearest)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8 label:network.kubenexus.io/rackid=r1");
    EXPECT_TEXT(told(&s),
                "n: network.kubenexus.io/rackid is not a key that we know; the nearest is "
                "network.kubenexus.io/rack-id\n");
    stage_put(&s, "node n cpu=8 label:network.kubenexus.io/rack-id=r1");
    EXPECT_TEXT(told(&s), "");
}

TEST(publish_node, so_is_one_of_a_namespace_until_it_is_gone)
{
    AUTO(stage) s = {.config.publishes = true};
#define TYPO "namespace ml label:tenant.kubenexus.io/teir=gold"
    stage_put(&s, TYPO);
    EXPECT_TEXT(told(&s), "ml: tenant.kubenexus.io/teir is not a key that we know; the nearest is "
                          "tenant.kubenexus.io/tier\n");
    EXPECT_INT(s.effects.list.at[0].write.kind, KIND_NAMESPACE);
    stage_put(&s, TYPO);
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, "namespace ml label:tenant.kubenexus.io/tier=gold label:team=a");
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, TYPO);
    stage_remove(&s, "namespace ml");
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, TYPO);
    EXPECT(strstr(told(&s), "teir"));
}
