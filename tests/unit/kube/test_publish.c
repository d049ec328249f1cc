#include "kube/publish.h"

#include "desk.h"
#include "support/test.h"

struct scene {
    struct desk desk;
    struct events events;
    struct publish publish;
    int64_t now_ms;
    struct str type; /* of the body of the request that was sent last */
};

static void scene_done(struct scene *s)
{
    publish_done(&s->publish);
    events_done(&s->events);
    desk_done(&s->desk);
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    events_init(&s->events, STR("host"), 1000000, test_seed(), &s->desk.listener);
    publish_init(&s->publish, 100, test_seed(), STR("nexus"), &s->events, &s->desk.listener);
    s->now_ms = 1700000000000;
}

static void say(struct scene *s, enum kind kind, const char *name, const char *part,
                const char *body)
{
    struct patch patch = {.part = str_of(part), .meta = STR("\"uid\":\"u\""), .body = str_of(body)};
    struct effect effect = {
        .kind = EFFECT_PUBLISH,
        .uid = STR("u"),
        .write = {.kind = kind,
                  .namespace = STR("ns"),
                  .name = str_of(name),
                  .patches = &patch,
                  .n_patches = 1},
    };
    publish_take(&s->publish, s->now_ms, &effect);
}

static const char *tick(struct scene *s, bool are_binds_under_way)
{
    publish_tick(&s->publish, s->now_ms, are_binds_under_way, &s->desk.out);
    vec_each(&s->desk.out.list, r)
        s->type = r->content_type;
    return desk_log(&s->desk);
}

static void answer(struct scene *s, request_id id, int status)
{
    struct reply replies[] = {reply_head(id, status), reply_data(id, "{}"), reply_end(id)};
    for (size_t i = 0; i < LEN(replies); i++)
        publish_hear(&s->publish, s->now_ms, &replies[i]);
}

#define RESERVATIONS "/apis/scheduling.kubenexus.io/v1alpha1/namespaces/ns/resourcereservations/"
#define STATUS(name, body)                                                                         \
    "EVENTS PATCH " RESERVATIONS name "/status "                                                   \
    "{\"metadata\":{\"uid\":\"u\"}," body "}\n"

TEST(publish, the_last_word_counts_and_follows_the_one_under_way)
{
    AUTO(scene) s = {0};
    open(&s);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{\"held\":1}");
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{\"held\":2}");
    EXPECT_TEXT(tick(&s, false), STATUS("r", "\"status\":{\"held\":2}"));
    request_id first = s.desk.last;
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{\"held\":3}");
    EXPECT_TEXT(tick(&s, false), "");
    EXPECT_INT(publish_next_ms(&s.publish, s.now_ms, false), INT64_MAX);
    answer(&s, first, 200);
    EXPECT_TEXT(tick(&s, false), STATUS("r", "\"status\":{\"held\":3}"));
    answer(&s, s.desk.last, 200);
    EXPECT_INT(publish_waiting(&s.publish), 0);
    EXPECT_INT(s.publish.stats.written, 2);
}

TEST(publish, news_of_an_object_are_an_event_about_it)
{
    AUTO(scene) s = {0};
    open(&s);
    struct effect effect = {
        .kind = EFFECT_PUBLISH,
        .uid = STR("u"),
        .profile = STR("nexus"),
        .news = NEWS_MALFORMED,
        .message = STR("why"),
        .write = {.kind = KIND_NODE, .name = STR("n")},
    };
    publish_take(&s.publish, s.now_ms, &effect);
    EXPECT_TEXT(tick(&s, false), ""); /* nothing is written of the object itself */
    events_tick(&s.events, s.now_ms, false, &s.desk.out);
    EXPECT(strstr(desk_log(&s.desk), " MalformedValue Warning v1 Node n u "));
}

TEST(publish, few_are_under_way_while_bindings_are)
{
    AUTO(scene) s = {0};
    open(&s);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < LEN(names); i++)
        say(&s, KIND_RESERVATION, names[i], "status", "\"status\":{}");
    tick(&s, true);
    EXPECT_INT(s.publish.sent.n, 2);
    tick(&s, false);
    EXPECT_INT(s.publish.sent.n, 4);
}

