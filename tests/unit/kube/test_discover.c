#include "kube/discover.h"

#include "desk.h"
#include "support/test.h"

struct scene {
    struct desk desk;
    struct discover discover;
    request_id core, apps, kueue_2, kueue_1, volcano;
};

static void scene_done(struct scene *s)
{
    discover_done(&s->discover);
    desk_done(&s->desk);
}

static void tick(struct scene *s, int64_t now_ms)
{
    discover_tick(&s->discover, now_ms, &s->desk.out);
    vec_each(&s->desk.out.list, r) {
        if (str_equal(r->path, STR("/api/v1")))
            s->core = r->id;
        if (str_equal(r->path, STR("/apis/apps/v1")))
            s->apps = r->id;
        if (str_equal(r->path, STR("/apis/kueue.x-k8s.io/v1beta2")))
            s->kueue_2 = r->id;
        if (str_equal(r->path, STR("/apis/kueue.x-k8s.io/v1beta1")))
            s->kueue_1 = r->id;
        if (str_equal(r->path, STR("/apis/scheduling.volcano.sh/v1beta1")))
            s->volcano = r->id;
    }
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    discover_init(&s->discover, 1000, 100, test_seed(), &s->desk.listener);
    tick(s, 1000);
}

static bool answer(struct scene *s, int64_t now_ms, request_id id, int status, const char *body)
{
    struct reply replies[] = {reply_head(id, status), reply_data(id, body), reply_end(id)};
    bool is_learnt = false;
    for (size_t i = 0; i < LEN(replies); i++)
        is_learnt = discover_hear(&s->discover, now_ms, &replies[i]);
    return is_learnt;
}

#define RESOURCES(list) "{\"kind\":\"APIResourceList\",\"resources\":[" list "]}"

static enum served served(const struct scene *s, uint32_t kind)
{
    const char *version;
    return discover_served(&s->discover, kind, &version);
}

TEST(discover, asks_each_group_once)
{
    AUTO(scene) s = {0};
    open(&s);
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /api/v1\nREAD GET /apis/apps/v1\n"
                                   "READ GET /apis/policy/v1\nREAD GET /apis/storage.k8s.io/v1\n"
                                   "READ GET /apis/scheduling.k8s.io/v1beta1\n"
                                   "READ GET /apis/scheduling.k8s.io/v1alpha3\n"
                                   "READ GET /apis/scheduling.k8s.io/v1alpha2\n"
                                   "READ GET /apis/scheduling.x-k8s.io/v1alpha1\n"
                                   "READ GET /apis/scheduling.volcano.sh/v1beta1\n"
                                   "READ GET /apis/scheduling.kubenexus.io/v1alpha1\n"
                                   "READ GET /apis/kueue.x-k8s.io/v1beta2\n"
                                   "READ GET /apis/kueue.x-k8s.io/v1beta1\n"
                                   "READ GET /apis/resource.k8s.io/v1\n"
                                   "READ GET /apis/topology.node.k8s.io/v1alpha2\n");
    tick(&s, 1500);
    EXPECT_TEXT(desk_log(&s.desk), "");
    EXPECT_INT(served(&s, WATCHED_KIND_POD), SERVED_UNKNOWN);
}

TEST(discover, looks_for_what_is_on_demand_when_somebody_wants_it)
{
    AUTO(scene) s = {0};
    open(&s);
    desk_log(&s.desk);
    EXPECT_INT(served(&s, WATCHED_KIND_PYTORCH_JOB), SERVED_UNKNOWN);
    discover_want(&s.discover, 2000, WATCHED_KIND_PYTORCH_JOB);
    tick(&s, 2000);
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /apis/kubeflow.org/v1\n"); /* the others are asked */
    EXPECT(answer(&s, 2100, s.discover.last_id, 200,
                  RESOURCES("{\"name\":\"pytorchjobs\"},{\"name\":\"tfjobs\"}")));
    EXPECT_INT(served(&s, WATCHED_KIND_PYTORCH_JOB), SERVED_YES);
    EXPECT_INT(served(&s, WATCHED_KIND_TF_JOB), SERVED_UNKNOWN);
    discover_want(&s.discover, 2200, WATCHED_KIND_TF_JOB); /* of a group that was asked */
    EXPECT_INT(served(&s, WATCHED_KIND_TF_JOB), SERVED_YES);
}

TEST(discover, learns_what_is_served_and_what_is_not)
{
    AUTO(scene) s = {0};
    open(&s);
    EXPECT(
        answer(&s, 1001, s.core, 200, RESOURCES("{\"name\":\"pods\"},{\"name\":\"pods/status\"}")));
    EXPECT_INT(served(&s, WATCHED_KIND_POD), SERVED_YES);
    EXPECT_INT(served(&s, WATCHED_KIND_NODE), SERVED_NO);
    EXPECT_INT(served(&s, WATCHED_KIND_REPLICA_SET), SERVED_UNKNOWN);
    EXPECT(answer(&s, 1002, s.apps, 404, "404 page not found"));
    EXPECT_INT(served(&s, WATCHED_KIND_REPLICA_SET), SERVED_NO);
}

