#include "kube/watch.h"

#include "core/model/owner.h"
#include "core/wire/proto.h"
#include "desk.h"
#include "support/test.h"

/* A watch of one kind, the server's part played by the test. */
struct scene {
    struct desk desk;
    struct watch watch;
    int64_t now_ms;
};

static void scene_done(struct scene *s)
{
    watch_done(&s->watch);
    desk_done(&s->desk);
}

static void open(struct scene *s, uint32_t kind)
{
    desk_init(&s->desk);
    watch_init(&s->watch, &watched_kinds[kind], 100, test_seed(), &s->desk.listener);
    s->now_ms = 1000000;
}

static const char *read_log(struct scene *s)
{
    return desk_log(&s->desk);
}

static void start(struct scene *s)
{
    watch_discovered(&s->watch, s->now_ms, s->watch.api_version, &s->desk.out);
}

static void hear(struct scene *s, struct reply reply)
{
    watch_hear(&s->watch, s->now_ms, &reply, &s->desk.out);
}

static void head(struct scene *s)
{
    hear(s, reply_head(s->watch.current, 200));
}

static void data(struct scene *s, const char *text)
{
    hear(s, reply_data(s->watch.current, text));
}

static void end(struct scene *s)
{
    hear(s, reply_end(s->watch.current));
}

static void refuse(struct scene *s, int status, const char *body)
{
    request_id id = s->watch.current;
    hear(s, reply_head(id, status));
    hear(s, reply_data(id, body));
    hear(s, reply_end(id));
}

static void page(struct scene *s, const char *body)
{
    refuse(s, 200, body);
}

/* Time passes until the watch wants to do something. */
static int64_t wait_for_timer(struct scene *s)
{
    int64_t waited = watch_next_ms(&s->watch) - s->now_ms;
    s->now_ms = watch_next_ms(&s->watch);
    watch_tick(&s->watch, s->now_ms, &s->desk.out);
    return waited;
}

#define NODE(type, name, version)                                                                  \
    "{\"type\":\"" type "\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{"    \
    "\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"}}}\n"
#define BOOKMARK(version)                                                                          \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{"    \
    "\"resourceVersion\":\"" version "\"}}}\n"
#define FILLED(version)                                                                            \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{"    \
    "\"resourceVersion\":\"" version                                                               \
    "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define STATUS(code, reason, message)                                                              \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" message     \
    "\",\"reason\":\"" reason "\",\"code\":" #code "}"
#define ERROR(code, reason, message)                                                               \
    "{\"type\":\"ERROR\",\"object\":" STATUS(code, reason, message) "}\n"
#define NODES(version, next, items)                                                                \
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version    \
    "\",\"continue\":\"" next "\"},\"items\":[" items "]}"
#define ITEM(name, version)                                                                        \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"}}"

#define WATCH_NODES "READ GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&timeoutSeconds="
#define FILL_END    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\n"
#define LIST_NODES  "READ GET /api/v1/nodes?limit=500"

/* A watch that has told n1 and n2 and stands at version 7. */
static void open_filled(struct scene *s)
{
    open(s, WATCHED_KIND_NODE);
    start(s);
    read_log(s);
    head(s);
    data(s, NODE("ADDED", "n1", "3") NODE("ADDED", "n2", "5") FILLED("7"));
    read_log(s);
}

TEST(watch, asks_for_everything_and_what_follows_in_one_stream)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    EXPECT_TEXT(read_log(&s), WATCH_NODES FILL_END);
    head(&s);
    data(&s, NODE("ADDED", "n1", "3") NODE("ADDED", "n2", "5"));
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 3\nput Node /n2 at 5\n");
    EXPECT(!watch_is_synced(&s.watch));
    data(&s, FILLED("7"));
    EXPECT_TEXT(read_log(&s), "");
    EXPECT(watch_is_synced(&s.watch));
    data(&s, NODE("MODIFIED", "n1", "8") NODE("DELETED", "n2", "9"));
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 8\nremove Node /n2\n");
}

TEST(watch, fills_from_the_first_object_of_a_list_to_its_end)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    head(&s);
    EXPECT(!watch_is_filling(&s.watch));
    data(&s, NODE("ADDED", "n1", "3"));
    EXPECT(watch_is_filling(&s.watch));
    data(&s, FILLED("7"));
    EXPECT(!watch_is_filling(&s.watch));
    data(&s, NODE("MODIFIED", "n1", "8"));
    EXPECT(!watch_is_filling(&s.watch));
}

