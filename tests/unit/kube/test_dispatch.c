#include "kube/dispatch.h"

#include "scene.h"
#include "support/objects.h"
#include "support/test.h"

static void bind(struct scene *s, effect_id id, const char *pod, const char *node)
{
    effects_clear(&s->effects);
    struct effect effect = {.id = id,
                            .kind = EFFECT_BIND,
                            .namespace = STR("default"),
                            .pod = str_of(pod),
                            .uid = str_of(pod),
                            .node = str_of(node)};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

static void refuse(struct scene *s, enum effect_kind kind, const char *pod, const char *message)
{
    effects_clear(&s->effects);
    struct effect effect = {.id = 77,
                            .kind = kind,
                            .namespace = STR("default"),
                            .pod = str_of(pod),
                            .uid = str_of(pod),
                            .message = str_of(message)};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

static void nominate(struct scene *s, const char *pod, const char *node)
{
    effects_clear(&s->effects);
    struct effect effect = {.kind = EFFECT_NOMINATE,
                            .namespace = STR("default"),
                            .pod = str_of(pod),
                            .uid = str_of(pod),
                            .node = str_of(node)};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

#define POD(uid, spec)                                                                             \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":"          \
    "\"default\",\"uid\":\"" uid "\"},\"spec\":{" spec "}}"
#define BIND_A "WRITE POST /api/v1/namespaces/default/pods/a/binding\n"
#define READ_A "READ GET /api/v1/namespaces/default/pods/a\n"

static void open_with_bind(struct scene *s)
{
    scene_open(s);
    scene_see(s, CHANGE_PUT, "pod a");
    bind(s, 1, "a", "n1");
    scene_log(s);
}

TEST(dispatch, a_binding_that_is_done_is_settled_and_told)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    bind(&s, 1, "a", "n1");
    EXPECT_TEXT(scene_log(&s), BIND_A);
    EXPECT_INT(dispatch_binds(&s.dispatch), 1);
    EXPECT_INT(events_waiting(&s.events), 0);
    scene_answer(&s, 201, STATUS(201, ""));
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
    EXPECT_INT(dispatch_binds(&s.dispatch), 0);
    EXPECT_INT(events_waiting(&s.events), 1);
}

TEST(dispatch, bindings_do_not_wait_for_each_other)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    bind(&s, 1, "a", "n1");
    request_id first = s.dispatch.last_id;
    bind(&s, 2, "b", "n1");
    EXPECT_TEXT(scene_log(&s), BIND_A "WRITE POST /api/v1/namespaces/default/pods/b/binding\n");
    scene_answer(&s, 201, "");
    scene_hear(&s, reply_head(first, 201));
    scene_hear(&s, reply_end(first));
    EXPECT_TEXT(scene_log(&s), "settle 2: done\nsettle 1: done\n");
}

#define TELL_A(reason, message, more)                                                              \
    "WRITE PATCH /api/v1/namespaces/default/pods/a/status "                                        \
    "{\"metadata\":{\"uid\":\"a\"},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\","        \
    "\"status\":\"False\",\"reason\":\"" reason "\",\"message\":\"" message "\"" more "}]}}\n"
#define FIRST ",\"lastTransitionTime\":\"2023-11-14T22:13:20Z\""

#define TOLD_A(message)                                                                            \
    TELL_A("SchedulerError", "running Bind plugin \\\"DefaultBinder\\\": " message, FIRST)

TEST(dispatch, a_binding_that_is_refused_is_taken_back)
{
    static const struct {
        int status;
        const char *body, *log;
    } cases[] = {
        {409, STATUS(409, "already assigned"), "settle 1: binding default/a: already assigned\n"},
        {404, STATUS(404, "not found"), "settle 1: binding default/a: not found\n"},
        {422, STATUS(422, "invalid"), "settle 1: binding default/a: invalid\n" TOLD_A("invalid")},
        {403,
         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"going\",\"details\":{\"causes\":"
         "[{\"reason\":\"NamespaceTerminating\"}]}}",
         "settle 1: binding default/a: going\n" TOLD_A("going")},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(scene) s = {0};
        open_with_bind(&s);
        scene_answer(&s, cases[i].status, cases[i].body);
        EXPECT_TEXT(scene_log(&s), cases[i].log);
        EXPECT_INT(dispatch_binds(&s.dispatch), 0);
    }
}

TEST(dispatch, a_server_that_cannot_be_reached_is_tried_four_times)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    static const int64_t pauses[] = {10, 50, 250};
    for (size_t i = 0; i < LEN(pauses); i++) {
        test_case("try %zu", i);
        scene_lose(&s, false);
        int64_t waited = scene_wait(&s);
        EXPECT(waited >= pauses[i] && waited <= pauses[i] * 11 / 10);
        scene_log(&s);
    }
    scene_lose(&s, false);
    EXPECT(str_starts(str_of(scene_log(&s)),
                      STR("settle 1: binding default/a: connection reset\nWRITE PATCH")));
    EXPECT_INT(dispatch_next_ms(&s.dispatch), INT64_MAX);
}