TEST(publish, what_the_server_will_not_have_is_dropped_and_what_it_cannot_do_now_is_said_again)
{
    AUTO(scene) s = {0};
    open(&s);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    tick(&s, false);
    answer(&s, s.desk.last, 404);
    EXPECT_INT(publish_waiting(&s.publish), 0);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    tick(&s, false);
    answer(&s, s.desk.last, 503);
    EXPECT_INT(publish_waiting(&s.publish), 1);
    desk_log(&s.desk);
    EXPECT_TEXT(tick(&s, false), "");
    s.now_ms = publish_next_ms(&s.publish, s.now_ms, false);
    EXPECT_TEXT(tick(&s, false), STATUS("r", "\"status\":{}"));
}

TEST(publish, a_missing_right_is_told_once_and_holds_nobody_up)
{
    AUTO(scene) s = {0};
    open(&s);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    uint32_t told = 0;
    for (int i = 0; i < 8 && publish_waiting(&s.publish); i++) {
        s.now_ms = publish_next_ms(&s.publish, s.now_ms, false);
        tick(&s, false);
        answer(&s, s.desk.last, 403);
        told +=
            strstr(desk_log(&s.desk), "patch resourcereservations.scheduling.kubenexus.io/status")
                ? 1
                : 0;
    }
    EXPECT_INT(publish_waiting(&s.publish), 0);
    EXPECT_INT(told, 1);
}

TEST(publish, of_kinds_that_are_not_served_nothing_is_sent)
{
    AUTO(scene) s = {0};
    open(&s);
    publish_learn(&s.publish, KIND_RESERVATION, NULL, false);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    EXPECT_INT(publish_waiting(&s.publish), 0);
    publish_learn(&s.publish, KIND_RESERVATION, "scheduling.kubenexus.io/v1alpha1", false);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    EXPECT_INT(publish_waiting(&s.publish), 1);
}

TEST(publish, is_written_in_the_version_that_is_served)
{
    AUTO(scene) s = {0};
    open(&s);
    publish_learn(&s.publish, KIND_POD_GROUP, "scheduling.k8s.io/v1alpha3", false);
    say(&s, KIND_POD_GROUP, "g", "status", "\"status\":{}");
    EXPECT(strstr(tick(&s, false),
                  "PATCH /apis/scheduling.k8s.io/v1alpha3/namespaces/ns/podgroups/g/status "));
}

TEST(publish, lists_of_built_in_kinds_are_merged_by_the_server)
{
    AUTO(scene) s = {0};
    open(&s);
    say(&s, KIND_POD_GROUP, "g", "status", "\"status\":{}");
    EXPECT_TEXT(tick(&s, false),
                "EVENTS PATCH /apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/g/status "
                "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}\n");
    EXPECT_STR(s.type, "application/strategic-merge-patch+json");
    answer(&s, s.desk.last, 200);
    say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
    tick(&s, false);
    EXPECT_STR(s.type, "application/merge-patch+json");
}

TEST(publish, where_a_status_is_not_written_alone_the_object_is)
{
    AUTO(scene) s = {0};
    open(&s);
    publish_learn(&s.publish, KIND_VOLCANO_POD_GROUP, "scheduling.volcano.sh/v1beta1", true);
    say(&s, KIND_VOLCANO_POD_GROUP, "g", "status", "\"status\":{\"phase\":\"Inqueue\"}");
    EXPECT_TEXT(tick(&s, false),
                "EVENTS PATCH /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g "
                "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"phase\":\"Inqueue\"}}\n");
}

TEST(publish, what_the_server_will_not_have_is_told_unless_the_object_is_gone)
{
    AUTO(scene) s = {0};
    open(&s);
    static const int statuses[] = {404, 409, 422};
    for (size_t i = 0; i < LEN(statuses); i++) {
        say(&s, KIND_RESERVATION, "r", "status", "\"status\":{}");
        tick(&s, false);
        answer(&s, s.desk.last, statuses[i]);
        bool is_told = strstr(desk_log(&s.desk),
                              "refused: patch resourcereservations.scheduling.kubenexus.io/status");
        EXPECT_INT(is_told, statuses[i] == 422);
    }
}