TEST(watch, of_pods_leaves_out_those_that_are_over)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_POD);
    start(&s);
    EXPECT_TEXT(read_log(&s),
                "READ GET /api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%"
                "3DFailed&watch=true&allowWatchBookmarks=true&timeoutSeconds=" FILL_END);
}

TEST(watch, takes_frames_in_any_pieces)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    read_log(&s);
    head(&s);
    static const char text[] = NODE("ADDED", "n1", "3") FILLED("7");
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        data(&s, (char[]){text[i], 0});
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 3\n");
    EXPECT(watch_is_synced(&s.watch));
}

TEST(watch, draws_its_length_between_five_and_ten_minutes)
{
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        AUTO(scene) s = {0};
        open(&s, WATCHED_KIND_NODE);
        s.watch.rng = rng_seeded(seed);
        start(&s);
        struct str path = s.desk.out.list.at[0].path;
        struct str key = STR("timeoutSeconds=");
        int64_t seconds;
        for (size_t i = 0; i + key.n < path.n; i++)
            if (str_starts(str_part(path, i, path.n), key))
                path = str_part(path, i + key.n, path.n);
        REQUIRE(str_int(str_part(path, 0, str_find(path, '&')), &seconds));
        least = MIN(least, seconds);
        most = MAX(most, seconds);
    }
    EXPECT(least >= 300 && least < 310);
    EXPECT(most >= 590 && most < 600);
}

TEST(watch, that_ends_goes_on_from_the_last_version)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    data(&s, NODE("MODIFIED", "n1", "8"));
    end(&s);
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 8\n" WATCH_NODES "&resourceVersion=8\n");
    head(&s);
    data(&s, BOOKMARK("12"));
    end(&s);
    EXPECT_TEXT(read_log(&s), WATCH_NODES "&resourceVersion=12\n");
}

TEST(watch, that_ends_at_once_with_nothing_said_pauses)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    end(&s);
    read_log(&s);
    head(&s);
    end(&s);
    EXPECT_TEXT(read_log(&s), "trouble: watch nodes: the stream ended at once\n");
    wait_for_timer(&s);
    EXPECT_TEXT(read_log(&s), WATCH_NODES "&resourceVersion=7\n");
}

TEST(watch, too_old_fills_anew_and_removes_only_what_vanished)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    data(&s, ERROR(410, "Expired", "too old resource version"));
    EXPECT_TEXT(read_log(&s), "cancel\n" WATCH_NODES FILL_END);
    EXPECT(watch_is_synced(&s.watch));
    head(&s);
    data(&s, NODE("ADDED", "n2", "20") NODE("ADDED", "n3", "21"));
    EXPECT_TEXT(read_log(&s), "put Node /n2 at 20\nput Node /n3 at 21\n");
    data(&s, FILLED("22"));
    EXPECT_TEXT(read_log(&s), "remove Node /n1\n");
}

TEST(watch, too_old_before_it_begins_fills_anew)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    end(&s);
    read_log(&s);
    refuse(&s, 410, STATUS(410, "Gone", "too old"));
    EXPECT_TEXT(read_log(&s), WATCH_NODES FILL_END);
}

TEST(watch, whose_fill_breaks_begins_it_again_without_forgetting)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    data(&s, ERROR(410, "Expired", "too old"));
    head(&s);
    data(&s, NODE("ADDED", "n1", "20"));
    hear(&s, reply_lost(s.watch.current, true));
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 20\n"
                              "trouble: watch nodes: connection reset\n"
                              "cancel\n" WATCH_NODES FILL_END);
    wait_for_timer(&s);
    EXPECT_TEXT(read_log(&s), WATCH_NODES FILL_END);
    head(&s);
    data(&s, NODE("ADDED", "n2", "20") FILLED("22"));
    EXPECT_TEXT(read_log(&s), "put Node /n2 at 20\nremove Node /n1\n");
}

