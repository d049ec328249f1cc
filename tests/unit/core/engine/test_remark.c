/* What pods say without effect is told once. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define OURS " scheduler=kubenexus-scheduler"
#define TYPO " note:scheduling.kubenexus.io/requird-topology=rack"
#define SAID                                                                                       \
    "scheduling.kubenexus.io/requird-topology is not a key that we know; the nearest is "          \
    "scheduling.kubenexus.io/required-topology"
#define GROUP                                                                                      \
    " label:pod-group.scheduling.kubenexus.io/name=train"                                          \
    " label:pod-group.scheduling.kubenexus.io/min-available=3"

/* Decides; what was told meanwhile, a line each. */
static const char *told(struct stage *s)
{
    stage_run(s);
    buf_clear(&s->text);
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_WARN)
            buf_printf(&s->text, STR_FMT ": " STR_FMT "\n", STR_ARG(e->pod), STR_ARG(e->message));
    buf_add_bytes(&s->text, "", 1);
    return s->text.p;
}

TEST(remark, a_key_of_ours_that_nobody_reads_is_told_with_the_nearest)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod ours cpu=1" OURS TYPO);
    EXPECT_TEXT(told(&s), "ours: " SAID "\n");
    stage_put(&s, "pod theirs cpu=1" TYPO); /* in every profile: it was written for us */
    EXPECT_TEXT(told(&s), "theirs: " SAID "\n");
    s.now_ms += 100000;
    stage_put(&s, "node n cpu=8 memory=8Gi");
    EXPECT_TEXT(told(&s), "");
    EXPECT_TEXT(stage_fate(&s, "ours"), "assumed on n");
}

TEST(remark, what_is_not_under_our_domains_is_no_concern_of_ours)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod p cpu=1" OURS " note:example.com/requird-topology=rack label:app=a");
    EXPECT_TEXT(told(&s), "");
}

TEST(remark, of_a_gang_each_template_is_told_once)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 memory=8Gi");
    stage_put(&s, "pod a cpu=1" OURS GROUP);
    stage_put(&s, "pod b cpu=1" OURS GROUP TYPO);
    stage_put(&s, "pod c cpu=1" OURS GROUP TYPO);
    EXPECT_TEXT(told(&s), "b: " SAID "\n");
    stage_put(&s, "pod later cpu=1" OURS GROUP);
    EXPECT_TEXT(told(&s), "");
}

#define APART                                                                                      \
    "gang train (label pod-group.scheduling.kubenexus.io/name) is not placed as one: profile "     \
    "default-scheduler has no Coscheduling, which {name: KubeNexus} in its multiPoint brings\n"

TEST(remark, a_gang_in_a_profile_that_places_none_is_told_once)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod a cpu=1" GROUP);
    stage_put(&s, "pod b cpu=1" GROUP);
    EXPECT_TEXT(told(&s), "a: " APART);
    stage_put(&s, "node n cpu=1 memory=8Gi");
    s.now_ms += 100000;
    EXPECT_TEXT(told(&s), "");
    stage_put(&s, "pod c cpu=1" GROUP);
    EXPECT_TEXT(told(&s), "");
}

TEST(remark, a_gang_that_is_placed_and_one_that_operators_name_are_not)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod a cpu=1" OURS GROUP);
    stage_put(&s, "pod b cpu=1 label:kueue.x-k8s.io/pod-group-name=k "
                  "note:kueue.x-k8s.io/pod-group-total-count=3");
    stage_put(&s, "pod c cpu=1 label:pod-group.scheduling.kubenexus.io/name=one "
                  "label:pod-group.scheduling.kubenexus.io/min-available=1");
    EXPECT_TEXT(told(&s), "");
    s.now_ms += 100000;
    EXPECT_TEXT(told(&s), "");
}