/* The last try is still to come. How often was it told? */
static int deny_thrice(struct scene *s)
{
    int told = 0;
    for (int i = 0; i < 3; i++) {
        scene_answer(s, 403, STATUS(403, "no"));
        scene_wait(s);
        told += strstr(scene_log(s), "denied: create pods/binding: no\n") != NULL;
    }
    return told;
}

TEST(dispatch, a_right_that_lacks_may_be_granted_within_four_tries)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    EXPECT_INT(deny_thrice(&s), 1);
    scene_answer(&s, 201, "");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
    bind(&s, 1, "a", "n1");
    scene_log(&s);
    EXPECT_INT(deny_thrice(&s), 1);
    scene_answer(&s, 403, STATUS(403, "no"));
    EXPECT_TEXT(scene_log(&s), "settle 1: binding default/a: no\n" TOLD_A("no"));
}

TEST(dispatch, a_busy_server_is_tried_again_when_it_says)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    struct reply busy = reply_head(s.desk.last, 429);
    busy.retry_after_ms = 1000;
    scene_hear(&s, busy);
    scene_hear(&s, reply_end(s.desk.last));
    EXPECT_INT(scene_wait(&s), 1000);
    EXPECT_TEXT(scene_log(&s), "trouble: create pods/binding: \n" BIND_A);
    scene_answer(&s, 201, "");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
}

/* What the server says of the pod when a binding got no clear answer. */
TEST(dispatch, a_binding_in_doubt_is_settled_by_what_the_pod_says)
{
    static const struct {
        const char *name;
        int status;
        const char *body, *log;
    } cases[] = {
        {"on our node", 200, POD("a", "\"nodeName\":\"n1\""), "settle 1: done\n"},
        {"on another", 200, POD("a", "\"nodeName\":\"n2\""),
         "settle 1: binding default/a: it is gone, or was bound by somebody else\n"},
        {"another pod", 200, POD("b", "\"nodeName\":\"n1\""),
         "settle 1: binding default/a: it is gone, or was bound by somebody else\n"},
        {"gone", 404, STATUS(404, "not found"), "settle 1: binding default/a: not found\n"},
        {"not bound yet", 200, POD("a", ""), ""},
        {"cannot say", 500, STATUS(500, "etcd"), ""},
        {"nonsense", 200, "[]", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].name);
        AUTO(scene) s = {0};
        open_with_bind(&s);
        scene_lose(&s, true);
        EXPECT_TEXT(scene_log(&s), "trouble: create pods/binding: connection reset\n" READ_A);
        scene_answer(&s, cases[i].status, cases[i].body);
        const char *log = scene_log(&s);
        if (*cases[i].log)
            EXPECT_TEXT(log, cases[i].log);
        else
            EXPECT(strstr(log, "settle") == NULL);
        EXPECT_INT(dispatch_binds(&s.dispatch), *cases[i].log ? 0 : 1);
    }
}

TEST(dispatch, a_binding_that_was_not_carried_out_is_posted_again)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    scene_lose(&s, true);
    scene_log(&s);
    scene_answer(&s, 200, POD("a", ""));
    scene_wait(&s);
    EXPECT_TEXT(scene_log(&s), BIND_A);
    scene_answer(&s, 409, STATUS(409, "already assigned")); /* by the first one, which came late */
    EXPECT_TEXT(scene_log(&s), READ_A);
    scene_answer(&s, 200, POD("a", "\"nodeName\":\"n1\""));
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
}