TEST(watch, of_a_server_that_cannot_stream_lists_in_pages)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    read_log(&s);
    refuse(&s, 422, STATUS(422, "Invalid", "sendInitialEvents is forbidden"));
    EXPECT_TEXT(read_log(&s), LIST_NODES "\n");
    page(&s, NODES("9", "abc=", ITEM("n1", "3") "," ITEM("n2", "4")));
    EXPECT_TEXT(read_log(&s),
                "put Node /n1 at 3\nput Node /n2 at 4\n" LIST_NODES "&continue=abc%3D\n");
    EXPECT(!watch_is_synced(&s.watch));
    page(&s, NODES("9", "", ITEM("n3", "5")));
    EXPECT_TEXT(read_log(&s), "put Node /n3 at 5\n" WATCH_NODES "&resourceVersion=9\n");
    EXPECT(watch_is_synced(&s.watch));
}

TEST(watch, lists_again_from_the_start_when_its_pages_expire)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    refuse(&s, 400, STATUS(400, "BadRequest", "no"));
    page(&s, NODES("9", "abc", ITEM("n1", "3")));
    read_log(&s);
    refuse(&s, 410, STATUS(410, "Expired", "the continue token is too old"));
    EXPECT_TEXT(read_log(&s), "trouble: list nodes: the continue token is too old\n");
    wait_for_timer(&s);
    EXPECT_TEXT(read_log(&s), LIST_NODES "\n");
    page(&s, NODES("12", "", ITEM("n2", "4")));
    EXPECT_TEXT(read_log(&s),
                "put Node /n2 at 4\nremove Node /n1\n" WATCH_NODES "&resourceVersion=12\n");
}

/* Plain bookmarks say nothing while everything is still on its way; nor does discovery. */
TEST(watch, lists_when_a_fill_ends_before_all_has_come)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    read_log(&s);
    head(&s);
    data(&s, NODE("ADDED", "n1", "5") BOOKMARK("6"));
    start(&s);
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 5\n");
    end(&s);
    EXPECT_TEXT(read_log(&s), LIST_NODES "\n");
}

TEST(watch, lists_when_a_fill_never_ends)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    read_log(&s);
    head(&s);
    data(&s, NODE("ADDED", "n1", "3"));
    EXPECT_INT(wait_for_timer(&s), 10000);
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 3\ncancel\n" LIST_NODES "\n");
}

TEST(watch, pauses_longer_and_longer_and_goes_on_where_it_was)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    static const int64_t pauses[] = {800, 1600, 3200, 5000, 5000};
    end(&s);
    for (size_t i = 0; i < LEN(pauses); i++) {
        test_case("failure %zu", i);
        refuse(&s, 503, STATUS(503, "Unavailable", "no"));
        int64_t waited = wait_for_timer(&s);
        EXPECT(waited >= pauses[i] && waited < 2 * pauses[i]);
    }
    EXPECT_INT(s.watch.state, WATCH_WATCHING);
    read_log(&s);
    head(&s);
    data(&s, BOOKMARK("8"));
    end(&s);
    s.now_ms += 30000;
    read_log(&s);
    refuse(&s, 503, STATUS(503, "Unavailable", "no"));
    int64_t waited = wait_for_timer(&s);
    EXPECT(waited >= 800 && waited < 1600);
    EXPECT_TEXT(read_log(&s), "trouble: watch nodes: no\n" WATCH_NODES "&resourceVersion=8\n");
}

TEST(watch, of_a_server_that_is_away_looks_for_it_often)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    static const int64_t pauses[] = {50, 100, 200, 400, 500, 500};
    for (size_t i = 0; i < LEN(pauses); i++) {
        test_case("failure %zu", i);
        hear(&s, reply_lost(s.watch.current, i == 0));
        int64_t waited = wait_for_timer(&s);
        EXPECT(waited >= pauses[i] && waited < 2 * pauses[i]);
    }
    refuse(&s, 503, STATUS(503, "Unavailable", "no")); /* it begins to answer */
    EXPECT(wait_for_timer(&s) < 1600);
}

TEST(watch, waits_as_long_as_the_server_says)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    end(&s);
    struct reply busy = reply_head(s.watch.current, 429);
    busy.retry_after_ms = 17000;
    hear(&s, busy);
    end(&s);
    EXPECT_INT(wait_for_timer(&s), 17000);
    EXPECT_INT(s.watch.state, WATCH_WATCHING);
}

