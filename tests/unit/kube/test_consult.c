#include "kube/consult.h"

#include "desk.h"
#include "support/objects.h"
#include "support/test.h"

static const struct extender extenders[] = {
    {.url = STR("http://x/s/"),
     .verbs = {STR("filter"), STR("score")},
     .timeout_ms = 700,
     .knows_nodes = true},
};

struct scene {
    struct desk desk;
    struct consult consult;
    struct effects effects;
    struct arena mem;
};

static void scene_done(struct scene *s)
{
    consult_done(&s->consult);
    effects_done(&s->effects);
    arena_done(&s->mem);
    desk_done(&s->desk);
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    consult_init(&s->consult, 100, &s->desk.listener);
    consult_set_extenders(&s->consult, extenders, 1);
}

static void ask(struct scene *s, effect_id id, enum extender_verb verb, const char *uid)
{
    static struct str nodes[] = {STR("n1"), STR("n\"2")};
    struct extender_ask about = {.verb = verb};
    about.nodes.at = nodes;
    about.nodes.n = 2;
    effects_clear(&s->effects);
    struct effect e = {.id = id,
                       .kind = EFFECT_ASK,
                       .namespace = STR("default"),
                       .pod = STR("a"),
                       .uid = str_of(uid),
                       .ask = &about};
    vec_push(&s->effects.list, e);
    consult_take(&s->consult, 0, &s->effects, &s->desk.out);
}

static void hear(struct scene *s, struct reply reply)
{
    consult_hear(&s->consult, 0, &reply, &s->desk.out);
}

static void answer(struct scene *s, int status, const char *body)
{
    request_id id = s->desk.last;
    hear(s, reply_head(id, status));
    hear(s, reply_data(id, body));
    hear(s, reply_end(id));
}

#define READ_A "READ GET /api/v1/namespaces/default/pods/a\n"
#define POD_A  "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{}}"
#define ARGS   "{\"Pod\":" POD_A ",\"Nodes\":null,\"NodeNames\":[\"n1\",\"n\\\"2\"]}"

TEST(consult_client, the_pod_is_read_and_passed_on_as_it_came)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    EXPECT_TEXT(desk_log(&s.desk), READ_A);
    answer(&s, 200, POD_A);
    REQUIRE(s.desk.out.list.n == 1);
    EXPECT_INT(s.desk.out.list.at[0].timeout_ms, 700);
    EXPECT(s.desk.out.list.at[0].is_question);
    EXPECT_TEXT(desk_log(&s.desk), "EXTENDER 0 POST filter " ARGS "\n");
    answer(&s, 200, "{\"NodeNames\":[\"n1\"]}");
    EXPECT_TEXT(desk_log(&s.desk), "answer 7: n1\n");
}

TEST(consult_client, it_is_read_once_for_all_questions_until_it_changes)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    desk_log(&s.desk);
    answer(&s, 200, POD_A);
    desk_log(&s.desk);
    answer(&s, 200, "{}");
    desk_log(&s.desk);
    ask(&s, 8, EXTENDER_PRIORITIZE, "u");
    EXPECT_TEXT(desk_log(&s.desk), "EXTENDER 0 POST score " ARGS "\n");
    answer(&s, 200, "[{\"Host\":\"n1\",\"Score\":3}]");
    EXPECT_TEXT(desk_log(&s.desk), "answer 8: n1=3\n");

    struct change change = {.kind = CHANGE_PUT, .object = object_of(&s.mem, "pod a")};
    consult_see(&s.consult, &change);
    ask(&s, 9, EXTENDER_FILTER, "u");
    EXPECT_TEXT(desk_log(&s.desk), READ_A);
}

TEST(consult_client, a_pod_that_cannot_be_read_is_an_error)
{
    static const struct {
        int status;
        const char *body, *log;
    } cases[] = {
        {404, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"not found\"}",
         "answer 7: error reading the pod for an extender: not found\n"                                                                               },
        {200, "{\"metadata\":{\"uid\":\"another\"}}",
         "answer 7: error reading the pod for an extender: it is gone\n"                                                                              },
        {200, "}",                                                                     "answer 7: error reading the pod for an extender: it is gone\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 7, EXTENDER_FILTER, "u");
        desk_log(&s.desk);
        answer(&s, cases[i].status, cases[i].body);
        EXPECT_TEXT(desk_log(&s.desk), cases[i].log);
    }
}

TEST(consult_client, failures_are_in_upstreams_words)
{
    static const struct {
        int status;
        const char *body, *log;
    } cases[] = {
        {503, "",
         "answer 7: error failed filter with extender at URL http://x/s/filter, code 503\n"},
        {200, "",   "answer 7: error EOF\n"                                                },
        {200, "[]", "answer 7: error [] is not an object\n"                                },
        {0,   "",   "answer 7: error Post \"http://x/s/filter\": connection reset\n"       },
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 7, EXTENDER_FILTER, "u");
        desk_log(&s.desk);
        answer(&s, 200, POD_A);
        desk_log(&s.desk);
        if (cases[i].status)
            answer(&s, cases[i].status, cases[i].body);
        else
            hear(&s, reply_lost(s.desk.last, true));
        EXPECT_TEXT(desk_log(&s.desk), cases[i].log);
    }
}

TEST(consult_client, what_others_were_asked_is_forgotten_with_them)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    desk_log(&s.desk);
    consult_set_extenders(&s.consult, extenders, 1);
    answer(&s, 200, POD_A);
    EXPECT_TEXT(desk_log(&s.desk), "");
}

TEST(consult_client, of_many_pods_the_oldest_are_forgotten)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < 300; i++) {
        char uid[20], pod[100];
        snprintf(uid, sizeof(uid), "u%d", i);
        snprintf(pod, sizeof(pod), "{\"metadata\":{\"uid\":\"u%d\"}}", i);
        ask(&s, 7, EXTENDER_FILTER, uid);
        desk_log(&s.desk);
        answer(&s, 200, pod);
        desk_log(&s.desk);
        answer(&s, 200, "{}");
    }
    EXPECT_INT(s.consult.pods.n, 256);
    EXPECT_STR(s.consult.pods.at[0].uid, "u44");
}