TEST(dispatch, a_conflict_after_a_failure_may_be_our_own_success)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    scene_answer(&s, 500, STATUS(500, "etcdserver: request timed out"));
    scene_wait(&s);
    EXPECT_TEXT(scene_log(&s),
                "trouble: create pods/binding: etcdserver: request timed out\n" BIND_A);
    scene_answer(&s, 409, STATUS(409, "already assigned"));
    EXPECT_TEXT(scene_log(&s), READ_A);
    scene_answer(&s, 200, POD("a", "\"nodeName\":\"n1\""));
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
}

TEST(dispatch, a_refusal_in_doubt_is_settled_when_the_pod_is_free)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    scene_answer(&s, 503, STATUS(503, "later"));
    scene_wait(&s);
    scene_log(&s);
    scene_answer(&s, 422, STATUS(422, "invalid"));
    EXPECT_TEXT(scene_log(&s), READ_A);
    scene_answer(&s, 200, POD("a", ""));
    EXPECT_TEXT(scene_log(&s),
                "settle 1: binding default/a: it is gone, or was bound by somebody else\n");
}

TEST(dispatch, who_is_in_doubt_never_gives_up)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    scene_lose(&s, true);
    int64_t waited = 0;
    for (int i = 0; i < 20; i++) {
        scene_log(&s);
        scene_lose(&s, true);
        waited = scene_wait(&s);
    }
    EXPECT(waited >= 5000 && waited <= 5500); /* but does not ask all the time */
    EXPECT_TEXT(scene_log(&s), READ_A);
    EXPECT_INT(dispatch_binds(&s.dispatch), 1);
    scene_see(&s, CHANGE_PUT, "pod a on=n1");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n");
}

TEST(dispatch, the_watch_settles_too)
{
    static const struct {
        enum change_kind kind;
        const char *line, *log;
    } cases[] = {
        {CHANGE_PUT, "pod a on=n1", "settle 1: done\n"},
        {CHANGE_PUT, "pod a on=n2",
         "settle 1: binding default/a: it is gone, or was bound by somebody else\n"},
        {CHANGE_PUT, "pod a uid=other",
         "settle 1: binding default/a: it is gone, or was bound by somebody else\n"},
        {CHANGE_REMOVE, "pod a",
         "settle 1: binding default/a: it is gone, or was bound by somebody else\n"},
        {CHANGE_PUT, "pod a label:x=y", ""},
        {CHANGE_PUT, "pod b on=n1", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        for (int is_doubtful = 0; is_doubtful < 2; is_doubtful++) {
            test_case("%s, %s", cases[i].line, is_doubtful ? "in doubt" : "under way");
            AUTO(scene) s = {0};
            open_with_bind(&s);
            if (is_doubtful)
                scene_lose(&s, true);
            scene_log(&s);
            scene_see(&s, cases[i].kind, cases[i].line);
            EXPECT_TEXT(scene_log(&s), cases[i].log);
            scene_answer(&s, is_doubtful ? 500 : 409,
                         ""); /* too late to matter, if it is settled */
            if (*cases[i].log)
                EXPECT_TEXT(scene_log(&s), "");
        }
    }
}

TEST(dispatch, a_refusal_is_told_once)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_REFUSE, "a", "0/1 nodes");
    EXPECT_TEXT(scene_log(&s), TELL_A("Unschedulable", "0/1 nodes", FIRST));
    scene_answer(&s, 200, "");
    refuse(&s, EFFECT_REFUSE, "a", "0/1 nodes");
    EXPECT_TEXT(scene_log(&s), "");
    refuse(&s, EFFECT_FAIL, "a", "0/1 nodes");
    EXPECT_TEXT(scene_log(&s), TELL_A("SchedulerError", "0/1 nodes", ""));
    EXPECT_INT(s.dispatch.stats.told, 1);
}

TEST(dispatch, a_warning_is_an_event_and_no_condition)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_WARN, "a", "k: \"v\" means nothing");
    EXPECT_TEXT(scene_log(&s), "");
    EXPECT_INT(events_waiting(&s.events), 1);
    refuse(&s, EFFECT_WARN, "gone", "k: \"v\" means nothing");
    EXPECT_INT(events_waiting(&s.events), 1);
}

