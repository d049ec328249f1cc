#include "scene.h"
#include "support/test.h"

static void evict(struct scene *s, effect_id id, const char *pod)
{
    effects_clear(&s->effects);
    struct effect effect = {.id = id,
                            .kind = EFFECT_EVICT,
                            .namespace = STR("default"),
                            .pod = str_of(pod),
                            .uid = str_of(pod),
                            .node = STR("n1"),
                            .by_uid = STR("high"),
                            .by_scheduler = STR("nexus")};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

#define MARK_A                                                                                     \
    "WRITE PATCH /api/v1/namespaces/default/pods/a/status "                                        \
    "{\"metadata\":{\"uid\":\"a\"},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\","    \
    "\"status\":\"True\",\"reason\":\"PreemptionByScheduler\",\"message\":\"nexus: preempting to " \
    "accommodate a higher priority "                                                               \
    "pod\",\"observedGeneration\":1,\"lastTransitionTime\":\"2023-11-14T22:13:20Z\"}]}}\n"
#define DELETE_A                                                                                   \
    "WRITE DELETE /api/v1/namespaces/default/pods/a "                                              \
    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"a\"}}\n"

TEST(dispatch, who_is_evicted_is_told_why_then_deleted)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    evict(&s, 5, "a");
    EXPECT_TEXT(scene_log(&s), MARK_A);
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), DELETE_A);
    EXPECT_INT(events_waiting(&s.events), 0);
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), "settle 5: done\n");
    events_tick(&s.events, s.now_ms, false, &s.desk.out);
    const char *log = scene_log(&s);
    EXPECT(strstr(log, " Preempting Preempted Normal v1 Pod a ") != NULL);
    EXPECT(strstr(log, ": Preempted by pod high on node n1\n") != NULL);
}

TEST(dispatch, an_eviction_ends_as_the_server_says)
{
    static const struct {
        int mark, delete; /* answers; 0: it does not come to that */
        const char *log;  /* of the last one */
    } cases[] = {
        {404, 0, "settle 5: done\n"},
        {200, 404, "settle 5: done\n"},
        {200, 409, "settle 5: done\n"},
        {422, 0, "settle 5: evicting default/a: no\n"},
        {403, 0, "denied: patch pods/status: no\nsettle 5: evicting default/a: no\n"},
        {200, 403, "denied: delete pods: no\nsettle 5: evicting default/a: no\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(scene) s = {0};
        scene_open(&s);
        evict(&s, 5, "a");
        scene_log(&s);
        scene_answer(&s, cases[i].mark, STATUS(400, "no"));
        if (cases[i].delete) {
            EXPECT_TEXT(scene_log(&s), DELETE_A);
            scene_answer(&s, cases[i].delete, STATUS(400, "no"));
        }
        EXPECT_TEXT(scene_log(&s), cases[i].log);
        EXPECT_INT(events_waiting(&s.events), 0);
    }
}

TEST(dispatch, an_eviction_is_tried_four_times)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    evict(&s, 5, "a");
    scene_log(&s);
    scene_answer(&s, 200, "");
    for (int i = 0; i < 3; i++) {
        scene_log(&s);
        scene_lose(&s, true);
        scene_wait(&s);
    }
    EXPECT_TEXT(scene_log(&s), DELETE_A);
    scene_answer(&s, 503, STATUS(503, "no"));
    EXPECT(strstr(scene_log(&s), "settle 5: evicting default/a: no\n") != NULL);
    EXPECT_INT(dispatch_next_ms(&s.dispatch), INT64_MAX);
}

/* --- evictions of one plan --- */

#define PROBE(pod)                                                                                 \
    "WRITE DELETE /api/v1/namespaces/default/pods/" pod                                            \
    " {\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"" pod         \
    "\"},\"dryRun\":[\"All\"]}\n"

/* Of the pods a and b; their requests are the last but one and the last. */
static void evict_two(struct scene *s)
{
    scene_open(s);
    effects_clear(&s->effects);
    for (effect_id id = 5; id <= 6; id++) {
        struct effect effect = {.id = id,
                                .kind = EFFECT_EVICT,
                                .namespace = STR("default"),
                                .pod = id == 5 ? STR("a") : STR("b"),
                                .uid = id == 5 ? STR("a") : STR("b"),
                                .node = STR("n1"),
                                .by_uid = STR("high"),
                                .by_scheduler = STR("nexus"),
                                .plan = 6};
        vec_push(&s->effects.list, effect);
    }
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
    EXPECT_TEXT(scene_log(s), PROBE("a") PROBE("b"));
}

TEST(dispatch, nobody_of_a_plan_goes_before_all_may)
{
    AUTO(scene) s = {0};
    evict_two(&s);
    request_id b = s.desk.last, a = b - 1;
    scene_answer_to(&s, b, 200, "");
    EXPECT_TEXT(scene_log(&s), "");
    scene_answer_to(&s, a, 404, STATUS(404, "gone")); /* is not in the way */
    const char *log = scene_log(&s);
    EXPECT(strstr(log, "PATCH /api/v1/namespaces/default/pods/a/status") != NULL);
    EXPECT(strstr(log, "PATCH /api/v1/namespaces/default/pods/b/status") != NULL);
    scene_answer(&s, 200, "");
    log = scene_log(&s);
    EXPECT(strstr(log, "DELETE /api/v1/namespaces/default/pods/b ") && !strstr(log, "dryRun"));
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), "settle 6: done\n");
}

TEST(dispatch, if_one_of_a_plan_may_not_go_nobody_does)
{
    AUTO(scene) s = {0};
    evict_two(&s);
    request_id b = s.desk.last, a = b - 1;
    scene_answer_to(&s, a, 403, STATUS(403, "no"));
    EXPECT_TEXT(scene_log(&s), "denied: delete pods: no\n");
    scene_answer_to(&s, b, 200, "");
    EXPECT_TEXT(
        scene_log(&s),
        "settle 5: evicting default/a: no\n"
        "settle 6: evicting default/b: another pod that would have to go with it may not\n");
    EXPECT_INT(dispatch_next_ms(&s.dispatch), INT64_MAX);
}

TEST(dispatch, a_question_that_gets_no_answer_is_put_again)
{
    AUTO(scene) s = {0};
    evict_two(&s);
    request_id b = s.desk.last, a = b - 1;
    scene_answer_to(&s, a, 200, "");
    scene_answer_to(&s, b, 503, STATUS(503, "busy"));
    scene_log(&s);
    scene_wait(&s);
    EXPECT_TEXT(scene_log(&s), PROBE("b"));
    scene_answer(&s, 200, "");
    EXPECT(strstr(scene_log(&s), "pods/a/status") != NULL);
}