TEST(discover, learns_where_a_status_is_not_written_alone)
{
    static const char version[] = "scheduling.volcano.sh/v1beta1";
    AUTO(scene) s = {0};
    open(&s);
    EXPECT(answer(&s, 1001, s.volcano, 200, RESOURCES("{\"name\":\"podgroups\"}")));
    EXPECT(discover_writes_whole(&s.discover, WATCHED_KIND_VOLCANO_POD_GROUP, version));
    tick(&s, 61000);
    EXPECT(answer(&s, 61001, s.volcano, 200,
                  RESOURCES("{\"name\":\"podgroups/status\"},{\"name\":\"podgroups\"}")));
    EXPECT(!discover_writes_whole(&s.discover, WATCHED_KIND_VOLCANO_POD_GROUP, version));
}

TEST(discover, of_several_versions_takes_the_newest_that_is_served)
{
    static const uint32_t kind = WATCHED_KIND_LOCAL_QUEUE;
    AUTO(scene) s = {0};
    const char *version;
    open(&s);
    EXPECT(answer(&s, 1001, s.kueue_1, 200, RESOURCES("{\"name\":\"localqueues\"}")));
    EXPECT_INT(served(&s, kind), SERVED_UNKNOWN); /* it may serve the newer one */
    EXPECT(answer(&s, 1002, s.kueue_2, 404, "404 page not found"));
    EXPECT_INT(discover_served(&s.discover, kind, &version), SERVED_YES);
    EXPECT_TEXT(version, "kueue.x-k8s.io/v1beta1");
    EXPECT_INT(served(&s, WATCHED_KIND_CLUSTER_QUEUE), SERVED_NO);

    tick(&s, 61000);
    EXPECT(answer(&s, 61001, s.kueue_2, 200, RESOURCES("{\"name\":\"localqueues\"}")));
    EXPECT_INT(discover_served(&s.discover, kind, &version), SERVED_YES);
    EXPECT_TEXT(version, "kueue.x-k8s.io/v1beta2");

    tick(&s, 121000);
    EXPECT(answer(&s, 121001, s.kueue_2, 404, "gone"));
    EXPECT_INT(discover_served(&s.discover, kind, &version), SERVED_YES);
    EXPECT_TEXT(version, "kueue.x-k8s.io/v1beta1");
    EXPECT(answer(&s, 121002, s.kueue_1, 404, "gone"));
    EXPECT_INT(served(&s, kind), SERVED_NO);
}

TEST(discover, asks_again_every_minute_and_when_there_is_doubt)
{
    AUTO(scene) s = {0};
    open(&s);
    EXPECT(answer(&s, 1001, s.core, 200, RESOURCES("{\"name\":\"pods\"}")));
    EXPECT(answer(&s, 1001, s.apps, 200, RESOURCES("")));
    EXPECT_INT(discover_next_ms(&s.discover), 61000);
    discover_doubt(&s.discover, 2000);
    EXPECT_INT(discover_next_ms(&s.discover), 3000);
    tick(&s, 3000);
    EXPECT(answer(&s, 3001, s.apps, 200, RESOURCES("{\"name\":\"replicasets\"}")));
    EXPECT_INT(served(&s, WATCHED_KIND_REPLICA_SET), SERVED_YES);
}

TEST(discover, keeps_what_it_knew_when_the_server_fails)
{
    AUTO(scene) s = {0};
    open(&s);
    EXPECT(answer(&s, 1001, s.core, 200, RESOURCES("{\"name\":\"pods\"}")));
    tick(&s, 61000);
    EXPECT(!answer(&s, 61001, s.core, 503, "no"));
    EXPECT_INT(served(&s, WATCHED_KIND_POD), SERVED_YES);
    EXPECT(discover_next_ms(&s.discover) <= 61001 + 150);
    tick(&s, discover_next_ms(&s.discover));
    EXPECT(!answer(&s, 61200, s.core, 200, "nonsense"));
    struct reply lost = reply_lost(s.apps, true);
    EXPECT(!discover_hear(&s.discover, 61300, &lost));
    EXPECT_INT(served(&s, WATCHED_KIND_POD), SERVED_YES);
}

TEST(discover, says_once_that_there_is_no_server)
{
    AUTO(scene) s = {0};
    open(&s);
    desk_log(&s.desk);
    for (int i = 0; i < 3; i++) {
        struct reply lost[] = {reply_lost(s.core, false), reply_lost(s.apps, false)};
        for (size_t k = 0; k < LEN(lost); k++)
            EXPECT(!discover_hear(&s.discover, 1000, &lost[k]));
        EXPECT_TEXT(desk_log(&s.desk), i == 0 ? "trouble: get /api/v1: connection reset\n" : "");
        tick(&s, discover_next_ms(&s.discover));
        desk_log(&s.desk);
    }
    EXPECT(!answer(&s, 1000, s.core, 401, "who are you?"));
    EXPECT_TEXT(desk_log(&s.desk), "trouble: get /api/v1: who are you?\n");
}

TEST(discover, at_first_asks_all_the_time)
{
    AUTO(scene) s = {0};
    open(&s);
    int64_t now_ms = 1000;
    while (now_ms < 30900) {
        struct reply lost[] = {reply_lost(s.core, false), reply_lost(s.apps, false)};
        for (size_t i = 0; i < LEN(lost); i++)
            EXPECT(!discover_hear(&s.discover, now_ms, &lost[i]));
        int64_t next_ms = discover_next_ms(&s.discover);
        REQUIRE(next_ms > now_ms && next_ms <= now_ms + 60);
        now_ms = next_ms;
        tick(&s, now_ms);
    }
}