TEST(dispatch, what_the_pod_says_already_is_not_told_again)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    struct change change = {.kind = CHANGE_PUT, .object = object_of(&s.mem, "pod a")};
    struct pod_condition said = {.type = STR("PodScheduled"),
                                 .status = STR("False"),
                                 .reason = STR("Unschedulable"),
                                 .message = STR("0/1 nodes")};
    change.object.pod->status.conditions.at = &said;
    change.object.pod->status.conditions.n = 1;
    dispatch_see(&s.dispatch, s.now_ms, &change, &s.desk.out);
    refuse(&s, EFFECT_REFUSE, "a", "0/1 nodes");
    EXPECT_TEXT(scene_log(&s), "");
    refuse(&s, EFFECT_REFUSE, "a", "0/2 nodes");
    EXPECT_TEXT(scene_log(&s), TELL_A("Unschedulable", "0/2 nodes", ""));
}

TEST(dispatch, news_wait_for_what_is_under_way)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_REFUSE, "a", "one");
    scene_log(&s);
    refuse(&s, EFFECT_REFUSE, "a", "two");
    refuse(&s, EFFECT_REFUSE, "a", "three");
    EXPECT_TEXT(scene_log(&s), "");
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), TELL_A("Unschedulable", "three", ""));
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), "");
}

TEST(dispatch, a_binding_waits_for_the_patch_of_its_pod)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_REFUSE, "a", "one");
    scene_log(&s);
    refuse(&s, EFFECT_REFUSE, "a", "two"); /* of no interest any more */
    bind(&s, 1, "a", "n1");
    EXPECT_TEXT(scene_log(&s), "");
    scene_answer(&s, 200, "");
    EXPECT_TEXT(scene_log(&s), BIND_A);
}

TEST(dispatch, a_patch_that_fails_is_told_again_by_the_next_refusal)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_REFUSE, "a", "one");
    for (int i = 0; i < 3; i++) {
        scene_log(&s);
        scene_lose(&s, true);
        scene_wait(&s);
    }
    EXPECT_TEXT(scene_log(&s), TELL_A("Unschedulable", "one", FIRST));
    scene_lose(&s, true);
    EXPECT_INT(dispatch_next_ms(&s.dispatch), INT64_MAX);
    EXPECT_INT(s.dispatch.stats.untold, 1);
    refuse(&s, EFFECT_REFUSE, "a", "one");
    EXPECT(strstr(scene_log(&s), "PATCH") != NULL);
}

TEST(dispatch, each_right_that_lacks_is_told_once)
{
    AUTO(scene) s = {0};
    open_with_bind(&s);
    for (int i = 0; i < 2; i++) {
        test_case("time %d", i);
        scene_log(&s);
        EXPECT_INT(deny_thrice(&s), i == 0);
        scene_answer(&s, 403, STATUS(403, "no"));
        scene_log(&s);
        scene_answer(&s, 403, STATUS(403, "no"));
        EXPECT_TEXT(scene_log(&s), i == 0 ? "denied: patch pods/status: no\n" : "");
        bind(&s, 1, "a", "n1");
    }
    EXPECT_TEXT(scene_log(&s), BIND_A);
    scene_answer(&s, 201, "");
    bind(&s, 1, "a", "n1");
    EXPECT_TEXT(scene_log(&s), "settle 1: done\n" BIND_A);
    scene_answer(&s, 403, STATUS(403, "no"));
    EXPECT_TEXT(scene_log(&s), "denied: create pods/binding: no\n");
}

TEST(dispatch, few_patches_are_under_way_at_a_time)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    for (int i = 0; i < 50; i++) {
        char line[32], name[16];
        snprintf(name, sizeof(name), "p%d", i);
        snprintf(line, sizeof(line), "pod %s", name);
        scene_see(&s, CHANGE_PUT, line);
        refuse(&s, EFFECT_REFUSE, name, "full");
    }
    EXPECT_INT(s.desk.out.list.n, 32);
    scene_log(&s);
    scene_answer(&s, 200, "");
    EXPECT_INT(s.desk.out.list.n, 1);
    scene_see(&s, CHANGE_REMOVE, "pod p40"); /* of no interest any more */
    for (int i = 0; i < 17; i++) {
        scene_log(&s);
        scene_answer(&s, 200, "");
    }
    EXPECT_INT(s.dispatch.queue.n - s.dispatch.head, 0);
    EXPECT_INT(s.dispatch.writes.tells_sent, 31);
}

