#include "kube/events.h"

#include "desk.h"
#include "kube/limits.h"
#include "support/test.h"

struct scene {
    struct desk desk;
    struct events events;
    int64_t now_ms;
};

static void scene_done(struct scene *s)
{
    events_done(&s->events);
    desk_done(&s->desk);
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    events_init(&s->events, STR("host-1"), 100, test_seed(), &s->desk.listener);
    s->now_ms = 1700000000000;
}

static void add(struct scene *s, enum event_kind kind, const char *pod, const char *note)
{
    struct event_about about = {.kind = kind,
                                .namespace = STR("default"),
                                .name = str_of(pod),
                                .uid = str_of(pod),
                                .version = 7,
                                .scheduler = STR("nexus"),
                                .note = str_of(note)};
    events_add(&s->events, s->now_ms, &about);
}

static const char *tick(struct scene *s)
{
    events_tick(&s->events, s->now_ms, false, &s->desk.out);
    return desk_log(&s->desk);
}

static void answer(struct scene *s, int status)
{
    struct reply head = reply_head(s->desk.last, status), end = reply_end(s->desk.last);
    events_hear(&s->events, s->now_ms, &head);
    events_hear(&s->events, s->now_ms, &end);
}

#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define POST(name, time, action, reason, type, note, pod)                                          \
    "EVENTS POST " EVENTS " default " name " nexus nexus-host-1 " action " " reason " " type       \
    " v1 Pod " pod " " pod " 7 " time ": " note "\n"

TEST(events, are_as_kube_scheduler_writes_them)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "Successfully assigned default/a to n1");
    EXPECT_TEXT(tick(&s),
                POST("a.17979cfe362a0000", "2023-11-14T22:13:20.000000Z", "Binding", "Scheduled",
                     "Normal", "Successfully assigned default/a to n1", "a"));
    answer(&s, 201);
    EXPECT_INT(events_waiting(&s.events), 0);
    s.now_ms += 5;
    add(&s, EVENT_FAILED_SCHEDULING, "b", "0/1 nodes");
    EXPECT_TEXT(tick(&s), POST("b.17979cfe36764b40", "2023-11-14T22:13:20.005000Z", "Scheduling",
                               "FailedScheduling", "Warning", "0/1 nodes", "b"));
}

TEST(events, about_objects_without_a_namespace_stand_in_default)
{
    AUTO(scene) s = {0};
    open(&s);
    struct event_about about = {.kind = EVENT_MALFORMED,
                                .about_kind = "Node",
                                .about_version = "v1",
                                .name = STR("n"),
                                .uid = STR("u"),
                                .scheduler = STR("nexus"),
                                .note = STR("why")};
    events_add(&s.events, s.now_ms, &about);
    EXPECT_TEXT(tick(&s),
                "EVENTS POST " EVENTS " default n.17979cfe362a0000 nexus nexus-host-1 Scheduling "
                "MalformedValue Warning v1 Node n u  2023-11-14T22:13:20.000000Z: why\n");
}

TEST(events, of_one_moment_have_names_of_their_own)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    add(&s, EVENT_SCHEDULED, "a", "");
    const char *log = tick(&s);
    EXPECT(strstr(log, "a.17979cfe362a0000") && strstr(log, "a.17979cfe362a0001"));
}

TEST(events, that_come_again_become_a_series)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    tick(&s);
    answer(&s, 201);
    s.now_ms += 60000;
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    EXPECT_TEXT(tick(&s), "EVENTS PATCH " EVENTS "/a.17979cfe362a0000 {\"series\":{\"count\":2,"
                          "\"lastObservedTime\":\"2023-11-14T22:14:20.000000Z\"}}\n");
    answer(&s, 200);
    s.now_ms += 60000;
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    EXPECT_TEXT(tick(&s), ""); /* only counted, */

    s.now_ms += 6 * 60000; /* until it is over */
    EXPECT_TEXT(tick(&s), "EVENTS PATCH " EVENTS "/a.17979cfe362a0000 {\"series\":{\"count\":4,"
                          "\"lastObservedTime\":\"2023-11-14T22:15:20.000000Z\"}}\n");
    answer(&s, 200);
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    EXPECT(strstr(tick(&s), "POST") != NULL);
}