TEST(watch, says_once_what_rbac_lacks_and_tries_on)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_REPLICA_SET);
    start(&s);
    read_log(&s);
    refuse(&s, 403, STATUS(403, "Forbidden", "no watch for you"));
    EXPECT_TEXT(read_log(&s), "denied: watch replicasets.apps: no watch for you\n");
    wait_for_timer(&s);
    read_log(&s);
    refuse(&s, 403, STATUS(403, "Forbidden", "no watch for you"));
    EXPECT_TEXT(read_log(&s), "");
    EXPECT(!watch_is_synced(&s.watch));
    wait_for_timer(&s);
    EXPECT_INT(s.watch.state, WATCH_FILLING);
}

TEST(watch, goes_on_without_a_kind_that_it_may_not_read_if_nobody_must_know_it)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_RESOURCE_QUOTA);
    start(&s);
    for (int times = 1; times < 4; times++) {
        refuse(&s, 403, STATUS(403, "Forbidden", "no watch for you"));
        EXPECT_INT(watch_is_synced(&s.watch), times == 3); /* the server may have just begun */
        wait_for_timer(&s);
        EXPECT_INT(s.watch.state, WATCH_FILLING); /* it may be allowed some day */
    }
}

TEST(watch, of_a_kind_that_is_not_served_asks_again_after_a_minute_or_when_told)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    watch_discovered(&s.watch, s.now_ms, NULL, &s.desk.out);
    EXPECT_TEXT(read_log(&s), "absent: watch nodes: not served\n");
    EXPECT(watch_is_synced(&s.watch));
    EXPECT_INT(wait_for_timer(&s), 60000);
    EXPECT_TEXT(read_log(&s), WATCH_NODES FILL_END);
    EXPECT(watch_is_synced(&s.watch));
    refuse(&s, 404, STATUS(404, "NotFound", "no such thing"));
    EXPECT_INT(s.watch.state, WATCH_ABSENT);
    start(&s);
    EXPECT_INT(s.watch.state, WATCH_FILLING);
    EXPECT(watch_is_synced(&s.watch)); /* nobody stops working to look for it */
}

TEST(watch, goes_on_in_a_newer_version_from_where_it_was)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_CLUSTER_QUEUE);
    watch_discovered(&s.watch, s.now_ms, "kueue.x-k8s.io/v1beta1", &s.desk.out);
    EXPECT(strstr(read_log(&s), "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?watch=true"));
    head(&s);
    data(&s,
         "{\"type\":\"BOOKMARK\",\"object\":{\"apiVersion\":\"kueue.x-k8s.io/v1beta1\",\"kind\":"
         "\"ClusterQueue\",\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":{"
         "\"k8s.io/initial-events-end\":\"true\"}}}}\n");
    EXPECT(watch_is_synced(&s.watch));
    watch_discovered(&s.watch, s.now_ms, "kueue.x-k8s.io/v1beta2", &s.desk.out);
    EXPECT_INT(s.watch.state, WATCH_WATCHING);
    read_log(&s);
    end(&s);
    wait_for_timer(&s);
    const char *log = read_log(&s);
    EXPECT(strstr(log, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues?watch=true"));
    EXPECT(strstr(log, "resourceVersion=7") && !strstr(log, "sendInitialEvents"));
}

TEST(watch, that_outlives_its_time_is_opened_again)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    int64_t waited = wait_for_timer(&s);
    EXPECT(waited <= 630000);
    EXPECT_TEXT(read_log(&s), "cancel\n" WATCH_NODES "&resourceVersion=7\n");
}

TEST(watch, leaves_out_what_it_cannot_read)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    data(&s, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
             "\"name\":\"a\"}}}\n" NODE("ADDED", "n4", "9"));
    EXPECT_TEXT(read_log(&s), "invalid: watch nodes: v1 Pod among nodes\nput Node /n4 at 9\n");
    data(&s, NODE("ADDED", "", "10"));
    EXPECT_TEXT(read_log(&s),
                "invalid: watch nodes: an object without a name, a uid, or its namespace\n");
    data(&s, "nonsense\n" NODE("ADDED", "n5", "10"));
    EXPECT(strstr(read_log(&s), "put Node /n5 at 10\n") != NULL);
    EXPECT_INT(s.watch.state, WATCH_WATCHING);
}