TEST(dispatch, a_pod_made_anew_under_its_name_is_told_for_itself)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a uid=old");
    struct effect effect = {
        .kind = EFFECT_REFUSE, .namespace = STR("default"), .pod = STR("a"), .uid = STR("old")};
    vec_push(&s.effects.list, effect);
    dispatch_take(&s.dispatch, s.now_ms, &s.effects, &s.desk.out);
    EXPECT(strstr(scene_log(&s), "\"uid\":\"old\"") != NULL);
    request_id old = s.desk.last;
    scene_see(&s, CHANGE_PUT, "pod a");
    refuse(&s, EFFECT_REFUSE, "a", "one");
    EXPECT_TEXT(scene_log(&s), TELL_A("Unschedulable", "one", FIRST));
    scene_hear(&s, reply_head(old, 409));
    scene_hear(&s, reply_end(old));
    scene_answer(&s, 200, "");
    refuse(&s, EFFECT_REFUSE, "a", "one");
    while (dispatch_next_ms(&s.dispatch) != INT64_MAX)
        scene_wait(&s); /* the old one is tried again, to no avail */
    EXPECT(strstr(scene_log(&s), "\"uid\":\"a\"") == NULL);
}

#define NOMINATE_A(value)                                                                          \
    "WRITE PATCH /api/v1/namespaces/default/pods/a/status "                                        \
    "{\"metadata\":{\"uid\":\"a\"},\"status\":{\"nominatedNodeName\":" value "}}\n"

TEST(dispatch, a_nomination_is_written_when_it_differs)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    nominate(&s, "a", "");
    EXPECT_TEXT(scene_log(&s), "");
    nominate(&s, "a", "n1");
    EXPECT_TEXT(scene_log(&s), NOMINATE_A("\"n1\""));
    scene_answer(&s, 200, "");
    nominate(&s, "a", "n1");
    EXPECT_TEXT(scene_log(&s), "");
    nominate(&s, "a", "");
    EXPECT_TEXT(scene_log(&s), NOMINATE_A("null"));
    scene_answer(&s, 422, STATUS(422, "no"));
    EXPECT_TEXT(scene_log(&s), "refused: patch pods/status: no\n");
    nominate(&s, "a", ""); /* it may still be there */
    EXPECT_TEXT(scene_log(&s), NOMINATE_A("null"));
    nominate(&s, "gone", "n1");
    EXPECT_TEXT(scene_log(&s), "");
}

TEST(dispatch, a_refusal_and_a_nomination_are_one_patch)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    scene_see(&s, CHANGE_PUT, "pod a");
    struct effect effects[] = {
        {.kind = EFFECT_REFUSE, .message = STR("0/1 nodes")},
        {.kind = EFFECT_NOMINATE, .node = STR("n1")},
    };
    for (size_t i = 0; i < LEN(effects); i++) {
        effects[i].namespace = STR("default");
        effects[i].pod = effects[i].uid = STR("a");
        vec_push(&s.effects.list, effects[i]);
    }
    dispatch_take(&s.dispatch, s.now_ms, &s.effects, &s.desk.out);
    EXPECT_INT(s.desk.out.list.n, 1);
    const char *log = scene_log(&s);
    EXPECT(strstr(log, "\"message\":\"0/1 nodes\"") &&
           strstr(log, "}],\"nominatedNodeName\":\"n1\"}}"));
}

/* --- objects that a pod needs --- */

static void write_object(struct scene *s, effect_id id, const struct patch *patches, uint32_t n)
{
    effects_clear(&s->effects);
    struct effect effect = {.id = id,
                            .kind = EFFECT_WRITE,
                            .namespace = STR("default"),
                            .pod = STR("a"),
                            .uid = STR("a"),
                            .write = {.kind = KIND_PERSISTENT_VOLUME_CLAIM,
                                      .namespace = STR("default"),
                                      .name = STR("c"),
                                      .version = patches->verb == OBJECT_CREATE ? 0 : 7,
                                      .patches = patches,
                                      .n_patches = n}};
    vec_push(&s->effects.list, effect);
    dispatch_take(&s->dispatch, s->now_ms, &s->effects, &s->desk.out);
}