TEST(events, of_a_series_whose_first_is_gone_begin_anew)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    tick(&s);
    answer(&s, 201);
    add(&s, EVENT_FAILED_SCHEDULING, "a", "0/1 nodes");
    tick(&s);
    answer(&s, 404);
    EXPECT(strstr(tick(&s), "POST") != NULL);
}

static void lose(struct scene *s, bool may_have_arrived)
{
    struct reply lost = reply_lost(s->desk.last, may_have_arrived);
    events_hear(&s->events, s->now_ms, &lost);
}

/* The wait until something can be sent. */
static int64_t wait(struct scene *s)
{
    int64_t waited = events_next_ms(&s->events, s->now_ms, false) - s->now_ms;
    s->now_ms += waited;
    return waited;
}

TEST(events, wait_for_a_server_that_is_gone)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    add(&s, EVENT_SCHEDULED, "b", "");
    tick(&s);
    EXPECT_INT(s.events.sent.n, 2);
    for (request_id id = s.desk.last - 1; id <= s.desk.last; id++) {
        struct reply lost = reply_lost(id, false);
        events_hear(&s.events, s.now_ms, &lost);
    }
    EXPECT_TEXT(desk_log(&s.desk), "trouble: create events.events.k8s.io: connection reset\n");
    for (int i = 0; i < 50; i++) { /* however long that takes, */
        int64_t waited = wait(&s);
        EXPECT(waited >= 100 && waited <= 2500);
        tick(&s);
        EXPECT_INT(s.events.sent.n, 1); /* one at a time */
        lose(&s, false);
    }
    wait(&s);
    EXPECT(strstr(tick(&s), "POST") != NULL);
    answer(&s, 201);
    EXPECT(strstr(tick(&s), "POST") != NULL); /* and the others follow */
    answer(&s, 201);
    EXPECT_INT(s.events.stats.sent, 2);
}

TEST(events, that_may_have_been_written_are_sent_four_times)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    for (int i = 0; i < 4; i++) {
        EXPECT(strstr(tick(&s), "POST") != NULL);
        lose(&s, true);
        wait(&s);
    }
    EXPECT_INT(events_waiting(&s.events), 0);
    EXPECT_INT(s.events.stats.failed, 1);
}

TEST(events, that_an_earlier_try_has_written_are_written)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    tick(&s);
    lose(&s, true);
    wait(&s);
    tick(&s);
    answer(&s, 409);
    EXPECT_INT(s.events.stats.sent, 1);
    EXPECT_INT(events_waiting(&s.events), 0);
}

TEST(events, that_the_server_fails_to_store_let_others_pass)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    tick(&s);
    add(&s, EVENT_SCHEDULED, "b", "");
    answer(&s, 500);
    EXPECT_TEXT(desk_log(&s.desk), "trouble: create events.events.k8s.io: \n");
    for (int i = 0; i < 3; i++) {
        wait(&s);
        const char *log = tick(&s);
        EXPECT(strstr(log, i == 0 ? " default b." : " default a.") != NULL);
        answer(&s, i == 0 ? 201 : 500);
    }
    wait(&s);
    EXPECT(strstr(tick(&s), "POST") != NULL);
    answer(&s, 500);
    EXPECT_INT(events_waiting(&s.events), 0);
    EXPECT_INT(s.events.stats.failed, 1);
}

TEST(events, wait_as_long_as_the_server_says)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "a", "");
    tick(&s);
    struct reply head = reply_head(s.desk.last, 429), end = reply_end(s.desk.last);
    head.retry_after_ms = 7000;
    events_hear(&s.events, s.now_ms, &head);
    events_hear(&s.events, s.now_ms, &end);
    EXPECT_INT(wait(&s), 7000);
}

TEST(events, that_are_refused_are_dropped)
{
    AUTO(scene) s = {0};
    open(&s);
    static const int statuses[] = {400, 404, 422};
    for (size_t i = 0; i < LEN(statuses); i++) {
        test_case("%d", statuses[i]);
        add(&s, EVENT_SCHEDULED, "a", "");
        tick(&s);
        answer(&s, statuses[i]);
        EXPECT_TEXT(desk_log(&s.desk), "");
        EXPECT_INT(s.events.stats.failed, (int64_t)i + 1);
        EXPECT_INT(events_waiting(&s.events), 0);
    }
}