#define ODD(kind, more)                                                                            \
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"" kind "\",\"apiVersion\":\"v1\",\"metadata\":{"   \
    "\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"9\"" more "}}\n"

TEST(watch, passes_on_what_it_cannot_read_in_full_of_a_node_or_pod)
{
    static const struct {
        uint32_t kind;
        const char *frame, *log;
    } cases[] = {
        {WATCHED_KIND_POD,
         ODD("Pod", ",\"namespace\":\"s\"},\"spec\":{\"tolerations\":[{\"key\":\"k\","
                    "\"operator\":\"Near\"}]}"),
         "in part: watch pods: s/a: spec.tolerations[0].operator: \"Near\" is not one of Equal "
         "Exists Lt Gt\nput Pod s/a at 9\n"},
        {WATCHED_KIND_POD, ODD("Pod", ",\"namespace\":\"s\"},\"spec\":{\"tolerations\":\"some\"}"),
         "in part: watch pods: s/a: Pod: spec.tolerations: \"some\" is not a list\nput Pod s/a at "
         "9\n"},
        {WATCHED_KIND_NODE,
         ODD("Node", "},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoWay\"}]}"),
         "in part: watch nodes: a: spec.taints[0].effect: \"NoWay\" is not one of NoSchedule "
         "PreferNoSchedule NoExecute\nput Node /a at 9\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s, cases[i].kind);
        start(&s);
        head(&s);
        read_log(&s);
        data(&s, cases[i].frame);
        EXPECT_TEXT(read_log(&s), cases[i].log);
    }
}

static int64_t gpus_of_worker;

static void note_worker(void *ctx, int64_t now_ms, const struct change *change)
{
    const struct pod *worker = change->object.owner_object->worker;
    (void)ctx, (void)now_ms;
    list_each(&worker->spec.containers.at[0].resources.requests, amount)
        gpus_of_worker = quantity_value(amount->quantity);
}

/* As the API server does of pods itself: of those inside objects of custom kinds it does not. */
TEST(watch, fills_in_what_templates_of_pods_lack)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_LEADER_WORKER_SET);
    s.desk.listener.change = note_worker;
    gpus_of_worker = 0;
    start(&s);
    head(&s);
    data(&s,
         "{\"type\":\"ADDED\",\"object\":{\"kind\":\"LeaderWorkerSet\",\"apiVersion\":"
         "\"leaderworkerset.x-k8s.io/v1\",\"metadata\":{\"name\":\"l\",\"namespace\":\"n\",\"uid\":"
         "\"u\",\"resourceVersion\":\"1\"},\"spec\":{\"leaderWorkerTemplate\":{\"workerTemplate\":{"
         "\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/"
         "gpu\":\"2\"}}}]}}}}}}\n");
    EXPECT_INT(gpus_of_worker, 2);
}

TEST(watch, hears_nothing_of_requests_it_gave_up)
{
    AUTO(scene) s = {0};
    open_filled(&s);
    request_id old = s.watch.current;
    data(&s, ERROR(410, "Expired", "too old"));
    read_log(&s);
    hear(&s, reply_data(old, NODE("ADDED", "n9", "9")));
    hear(&s, reply_lost(old, true));
    EXPECT_TEXT(read_log(&s), "");
    EXPECT_INT(s.watch.state, WATCH_FILLING);
}

TEST(watch, does_not_listen_to_what_it_cannot_read)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    read_log(&s);
    struct reply html = reply_head(s.watch.current, 200);
    html.content_type = STR("text/html");
    hear(&s, html);
    EXPECT_TEXT(read_log(&s),
                "trouble: watch nodes: an answer of content type \"text/html\"\ncancel\n");
    EXPECT_INT(s.watch.state, WATCH_FILL_LATER);
    wait_for_timer(&s);
    html = reply_head(s.watch.current, 502);
    html.content_type = STR("text/html");
    hear(&s, html);
    data(&s, "<h1>Bad gateway</h1>");
    end(&s);
    EXPECT(strstr(read_log(&s), "trouble: watch nodes: <h1>Bad gateway</h1>\n") != NULL);
}