static const struct patch select_node = {.meta = STR("\"annotations\":{\"a\":\"b\"}")};
#define PATCH_C                                                                                    \
    "WRITE PATCH /api/v1/namespaces/default/persistentvolumeclaims/c "                             \
    "{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":{\"a\":\"b\"}}}\n"

TEST(dispatch, writes_an_object_over_the_version_we_know)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    write_object(&s, 5, &select_node, 1);
    EXPECT_TEXT(scene_log(&s), PATCH_C);
    scene_answer(&s, 200, "{}");
    EXPECT_TEXT(scene_log(&s), "settle 5: done\n");
}

TEST(dispatch, writes_the_next_patch_over_what_the_one_before_made)
{
    static const struct patch three[] = {
        {.verb = OBJECT_CREATE, .meta = STR("\"name\":\"c\""), .body = STR("\"spec\":{}")},
        {.kind = KIND_POD,
         .name = STR("a"),
         .part = STR("status"),
         .meta = STR("\"uid\":\"a\""),
         .body = STR("\"status\":{\"phase\":\"x\"}")},
        {.part = STR("status"), .body = STR("\"status\":{}")},
    };
    AUTO(scene) s = {0};
    scene_open(&s);
    write_object(&s, 5, three, 3);
    EXPECT_TEXT(scene_log(&s), "WRITE POST /api/v1/namespaces/default/persistentvolumeclaims "
                               "{\"metadata\":{\"name\":\"c\"},\"spec\":{}}\n");
    scene_answer(
        &s, 201,
        "{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\","
        "\"resourceVersion\":\"9\"}}");
    EXPECT_TEXT(scene_log(&s), "WRITE PATCH /api/v1/namespaces/default/pods/a/status "
                               "{\"metadata\":{\"uid\":\"a\"},\"status\":{\"phase\":\"x\"}}\n");
    scene_answer(&s, 200, "{}");
    EXPECT_TEXT(scene_log(&s),
                "WRITE PATCH /api/v1/namespaces/default/persistentvolumeclaims/c/status "
                "{\"metadata\":{\"resourceVersion\":\"9\"},\"status\":{}}\n");
    scene_answer(&s, 200, "{}");
    EXPECT_TEXT(scene_log(&s), "settle 5: done\n");
}

TEST(dispatch, an_object_that_is_another_by_now_is_not_written)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    write_object(&s, 5, &select_node, 1);
    scene_log(&s);
    scene_answer(&s, 409, STATUS(409, "it was modified"));
    EXPECT_TEXT(scene_log(&s), "settle 5: it was modified\n");
    EXPECT_INT(dispatch_next_ms(&s.dispatch), INT64_MAX);
}

TEST(dispatch, a_write_that_may_have_been_done_is_sent_until_that_is_clear)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    write_object(&s, 5, &select_node, 1);
    for (int i = 0; i < 20; i++) {
        EXPECT_TEXT(strstr(scene_log(&s), "WRITE"), PATCH_C);
        scene_lose(&s, true);
        EXPECT(scene_wait(&s) <= 5500);
    }
    scene_log(&s);
    scene_answer(&s, 409, STATUS(409, "it was modified"));
    EXPECT_TEXT(scene_log(&s), "settle 5: it was modified\n");
}

TEST(dispatch, a_write_that_never_left_is_given_up)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    write_object(&s, 5, &select_node, 1);
    for (int i = 0; i < 3; i++) {
        scene_log(&s);
        scene_lose(&s, false);
        scene_wait(&s);
    }
    scene_log(&s);
    scene_lose(&s, false);
    EXPECT_TEXT(scene_log(&s), "settle 5: connection reset\n");
}

TEST(dispatch, says_once_that_it_may_not_write_an_object)
{
    AUTO(scene) s = {0};
    scene_open(&s);
    for (int i = 0; i < 2; i++) {
        write_object(&s, 5, &select_node, 1);
        scene_log(&s);
        scene_answer(&s, 403, STATUS(403, "no"));
        EXPECT_TEXT(scene_log(&s), i == 0 ? "denied: patch persistentvolumeclaims: no\n"
                                            "settle 5: no\n"
                                          : "settle 5: no\n");
    }
}