TEST(events, say_once_which_right_is_missing_and_wait_for_it_for_seconds)
{
    AUTO(scene) s = {0};
    open(&s);
    int64_t start_ms = s.now_ms;
    add(&s, EVENT_SCHEDULED, "a", "");
    for (int i = 0; i < 8; i++) {
        EXPECT(i < 7 || s.now_ms - start_ms > 5000);
        EXPECT(strstr(tick(&s), "POST") != NULL);
        answer(&s, 403);
        EXPECT_TEXT(desk_log(&s.desk), i == 0 ? "denied: create events.events.k8s.io: \n" : "");
        wait(&s);
    }
    EXPECT_INT(events_waiting(&s.events), 0);
    EXPECT_INT(s.events.stats.failed, 1);
}

TEST(events, leave_the_server_to_bindings)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < 200; i++)
        add(&s, EVENT_SCHEDULED, "a", "");
    events_tick(&s.events, s.now_ms, true, &s.desk.out);
    EXPECT_INT(s.desk.out.list.n, EVENTS_BESIDE_BINDS);
    EXPECT_INT(events_next_ms(&s.events, s.now_ms, true), INT64_MAX);
    EXPECT_INT(events_next_ms(&s.events, s.now_ms, false), s.now_ms);
    events_tick(&s.events, s.now_ms, false, &s.desk.out);
    EXPECT_INT(s.desk.out.list.n, EVENTS_IN_FLIGHT);
    EXPECT_INT(events_waiting(&s.events), 200);
}

TEST(events, that_pile_up_beside_bindings_are_sent_faster)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < 10 * EVENTS_A_LANE; i++)
        add(&s, EVENT_SCHEDULED, "a", "");
    events_tick(&s.events, s.now_ms, true, &s.desk.out);
    EXPECT_INT(s.desk.out.list.n, EVENTS_BESIDE_BINDS + 9);
}

TEST(events, that_are_too_many_drop_the_oldest)
{
    AUTO(scene) s = {0};
    open(&s);
    add(&s, EVENT_SCHEDULED, "oldest", "");
    add(&s, EVENT_SCHEDULED, "next", "");
    for (int i = 0; i < EVENTS_MOST - 1; i++)
        add(&s, EVENT_SCHEDULED, "a", "");
    EXPECT_INT(events_waiting(&s.events), EVENTS_MOST);
    EXPECT_INT(s.events.stats.dropped, 1);
    const char *log = tick(&s);
    EXPECT(!strstr(log, "oldest") && strstr(log, "next"));
}

TEST(events, cut_a_long_note_between_characters)
{
    AUTO(scene) s = {0};
    open(&s);
    char note[NOTE_BYTES_MOST + 8];
    memset(note, 'x', sizeof(note));
    memcpy(note + NOTE_BYTES_MOST - 5, "é", 2);
    note[sizeof(note) - 1] = 0;
    add(&s, EVENT_FAILED_SCHEDULING, "a", note);
    EXPECT(strstr(tick(&s), "xxx ...\n") != NULL);
}

TEST(events, forget_the_oldest_series_when_there_are_too_many)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < SERIES_MOST + 1; i++) {
        char pod[16];
        snprintf(pod, sizeof(pod), "p%d", i);
        add(&s, EVENT_FAILED_SCHEDULING, pod, "full");
    }
    uint32_t waiting = events_waiting(&s.events);
    add(&s, EVENT_FAILED_SCHEDULING, "p0", "full"); /* a new one */
    add(&s, EVENT_FAILED_SCHEDULING, "p5", "full"); /* a second time */
    EXPECT_INT(events_waiting(&s.events), waiting + 2);
    EXPECT_INT(s.events.queue.n - s.events.head, waiting + 2);
    s.now_ms += 6 * 60000;
    tick(&s);
    EXPECT_INT(s.events.series_free.n, SERIES_MOST);
}

TEST(events, of_who_is_silent_are_none)
{
    AUTO(scene) s = {0};
    open(&s);
    s.events.is_silent = true;
    add(&s, EVENT_SCHEDULED, "a", "Successfully assigned");
    add(&s, EVENT_FAILED_SCHEDULING, "b", "no room");
    EXPECT_TEXT(tick(&s), "");
    EXPECT_INT(events_waiting(&s.events), 0);
}