/* An object as protobuf has it: magic, its kind, itself. */
static void add_proto(struct buf *out, uint32_t field, struct str kind, struct str name,
                      struct str version, bool is_end)
{
    AUTO(buf) raw = {0};
    buf_add(&raw, (struct str){"k8s\0", 4});
    size_t kinds = proto_open(&raw, 1);
    proto_put_str(&raw, 1, STR("v1"));
    proto_put_str(&raw, 2, kind);
    proto_close(&raw, kinds);
    size_t object = proto_open(&raw, 2), meta = proto_open(&raw, 1);
    proto_put_str(&raw, 1, name);
    if (str_equal(kind, STR("Pod")))
        proto_put_str(&raw, 3, STR("default"));
    proto_put_str(&raw, 5, name);
    proto_put_str(&raw, 6, version);
    if (is_end) {
        size_t pair = proto_open(&raw, 12);
        proto_put_str(&raw, 1, STR("k8s.io/initial-events-end"));
        proto_put_str(&raw, 2, STR("true"));
        proto_close(&raw, pair);
    }
    proto_close(&raw, meta);
    proto_close(&raw, object);
    size_t at = proto_open(out, field);
    proto_put_str(out, 1, buf_str(&raw));
    proto_close(out, at);
}

static void add_proto_frame(struct buf *out, struct str type, struct str kind, struct str name,
                            struct str version)
{
    AUTO(buf) event = {0};
    proto_put_str(&event, 1, type);
    add_proto(&event, 2, kind, name, version, name.n == 0);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(event.n >> shift & 0xff));
    buf_add(out, buf_str(&event));
}

TEST(watch, reads_protobuf_where_the_server_sends_it)
{
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_NODE);
    start(&s);
    EXPECT_STR(s.desk.out.list.at[0].accept,
               "application/vnd.kubernetes.protobuf, application/json");
    read_log(&s);
    struct reply proto = reply_head(s.watch.current, 200);
    proto.content_type = STR("application/vnd.kubernetes.protobuf;stream=watch");
    hear(&s, proto);
    AUTO(buf) stream = {0};
    add_proto_frame(&stream, STR("ADDED"), STR("Node"), STR("n1"), STR("3"));
    add_proto_frame(&stream, STR("BOOKMARK"), STR("Node"), STR(""), STR("7"));
    add_proto_frame(&stream, STR("DELETED"), STR("Node"), STR("n1"), STR("8"));
    for (size_t i = 0; i < stream.n; i++)
        hear(&s,
             (struct reply){.id = s.watch.current, .kind = REPLY_DATA, .data = {stream.p + i, 1}});
    EXPECT_TEXT(read_log(&s), "put Node /n1 at 3\nremove Node /n1\n");
    EXPECT(watch_is_synced(&s.watch));
    EXPECT_STR(buf_str(&s.watch.version), "8");
}

static bool knows_p1(void *ctx, const struct pod *partial)
{
    (void)ctx;
    return str_equal(partial->meta.name, STR("p1"));
}

TEST(watch, news_of_a_pod_that_is_known_is_read_as_a_partial_pod)
{
    static const struct {
        struct str type, name;
        const char *log;
    } cases[] = {
        {STR("ADDED"), STR("p1"), "put Pod default/p1 at 8\n"},
        {STR("MODIFIED"), STR("p1"), "put Pod default/p1 at a glance at 8\n"},
        {STR("MODIFIED"), STR("p2"), "put Pod default/p2 at 8\n"},
        {STR("DELETED"), STR("p2"), "remove Pod default/p2 at a glance\n"},
    };
    AUTO(scene) s = {0};
    open(&s, WATCHED_KIND_POD);
    s.desk.listener.knows = knows_p1;
    start(&s);
    struct reply proto = reply_head(s.watch.current, 200);
    proto.content_type = STR("application/vnd.kubernetes.protobuf;stream=watch");
    hear(&s, proto);
    read_log(&s);
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) stream = {0};
        add_proto_frame(&stream, cases[i].type, STR("Pod"), cases[i].name, STR("8"));
        hear(&s,
             (struct reply){.id = s.watch.current, .kind = REPLY_DATA, .data = buf_str(&stream)});
        EXPECT_TEXT(read_log(&s), cases[i].log);
    }
}
