#include "kube/collect.h"

#include "core/model/dump.h"
#include "support/test.h"

/* A collection under way, and the requests of the last turn. */
struct talk {
    struct collect c;
    struct requests out;
    int64_t now_ms;
};

static struct str ask(struct talk *t)
{
    requests_clear(&t->out);
    collect_ask(&t->c, t->now_ms, &t->out);
    return t->out.list.n ? t->out.list.at[0].path : (struct str){0};
}

static void answer(struct talk *t, int status, const char *body)
{
    struct reply reply = {.id = t->c.current,
                          .kind = REPLY_HEAD,
                          .status = status,
                          .content_type = STR("application/json"),
                          .retry_after_ms = -1};
    collect_hear(&t->c, t->now_ms, &reply);
    reply.kind = REPLY_DATA;
    reply.data = str_of(body);
    collect_hear(&t->c, t->now_ms, &reply);
    reply.kind = REPLY_END;
    collect_hear(&t->c, t->now_ms, &reply);
}

/* Everything else is served and empty. */
static void answer_rest(struct talk *t)
{
    while (!collect_is_over(&t->c)) {
        ask(t);
        answer(t, 200, "{\"kind\":\"List\",\"items\":[]}");
    }
}

static void end(struct talk *t)
{
    collect_done(&t->c);
    requests_done(&t->out);
}

TEST(collect, pages_of_each_kind_become_one_list)
{
    struct talk t = {0};
    AUTO(buf) text = {0};
    EXPECT_STR(ask(&t), "/api/v1/nodes?limit=500");
    answer(&t, 200,
           "{\"metadata\":{\"continue\":\"a b\"},\"items\":[{\"metadata\":{\"name\":\"n1\"}}]}");
    EXPECT_STR(ask(&t), "/api/v1/nodes?limit=500&continue=a%20b");
    answer(&t, 200, "{\"items\":[{\"kind\":\"Node\",\"apiVersion\":\"v1\"}]}");
    answer_rest(&t);
    collect_write(&t.c, STR("2026-01-01T00:00:00Z"), &text);
    EXPECT(strstr(
        text.p,
        "\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}},\n"
        "{\"kind\":\"Node\",\"apiVersion\":\"v1\"}\n]}\n"));
    EXPECT(strstr(text.p, "\"" DUMP_DENIED "\":\"\""));
    end(&t);
}

TEST(collect, what_may_not_be_read_is_said_and_the_rest_is_read)
{
    struct talk t = {0};
    AUTO(buf) text = {0};
    ask(&t);
    answer(&t, 403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"no\"}");
    answer_rest(&t);
    EXPECT(t.c.trouble.n == 0);
    collect_write(&t.c, STR("2026-01-01T00:00:00Z"), &text);
    EXPECT(strstr(text.p, "\"" DUMP_DENIED "\":\"nodes\""));
    EXPECT(strstr(text.p, "\"" DUMP_READ "\":\"namespaces,resourcequotas,"));
    end(&t);
}

TEST(collect, a_kind_that_is_not_served_is_looked_for_in_older_versions_and_has_no_objects)
{
    struct talk t = {0};
    bool saw_older = false;
    while (!collect_is_over(&t.c)) {
        struct str path = ask(&t);
        saw_older |= str_starts(path, STR("/apis/scheduling.k8s.io/v1alpha3/podgroups"));
        answer(&t, 404, "{\"kind\":\"Status\",\"code\":404}");
    }
    EXPECT(saw_older);
    EXPECT(t.c.trouble.n == 0 && t.c.kinds[0].how == COLLECTED_NONE_SERVED);
    end(&t);
}

TEST(collect, a_busy_server_is_asked_again_and_a_broken_one_ends_it)
{
    struct talk t = {0};
    ask(&t);
    answer(&t, 503, "{\"kind\":\"Status\",\"code\":503,\"message\":\"busy\"}");
    EXPECT(ask(&t).n == 0);
    t.now_ms += 1000;
    EXPECT_STR(ask(&t), "/api/v1/nodes?limit=500");
    answer(&t, 200, "this is no JSON");
    EXPECT(collect_is_over(&t.c) && t.c.trouble.n);
    end(&t);
}

TEST(collect, a_list_that_expires_between_pages_is_begun_again)
{
    struct talk t = {0};
    ask(&t);
    answer(&t, 200, "{\"metadata\":{\"continue\":\"x\"},\"items\":[{},{}]}");
    ask(&t);
    answer(&t, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
    EXPECT_STR(ask(&t), "/api/v1/nodes?limit=500");
    EXPECT_INT(t.c.kinds[0].n, 0);
    end(&t);
}
