#include "kube/dispatch.h"

#include "scene.h"
#include "support/test.h"

/* Bindings that an extender is asked to do; its part and the API server's are played by the test.
 */
#define READ_A "READ GET /api/v1/namespaces/default/pods/a\n"
#define BIND_A "WRITE POST /api/v1/namespaces/default/pods/a/binding\n"

static const struct extender binders[] = {
    {.url = STR("http://x"), .verbs = {[EXTENDER_BIND] = STR("bind")}},
    {.url = STR("http://y"), .verbs = {[EXTENDER_BIND] = STR("bind")}, .is_ignorable = true},
};

/* The first binds, or (`is_ignorable`) the second. */
static void open_with_binder(struct scene *s, bool is_ignorable)
{
    scene_open(s);
    s->dispatch.writes.extenders = binders;
    s->dispatch.writes.n_extenders = 2;
    scene_see(s, CHANGE_PUT, "pod a");
    effects_clear(&s->effects);
    struct effect effect = {.id = 1,
                            .kind = EFFECT_BIND,
                            .namespace = STR("default"),
                            .pod = STR("a"),
                            .uid = STR("a"),
                            .node = STR("n1"),
                            .binder = is_ignorable ? 2 : 1};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

#define POD_ON(node)                                                                               \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":"          \
    "\"default\",\"uid\":\"a\"},\"spec\":{" node "\"containers\":[{\"name\":\"c\"}]}}"

TEST(dispatch_binder, an_extender_that_binds_is_asked_to)
{
    AUTO(scene) s = {0};
    open_with_binder(&s, false);
    EXPECT_TEXT(scene_log(&s),
                "EXTENDER 0 POST bind {\"PodName\":\"a\",\"PodNamespace\":\"default\","
                "\"PodUID\":\"a\",\"Node\":\"n1\"}\n");
    scene_answer(&s, 200, "{\"Error\":\"\"}");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
    EXPECT_INT(events_waiting(&s.events), 1);
}

TEST(dispatch_binder, whether_an_extender_that_failed_bound_the_pod_the_pod_says)
{
    static const struct {
        int status; /* 0: no answer */
        const char *said, *why;
    } cases[] = {
        {200, "{\"Error\":\"no\"}", "no"},
        {500, "", "failed bind with extender at URL http://x/bind, code 500"},
        {0, "", "Post \"http://x/bind\": connection reset"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (int is_bound = 0; is_bound < 2; is_bound++) {
            test_case("%s, bound %d", cases[i].why, is_bound);
            AUTO(scene) s = {0};
            open_with_binder(&s, false);
            scene_log(&s);
            if (cases[i].status)
                scene_answer(&s, cases[i].status, cases[i].said);
            else
                scene_lose(&s, true);
            EXPECT_TEXT(scene_log(&s), READ_A);
            scene_answer(&s, 200, is_bound ? POD_ON("\"nodeName\":\"n1\",") : POD_ON(""));
            const char *log = scene_log(&s);
            char settled[200];
            snprintf(settled, sizeof(settled), "settle 1: %s\n", is_bound ? "done" : cases[i].why);
            EXPECT(str_starts(str_of(log), str_of(settled)));
            EXPECT(is_bound || strstr(log, "SchedulerError"));
        }
}

TEST(dispatch_binder, what_an_extender_that_may_fail_does_not_bind_we_do)
{
    AUTO(scene) s = {0};
    open_with_binder(&s, true);
    scene_log(&s);
    scene_answer(&s, 500, "");
    EXPECT_TEXT(scene_log(&s), READ_A);
    scene_answer(&s, 200, POD_ON(""));
    EXPECT_TEXT(scene_log(&s), BIND_A);
    scene_answer(&s, 201, "{}");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
}
